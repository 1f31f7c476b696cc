//! What the server cut from a record, and what that leaves unknown.
//!
//! An attribute over `maxLogSizeKB` loses its first leaf that does not fit and every later sibling at every open level.
//! 4.4 to 7.x tell the path of that leaf; 8.0 and later tell at each level how many siblings were lost besides.

use crate::model::{Array, Document, Node, Value};
use crate::text::{Located, Span};

use super::members::Members;

/// One step of the path to the first lost leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// A member's name, or an index as text.
    name: String,
    /// Siblings after this step are (or may be) lost.
    siblings_lost: bool,
}

/// The cut of one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    steps: Vec<Step>,
}

impl Cut {
    /// What `truncated` tells about the attribute `name`.
    pub(super) fn of(record: &Members<'_>, name: &str) -> Option<Self> {
        let truncated = record.node("truncated")?;
        Some(Self { steps: steps(truncated.as_document()?.get(name)?) })
    }

    /// Members of the attribute itself may be lost.
    pub(super) fn loses_members(&self) -> bool {
        self.steps.first().is_none_or(|first| first.siblings_lost)
    }

    /// Marks what may be incomplete in `node`, the parsed member `name` of the attribute.
    pub(super) fn mark(&self, name: &str, node: &mut Node) {
        if self.steps.first().is_some_and(|first| first.name == name) {
            mark(&self.steps[1..], node);
        }
    }

    /// As [`Self::mark`], for all members of the attribute.
    pub(super) fn mark_all(&self, command: &mut Node) {
        mark(&self.steps, command);
    }
}

/// `truncated` as the event keeps it: its place, and the path as text.
pub(super) fn described(record: &Members<'_>, judged: &str) -> Option<Located<String>> {
    let node = record.node("truncated")?;
    let document = node.as_document();
    let field = document.and_then(|document| document.field(judged).or_else(|| document.first()));
    let path = field.map_or_else(String::new, |field| {
        let steps = steps(&field.node);
        steps.iter().fold(field.name.clone(), |path, step| format!("{path}.{}", step.name))
    });
    Some(Located::new(path, node.span))
}

/// The path below one attribute of `truncated`.
fn steps(node: &Node) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut level = node.as_document();
    while let Some(document) = level {
        if is_leaf(document) {
            break;
        }
        let nested = document.get("truncated").and_then(Node::as_document);
        let nested = nested.filter(|nested| is_counted(document) && !is_leaf(nested));
        let Some(step) = nested.unwrap_or(document).first() else { break };
        let next = step.node.as_document();
        let omitted = document.get("omitted").and_then(Node::as_i64).unwrap_or(0);
        let leaf_lost = next.is_none_or(is_leaf);
        steps.push(Step { name: step.name.clone(), siblings_lost: nested.is_none() || omitted > 0 || leaf_lost });
        level = next;
    }
    steps
}

/// `{"type": "string", "size": 20005}`: the lost leaf itself. A user's field may be called `type`, but is no string here.
fn is_leaf(document: &Document) -> bool {
    let text = document.get("type").is_some_and(|node| node.as_str().is_some());
    text && document.get("size").is_none_or(|node| node.as_i64().is_some())
}

/// `{"truncated": {…}, "omitted": n}`, the form of 8.0 and later.
fn is_counted(document: &Document) -> bool {
    document.fields.iter().all(|field| field.name == "truncated" || field.name == "omitted")
}

fn mark(steps: &[Step], node: &mut Node) {
    let Some((step, rest)) = steps.split_first() else { return };
    let next = match &mut node.value {
        Value::Document(document) => {
            document.partial |= step.siblings_lost;
            document.fields.iter_mut().rev().find(|field| field.name == step.name).map(|field| &mut field.node)
        }
        Value::Array(array) => {
            array.partial |= step.siblings_lost;
            step.name.parse::<usize>().ok().and_then(|index| array.items.get_mut(index))
        }
        _ => None,
    };
    match next {
        Some(next) => mark(rest, next),
        None => mark_missing(node),
    }
}

/// The path leads into something that is not there, so this level has lost it.
fn mark_missing(node: &mut Node) {
    match &mut node.value {
        Value::Document(document) => document.partial = true,
        Value::Array(array) => array.partial = true,
        _ => {}
    }
}

/// A filter, of which nothing is left: an empty document that may have had members.
pub(super) fn lost_document(at: Span) -> Node {
    Node { value: Value::Document(Document { fields: Vec::new(), partial: true }), span: Span { start: at.end, ..at } }
}

/// A list, of which nothing is left: an empty array that may have had members.
pub(super) fn lost_array(at: Span) -> Node {
    Node { value: Value::Array(Array { items: Vec::new(), partial: true }), span: Span { start: at.end, ..at } }
}
