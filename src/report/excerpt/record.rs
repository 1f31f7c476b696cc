//! A record laid out again: labelled values and their neighbours, one labelled value per row, the rest counted.

use std::ops::Range;

use super::canvas::Canvas;
use super::cut;
use super::room::{Marks, Preview, ROOMS, Room, Style};
use super::tree::{Item, Kind, Node};
use crate::report::wording::number;

/// Fields that drivers add to every command and that say nothing about the query.
const SESSION_FIELDS: [&str; 10] = [
    "lsid",
    "$clusterTime",
    "$db",
    "$readPreference",
    "$client",
    "$audit",
    "$configServerState",
    "$configTime",
    "$topologyTime",
    "txnNumber",
];

/// Numbers in canonical extended JSON.
const NUMBERS: [&str; 3] = ["$numberInt", "$numberLong", "$numberDouble"];

/// Bytes of an item that is not worth eliding alone.
const SHORT: usize = 24;

/// Writes the part of the tree that the labels are in, each row with the first room of [`ROOMS`] in which it fits
/// `width`. Returns the canvas.
pub(super) fn lay_out<'a>(
    source: &'a [u8],
    root: &Node,
    labels: &[Range<usize>],
    width: usize,
    marks: Marks,
) -> Canvas<'a> {
    let start = context(source, root, labels);
    let mut levels: Vec<usize> = Vec::new();
    loop {
        let mut layout =
            Layout { canvas: Canvas::new(source), labels, levels: &levels, marks, full: false, widths: Vec::new() };
        layout.context(start);
        layout.widths.push(layout.canvas.row_columns());
        let Layout { canvas, widths, .. } = layout;
        levels.resize(widths.len().max(levels.len()), 0);
        let mut again = false;
        for (level, _) in levels.iter_mut().zip(&widths).filter(|(_, columns)| **columns > width) {
            again |= *level + 1 < ROOMS.len();
            *level = (*level + 1).min(ROOMS.len() - 1);
        }
        if !again {
            return canvas;
        }
    }
}

/// The lowest node that holds all labels and their neighbours, and whose key says where it belongs.
fn context<'t>(source: &[u8], root: &'t Node, labels: &[Range<usize>]) -> &'t Node {
    let mut path = vec![root];
    let mut node = root;
    while !is_target(node, labels) {
        let mut touched = node.nodes().filter(|item| item.touched);
        let (Some(only), None) = (touched.next(), touched.next()) else { break };
        node = only;
        path.push(node);
    }
    if is_target(node, labels) && path.len() > 1 {
        path.pop();
    }
    // An operator or a place in an array alone says little.
    while path.len() > 1 && path.last().is_some_and(|node| !names_a_place(source, node)) {
        path.pop();
    }
    path.last().copied().unwrap_or(root)
}

fn names_a_place(source: &[u8], node: &Node) -> bool {
    node.key.as_ref().is_some_and(|key| !matches!(&source[key.clone()], [b'"' | b'\'', b'$', ..] | [b'$', ..]))
}

/// Whether a label lies in `node` and in none of its items.
fn is_target(node: &Node, labels: &[Range<usize>]) -> bool {
    labels.iter().any(|label| is_meant(node, label))
}

fn is_meant(node: &Node, label: &Range<usize>) -> bool {
    holds(&node.range(), label) && !node.nodes().any(|item| item.touched && holds(&item.range(), label))
}

fn holds(range: &Range<usize>, label: &Range<usize>) -> bool {
    range.start <= label.start && label.end <= range.end
}

struct Layout<'a, 'l> {
    canvas: Canvas<'a>,
    labels: &'l [Range<usize>],
    /// For each row the index of its room.
    levels: &'l [usize],
    marks: Marks,
    /// Whether the row has a labelled value.
    full: bool,
    /// Columns of the rows that are done.
    widths: Vec<usize>,
}

impl Layout<'_, '_> {
    fn room(&self) -> Room {
        ROOMS[self.levels.get(self.canvas.row()).copied().unwrap_or(0)]
    }

    /// Writes the whole. Where the first label lies deeper, the names around it say more than those around all labels.
    fn context(&mut self, start: &Node) {
        let first = start.nodes().find(|item| item.touched);
        let source = self.canvas.source();
        let deeper =
            |item: &Node| item.kind != Kind::Scalar && names_a_place(source, item) && !is_target(item, self.labels);
        if !is_target(start, self.labels) && first.is_some_and(deeper) {
            let first = start.items.iter().position(Item::is_touched).unwrap_or(0);
            self.items(start, first, false, ROOMS[0].focus);
        } else {
            self.node(start, start.kind, false, ROOMS[0].focus);
        }
    }

    /// Writes key and value. `inside`: in a labelled value, whose parts stay on its row if they can.
    fn node(&mut self, node: &Node, parent: Kind, inside: bool, preview: Preview) {
        let target = node.touched && is_target(node, self.labels);
        if self.room().style >= Style::Bare && node.touched && !target && !inside && node.kind != Kind::Scalar {
            self.items(node, 0, false, preview);
            return;
        }
        self.key(node, parent, preview);
        // A label on the key says nothing about what is in the value: that may have labels of its own, on other rows.
        let in_key = |label: &&Range<usize>| node.key.as_ref().is_some_and(|key| holds(key, label));
        self.full |= target && self.labels.iter().any(|label| in_key(&label));
        let target = target && self.labels.iter().filter(|label| !in_key(label)).any(|label| is_meant(node, label));
        match node.kind {
            Kind::Scalar => self.scalar(node.value.clone(), preview.scalar),
            _ if self.number(node) => {}
            _ if node.items.is_empty() => self.canvas.replace(node.value.clone(), empty(node)),
            _ if preview.depth == 0 && !node.items.iter().any(Item::is_touched) => self.folded(node),
            _ => self.container(node, inside || target, preview),
        }
        self.full |= target;
    }

    /// Writes `{ "$numberInt": "5" }`, as programs spell numbers for each other, as `5`.
    fn number(&mut self, node: &Node) -> bool {
        let [Item::Node(only)] = node.items.as_slice() else { return false };
        let source = self.canvas.source();
        let name = only.key.clone().map(|key| &source[bare_key(source, key)]);
        let is_number = name.is_some_and(|name| NUMBERS.iter().any(|number| number.as_bytes() == name));
        if !is_number
            || only.value.len() < 3
            || only.kind != Kind::Scalar
            || only.touched && !is_target(node, self.labels)
        {
            return false;
        }
        let digits = only.value.start + 1..only.value.end - 1;
        self.canvas.replace(node.value.start..digits.start, "");
        self.canvas.copy(digits.clone());
        self.canvas.replace(digits.end..node.value.end, "");
        true
    }

    fn key(&mut self, node: &Node, parent: Kind, preview: Preview) {
        let Some(key) = node.key.clone() else { return };
        if parent == Kind::Line {
            return self.canvas.copy(key.start..node.value.start.min(key.end + 2));
        }
        self.scalar(bare_key(self.canvas.source(), key.clone()), preview.scalar.max(24));
        self.canvas.replace(key.end..node.value.start.max(key.end), ": ");
    }

    /// A plain value, cut if it is long; a string keeps its closing quote.
    fn scalar(&mut self, range: Range<usize>, budget: usize) {
        let source = self.canvas.source();
        let quoted = source[range.clone()].len() > 2 && source[range.start] == b'"' && source[range.end - 1] == b'"';
        let mut at = range.start;
        for part in cut::parts(source, range.clone(), self.labels, budget) {
            if part.start > at {
                let text = if quoted && at == range.start { at + 1 } else { at };
                self.canvas.copy(at..text);
                self.canvas.replace(text..part.start, self.marks.ellipsis);
            }
            self.canvas.copy(part.clone());
            at = part.end;
        }
        if at < range.end {
            let end = if quoted { range.end - 1 } else { range.end };
            self.canvas.replace(at..end.max(at), self.marks.ellipsis);
            self.canvas.copy(end.max(at)..range.end);
        }
    }

    /// `{ … }`
    fn folded(&mut self, node: &Node) {
        let (open, close) = brackets(node);
        let inner = node.value.start + 1..node.value.end - usize::from(node.closed);
        self.canvas.replace(node.value.start..inner.start, open);
        self.canvas.decorate(" ");
        self.canvas.replace(inner.clone(), self.marks.ellipsis);
        self.canvas.decorate(" ");
        self.canvas.replace(inner.end..node.value.end, close);
    }

    fn container(&mut self, node: &Node, inside: bool, preview: Preview) {
        let (open, close) = brackets(node);
        let bracketed = node.kind != Kind::Line;
        if bracketed {
            self.canvas.replace(node.value.start..node.value.start + 1, open);
            self.canvas.decorate(" ");
        }
        let end = self.items(node, 0, inside, preview);
        if bracketed {
            self.canvas.decorate(" ");
            self.canvas.replace(end..node.value.end, close);
        }
    }

    /// Writes the items from `from` on; returns where the last one ends.
    fn items(&mut self, node: &Node, from: usize, inside: bool, preview: Preview) -> usize {
        let shown = self.select(node, preview);
        let mut end = node.value.start + usize::from(node.kind != Kind::Line);
        let mut first = true;
        let mut at = from;
        while at < node.items.len() {
            if !shown[at] && self.room().style >= Style::Bare && !inside {
                at += 1;
                continue;
            }
            let item = &node.items[at];
            let breaks = self.full && item.is_touched() && (!inside || self.room().style == Style::Split);
            if !first {
                self.separate(node.kind, end..item.range().start, breaks);
            }
            match item.node().filter(|_| shown[at]) {
                Some(item) => {
                    let below = self.preview_of(node, item, preview);
                    self.node(item, node.kind, inside, below);
                    at += 1;
                }
                None => {
                    let hidden = shown[at..].iter().position(|shown| *shown).unwrap_or(shown.len() - at);
                    self.elide(node.kind, &node.items[at..at + hidden]);
                    at += hidden;
                }
            }
            end = node.items[at - 1].range().end;
            first = false;
        }
        end
    }

    fn separate(&mut self, kind: Kind, range: Range<usize>, breaks: bool) {
        let separator = match (kind, breaks) {
            (Kind::Line, false) => " ",
            (Kind::Line, true) => "",
            (_, false) => ", ",
            (_, true) => ",",
        };
        self.canvas.replace(range, separator);
        if breaks {
            self.widths.push(self.canvas.row_columns());
            self.canvas.end_row();
            self.canvas.decorate("  ");
            self.full = false;
        }
    }

    fn elide(&mut self, kind: Kind, items: &[Item]) {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return };
        let range = first.range().start..last.range().end;
        // How many words a line has says nothing.
        if kind == Kind::Line || self.room().style != Style::Counted {
            return self.canvas.replace(range, self.marks.ellipsis);
        }
        let count: usize = items.iter().map(Item::count).sum();
        self.canvas.replace(range, &format!("{} {} more", self.marks.ellipsis, number(count as u64)));
    }

    /// How to show an item: what labels touch, what is beside it, and what is in either, a level shallower.
    fn preview_of(&self, node: &Node, item: &Node, preview: Preview) -> Preview {
        let room = self.room();
        if item.touched {
            room.focus
        } else if node.items.iter().any(Item::is_touched) {
            room.beside
        } else {
            Preview { depth: preview.depth.saturating_sub(1), ..preview }
        }
    }

    /// Which items to show.
    fn select(&self, node: &Node, preview: Preview) -> Vec<bool> {
        let items = &node.items;
        let mut shown: Vec<bool> = items.iter().map(Item::is_touched).collect();
        let quiet = |item: &Item| item.node().is_none_or(|node| is_session_field(self.canvas.source(), node));
        let Some(first) = shown.iter().position(|shown| *shown) else {
            let loud = (0..items.len()).filter(|&at| !quiet(&items[at])).take(preview.items);
            loud.for_each(|at| shown[at] = true);
            return shown;
        };
        let room = self.room();
        let head = (room.left > 0 && node.kind != Kind::Line).then_some(0);
        let ends = head.into_iter().chain((room.right > 1).then_some(items.len() - 1));
        let left = (0..first).rev().take(room.left);
        let touched: Vec<usize> = (first..items.len()).filter(|&at| shown[at]).collect();
        let right = touched.iter().flat_map(|&at| (at + 1..items.len()).take(room.right));
        for at in ends.chain(left).chain(right) {
            shown[at] |= !quiet(&items[at]);
        }
        // A mark in place of one short item would be as long.
        for at in 0..items.len() {
            let alone = (at == 0 || shown[at - 1]) && shown.get(at + 1) != Some(&false);
            shown[at] |=
                alone && room.style == Style::Counted && items[at].range().len() <= SHORT && !quiet(&items[at]);
        }
        shown
    }
}

fn is_session_field(source: &[u8], node: &Node) -> bool {
    let Some(key) = node.key.clone() else { return false };
    let name = &source[bare_key(source, key)];
    SESSION_FIELDS.iter().any(|field| field.as_bytes() == name)
}

/// The key without its quotes, if the shell would take it so.
fn bare_key(source: &[u8], key: Range<usize>) -> Range<usize> {
    match &source[key.clone()] {
        [b'"', name @ .., b'"'] | [b'\'', name @ .., b'\'']
            if !name.is_empty()
                && !name[0].is_ascii_digit()
                && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')) =>
        {
            key.start + 1..key.end - 1
        }
        _ => key,
    }
}

fn brackets(node: &Node) -> (&'static str, &'static str) {
    if node.kind == Kind::Array { ("[", "]") } else { ("{", "}") }
}

fn empty(node: &Node) -> &'static str {
    match node.kind {
        Kind::Object => "{}",
        Kind::Array => "[]",
        Kind::Scalar | Kind::Line => "",
    }
}
