//! Which parts of a long text to show: what the labels mark and a little around it, or its beginning.

use std::ops::Range;

/// The parts of `range` to show, in order, together about `budget` bytes unless the labels' edges need more.
/// The edges of `labels` that lie in `range` are always in one of the parts.
pub(super) fn parts(source: &[u8], range: Range<usize>, labels: &[Range<usize>], budget: usize) -> Vec<Range<usize>> {
    if range.len() <= budget {
        return vec![range];
    }
    let inside: Vec<_> = labels.iter().filter_map(|label| clip(label, &range)).collect();
    if inside.is_empty() {
        let beginning = range.start..floor(source, &range, range.start + budget);
        return vec![beginning];
    }
    let share = (budget / inside.len()).max(8);
    let mut wanted: Vec<_> = inside.iter().flat_map(|label| around(label, share)).collect();
    wanted.sort_by_key(|part| part.start);
    let mut parts: Vec<Range<usize>> = Vec::new();
    for part in wanted {
        let start = floor(source, &range, part.start.max(range.start));
        let end = ceiling(source, &range, part.end.min(range.end));
        match parts.last_mut() {
            // A gap that is no longer than its mark is no gain.
            Some(last) if start <= last.end + 3 => last.end = last.end.max(end),
            _ => parts.push(start..end),
        }
    }
    parts
}

/// The part of `label` in `range`, if one of its edges lies strictly inside.
fn clip(label: &Range<usize>, range: &Range<usize>) -> Option<Range<usize>> {
    let inside = |at: usize| range.start < at && at < range.end;
    (inside(label.start) || inside(label.end))
        .then(|| label.start.max(range.start)..label.end.min(range.end).max(label.start))
}

/// A label with some text before and after it; of a long one both ends.
fn around(label: &Range<usize>, budget: usize) -> Vec<Range<usize>> {
    if label.len() <= budget {
        let margin = (budget - label.len()) / 2;
        let whole = label.start.saturating_sub(margin)..label.end + margin;
        return vec![whole];
    }
    let half = budget / 2;
    let margin = half / 2;
    vec![
        label.start.saturating_sub(margin)..label.start + half - margin,
        label.end - (half - margin)..label.end + margin,
    ]
}

/// The start of the character that `at` lies in.
fn floor(source: &[u8], range: &Range<usize>, at: usize) -> usize {
    (at.saturating_sub(3).max(range.start)..=at).rev().find(|&at| is_boundary(source, at)).unwrap_or(at)
}

/// The end of the character that `at` lies in.
fn ceiling(source: &[u8], range: &Range<usize>, at: usize) -> usize {
    (at..=(at + 3).min(range.end)).find(|&at| is_boundary(source, at)).unwrap_or(at)
}

fn is_boundary(source: &[u8], at: usize) -> bool {
    source.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_without_labels_shows_its_beginning() {
        let beginning = 0..10;
        assert_eq!(parts(&[b'x'; 100], 0..100, &[], 10), [beginning]);
    }

    #[test]
    fn the_edges_of_a_long_label_are_both_shown() {
        let label = 100..900;
        assert_eq!(parts(&[b'x'; 1000], 0..1000, &[label], 40), [90..110, 890..910]);
    }

    #[test]
    fn no_character_is_cut_in_two() {
        let text = "é".repeat(50);
        let whole_characters = 0..8;
        assert_eq!(parts(text.as_bytes(), 0..100, &[], 9), [whole_characters]);
    }
}
