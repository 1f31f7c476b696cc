//! Texts that are always the same, and whether one of them stands at some place of a line. Most are short: the first sixteen
//! bytes of each are at hand, and are compared at once.

use wide::u8x16;

/// So many bytes are compared at once.
const WIDTH: usize = 16;

/// Many texts, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
}

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wording {
    /// Its first bytes, and zeros behind it if it is shorter.
    head: [u8; WIDTH],
    /// Where it stands among the texts, and its length.
    start: u32,
    length: u32,
}

impl Texts {
    /// Bytes of all texts.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Puts in a text.
    pub(super) fn add(&mut self, text: &[u8]) -> Wording {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.wording(start, text.len())
    }

    pub(super) fn text(&self, wording: &Wording) -> &[u8] {
        &self.bytes[wording.start as usize..][..wording.len()]
    }

    /// A text in two, the first of which has that length.
    pub(super) fn split(&self, wording: &Wording, length: usize) -> (Wording, Wording) {
        let start = wording.start as usize;
        (self.wording(start, length), self.wording(start + length, wording.len() - length))
    }

    fn wording(&self, start: usize, length: usize) -> Wording {
        let mut head = [0; WIDTH];
        let of_head = length.min(WIDTH);
        head[..of_head].copy_from_slice(&self.bytes[start..][..of_head]);
        let narrow = |n: usize| u32::try_from(n).expect("whoever adds texts bounds them");
        Wording { head, start: narrow(start), length: narrow(length) }
    }

    /// Where the text ends if it stands at that place of the line.
    #[inline(always)]
    pub(super) fn end(&self, wording: &Wording, line: &[u8], at: usize) -> Option<usize> {
        let Some(window) = line.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>) else {
            return self.end_near_end(wording, line, at);
        };
        let same = u8x16::new(*window).cmp_eq(u8x16::new(wording.head)).move_mask().trailing_ones();
        let is_there =
            same >= wording.length.min(WIDTH as u32) && (wording.len() <= WIDTH || self.goes_on(wording, line, at));
        is_there.then_some(at + wording.len())
    }

    /// Whether what is behind the first bytes of a text stands in the line too.
    #[inline]
    fn goes_on(&self, wording: &Wording, line: &[u8], at: usize) -> bool {
        let Some(line) = line.get(at..at + wording.len()) else { return false };
        let text = self.text(wording);
        let (Some(line_end), Some(text_end)) = (line.last_chunk::<WIDTH>(), text.last_chunk::<WIDTH>()) else {
            return false;
        };
        let mut chunks = line[WIDTH..].as_chunks::<WIDTH>().0.iter().zip(text[WIDTH..].as_chunks::<WIDTH>().0);
        // Not the slices themselves: that calls a function for a few bytes.
        line_end == text_end && chunks.all(|(line, text)| line == text)
    }

    /// The same where the line ends soon.
    #[cold]
    fn end_near_end(&self, wording: &Wording, line: &[u8], at: usize) -> Option<usize> {
        line.get(at..)?.starts_with(self.text(wording)).then_some(at + wording.len())
    }
}

impl Wording {
    /// No text.
    pub(super) const EMPTY: Self = Self { head: [0; WIDTH], start: 0, length: 0 };

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.length as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_compared_to_their_ends() {
        let text: Vec<u8> = (b'a'..=b'z').cycle().take(70).collect();
        for length in 0..=text.len() {
            let mut texts = Texts::default();
            texts.add(b"before");
            let wording = texts.add(&text[..length]);
            texts.add(b"behind");
            let end = |line: &[u8]| texts.end(&wording, line, 2);
            let line = [b"> ", text.as_slice()].concat();
            assert_eq!(end(&line), Some(2 + length));
            assert_eq!(end(&line[..2 + length]), Some(2 + length));
            assert!(length == 0 || end(&line[..1 + length]).is_none());
            for wrong in 0..text.len() {
                let mut other = line.clone();
                other[2 + wrong] = b'-';
                assert_eq!(end(&other).is_some(), wrong >= length, "{length} {wrong}");
                assert_eq!(end(&other[..2 + length]).is_some(), wrong >= length, "{length} {wrong}");
            }
        }
    }

    #[test]
    fn a_text_in_two_is_the_same_text() {
        let mut texts = Texts::default();
        let whole = texts.add(b"a text of more than sixteen bytes");
        for length in 0..=whole.len() {
            let (before, behind) = texts.split(&whole, length);
            assert_eq!([texts.text(&before), texts.text(&behind)].concat(), texts.text(&whole));
        }
    }
}
