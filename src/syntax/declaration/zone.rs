//! Statements about zones, as methods of `sh` (by their old names, `addShardTag` and `addTagRange`, too) and as commands.
//! What a statement says is kept with its place; whether the bounds are on the key is for the catalog.

use crate::model::{Document, Node, Value, WrittenZoneRange};
use crate::syntax::error::SyntaxError;
use crate::text::{Located, Span};

use super::arguments::{Part, document, expected, target, text};

/// What one statement says about zones. A script changes them one after the other.
#[derive(Debug, Clone)]
pub enum ZoneStatement {
    /// A shard belongs to a zone.
    AddShard {
        /// The shard's name.
        shard: String,
        /// The zone's name.
        zone: String,
    },
    /// A shard belongs to a zone no longer.
    RemoveShard {
        /// The shard's name.
        shard: String,
        /// The zone's name.
        zone: String,
    },
    /// A range belongs to a zone.
    AddRange(WrittenZoneRange),
    /// Exactly this range belongs to no zone.
    RemoveRange {
        /// The collection.
        namespace: String,
        /// The lower bound.
        min: Node,
        /// The upper bound.
        max: Node,
    },
    /// No range of the collection belongs to a zone: it gets another key.
    RemoveRanges {
        /// The collection.
        namespace: String,
    },
}

const SHARD: &str = "a shard's name";
const ZONE: &str = "a zone's name";
const ZONE_OR_NULL: &str = "a zone's name or null";
const LOWER: &str = "the lower bound, such as `{ customerId: MinKey }`";
const UPPER: &str = "the upper bound, such as `{ customerId: MaxKey }`";

/// A call of a method of `sh`; `None` if it is about something else.
pub(super) fn of_sh(
    method: &Located<String>,
    arguments: &[Node],
    span: Span,
) -> Option<Result<Vec<ZoneStatement>, SyntaxError>> {
    let owner = method.span;
    let argument = |index: usize| arguments.get(index);
    let one = match method.value.as_str() {
        "addShardTag" | "addShardToZone" => member(argument(0), argument(1), owner, [SHARD, ZONE])
            .map(|(shard, zone)| ZoneStatement::AddShard { shard, zone }),
        "removeShardTag" | "removeShardFromZone" => member(argument(0), argument(1), owner, [SHARD, ZONE])
            .map(|(shard, zone)| ZoneStatement::RemoveShard { shard, zone }),
        "addTagRange" => range([argument(0), argument(1), argument(2)], owner, span)
            .and_then(|range| named(range, argument(3), owner, ZONE)),
        "updateZoneKeyRange" => range([argument(0), argument(1), argument(2)], owner, span)
            .and_then(|range| named_or_not(range, argument(3), owner)),
        "removeTagRange" | "removeRangeFromZone" => {
            range([argument(0), argument(1), argument(2)], owner, span).map(Range::removed)
        }
        "reshardCollection" => {
            let options = arguments.iter().skip(2).filter_map(Node::as_document);
            return Some(resharded(argument(0), options.filter_map(|options| options.get("zones")).next_back(), owner));
        }
        _ => return None,
    };
    Some(one.map(|statement| vec![statement]))
}

/// A command; `None` if it is about something else.
pub(super) fn of_command(body: &Document, span: Span) -> Option<Result<Vec<ZoneStatement>, SyntaxError>> {
    let first = body.first()?;
    let owner = first.name_span;
    let given = |name: &str| body.get(name);
    let range = || range([Some(&first.node), given("min"), given("max")], owner, span);
    let one = match first.name.as_str() {
        "addShardToZone" => member(Some(&first.node), given("zone"), owner, ["a name", "`zone`"])
            .map(|(shard, zone)| ZoneStatement::AddShard { shard, zone }),
        "removeShardFromZone" => member(Some(&first.node), given("zone"), owner, ["a name", "`zone`"])
            .map(|(shard, zone)| ZoneStatement::RemoveShard { shard, zone }),
        "updateZoneKeyRange" => range().and_then(|range| named_or_not(range, given("zone"), owner)),
        "reshardCollection" => return Some(resharded(Some(&first.node), given("zones"), owner)),
        _ => return None,
    };
    Some(one.map(|statement| vec![statement]))
}

fn member(shard: Option<&Node>, zone: Option<&Node>, owner: Span, what: [&str; 2]) -> Part<(String, String)> {
    Ok((text(shard, owner, what[0])?.value, text(zone, owner, what[1])?.value))
}

/// A range whose zone is not read yet.
struct Range {
    namespace: Located<String>,
    min: Node,
    max: Node,
    span: Span,
}

impl Range {
    fn removed(self) -> ZoneStatement {
        ZoneStatement::RemoveRange { namespace: self.namespace.value, min: self.min, max: self.max }
    }

    fn of(self, zone: Located<String>) -> ZoneStatement {
        let Self { namespace, min, max, span } = self;
        ZoneStatement::AddRange(WrittenZoneRange { namespace, min, max, zone, span })
    }
}

fn range([name, min, max]: [Option<&Node>; 3], owner: Span, span: Span) -> Part<Range> {
    let namespace = text(name, owner, "a namespace such as `\"shop.orders\"`")?;
    target(&namespace)?;
    document(min, owner, LOWER)?;
    document(max, owner, UPPER)?;
    let bound = |node: Option<&Node>| node.cloned().unwrap_or_default();
    Ok(Range { namespace, min: bound(min), max: bound(max), span })
}

fn named(range: Range, zone: Option<&Node>, owner: Span, what: &str) -> Part<ZoneStatement> {
    Ok(range.of(text(zone, owner, what)?))
}

/// Null takes the range out of its zone.
fn named_or_not(range: Range, zone: Option<&Node>, owner: Span) -> Part<ZoneStatement> {
    match zone.map(|zone| &zone.value) {
        Some(Value::Null) => Ok(range.removed()),
        _ => named(range, zone, owner, ZONE_OR_NULL),
    }
}

/// The ranges on the key before are gone; `zones: [{ zone, min, max }]` are the new ones.
fn resharded(name: Option<&Node>, zones: Option<&Node>, owner: Span) -> Part<Vec<ZoneStatement>> {
    let namespace = text(name, owner, "a namespace such as `\"shop.orders\"`")?.value;
    let mut statements = vec![ZoneStatement::RemoveRanges { namespace }];
    let Some(zones) = zones.filter(|zones| !matches!(zones.value, Value::Null | Value::Undefined)) else {
        return Ok(statements);
    };
    let Some(list) = zones.as_array() else {
        return expected(Some(zones), owner, "an array such as `[{ zone: \"EU\", min: …, max: … }]`");
    };
    for item in &list.items {
        let given = document(Some(item), owner, "a range such as `{ zone: \"EU\", min: …, max: … }`")?;
        let range = range([name, given.get("min"), given.get("max")], item.span, item.span)?;
        statements.push(named_or_not(range, given.get("zone"), item.span)?);
    }
    Ok(statements)
}
