//! Where a reviewer should look: a declaration at its line, the application's source where the query's comment names it,
//! else the record in the log. A path is linked only if it stays below the working directory; any other is mere text.

use std::path::{Component, Path};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::data::{Diagnostic, Location};

/// What a path segment of a URI may not hold as it is. A `:` would make a scheme of a first segment.
const NOT_IN_URIS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b':')
    .add(b'@')
    .add(b'\'')
    .add(b'(')
    .add(b')')
    .add(b'*')
    .add(b'!');

/// A place that can be told to people and to tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Below the working directory, with `/` between folders; `None` if it is elsewhere or no file at all.
    pub file: Option<String>,
    /// The path as it was given.
    pub path: String,
    /// 1-based line.
    pub line: u64,
    /// Where in that line; the application's source has no more than the line.
    pub range: Option<Range>,
}

/// A range that begins in the line of its place; columns are 1-based and count bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First column.
    pub column: u64,
    /// Last line.
    pub end_line: u64,
    /// One past the last column.
    pub end_column: u64,
}

/// The path of what stands in no file (a key of `--shard-key`, a limit), in formats that cannot do without one.
pub const NO_FILE: &str = "shardlint";

/// Whether a source is an option of the command line: no input is named so.
fn is_option(path: &str) -> bool {
    path.starts_with("--")
}

impl Place {
    /// The place to look at for `diagnostic`, and whether it is the application's source.
    pub fn of(diagnostic: &Diagnostic, root: &Path) -> Option<(Self, bool)> {
        let primary = diagnostic.example.labels.first()?;
        let in_declaration = diagnostic.example.is_declaration || primary.other_source.is_some();
        if let Some(sent) = diagnostic.sent_from().filter(|_| !in_declaration) {
            let place = Self { file: below(&sent.path, root), path: sent.path, line: sent.line, range: None };
            return Some((place, true));
        }
        Some((Self::at(&primary.location, root), false))
    }

    /// The line that the query's comment names, for people; relative where it is below the working directory.
    pub fn sent_from(diagnostic: &Diagnostic, root: &Path) -> Option<String> {
        let sent = diagnostic.sent_from()?;
        Some(format!("{}:{}", below(&sent.path, root).unwrap_or(sent.path), sent.line))
    }

    /// A place in an input.
    pub fn at(location: &Location, root: &Path) -> Self {
        let range = Range { column: location.column, end_line: location.end_line, end_column: location.end_column };
        Self { file: below(&location.path, root), path: location.path.clone(), line: location.line, range: Some(range) }
    }

    /// The file, %-encoded.
    pub fn uri(&self) -> Option<String> {
        self.file.as_deref().map(uri)
    }

    /// A path for formats that cannot do without one: the file, else the last name of the path.
    pub fn file_or_name(&self) -> &str {
        if is_option(&self.path) {
            return NO_FILE;
        }
        let last = || self.path.rsplit(['/', '\\']).find(|name| !name.is_empty() && *name != "..").unwrap_or("-");
        self.file.as_deref().unwrap_or_else(last)
    }

    /// The place for people: path and line, of an option its name.
    pub fn words(&self) -> String {
        if is_option(&self.path) { self.path.clone() } else { format!("{}:{}", self.path, self.line) }
    }

    /// Lines and columns mean something: the place is in a file.
    pub fn is_in_file(&self) -> bool {
        !is_option(&self.path)
    }
}

/// A relative path as a URI reference.
pub fn uri(path: &str) -> String {
    utf8_percent_encode(path, NOT_IN_URIS).to_string()
}

/// `path` relative to `root`, without `.` and `..`; `None` if it leads out of `root`, or is no path of a file.
fn below(path: &str, root: &Path) -> Option<String> {
    if path.is_empty() || path == "-" || is_option(path) {
        return None;
    }
    let path = Path::new(path);
    let relative = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut parts: Vec<&str> = Vec::new();
    for component in relative.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_below_the_working_directory_is_a_file() {
        let root = Path::new("/srv/shop");
        for (path, file) in [
            ("logs/mongod.log", Some("logs/mongod.log")),
            ("./logs/../mongod.log", Some("mongod.log")),
            ("/srv/shop/app/orders.py", Some("app/orders.py")),
            ("../secret", None),
            ("logs/../../secret", None),
            ("/etc/passwd", None),
            ("/srv/shop/../passwd", None),
            ("-", None),
            ("--shard-key", None),
            ("", None),
        ] {
            assert_eq!(below(path, root).as_deref(), file, "{path}");
        }
    }

    #[test]
    fn a_path_is_encoded_so_that_it_stays_a_path() {
        assert_eq!(uri("a b/größe#1?.log"), "a%20b/gr%C3%B6%C3%9Fe%231%3F.log");
        assert_eq!(uri("javascript:alert(1)/x"), "javascript%3Aalert%281%29/x");
    }

    #[test]
    fn a_path_elsewhere_is_told_by_its_last_name() {
        let place = |path: &str| Place { file: None, path: path.to_owned(), line: 1, range: None };
        assert_eq!(place("/var/log/mongod.log").file_or_name(), "mongod.log");
        assert_eq!(place("../..").file_or_name(), "-");
        assert_eq!(
            (place("--shard-key").file_or_name(), place("--shard-key").words()),
            (NO_FILE, "--shard-key".to_owned())
        );
    }
}
