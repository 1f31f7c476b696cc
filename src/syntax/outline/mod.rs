//! What of a slow-query record decides everything that is said about it, as a key: two records with one key have the same
//! statements, up to values that neither routing, rules nor shapes tell apart. Who has seen one of them knows the other
//! without reading it.
//!
//! The key is exact and no hash: names and structure, and word for word whatever is not known to be without influence. It is
//! made in one walk over the line that builds nothing. A line that is odd in any way, or no slow query, has no outline and
//! is read in full. [`Patterns`] spare most lines the walk.

mod aside;
mod clock;
pub(in crate::syntax) mod columns;
mod envelope;
mod gap;
mod literal;
mod patterns;
mod relations;
mod text;
mod tree;
mod walk;
mod wording;

use memchr::memmem::Finder;
use wide::u8x16;

use crate::model::Event;

use super::scanner::{Scanner, Spelling};

use clock::Clock;
pub use columns::is_idle_text;
use envelope::{Envelope, Values};
use patterns::Filled;
pub use patterns::{Found, Pattern, Patterns};
use relations::{Distinct, Relations};
use text::TextLine;
use tree::Piece;
use walk::Walk;

/// What a record tells for itself: no two records need to agree in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told<'a> {
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

impl<'a> Told<'a> {
    /// What an event tells.
    #[must_use]
    pub fn by_event(event: &'a Event) -> Self {
        Self {
            context: &event.context,
            time_millis: event.time_millis,
            duration_millis: event.duration_millis.as_ref().map(|duration| duration.value),
            n_shards: event.n_shards.as_ref().map(|n| n.value),
            app_name: event.app_name.as_deref(),
        }
    }
}

/// The outline of one slow-query record.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'k, 'l> {
    /// What decides: names and structure,
    pub key: &'k [u8],
    /// and what the values are.
    pub ending: &'k [u8],
    /// What counts in each record anew.
    pub told: Told<'l>,
}

/// What a run holds values of a record against: on which side of it they lie is part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// The application's name decides.
    pub application: bool,
    /// Numbers of key values.
    pub values: u64,
    /// `skip`.
    pub skipped: u64,
    /// `docsExamined`, `keysExamined`.
    pub examined: u64,
    /// `nreturned`.
    pub returned: u64,
}

impl Marks {
    /// What numbers of values in a record of that `nShards` are held against.
    fn values_beside(self, n_shards: Option<u64>) -> u64 {
        n_shards.unwrap_or(0).max(self.values)
    }
}

/// Makes outlines; keeps what can be used again from line to line.
#[derive(Debug)]
pub struct Outliner {
    key: Vec<u8>,
    distinct: Distinct,
    pieces: Vec<Piece>,
    filled: Vec<Filled>,
    /// Where the gaps of a line are.
    places: Vec<(usize, usize)>,
    ending: Vec<u8>,
    clock: Clock,
    now: Finder<'static>,
}

impl Default for Outliner {
    fn default() -> Self {
        Self {
            key: Vec::new(),
            distinct: Distinct::default(),
            pieces: Vec::new(),
            filled: Vec::new(),
            places: Vec::new(),
            ending: Vec::new(),
            clock: Clock::default(),
            now: Finder::new(NOW),
        }
    }
}

/// The time of the record as a value: an expression that uses it is decided by that time.
const NOW: &[u8] = b"$$NOW";

impl Outliner {
    /// The outline of `line`, which has no control characters; `None` if it has to be read in full.
    pub fn read<'k, 'l>(&'k mut self, line: &'l str, marks: Marks) -> Option<Outline<'k, 'l>> {
        let mut relations = Relations::new();
        let values = self.walk(line.as_bytes(), marks, &mut relations)?;
        let told = values.told(line, &mut self.clock)?;
        Some(Outline { key: &self.key, ending: &self.ending, told })
    }

    /// Makes the key and finds the gaps of a line.
    fn walk<'l>(&mut self, line: &'l [u8], marks: Marks, relations: &mut Relations<'l>) -> Option<Values<'l>> {
        let Self { key, distinct, pieces, ending, now, .. } = self;
        key.clear();
        pieces.clear();
        ending.clear();
        let walk = Walk {
            scanner: Scanner::of_line(line),
            key: &mut *key,
            relations: &mut *relations,
            distinct,
            pieces,
            marks,
            ending: &mut *ending,
            statement: 0,
        };
        let values = match walk.scanner.spelling {
            Spelling::Json => Envelope::new(walk).read()?,
            Spelling::Legacy => TextLine::new(walk).read()?,
        };
        relations.add_early()?;
        relations.write(marks.values_beside(values.n_shards), ending)?;
        values.write_application(marks, ending);
        (now.find(key).is_none() && now.find(ending).is_none()).then_some(values)
    }

    /// How the outline of the line ends that was looked at last.
    #[must_use]
    pub fn ending(&self) -> &[u8] {
        &self.ending
    }

    /// The same; `None` if what it says holds only for the time of the line.
    #[must_use]
    pub fn lasting_ending(&self) -> Option<&[u8]> {
        self.now.find(&self.ending).is_none().then_some(&self.ending)
    }

    /// The outline of `line` and its pattern.
    pub fn pattern<'k, 'l>(&'k mut self, line: &'l str, marks: Marks) -> Option<(Outline<'k, 'l>, Pattern)> {
        let mut relations = Relations::new();
        let values = self.walk(line.as_bytes(), marks, &mut relations)?;
        let n_shards = values.n_shards;
        let told = values.told(line, &mut self.clock)?;
        // Gaps whose text is looked at when a line is recognised are numbered among themselves.
        let place = |gap: usize| self.pieces[..gap].iter().filter(|piece| piece.gap.is_of_literals()).count();
        let recipe = relations.recipe(place);
        let pattern = Pattern { pieces: self.pieces.clone(), recipe, n_shards };
        Some((Outline { key: &self.key, ending: &self.ending, told }, pattern))
    }
}

/// The text of `line`, if it is UTF-8 without control characters, so that it may have an outline.
#[must_use]
pub fn clean(line: &[u8]) -> Option<&str> {
    if has_control(line) { None } else { simdutf8::basic::from_utf8(line).ok() }
}

/// Whether there are control characters.
fn has_control(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<16>() else { return bytes.iter().any(|byte| *byte < b' ') };
    let (blocks, rest) = bytes.as_chunks::<64>();
    let (chunks, _) = rest.as_chunks::<16>();
    let least =
        |least: u8x16, chunks: &[[u8; 16]]| chunks.iter().fold(least, |least, chunk| least.min(u8x16::new(*chunk)));
    let of_blocks = blocks.iter().fold(u8x16::new(*last), |known, block| least(known, block.as_chunks().0));
    let least = least(of_blocks, chunks);
    least.max(u8x16::splat(b' ')).cmp_eq(least).move_mask() != 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_control_character_anywhere_has_no_outline() {
        for length in 0..200 {
            let line = " ~\u{7f}é".repeat(length);
            assert_eq!(clean(line.as_bytes()), Some(line.as_str()));
            for at in 0..line.len() {
                let mut odd = line.clone().into_bytes();
                odd[at] = (at % 32) as u8;
                assert_eq!(clean(&odd), None, "{at} of {length}");
            }
        }
    }
}
