//! From the command of a record to the part of its key: names and structure as they are, literals by their class where only
//! the class can matter, everything else word for word.

use super::Marks;
use super::gap::{Filling, Gap};
use super::literal::Class;
use super::relations::{Distinct, Relations};
use super::tree::Piece;
use crate::syntax::scanner::Scanner;

/// A longer key is none: such a record is left to the full reader.
const LONGEST_KEY: usize = 32 << 10;

/// Deeper commands are left to the full reader.
const MAX_DEPTH: usize = 48;

/// What literals are about: a field by the last name of its path, in one statement of a batch.
type Field<'l> = (&'l [u8], u32);

/// How the value of a member of a command is read.
enum Role {
    /// Neither routing nor rules look at it, only whether it is there.
    Presence,
    /// `filter`, `query`, `q`.
    Filter,
    /// `u`, `update`, `documents`: only names and the kinds of values matter.
    Contents,
    Pipeline,
    /// A number of which it matters whether it is 0 or 1.
    Limit,
    /// A number of which it matters whether it is 0 and whether it is large.
    Skip,
    /// `getMore`: the cursor's number, which tells nothing.
    Cursor,
    /// `updates`, `deletes`, `ops`.
    Statements,
    /// `$client`: it matters which members it has.
    Members,
    /// `comment`: it may ask for something.
    Comment,
    /// Anything else stays as it is.
    Verbatim,
}

fn role(name: &[u8]) -> Role {
    match name {
        b"filter" | b"query" | b"q" => Role::Filter,
        b"pipeline" => Role::Pipeline,
        b"u" | b"update" | b"updateMods" | b"document" | b"documents" => Role::Contents,
        b"updates" | b"deletes" | b"ops" => Role::Statements,
        b"limit" => Role::Limit,
        b"skip" => Role::Skip,
        b"getMore" => Role::Cursor,
        b"$client" => Role::Members,
        b"comment" => Role::Comment,
        b"lsid"
        | b"$clusterTime"
        | b"$configTime"
        | b"$topologyTime"
        | b"$configServerState"
        | b"$replData"
        | b"$audit"
        | b"$readPreference"
        | b"clientOperationKey"
        | b"shardVersion"
        | b"databaseVersion"
        | b"collectionUUID"
        | b"txnNumber"
        | b"txnRetryCounter"
        | b"stmtId"
        | b"stmtIds"
        | b"sampleId"
        | b"term"
        | b"maxTimeMS"
        | b"maxTimeMSOpOnly"
        | b"readConcern"
        | b"writeConcern"
        | b"cursor"
        | b"batchSize"
        | b"arrayFilters"
        | b"mayBypassWriteBlocking" => Role::Presence,
        _ => Role::Verbatim,
    }
}

/// One walk over one command. `None` anywhere: the record is left to the full reader.
pub(super) struct Walk<'l, 'k> {
    pub(super) scanner: Scanner<'l>,
    pub(super) key: &'k mut Vec<u8>,
    pub(super) relations: &'k mut Relations<'l>,
    pub(super) distinct: &'k mut Distinct,
    /// The gaps that were read.
    pub(super) pieces: &'k mut Vec<Piece>,
    pub(super) marks: Marks,
    /// What is written at the end of the key.
    pub(super) ending: &'k mut Vec<u8>,
    /// Which statement of a batch, or pipeline in another, is walked.
    pub(super) statement: u32,
}

impl<'l> Walk<'l, '_> {
    /// The next value, word for word.
    pub(super) fn verbatim(&mut self) -> Option<()> {
        self.itself().map(drop)
    }

    /// Reads what comes next as such a gap; if it is something else, nothing is taken.
    pub(super) fn gap(&mut self, gap: Gap) -> Option<Filling<'l>> {
        let mut ahead = self.scanner;
        ahead.peek()?;
        let start = ahead.at;
        let filling = gap.read(&mut ahead, self.marks, self.distinct)?;
        self.pieces.push(Piece { start, end: ahead.at, gap, outcome: filling.outcome });
        if gap.has_side() {
            self.ending.push(filling.side);
        }
        self.scanner = ahead;
        Some(filling)
    }

    /// Any value, which tells nothing.
    pub(super) fn any(&mut self) -> Option<()> {
        self.gap(Gap::Any).map(drop)
    }

    fn class(&mut self, class: Class) {
        self.key.push(class as u8);
    }

    /// A literal of that kind in a filter, by its class; if it has none, nothing is taken.
    fn erased(&mut self, gap: Gap, field: Field<'l>) -> bool {
        let Some(filling) = self.gap(gap) else { return false };
        self.key.extend(filling.outcome.to_le_bytes());
        self.relations.add(field, filling.class, filling.text, Some(self.pieces.len() - 1));
        true
    }

    /// Calls `member` for each member of the object that comes next, with its name, which is in the key by then.
    pub(super) fn members(
        &mut self,
        depth: usize,
        mut member: impl FnMut(&mut Self, &'l [u8]) -> Option<()>,
    ) -> Option<()> {
        if depth > MAX_DEPTH || self.key.len() > LONGEST_KEY {
            return None;
        }
        self.scanner.take(b'{')?;
        self.key.push(b'{');
        if !self.scanner.takes(b'}')? {
            loop {
                let name = self.scanner.name()?;
                self.key.extend_from_slice(name);
                self.key.push(b'"');
                member(self, name)?;
                if !self.scanner.goes_on(b'}')? {
                    break;
                }
                self.key.push(b',');
            }
        }
        self.key.push(b'}');
        Some(())
    }

    /// Calls `item` for each item of the array that comes next; anything else stays as it is.
    fn items(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.scanner.peek()? != b'[' {
            return self.verbatim();
        }
        self.scanner.at += 1;
        self.key.push(b'[');
        if !self.scanner.takes(b']')? {
            loop {
                item(self)?;
                if !self.scanner.goes_on(b']')? {
                    break;
                }
                self.key.push(b',');
            }
        }
        self.key.push(b']');
        Some(())
    }

    /// A command, or a statement of one.
    pub(super) fn command(&mut self, depth: usize) -> Option<()> {
        self.members(depth, |walk, name| match role(name) {
            Role::Presence => walk.any(),
            Role::Filter => walk.filter(depth + 1),
            // The name of a command has the collection for its value.
            Role::Contents if matches!(walk.scanner.peek()?, b'{' | b'[') => {
                walk.contents((b"", walk.statement), depth + 1)
            }
            Role::Contents => walk.verbatim(),
            Role::Pipeline => walk.pipeline(depth + 1),
            Role::Limit => walk.limit(),
            Role::Skip => walk.skip(),
            Role::Cursor => walk.gap(Gap::Number).map(drop).or_else(|| walk.verbatim()),
            Role::Members => walk.names(depth + 1),
            Role::Comment => walk.gap(Gap::Comment).map(drop),
            Role::Statements if depth == 0 => walk.items(|walk| {
                walk.statement = walk.relations.new_scope();
                if walk.scanner.peek()? == b'{' { walk.command(depth + 1) } else { walk.verbatim() }
            }),
            Role::Statements | Role::Verbatim => walk.verbatim(),
        })
    }

    /// The names of an object's members.
    fn names(&mut self, depth: usize) -> Option<()> {
        if self.scanner.peek()? != b'{' {
            return self.verbatim();
        }
        self.members(depth, |walk, _| walk.any())
    }

    fn limit(&mut self) -> Option<()> {
        if self.gap(Gap::Limit).is_none() {
            return self.verbatim();
        }
        self.class(Class::Int);
        Some(())
    }

    fn skip(&mut self) -> Option<()> {
        self.gap(Gap::Skipped).map(drop).or_else(|| self.verbatim())
    }

    /// A literal that only says how many.
    fn size(&mut self) -> Option<()> {
        let Some(filling) = self.gap(Gap::Literal) else { return self.verbatim() };
        self.key.extend(filling.outcome.to_le_bytes());
        Some(())
    }

    pub(super) fn filter(&mut self, depth: usize) -> Option<()> {
        if self.scanner.peek()? != b'{' {
            return self.verbatim();
        }
        self.predicate((b"", self.statement), depth)
    }

    /// What a field is compared with, or a document of fields: an object, whose names tell which.
    fn predicate(&mut self, field: Field<'l>, depth: usize) -> Option<()> {
        if self.is_wrapper()? {
            let is_known = self.erased(Gap::Literal, field) || self.erased(Gap::Regex, field);
            return if is_known { Some(()) } else { self.verbatim_of(field) };
        }
        self.members(depth, |walk, name| match name {
            b"$and" | b"$or" | b"$nor" => walk.items(|walk| walk.filter(depth + 1)),
            b"$eq" | b"$ne" | b"$gt" | b"$gte" | b"$lt" | b"$lte" | b"$not" => walk.operand(field, depth + 1),
            b"$elemMatch" => walk.operand(field, depth + 1),
            b"$in" | b"$nin" => walk.list(field),
            b"$regex" if walk.erased(Gap::Pattern, field) => Some(()),
            b"$text" | b"$comment" | b"$near" | b"$nearSphere" | b"$geoWithin" | b"$geoIntersects" => {
                walk.contents((b"$", u32::MAX), depth + 1)
            }
            b"$expr" => walk.expression(field.1),
            b"$jsonSchema" => walk.verbatim_expression(field.1),
            b"$exists" | b"$type" | b"$size" | b"$mod" | b"$options" | b"$maxDistance" | b"$minDistance" => {
                walk.verbatim()
            }
            [b'$', ..] => walk.verbatim_of(field),
            _ => walk.operand((last_name(name), field.1), depth + 1),
        })
    }

    /// An expression or a schema, which may compare fields.
    fn verbatim_expression(&mut self, scope: u32) -> Option<()> {
        let start = self.scanner.at;
        self.verbatim()?;
        self.relations.add_expression(scope, &self.scanner.line[start..self.scanner.at]);
        Some(())
    }

    /// An expression: as it is, but for a number that the measure of a field is compared with.
    fn expression(&mut self, scope: u32) -> Option<()> {
        let Some(number) = before_number(self.scanner) else { return self.verbatim_expression(scope) };
        let text = &self.scanner.line[self.scanner.at..number.at];
        self.key.extend_from_slice(text);
        self.relations.add_expression(scope, text);
        self.scanner = number;
        self.size()?;
        self.scanner.take(b']')?;
        self.scanner.take(b'}')
    }

    /// A value that a field is compared with, or operators.
    fn operand(&mut self, field: Field<'l>, depth: usize) -> Option<()> {
        match self.scanner.peek()? {
            b'{' => self.predicate(field, depth),
            b'[' => self.verbatim_of(field),
            _ if self.erased(Gap::Literal, field) => Some(()),
            b'/' if self.erased(Gap::Regex, field) => Some(()),
            _ => {
                let (class, text) = self.itself()?;
                self.relations.add(field, class, text, None);
                Some(())
            }
        }
    }

    /// A value that stays as it is, beside others of its field that do not.
    fn verbatim_of(&mut self, field: Field<'l>) -> Option<()> {
        let (_, text) = self.itself()?;
        self.relations.add(field, Class::Verbatim, text, None);
        Some(())
    }

    /// A value that has no class.
    fn itself(&mut self) -> Option<(Class, &'l [u8])> {
        let text = self.scanner.value()?;
        if text.len() > LONGEST_KEY {
            return None;
        }
        self.key.extend_from_slice(text);
        Some((if matches!(text, b"true" | b"false" | b"null") { Class::Word } else { Class::Verbatim }, text))
    }

    /// Whether a wrapper of extended JSON comes.
    fn is_wrapper(&self) -> Option<bool> {
        let mut ahead = self.scanner;
        ahead.take(b'{')?;
        if ahead.peek()? != b'"' || ahead.line.get(ahead.at + 1) != Some(&b'$') {
            return Some(false);
        }
        Some(matches!(
            ahead.name()?,
            b"$oid"
                | b"$uuid"
                | b"$date"
                | b"$numberDecimal"
                | b"$regularExpression"
                | b"$numberInt"
                | b"$numberLong"
                | b"$numberDouble"
                | b"$timestamp"
                | b"$binary"
                | b"$minKey"
                | b"$maxKey"
                | b"$undefined"
                | b"$symbol"
                | b"$code"
                | b"$dbPointer"
                | b"$ref"
                | b"$id"
                | b"$db"
        ))
    }

    /// The operand of `$in` or `$nin`: the class of its members, and whether there are several.
    fn list(&mut self, field: Field<'l>) -> Option<()> {
        if self.scanner.peek()? != b'[' {
            return self.verbatim();
        }
        let Some(filling) = self.gap(Gap::List) else { return self.verbatim_of(field) };
        self.class(Class::List);
        self.key.extend(filling.outcome.to_le_bytes());
        let gap = self.pieces.len() - 1;
        self.relations.add(field, Class::List, filling.text, Some(gap));
        self.relations.add_list(filling.count, gap);
        Some(())
    }

    /// Contents of documents: names and the kinds of values.
    pub(super) fn contents(&mut self, field: Field<'l>, depth: usize) -> Option<()> {
        match self.scanner.peek()? {
            b'{' if !self.is_wrapper()? => self.members(depth, |walk, name| {
                // Their values name fields.
                if name == b"$rename" || (name == b"$unset" && walk.scanner.peek()? != b'{') {
                    return walk.verbatim();
                }
                let field = if name.starts_with(b"$") { field } else { (last_name(name), field.1) };
                walk.contents(field, depth + 1)
            }),
            b'[' => {
                if depth > MAX_DEPTH || self.key.len() > LONGEST_KEY {
                    return None;
                }
                self.items(|walk| walk.contents(field, depth + 1))
            }
            _ => {
                if let Some(filling) = self.gap(Gap::Literal) {
                    self.key.extend(filling.outcome.to_le_bytes());
                    self.relations.add_beside(field, filling.class, filling.text, Some(self.pieces.len() - 1));
                } else {
                    let (class, text) = self.itself()?;
                    self.relations.add_beside(field, class, text, None);
                }
                Some(())
            }
        }
    }

    /// The stages of a pipeline. What a `$match` compares may be compared with what another one does.
    fn pipeline(&mut self, depth: usize) -> Option<()> {
        let start = self.scanner.at;
        let (mut matches, mut stages) = (0, 0);
        self.items(|walk| {
            stages += 1;
            if walk.scanner.peek()? != b'{' {
                return walk.verbatim();
            }
            walk.members(depth, |walk, name| {
                matches += if name == b"$match" { stages } else { 0 };
                walk.stage(name, depth + 1)
            })
        })?;
        // One `$match` at the front has nothing before it that could rename what it is about.
        if matches > 1 {
            self.relations.meet(self.statement);
        }
        // This name makes it the cluster's own, wherever it stands.
        let is_internal =
            depth == 1 && memchr::memmem::find(&self.scanner.line[start..self.scanner.at], b"$mergeCursors").is_some();
        (!is_internal).then_some(())
    }

    /// A pipeline that runs on another collection: its literals are about other fields.
    fn foreign(&mut self, depth: usize) -> Option<()> {
        let outer = std::mem::replace(&mut self.statement, self.relations.new_scope());
        self.pipeline(depth)?;
        self.statement = outer;
        Some(())
    }

    fn stage(&mut self, name: &[u8], depth: usize) -> Option<()> {
        let is_object = self.scanner.peek()? == b'{';
        match name {
            b"$match" => self.filter(depth),
            b"$limit" => self.limit(),
            b"$skip" => self.skip(),
            b"$sample" | b"$bucketAuto" if is_object => self.members(depth, |walk, name| match name {
                b"size" | b"buckets" => walk.size(),
                _ => walk.verbatim(),
            }),
            b"$facet" if is_object => {
                self.relations.meet(self.statement);
                self.members(depth, |walk, _| walk.pipeline(depth + 1))
            }
            b"$lookup" | b"$unionWith" if is_object => self.members(depth, |walk, name| match name {
                b"pipeline" => walk.foreign(depth + 1),
                _ => walk.verbatim(),
            }),
            _ => self.verbatim(),
        }
    }
}

/// Where the number stands that a measure of a field is compared with, which is no value of the field, nor a constant:
/// `{"$gt": [{"$size": "$items"}, 5]}`. `None` if another expression comes.
fn before_number(mut scanner: Scanner<'_>) -> Option<Scanner<'_>> {
    scanner.take(b'{')?;
    matches!(scanner.name()?, b"$eq" | b"$ne" | b"$gt" | b"$gte" | b"$lt" | b"$lte").then_some(())?;
    scanner.take(b'[')?;
    scanner.take(b'{')?;
    let measures = scanner.name()?;
    matches!(
        measures,
        b"$size" | b"$strLenCP" | b"$strLenBytes" | b"$year" | b"$month" | b"$dayOfMonth" | b"$dayOfWeek" | b"$hour"
    )
    .then_some(())?;
    let path = scanner.string()?;
    let is_path = matches!(path.raw, [b'$', first, ..] if *first != b'$') && !path.is_escaped;
    is_path.then_some(())?;
    scanner.take(b'}')?;
    scanner.take(b',')?;
    scanner.peek()?.is_ascii_digit().then_some(scanner)
}

/// Whether a comment could be one that speaks to this program.
pub(super) fn may_direct(comment: &[u8]) -> bool {
    const NAME: &[u8] = b"shardlint";
    let is_named = comment.windows(NAME.len()).any(|part| part.eq_ignore_ascii_case(NAME));
    is_named || memchr::memmem::find(comment, b"\\u").is_some()
}

/// The last name of a path: `zip` of `addresses.0.zip`.
fn last_name(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', path).map_or(path, |dot| &path[dot + 1..])
}
