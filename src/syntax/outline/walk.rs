//! From the command of a record to the part of its key: names and structure as they are, literals by their class where only
//! the class can matter, everything else word for word.

use super::literal::{self, Class};
use super::relations::{Distinct, Relations};
use super::scanner::Scanner;

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
    /// Which statement of a batch, or pipeline in another, is walked.
    pub(super) statement: u32,
}

/// The class of the members of a list, and their texts.
type Members<'l> = (Class, Vec<&'l [u8]>);

impl<'l> Walk<'l, '_> {
    /// The next value, word for word.
    pub(super) fn verbatim(&mut self) -> Option<()> {
        let text = self.scanner.value()?;
        if text.len() > LONGEST_KEY {
            return None;
        }
        self.key.extend_from_slice(text);
        Some(())
    }

    fn class(&mut self, class: Class) {
        self.key.push(class as u8);
    }

    /// Calls `member` for each member of the object that comes next, with its name, which is in the key by then.
    fn members(&mut self, depth: usize, mut member: impl FnMut(&mut Self, &'l [u8]) -> Option<()>) -> Option<()> {
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
            Role::Presence => walk.scanner.value().map(drop),
            Role::Filter => walk.filter(depth + 1),
            // The name of a command has the collection for its value.
            Role::Contents if matches!(walk.scanner.peek()?, b'{' | b'[') => {
                walk.contents((b"", walk.statement), depth + 1)
            }
            Role::Contents => walk.verbatim(),
            Role::Pipeline => walk.pipeline(depth + 1),
            Role::Limit => walk.limit(),
            Role::Cursor if walk.scanner.peek()?.is_ascii_digit() => walk.scanner.number().map(drop),
            Role::Cursor => walk.verbatim(),
            Role::Members => walk.names(depth + 1),
            Role::Comment => walk.scanner.value().filter(|text| !may_direct(text)).map(drop),
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
        self.members(depth, |walk, _| walk.scanner.value().map(drop))
    }

    fn limit(&mut self) -> Option<()> {
        let text = self.scanner.value()?;
        match text {
            [b'1'..=b'9', rest @ ..] if text != b"1" && rest.len() < 9 && rest.iter().all(u8::is_ascii_digit) => {
                self.class(Class::Int);
            }
            _ if text.len() < LONGEST_KEY => self.key.extend_from_slice(text),
            _ => return None,
        }
        Some(())
    }

    fn filter(&mut self, depth: usize) -> Option<()> {
        if self.scanner.peek()? != b'{' {
            return self.verbatim();
        }
        self.predicate((b"", self.statement), depth)
    }

    /// What a field is compared with, or a document of fields: an object, whose names tell which.
    fn predicate(&mut self, field: Field<'l>, depth: usize) -> Option<()> {
        if self.wrapper(Some(field))? {
            return Some(());
        }
        self.members(depth, |walk, name| match name {
            b"$and" | b"$or" | b"$nor" => walk.items(|walk| walk.filter(depth + 1)),
            b"$eq" | b"$ne" | b"$gt" | b"$gte" | b"$lt" | b"$lte" | b"$not" => walk.operand(field, depth + 1),
            b"$elemMatch" => walk.operand(field, depth + 1),
            b"$in" | b"$nin" => walk.list(field),
            b"$regex" => walk.pattern(field),
            b"$text" | b"$comment" | b"$near" | b"$nearSphere" | b"$geoWithin" | b"$geoIntersects" => {
                walk.contents((b"$", u32::MAX), depth + 1)
            }
            b"$expr" | b"$jsonSchema" => {
                let start = walk.scanner.at;
                walk.verbatim()?;
                walk.relations.add_expression(field.1, &walk.scanner.line[start..walk.scanner.at]);
                Some(())
            }
            b"$exists" | b"$type" | b"$size" | b"$mod" | b"$options" | b"$maxDistance" | b"$minDistance" => {
                walk.verbatim()
            }
            [b'$', ..] => walk.verbatim_of(field),
            _ => walk.operand((last_name(name), field.1), depth + 1),
        })
    }

    /// A value that a field is compared with, or operators.
    fn operand(&mut self, field: Field<'l>, depth: usize) -> Option<()> {
        match self.scanner.peek()? {
            b'{' => self.predicate(field, depth),
            b'[' => self.verbatim_of(field),
            _ => self.scalar(Some(field)),
        }
    }

    /// A value that stays as it is, beside others of its field that do not.
    fn verbatim_of(&mut self, field: Field<'l>) -> Option<()> {
        let text = self.scanner.value()?;
        if text.len() > LONGEST_KEY {
            return None;
        }
        self.key.extend_from_slice(text);
        self.relations.add(field, Class::Verbatim, text);
        Some(())
    }

    /// A string, a number, `true`, `false` or `null`.
    fn scalar(&mut self, field: Option<Field<'l>>) -> Option<()> {
        let (class, inner, text) = self.classified()?;
        self.literal(class, text)?;
        if let Some(field) = field {
            self.relations.add(field, class, inner);
        }
        Some(())
    }

    /// Writes the class of a literal, or the literal itself.
    fn literal(&mut self, class: Class, text: &[u8]) -> Option<()> {
        if !matches!(class, Class::Verbatim | Class::Word) {
            self.class(class);
        } else if text.len() <= LONGEST_KEY {
            self.key.extend_from_slice(text);
        } else {
            return None;
        }
        Some(())
    }

    /// The class of the scalar that comes next, what its value is told by, and its text.
    fn classified(&mut self) -> Option<(Class, &'l [u8], &'l [u8])> {
        match self.scanner.peek()? {
            b'"' => {
                let start = self.scanner.at;
                let text = self.scanner.string()?;
                Some((literal::of_text(text), text.raw, &self.scanner.line[start..self.scanner.at]))
            }
            b'-' | b'0'..=b'9' => {
                let text = self.scanner.number()?;
                Some((literal::of_number(text), text, text))
            }
            next => {
                let class = if next == b'[' || next == b'{' { Class::Verbatim } else { Class::Word };
                let text = self.scanner.value()?;
                Some((class, text, text))
            }
        }
    }

    /// The class of the wrapper of extended JSON that comes next, with what is in it; if none comes, nothing is taken.
    fn wrapped(&mut self) -> Option<Option<(Class, &'l [u8])>> {
        let start = self.scanner;
        let mut ahead = start;
        ahead.take(b'{')?;
        if ahead.peek()? != b'"' || ahead.line.get(ahead.at + 1) != Some(&b'$') {
            return Some(None);
        }
        let name = ahead.name()?;
        if ahead.peek()? != b'"' {
            return Some(None);
        }
        let text = ahead.string()?;
        let is_alone = ahead.takes(b'}')?;
        match literal::of_wrapper(name, text.raw) {
            Some(class) if is_alone && !text.is_escaped => {
                self.scanner = ahead;
                Some(Some((class, text.raw)))
            }
            _ => Some(None),
        }
    }

    /// Takes a wrapper of extended JSON, if one comes. One of an unusual kind stays as it is.
    fn wrapper(&mut self, field: Option<Field<'l>>) -> Option<bool> {
        if let Some((class, text)) = self.wrapped()? {
            self.class(class);
            if let Some(field) = field {
                self.relations.add(field, class, text);
            }
            return Some(true);
        }
        let mut ahead = self.scanner;
        ahead.take(b'{')?;
        if ahead.peek()? != b'"' || ahead.line.get(ahead.at + 1) != Some(&b'$') {
            return Some(false);
        }
        match ahead.name()? {
            b"$regularExpression" => self.regex(field).map(|()| true),
            b"$oid" | b"$uuid" | b"$date" | b"$numberInt" | b"$numberLong" | b"$numberDouble" | b"$numberDecimal"
            | b"$timestamp" | b"$binary" | b"$minKey" | b"$maxKey" | b"$undefined" | b"$symbol" | b"$code"
            | b"$dbPointer" | b"$ref" | b"$id" | b"$db" => {
                match field {
                    Some(field) => self.verbatim_of(field)?,
                    None => self.verbatim()?,
                }
                Some(true)
            }
            _ => Some(false),
        }
    }

    /// `{"$regularExpression": {"pattern": …, "options": …}}`, in this order.
    fn regex(&mut self, field: Option<Field<'l>>) -> Option<()> {
        let start = self.scanner;
        let text = self.scanner.value()?;
        let field = field.unwrap_or((b"$", u32::MAX));
        let Some((pattern, options)) =
            regex_parts(start).filter(|(pattern, _)| literal::of_regex(pattern) != Class::Verbatim)
        else {
            self.scanner = start;
            return self.verbatim_of(field);
        };
        let class = literal::of_regex(pattern);
        self.class(class);
        self.key.extend_from_slice(options);
        self.key.push(b'"');
        self.relations.add(field, class, text);
        Some(())
    }

    /// The operand of `$regex`.
    fn pattern(&mut self, field: Field<'l>) -> Option<()> {
        let start = self.scanner;
        if self.scanner.peek()? == b'"' {
            let text = self.scanner.string()?;
            let class = literal::of_regex(text.raw);
            if class != Class::Verbatim {
                self.class(class);
                self.relations.add(field, class, text.raw);
                return Some(());
            }
            self.scanner = start;
        }
        self.verbatim_of(field)
    }

    /// The operand of `$in` or `$nin`: the class of its members, and whether there are several.
    fn list(&mut self, field: Field<'l>) -> Option<()> {
        let start = self.scanner;
        if self.scanner.peek()? != b'[' {
            return self.verbatim();
        }
        let text_start = self.scanner.at;
        let Some((class, texts)) = self.uniform_list()? else {
            self.scanner = start;
            return self.verbatim_of(field);
        };
        let text = &self.scanner.line[text_start..self.scanner.at];
        let Some(distinct) = self.distinct.count(class, &texts) else {
            self.scanner = start;
            return self.verbatim_of(field);
        };
        self.class(Class::List);
        self.class(class);
        // Of so many members at most, the types of the values are counted.
        self.key.push(texts.len().min(17) as u8);
        self.relations.add(field, Class::List, text);
        self.relations.add_list(distinct);
        Some(())
    }

    /// The members of a list, if there are some and they are of one class; `Some(None)` if they are not.
    fn uniform_list(&mut self) -> Option<Option<Members<'l>>> {
        const LONGEST: usize = 1 << 16;
        self.scanner.take(b'[')?;
        if self.scanner.takes(b']')? {
            return Some(None);
        }
        let mut texts = Vec::new();
        let mut common = None;
        loop {
            let (class, text) = match self.scanner.peek()? {
                b'{' => match self.wrapped()? {
                    Some(found) => found,
                    None => return Some(None),
                },
                _ => self.classified().map(|(class, inner, _)| (class, inner))?,
            };
            if matches!(class, Class::Verbatim | Class::Word) || *common.get_or_insert(class) != class {
                return Some(None);
            }
            texts.push(text);
            if texts.len() > LONGEST {
                return None;
            }
            if !self.scanner.goes_on(b']')? {
                return Some(common.map(|class| (class, texts)));
            }
        }
    }

    /// Contents of documents: names and the kinds of values.
    fn contents(&mut self, field: Field<'l>, depth: usize) -> Option<()> {
        match self.scanner.peek()? {
            b'{' => {
                if self.wrapped_contents(field)? {
                    return Some(());
                }
                self.members(depth, |walk, name| {
                    // Their values name fields.
                    if name == b"$rename" || (name == b"$unset" && walk.scanner.peek()? != b'{') {
                        return walk.verbatim();
                    }
                    let field = if name.starts_with(b"$") { field } else { (last_name(name), field.1) };
                    walk.contents(field, depth + 1)
                })
            }
            b'[' => {
                if depth > MAX_DEPTH || self.key.len() > LONGEST_KEY {
                    return None;
                }
                self.items(|walk| walk.contents(field, depth + 1))
            }
            _ => {
                let (class, inner, text) = self.classified()?;
                self.literal(class, text)?;
                self.relations.add_beside(field, class, inner);
                Some(())
            }
        }
    }

    fn wrapped_contents(&mut self, field: Field<'l>) -> Option<bool> {
        if let Some((class, text)) = self.wrapped()? {
            self.class(class);
            self.relations.add_beside(field, class, text);
            return Some(true);
        }
        self.wrapper(None)
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

/// The pattern and the options of a regular expression, if it is spelled in the usual order.
fn regex_parts(mut scanner: Scanner<'_>) -> Option<(&[u8], &[u8])> {
    scanner.take(b'{')?;
    scanner.name()?;
    scanner.take(b'{')?;
    let mut part = |expected: &[u8]| {
        let is_next = scanner.name()? == expected;
        let text = scanner.string()?;
        let more = scanner.goes_on(b'}')?;
        (is_next && !text.is_escaped).then_some((text.raw, more))
    };
    let (pattern, more) = part(b"pattern")?;
    if !more {
        return None;
    }
    let (options, more) = part(b"options")?;
    let is_alone = scanner.takes(b'}')?;
    (!more && is_alone).then_some((pattern, options))
}

/// Whether a comment could be one that speaks to this program.
fn may_direct(comment: &[u8]) -> bool {
    const NAME: &[u8] = b"shardlint";
    let is_named = comment.windows(NAME.len()).any(|part| part.eq_ignore_ascii_case(NAME));
    is_named || memchr::memmem::find(comment, b"\\u").is_some()
}

/// The last name of a path: `zip` of `addresses.0.zip`.
fn last_name(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', path).map_or(path, |dot| &path[dot + 1..])
}
