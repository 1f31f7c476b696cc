//! From a whole line of the text log to its key and gaps: its columns, operation and namespace, and its items up to how long
//! the operation took. The key holds what the structured record is made of that `legacy/slow.rs` makes of the line; commands
//! in it are walked as those of structured records are.

use super::columns;
use super::envelope::{Values, once};
use super::gap::Gap;
use super::walk::Walk;
use crate::syntax::structured;

/// What keys of text lines begin with, and no others: these events know their newest writer.
const TEXT_LINE: u8 = 2;

/// The walk over one line.
pub(super) struct TextLine<'l, 'k> {
    walk: Walk<'l, 'k>,
    values: Values<'l>,
    operation: &'l [u8],
    collection: &'l [u8],
    /// The items that there may be only one of.
    seen: Seen,
    /// Of the documents that are no command.
    scope: u32,
}

/// Which of the items were there that there may be only one of.
#[derive(Debug, Default)]
struct Seen {
    command: Option<()>,
    originating: Option<()>,
    query: Option<()>,
    update: Option<()>,
}

impl<'l, 'k> TextLine<'l, 'k> {
    pub(super) fn new(walk: Walk<'l, 'k>) -> Self {
        Self { walk, values: Values::default(), operation: b"", collection: b"", seen: Seen::default(), scope: 0 }
    }

    /// Reads the line.
    pub(super) fn read(mut self) -> Option<Values<'l>> {
        self.columns()?;
        self.operation = columns::operation(&mut self.walk.scanner)?;
        let namespace = columns::namespace(&mut self.walk.scanner)?;
        self.collection = memchr::memchr(b'.', namespace).map_or(&[], |dot| &namespace[dot + 1..]);
        for text in [self.operation, b" ", namespace, b" "] {
            self.walk.key.extend_from_slice(text);
        }
        self.scope = self.walk.relations.new_scope();
        self.items()?;
        self.values.duration_millis = Some(self.walk.gap(Gap::Duration)?.count);
        (self.rest() == b"ms").then_some(self.values)
    }

    fn columns(&mut self) -> Option<()> {
        self.values.time = Some(self.walk.gap(Gap::Stamp)?.text);
        columns::severity(&mut self.walk.scanner)?;
        let filling = self.walk.gap(Gap::Thread)?;
        self.values.context = Some(filling.text);
        self.walk.key.extend([TEXT_LINE, u8::try_from(filling.outcome).ok()?]);
        (self.rest().first() == Some(&b' ')).then(|| self.walk.scanner.at += 1)
    }

    fn rest(&self) -> &'l [u8] {
        &self.walk.scanner.line[self.walk.scanner.at..]
    }

    /// Reads up to how long it took.
    fn items(&mut self) -> Option<()> {
        let mut is_labelled = false;
        loop {
            // A blank at least stands between items.
            (self.rest().first() == Some(&b' ')).then_some(())?;
            self.walk.scanner.peek()?;
            if columns::is_last(self.walk.scanner.line, self.walk.scanner.at) {
                return is_labelled.then_some(());
            }
            match columns::label(&mut self.walk.scanner) {
                Some(name) => {
                    is_labelled = true;
                    self.item(name)?;
                    // Nothing of a line can be taken for this end.
                    self.walk.key.push(0);
                }
                None => columns::unlabelled(&mut self.walk.scanner)?,
            }
        }
    }

    /// The value of an item: a document of the operation, or something else.
    fn item(&mut self, name: &'l [u8]) -> Option<()> {
        match name {
            b"command" => {
                once(&mut self.seen.command, ())?;
                self.behind_name_of_command()?;
                self.command(name)
            }
            b"originatingCommand" => {
                once(&mut self.seen.originating, ())?;
                self.command(name)
            }
            b"query" => {
                once(&mut self.seen.query, ())?;
                self.name(name);
                self.query()
            }
            b"update" => {
                once(&mut self.seen.update, ())?;
                self.name(name);
                self.contents()
            }
            _ => self.observed(name),
        }
    }

    /// What was observed of the operation. What is not named here does not decide anything.
    fn observed(&mut self, name: &'l [u8]) -> Option<()> {
        match name {
            b"planSummary" => {
                self.name(name);
                let plan = columns::plan(&mut self.walk.scanner)?;
                self.walk.key.extend_from_slice(plan);
                Some(())
            }
            b"appName" => once(&mut self.values.app_name, self.walk.gap(Gap::Quoted)?.text),
            b"nShards" => {
                self.name(name);
                let count = super::gap::count(&mut self.walk.scanner)?.1;
                self.walk.key.extend(count.to_le_bytes());
                once(&mut self.values.n_shards, count)
            }
            b"type" | b"ns" | b"collation" | b"hasSortStage" | b"scanAndOrder" | b"usedDisk" | b"mirrored"
            | b"errCode" => {
                self.name(name);
                let text = columns::item(&mut self.walk.scanner)?;
                self.walk.key.extend_from_slice(text);
                Some(())
            }
            // Of an error only the code behind its text tells; views were not logged.
            b"exception" | b"resolvedViews" => None,
            b"ninserted" | b"nMatched" | b"nmatched" | b"nupdated" | b"upsert" | b"fastmodinsert" | b"ndeleted" => {
                self.counted(name, Gap::Few)
            }
            b"keysExamined" | b"docsExamined" | b"nscanned" | b"nscannedObjects" => self.counted(name, Gap::Examined),
            b"nreturned" => self.counted(name, Gap::Returned),
            b"ntoskip" => self.counted(name, Gap::Skipped),
            b"locks" | b"remoteOpWaitMillis" => {
                self.name(name);
                self.walk.gap(Gap::Item).map(drop)
            }
            _ => self.walk.gap(Gap::Item).map(drop),
        }
    }

    /// Writes the name of an item, for its value decides.
    fn name(&mut self, name: &[u8]) {
        self.walk.key.extend_from_slice(name);
        self.walk.key.push(b':');
    }

    fn counted(&mut self, name: &[u8], gap: Gap) -> Option<()> {
        self.name(name);
        self.walk.gap(gap).map(drop)
    }

    /// `find { find: "c" }`: the name stands before the document too.
    fn behind_name_of_command(&mut self) -> Option<()> {
        if self.walk.scanner.peek()? != b'{' {
            columns::word(&mut self.walk.scanner)?;
            self.rest().starts_with(b" {").then_some(())?;
        }
        Some(())
    }

    fn command(&mut self, name: &[u8]) -> Option<()> {
        self.name(name);
        self.walk.statement = self.walk.relations.new_scope();
        self.walk.command(0)
    }

    /// The document of an operation of the old protocol, whose meaning depends on the operation.
    fn query(&mut self) -> Option<()> {
        (self.walk.scanner.peek()? == b'{').then_some(())?;
        self.walk.statement = self.scope;
        match self.operation {
            b"insert" => self.contents(),
            b"query" | b"getmore" => self.asked(),
            _ => self.walk.filter(1),
        }
    }

    fn contents(&mut self) -> Option<()> {
        matches!(self.walk.scanner.peek()?, b'{' | b'[').then_some(())?;
        self.walk.statement = self.scope;
        self.walk.contents((b"", self.scope), 1)
    }

    /// What a query asks for: a command, a filter with options around it, or a filter.
    fn asked(&mut self) -> Option<()> {
        let mut ahead = self.walk.scanner;
        ahead.take(b'{')?;
        let (mut is_first, mut is_wrapped) = (true, false);
        let mut goes_on = !ahead.takes(b'}')?;
        while goes_on {
            let name = ahead.name()?;
            let is_string = ahead.peek()? == b'"';
            let value = ahead.value()?;
            let is_collection = is_string && value[1..value.len() - 1] == *self.collection;
            if is_first && is_collection && structured::is_command(std::str::from_utf8(name).ok()?) {
                return self.walk.command(0);
            }
            is_first = false;
            is_wrapped |= matches!(name, b"$query" | b"query");
            goes_on = ahead.goes_on(b'}')?;
        }
        if is_wrapped { self.wrapped() } else { self.walk.filter(1) }
    }

    fn wrapped(&mut self) -> Option<()> {
        self.walk.members(1, |walk, name| match name {
            b"$query" | b"query" => {
                (walk.scanner.peek()? == b'{').then_some(())?;
                walk.filter(2)
            }
            b"$comment" | b"comment" => walk.gap(Gap::Comment).map(drop),
            _ => walk.verbatim(),
        })
    }
}
