//! Why a filter is targeted as it is: the data of the procedure turned into a cause, the bindings of the key fields and a
//! sentence for the reader.

use crate::model::{ShardKey, Value};
use crate::text::Span;

use super::bounds::Unusable;
use super::choose::subject;
use super::collation::Collation;
use super::equality::is_at_or_below;
use super::intervals::Intervals;
use super::predicate::{Comparison, Condition, Operator, Predicate};
use super::reading::Gap;
use super::target::{Reach, Target, is_nearly_free};
use super::verdict::{Cause, FieldBinding, FieldBounds, Reason};

/// A predicate that mentions a key field: where it stands and what the user wrote.
struct Mention {
    span: Span,
    operator: String,
    /// It stands where the procedure looks: as an operator on the field itself.
    plain: bool,
}

/// The reason of the verdict on a filter. `predicate` is the filter as written, `target` what came of it.
pub(super) fn reason(predicate: &Predicate, key: &ShardKey, collation: Collation<'_>, target: &Target) -> Reason {
    let mentions: Vec<Vec<Mention>> = key.fields.iter().map(|field| mentions_of(predicate, &field.path)).collect();
    let cause = match &target.reach {
        Reach::Key(_) => Cause::SingleKey,
        Reach::Nothing => Cause::Unsatisfiable,
        Reach::Ranges(ranges) if ranges.single_key().is_some() => Cause::SingleKey,
        Reach::Ranges(ranges) if !target.first_is_nearly_free() => Cause::KeyRanges { ranges: ranges.len() },
        _ => broadcast_cause(predicate, collation, target, &mentions),
    };
    let bindings = key.fields.iter().zip(&mentions).enumerate();
    let bindings = bindings.map(|(position, (field, mentions))| FieldBinding {
        path: field.path.clone(),
        bounds: field_bounds(target, position),
        intervals: Vec::new(),
        predicates: spans(mentions),
    });
    Reason { cause, bindings: bindings.collect(), version_rules: Vec::new(), ranges: Vec::new() }
}

fn field_bounds(target: &Target, position: usize) -> FieldBounds {
    match (&target.reach, &target.bounds) {
        (Reach::Key(_), _) => FieldBounds::Points(1),
        (_, None) => FieldBounds::Free,
        (_, Some(fields)) => describe(&fields[position]),
    }
}

fn describe(intervals: &Intervals) -> FieldBounds {
    let count = intervals.as_slice().len();
    match () {
        () if intervals.is_empty() => FieldBounds::Empty,
        () if intervals.is_everything() => FieldBounds::Free,
        () if intervals.is_points() => FieldBounds::Points(count),
        () if is_nearly_free(intervals) => FieldBounds::NearlyFree,
        () => FieldBounds::Intervals(count),
    }
}

fn spans(mentions: &[Mention]) -> Vec<Span> {
    let mut spans: Vec<Span> = mentions.iter().map(|mention| mention.span).collect();
    spans.sort_unstable();
    spans.dedup();
    spans
}

/// Why nothing, or next to nothing, of the key space is ruled out.
fn broadcast_cause(
    predicate: &Predicate,
    collation: Collation<'_>,
    target: &Target,
    mentions: &[Vec<Mention>],
) -> Cause {
    if predicate.is_everything() {
        return Cause::NoFilter;
    }
    let first = &mentions[0];
    let plain = first.iter().find(|mention| mention.plain);
    if target.bounds.is_some()
        && let Some(mention) = plain
    {
        return Cause::NearlyFree { predicate: mention.span, operator: mention.operator.clone() };
    }
    if let Some((_, span, why)) = target.rejected.iter().find(|(field, ..)| *field == 0) {
        return rejection(*span, *why, collation, first);
    }
    if let Some((or, branch)) = target.failed_or {
        return Cause::OrBranchWithoutKey { or, branch };
    }
    if let Some(mention) = first.iter().find(|mention| !mention.plain).or(plain) {
        return Cause::Hidden { predicate: mention.span, form: mention.operator.clone() };
    }
    let present: Vec<Span> = mentions[1..].iter().flat_map(|mentions| spans(mentions)).collect();
    if present.is_empty() { Cause::NoKeyField } else { Cause::PrefixHole { present } }
}

fn rejection(span: Span, why: Unusable, collation: Collation<'_>, mentions: &[Mention]) -> Cause {
    match why {
        Unusable::Hashed => Cause::RangeOnHashed { predicate: span },
        Unusable::Collation => {
            let given = match collation {
                Collation::Explicit(node) => Some(node.span),
                Collation::Simple | Collation::Default => None,
            };
            Cause::Collation { predicate: span, collation: given }
        }
        Unusable::Operator => {
            let operator = mentions.iter().find(|mention| mention.span == span).map(|mention| mention.operator.clone());
            Cause::NearlyFree { predicate: span, operator: operator.unwrap_or_else(|| "$not".to_owned()) }
        }
    }
}

/// The cause of a verdict that a gap in the record decides.
pub(super) fn gap_cause(gap: &Gap) -> Cause {
    match gap {
        Gap::Lost => Cause::Truncated,
        Gap::Hidden(literal) => Cause::Redacted { literal: *literal },
        Gap::Opaque(part, why) => Cause::NotUnderstood { part: *part, why: why.clone() },
    }
}

fn mentions_of(predicate: &Predicate, field: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    find_mentions(predicate, "", field, None, &mut found);
    found
}

/// `hidden` is the form inside which nothing is usable, if there is one.
fn find_mentions(predicate: &Predicate, prefix: &str, field: &str, hidden: Option<&str>, found: &mut Vec<Mention>) {
    let full = |path: &str| if prefix.is_empty() { path.to_owned() } else { format!("{prefix}.{path}") };
    let mut mention = |operator: &str, plain: bool| {
        found.push(Mention {
            span: predicate.span,
            operator: hidden.unwrap_or(operator).to_owned(),
            plain: plain && hidden.is_none(),
        });
    };
    if let Some(path) = subject(predicate) {
        if full(path) == field {
            mention(operator_name(predicate), true);
        } else if holds_in_document(predicate, &full(path), field) {
            mention("sub-document", false);
        }
        return;
    }
    match &predicate.condition {
        Condition::Expr(expression) => {
            let mut mentioned = false;
            expression.visit_paths(&mut |path| mentioned |= is_at_or_below(path, field));
            if mentioned {
                mention("$expr", false);
            }
        }
        Condition::Opaque(Some(path), _) if full(path) == field => mention("operator", false),
        Condition::ElemMatchObject(path, inner) => find_mentions(inner, &full(path), field, hidden, found),
        Condition::Not(..) => visit_children(predicate, prefix, field, hidden.or(Some("$not")), found),
        // The negation of one predicate is its complement, however it is spelled.
        Condition::Nor(branches) if matches!(branches.as_slice(), [only] if subject(only).is_some_and(|path| full(path) == field)) =>
        {
            mention("$nor", true);
        }
        Condition::Nor(_) => visit_children(predicate, prefix, field, hidden.or(Some("$nor")), found),
        _ => visit_children(predicate, prefix, field, hidden, found),
    }
}

fn visit_children(predicate: &Predicate, prefix: &str, field: &str, hidden: Option<&str>, found: &mut Vec<Mention>) {
    predicate.children().iter().for_each(|child| find_mentions(child, prefix, field, hidden, found));
}

/// Whether an equality with a document says something about a field below its path.
fn holds_in_document(predicate: &Predicate, path: &str, field: &str) -> bool {
    let Condition::Field(_, Operator::Compare(Comparison::Eq, operand)) = &predicate.condition else { return false };
    matches!(operand.value, Value::Document(_)) && field.len() > path.len() && is_at_or_below(field, path)
}

/// The operator as the user wrote it.
fn operator_name(predicate: &Predicate) -> &'static str {
    match &predicate.condition {
        Condition::Field(_, operator) => operator.name(),
        Condition::Not(negation, _) => negation.name(),
        Condition::ElemMatchValue(..) => "$elemMatch",
        _ => "operator",
    }
}

impl Reason {
    /// One short sentence for people.
    #[must_use]
    pub fn text(&self) -> String {
        let first = self.bindings.first().map_or("the first key field", |binding| binding.path.as_str());
        match &self.cause {
            Cause::Unsharded => "the collection is not sharded".to_owned(),
            Cause::SingleKey => "one value for every field of the key".to_owned(),
            Cause::KeyRanges { ranges: 1 } => format!("one range of the key, bound by `{first}`"),
            Cause::KeyRanges { ranges } => format!("{ranges} ranges of the key, bound by `{first}`"),
            Cause::Unsatisfiable => "the filter can match nothing, so one shard is asked".to_owned(),
            Cause::Insert => "each document goes to the shard of its key".to_owned(),
            Cause::NoFilter => "there is no filter".to_owned(),
            Cause::NoKeyField => format!("no predicate on `{first}`, the first field of the key"),
            Cause::PrefixHole { .. } => {
                format!("only later fields of the key are bound; there is no predicate on `{first}`, the first one")
            }
            Cause::OrBranchWithoutKey { .. } => format!("one branch of the `$or` has no usable predicate on `{first}`"),
            Cause::RangeOnHashed { .. } => format!("`{first}` is hashed, and only equalities bound a hashed field"),
            Cause::NearlyFree { operator, .. } => format!("`{operator}` on `{first}` rules out next to nothing"),
            Cause::Collation { .. } => {
                format!("the value of `{first}` depends on the collation, and chunks are ordered without one")
            }
            Cause::Hidden { form, .. } => {
                format!("`{first}` stands in a form that cannot be used for routing: `{form}`")
            }
            Cause::MatchBehindStage { name, .. } => format!("the `$match` on `{first}` cannot move before `{name}`"),
            Cause::MultiWrite => "a multi-write that is not targeted goes to every shard of the cluster".to_owned(),
            Cause::IdOnlyWrite => "a write by `_id` alone goes to every shard".to_owned(),
            Cause::SingleWriteWithoutKey => "a single write has to be found by the shard key".to_owned(),
            Cause::UpsertWithoutKey => "an upsert needs a value for every field of the key".to_owned(),
            Cause::WholeClusterStage { name, .. } => format!("`{name}` asks every shard"),
            Cause::Truncated => "the record is cut, and what was lost could decide".to_owned(),
            Cause::Redacted { .. } => "a redacted literal decides".to_owned(),
            Cause::NotUnderstood { why, .. } => format!("{why} is not understood and could decide"),
            Cause::GeneratedId => "the server makes up the missing `_id`, which is part of the key".to_owned(),
            Cause::StatementsMissing => "the statements of the batch are not in the record".to_owned(),
        }
    }
}
