//! What of a slow-query record decides everything that is said about it, as a key: two records with one key have the same
//! statements, up to values that neither routing, rules nor shapes tell apart. Who has seen one of them knows the other
//! without reading it.
//!
//! The key is exact and no hash: names and structure, and word for word whatever is not known to be without influence. It is
//! made in one walk over the line that builds nothing. A line that is odd in any way, or no slow query, has no outline and
//! is read in full.

mod literal;
mod relations;
mod scanner;
mod walk;

use memchr::memmem::Finder;

use super::structured::is_own_thread;

use relations::{Distinct, Relations};
use scanner::Scanner;
use walk::Walk;

/// The outline of one slow-query record, and those of its values that count in each record anew.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'a> {
    /// What decides.
    pub key: &'a [u8],
    /// The thread (`conn123`).
    pub context: &'a str,
    /// When it was logged, in milliseconds since 1970.
    pub time_millis: Option<i64>,
    /// `durationMillis`.
    pub duration_millis: Option<u64>,
    /// `nShards`.
    pub n_shards: Option<u64>,
    /// `appName`.
    pub app_name: Option<&'a str>,
}

/// What a run holds values of a record against: on which side of it they lie is part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// The application's name decides.
    pub application: bool,
    /// Numbers of key values.
    pub values: u64,
    /// `docsExamined`, `keysExamined`.
    pub examined: u64,
    /// `nreturned`.
    pub returned: u64,
}

/// Makes outlines; keeps what can be used again from line to line.
#[derive(Debug)]
pub struct Outliner {
    key: Vec<u8>,
    distinct: Distinct,
    now: Finder<'static>,
}

impl Default for Outliner {
    fn default() -> Self {
        Self { key: Vec::new(), distinct: Distinct::default(), now: Finder::new(NOW) }
    }
}

/// The time of the record as a value: an expression that uses it is decided by that time.
const NOW: &[u8] = b"$$NOW";

impl Outliner {
    /// The outline of `line`; `None` if it has to be read in full.
    pub fn read<'a>(&'a mut self, line: &'a [u8], marks: Marks) -> Option<Outline<'a>> {
        self.key.clear();
        let mut record = Envelope { scanner: Scanner::new(line), values: Values::default(), marks };
        record.read(&mut self.key, &mut self.distinct)?;
        // Not `any`: without a way out of the loop it takes many bytes at a time.
        let has_control = line.iter().fold(false, |found, byte| found | (*byte < 0x20));
        if has_control || std::str::from_utf8(line).is_err() || self.now.find(&self.key).is_some() {
            return None;
        }
        let text = |bytes: &'a [u8]| std::str::from_utf8(bytes).ok();
        let Values { time, context, duration_millis, n_shards, app_name } = record.values;
        if marks.application {
            let name = app_name.unwrap_or_default();
            self.key.extend_from_slice(name);
            self.key.extend(name.len().to_le_bytes());
        }
        let time = text(time?).filter(|_| literal::is_date(time.unwrap_or_default()))?;
        Some(Outline {
            key: &self.key,
            context: text(context.unwrap_or_default())?,
            time_millis: Some(time.parse::<jiff::Timestamp>().ok()?.as_millisecond()),
            duration_millis,
            n_shards,
            app_name: match app_name {
                Some(name) => Some(text(name)?),
                None => None,
            },
        })
    }
}

/// The values of a record that are not in its key.
#[derive(Debug, Default)]
struct Values<'l> {
    time: Option<&'l [u8]>,
    context: Option<&'l [u8]>,
    duration_millis: Option<u64>,
    n_shards: Option<u64>,
    app_name: Option<&'l [u8]>,
}

struct Envelope<'l> {
    scanner: Scanner<'l>,
    values: Values<'l>,
    marks: Marks,
}

/// Sets what must not be set twice: of members with one name the last counts, but here the first has had its effect.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.is_none().then(|| *slot = Some(value))
}

impl<'l> Envelope<'l> {
    fn read(&mut self, key: &mut Vec<u8>, distinct: &mut Distinct) -> Option<()> {
        let mut relations = Relations::new();
        let (mut id, mut message, mut attributes, mut severity) = (None, None, None, None);
        self.scanner.take(b'{')?;
        loop {
            match self.scanner.name()? {
                b"t" => {
                    let time = self.time()?;
                    once(&mut self.values.time, time)?;
                }
                b"id" => {
                    let number = self.scanner.number()?;
                    once(&mut id, (number == b"51803").then_some(())?)?;
                }
                b"msg" => {
                    let text = self.scanner.string()?.raw;
                    once(&mut message, (text == b"Slow query").then_some(())?)?;
                }
                b"s" => once(&mut severity, self.scanner.string()?)?,
                b"ctx" => {
                    let text = self.plain()?;
                    // Whether a client or the server itself is at work; of other names nothing depends.
                    let is_own = std::str::from_utf8(text).is_ok_and(is_own_thread);
                    key.push(u8::from(is_own));
                    once(&mut self.values.context, text)?;
                }
                b"attr" => {
                    once(&mut attributes, ())?;
                    self.attributes(key, &mut relations, distinct)?;
                }
                name @ (b"svc" | b"truncated") => {
                    key.extend_from_slice(name);
                    key.push(b'"');
                    key.extend_from_slice(self.scanner.value()?);
                }
                _ => drop(self.scanner.value()?),
            }
            if !self.scanner.goes_on(b'}')? {
                break;
            }
        }
        (id.and(message).and(attributes).and(severity).is_some() && self.scanner.at == self.scanner.line.len())
            .then_some(())?;
        key.push(b'|');
        relations.write(self.values.n_shards.unwrap_or(0).max(self.marks.values), key)
    }

    /// `{"$date":"…"}`; its text.
    fn time(&mut self) -> Option<&'l [u8]> {
        self.scanner.take(b'{')?;
        (self.scanner.name()? == b"$date").then_some(())?;
        let text = self.plain()?;
        self.scanner.take(b'}')?;
        Some(text)
    }

    /// A string without escapes.
    fn plain(&mut self) -> Option<&'l [u8]> {
        let text = self.scanner.string()?;
        (!text.is_escaped).then_some(text.raw)
    }

    fn count(&mut self) -> Option<u64> {
        let text = self.scanner.number()?;
        let is_plain = text.len() <= 18 && text.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
    }

    /// The members of `attr`. What is not named here does not decide anything.
    fn attributes<'k>(
        &mut self,
        key: &'k mut Vec<u8>,
        relations: &'k mut Relations<'l>,
        distinct: &'k mut Distinct,
    ) -> Option<()> {
        self.scanner.take(b'{')?;
        loop {
            let name = self.scanner.name()?;
            match name {
                b"durationMillis" => {
                    let count = self.count()?;
                    once(&mut self.values.duration_millis, count)?;
                }
                b"appName" => {
                    let text = self.plain()?;
                    once(&mut self.values.app_name, text)?;
                }
                b"nShards" => {
                    let count = self.count()?;
                    once(&mut self.values.n_shards, count)?;
                    key.extend_from_slice(b"nShards\"");
                    key.extend(count.to_le_bytes());
                }
                b"command" | b"originatingCommand" if self.scanner.peek()? == b'{' => {
                    key.extend_from_slice(name);
                    key.push(b'"');
                    let scanner = self.scanner;
                    let statement = relations.new_scope();
                    let mut walk = Walk {
                        scanner,
                        key: &mut *key,
                        relations: &mut *relations,
                        distinct: &mut *distinct,
                        statement,
                    };
                    walk.command(0)?;
                    self.scanner = walk.scanner;
                }
                b"ns"
                | b"type"
                | b"command"
                | b"originatingCommand"
                | b"planSummary"
                | b"hasSortStage"
                | b"usedDisk"
                | b"mirrored"
                | b"errCode" => {
                    key.extend_from_slice(name);
                    key.push(b'"');
                    key.extend_from_slice(self.scanner.value()?);
                }
                // A view's own filter stands beside that of the command.
                b"resolvedViews" => return None,
                b"ninserted" => {
                    let count = self.count()?;
                    key.extend_from_slice(b"ninserted\"");
                    key.push(count.min(2) as u8);
                }
                b"keysExamined" | b"docsExamined" | b"nreturned" => {
                    let count = self.count()?;
                    let mark = if name == b"nreturned" { self.marks.returned } else { self.marks.examined };
                    key.extend_from_slice(name);
                    key.extend([b'"', u8::from(count > 0), (count.cmp(&mark)) as u8]);
                }
                b"locks" | b"remoteOpWaitMillis" => {
                    key.extend_from_slice(name);
                    key.push(b'"');
                    self.scanner.value()?;
                }
                _ => drop(self.scanner.value()?),
            }
            key.push(b',');
            if !self.scanner.goes_on(b'}')? {
                return Some(());
            }
        }
    }
}
