//! Findings on declarations: each rule on each declared collection, and the statements that could not be read.

use crate::catalog::Collection;
use crate::report::{Diagnostic, Example, ExampleLabel, Location};
use crate::rules::{Check, DeclarationContext, Finding, Rule};
use crate::text::{Fingerprint, LineIndex, SourceId, Span};

use super::settings::Settings;

/// The declarations of a run as texts: what findings on them, and labels that point at a declared key, refer to.
#[derive(Debug, Clone, Default)]
pub struct DeclarationTexts {
    /// Path (as the user named it) and text, by source id.
    pub texts: Vec<(String, Vec<u8>)>,
}

impl DeclarationTexts {
    /// Where `span` of a declaration stands.
    #[must_use]
    pub fn location(&self, source: SourceId, span: Span) -> Option<Location> {
        let (path, text) = self.texts.get(source.0 as usize)?;
        let (start, end) = (LineIndex::locate(text, span.start as usize), LineIndex::locate(text, span.end as usize));
        Some(Location {
            path: path.clone(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            byte_start: u64::from(span.start),
            byte_end: u64::from(span.end),
        })
    }

    /// A label that points into a declaration.
    #[must_use]
    pub fn foreign_label(&self, source: SourceId, span: Span, text: &str) -> Option<ExampleLabel> {
        let location = self.location(source, span)?;
        let (_, content) = self.texts.get(source.0 as usize)?;
        Some(ExampleLabel {
            location,
            text: text.to_owned(),
            snippet: content.get(span.range()).unwrap_or_default().to_vec(),
            start: span.start as usize,
            end: span.end as usize,
            other_source: Some(source.0 as usize),
        })
    }
}

/// Runs the rules on declarations.
#[must_use]
pub fn check_declarations(settings: &Settings, texts: &DeclarationTexts) -> Vec<Diagnostic> {
    let (version, version_assumed) = settings.version_for(None, None);
    let mut diagnostics = Vec::new();
    for &rule in &settings.rules {
        let Check::Declaration(check) = rule.check else { continue };
        for collection in settings.catalog.collections().filter(|collection| is_admitted(settings, collection)) {
            let context = DeclarationContext {
                collection,
                catalog: &settings.catalog,
                version,
                version_assumed,
                thresholds: &settings.thresholds,
            };
            let mut findings = Vec::new();
            check(&context, &mut findings);
            diagnostics.extend(findings.iter().filter_map(|finding| declared(rule, finding, texts)));
        }
    }
    diagnostics
}

/// Whether a collection is among those that are looked at. Which of its namespaces a glob means is not known.
pub fn is_admitted(settings: &Settings, collection: &Collection) -> bool {
    collection.is_glob() || settings.filters.admit_namespace(&collection.pattern)
}

/// The diagnostic of a finding on a declaration.
#[must_use]
pub fn declared(rule: &'static Rule, finding: &Finding, texts: &DeclarationTexts) -> Option<Diagnostic> {
    let source = finding.source?;
    let labels: Vec<_> = finding
        .labels
        .iter()
        .filter_map(|label| texts.foreign_label(label.source.unwrap_or(source), label.span, &label.text))
        .collect();
    if labels.is_empty() {
        return None;
    }
    let (namespace, subject) = finding.subject.clone().unwrap_or_default();
    let fingerprint = Fingerprint::of(&["declaration-1", rule.code, &namespace, &subject]);
    Some(Diagnostic {
        code: rule.code,
        rule: rule.name,
        severity: finding.severity.unwrap_or(rule.severity),
        namespace,
        operation: None,
        message: finding.message.clone(),
        help: finding.help.clone(),
        shape: None,
        subject: Some(subject),
        fingerprint: fingerprint.to_string(),
        count: 1,
        millis: 0,
        first_seen: None,
        last_seen: None,
        new: None,
        was: None,
        now: None,
        example: Example { record: std::sync::Arc::default(), is_declaration: true, line: 1, labels },
        comment: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::declaration_not_understood as sl005;
    use crate::syntax::declaration::declarations;

    #[test]
    fn findings_on_a_declaration_share_its_text() {
        let script = "sh.shardCollection(1)\n".repeat(3);
        let texts = DeclarationTexts { texts: vec![("sharding.js".to_owned(), script.clone().into_bytes())] };
        let errors = declarations(&script).errors;
        assert_eq!(errors.len(), 3);
        for error in &errors {
            let finding = sl005::malformed(error, SourceId(0), "sharding.js");
            let diagnostic = declared(&sl005::RULE, &finding, &texts).expect("a diagnostic");
            let [label] = &diagnostic.example.labels[..] else { panic!("{diagnostic:?}") };
            assert_eq!((label.other_source, diagnostic.example.record.len()), (Some(0), 0));
            assert_eq!(label.snippet, script.as_bytes()[label.start..label.end]);
        }
    }
}
