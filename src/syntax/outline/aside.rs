//! Values that decide nothing, recognised by what they look like: a value is stepped over token by token, and how it is
//! spelled, its numbers and strings aside, is kept. The next value in the same place mostly is spelled so too, and then takes
//! a few comparisons. Whatever is spelled in another way is stepped over token by token again, so that nothing is taken
//! for a value that is none.

use rustc_hash::FxHashMap;

use super::wording::{Texts, Wording};
use crate::syntax::scanner::{self, Scanner, behind_digits, end_of_run};

/// How values in some places are spelled.
#[derive(Debug, Default)]
pub(super) struct Asides {
    known: Vec<Spelling>,
    /// The texts of all.
    texts: Texts,
    by_text: FxHashMap<Box<[u8]>, u16>,
    /// For each place those that were seen there.
    places: Vec<Place>,
}

/// So many spellings are tried in one place, and so many are kept.
const TRIED: usize = 6;
const MOST: usize = 2_048;

/// The spellings seen in a place, as far as it has some; what is seen often comes to the front.
type Place = [u16; TRIED];

const NONE: u16 = u16::MAX;

/// Texts around numbers and strings, and what follows on each.
type Spelling = Box<[(Wording, Scalar)]>;

/// How one value is spelled.
struct Spelled {
    /// All its texts,
    texts: Vec<u8>,
    /// the length of each, and what follows on it.
    parts: Vec<(usize, Scalar)>,
}

/// What stands between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    /// Digits of a whole number.
    Digits,
    /// The inside of a string without escapes.
    Inside,
    /// Nothing: the value ends.
    End,
}

impl Asides {
    /// Steps over the value that comes next, at a place of the pattern with that number; its text.
    pub(super) fn value<'l>(&mut self, place: usize, scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
        if !matches!(scanner.peek()?, b'{' | b'[') {
            return scanner.value();
        }
        let start = scanner.at;
        if let Some(end) = self.known_end(place, scanner) {
            scanner.at = end;
            return Some(&scanner.line[start..end]);
        }
        let value = scanner.value()?;
        self.learn(place, value);
        Some(value)
    }

    /// Where the value ends that comes next, if it is spelled as one that was seen in this place.
    fn known_end(&mut self, place: usize, scanner: &Scanner<'_>) -> Option<usize> {
        let (line, start, is_legacy) = (scanner.line, scanner.at, scanner.spelling == scanner::Spelling::Legacy);
        let tried = self.places.get_mut(place)?;
        for i in 0..TRIED {
            let spelling = self.known.get(usize::from(tried[i]))?;
            if let Some(end) = end(spelling, &self.texts, line, start, is_legacy) {
                if i > 0 {
                    tried.swap(i - 1, i);
                }
                return Some(end);
            }
        }
        None
    }

    fn learn(&mut self, place: usize, value: &[u8]) {
        if self.places.get(place).is_some_and(|tried| tried[TRIED - 1] != NONE) {
            return;
        }
        let Some(Spelled { texts, parts }) = Spelled::of(value) else { return };
        let next = self.known.len() as u16;
        let id = match self.by_text.get(texts.as_slice()) {
            Some(known) if is_cut_so(&self.known[usize::from(*known)], &parts) => *known,
            Some(_) => return,
            None if self.known.len() == MOST => return,
            None => {
                let mut rest = texts.as_slice();
                let parts = parts.into_iter().map(|(length, scalar)| {
                    let (text, behind) = rest.split_at(length);
                    rest = behind;
                    (self.texts.add(text), scalar)
                });
                self.known.push(parts.collect());
                self.by_text.insert(texts.into(), next);
                next
            }
        };
        if self.places.len() <= place {
            self.places.resize(place + 1, [NONE; TRIED]);
        }
        let free = self.places[place].iter_mut().find(|known| **known == NONE || **known == id);
        free.into_iter().for_each(|known| *known = id);
    }
}

fn is_cut_so(known: &Spelling, parts: &[(usize, Scalar)]) -> bool {
    known.iter().map(|(text, scalar)| (text.len(), *scalar)).eq(parts.iter().copied())
}

impl Spelled {
    /// `value` is well-formed; `None` if its text is long.
    fn of(value: &[u8]) -> Option<Self> {
        const LONGEST: usize = 1_024;
        let (mut texts, mut parts) = (Vec::new(), Vec::new());
        let (mut at, mut begun) = (0, 0);
        while at < value.len() {
            let (start, end, scalar) = match value[at] {
                b'"' => {
                    let end = end_of_run(value, at + 1)?;
                    if value[end] != b'"' {
                        return None;
                    }
                    if value[end + 1..].trim_ascii_start().starts_with(b":") {
                        at = end + 1;
                        continue;
                    }
                    (at + 1, end, Scalar::Inside)
                }
                b'0'..=b'9' => (at, behind_digits(value, at), Scalar::Digits),
                _ => {
                    at += 1;
                    continue;
                }
            };
            texts.extend_from_slice(&value[begun..start]);
            parts.push((start - begun, scalar));
            (at, begun) = (if scalar == Scalar::Inside { end + 1 } else { end }, end);
        }
        texts.extend_from_slice(&value[begun..]);
        parts.push((value.len() - begun, Scalar::End));
        (texts.len() <= LONGEST).then_some(Self { texts, parts })
    }
}

/// Where the value ends that begins at `at`, if it is spelled so.
#[inline]
fn end(spelling: &Spelling, texts: &Texts, line: &[u8], mut at: usize, is_legacy: bool) -> Option<usize> {
    for (text, scalar) in spelling {
        at = texts.end(text, line, at)?;
        match scalar {
            Scalar::Digits => {
                let end = behind_digits(line, at);
                // Of more than one digit the first is not 0.
                if end == at || (line[at] == b'0' && end > at + 1) {
                    return None;
                }
                at = end;
            }
            // The next text begins with the quote.
            Scalar::Inside => {
                let end = end_of_run(line, at)?;
                if is_legacy && !is_usual(&line[at..end]) {
                    return None;
                }
                at = end;
            }
            Scalar::End => {}
        }
    }
    Some(at)
}

/// Whether a text in quotes in a document of the text log is nothing but that: in parentheses brackets count, and what the
/// server cut is not what it was.
fn is_usual(inside: &[u8]) -> bool {
    // Not `any`: without a way out of the loop it takes many bytes at a time.
    let odd = |odd, byte: &u8| odd | u8::from(matches!(byte, b'(' | b')' | b'{'));
    inside.iter().fold(0, odd) == 0 && !inside.ends_with(b"...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str, spelling: scanner::Spelling) -> Scanner<'_> {
        Scanner { spelling, ..Scanner::new(text.as_bytes()) }
    }

    /// How far each way goes in `text`, at a place where the values `seen` have been.
    fn ends(seen: &[&str], text: &str, spelling: scanner::Spelling) -> (Option<usize>, Option<usize>) {
        let mut asides = Asides::default();
        for value in seen {
            assert!(asides.value(3, &mut spelled(value, spelling)).is_some(), "{value}");
        }
        let mut aside = spelled(text, spelling);
        let mut whole = aside;
        (asides.value(3, &mut aside).map(|_| aside.at), whole.value().map(|_| whole.at))
    }

    #[test]
    fn what_is_spelled_like_a_value_seen_before_is_taken_as_far_as_the_scanner_takes_it() {
        let seen = [r#"{"a":{"r":35,"w" : 0},"b":["x",-5,"y z"],"c":true}"#, r#"[1,"a",{"b":1.5}]"#, "{}", "[[0]]"];
        for text in [
            r#"{"a":{"r":1,"w" : 10},"b":["",-0,"\u00fc"],"c":true}, "next""#,
            r#"{"a":{"r":01,"w" : 10},"b":["",-5,"q"],"c":true}"#,
            r#"{"a":{"r":,"w" : 10},"b":["",-5,"q"],"c":true}"#,
            r#"{"a":{"r":1.5,"w" : 10},"b":["",-5,"q"],"c":true}"#,
            r#"{"a":{"r":1,"w" : 10},"b":["\"",-5,"q\\"],"c":true}"#,
            r#"{"a":{"r":1,"w" : 10},"b":["",-5,"q"],"c":false}"#,
            r#"{"a":{"r":1,"w" : 10},"b":["",-5,"q"#,
            r#"[7,"b",{"b":1.25}]}"#,
            r#"[7,"b",{"b":1.05}]"#,
            r#"[7,"b",{"b":1.}]"#,
            "{}",
            "{",
            "[[00]]",
            "[[12345678901234567890123]]",
            "5",
            r#""a""#,
        ] {
            let (aside, whole) = ends(&seen, text, scanner::Spelling::Json);
            assert_eq!(aside, whole, "{text}");
        }
    }

    #[test]
    fn documents_of_the_text_log_are_taken_as_far_as_the_scanner_takes_them_too() {
        let seen = [
            "{ a1: { r: 35, w: 0 }, b: [ \"x\", -5 ], c: true }",
            "{ id: UUID(\"0aaaaaaa\"), t: Timestamp(5, 6), u: new Date(7) }",
            "{ a: ObjectId('65b2f0c0a1b2c3d4e5f60718'), b: /a1/ }",
        ];
        for text in [
            "{ a22: { r: 1, w: 10 }, b: [ \"\", -0 ], c: true } next",
            "{ a1: { r: 01, w: 10 }, b: [ \"x\", -5 ], c: true }",
            "{ a1: { r: 1, w: 10 }, b: [ \"x...\", -5 ], c: true }",
            "{ a1: { r: 1, w: 10 }, b: [ \"c:\\\", -5 ], c: true }",
            "{ a1: { r: 1, w: 10 }, b: [ \"a\"b\", -5 ], c: true }",
            "{ id: UUID(\"0b\"), t: Timestamp(15, 60), u: new Date(77) } }",
            "{ id: UUID(\"0(\"), t: Timestamp(15, 60), u: new Date(77) }",
            "{ id: UUID(\"0)\"), t: Timestamp(15, 60), u: new Date(77) }",
            "{ a: ObjectId('65b2f0c0a1b2c3d4e5f60719'), b: /a22/ }",
            "{ a: ObjectId('65b2f0c0a1b2c3d4e5f60718'), b: /a/ }",
        ] {
            let (aside, whole) = ends(&seen, text, scanner::Spelling::Legacy);
            assert_eq!(aside, whole, "{text}");
        }
    }

    #[test]
    fn a_value_is_recognised_by_its_spelling_and_what_is_seen_often_is_tried_first() {
        let mut asides = Asides::default();
        for value in [r#"{"a":1}"#, r#"{"b":1}"#, r#"{"a":2}"#, r#"{"b":2}"#, r#"{"b":3}"#] {
            asides.value(0, &mut Scanner::new(value.as_bytes()));
        }
        assert_eq!(asides.known.len(), 2);
        assert_eq!(asides.places[0][..3], [1, 0, NONE]);
    }
}
