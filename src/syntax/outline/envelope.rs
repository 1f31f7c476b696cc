//! From a whole record to its key and gaps: its members, those of `attr`, and the command in it.

use super::Marks;
use super::Told;
use super::clock::Clock;
use super::gap::{Filling, Gap};
use super::walk::Walk;

/// The values of a record that are not in its key.
#[derive(Debug, Default)]
pub(super) struct Values<'l> {
    /// Empty, if the record tells none.
    pub(super) time: Option<&'l [u8]>,
    /// That time in milliseconds since 1970, if it has been read.
    pub(super) millis: Option<i64>,
    pub(super) context: Option<&'l [u8]>,
    pub(super) duration_millis: Option<u64>,
    pub(super) n_shards: Option<u64>,
    pub(super) app_name: Option<&'l [u8]>,
}

impl<'l> Values<'l> {
    /// Takes in what was read of a gap.
    pub(super) fn take(&mut self, gap: Gap, filling: &Filling<'l>) {
        match gap {
            Gap::Time | Gap::Stamp => self.time = Some(filling.text),
            Gap::Context | Gap::Thread => self.context = Some(filling.text),
            Gap::Application | Gap::Quoted => self.app_name = Some(filling.text),
            Gap::Duration => self.duration_millis = Some(filling.count),
            _ => {}
        }
    }

    /// The name of the application, if it decides.
    pub(super) fn write_application(&self, marks: Marks, key: &mut Vec<u8>) {
        if marks.application {
            let name = self.app_name.unwrap_or_default();
            key.extend_from_slice(name);
            key.extend(name.len().to_le_bytes());
        }
    }

    /// The same, as the record tells it; `None` where a time is missing or odd.
    pub(super) fn told(self, line: &'l str, clock: &mut Clock) -> Option<Told<'l>> {
        let Self { time, millis, context, duration_millis, n_shards, app_name } = self;
        Some(Told {
            context: context.map_or(Some(""), |context| within(line, context))?,
            time_millis: match time? {
                [] => None,
                time => Some(millis.or_else(|| clock.millis(time))?),
            },
            duration_millis,
            n_shards,
            app_name: match app_name {
                Some(name) => Some(within(line, name)?),
                None => None,
            },
        })
    }
}

/// The part of `line` that those bytes of it are.
fn within<'l>(line: &'l str, part: &'l [u8]) -> Option<&'l str> {
    let start = part.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    line.get(start..start + part.len())
}

/// The walk over one record.
pub(super) struct Envelope<'l, 'k> {
    walk: Walk<'l, 'k>,
    values: Values<'l>,
}

/// Sets what must not be set twice: of members with one name the last counts, but here the first has had its effect.
pub(super) fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.is_none().then(|| *slot = Some(value))
}

impl<'l, 'k> Envelope<'l, 'k> {
    pub(super) fn new(walk: Walk<'l, 'k>) -> Self {
        Self { walk, values: Values::default() }
    }

    /// Reads the record.
    pub(super) fn read(mut self) -> Option<Values<'l>> {
        let (mut id, mut message, mut attributes, mut severity) = (None, None, None, None);
        self.walk.scanner.take(b'{')?;
        loop {
            match self.walk.scanner.name()? {
                b"t" => once(&mut self.values.time, self.walk.gap(Gap::Time)?.text)?,
                b"id" => {
                    let number = self.walk.scanner.number()?;
                    once(&mut id, (number == b"51803").then_some(())?)?;
                }
                b"msg" => {
                    let text = self.walk.scanner.string()?.raw;
                    once(&mut message, (text == b"Slow query").then_some(())?)?;
                }
                b"s" => once(&mut severity, self.walk.gap(Gap::Text)?.text)?,
                b"ctx" => {
                    let filling = self.walk.gap(Gap::Context)?;
                    self.walk.key.push(u8::try_from(filling.outcome).ok()?);
                    once(&mut self.values.context, filling.text)?;
                }
                b"attr" => {
                    once(&mut attributes, ())?;
                    self.attributes()?;
                }
                name @ (b"svc" | b"truncated") => self.named(name)?,
                _ => self.walk.any()?,
            }
            if !self.walk.scanner.goes_on(b'}')? {
                break;
            }
        }
        let is_whole = id.and(message).and(attributes).and(severity).is_some() && self.walk.scanner.is_at_end();
        is_whole.then_some(self.values)
    }

    /// A member that stays as it is.
    fn named(&mut self, name: &[u8]) -> Option<()> {
        self.name(name);
        self.walk.verbatim()
    }

    fn name(&mut self, name: &[u8]) {
        self.walk.key.extend_from_slice(name);
        self.walk.key.push(b'"');
    }

    /// The members of `attr`. What is not named here does not decide anything.
    fn attributes(&mut self) -> Option<()> {
        self.walk.scanner.take(b'{')?;
        loop {
            let name = self.walk.scanner.name()?;
            match name {
                b"durationMillis" => {
                    once(&mut self.values.duration_millis, self.walk.gap(Gap::Duration)?.count)?;
                }
                b"appName" => once(&mut self.values.app_name, self.walk.gap(Gap::Application)?.text)?,
                b"nShards" => {
                    self.name(name);
                    let count = super::gap::count(&mut self.walk.scanner)?.1;
                    once(&mut self.values.n_shards, count)?;
                    self.walk.key.extend(count.to_le_bytes());
                }
                b"command" | b"originatingCommand" if self.walk.scanner.peek()? == b'{' => {
                    self.name(name);
                    self.walk.statement = self.walk.relations.new_scope();
                    self.walk.command(0)?;
                }
                b"ns"
                | b"type"
                | b"command"
                | b"originatingCommand"
                | b"planSummary"
                | b"hasSortStage"
                | b"usedDisk"
                | b"mirrored"
                | b"errCode" => self.named(name)?,
                // A view's own filter stands beside that of the command.
                b"resolvedViews" => return None,
                b"ninserted" => self.counted(name, Gap::Few)?,
                b"keysExamined" | b"docsExamined" => self.counted(name, Gap::Examined)?,
                b"nreturned" => self.counted(name, Gap::Returned)?,
                b"locks" | b"remoteOpWaitMillis" => {
                    self.name(name);
                    self.walk.any()?;
                }
                _ => {
                    self.walk.any()?;
                }
            }
            self.walk.key.push(b',');
            if !self.walk.scanner.goes_on(b'}')? {
                return Some(());
            }
        }
    }

    fn counted(&mut self, name: &[u8], gap: Gap) -> Option<()> {
        self.name(name);
        self.walk.gap(gap).map(drop)
    }
}
