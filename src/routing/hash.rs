//! The hash of a hashed shard key: the first eight bytes of an MD5 over the seed 0, the type's class and the value.
//! Numbers hash by their integer part, so 5, 5.0 and 5.3 are one value. It is the server's `convertShardKeyToHashed`.

use md5::{Digest, Md5};

use crate::model::{Document, Node, Value, canonical_type};

/// The hash of `value` as a field of a hashed shard key.
#[must_use]
pub fn hash_value(value: &Value) -> i64 {
    let mut digest = Md5::new();
    digest.update(0i32.to_le_bytes());
    add_element(&mut digest, None, value);
    let bytes = digest.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&bytes[..8]);
    i64::from_le_bytes(first)
}

fn add_element(digest: &mut Md5, name: Option<&str>, value: &Value) {
    let class = match value {
        Value::MinKey => -1,
        Value::Undefined => 0,
        other => i32::from(canonical_type(other)),
    };
    digest.update(class.to_le_bytes());
    if let Some(name) = name {
        digest.update(name.as_bytes());
        digest.update([0]);
    }
    match value {
        Value::Document(document) => add_document(digest, document),
        Value::Array(array) => {
            for (index, Node { value, .. }) in array.items.iter().enumerate() {
                add_element(digest, Some(&index.to_string()), value);
            }
            digest.update(0i32.to_le_bytes());
        }
        Value::JavaScriptWithScope(code, scope) => {
            digest.update(code.as_bytes());
            digest.update([0]);
            add_document(digest, scope);
        }
        scalar => add_scalar(digest, scalar),
    }
}

/// The members, and the class 0 of the end of the document.
fn add_document(digest: &mut Md5, document: &Document) {
    for field in &document.fields {
        add_element(digest, Some(&field.name), &field.node.value);
    }
    digest.update(0i32.to_le_bytes());
}

fn add_scalar(digest: &mut Md5, value: &Value) {
    match value {
        Value::Double(number) => digest.update(truncated(*number).to_le_bytes()),
        Value::Int32(number) => digest.update(i64::from(*number).to_le_bytes()),
        Value::Int64(number) => digest.update(number.to_le_bytes()),
        Value::Decimal128(number) => digest.update(number.to_integer().to_le_bytes()),
        Value::String(text) | Value::Symbol(text) | Value::JavaScript(text) => add_string(digest, text),
        Value::Binary { subtype, bytes } => {
            digest.update(length(bytes.len()));
            digest.update([*subtype]);
            digest.update(bytes);
        }
        Value::ObjectId(id) => digest.update(id),
        Value::Bool(truth) => digest.update([u8::from(*truth)]),
        Value::Date(millis) => digest.update(millis.to_le_bytes()),
        Value::Timestamp { seconds, increment } => {
            digest.update(increment.to_le_bytes());
            digest.update(seconds.to_le_bytes());
        }
        Value::Regex { pattern, options } => {
            for part in [pattern, options] {
                digest.update(part.as_bytes());
                digest.update([0]);
            }
        }
        Value::DbPointer { namespace, id } => {
            add_string(digest, namespace);
            digest.update(id);
        }
        _ => {}
    }
}

/// A string as BSON holds it: its length with the closing NUL, the bytes, the NUL.
fn add_string(digest: &mut Md5, text: &str) {
    digest.update(length(text.len() + 1));
    digest.update(text.as_bytes());
    digest.update([0]);
}

fn length(bytes: usize) -> [u8; 4] {
    i32::try_from(bytes).unwrap_or(i32::MAX).to_le_bytes()
}

/// The integer part within 64 bits; 0 for NaN. Rust's conversion saturates the same way, but for one number: the server
/// takes 2^63 for one that fits, and the processor makes the least integer of it.
#[allow(clippy::cast_possible_truncation)]
fn truncated(number: f64) -> i64 {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if number.total_cmp(&TWO_TO_63).is_eq() { i64::MIN } else { number as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_to_the_63_hashes_as_the_least_integer_and_greater_doubles_as_the_greatest() {
        assert_eq!(hash_value(&Value::Double(9_223_372_036_854_775_808.0)), hash_value(&Value::Int64(i64::MIN)));
        assert_eq!(hash_value(&Value::Double(9.3e18)), hash_value(&Value::Int64(i64::MAX)));
    }
}
