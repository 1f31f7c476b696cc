//! How the terminal looks: colour, width, and whether there is one at all. Decided here once and passed down.

use std::io::{IsTerminal, stdout};

use crate::report::RenderOptions;

use super::args::ColorWhen;

/// Widest text that is still read with ease; also what is used where there is no terminal.
const WIDEST: usize = 120;
const NO_TERMINAL: usize = 100;

/// The looks of a report on standard output (or in a file).
#[must_use]
pub fn options(color: ColorWhen, to_stdout: bool, top: usize, summary: bool) -> RenderOptions {
    let color = match color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => to_stdout && anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never,
    };
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0).clamp(60, WIDEST));
    let on_terminal = to_stdout && stdout().is_terminal();
    let width = width.filter(|_| on_terminal).unwrap_or(NO_TERMINAL);
    RenderOptions { color, width, top, summary, ..RenderOptions::default() }
}
