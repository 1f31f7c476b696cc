//! Where names and values end in documents as servers up to 4.2 print them, found in one pass that builds nothing. It takes
//! less than `document.rs`: only what has one reading, and the same one there. Strings end at their first quote, and what
//! follows has to go on as a document does; names stand without quotes; code, what the server cut and values in unusual
//! spellings end the walk with `None`, and the line is left to the full reader.

use memchr::{memchr, memchr2};
use wide::u8x16;

use crate::syntax::scanner::{behind_blanks, behind_digits, end_of_number, end_of_parts};

/// The colon behind the name that begins at `at`; a blank follows on it.
#[inline]
pub(in crate::syntax) fn end_of_name(line: &[u8], at: usize) -> Option<usize> {
    let end = at + colon(line.get(at..)?)?;
    (end > at && line.get(end + 1) == Some(&b' ')).then_some(end)
}

/// The first colon; what cannot stand in a name must not stand before it.
#[inline]
fn colon(text: &[u8]) -> Option<usize> {
    // Most names are short: sixteen bytes are looked at at once.
    let Some(first) = text.first_chunk::<16>() else { return far_colon(text) };
    let bytes = u8x16::new(*first);
    let is = |byte: u8| bytes.cmp_eq(u8x16::splat(byte));
    let ends = is(b':') | is(b'"') | is(b',') | is(b'{') | is(b'}');
    match ends.move_mask() {
        0 => far_colon(text),
        found => {
            let end = found.trailing_zeros() as usize;
            (text[end] == b':').then_some(end)
        }
    }
}

#[inline(never)]
fn far_colon(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(|byte| matches!(byte, b':' | b'"' | b',' | b'{' | b'}'))?;
    (text[end] == b':').then_some(end)
}

/// The quote that ends a string, of which `run` is the first quote or backslash: nothing is escaped.
#[inline]
pub(in crate::syntax) fn end_of_string(line: &[u8], start: usize, run: usize) -> Option<usize> {
    let end = if line[run] == b'"' { run } else { run + memchr(b'"', &line[run..])? };
    // What the server cut is not what it was.
    (!line[start..end].ends_with(b"...")).then_some(end)
}

/// Where the value ends that begins at `at`.
pub(in crate::syntax) fn end_of_value(line: &[u8], at: usize) -> Option<usize> {
    end_of_parts(line, at, end_of_simple, behind_name)
}

#[inline]
fn behind_name(line: &[u8], at: usize) -> Option<usize> {
    Some(behind_blanks(line, end_of_name(line, at)? + 1))
}

/// Where a value ends that has no parts.
#[inline]
pub(super) fn end_of_simple(line: &[u8], at: usize, first: u8) -> Option<usize> {
    match first {
        b'0'..=b'9' | b'-' => end_of_number(line, at),
        b'"' => {
            let run = at + 1 + memchr2(b'"', b'\\', &line[at + 1..])?;
            Some(end_of_string(line, at + 1, run)? + 1)
        }
        b'/' => end_of_regex(line, at),
        _ => end_of_word(line, at).or_else(|| end_of_call(line, at)).or_else(|| end_of_stamp(line, at)),
    }
}

/// `/^a/i`, without slashes or quotes in it.
pub(in crate::syntax) fn end_of_regex(line: &[u8], at: usize) -> Option<usize> {
    let slash = at + 1 + memchr2(b'/', b'"', line.get(at + 1..)?)?;
    (line[slash] == b'/').then_some(())?;
    let options = line[slash + 1..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    Some(slash + 1 + options)
}

fn end_of_word(line: &[u8], at: usize) -> Option<usize> {
    const WORDS: [&[u8]; 6] = [b"true", b"false", b"null", b"undefined", b"MinKey", b"MaxKey"];
    let word = WORDS.iter().find(|word| line[at..].starts_with(word))?;
    let end = at + word.len();
    let goes_on = line.get(end).is_some_and(u8::is_ascii_alphabetic);
    (!goes_on).then_some(end)
}

/// `ObjectId('…')`, `new Date(…)`: a type and something in parentheses, with no others in it.
fn end_of_call(line: &[u8], at: usize) -> Option<usize> {
    const TYPES: [&[u8]; 10] = [
        b"ObjectId(",
        b"new Date(",
        b"Timestamp(",
        b"BinData(",
        b"UUID(",
        b"ISODate(",
        b"NumberLong(",
        b"NumberInt(",
        b"NumberDecimal(",
        b"HexData(",
    ];
    let name = TYPES.iter().find(|name| line[at..].starts_with(name))?;
    let start = at + name.len();
    let end = start + memchr(b')', &line[start..])?;
    memchr2(b'(', b'{', &line[start..end]).is_none().then_some(end + 1)
}

/// `Timestamp 1450975902000|10`, as before 3.6.
fn end_of_stamp(line: &[u8], at: usize) -> Option<usize> {
    const NAME: &[u8] = b"Timestamp ";
    let digits = |from: usize| Some(behind_digits(line, from)).filter(|end| *end > from);
    line[at..].starts_with(NAME).then_some(())?;
    let bar = digits(at + NAME.len())?;
    (line.get(bar) == Some(&b'|')).then_some(())?;
    digits(bar + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Value;
    use crate::syntax::legacy::document::{self, Reading};
    use crate::syntax::legacy::plain;
    use crate::syntax::shell::Text;

    const READ: [&str; 13] = [
        "{}",
        "{ a: 1 }",
        "{ a.b: -1.5, c d: \"x\", é: null }",
        "{ a: [ 1, \"x\", { b: [] } ], b: { c: {} } }",
        "{ a: \"c:\\temp\\\", b: \"\" }",
        "{ a: ObjectId('6b0d36d1f6ae615295ebb65e'), b: new Date(1796026781000) }",
        "{ a: UUID(\"0aaaaaaa-0000-4000-8000-000000000001\"), b: BinData(0, 0AFF) }",
        "{ a: Timestamp(5, 6), b: Timestamp 1450975902000|10 }",
        "{ a: /^a(b|c)/i, b: MinKey, c: MaxKey, d: undefined, e: true, f: false }",
        "[ 1,2 ]",
        "\"a, b: c } d\"",
        "5",
        "new Date(-5)",
    ];

    #[test]
    fn what_is_stepped_over_is_all_that_the_full_reader_reads() {
        for text in READ {
            assert_eq!(end_of_value(text.as_bytes(), 0), Some(text.len()), "{text}");
            let outer = format!("{{ x: {text} }}");
            assert_eq!(end_of_value(outer.as_bytes(), 0), Some(outer.len()), "{outer}");
            assert!(crate::syntax::legacy::whole_document(&outer).is_some(), "{outer}");
        }
    }

    #[test]
    fn what_is_read_in_one_pass_is_what_is_read_otherwise() {
        for text in READ {
            let text = format!("{{ x: {text}, y: [ {text} ] }}");
            let (plain, length) = plain::read(&text, 7).unwrap_or_else(|| panic!("{text}"));
            // Inside of others documents are read in the other way.
            let (rest, full) = document::document(Text::new_extra(&text, 7), &Reading::default(), 1)
                .unwrap_or_else(|_| panic!("{text}"));
            assert_eq!((format!("{plain:?}"), length), (format!("{full:?}"), text.len() - rest.len()), "{text}");
        }
    }

    #[test]
    fn an_item_of_a_list_is_read_as_in_the_whole_list_if_all_is_well_formed() {
        let text = "[ 1, { a: [ 3, 4 ] }, \"x]\", ObjectId('6b0d36d1f6ae615295ebb65e') ]";
        let items = match plain::whole(text).expect("a list").value {
            Value::Array(array) => array.items,
            other => panic!("{other:?}"),
        };
        let read = |at| plain::item(text, at).map(|node| format!("{:?}", node.value));
        for (at, node) in items.iter().enumerate() {
            assert_eq!(read(at), Some(format!("{:?}", node.value)), "{at}");
        }
        assert_eq!(read(4), None);
        for text in ["[ 1, { a: } ]", "[ 1, 2 ] ]", "[ 1", "7", "[ ]"] {
            assert!(plain::item(text, 0).is_none(), "{text}");
        }
    }

    #[test]
    fn what_has_another_reading_or_none_is_left_to_the_full_reader() {
        for text in [
            "",
            "{",
            "{ a: 1",
            "{ a 1 }",
            "{ a:1 }",
            "{ \"a\": 1 }",
            "{ a: 1 ]",
            "{ a: 1, }",
            "[ 1, ]",
            "{ a: \"x\"y\" }",
            "{ a: \"cut...\" }",
            "{ a: ... }",
            "{ a: function() { return 1; } }",
            "{ a: trueish }",
            "{ a: DBRef('x', ObjectId('6b0d36d1f6ae615295ebb65e')) }",
            "{ a: /a\"b/ }",
            "{ a: nan }",
            "{ a: 01 }",
        ] {
            assert_eq!(end_of_value(text.as_bytes(), 0), None, "{text}");
        }
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(end_of_value(deep.as_bytes(), 0), None);
    }
}
