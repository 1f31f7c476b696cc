//! The marks that all parts of a shape are written with: names, literals, lists, what was cut off.

use crate::model::value::{Array, Document, Field, Node, Value};

/// Any scalar literal.
pub(super) const ANY: &str = "?";
/// The server cut the record here, or hid what would stand here.
pub(super) const CUT: &str = "<cut>";

/// Writes one shape.
pub(super) struct Writer {
    out: String,
    /// A collation makes strings route unlike other scalars.
    pub(super) is_collated: bool,
}

impl Writer {
    pub(super) fn new(is_collated: bool) -> Self {
        Self { out: String::with_capacity(128), is_collated }
    }

    pub(super) fn text(self) -> String {
        self.out
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// ` sort ` before what is sorted by.
    pub(super) fn word(&mut self, word: &str) {
        self.word_only(word);
        self.out.push(' ');
    }

    /// ` upsert`.
    pub(super) fn word_only(&mut self, word: &str) {
        self.out.push(' ');
        self.out.push_str(word);
    }

    /// What `write` writes, apart: to sort or compare it.
    pub(super) fn apart(&self, write: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self::new(self.is_collated);
        write(&mut writer);
        writer.out
    }

    /// A member's name; quoted unless it is made of letters, digits, `_`, `$`, `.` and `-`.
    pub(super) fn name(&mut self, name: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        if !name.is_empty() && name.chars().all(is_plain) {
            self.out.push_str(name);
        } else {
            self.quoted(name);
        }
    }

    /// A text in double quotes.
    pub(super) fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                c if u32::from(c) < 0x20 => self.out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// `{ name: …, name: … }` of `fields` in their order; `{}` of none.
    pub(super) fn members<'f>(
        &mut self,
        fields: impl IntoIterator<Item = &'f Field>,
        is_partial: bool,
        mut value: impl FnMut(&mut Self, &'f Field),
    ) {
        let mut opening = "{ ";
        for field in fields {
            self.raw(opening);
            self.name(&field.name);
            self.raw(": ");
            value(self, field);
            opening = ", ";
        }
        self.close(opening, is_partial, ["{ ", "{}", " }"]);
    }

    /// `[a, b]` of items that are already written.
    pub(super) fn list(&mut self, items: &[String], is_partial: bool) {
        self.raw("[");
        self.raw(&items.join(", "));
        match (is_partial, items.is_empty()) {
            (true, true) => self.raw(CUT),
            (true, false) => self.raw(", <cut>"),
            (false, _) => {}
        }
        self.raw("]");
    }

    /// The same by name; those of one name by what `value` writes of them, each written once.
    pub(super) fn sorted_members<'f>(
        &mut self,
        fields: impl Iterator<Item = &'f Field>,
        is_partial: bool,
        value: impl Fn(&mut Self, &'f Field),
    ) {
        let mut fields: Vec<&Field> = fields.collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        let mut opening = "{ ";
        for alike in fields.chunk_by(|a, b| a.name == b.name) {
            let mut texts: Vec<String> = Vec::new();
            if alike.len() > 1 {
                texts.extend(alike.iter().map(|field| self.apart(|writer| value(writer, field))));
                texts.sort_unstable();
            }
            for (at, field) in alike.iter().enumerate() {
                self.raw(opening);
                self.name(&field.name);
                self.raw(": ");
                match texts.get(at) {
                    Some(text) => self.raw(text),
                    None => value(self, field),
                }
                opening = ", ";
            }
        }
        self.close(opening, is_partial, ["{ ", "{}", " }"]);
    }

    fn close(&mut self, opening: &str, is_partial: bool, [first, empty, last]: [&str; 3]) {
        let is_empty = opening == first;
        if is_partial {
            self.raw(opening);
            self.raw(CUT);
        }
        self.raw(if is_empty && !is_partial { empty } else { last });
    }

    /// A literal that a field is compared with.
    pub(super) fn literal(&mut self, node: &Node) {
        match &node.value {
            Value::Document(document) => {
                self.members(&document.fields, document.partial, |writer, field| writer.literal(&field.node));
            }
            Value::Array(array) => self.raw(if array.items.is_empty() && !array.partial { "[]" } else { "[?]" }),
            Value::Regex { pattern, options } => self.raw(regex(pattern, options)),
            value => self.raw(scalar(value, self.is_collated)),
        }
    }

    /// `[?]` or `[?, …]`: the kinds of members of an `$in`, and whether there are several members.
    pub(super) fn choices(&mut self, array: &Array, mut kind: impl FnMut(&mut Self, &Node)) {
        let mut kinds: Vec<String> = Vec::new();
        for item in &array.items {
            let written = self.apart(|writer| kind(writer, item));
            if let Err(at) = kinds.binary_search(&written) {
                kinds.insert(at, written);
            }
        }
        if array.items.len() > 1 || array.partial {
            kinds.push("…".to_owned());
        }
        self.list(&kinds, false);
    }

    /// Names, value for value.
    pub(super) fn as_written(&mut self, node: &Node) {
        self.written(node, |_| true);
    }

    /// A setting that holds no data of the user (a collation, `$meta`, a type), value for value. A text that no server knows
    /// there is data after all.
    pub(super) fn setting(&mut self, node: &Node) {
        self.written(node, is_setting);
    }

    fn written(&mut self, node: &Node, is_shown: fn(&str) -> bool) {
        match &node.value {
            Value::Document(document) => {
                self.members(&document.fields, document.partial, |writer, field| {
                    writer.written(&field.node, is_shown);
                });
            }
            Value::String(text) if is_shown(text) => self.quoted(text),
            Value::Bool(value) => self.raw(if *value { "true" } else { "false" }),
            _ => match node.as_i64() {
                Some(number) => self.raw(&number.to_string()),
                None => self.raw(ANY),
            },
        }
    }

    /// A sort specification: names in order, 1 or -1.
    pub(super) fn sort(&mut self, sort: &Document) {
        self.members(&sort.fields, sort.partial, |writer, field| match &field.node.value {
            Value::Document(_) => writer.setting(&field.node),
            Value::Double(number) => writer.raw(if *number < 0.0 { "-1" } else { "1" }),
            _ => match field.node.as_i64() {
                Some(number) => writer.raw(if number < 0 { "-1" } else { "1" }),
                None => writer.raw(ANY),
            },
        });
    }
}

/// The words of collations, of `$meta` and of `$type`.
const SETTINGS: [&str; 37] = [
    "simple",
    "upper",
    "lower",
    "off",
    "non-ignorable",
    "shifted",
    "punct",
    "space",
    "textScore",
    "indexKey",
    "geoNearDistance",
    "searchScore",
    "vectorSearchScore",
    "searchHighlights",
    "double",
    "string",
    "object",
    "array",
    "binData",
    "undefined",
    "objectId",
    "bool",
    "date",
    "null",
    "regex",
    "dbPointer",
    "javascript",
    "symbol",
    "javascriptWithScope",
    "int",
    "timestamp",
    "long",
    "decimal",
    "minKey",
    "maxKey",
    "number",
    "57.1",
];

/// A known word, or a locale: `de`, `zh_Hant`, `de@collation=phonebook`.
fn is_setting(text: &str) -> bool {
    let mut parts = text.split(['_', '@', '-', '=']);
    let is_word = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    SETTINGS.contains(&text)
        || parts.next().is_some_and(|language| is_word(language, 2..=3)) && parts.all(|part| is_word(part, 1..=12))
}

/// The mark of a scalar.
pub(super) fn scalar(value: &Value, is_collated: bool) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Undefined => "undefined",
        Value::MinKey => "MinKey",
        Value::MaxKey => "MaxKey",
        Value::String(_) | Value::Symbol(_) if is_collated => "\"?\"",
        _ => ANY,
    }
}

/// The mark of a regular expression: `/^?/` where a prefix of literal characters bounds what can match.
pub(super) fn regex(pattern: &str, options: &str) -> &'static str {
    if has_prefix(pattern, options) { "/^?/" } else { "/?/" }
}

/// Whether a pattern begins with a literal prefix that the router can use (as `routing` will find it).
fn has_prefix(pattern: &str, options: &str) -> bool {
    let (rest, flags) = match (pattern.strip_prefix('^'), pattern.strip_prefix("\\A")) {
        (Some(rest), _) => (rest, "sx"),
        (None, Some(rest)) => (rest, "smx"),
        (None, None) => return false,
    };
    if !options.chars().all(|flag| flags.contains(flag)) || has_alternatives(rest) {
        return false;
    }
    let rest = if options.contains('x') { rest.trim_start() } else { rest };
    let mut chars = rest.chars();
    let is_literal = match chars.next() {
        None | Some('^' | '$' | '.' | '[' | '(' | ')' | '+' | '{' | '*' | '?' | '|') => false,
        Some('#') => !options.contains('x'),
        Some('\\') => chars.next().is_some_and(|escaped| !escaped.is_ascii_alphanumeric() || escaped == 'Q'),
        Some(_) => true,
    };
    is_literal && !matches!(chars.next(), Some('*' | '?'))
}

/// Whether there is a `|` that no backslash escapes.
fn has_alternatives(pattern: &str) -> bool {
    let mut is_escaped = false;
    pattern.chars().any(|c| {
        let is_alternative = c == '|' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_alternative
    })
}
