//! Why a text is not what it should be, and where.

use crate::text::Span;

/// A located complaint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Where reading failed.
    pub span: Span,
    /// What is wrong and what was expected; lower-case start, no full stop.
    pub message: String,
}

impl SyntaxError {
    /// A complaint about `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}
