//! The values in a text, whether it is JSON, JSON lines or what a shell printed, each with the line before it.

use serde_json::value::RawValue;

use crate::model::Node;
use crate::syntax::error::SyntaxError;
use crate::syntax::{ext_json, shell};

use super::status;
use crate::syntax::shell_talk::{is_chatter, is_distribution_heading, is_heading, typed};

/// The values of a text, as far as they could be read.
#[derive(Debug, Default)]
pub(super) struct Printed<'a> {
    pub(super) values: Vec<PrintedValue<'a>>,
    pub(super) error: Option<SyntaxError>,
    /// A shell stopped after its first twenty documents.
    pub(super) is_cut: bool,
}

/// One value, and what stands before it.
#[derive(Debug)]
pub(super) struct PrintedValue<'a> {
    pub(super) node: Node,
    /// The command whose output it is, if a prompt shows it.
    pub(super) command: Option<&'a str>,
    /// The heading that a shell printed over it.
    pub(super) heading: Option<&'a str>,
}

/// Reads all values; in JSON, or, if that fails, as a shell prints them.
pub(super) fn read(text: &str) -> Printed<'_> {
    let plain = |node| PrintedValue { node, command: None, heading: None };
    if let Ok(nodes) = json_values(text).collect::<Result<Vec<_>, _>>() {
        return Printed { values: nodes.into_iter().map(plain).collect(), ..Printed::default() };
    }
    let mut printed = Printed::default();
    let (mut command, mut heading) = (None, None);
    let mut at = 0;
    while let Some(start) = next_visible(text, at) {
        match next(text, start) {
            Next::Value(from) => match shell::parse_prefix(&text[from..], from) {
                Ok((node, length)) => {
                    printed.values.push(PrintedValue { node, command, heading: heading.take() });
                    at = from + length;
                }
                Err(error) => {
                    printed.error = Some(error);
                    return printed;
                }
            },
            Next::Line(line) => {
                printed.is_cut |= line.starts_with("Type \"it\" for more");
                if let Some(typed) = typed(line).filter(|typed| !is_heading(typed)) {
                    (command, heading) = (Some(typed), None);
                } else {
                    let line = typed(line).unwrap_or(line);
                    heading = is_heading(line).then_some(line);
                }
                at = line_end(text, start);
            }
        }
    }
    printed
}

enum Next<'a> {
    /// A value begins there.
    Value(usize),
    /// A line that is none.
    Line(&'a str),
}

/// What stands at `start`, where a visible character is. A prompt may stand right before a value.
fn next(text: &str, start: usize) -> Next<'_> {
    /// A prompt is short; the line of a value may be very long.
    const PROMPT: usize = 200;
    let rest = &text[start..];
    if rest.starts_with('{') {
        return Next::Value(start);
    }
    if rest.starts_with('[') {
        let begin: String = rest.chars().take(PROMPT).take_while(|&c| c != '\n').collect();
        if typed(&begin).is_none() {
            return Next::Value(start);
        }
    }
    let line = text[start..line_end(text, start)].trim();
    match typed(line) {
        Some(typed) if typed.starts_with(['{', '[']) => Next::Value(typed.as_ptr() as usize - text.as_ptr() as usize),
        _ => Next::Line(line),
    }
}

fn next_visible(text: &str, at: usize) -> Option<usize> {
    text[at..].find(|c: char| !c.is_whitespace() && c != '\u{feff}').map(|offset| at + offset)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |offset| at + offset)
}

/// The values of a text that is JSON throughout.
fn json_values(text: &str) -> impl Iterator<Item = Result<Node, SyntaxError>> {
    let raw = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    raw.map(|raw| match raw {
        Ok(raw) => ext_json::parse_part(text, raw.get()),
        Err(error) => Err(ext_json::malformed(text, 0, &error)),
    })
}

/// What a text of dumps begins with.
pub(super) enum First {
    /// A value; of an array, its first element.
    Value(Node),
    /// The report of a shell that is no value.
    Report,
}

/// The first value in a text before which there is nothing but what shells print of themselves. The text may be cut:
/// only the first element of an array has to be whole.
pub(super) fn first_value(text: &str) -> Option<First> {
    /// So many lines of greetings and commands are looked over.
    const LINES: usize = 200;
    let mut at = 0;
    for _ in 0..LINES {
        let start = next_visible(text, at)?;
        match next(text, start) {
            Next::Value(from) => return first_element(&text[from..]).map(First::Value),
            Next::Line(line) if status::is_title(line) || is_distribution_heading(line) => return Some(First::Report),
            Next::Line(line) if is_chatter(line) => at = line_end(text, start),
            Next::Line(_) => return None,
        }
    }
    None
}

fn first_element(text: &str) -> Option<Node> {
    let element = text.strip_prefix('[').map_or(text, str::trim_start);
    if !element.starts_with('{') {
        return None;
    }
    let json = json_values(element).next().and_then(Result::ok);
    json.or_else(|| shell::parse_prefix(element, 0).ok().map(|(node, _)| node))
}
