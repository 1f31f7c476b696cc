//! Which lines have to be read at all. Servers begin each record of the structured log in the same way, so its id is found
//! with a few comparisons, and most ids tell nothing that matters here. In lines that begin in another way every id that
//! matters is searched for, wherever it stands, so that the order of members and the spelling of blanks do not matter.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::bytes::Regex;
use wide::u8x16;

/// What a line is, as far as its ends tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// A record of the structured log, of which nothing matters here.
    Idle,
    /// A record of the structured log that has to be read. It tells nothing of the process.
    Telling,
    /// One that tells of the process, a line of another kind, or a part of something.
    Other,
}

/// What `line` is, its line end excluded.
#[must_use]
#[inline]
pub fn heading(line: &[u8]) -> Heading {
    match id(line).filter(|_| line.last() == Some(&b'}')) {
        // "Slow query", and messages on chunks that do not move (`structured/trouble.rs`).
        Some(51_803 | 21_871..=21_874) => Heading::Telling,
        Some(22_080) if tells_of_failed_migration(line) => Heading::Telling,
        // "Build Info", "Options set by command line", "SERVER RESTARTED".
        Some(23_403 | 21_951 | 20_698) | None => Heading::Other,
        Some(_) => Heading::Idle,
    }
}

fn tells_of_failed_migration(line: &[u8]) -> bool {
    static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("moveChunk.error"));
    ERROR.find(line).is_some()
}

/// Whether a line is a record of the structured log of which nothing matters here.
#[must_use]
pub fn is_idle(line: &[u8]) -> bool {
    static IDS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"51803|23403|21951|20698|2187|moveChunk\.error").expect("the pattern is a constant and valid")
    });
    match heading(line) {
        Heading::Idle => true,
        Heading::Telling => false,
        Heading::Other => is_whole(line) && !IDS.is_match(line),
    }
}

/// Whether a line begins and ends as a record of the structured log does.
#[must_use]
pub fn is_whole(line: &[u8]) -> bool {
    let begins = line.starts_with(b"{\"t\":") || line.starts_with(br#"{"log":"{\"t\":"#);
    begins && line.ends_with(b"}")
}

/// The id of a line that begins as servers write it, where members stand in columns:
/// `{"t":{"$date":"2026-11-30T08:17:00.824+00:00"},"s":"I",  "c":"COMMAND",  "id":51803,`
#[inline(always)]
fn id(line: &[u8]) -> Option<u32> {
    const STAMP: usize = b"{'t':{'$date':'2026-11-30T08:17:00.824".len();
    const COLUMNS: usize = b"'},'s':'I',  'c':'COMMAND',  'id':12345678,".len();
    let columns: &[u8; STAMP + b"+00:00".len() + COLUMNS] = line.first_chunk()?;
    let is_stamp = word(columns, 0) == u64::from_le_bytes(*b"{\"t\":{\"$")
        && word(columns, 7) == u64::from_le_bytes(*b"$date\":\"")
        && (columns[19], columns[25], columns[28], columns[34]) == (b'-', b'T', b':', b'.');
    let zone = if columns[STAMP] == b'Z' { 1 } else { b"+00:00".len() };
    let columns: &[u8; COLUMNS] = columns[STAMP + zone..].first_chunk()?;
    let component: &[u8; 16] = columns[18..].first_chunk()?;
    let begins = is_stamp
        && word(columns, 0) == u64::from_le_bytes(*b"\"},\"s\":\"")
        && is_severity(word(columns, 8))
        && columns[16..18] == *b":\""
        && is_component(*component);
    begins.then(|| number(word(columns, 34), columns[42]))?
}

/// Eight bytes, of which the first one is the lowest.
#[inline]
fn word<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("there are as many behind every column that is looked at"))
}

/// Whether it is a severity, the rest of its column and the beginning of the next name: `I",  "c"`, `D1", "c"`
#[inline]
fn is_severity(text: u64) -> bool {
    const LETTER: u64 = u64::from_le_bytes(*b"\0\",  \"c\"");
    const DEBUG: u64 = u64::from_le_bytes(*b"D\0\", \"c\"");
    let [letter, level, ..] = text.to_le_bytes();
    let is_letter = text ^ u64::from(letter) == LETTER && letter.is_ascii_uppercase();
    is_letter || text ^ u64::from(level) << 8 == DEBUG && level.is_ascii_digit()
}

/// The number that the digits before a comma are; `next` is the byte behind the eight.
#[inline(always)]
fn number(text: u64, next: u8) -> Option<u32> {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let digits = text ^ (b'0' as u64 * EACH);
    // The first byte above 9 gets its highest bit; what is behind it does not matter.
    let others = (digits | digits.wrapping_add(0x76 * EACH)) & (0x80 * EACH);
    let count = others.trailing_zeros() / 8;
    let behind = if count == 8 { next } else { text.to_le_bytes()[count as usize] };
    if count == 0 || behind != b',' {
        return None;
    }
    // With zeros before them; then two, four and eight of them are put together.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) as u32)
}

/// Whether it is a string without escapes, the comma and blanks behind it, and the name of the id: `COMMAND",  "id":`
#[inline(always)]
fn is_component(text: [u8; 16]) -> bool {
    const ID: &[u8; 5] = b"\"id\":";
    if text.last_chunk() != Some(ID) {
        return false;
    }
    let bytes = u8x16::new(text);
    let are = |byte: u8| bytes.cmp_eq(u8x16::splat(byte)).move_mask().cast_unsigned();
    let (quotes, blanks) = (are(b'"'), are(b' '));
    let end = quotes.trailing_zeros();
    let column = text.len() - ID.len();
    let between: u32 = ((1 << column) - 1) & !((4 << end) - 1);
    quotes == 1 << end | 0b1001 << column
        && are(b'\\') == 0
        && text.get(end as usize + 1) == Some(&b',')
        && blanks & between == between
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of that id, with `rest` behind it.
    fn record(id: &str, rest: &str) -> String {
        format!(r#"{{"t":{{"$date":"2026-11-30T08:17:00.824+00:00"}},"s":"D1", "c":"SH_REFR",  "id":{id},   {rest}}}"#)
    }

    #[test]
    fn the_id_decides_where_a_record_begins_as_servers_write_it() {
        for (id, expected) in [
            ("51803", Heading::Telling),
            ("21873", Heading::Telling),
            ("22943", Heading::Idle),
            ("4619903", Heading::Idle),
            ("7", Heading::Idle),
            ("22080", Heading::Idle),
            ("23403", Heading::Other),
            ("20698", Heading::Other),
        ] {
            let line = record(id, r#""ctx":"a","msg":"51803 23403","attr":{"id":21951}"#);
            assert_eq!(heading(line.as_bytes()), expected, "{id}");
            assert_eq!(is_idle(line.as_bytes()), expected == Heading::Idle, "{id}");
            let utc = line.replace("+00:00", "Z");
            assert_eq!(heading(utc.as_bytes()), expected, "{utc}");
            assert_eq!(heading(&line.as_bytes()[..line.len() - 2]), Heading::Other, "cut");
        }
        let failed = record("22080", r#""attr":{"event":{"what":"moveChunk.error"}}"#);
        assert_eq!(heading(failed.as_bytes()), Heading::Telling);
    }

    #[test]
    fn each_component_and_severity_stands_in_the_same_columns() {
        for start in [
            r#""s":"I",  "c":"-",        "id":"#,
            r#""s":"F",  "c":"SHARDING", "id":"#,
            r#""s":"D2", "c":"SH_REFR",  "id":"#,
        ] {
            let line = format!(r#"{{"t":{{"$date":"2026-11-30T08:17:00.824-03:30"}},{start}4333211, "ctx":"a"}}"#);
            assert_eq!(id(line.as_bytes()), Some(4_333_211), "{line}");
        }
        for component in [
            r#"a\",       "id":"#,
            r#"a","b":{   "id":"#,
            r#"COMMAND",x "id":"#,
            r#"COMMAND"   "id":"#,
            r#""id":"id", "id":"#,
            r"COMMAND and more",
        ] {
            let text = *component.as_bytes().first_chunk().expect("long enough");
            assert!(!is_component(text), "{component}");
        }
    }

    #[test]
    fn ids_are_searched_for_in_records_that_begin_in_another_way() {
        for line in [
            r#"{"t":{"$date":"2026-11-30T08:17:00.824Z"},"c":"COMMAND","s":"I","id":51803,"msg":"Slow query"}"#,
            r#"{"t": {"$date": "2026-11-30T08:17:00.824Z"}, "s": "I", "c": "COMMAND", "id": 51803, "msg": "Slow query"}"#,
            r#"{"t":{"$date":"2026"},"id":22943,"u":"000Z"},"s":"I","c":"COMMAND","id":51803,"msg":"Slow query"}"#,
            r#"{"t":{"$date":"2026-11-30T08:17:00.824Z"},"s":"I","c":{"id":22943,"a":"I"},"id":51803,"msg":"Slow query"}"#,
            r#"{"log":"{\"t\":{\"$date\":\"2026-11-30T08:17:00.824Z\"},\"s\":\"I\",\"c\":\"COMMAND\",\"id\":51803}"}"#,
        ] {
            assert_eq!(heading(line.as_bytes()), Heading::Other, "{line}");
            assert!(!is_idle(line.as_bytes()), "{line}");
            let other = line.replace("51803", "22944");
            assert_eq!(is_idle(other.as_bytes()), is_whole(line.as_bytes()), "{other}");
        }
        assert!(!is_idle(b"2026-11-30T08:17:00.824+0000 I COMMAND [conn1] 51803"));
    }

    #[test]
    fn a_heading_cut_anywhere_is_no_heading() {
        let line = record("22943", r#""ctx":"a""#);
        for end in 0..line.find("22943").expect("it is there") + 5 {
            assert_eq!(id(&line.as_bytes()[..end]), None, "{}", &line[..end]);
        }
    }
}
