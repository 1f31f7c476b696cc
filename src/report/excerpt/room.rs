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
    /// What to leave out besides.
    pub(super) style: Style,
}

/// What a row leaves out besides values; each leaves out what those before it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Style {
    /// Nothing: elisions say how much they hide.
    Counted,
    /// The counts.
    Plain,
    /// What labelled values are in.
    Bare,
    /// What keeps nested labels on one row: each begins a row of its own.
    Split,
}

type Shown = (usize, usize, usize);

const fn room(style: Style, left: usize, right: usize, focus: Shown, beside: Shown) -> Room {
    Room { left, right, focus: preview(focus), beside: preview(beside), style }
}

const fn preview((scalar, items, depth): Shown) -> Preview {
    Preview { scalar, items, depth }
}

/// Generous first.
pub(super) const ROOMS: [Room; 18] = [
    room(Style::Counted, 2, 3, (60, 8, 3), (40, 3, 2)),
    room(Style::Counted, 1, 2, (60, 6, 3), (30, 2, 2)),
    room(Style::Counted, 1, 1, (48, 5, 3), (24, 3, 2)),
    room(Style::Counted, 1, 1, (48, 5, 3), (24, 2, 1)),
    room(Style::Counted, 1, 0, (40, 4, 3), (20, 1, 1)),
    room(Style::Counted, 0, 0, (40, 4, 2), (16, 1, 1)),
    room(Style::Counted, 0, 0, (32, 3, 2), (12, 1, 1)),
    room(Style::Counted, 0, 0, (24, 2, 2), (12, 1, 1)),
    room(Style::Counted, 0, 0, (24, 2, 1), (12, 0, 0)),
    room(Style::Plain, 0, 0, (24, 3, 2), (8, 0, 0)),
    room(Style::Plain, 0, 0, (20, 2, 2), (8, 0, 0)),
    room(Style::Plain, 0, 0, (16, 2, 1), (8, 0, 0)),
    room(Style::Plain, 0, 0, (16, 1, 1), (8, 0, 0)),
    room(Style::Bare, 0, 0, (16, 4, 2), (8, 0, 0)),
    room(Style::Bare, 0, 0, (16, 2, 2), (8, 0, 0)),
    room(Style::Bare, 0, 0, (12, 1, 1), (8, 0, 0)),
    room(Style::Split, 0, 0, (16, 2, 1), (8, 0, 0)),
    room(Style::Split, 0, 0, (12, 1, 1), (8, 0, 0)),
];

/// The marks of an elision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// `…`, or three dots.
    pub(super) ellipsis: &'static str,
}
