//! The shape of a whole statement: its filter or pipeline, then what else routing and rules look at.

use crate::model::statement::{Statement, Verb};
use crate::model::value::{Document, Node, Value};
use crate::text::Fingerprint;

use super::writer::{CUT, Writer};

/// Longer texts are cut, and end with the fingerprint of the whole text.
const LONGEST: usize = 2000;

/// The shape of a statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// Canonical text, such as `{ status: ?, total: { $gte: ? } } sort { ts: -1 }`.
    pub text: String,
}

impl Shape {
    /// The shape of `statement`.
    #[must_use]
    pub fn of(statement: &Statement) -> Self {
        if statement.verb == Verb::Insert {
            return Self { text: "insert".to_owned() };
        }
        let mut writer = Writer::new(statement.collation.as_ref().is_some_and(is_collated));
        match &statement.pipeline {
            Some(pipeline) if statement.verb == Verb::Aggregate => writer.pipeline(pipeline),
            _ => writer.filter_or_empty(statement.filter.as_ref()),
        }
        if let Some(update) = &statement.update {
            writer.update(update);
        }
        options(&mut writer, statement);
        if statement.options_partial {
            writer.word_only(CUT);
        }
        Self { text: bounded(writer.text()) }
    }

    /// The fingerprint of a shape of an operation on a namespace (after `--ns-map`).
    #[must_use]
    pub fn fingerprint(&self, namespace: &str, operation: &str) -> Fingerprint {
        Fingerprint::of(&["shape-1", namespace, operation, &self.text])
    }
}

fn options(writer: &mut Writer, statement: &Statement) {
    if let Some(key) = statement.distinct_key.as_ref().and_then(Node::as_str) {
        writer.word("key");
        writer.name(key);
    }
    if let Some(sort) = statement.sort.as_ref().and_then(Node::as_document).filter(|sort| !sort.is_empty()) {
        writer.word("sort");
        writer.sort(sort);
    }
    let is_given = |number: &Option<Node>| number.as_ref().is_some_and(|number| number.as_i64() != Some(0));
    let words = [
        ("skip", is_given(&statement.skip)),
        ("limit", is_given(&statement.limit)),
        ("multi", statement.multi),
        ("upsert", statement.upsert),
        ("remove", statement.remove),
    ];
    words.iter().filter(|(_, is_said)| *is_said).for_each(|(word, _)| writer.word_only(word));
    if let Some(collation) = statement.collation.as_ref().filter(|collation| is_collated(collation)) {
        writer.word("collation");
        writer.setting(collation);
    }
    if let Some(view) = &statement.view_pipeline {
        writer.word("view");
        writer.pipeline(view);
    }
}

/// Whether a collation is anything but the simple one, which compares bytes as no collation does.
fn is_collated(collation: &Node) -> bool {
    let locale = |collation: &Document| match collation.get("locale").map(|locale| &locale.value) {
        Some(Value::String(locale)) => locale != "simple",
        _ => true,
    };
    collation.as_document().is_some_and(|collation| !collation.is_empty() && locale(collation))
}

/// The text, or its beginning and the fingerprint of all of it.
fn bounded(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{} <more {}>", &text[..end], Fingerprint::of(&[&text]))
}
