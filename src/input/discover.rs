//! Which files the arguments stand for: files, directories, globs, `-`. The order is that of the arguments, and sorted
//! within each; a file that is named twice is read once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;

use super::error::InputError;
use super::open::Input;

/// What the arguments stand for, and those that stand for nothing.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The inputs to read, in order.
    pub inputs: Vec<Input>,
    /// What is wrong with the other arguments.
    pub errors: Vec<InputError>,
    /// Links that lead back to a folder they are in, and that folder.
    pub loops: Vec<(PathBuf, PathBuf)>,
}

/// The inputs that `arguments` stand for.
#[must_use]
pub fn discover(arguments: &[PathBuf]) -> Discovery {
    let mut found = Discovery::default();
    let mut seen = HashSet::new();
    for argument in arguments {
        match found.of_argument(argument) {
            Ok(inputs) => found.inputs.extend(inputs.into_iter().filter(|input| seen.insert(input.identity()))),
            Err(error) => found.errors.push(error),
        }
    }
    found
}

impl Discovery {
    fn of_argument(&mut self, argument: &Path) -> Result<Vec<Input>, InputError> {
        let name = argument.display().to_string();
        if name == "-" {
            return Ok(vec![Input::stdin()]);
        }
        match std::fs::metadata(argument) {
            Ok(metadata) if metadata.is_dir() => {
                let is_log = glob("*.{log,json}*")?;
                let files =
                    self.files_below(argument, |path| path.file_name().is_some_and(|name| is_log.is_match(name)));
                if files.is_empty() { Err(InputError::EmptyDirectory { name }) } else { Ok(files) }
            }
            Ok(_) => Ok(vec![Input::file(argument)]),
            Err(_) if name.contains(['*', '?', '[', '{']) => self.matching(&name),
            Err(source) => Err(InputError::Unreadable { name, source }),
        }
    }

    /// The files that a glob matches; a shell that does not expand globs hands them over.
    fn matching(&mut self, pattern: &str) -> Result<Vec<Input>, InputError> {
        let matcher = glob(pattern)?;
        let fixed = pattern.find(['*', '?', '[', '{']).map_or(pattern, |at| &pattern[..at]);
        let base = fixed.rfind('/').map_or(".", |slash| &fixed[..=slash]);
        let files = self.files_below(Path::new(base), |path| {
            matcher.is_match(path.strip_prefix("./").ok().filter(|_| base == ".").unwrap_or(path))
        });
        if files.is_empty() { Err(InputError::NoMatch { pattern: pattern.to_owned() }) } else { Ok(files) }
    }

    /// The wanted files of a directory and those below it, sorted. Hidden ones are passed over; links are followed, unless
    /// they lead back.
    fn files_below(&mut self, base: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<Input> {
        let walk = WalkBuilder::new(base).standard_filters(false).hidden(true).follow_links(true).build();
        let mut files = Vec::new();
        let mut loops = Vec::new();
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) && wanted(entry.path()) => {
                    files.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => match leads_back(&error) {
                    Some(found) => loops.push(found),
                    None => self.errors.push(unreadable(base, error)),
                },
            }
        }
        files.sort();
        loops.sort();
        self.loops.extend(loops);
        files.iter().map(|file| Input::file(file.strip_prefix("./").unwrap_or(file))).collect()
    }
}

/// The link and the folder it leads back to, if that is the error.
fn leads_back(error: &ignore::Error) -> Option<(PathBuf, PathBuf)> {
    match error {
        ignore::Error::Loop { ancestor, child } => Some((child.clone(), ancestor.clone())),
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => leads_back(err),
        _ => None,
    }
}

/// A glob in which `*` does not cross directories.
fn glob(pattern: &str) -> Result<GlobMatcher, InputError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|error| InputError::BadPattern { pattern: pattern.to_owned(), reason: error.kind().to_string() })
}

fn unreadable(base: &Path, error: ignore::Error) -> InputError {
    let name = match &error {
        ignore::Error::WithPath { path, .. } => path.display().to_string(),
        _ => base.display().to_string(),
    };
    let text = error.to_string();
    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other(text));
    InputError::Unreadable { name, source }
}
