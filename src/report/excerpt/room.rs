//! How much of a record a row may show, from generous to tight. A row takes the first that fits its width.

/// How a value is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preview {
    /// Bytes of a plain value.
    pub(super) scalar: usize,
    /// Items of a container.
    pub(super) items: usize,
    /// Levels of containers; deeper ones are `{ … }`.
    pub(super) depth: usize,
}

/// What a row may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Neighbours shown before the first labelled item.
    pub(super) left: usize,
    /// Neighbours shown after each labelled item.
    pub(super) right: usize,
    /// Labelled values.
    pub(super) focus: Preview,
    /// Their neighbours.
    pub(super) beside: Preview,
    /// Labelled parts of a labelled value begin rows of their own.
    pub(super) split: bool,
    /// Elisions say how much they hide.
    pub(super) counts: bool,
    /// Labelled values alone, without what they are in.
    pub(super) bare: bool,
}

const fn room(left: usize, right: usize, focus: (usize, usize, usize), beside: (usize, usize, usize)) -> Room {
    Room {
        counts: focus.0 > 20,
        bare: focus.0 < 16,
        left,
        right,
        focus: Preview { scalar: focus.0, items: focus.1, depth: focus.2 },
        beside: Preview { scalar: beside.0, items: beside.1, depth: beside.2 },
        split: left + right == 0,
    }
}

/// Generous first.
pub(super) const ROOMS: [Room; 9] = [
    room(2, 3, (60, 8, 3), (40, 3, 2)),
    room(1, 2, (48, 6, 3), (30, 2, 2)),
    room(1, 1, (40, 6, 3), (24, 2, 1)),
    room(1, 0, (32, 5, 2), (20, 1, 1)),
    room(0, 0, (24, 4, 2), (16, 1, 1)),
    room(0, 0, (20, 3, 2), (12, 1, 1)),
    room(0, 0, (16, 2, 1), (8, 0, 0)),
    room(0, 0, (14, 3, 2), (8, 0, 0)),
    room(0, 0, (12, 1, 1), (8, 0, 0)),
];

/// The marks of an elision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// `…`, or three dots.
    pub(super) ellipsis: &'static str,
}
