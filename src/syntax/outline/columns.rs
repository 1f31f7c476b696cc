//! The columns of a line of the text log as almost all lines have them: stamp, severity and component, thread; and the items
//! behind them that have no document's syntax. What is read here is read in the same way by `legacy/header.rs` and
//! `legacy/items.rs`; lines with other columns are left to them.

use memchr::{memchr2, memmem};

use super::literal;
use crate::syntax::legacy::OPERATIONS;
use crate::syntax::scanner::{Scanner, behind_blanks, behind_digits};

/// Takes a stamp with a year, `2014-04-09T23:16:20.596-0400`, or one without, of which the text that is told is empty.
pub(in crate::syntax) fn stamp<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let rest = &scanner.line[scanner.at..];
    if !rest.first()?.is_ascii_digit() {
        scanner.at += ctime(rest)?;
        return Some(&rest[..0]);
    }
    let length = if *rest.get(23)? == b'Z' { 24 } else { 28 };
    let text = rest.get(..length).filter(|text| literal::is_stamp(text))?;
    scanner.at += length;
    Some(text)
}

/// The length of `Mon Aug  5 20:21:43.123`, with which a text begins.
fn ctime(text: &[u8]) -> Option<usize> {
    const DAYS: &[u8] = b"MonTueWedThuFriSatSun";
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    const FORM: &[u8] = b"??? ??? ?0 00:00:00";
    const MILLIS: &[u8] = b".000";
    let stamp = text.get(..FORM.len())?;
    let is_one_of = |name: &[u8], names: &[u8]| names.chunks(3).any(|known| known == name);
    let fits = |byte: &u8, form: &u8| match form {
        b'?' => true,
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    let follows = |text: &[u8], form: &[u8]| text.iter().zip(form).all(|(byte, form)| fits(byte, form));
    let is_stamp = is_one_of(&stamp[..3], DAYS)
        && is_one_of(&stamp[4..7], MONTHS)
        && (stamp[8] == b' ' || stamp[8].is_ascii_digit())
        && follows(stamp, FORM);
    let has_millis = text.get(FORM.len()..FORM.len() + MILLIS.len()).is_some_and(|rest| follows(rest, MILLIS));
    is_stamp.then(|| FORM.len() + if has_millis { MILLIS.len() } else { 0 })
}

/// Takes severity and component up to the thread, if the line has them; the blank behind the stamp too.
pub(in crate::syntax) fn severity(scanner: &mut Scanner<'_>) -> Option<()> {
    let line = scanner.line;
    (*line.get(scanner.at)? == b' ').then_some(())?;
    let mut at = scanner.at + 1;
    if *line.get(at)? != b'[' {
        matches!(line[at], b'D' | b'I' | b'W' | b'E' | b'F' | b'U').then_some(())?;
        at += 1 + usize::from(matches!(line.get(at + 1), Some(b'1'..=b'5')));
        at = behind_some(line, at, |byte| byte == b' ')?;
        at = match *line.get(at)? {
            b'-' => at + 1,
            byte if byte.is_ascii_uppercase() => {
                behind_some(line, at, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')?
            }
            _ => return None,
        };
        at = behind_some(line, at, |byte| byte == b' ')?;
        (line.get(at) == Some(&b'[')).then_some(())?;
    }
    scanner.at = at;
    Some(())
}

/// Behind the bytes of that kind, of which there must be one at least.
fn behind_some(line: &[u8], at: usize, is_such: impl Fn(u8) -> bool) -> Option<usize> {
    let count = line.get(at..)?.iter().take_while(|byte| is_such(**byte)).count();
    (count > 0).then_some(at + count)
}

/// Takes `[conn123]`; the name, in which no brackets are.
pub(in crate::syntax) fn thread<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let rest = scanner.line[scanner.at..].strip_prefix(b"[")?;
    let end = rest.iter().position(|byte| matches!(byte, b'[' | b']' | b'{' | b'"'))?;
    (rest[end] == b']').then_some(())?;
    scanner.at += end + 2;
    Some(&rest[..end])
}

/// Takes the operation and the blank behind it.
pub(super) fn operation<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let rest = &scanner.line[scanner.at..];
    let found = OPERATIONS.iter().find(|name| rest.starts_with(name.as_bytes()))?;
    (rest.get(found.len()) == Some(&b' ')).then_some(())?;
    scanner.at += found.len() + 1;
    Some(&rest[..found.len()])
}

/// Takes the namespace, which the first item follows.
pub(super) fn namespace<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let line = scanner.line;
    let start = scanner.at;
    let end = behind_some(line, start, |byte| !matches!(byte, b' ' | b':' | b'"' | b'{'))?;
    let is_name = *line.get(end)? == b' ' && !begins_locks(&line[start..]);
    let is_last = end_of_label(line, end + 1).is_some() || begins_locks(&line[end + 1..]);
    (is_name && is_last).then_some(())?;
    scanner.at = end;
    Some(&line[start..end])
}

/// Whether it is the mark of 2.4 before the items that tell how long locks were held.
fn begins_locks(text: &[u8]) -> bool {
    text.starts_with(b"locks(micros)")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The colon behind a label that begins at `at`.
fn end_of_label(line: &[u8], at: usize) -> Option<usize> {
    if line.get(at)?.is_ascii_digit() {
        return None;
    }
    let end = behind_some(line, at, is_word)?;
    (line.get(end) == Some(&b':')).then_some(end)
}

/// Takes a label and its colon.
pub(super) fn label<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let start = scanner.at;
    let end = end_of_label(scanner.line, start)?;
    scanner.at = end + 1;
    Some(&scanner.line[start..end])
}

/// Takes a word.
pub(super) fn word(scanner: &mut Scanner<'_>) -> Option<()> {
    scanner.at = behind_some(scanner.line, scanner.at, is_word)?;
    Some(())
}

/// Takes a word that labels nothing.
pub(super) fn unlabelled(scanner: &mut Scanner<'_>) -> Option<()> {
    const MICROS: &[u8] = b"(micros)";
    word(scanner)?;
    let (line, end) = (scanner.line, scanner.at);
    let end = end + if line[end..].starts_with(MICROS) { MICROS.len() } else { 0 };
    (line.get(end) == Some(&b' ')).then_some(())?;
    scanner.at = end;
    Some(())
}

/// Whether how long the operation took is all that is left at `at`: `120ms`.
pub(super) fn is_last(line: &[u8], at: usize) -> bool {
    let end = behind_digits(line, at);
    end > at && line[end..] == *b"ms"
}

/// Takes a text in quotes; another item follows, or the end.
pub(super) fn quoted<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let line = scanner.line;
    let start = scanner.at + 1;
    (*line.get(scanner.at)? == b'"').then_some(())?;
    let end = start + memchr::memchr(b'"', line.get(start..)?)?;
    let next = behind_blanks(line, end + 1);
    let ends = next > end + 1 && (end_of_label(line, next).is_some() || is_last(line, next));
    ends.then_some(())?;
    scanner.at = end + 1;
    Some(&line[start..end])
}

/// Takes the value of an item of which nothing special is known.
pub(super) fn item<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    match scanner.peek()? {
        b'{' | b'[' => scanner.value(),
        b'"' => quoted(scanner),
        _ => {
            let (line, start) = (scanner.line, scanner.at);
            // Most of them are numbers.
            let digits = behind_digits(line, start);
            scanner.at = if *line.get(digits)? == b' ' { digits } else { end_of_word(line, digits)? };
            Some(&line[start..scanner.at])
        }
    }
}

/// The blank behind a word without quotes.
fn end_of_word(line: &[u8], at: usize) -> Option<usize> {
    let end = at + memchr2(b' ', b'"', &line[at..])?;
    (line[end] == b' ').then_some(end)
}

/// Takes a plan: stages, and key patterns behind them.
pub(super) fn plan<'l>(scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
    let line = scanner.line;
    scanner.peek()?;
    let start = scanner.at;
    loop {
        line.get(scanner.at)?.is_ascii_uppercase().then_some(())?;
        let is_stage = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        scanner.at = behind_some(line, scanner.at, is_stage)?;
        if line[scanner.at..].starts_with(b" {") {
            scanner.at += 1;
            scanner.value()?;
        }
        if !line[scanner.at..].starts_with(b", ") {
            return Some(&line[start..scanner.at]);
        }
        scanner.at += 2;
    }
}

/// Whether a record is a line of the text log that tells nothing of a slow operation, and nothing of the process: what is left
/// of it is its being there.
#[must_use]
pub fn is_idle_text(record: &[u8]) -> bool {
    /// What the other lines begin with, behind their columns.
    const TELLING: [&[u8]; 5] =
        [b"***** SERVER RESTARTED", b"db version v", b"mongos db version v", b"options: ", b"warning: log line "];
    // A line of the structured log is told apart at once, and what may be a slow operation.
    if record.first().is_none_or(|first| *first == b'{') || record.ends_with(b"ms") {
        return false;
    }
    let mut scanner = Scanner::of_line(record);
    let columns = |scanner: &mut Scanner<'_>| {
        stamp(scanner)?;
        severity(scanner)?;
        let name = thread(scanner)?;
        (!name.is_empty() && scanner.line.get(scanner.at) == Some(&b' ')).then_some(())
    };
    if columns(&mut scanner).is_none() {
        return false;
    }
    scanner.at += 1;
    let text = &record[scanner.at..];
    let may_tell = matches!(text.first(), Some(b'*' | b'd' | b'm' | b'o' | b'w'));
    if operation(&mut scanner).is_some() || may_tell && TELLING.iter().any(|begin| text.starts_with(begin)) {
        return false;
    }
    // Where a record of the structured log begins within it, that counts.
    match memchr2(b'{', b'\n', text) {
        None => true,
        Some(at) => memchr::memchr(b'\n', text).is_none() && memmem::find(&text[at..], b"\"t\"").is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Fact, Record, read_record};

    const IDLE: [&str; 5] = [
        "2019-06-18T12:02:00.506+0100 I NETWORK  [listener] connection accepted from 10.1.2.3:5 #7 (9 connections now open)",
        "2019-06-18T12:02:00.506Z D2 -        [conn1] ",
        "2014-04-09T23:16:20.596-0400 [initandlisten] MongoDB starting : pid=1 port=27017",
        "Mon Aug  5 20:21:43.123 [conn12] end connection 10.1.2.3:5 (1 connection now open)",
        "2019-06-18T12:02:00.506+0100 I  SHARDING [conn1] moveChunk data transfer progress: { \"state\": \"clone\" }",
    ];

    const OTHERS: [&str; 12] = [
        "",
        "prose",
        "2019-06-18T12:02:00.506+0100 I NETWORK  [] nobody",
        "2019-06-18T12:02:00.506+0100 I CONTROL  [main] ***** SERVER RESTARTED *****",
        "2019-06-18T12:02:00.506+0100 I CONTROL  [main] db version v4.0.10",
        "2019-06-18T12:02:00.506+0100 I CONTROL  [main] options: { sharding: { clusterRole: \"shardsvr\" } }",
        "2019-06-18T12:02:00.506+0100 I CONTROL  [mongosMain] mongos db version v3.6.0",
        "2019-06-18T12:02:00.506+0100 I COMMAND  [conn1] command shop.orders command: find { find: \"orders\" } 120ms",
        "2019-06-18T12:02:00.506+0100 I COMMAND  [conn1] warning: log line attempted (54k) over max size (10k), printing",
        "2019-06-18T12:02:00.506+0100 I COMMAND  [conn1] {\"t\":{\"$date\":\"2024-05-14T09:12:03.481Z\"}}",
        "2019-13-18T12:02:00.506+0100 I NETWORK  [listener] connection accepted",
        "Aug  5 20:21:43 host1 mongod[7]: [conn1] end connection",
    ];

    #[test]
    fn a_line_that_is_passed_over_is_one_that_tells_nothing() {
        for line in IDLE {
            assert!(is_idle_text(line.as_bytes()), "{line}");
            assert!(matches!(read_record(line.as_bytes()), Record::Other(Fact::Plain)), "{line}");
        }
        for line in OTHERS {
            assert!(!is_idle_text(line.as_bytes()), "{line}");
        }
    }
}
