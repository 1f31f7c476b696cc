//! Findings on an operation that a user typed: no log, no counts; the labels point into what was typed.

use crate::model::Event;
use crate::report::{Diagnostic, Example, ExampleLabel, Location};
use crate::text::{LineIndex, RecordPos, SourceId, Span};

use super::declarations::DeclarationTexts;
use super::judge::{JudgedStatement, Raised, judge};
use super::settings::Settings;

/// What the rules say about the statements of `event`, whose spans lie in `text`.
#[must_use]
pub fn check_typed(event: &Event, text: &str, settings: &Settings, declarations: &DeclarationTexts) -> Vec<Diagnostic> {
    let position = RecordPos { source: SourceId(0), offset: 0, line: 1 };
    let judged = judge(event, position, settings.version, settings);
    let raised = judged.statements.iter().flat_map(|statement| statement.raised.iter().map(move |r| (statement, r)));
    raised.map(|(statement, raised)| diagnostic(statement, raised, text, declarations)).collect()
}

fn diagnostic(statement: &JudgedStatement, raised: &Raised, text: &str, declarations: &DeclarationTexts) -> Diagnostic {
    let finding = &raised.finding;
    let labels = finding.labels.iter().filter_map(|label| match label.source {
        Some(source) => declarations.foreign_label(source, label.span, &label.text),
        None => Some(label_in(text, label.span, &label.text)),
    });
    Diagnostic {
        code: raised.rule.code,
        rule: raised.rule.name,
        severity: raised.severity(),
        namespace: statement.namespace.clone(),
        operation: Some(statement.operation),
        message: finding.message.clone(),
        help: finding.help.clone(),
        shape: Some(statement.shape.text.clone()),
        subject: None,
        fingerprint: statement.fingerprint.to_string(),
        count: 1,
        millis: 0,
        first_seen: None,
        last_seen: None,
        new: None,
        was: None,
        now: None,
        example: Example { record: text.as_bytes().into(), is_declaration: true, line: 1, labels: labels.collect() },
        comment: None,
    }
}

fn label_in(text: &str, span: Span, says: &str) -> ExampleLabel {
    let (start, end) = (span.range().start.min(text.len()), span.range().end.min(text.len()));
    let place = |offset| LineIndex::locate(text.as_bytes(), offset);
    let location = Location {
        path: "operation".to_owned(),
        line: place(start).line,
        column: place(start).column,
        end_line: place(end).line,
        end_column: place(end).column,
        byte_start: start as u64,
        byte_end: end as u64,
    };
    let snippet = text.as_bytes()[start..end].to_vec();
    ExampleLabel { location, text: says.to_owned(), snippet, start, end, other_source: None }
}
