//! What changed between server versions, when, and where it is known from: the only place that compares version numbers.
//!
//! "observed" is a recording of live servers of both patches, "manual" MongoDB's documentation, "source" the public server
//! repository or its tests. A rule that a verdict used is told with it, as a text of this table.

use crate::model::ServerVersion;

/// A rule that holds since a version, as it is told to the reader.
pub(super) struct Rule {
    pub(super) text: &'static str,
}

/// Source: `$expr` was rewritten to comparisons for indexes in 3.6, equality only.
pub(super) const EXPR_EQUALITY: Rule = Rule { text: "`$expr` with `$eq` is used for routing since 3.6" };
/// Manual, release notes of 5.0: `$expr` comparisons other than `$eq` use indexes.
pub(super) const EXPR_RANGES: Rule =
    Rule { text: "`$expr` with `$gt`, `$gte`, `$lt` and `$lte` is used for routing since 5.0" };
/// Observed: 6.0.5 did not fold it, 6.0.27 does.
pub(super) const EXPR_NOW: Rule =
    Rule { text: "`$$NOW` is a constant for the router since a patch of 6.0 after 6.0.5" };
/// Observed: 6.0.5 did not take it for a full key and refused to insert it, 6.0.27 takes the last chunk.
pub(super) const MAX_KEY: Rule =
    Rule { text: "MaxKey as a key value belongs to the last chunk since a patch of 6.0 after 6.0.5" };
/// Source (SERVER-44422) and observed: 6.0.5 refused, 6.0.27 does not.
pub(super) const PARTIAL_KEY_DELETE: Rule = Rule {
    text: "a single delete or findAndModify by a part of the key that reaches one shard is allowed since 7.1 and late patches of 5.0, 6.0 and 7.0",
};
/// Manual, release notes of 7.1 and 8.0.
pub(super) const TWO_PHASE: Rule =
    Rule { text: "single writes without the key are an error up to 7.0 and a two-phase search since 7.1" };
/// Source and observed on 6.0.
pub(super) const UPSERT: Rule =
    Rule { text: "single upserts need the full key up to 7.0; they are two-phase since 7.1" };

/// Whether the version is later than 6.0.5, the newest patch known to have the old behaviour. The newest patch of an older
/// line counts as later if the change was brought back to that line.
fn is_after_605(version: ServerVersion, backported_to: (u32, u32)) -> bool {
    match version.patch() {
        _ if version.at_least(6, 1) => true,
        Some(patch) if version.at_least(6, 0) => patch > 5,
        Some(_) => false,
        None => version.at_least(backported_to.0, backported_to.1),
    }
}

pub(super) fn expr_equality_routes(version: ServerVersion) -> bool {
    version.at_least(3, 6)
}

pub(super) fn expr_ranges_route(version: ServerVersion) -> bool {
    version.at_least(5, 0)
}

pub(super) fn now_is_constant(version: ServerVersion) -> bool {
    is_after_605(version, (6, 0))
}

/// Observed on 6.0; manual, compatibility changes of 8.0.
pub(super) fn null_matches_undefined(version: ServerVersion) -> bool {
    !version.at_least(8, 0)
}

pub(super) fn max_key_is_in_last_chunk(version: ServerVersion) -> bool {
    is_after_605(version, (6, 0))
}

/// Manual, release notes of 4.4: documents may lack key fields.
pub(super) fn missing_is_null(version: ServerVersion) -> bool {
    version.at_least(4, 4)
}

pub(super) fn partial_key_delete_is_allowed(version: ServerVersion) -> bool {
    is_after_605(version, (5, 0))
}

pub(super) fn writes_are_two_phase(version: ServerVersion) -> bool {
    version.at_least(7, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_patch_behaves_as_its_newest_patch() {
        assert!(!partial_key_delete_is_allowed(ServerVersion::new(6, 0, 5)));
        assert!(partial_key_delete_is_allowed(ServerVersion::new(6, 0, 27)));
        assert!(partial_key_delete_is_allowed(ServerVersion::line(5, 0)));
        assert!(!partial_key_delete_is_allowed(ServerVersion::line(4, 4)));
        assert!(!writes_are_two_phase(ServerVersion::line(7, 0)));
        assert!(writes_are_two_phase(ServerVersion::NEWEST));
    }
}
