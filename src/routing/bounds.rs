//! The bounds that one predicate puts on a key field, as the server's index-bounds builder would build them for an index
//! without collation that is not multikey. Which predicates count is for `choose`.

use crate::model::{Array, Document, KeyKind, Node, ServerVersion, Value, compare};

use super::bracket::{bracket_of, type_bounds};
use super::collation::depends_on_collation;
use super::hash::hash_value;
use super::intervals::{Interval, Intervals};
use super::predicate::{Comparison, Condition, Operator, Predicate};
use super::regex_prefix::{literal_prefix, successor};
use super::versions;

/// Why a predicate on a key field has no bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    /// The field is hashed, and the predicate is no equality.
    Hashed,
    /// It compares to a string, object or array under a collation.
    Collation,
    /// The operator never gives bounds.
    Operator,
}

/// What the bounds of a field depend on besides the predicate.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundsBuilder {
    /// A collation other than the simple one is in force.
    pub(super) collated: bool,
    pub(super) version: ServerVersion,
}

impl BoundsBuilder {
    /// The bounds that `predicate`, which is about the key field, puts on it.
    pub(super) fn bounds(self, predicate: &Predicate, kind: KeyKind) -> Result<Intervals, Unusable> {
        match &predicate.condition {
            Condition::Field(_, operator) => self.operator_bounds(operator, kind),
            Condition::Not(_, inner) => self.negated_bounds(inner, kind),
            Condition::ElemMatchValue(_, members) => self.elem_match_bounds(members, kind),
            _ => Err(Unusable::Operator),
        }
    }

    fn operator_bounds(self, operator: &Operator, kind: KeyKind) -> Result<Intervals, Unusable> {
        if self.collated && compares_to_collatable(operator) {
            return Err(Unusable::Collation);
        }
        if kind == KeyKind::Hashed {
            return self.hashed_bounds(operator);
        }
        Ok(match operator {
            Operator::Compare(comparison, operand) => self.comparison_bounds(*comparison, &operand.value)?,
            Operator::ExprCompare(comparison, operand) => self.unbracketed_bounds(*comparison, &operand.value),
            Operator::In(list) => {
                let mut intervals = Vec::with_capacity(list.len());
                list.iter().for_each(|member| self.add_intervals(member, &mut intervals));
                Intervals::union(intervals)
            }
            Operator::Regex { pattern: Some(pattern), flags } => Intervals::union(regex_intervals(pattern, flags)),
            Operator::Exists(_) => Intervals::everything(),
            Operator::Type(Some(codes)) => type_bounds(codes),
            Operator::Mod => type_bounds(&[1]),
            _ => return Err(Unusable::Operator),
        })
    }

    /// On a hashed field only equalities have bounds: the hashes of their values.
    fn hashed_bounds(self, operator: &Operator) -> Result<Intervals, Unusable> {
        let equality = |value: &Value| {
            let values = self.equal_values(value);
            // Arrays never hash: the array and its first element are looked up as they are.
            if matches!(value, Value::Array(_)) { values } else { values.iter().map(hashed).collect() }
        };
        match operator {
            Operator::Compare(Comparison::Eq, operand) | Operator::ExprCompare(Comparison::Eq, operand) => {
                Ok(Intervals::points(equality(&operand.value)))
            }
            Operator::In(list) if !list.iter().any(is_regex) => {
                Ok(Intervals::points(list.iter().flat_map(|member| equality(&member.value))))
            }
            Operator::Exists(_) => Ok(Intervals::everything()),
            _ => Err(Unusable::Hashed),
        }
    }

    fn negated_bounds(self, inner: &Predicate, kind: KeyKind) -> Result<Intervals, Unusable> {
        let Condition::Field(_, operator) = &inner.condition else { return Err(Unusable::Operator) };
        if matches!(operator, Operator::Exists(_)) {
            let null = if kind == KeyKind::Hashed { hashed(&Value::Null) } else { Value::Null };
            return Ok(Intervals::points([null]));
        }
        if kind == KeyKind::Hashed {
            return Err(Unusable::Hashed);
        }
        let plain = |member: &Node| !matches!(member.value, Value::Array(_) | Value::Regex { .. });
        let has_complement = match operator {
            Operator::Compare(_, operand) => plain(operand),
            Operator::In(list) => list.iter().all(plain),
            _ => false,
        };
        if !has_complement {
            return Err(Unusable::Operator);
        }
        self.operator_bounds(operator, kind).map(|bounds| bounds.complement())
    }

    /// Every operand has to have bounds, and an `$elemMatch` inside another has none. A key field holds no arrays, so it matches nothing; it is targeted all the same.
    fn elem_match_bounds(self, members: &[Predicate], kind: KeyKind) -> Result<Intervals, Unusable> {
        if kind == KeyKind::Hashed {
            return Err(Unusable::Hashed);
        }
        let mut bounds = Intervals::everything();
        for member in members {
            if matches!(member.condition, Condition::ElemMatchValue(..)) {
                return Err(Unusable::Operator);
            }
            bounds = bounds.intersection(&self.bounds(member, kind)?);
        }
        Ok(bounds)
    }

    /// The values of an index that an equality looks up.
    fn equal_values(self, value: &Value) -> Vec<Value> {
        match value {
            Value::Null if versions::null_matches_undefined(self.version) => vec![Value::Undefined, Value::Null],
            Value::Array(array) => vec![value.clone(), first_element(array)],
            other => vec![other.clone()],
        }
    }

    fn add_intervals(self, member: &Node, intervals: &mut Vec<Interval>) {
        match &member.value {
            Value::Regex { pattern, options } => intervals.extend(regex_intervals(pattern, options)),
            value @ (Value::Null | Value::Array(_)) => {
                intervals.extend(self.equal_values(value).into_iter().map(Interval::point));
            }
            // What most of many are.
            value => intervals.push(Interval::point(value.clone())),
        }
    }

    fn comparison_bounds(self, comparison: Comparison, operand: &Value) -> Result<Intervals, Unusable> {
        let inclusive = matches!(comparison, Comparison::Lte | Comparison::Gte);
        if comparison == Comparison::Eq {
            return Ok(Intervals::points(self.equal_values(operand)));
        }
        let upward = matches!(comparison, Comparison::Gt | Comparison::Gte);
        let nothing_or = |bounds: Intervals| if inclusive { bounds } else { Intervals::default() };
        Ok(match operand {
            Value::Null | Value::Undefined => nothing_or(Intervals::points(self.equal_values(operand))),
            Value::MinKey if upward => Intervals::one(Value::MinKey, Value::MaxKey, (inclusive, true)),
            Value::MaxKey if !upward => Intervals::one(Value::MinKey, Value::MaxKey, (true, inclusive)),
            Value::MinKey | Value::MaxKey => nothing_or(Intervals::points([operand.clone()])),
            Value::Array(array) => array_range(array, operand, upward),
            Value::Regex { .. } => return Err(Unusable::Operator),
            number if is_nan(number) => nothing_or(Intervals::points([number.clone()])),
            _ => bracketed_range(operand, upward, inclusive),
        })
    }

    /// The comparisons of `$expr` order all types, so their open side is an end of the whole.
    fn unbracketed_bounds(self, comparison: Comparison, operand: &Value) -> Intervals {
        let operand = operand.clone();
        match comparison {
            Comparison::Eq => Intervals::points(self.equal_values(&operand)),
            Comparison::Lt => Intervals::one(Value::MinKey, operand, (true, false)),
            Comparison::Lte => Intervals::one(Value::MinKey, operand, (true, true)),
            Comparison::Gt => Intervals::one(operand, Value::MaxKey, (false, true)),
            Comparison::Gte => Intervals::one(operand, Value::MaxKey, (true, true)),
        }
    }
}

fn hashed(value: &Value) -> Value {
    Value::Int64(hash_value(value))
}

fn is_regex(node: &Node) -> bool {
    matches!(node.value, Value::Regex { .. })
}

fn is_nan(value: &Value) -> bool {
    compare(value, &Value::Double(f64::NAN)).is_eq()
}

fn compares_to_collatable(operator: &Operator) -> bool {
    match operator {
        Operator::Compare(_, operand) | Operator::ExprCompare(_, operand) => depends_on_collation(&operand.value),
        Operator::In(list) => list.iter().any(|member| depends_on_collation(&member.value)),
        _ => false,
    }
}

fn first_element(array: &Array) -> Value {
    array.items.first().map_or(Value::Undefined, |first| first.value.clone())
}

/// From the lesser, or up to the greater, of the array and its first element.
fn array_range(array: &Array, operand: &Value, upward: bool) -> Intervals {
    let first = first_element(array);
    let first_is_less = compare(&first, operand).is_lt();
    match (upward, array.items.is_empty()) {
        (true, true) => Intervals::everything(),
        (true, false) => {
            Intervals::one(if first_is_less { first } else { operand.clone() }, Value::MaxKey, (true, true))
        }
        (false, _) => Intervals::one(Value::MinKey, if first_is_less { operand.clone() } else { first }, (true, true)),
    }
}

fn bracketed_range(operand: &Value, upward: bool, inclusive: bool) -> Intervals {
    let Some(bracket) = bracket_of(operand) else { return Intervals::everything() };
    if upward {
        return Intervals::one(operand.clone(), bracket.high, (inclusive, !bracket.open));
    }
    // A number is never compared to NaN by an inequality, so the numbers begin at -Infinity.
    let low = if is_nan(&bracket.low) { Value::Double(f64::NEG_INFINITY) } else { bracket.low };
    Intervals::one(low, operand.clone(), (true, inclusive))
}

/// The strings with the literal prefix, and the regex itself, which can be stored as a value.
fn regex_intervals(pattern: &str, flags: &str) -> Vec<Interval> {
    let itself = Value::Regex { pattern: pattern.into(), options: flags.into() };
    let prefix = literal_prefix(pattern, flags);
    let high = if prefix.is_empty() { Value::Document(Document::default()) } else { Value::String(successor(&prefix)) };
    vec![Interval::new(Value::String(prefix), high, (true, false)), Interval::point(itself)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::normalise::normalise;
    use crate::syntax::ext_json;

    fn bounds(filter: &str) -> Result<Intervals, Unusable> {
        let predicate = normalise(Predicate::parse(&ext_json::parse(filter, 0).expect("extended JSON")));
        let builder = BoundsBuilder { collated: false, version: ServerVersion::NEWEST };
        builder.bounds(&predicate, KeyKind::Ranged)
    }

    #[test]
    fn an_open_comparison_to_an_end_of_the_whole_leaves_that_end_out() {
        for (filter, end) in [
            (r#"{"a": {"$not": {"$lt": {"$maxKey": 1}}}}"#, Value::MaxKey),
            (r#"{"a": {"$not": {"$gt": {"$minKey": 1}}}}"#, Value::MinKey),
        ] {
            let bounds = bounds(filter).expect("bounds");
            let [only] = bounds.as_slice() else { panic!("{bounds:?}") };
            assert!(only.is_point() && compare(&only.low, &end).is_eq(), "{filter}: {only:?}");
        }
        assert!(bounds(r#"{"a": {"$not": {"$lte": {"$maxKey": 1}}}}"#).expect("bounds").is_empty());
    }

    #[test]
    fn an_operand_of_an_elem_match_that_is_several_predicates_has_no_bounds() {
        for operand in
            [r#"{"$all": [5, 6]}"#, r#"{"$all": [{"$elemMatch": {"$gt": 5}}]}"#, r#"{"$elemMatch": {"$gt": 5}}"#]
        {
            assert!(bounds(&format!(r#"{{"a": {{"$elemMatch": {operand}}}}}"#)).is_err(), "{operand}");
        }
        for operand in [r#"{"$all": [5]}"#, r#"{"$all": [5], "$in": [5]}"#, r#"{"$gt": 5, "$lt": 7}"#] {
            assert!(bounds(&format!(r#"{{"a": {{"$elemMatch": {operand}}}}}"#)).is_ok(), "{operand}");
        }
    }
}
