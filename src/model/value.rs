//! BSON values that lose nothing a rule may need: order, duplicate names, the type, and a span on each name and value.

use crate::text::Span;

use super::decimal::Decimal128;

/// A value and where it was read from.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The exact text of the value; for documents and arrays, the brackets included.
    pub span: Span,
}

/// One member of a document.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name, unescaped.
    pub name: String,
    /// The text of the name, its quotes included.
    pub name_span: Span,
    /// The value.
    pub node: Node,
}

/// An ordered list of members. Names may repeat, as in BSON.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Members in the order they were written.
    pub fields: Vec<Field>,
    /// The server cut this record, and members of this document may have been lost after the last one.
    pub partial: bool,
}

/// An ordered list of values.
#[derive(Debug, Clone, Default)]
pub struct Array {
    /// Members in order.
    pub items: Vec<Node>,
    /// The server cut this record, and members of this array may have been lost after the last one.
    pub partial: bool,
}

/// A BSON value. There may be millions in a record, so what is rare and large is boxed.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// BSON type 1.
    Double(f64),
    /// BSON type 2.
    String(String),
    /// BSON type 3.
    Document(Document),
    /// BSON type 4.
    Array(Array),
    /// BSON type 5.
    Binary {
        /// The subtype byte.
        subtype: u8,
        /// The content.
        bytes: Vec<u8>,
    },
    /// BSON type 6, deprecated.
    Undefined,
    /// BSON type 7.
    ObjectId([u8; 12]),
    /// BSON type 8.
    Bool(bool),
    /// BSON type 9: milliseconds since 1970, signed.
    Date(i64),
    /// BSON type 10.
    #[default]
    Null,
    /// BSON type 11.
    Regex {
        /// The pattern without slashes.
        pattern: Box<str>,
        /// The flags, as written.
        options: Box<str>,
    },
    /// BSON type 12, deprecated.
    DbPointer {
        /// The namespace it names.
        namespace: Box<str>,
        /// The `_id` it names.
        id: [u8; 12],
    },
    /// BSON type 13.
    JavaScript(String),
    /// BSON type 14, deprecated.
    Symbol(String),
    /// BSON type 15, deprecated.
    JavaScriptWithScope(String, Box<Document>),
    /// BSON type 16.
    Int32(i32),
    /// BSON type 17: seconds and increment.
    Timestamp {
        /// Seconds since 1970.
        seconds: u32,
        /// The increment within that second.
        increment: u32,
    },
    /// BSON type 18.
    Int64(i64),
    /// BSON type 19.
    Decimal128(Box<Decimal128>),
    /// BSON type -1: less than every other value.
    MinKey,
    /// BSON type 127: greater than every other value.
    MaxKey,
    /// `"###"`: a literal whose value and type the server has hidden (`redactClientLogData`).
    Redacted,
}

impl From<Decimal128> for Value {
    fn from(number: Decimal128) -> Self {
        Self::Decimal128(Box::new(number))
    }
}

impl Value {
    /// The type's name, as MongoDB's `$type` has it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::MinKey => "minKey",
            Self::MaxKey => "maxKey",
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int32(_) => "int",
            Self::Int64(_) => "long",
            Self::Double(_) => "double",
            Self::Decimal128(_) => "decimal",
            Self::String(_) => "string",
            Self::Symbol(_) => "symbol",
            Self::ObjectId(_) => "objectId",
            Self::Date(_) => "date",
            Self::Timestamp { .. } => "timestamp",
            Self::Binary { .. } => "binData",
            Self::Regex { .. } => "regex",
            Self::Document(_) => "object",
            Self::Array(_) => "array",
            Self::DbPointer { .. } => "dbPointer",
            Self::JavaScript(_) => "javascript",
            Self::JavaScriptWithScope(..) => "javascriptWithScope",
            Self::Redacted => "redacted",
        }
    }
}

impl Node {
    /// A value without a place of its own, for constants that the server makes up.
    #[must_use]
    pub fn synthetic(value: Value) -> Self {
        Self { value, span: Span::default() }
    }

    /// The document, if it is one.
    #[must_use]
    pub fn as_document(&self) -> Option<&Document> {
        match &self.value {
            Value::Document(document) => Some(document),
            _ => None,
        }
    }

    /// The array, if it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&Array> {
        match &self.value {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The text, if it is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number as an integer, if it is numeric and whole.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.value {
            Value::Int32(n) => Some(i64::from(*n)),
            Value::Int64(n) => Some(*n),
            Value::Double(n) if n.fract() == 0.0 && n.abs() < 9.0e18 => Some(*n as i64),
            _ => None,
        }
    }

    /// What the server takes for true in options (`multi`, `upsert`): `true` and non-zero numbers.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match &self.value {
            Value::Bool(b) => *b,
            Value::Double(n) => *n != 0.0,
            Value::Int32(n) => *n != 0,
            Value::Int64(n) => *n != 0,
            _ => false,
        }
    }
}

impl Document {
    /// The first member of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.field(name).map(|field| &field.node)
    }

    /// The first member of that name, with its name's span.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The first member.
    #[must_use]
    pub fn first(&self) -> Option<&Field> {
        self.fields.first()
    }

    /// Whether it has no member (and none was cut off).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}
