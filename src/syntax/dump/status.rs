//! What the legacy shell's `sh.status()` prints, by its section headings and words; indentation is not relied upon, since
//! people re-indent what they paste.

use crate::syntax::error::SyntaxError;
use crate::syntax::shell;
use crate::text::{Located, Span};

use crate::model::{Distribution, Node, ShardPart, Value, WrittenZoneRange};

use super::document::{primary, shard};
use super::{ChunkOf, Dump, DumpedChunk, DumpedCollection, Measured};

/// Whether a line is the title of the report.
pub(super) fn is_title(line: &str) -> bool {
    line.trim() == "--- Sharding Status ---"
}

/// Where the report begins: behind its title.
pub(super) fn begin(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if is_title(line) {
            return Some(at);
        }
    }
    None
}

/// Adds what the report from `start` to the end of `text` says.
pub(super) fn read(text: &str, start: usize, dump: &mut Dump) {
    let mut report =
        Report { text, at: start, section: Section::Other, collection: None, line_before: Span::default() };
    while report.at < text.len() {
        if let Err(error) = report.line(dump) {
            dump.errors.push(error);
            break;
        }
    }
    report.end_collection(dump);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Shards,
    Databases,
    Other,
}

/// The collection whose lines are read.
struct Current {
    name: String,
    /// Where its name stands.
    span: Span,
    /// The sum of the shards' counts of chunks.
    counted: usize,
    parts: Vec<ShardPart>,
    chunks: Vec<DumpedChunk>,
}

struct Report<'a> {
    text: &'a str,
    at: usize,
    section: Section,
    collection: Option<Current>,
    /// The last line that was neither blank nor understood.
    line_before: Span,
}

impl Report<'_> {
    fn line(&mut self, dump: &mut Dump) -> Result<(), SyntaxError> {
        let rest = &self.text[self.at..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let line = rest[..length].trim_end();
        let start = self.at + line.len() - line.trim_start().len();
        let line = line.trim_start();
        let next = self.at + length;
        match line {
            "shards:" => self.section = Section::Shards,
            "databases:" => self.section = Section::Databases,
            _ if line.starts_with('{') => return self.document(start, dump),
            _ if line.starts_with("shard key:") => return self.key(start + "shard key:".len(), dump),
            _ if line.starts_with("unique:") => self.unique(line, start, dump),
            _ if line.starts_with("tag:") && line.contains('{') => return self.zone_range(start, dump),
            _ if self.collection.is_some() => self.count(line),
            _ if line.ends_with(':') => self.section = Section::Other,
            _ => {}
        }
        if !line.is_empty() {
            self.line_before = Span::new(start, start + line.len());
        }
        self.at = next;
        Ok(())
    }

    /// A shard, a database, or the lower bound of a chunk.
    fn document(&mut self, start: usize, dump: &mut Dump) -> Result<(), SyntaxError> {
        if self.section == Section::Other {
            self.skip_line(start);
            return Ok(());
        }
        let (node, end) = self.value(start)?;
        let behind = self.text[end..].trim_start();
        if let Some(rest) = behind.strip_prefix("-->>") {
            return self.chunk(node, self.text.len() - rest.len());
        }
        if self.section == Section::Shards {
            dump.shards.extend(node.as_document().and_then(shard));
        } else {
            self.end_collection(dump);
            dump.primaries.extend(node.as_document().and_then(primary));
        }
        self.skip_line(end);
        Ok(())
    }

    /// `{ min } -->> { max } on : shard Timestamp(1, 0) jumbo`, from behind the arrow.
    fn chunk(&mut self, min: Node, from: usize) -> Result<(), SyntaxError> {
        let (max, end) = self.value(from)?;
        let behind = self.text[end..].trim_start();
        let owner = behind.strip_prefix("on").and_then(|rest| rest.trim_start().strip_prefix(':'));
        let Some(owner) = owner else {
            return Err(SyntaxError::new(max.span, "expected `on : SHARD` behind the bounds of a chunk"));
        };
        let owner = owner.trim_start();
        let shard = owner.split_whitespace().next().unwrap_or_default();
        let shard_end = self.text.len() - owner.len() + shard.len();
        let line = owner.lines().next().unwrap_or_default();
        if let Some(collection) = &mut self.collection {
            collection.chunks.push(DumpedChunk {
                jumbo: line.split_whitespace().any(|word| word == "jumbo"),
                of: ChunkOf::Namespace(collection.name.clone()),
                span: min.span.join(Span::new(shard_end, shard_end)),
                min,
                max,
                shard: shard.to_owned(),
            });
        }
        self.skip_line(shard_end);
        Ok(())
    }

    /// `tag: NAME  { min } -->> { max }`.
    fn zone_range(&mut self, start: usize, dump: &mut Dump) -> Result<(), SyntaxError> {
        let from = start + "tag:".len();
        let opening = from + self.text[from..].find('{').unwrap_or_default();
        let name = self.text[from..opening].trim();
        let name_start = from + (self.text[from..].len() - self.text[from..].trim_start().len());
        let (min, end) = self.value(opening)?;
        let Some(rest) = self.text[end..].trim_start().strip_prefix("-->>") else {
            return Err(SyntaxError::new(min.span, "expected `-->>` behind the lower bound of a zone"));
        };
        let (max, end) = self.value(self.text.len() - rest.len())?;
        if let Some(collection) = &self.collection {
            dump.zones.push(WrittenZoneRange {
                namespace: Located::new(collection.name.clone(), collection.span),
                zone: Located::new(name.to_owned(), Span::new(name_start, name_start + name.len())),
                span: Span::new(start, end),
                min,
                max,
            });
        }
        self.skip_line(end);
        Ok(())
    }

    /// The name of the collection stands on the line before its key.
    fn key(&mut self, from: usize, dump: &mut Dump) -> Result<(), SyntaxError> {
        self.end_collection(dump);
        let (key, end) = self.value(from)?;
        let name = self.text[self.line_before.range()].to_owned();
        dump.collections.push(DumpedCollection {
            namespace: Located::new(name.clone(), self.line_before),
            key: Some(key),
            unique: None,
            collation: None,
            uuid: None,
        });
        self.collection =
            Some(Current { name, span: self.line_before, counted: 0, parts: Vec::new(), chunks: Vec::new() });
        self.skip_line(end);
        Ok(())
    }

    fn unique(&self, line: &str, start: usize, dump: &mut Dump) {
        let value = match line["unique:".len()..].trim() {
            "true" => true,
            "false" => false,
            _ => return,
        };
        if let (Some(_), Some(collection)) = (&self.collection, dump.collections.last_mut()) {
            collection.unique = Some(Located::new(value, Span::new(start, start + line.len())));
        }
    }

    /// `shard0000  32`: how many chunks a shard has.
    fn count(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ([shard, count], Some(collection)) = (words.as_slice(), &mut self.collection) {
            collection.counted += count.parse().unwrap_or(0);
            let part = ShardPart { shard: (*shard).to_owned(), chunks: count.parse().ok(), ..ShardPart::default() };
            collection.parts.extend(part.chunks.is_some().then_some(part));
        }
    }

    /// The shell leaves chunks out where there are many, and people where they do not matter to them: then there is no map.
    fn end_collection(&mut self, dump: &mut Dump) {
        let Some(collection) = self.collection.take() else { return };
        if !collection.parts.is_empty() {
            let value = Distribution { span: collection.span, parts: collection.parts };
            dump.distributions.push(Measured { namespace: Some(collection.name), value });
        }
        if collection.chunks.len() == collection.counted {
            dump.chunks.extend(collection.chunks);
        }
    }

    fn value(&self, from: usize) -> Result<(Node, usize), SyntaxError> {
        let (node, length) = shell::parse_prefix(&self.text[from..], from)?;
        match node.value {
            Value::Document(_) => Ok((node, from + length)),
            _ => Err(SyntaxError::new(node.span, "expected a document")),
        }
    }

    fn skip_line(&mut self, from: usize) {
        self.at = self.text[from..].find('\n').map_or(self.text.len(), |end| from + end + 1);
    }
}
