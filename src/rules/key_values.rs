//! The values of shard key fields that filters and inserted documents show: which they are, where they stand, and what is
//! kept of them.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;
use smallvec::SmallVec;

use crate::model::{Node, ShardKey, Statement, Value, Verb, canonical_type};
use crate::routing::{Comparison, Condition, Operator, Predicate, key_nodes};

use super::fan_out::filter_of;

/// So many documents of one insert, and members of one `$in`, are looked at.
const OF_ONE_STATEMENT: usize = 16;
/// Longer strings are kept to this length, in bytes, and end in `…`; their hash tells them apart.
const LONGEST: usize = 64;

/// Where a value was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// An equality or a member of an `$in`.
    Filter,
    /// An inserted document.
    Insert,
    /// An end of a range. It is no value that documents have, so only its type is counted.
    Range,
}

/// One value of one field of a key.
#[derive(Debug, Clone)]
pub struct KeyValue {
    /// The place of the field in the key; the number of fields stands for all of them together.
    pub field: usize,
    /// Where it was seen.
    pub seen: Seen,
    /// Its place in the order of BSON types; a number of any kind is a number.
    pub(super) kind: u8,
    /// The value, long strings cut, documents and arrays emptied.
    pub value: Value,
    /// Tells values apart, cut ones too.
    pub hash: u64,
}

impl PartialEq for KeyValue {
    fn eq(&self, other: &Self) -> bool {
        let told_by = |value: &Self| (value.field, value.seen, value.kind, value.hash);
        told_by(self) == told_by(other)
    }
}

/// Where a statement shows a key value.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'n> {
    /// The place of the field in the key; the number of fields stands for all of them together.
    pub field: usize,
    /// Where it was seen.
    pub seen: Seen,
    /// The value; of all fields together, that of each.
    pub nodes: &'n [&'n Node],
}

/// The values of the key that a statement shows.
#[must_use]
pub fn key_values(statement: &Statement, key: &ShardKey) -> Vec<KeyValue> {
    let mut found = Vec::new();
    visit_key_values(statement, key, &mut |Shown { field, seen, nodes }| {
        let values: SmallVec<[&Value; 4]> = nodes.iter().map(|node| &node.value).collect();
        found.push(KeyValue::of(field, seen, &values));
    });
    found
}

/// Tells where a statement shows values of the key, in the order of [`key_values`].
pub fn visit_key_values(statement: &Statement, key: &ShardKey, tell: &mut dyn FnMut(Shown<'_>)) {
    if statement.verb == Verb::Insert {
        for document in statement.documents.iter().take(OF_ONE_STATEMENT).filter_map(Node::as_document) {
            let Ok(nodes) = key_nodes(document, key) else { continue };
            for (field, node) in nodes.iter().enumerate() {
                node.iter().for_each(|node| tell(Shown { field, seen: Seen::Insert, nodes: &[node] }));
            }
            visit_whole(Seen::Insert, &nodes, tell);
        }
        return;
    }
    if let Some(filter) = filter_of(statement) {
        let predicate = Predicate::parse(filter);
        let mut equal: Vec<Option<&Node>> = vec![None; key.fields.len()];
        compared(&predicate, key, &mut |field, node, role| {
            let seen = if role == Compared::End { Seen::Range } else { Seen::Filter };
            tell(Shown { field, seen, nodes: &[node] });
            if role == Compared::Alone {
                equal[field] = Some(node);
            }
        });
        visit_whole(Seen::Filter, &equal, tell);
    }
}

/// All fields of a compound key together, if each has a value.
fn visit_whole(seen: Seen, nodes: &[Option<&Node>], tell: &mut dyn FnMut(Shown<'_>)) {
    let all: Option<SmallVec<[&Node; 4]>> = nodes.iter().copied().collect();
    if let Some(all) = all.filter(|all| all.len() > 1) {
        tell(Shown { field: all.len(), seen, nodes: &all });
    }
}

/// What a value is to the field that is compared with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    /// The only value.
    Alone,
    /// A member of a list.
    Member,
    /// An end of a range.
    End,
}

/// Tells the values that a conjunction compares key fields with.
fn compared<'p>(predicate: &'p Predicate, key: &ShardKey, tell: &mut dyn FnMut(usize, &'p Node, Compared)) {
    match &predicate.condition {
        Condition::And(members) => members.iter().for_each(|member| compared(member, key, tell)),
        Condition::Field(path, Operator::Compare(comparison, node)) => {
            if let Some(field) = key.position(path) {
                let is_equality = *comparison == Comparison::Eq;
                tell(field, node, if is_equality { Compared::Alone } else { Compared::End });
            }
        }
        Condition::Field(path, Operator::In(list)) => {
            if let Some(field) = key.position(path) {
                list.iter().take(OF_ONE_STATEMENT).for_each(|node| tell(field, node, Compared::Member));
            }
        }
        _ => {}
    }
}

impl KeyValue {
    /// A value of one field.
    #[must_use]
    pub fn new(field: usize, seen: Seen, value: &Value) -> Self {
        let mut hasher = SipHasher13::new();
        hash(value, &mut hasher);
        Self { field, seen, kind: canonical_type(value), value: short(value), hash: hasher.finish() }
    }

    /// What is counted of it: its type. The value itself is forgotten.
    #[must_use]
    pub fn typed(&self) -> Self {
        Self { value: Value::Null, hash: 0, ..*self }
    }

    /// A value of one field, or of all of them together.
    #[must_use]
    pub fn of(field: usize, seen: Seen, values: &[&Value]) -> Self {
        if let [value] = values {
            return Self::new(field, seen, value);
        }
        let mut hasher = SipHasher13::new();
        values.iter().for_each(|value| hash(value, &mut hasher));
        Self { field, seen, kind: canonical_type(&Value::Null), value: Value::Null, hash: hasher.finish() }
    }
}

fn hash(value: &Value, hasher: &mut SipHasher13) {
    hasher.write_u8(canonical_type(value));
    match value {
        Value::String(text) | Value::Symbol(text) => hasher.write(text.as_bytes()),
        Value::ObjectId(bytes) => hasher.write(bytes),
        Value::Binary { subtype, bytes } => {
            hasher.write_u8(*subtype);
            hasher.write(bytes);
        }
        // Equal numbers of different types are one value.
        Value::Int32(n) => hasher.write_u64(f64::from(*n).to_bits()),
        #[allow(clippy::cast_precision_loss)]
        Value::Int64(n) => hasher.write_u64((*n as f64).to_bits()),
        Value::Double(n) => hasher.write_u64((if *n == 0.0 { 0.0 } else { *n }).to_bits()),
        other => hasher.write(format!("{other:?}").as_bytes()),
    }
}

fn short(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            Value::String(format!("{}…", &text[..end]))
        }
        Value::Binary { subtype, bytes } => {
            Value::Binary { subtype: *subtype, bytes: bytes.iter().take(LONGEST).copied().collect() }
        }
        Value::Document(_) => Value::Document(crate::model::Document::default()),
        Value::Array(_) => Value::Array(crate::model::Array::default()),
        other => other.clone(),
    }
}

/// A value as the shell would print it.
#[must_use]
pub fn shown(value: &Value) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::ObjectId(bytes) => format!("ObjectId(\"{}\")", hex(bytes)),
        Value::Binary { subtype: 4, bytes } => format!("UUID(\"{}\")", hex(bytes)),
        Value::Int32(n) => n.to_string(),
        Value::Int64(n) => n.to_string(),
        Value::Double(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Null => "null".to_owned(),
        Value::Date(millis) => match jiff::Timestamp::from_millisecond(*millis) {
            Ok(time) => format!("ISODate(\"{time}\")"),
            Err(_) => format!("Date({millis})"),
        },
        _ => "a value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_kept_in_part_says_so_and_bytes_of_two_kinds_are_two_values() {
        let long = KeyValue::new(0, Seen::Filter, &Value::String("x".repeat(300)));
        assert_eq!(shown(&long.value), format!("\"{}…\"", "x".repeat(LONGEST)));
        let uuid = |subtype| KeyValue::new(0, Seen::Filter, &Value::Binary { subtype, bytes: vec![7; 16] }).hash;
        assert_ne!(uuid(3), uuid(4));
    }
}
