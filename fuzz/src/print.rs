//! A value as canonical extended JSON, which both the reader of extended JSON and that of the shell's language take.

use std::fmt::Write;

use shardlint::model::{Decimal128, Document, Value};

/// `None` for what has no spelling of its own: a value that the server has hidden.
pub fn canonical(value: &Value) -> Option<String> {
    let mut text = String::new();
    print(value, &mut text)?;
    Some(text)
}

fn print(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Document(document) => print_document(document, out)?,
        Value::Array(array) => {
            out.push('[');
            for (i, item) in array.items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                print(&item.value, out)?;
            }
            out.push(']');
        }
        Value::JavaScriptWithScope(code, scope) => {
            let _ = write!(out, r#"{{"$code":{},"$scope":"#, quoted(code));
            print_document(scope, out)?;
            out.push('}');
        }
        scalar => out.push_str(&print_scalar(scalar)?),
    }
    Some(())
}

fn print_document(document: &Document, out: &mut String) -> Option<()> {
    out.push('{');
    for (i, field) in document.fields.iter().enumerate() {
        let _ = write!(out, "{}{}:", if i == 0 { "" } else { "," }, quoted(&field.name));
        print(&field.node.value, out)?;
    }
    out.push('}');
    Some(())
}

fn print_scalar(value: &Value) -> Option<String> {
    Some(match value {
        Value::Double(x) => format!(r#"{{"$numberDouble":"{x:?}"}}"#),
        Value::String(text) => quoted(text),
        Value::Binary { subtype, bytes } => {
            format!(r#"{{"$binary":{{"base64":"{}","subType":"{subtype:02x}"}}}}"#, base64(bytes))
        }
        Value::Undefined => r#"{"$undefined":true}"#.to_owned(),
        Value::ObjectId(id) => format!(r#"{{"$oid":"{}"}}"#, hex(id)),
        Value::Bool(b) => b.to_string(),
        Value::Date(millis) => format!(r#"{{"$date":{{"$numberLong":"{millis}"}}}}"#),
        Value::Null => "null".to_owned(),
        Value::Regex { pattern, options } => {
            format!(r#"{{"$regularExpression":{{"pattern":{},"options":{}}}}}"#, quoted(pattern), quoted(options))
        }
        Value::DbPointer { namespace, id } => {
            format!(r#"{{"$dbPointer":{{"$ref":{},"$id":{{"$oid":"{}"}}}}}}"#, quoted(namespace), hex(id))
        }
        Value::JavaScript(code) => format!(r#"{{"$code":{}}}"#, quoted(code)),
        Value::Symbol(text) => format!(r#"{{"$symbol":{}}}"#, quoted(text)),
        Value::Int32(n) => n.to_string(),
        Value::Timestamp { seconds, increment } => {
            format!(r#"{{"$timestamp":{{"t":{seconds},"i":{increment}}}}}"#)
        }
        Value::Int64(n) => format!(r#"{{"$numberLong":"{n}"}}"#),
        Value::Decimal128(decimal) => format!(r#"{{"$numberDecimal":"{}"}}"#, print_decimal(**decimal)),
        Value::MinKey => r#"{"$minKey":1}"#.to_owned(),
        Value::MaxKey => r#"{"$maxKey":1}"#.to_owned(),
        _ => return None,
    })
}

fn print_decimal(decimal: Decimal128) -> String {
    let sign = |negative| if negative { "-" } else { "" };
    match decimal {
        Decimal128::NaN => "NaN".to_owned(),
        Decimal128::Infinity { negative } => format!("{}Infinity", sign(negative)),
        Decimal128::Finite { negative, coefficient, exponent } => {
            format!("{}{coefficient}E{exponent}", sign(negative))
        }
    }
}

/// The text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let six = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= group.len() { char::from(DIGITS[six]) } else { '=' });
        }
    }
    text
}
