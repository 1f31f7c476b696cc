//! Key ranges as MongoDB prints bounds: `[5, MinKey] .. [5, MaxKey]`.

use crate::model::{Decimal128, Value};

use super::target::Reach;

/// More ranges than this are not printed.
const MOST_PRINTED: usize = 100;

/// The ranges of a reach, the first hundred of them.
pub(super) fn printed_ranges(reach: &Reach) -> Vec<String> {
    match reach {
        Reach::Key(key) => {
            let key = list(key.iter());
            vec![format!("{key} .. {key}")]
        }
        Reach::Ranges(ranges) => (0..ranges.len().min(MOST_PRINTED))
            .map(|index| {
                let (low, high) = ranges.range(index);
                format!("{} .. {}", list(low.into_iter()), list(high.into_iter()))
            })
            .collect(),
        Reach::Nothing | Reach::Everything => Vec::new(),
    }
}

fn list<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    format!("[{}]", values.map(printed).collect::<Vec<_>>().join(", "))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as the shell would show it, short.
fn printed(value: &Value) -> String {
    match value {
        Value::MinKey => "MinKey".to_owned(),
        Value::MaxKey => "MaxKey".to_owned(),
        Value::Undefined => "undefined".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) if number.is_nan() => "NaN".to_owned(),
        Value::Double(number) if number.is_infinite() => {
            if *number < 0.0 { "-Infinity" } else { "Infinity" }.to_owned()
        }
        Value::Double(number) => format!("{number:?}"),
        Value::Decimal128(Decimal128::Finite { negative, coefficient, exponent }) => {
            let sign = if *negative { "-" } else { "" };
            let power = if *exponent == 0 { String::new() } else { format!("E{exponent:+}") };
            format!("Decimal128(\"{sign}{coefficient}{power}\")")
        }
        Value::Decimal128(Decimal128::NaN) => "Decimal128(\"NaN\")".to_owned(),
        Value::Decimal128(Decimal128::Infinity { negative }) => {
            format!("Decimal128(\"{}Infinity\")", if *negative { "-" } else { "" })
        }
        Value::String(text) | Value::Symbol(text) => format!("{text:?}"),
        Value::ObjectId(id) => format!("ObjectId(\"{}\")", hex(id)),
        Value::Date(millis) => format!("new Date({millis})"),
        Value::Timestamp { seconds, increment } => format!("Timestamp({seconds}, {increment})"),
        Value::Binary { subtype, bytes } => format!("BinData({subtype}, {})", hex(bytes)),
        Value::Regex { pattern, options } => format!("/{pattern}/{options}"),
        Value::Document(document) if document.fields.is_empty() => "{}".to_owned(),
        Value::Document(document) => {
            let members = document.fields.iter().map(|field| format!("{}: {}", field.name, printed(&field.node.value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(array) => list(array.items.iter().map(|item| &item.value)),
        Value::DbPointer { namespace, id } => format!("DBPointer({namespace:?}, {})", hex(id)),
        Value::JavaScript(code) | Value::JavaScriptWithScope(code, _) => format!("Code({code:?})"),
        Value::Redacted => "###".to_owned(),
    }
}
