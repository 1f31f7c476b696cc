//! Reading the file. Everything that is wrong with it is told at once, each in place.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeTable;

use crate::engine::{DeclarationTexts, declared};
use crate::report::{Diagnostic, Report};
use crate::rules::{REGISTRY, declaration_not_understood as sl005};
use crate::text::{SourceId, Span};

use super::file::File;
use super::leaves::{Leaf, leaves, unknown_keys};

/// Something wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// Lower-case start, no full stop.
    pub message: String,
    /// What to do, if that is known.
    pub help: Option<String>,
}

impl Problem {
    /// A problem with what stands at `span`.
    pub fn new(span: std::ops::Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Span::new(span.start, span.end), message: message.into(), help: None }
    }

    /// With the name that was probably meant; without one, with all names as a help.
    #[must_use]
    pub fn did_you_mean(self, typed: &str, known: &[&str]) -> Self {
        match nearest(typed, known) {
            Some(near) => Self { message: format!("{}; did you mean `{near}`?", self.message), ..self },
            None => Self { help: Some(format!("use one of {}", known.join(", "))), ..self },
        }
    }
}

/// The most similar of the known names, if it is near enough to be meant.
fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let scored = known.iter().map(|name| (strsim::damerau_levenshtein(&typed, &name.to_lowercase()), *name));
    scored.filter(|(distance, name)| *distance <= name.len().div_ceil(3)).min().map(|(_, name)| name)
}

/// The configuration of a run.
#[derive(Debug, Clone)]
pub struct Config {
    /// As the user named the file, or as it was found.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it says.
    pub file: File,
    folder: PathBuf,
}

impl Config {
    /// Reads a file. What its values mean is not looked at yet.
    ///
    /// # Errors
    /// What is wrong, as a report that shows each problem in place.
    pub fn read(path: &Path, text: &str) -> Result<Self, Box<Report>> {
        let config = Self {
            name: path.display().to_string(),
            text: text.to_owned(),
            file: File::default(),
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
        };
        match parsed(text) {
            Ok(file) => Ok(Self { file, ..config }),
            Err(problems) => Err(Box::new(config.report(&problems))),
        }
    }

    /// A report that shows the problems in place.
    #[must_use]
    pub fn report(&self, problems: &[Problem]) -> Report {
        let texts = DeclarationTexts { texts: vec![(self.name.clone(), self.text.clone().into_bytes())] };
        let rule = REGISTRY.iter().find(|rule| rule.code == sl005::RULE.code);
        let diagnostics: Vec<Diagnostic> = problems
            .iter()
            .filter_map(|problem| {
                let finding =
                    sl005::misconfigured(&problem.message, problem.help.clone(), problem.span, SourceId(0), &self.name);
                declared(rule?, &finding, &texts)
            })
            .collect();
        Report { diagnostics, declarations: texts.texts, ..Report::default() }
    }

    /// A path of the file, from where the program runs.
    #[must_use]
    pub fn path(&self, written: &str) -> String {
        if written == "-" { written.to_owned() } else { self.folder.join(written).display().to_string() }
    }

    /// Where `span` of the file stands: its line.
    #[must_use]
    pub fn line(&self, span: &std::ops::Range<usize>) -> u64 {
        crate::text::LineIndex::locate(self.text.as_bytes(), span.start).line
    }

    /// Every value with its place.
    #[must_use]
    pub fn leaves(&self) -> Vec<Leaf> {
        DeTable::parse(&self.text).map(|document| leaves(&self.text, document.get_ref())).unwrap_or_default()
    }
}

fn parsed(text: &str) -> Result<File, Vec<Problem>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| problem(text, error)).collect());
    }
    let mut problems: Vec<Problem> = unknown(&document);
    match toml::from_str::<File>(text) {
        Ok(file) if problems.is_empty() => return Ok(file),
        Ok(_) => {}
        Err(error) => problems.push(problem(text, &error)),
    }
    problems.sort_by_key(|problem| problem.span);
    Err(problems)
}

fn unknown(document: &Spanned<DeTable<'_>>) -> Vec<Problem> {
    let schema = schemars::schema_for!(File);
    let keys = unknown_keys(document.get_ref(), schema.as_value());
    keys.into_iter()
        .map(|key| {
            let known: Vec<&str> = key.known.iter().map(String::as_str).collect();
            let problem = Problem::new(key.span.range(), format!("there is no key `{}`", key.name));
            problem.did_you_mean(&key.name, &known)
        })
        .collect()
}

fn problem(text: &str, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..text.len().min(1));
    // A whole table cannot be pointed at; its first line can.
    let first = text[span.clone()].split('\n').next().map_or(span.len(), str::len);
    let mut words = error.message().lines().next().unwrap_or_default().to_owned();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    Problem::new(span.start..span.start + first, words)
}
