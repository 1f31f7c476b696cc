//! From the form of a value to the BSON value that the shell would send: numbers as the shell stores them (an integer that
//! fits 32 bits is one, every other number a double), wrappers of extended JSON, constructors, arithmetic on literals.

use std::collections::BTreeMap;

use crate::model::{Array, Document, Field, Node, Value};
use crate::syntax::error::SyntaxError;
use crate::syntax::ext_json;
use crate::text::Span;

use super::constructor;
use super::expression::{Element, Expression, Form, Member};
use super::javascript::with_room;

/// The variables that a script has given plain values.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    variables: BTreeMap<String, Node>,
}

impl Scope {
    /// Gives a variable its value.
    pub fn set(&mut self, name: &str, value: Node) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Forgets the values of some variables.
    pub fn forget(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.variables.retain(|name, _| !is_meant(name));
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.variables.get(name)
    }

    /// The BSON value of an expression.
    ///
    /// # Errors
    /// If it holds a name that stands for no value, or a constructor has arguments that it does not take.
    pub fn evaluate(&self, expression: &Expression<'_>) -> Result<Node, SyntaxError> {
        with_room(|| self.node(expression))
    }

    fn node(&self, expression: &Expression<'_>) -> Result<Node, SyntaxError> {
        let span = expression.span;
        let value = match &expression.form {
            Form::Document(members) => self.document(members)?,
            Form::Array(elements) => return self.array(elements, span),
            Form::String(text) => Value::String(text.clone()),
            Form::Regex { pattern, flags } => Value::Regex { pattern: (*pattern).into(), options: (*flags).into() },
            Form::Number(digits) => number(literal(digits)),
            Form::Function(source) => Value::JavaScript((*source).to_owned()),
            Form::Signed { negative, operand } => self.signed(*negative, operand)?,
            Form::Operations(first, others) => self.operations(first, others)?,
            Form::Call { name, arguments: None } => match (constructor::constant(name), self.get(name)) {
                (Some(value), _) => value,
                (None, Some(variable)) => return Ok(variable.clone()),
                (None, None) => constructor::call(name, &[], span)?,
            },
            Form::Call { name, arguments: Some(arguments) } => {
                let arguments =
                    arguments.iter().map(|argument| self.evaluate(argument)).collect::<Result<Vec<_>, _>>()?;
                constructor::call(name, &arguments, span)?
            }
        };
        Ok(Node { value, span })
    }

    fn document(&self, members: &[Member<'_>]) -> Result<Value, SyntaxError> {
        let mut fields = Vec::with_capacity(members.len());
        for member in members {
            let node = self.evaluate(&member.value)?;
            fields.push(Field { name: member.name.clone(), name_span: member.name_span, node });
        }
        let document = Document { fields, partial: false };
        Ok(ext_json::unwrapped(&document).unwrap_or(Value::Document(document)))
    }

    /// An array, or what mongosh prints in place of a value that is nested too deeply: `[Object]`, `[Array]`.
    fn array(&self, elements: &[Element<'_>], span: Span) -> Result<Node, SyntaxError> {
        if let [Element::Value(Expression { form: Form::Call { name, arguments: None }, .. })] = elements {
            let value = match name.as_str() {
                "Object" => Some(Value::Document(Document { fields: Vec::new(), partial: true })),
                "Array" => Some(Value::Array(Array { items: Vec::new(), partial: true })),
                _ => None,
            };
            if let Some(value) = value {
                return Ok(Node { value, span });
            }
        }
        let mut array = Array::default();
        for element in elements {
            match element {
                Element::Value(value) => array.items.push(self.evaluate(value)?),
                Element::Elided => array.partial = true,
            }
        }
        Ok(Node { value: Value::Array(array), span })
    }

    fn signed(&self, negative: bool, operand: &Expression<'_>) -> Result<Value, SyntaxError> {
        let node = self.evaluate(operand)?;
        match (negative, node.value) {
            (false, value @ (Value::Int32(_) | Value::Int64(_) | Value::Double(_))) => Ok(value),
            (true, Value::Int64(n)) => Ok(Value::Int64(n.wrapping_neg())),
            (true, Value::Int32(n)) => Ok(number(-f64::from(n))),
            (true, Value::Double(x)) => Ok(number(-x)),
            _ => Err(SyntaxError::new(node.span, "expected a number after the sign")),
        }
    }

    /// `*` and `/` bind tighter than `+` and `-`; a sum that holds a string is a concatenation.
    fn operations(&self, first: &Expression<'_>, others: &[(char, Expression<'_>)]) -> Result<Value, SyntaxError> {
        let mut sum: Option<(char, Value)> = None;
        let mut product = (self.evaluate(first)?.value, first.span);
        for (operator, operand) in others {
            let next = (self.evaluate(operand)?.value, operand.span);
            if matches!(operator, '*' | '/') {
                product = (combined(product, *operator, next)?, operand.span);
                continue;
            }
            let done = match sum {
                None => product.0,
                Some((operator, left)) => combined((left, first.span), operator, product)?,
            };
            sum = Some((*operator, done));
            product = next;
        }
        match sum {
            None => Ok(product.0),
            Some((operator, left)) => combined((left, first.span), operator, product),
        }
    }
}

fn combined(left: (Value, Span), operator: char, right: (Value, Span)) -> Result<Value, SyntaxError> {
    if let (Value::String(a), '+', Value::String(b)) = (&left.0, operator, &right.0) {
        return Ok(Value::String(format!("{a}{b}")));
    }
    let operand = |(value, span): (Value, Span)| {
        double(&value).ok_or_else(|| SyntaxError::new(span, format!("expected a number beside `{operator}`")))
    };
    let (a, b) = (operand(left)?, operand(right)?);
    Ok(number(match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ => a / b,
    }))
}

/// A number that arithmetic takes; dates count in milliseconds.
#[allow(clippy::cast_precision_loss)]
fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Int32(n) => Some(f64::from(*n)),
        Value::Int64(n) | Value::Date(n) => Some(*n as f64),
        Value::Double(x) => Some(*x),
        _ => None,
    }
}

/// The value of a number literal.
fn literal(digits: &str) -> f64 {
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => {
            hexadecimal.chars().filter_map(|c| c.to_digit(16)).fold(0.0, |sum, digit| sum * 16.0 + f64::from(digit))
        }
        None => digits.parse().unwrap_or(f64::NAN),
    }
}

/// A JavaScript number as the shell stores it.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn number(x: f64) -> Value {
    let fits = x.fract() == 0.0 && x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX);
    let negative_zero = x == 0.0 && x.is_sign_negative();
    if fits && !negative_zero { Value::Int32(x as i32) } else { Value::Double(x) }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::model::Decimal128;

    fn value(text: &str) -> Value {
        parse(text, 0).unwrap_or_else(|error| panic!("{text}: {error}")).value
    }

    fn message(text: &str) -> String {
        parse(text, 0).expect_err(text).message
    }

    #[test]
    fn numbers_are_stored_as_the_shell_stores_them() {
        assert!(matches!(value("2147483647"), Value::Int32(i32::MAX)));
        assert!(matches!(value("2147483648"), Value::Double(x) if x == 2_147_483_648.0));
        assert!(matches!(value("1.0"), Value::Int32(1)));
        assert!(matches!(value("-0x10"), Value::Int32(-16)));
        assert!(matches!(value("-0"), Value::Double(x) if x == 0.0 && x.is_sign_negative()));
        assert!(matches!(value("1e3"), Value::Int32(1000)));
        assert!(matches!(value(".5"), Value::Double(0.5)));
        assert!(matches!(value("-Infinity"), Value::Double(f64::NEG_INFINITY)));
        assert!(matches!(value("NaN"), Value::Double(x) if x.is_nan()));
        assert!(matches!(value("2 + 60 * 60 * 24 / 2 - 1"), Value::Int32(43_201)));
    }

    #[test]
    fn strings_have_the_escapes_of_javascript() {
        let text = r#"'a\'\x41\u00e9\u{1F600}\ud83d\ude00\n\0' + "\q" + `$x\`
y`"#;
        assert!(matches!(value(text), Value::String(s) if s == "a'A\u{e9}\u{1f600}\u{1f600}\n\0q$x`\ny"));
        assert!(matches!(value(r"'\ud800x'"), Value::String(s) if s == "\u{fffd}x"));
    }

    #[test]
    fn the_types_of_both_shells_are_known() {
        let oid = [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 1, 0x23, 0x45, 0x67];
        for text in [
            "ObjectId('0123456789abcdef01234567')",
            "new ObjectId(\"0123456789abcdef01234567\")",
            "{\"$oid\": \"0123456789abcdef01234567\"}",
        ] {
            assert!(matches!(value(text), Value::ObjectId(id) if id == oid), "{text}");
        }
        for text in ["NumberLong(5)", "NumberLong('5')", "Long('5')", "Long.fromString('5')", "{$numberLong: '5'}"] {
            assert!(matches!(value(text), Value::Int64(5)), "{text}");
        }
        for text in ["Timestamp(7, 2)", "Timestamp({ t: 7, i: 2 })", "new Timestamp({t: 7, i: 2})"] {
            assert!(matches!(value(text), Value::Timestamp { seconds: 7, increment: 2 }), "{text}");
        }
        for text in [
            "BinData(0, 'AQI=')",
            "Binary.createFromBase64('AQI=', 0)",
            "new Binary(Buffer.from('0102', 'hex'), 0)",
            "HexData(0, '0102')",
        ] {
            assert!(matches!(value(text), Value::Binary { subtype: 0, bytes } if bytes == [1, 2]), "{text}");
        }
        for text in
            ["UUID('00010203-0405-0607-0809-0a0b0c0d0e0f')", "new UUID(\"00010203-0405-0607-0809-0a0b0c0d0e0f\")"]
        {
            assert!(matches!(value(text), Value::Binary { subtype: 4, bytes } if bytes.len() == 16), "{text}");
        }
        for text in ["NumberDecimal('1.5')", "Decimal128('1.5')", "Decimal128.fromString('1.5')"] {
            let expected = "1.5".parse::<Decimal128>().expect("a decimal");
            assert!(matches!(value(text), Value::Decimal128(d) if *d == expected), "{text}");
        }
        assert!(matches!(value("NumberInt(1)"), Value::Int32(1)));
        assert!(matches!(value("Int32('-1')"), Value::Int32(-1)));
        assert!(matches!(value("Double(1)"), Value::Double(1.0)));
        assert!(matches!(value("MinKey"), Value::MinKey));
        assert!(matches!(value("MaxKey()"), Value::MaxKey));
        assert!(matches!(value("undefined"), Value::Undefined));
        assert!(
            matches!(value("/a\\/[/]b/i"), Value::Regex { pattern, options } if &*pattern == "a\\/[/]b" && &*options == "i")
        );
        assert!(matches!(value("RegExp('a', 'i')"), Value::Regex { pattern, .. } if &*pattern == "a"));
        assert!(matches!(value("Symbol('s')"), Value::Symbol(s) if s == "s"));
        assert!(matches!(value("function () { return '}' }"), Value::JavaScript(_)));
        assert!(matches!(value("DBRef('c', 1)"), Value::Document(d) if d.fields[0].name == "$ref"));
    }

    #[test]
    fn dates_are_read_in_every_notation_and_without_a_zone_in_utc() {
        for text in [
            "ISODate('1970-01-02T00:00:00.000Z')",
            "ISODate('1970-01-02')",
            "ISODate('19700102T000000Z')",
            "new Date('1970-01-02 00:00')",
            "new Date(86400000)",
            "new Date(1970, 0, 2)",
            "Date('1970-01-02T01:00:00+01:00')",
            "{$date: '1970-01-02T00:00:00Z'}",
        ] {
            assert!(matches!(value(text), Value::Date(86_400_000)), "{text}: {:?}", value(text));
        }
        assert!(matches!(value("new Date()"), Value::Date(now) if now > 1_700_000_000_000));
    }

    #[test]
    fn dates_beyond_every_calendar_are_refused() {
        for text in [
            "new Date(2024, NumberLong('9223372036854775807'))",
            "new Date(2024, 0, NumberLong('-9223372036854775808'))",
            "new Date(2024, 0, 1, NumberLong('9223372036854775807'))",
        ] {
            assert!(message(text).contains("expected a date"), "{text}");
        }
    }

    #[test]
    fn what_mongosh_leaves_out_is_marked_as_partial() {
        let node = parse("{ a: [Object], b: [ 1, ... 3 more items ], c: [Array] }", 0).expect("valid");
        let document = node.as_document().expect("a document");
        assert!(document.get("a").and_then(Node::as_document).is_some_and(|d| d.partial));
        assert!(document.get("b").and_then(Node::as_array).is_some_and(|a| a.partial && a.items.len() == 1));
        assert!(document.get("c").and_then(Node::as_array).is_some_and(|a| a.partial));
    }

    #[test]
    fn spans_cut_the_text_they_name() {
        let text = "/* x */ { 'a.b' : [ 1 , -2 ], // y\n é: ISODate('2024-01-01'), }";
        let node = parse(text, 50).expect("valid");
        let cut = |span: Span| &text[span.start as usize - 50..span.end as usize - 50];
        let document = node.as_document().expect("a document");
        assert_eq!(cut(node.span), &text[8..]);
        assert_eq!(cut(document.fields[0].name_span), "'a.b'");
        assert_eq!(cut(document.fields[0].node.span), "[ 1 , -2 ]");
        assert_eq!(cut(document.fields[0].node.as_array().expect("an array").items[1].span), "-2");
        assert_eq!(
            (cut(document.fields[1].name_span), cut(document.fields[1].node.span)),
            ("é", "ISODate('2024-01-01')")
        );
    }

    #[test]
    fn a_failure_says_where_it_is_and_what_was_expected() {
        for (text, at, expected) in [
            ("{ a 1 }", 4, "expected `:` after the key, found `1`"),
            ("{ a: 1 b: 2 }", 7, "expected `,` or `}`, found `b`"),
            ("{ a: }", 5, "expected a value, found `}`"),
            ("{ a: [1, 2 }", 11, "expected `,` or `]`, found `}`"),
            ("{ a: 1", 6, "expected `,` or `}`, found the end of the text"),
            ("{ a: 'x }", 5, "this string is never closed; expected the same quote again on its line"),
            ("", 0, "expected a value, found the end of the text"),
            ("{} x", 3, "expected the end of the text, found `x`"),
            ("{ a: ObjectId('12') }", 14, "expected 24 hexadecimal digits"),
            ("{ a: foo }", 5, "`foo` is not a value; expected a literal or a type of the shell, such as `ObjectId(…)`"),
            ("{ a.b: 1 }", 3, "expected `:` after the key, found `.`"),
        ] {
            let error = parse(text, 0).expect_err(text);
            assert_eq!((error.span.start, error.message.as_str()), (at, expected), "{text}");
        }
        assert!(message("{ “a”: 1 }").contains("expected a key or `}`"));
    }

    #[test]
    fn deep_nesting_is_read_and_hostile_nesting_refused() {
        for (open, close) in [("{ a: ", "}"), ("[", "]"), ("(", ")"), ("ISODate(", ")")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            if open != "ISODate(" {
                assert!(parse(&nested(200), 0).is_ok(), "{open}");
            }
            assert!(message(&nested(100_000)).contains("deep"), "{open}");
        }
        assert!(message(&format!("function () {}", "{".repeat(100_000))).contains("deep"));
    }
}
