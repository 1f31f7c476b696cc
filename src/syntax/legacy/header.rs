//! The columns in front of a legacy line's text: what syslog or a container put there, stamp, severity, component, thread.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while_m_n, take_while1};
use nom::character::complete::{char, digit1, satisfy};
use nom::combinator::{eof, not, opt, peek, recognize};
use nom::{Input, Parser};

use crate::syntax::outline::columns;
use crate::syntax::scanner::Scanner;
use crate::syntax::shell::{Step, Text, refuse};

use super::document::{blanks, group};

/// The columns of one line.
#[derive(Debug, Clone, Default)]
pub(super) struct Header<'a> {
    /// When it was written, in milliseconds since 1970. A stamp without a year tells no time.
    pub(super) time_millis: Option<i64>,
    /// The thread.
    pub(super) context: &'a str,
}

/// Reads the columns; the text is left.
pub(super) fn header(input: Text<'_>) -> Step<'_, Header<'_>> {
    if let Some(read) = usual(input) {
        return Ok(read);
    }
    let (input, _) = blanks(input)?;
    behind_known(input).or_else(|_| behind_others(input))
}

/// The columns that most lines have, looked at only once.
fn usual(input: Text<'_>) -> Option<(Text<'_>, Header<'_>)> {
    let line = input.into_fragment();
    let mut scanner = Scanner::of_line(line.as_bytes());
    let time = std::str::from_utf8(columns::stamp(&mut scanner)?).ok()?;
    columns::severity(&mut scanner)?;
    let context = std::str::from_utf8(columns::thread(&mut scanner)?).ok()?;
    (line.as_bytes().get(scanner.at) == Some(&b' ')).then_some(())?;
    let time_millis = time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    Some((input.take_from(scanner.at + 1), Header { time_millis, context }))
}

/// Columns as they are known, or none.
fn behind_known(input: Text<'_>) -> Step<'_, Header<'_>> {
    if let Ok((rest, ())) = syslog(input).or_else(|_| compose(input)).or_else(|_| kubernetes(input)) {
        return stamped(rest).or_else(|_| bare(rest));
    }
    if let Ok((rest, header)) = stamped_twice(input) {
        return Ok((rest, header));
    }
    let (rest, header) = stamped(input)?;
    // Newer syslogs begin with a stamp that looks like the server's own.
    if let Ok((after, ())) = iso_syslog(input) {
        return stamped(after).or_else(|_| {
            let (after, bare) = bare(after)?;
            Ok((after, Header { time_millis: header.time_millis, ..bare }))
        });
    }
    Ok((rest, header))
}

/// A line that begins with a stamp.
fn stamped(input: Text<'_>) -> Step<'_, Header<'_>> {
    let (rest, time_millis) = stamp(input)?;
    let (rest, context) = severity_and_thread(rest)?;
    Ok((rest, Header { time_millis, context: context.unwrap_or_default() }))
}

/// A stamp of either kind and what parts it from the rest.
fn stamp(input: Text<'_>) -> Step<'_, Option<i64>> {
    let (rest, time_millis) = ctime(input).map(|(rest, ())| (rest, None)).or_else(|_| iso(input))?;
    let (rest, _) = alt((tag(" "), eof)).parse(rest)?;
    Ok((rest, time_millis))
}

/// `kubectl logs --timestamps` puts a stamp in front of the server's own.
fn stamped_twice(input: Text<'_>) -> Step<'_, Header<'_>> {
    let (rest, outer) = iso(input)?;
    let (rest, _) = char(' ').parse(rest)?;
    let (rest, header) = stamped(rest)?;
    Ok((rest, Header { time_millis: header.time_millis.or(outer), ..header }))
}

/// Columns that nobody knows, such as `[pod/mongo-0/mongod] `, up to the first stamp and thread behind a blank. Where a
/// document or a string has begun there are none.
fn behind_others(input: Text<'_>) -> Step<'_, Header<'_>> {
    let columns = input.find(['{', '"']).unwrap_or(input.len());
    let begins_stamp = |at: &usize| input[at + 1..].starts_with(|c: char| c.is_ascii_digit() || "MTWFS".contains(c));
    for at in input[..columns].match_indices(' ').map(|(at, _)| at).filter(begins_stamp) {
        let Ok((rest, time_millis)) = stamp(input.take_from(at + 1)) else { continue };
        if let Ok((rest, header)) = bare(rest) {
            return Ok((rest, Header { time_millis, ..header }));
        }
    }
    refuse(input, "a stamp and a thread's name")
}

/// A line whose stamp was left to syslog: it begins with the thread at least.
fn bare(input: Text<'_>) -> Step<'_, Header<'_>> {
    match severity_and_thread(input)? {
        (rest, Some(context)) => Ok((rest, Header { time_millis: None, context })),
        (_, None) => refuse(input, "a thread's name in brackets"),
    }
}

/// Severity and component, both or neither, and the thread's name if it has one.
fn severity_and_thread(input: Text<'_>) -> Step<'_, Option<&str>> {
    let (rest, _) = opt(severity).parse(input)?;
    let (rest, context) = opt(context).parse(rest)?;
    Ok((rest, context))
}

/// `I COMMAND  `, of 4.2 `I  COMMAND  `, of debug messages `D2 -        `
fn severity(input: Text<'_>) -> Step<'_, ()> {
    let level = take_while_m_n(0, 1, |c: char| ('1'..='5').contains(&c));
    let component = alt((tag("-"), recognize((satisfy(|c| c.is_ascii_uppercase()), take_while(is_component)))));
    let (rest, _) = (satisfy(|c| "DIWEFU".contains(c)), level, gap, component, gap).parse(input)?;
    let (_, _) = peek(char('[')).parse(rest)?;
    Ok((rest, ()))
}

fn is_component(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

/// `[conn123] `; a name may hold brackets.
fn context(input: Text<'_>) -> Step<'_, &str> {
    let (rest, name) = group(input, b"[", b"]")?;
    let (rest, _) = alt((tag(" "), eof)).parse(rest)?;
    Ok((rest, &name[1..name.len() - 1]))
}

/// `Mon Aug  5 20:21:43.123`
fn ctime(input: Text<'_>) -> Step<'_, ()> {
    let (rest, _) = (day_name, char(' '), date_and_time, opt((char('.'), digits(3)))).parse(input)?;
    Ok((rest, ()))
}

/// `Aug  5 20:21:43`
fn date_and_time(input: Text<'_>) -> Step<'_, ()> {
    let day = alt((recognize((char(' '), digits(1))), digits(2)));
    let time = (digits(2), char(':'), digits(2), char(':'), digits(2));
    let (rest, _) = (month_name, char(' '), day, char(' '), time).parse(input)?;
    Ok((rest, ()))
}

fn day_name(input: Text<'_>) -> Step<'_, Text<'_>> {
    alt((tag("Mon"), tag("Tue"), tag("Wed"), tag("Thu"), tag("Fri"), tag("Sat"), tag("Sun"))).parse(input)
}

fn month_name(input: Text<'_>) -> Step<'_, Text<'_>> {
    let first = alt((tag("Jan"), tag("Feb"), tag("Mar"), tag("Apr"), tag("May"), tag("Jun")));
    let second = alt((tag("Jul"), tag("Aug"), tag("Sep"), tag("Oct"), tag("Nov"), tag("Dec")));
    alt((first, second)).parse(input)
}

/// `2014-04-09T23:16:20.596-0400`
fn iso(input: Text<'_>) -> Step<'_, Option<i64>> {
    let date = (digits(4), char('-'), digits(2), char('-'), digits(2));
    let time = (digits(2), char(':'), digits(2), char(':'), digits(2), char('.'));
    let fraction = take_while_m_n(3, 9, |c: char| c.is_ascii_digit());
    let offset = (alt((char('+'), char('-'))), digits(2), opt(char(':')), digits(2));
    let offset = alt((tag("Z"), recognize(offset)));
    let (rest, stamp) = recognize((date, char('T'), time, fraction, offset)).parse(input)?;
    let time = stamp.parse::<jiff::Timestamp>().ok();
    Ok((rest, time.map(jiff::Timestamp::as_millisecond)))
}

/// `Aug  5 20:21:43 host1 mongod.27017[771]: `
fn syslog(input: Text<'_>) -> Step<'_, ()> {
    let (rest, _) = (date_and_time, char(' ')).parse(input)?;
    process(rest)
}

/// `2021-11-13T13:16:20.693512+01:00 host1 mongod[771]: `
fn iso_syslog(input: Text<'_>) -> Step<'_, ()> {
    let (rest, _) = (iso, char(' '), not(char('[')), not(severity)).parse(input)?;
    process(rest)
}

/// `host1 mongod.27017[771]: `
fn process(input: Text<'_>) -> Step<'_, ()> {
    let host = take_while1(|c: char| c != ' ' && c != '[');
    let program = take_while1(|c: char| c != ' ' && c != '[' && c != ':');
    let pid = (char('['), digit1, char(']'));
    let (rest, _) = (host, char(' '), program, pid, tag(": ")).parse(input)?;
    Ok((rest, ()))
}

/// `mongodb_1  | `
fn compose(input: Text<'_>) -> Step<'_, ()> {
    let name = take_while1(|c: char| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let (rest, _) = (name, blanks, tag("| ")).parse(input)?;
    Ok((rest, ()))
}

/// `2026-11-30T08:17:00.824513Z stdout F `
fn kubernetes(input: Text<'_>) -> Step<'_, ()> {
    let stream = alt((tag(" stdout "), tag(" stderr ")));
    let (rest, _) = (iso, stream, alt((char('F'), char('P'))), char(' ')).parse(input)?;
    Ok((rest, ()))
}

fn gap(input: Text<'_>) -> Step<'_, Text<'_>> {
    take_while1(|c| c == ' ')(input)
}

fn digits<'a>(count: usize) -> impl FnMut(Text<'a>) -> Step<'a, Text<'a>> {
    move |input| take_while_m_n(count, count, |c: char| c.is_ascii_digit())(input)
}
