//! The places of a line where records of one outline differ: which value stands there is not in the key, only what is read
//! of it here. The walk that makes keys and the patterns that recognise lines read gaps by the same functions, so that what
//! one takes for a gap the other does too.

use smallvec::SmallVec;

use super::Marks;
use super::columns;
use super::literal::{self, Class};
use super::relations::Distinct;
use super::walk::may_direct;
use crate::syntax::legacy::spelling;
use crate::syntax::scanner::{Scanner, Spelling};
use crate::syntax::structured::is_own_thread;

/// What may stand in a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// Any value.
    Any,
    /// Any string.
    Text,
    /// Any number.
    Number,
    /// A time as records have it.
    Time,
    /// A string without escapes: the thread's name, of which it matters whether it serves clients,
    Context,
    /// and the application's.
    Application,
    /// A count: `durationMillis`,
    Duration,
    /// documents of which it matters whether there are none, one or several,
    Few,
    /// that are passed over,
    Skipped,
    /// keys or documents that were read,
    Examined,
    /// and documents that were returned.
    Returned,
    /// A `limit` of more than one.
    Limit,
    /// A comment that asks for nothing.
    Comment,
    /// A literal, of which its class is in the key.
    Literal,
    /// A regular expression of extended JSON.
    Regex,
    /// The operand of `$regex`.
    Pattern,
    /// The members of an `$in`, all of one class.
    List,
    /// Of a line of the text log: when it was written,
    Stamp,
    /// the thread's name,
    Thread,
    /// a text in quotes, which is the application's name,
    Quoted,
    /// and the value of any other item.
    Item,
}

/// What was read of a gap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling<'l> {
    /// What decides which lines are of one pattern: its class.
    pub(super) outcome: u32,
    /// What else of it decides, and is written at the end of the key.
    pub(super) side: u8,
    /// The class of a literal or a list of them.
    pub(super) class: Class,
    /// What the value is told by.
    pub(super) text: &'l [u8],
    /// A number; how many different members a list has.
    pub(super) count: u64,
}

impl<'l> Filling<'l> {
    pub(super) fn plain(text: &'l [u8]) -> Self {
        Self { outcome: 0, side: 0, class: Class::Verbatim, text, count: 0 }
    }

    fn number((text, count): (&'l [u8], u64), side: u8) -> Self {
        Self { side, count, ..Self::plain(text) }
    }

    fn literal((class, text): (Class, &'l [u8])) -> Self {
        Self { outcome: class as u32, class, ..Self::plain(text) }
    }
}

impl Gap {
    /// Whether what else is read of it is written at the end of the key.
    pub(super) fn has_side(self) -> bool {
        matches!(self, Self::Few | Self::Skipped | Self::Examined | Self::Returned | Self::List)
    }

    /// Whether its text may be held against others'.
    pub(super) fn is_of_literals(self) -> bool {
        matches!(self, Self::Literal | Self::Regex | Self::Pattern | Self::List)
    }

    /// Reads what comes next as such a gap. `None` if it is something else; where the scanner stands then is not told.
    #[inline]
    pub(super) fn read<'l>(
        self,
        scanner: &mut Scanner<'l>,
        marks: Marks,
        distinct: &mut Distinct,
    ) -> Option<Filling<'l>> {
        Some(match self {
            Self::Any => Filling::plain(scanner.value()?),
            Self::Text => Filling::plain(scanner.string()?.raw),
            Self::Number if scanner.peek()?.is_ascii_digit() => Filling::plain(scanner.number()?),
            Self::Number => return None,
            Self::Time => Filling::plain(time(scanner)?),
            Self::Context => by_thread(plain(scanner)?),
            Self::Application => Filling::plain(plain(scanner)?),
            Self::Duration => Filling::number(count(scanner)?, 0),
            Self::Few => {
                let read = count(scanner)?;
                Filling::number(read, read.1.min(2) as u8)
            }
            Self::Skipped => marked(count(scanner)?, marks.skipped),
            Self::Examined => marked(count(scanner)?, marks.examined),
            Self::Returned => marked(count(scanner)?, marks.returned),
            Self::Limit => Filling::plain(limit(scanner)?),
            Self::Comment => Filling::plain(scanner.value().filter(|text| !may_direct(text))?),
            Self::Literal => Filling::literal(any_literal(scanner)?),
            Self::Regex => regex(scanner)?,
            Self::Pattern => {
                let text = string(scanner)?;
                Filling::literal((known(literal::of_regex(text))?, text))
            }
            Self::List => list(scanner, distinct)?,
            Self::Stamp => Filling::plain(columns::stamp(scanner)?),
            Self::Thread => by_thread(columns::thread(scanner)?),
            Self::Quoted => Filling::plain(columns::quoted(scanner)?),
            Self::Item => Filling::plain(columns::item(scanner)?),
        })
    }
}

/// Whether a client or the server itself is at work; of other names nothing depends.
fn by_thread(name: &[u8]) -> Filling<'_> {
    Filling { outcome: u32::from(is_own_thread(name)), ..Filling::plain(name) }
}

/// A string, of which the text between the quotes is told.
fn string<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    (scanner.peek()? == b'"').then_some(())?;
    Some(scanner.string()?.raw)
}

/// A string without escapes.
pub(super) fn plain<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let text = scanner.string()?;
    (!text.is_escaped).then_some(text.raw)
}

/// `{"$date":"…"}`; its text.
pub(super) fn time<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    scanner.take(b'{')?;
    (scanner.name()? == b"$date").then_some(())?;
    let text = plain(scanner)?;
    scanner.take(b'}')?;
    literal::is_date(text).then_some(text)
}

#[inline]
pub(super) fn count<'l>(scanner: &mut Scanner<'l>) -> Option<(&'l [u8], u64)> {
    let text = scanner.number()?;
    if text.len() > 18 {
        return None;
    }
    let (mut count, mut is_whole) = (0_u64, true);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        is_whole &= digit < 10;
        count = count.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    is_whole.then_some((text, count))
}

/// Whether there are any, and on which side of a mark they are.
fn marked<'l>(read: (&'l [u8], u64), mark: u64) -> Filling<'l> {
    let side = (read.1.cmp(&mark) as i8 + 1).unsigned_abs();
    Filling::number(read, u8::from(read.1 > 0) | side << 1)
}

fn limit<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    matches!(scanner.peek()?, b'1'..=b'9').then_some(())?;
    let text = scanner.number()?;
    let is_plain = text != b"1" && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
    is_plain.then_some(text)
}

fn known(class: Class) -> Option<Class> {
    (!matches!(class, Class::Verbatim | Class::Word)).then_some(class)
}

/// A string, a number or a wrapper of extended JSON that has a class.
fn any_literal<'l>(scanner: &mut Scanner<'l>) -> Option<(Class, &'l [u8])> {
    let (class, text) = match scanner.peek()? {
        b'"' => {
            let text = scanner.string()?;
            (literal::of_text(text), text.raw)
        }
        b'-' | b'0'..=b'9' => {
            let text = scanner.number()?;
            (literal::of_number(text), text)
        }
        b'{' => wrapped(scanner)?,
        _ if scanner.spelling == Spelling::Legacy => called(scanner)?,
        _ => return None,
    };
    Some((known(class)?, text))
}

/// `ObjectId('…')`, `new Date(…)`, `UUID("…")`, `NumberDecimal("…")`.
fn called<'l>(scanner: &mut Scanner<'l>) -> Option<(Class, &'l [u8])> {
    let rest = &scanner.line[scanner.at..];
    let (class, before, behind) = match rest.first()? {
        b'O' => (Class::ObjectId, &b"ObjectId('"[..], &b"')"[..]),
        b'n' => (Class::Date, &b"new Date("[..], &b")"[..]),
        b'U' => (Class::Uuid, &b"UUID(\""[..], &b"\")"[..]),
        b'N' => (Class::Decimal, &b"NumberDecimal(\""[..], &b"\")"[..]),
        _ => return None,
    };
    let inner = rest.strip_prefix(before)?;
    let length = match class {
        Class::ObjectId => 24,
        Class::Uuid => 36,
        _ => inner.iter().position(|byte| *byte == behind[0])?,
    };
    let (text, end) = inner.split_at_checked(length)?;
    let is_usual = match class {
        Class::Date => literal::is_time(text),
        Class::Decimal => literal::is_decimal(text),
        _ => literal::is_wrapped(class, text),
    };
    (is_usual && end.starts_with(behind)).then_some(())?;
    scanner.at += before.len() + length + behind.len();
    Some((class, text))
}

/// A wrapper of extended JSON with a text in it.
fn wrapped<'l>(scanner: &mut Scanner<'l>) -> Option<(Class, &'l [u8])> {
    let rest = &scanner.line[scanner.at..];
    for (spelled, length, class) in [
        (&b"{\"$oid\":\""[..], 24, Class::ObjectId),
        (b"{\"$date\":\"", 24, Class::Date),
        (b"{\"$uuid\":\"", 36, Class::Uuid),
    ] {
        let Some(text) = rest.strip_prefix(spelled).and_then(|rest| rest.get(..length)) else { continue };
        if rest[spelled.len() + length..].starts_with(b"\"}") && literal::is_wrapped(class, text) {
            scanner.at += spelled.len() + length + 2;
            return Some((class, text));
        }
    }
    spelled_otherwise(scanner)
}

/// A wrapper with blanks in it, or of another length.
fn spelled_otherwise<'l>(scanner: &mut Scanner<'l>) -> Option<(Class, &'l [u8])> {
    scanner.take(b'{')?;
    let is_operator = scanner.peek()? == b'"' && scanner.line.get(scanner.at + 1) == Some(&b'$');
    is_operator.then_some(())?;
    let name = scanner.name()?;
    let text = string(scanner)?;
    scanner.take(b'}')?;
    Some((literal::of_wrapper(name, text)?, text))
}

/// `{"$regularExpression": {"pattern": …, "options": …}}`, in this order.
fn regex_of_json<'l>(scanner: &mut Scanner<'l>) -> Option<(&'l [u8], &'l [u8])> {
    scanner.take(b'{')?;
    (scanner.name()? == b"$regularExpression").then_some(())?;
    scanner.take(b'{')?;
    (scanner.name()? == b"pattern").then_some(())?;
    let pattern = plain(scanner)?;
    scanner.take(b',')?;
    (scanner.name()? == b"options").then_some(())?;
    let options = plain(scanner)?;
    scanner.take(b'}')?;
    scanner.take(b'}')?;
    Some((pattern, options))
}

/// `/^a/i`
fn regex_between_slashes<'l>(scanner: &mut Scanner<'l>) -> Option<(&'l [u8], &'l [u8])> {
    let start = scanner.at;
    (*scanner.line.get(start)? == b'/').then_some(())?;
    scanner.at = spelling::end_of_regex(scanner.line, start)?;
    let text = &scanner.line[start + 1..scanner.at];
    let slash = memchr::memchr(b'/', text)?;
    Some((&text[..slash], &text[slash + 1..]))
}

/// A regular expression, its options with it.
fn regex<'l>(scanner: &mut Scanner<'l>) -> Option<Filling<'l>> {
    let start = {
        scanner.peek()?;
        scanner.at
    };
    let (pattern, options) = match scanner.spelling {
        Spelling::Json => regex_of_json(scanner)?,
        Spelling::Legacy => regex_between_slashes(scanner)?,
    };
    let class = known(literal::of_regex(pattern))?;
    // Options are a few letters.
    let packed = match *options {
        [] => 0,
        [a] => u32::from(a),
        [a, b] => u32::from(a) | u32::from(b) << 8,
        [a, b, c] => u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16,
        _ => return None,
    };
    let text = &scanner.line[start..scanner.at];
    Some(Filling { outcome: packed << 8 | class as u32, side: 0, class, text, count: 0 })
}

/// Members of a list, all of one class. Of so many members at most, the types of the values are counted.
fn list<'l>(scanner: &mut Scanner<'l>, distinct: &mut Distinct) -> Option<Filling<'l>> {
    const LONGEST: usize = 1 << 16;
    (scanner.peek()? == b'[').then_some(())?;
    let start = scanner.at;
    scanner.at += 1;
    let mut texts = SmallVec::<[&[u8]; 32]>::new();
    let mut common = None;
    loop {
        let (class, text) = any_literal(scanner)?;
        (*common.get_or_insert(class) == class && texts.len() < LONGEST).then_some(())?;
        texts.push(text);
        if !scanner.goes_on(b']')? {
            break;
        }
    }
    let class = common?;
    let count = distinct.count(class, &texts)?;
    let side = texts.len().min(17) as u8;
    Some(Filling { outcome: class as u32, side, class: Class::List, text: &scanner.line[start..scanner.at], count })
}
