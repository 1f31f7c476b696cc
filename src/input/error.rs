//! Why an input cannot be read. The other inputs of a run are read nevertheless.

use std::io;

/// An input that cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file does not exist, may not be read, is a device that fails …
    #[error("cannot read `{name}`: {}", reason(.source))]
    Unreadable {
        /// As the user named it.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// Reading failed after some of it had been delivered: a compressed file that was cut, a failing disk.
    #[error("cannot read `{name}` past byte {offset}: {}", reason(.source))]
    Broken {
        /// As the user named it.
        name: String,
        /// How many (decompressed) bytes were delivered.
        offset: u64,
        /// What the system or the decompressor says.
        source: io::Error,
    },
    /// A directory without a file whose name is that of a log.
    #[error("no file in `{name}` is named like a log: expected `*.log*` or `*.json*`")]
    EmptyDirectory {
        /// As the user named it.
        name: String,
    },
    /// A glob that matches no file.
    #[error("no file matches `{pattern}`")]
    NoMatch {
        /// The glob.
        pattern: String,
    },
    /// Not a glob.
    #[error("`{pattern}` is no glob: {reason}")]
    BadPattern {
        /// The argument.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is UTF-16.
    #[error("`{name}` is UTF-16 text: expected UTF-8; convert it with `iconv -f UTF-16 -t UTF-8`")]
    Utf16 {
        /// As the user named it.
        name: String,
    },
}

/// The reason in our own words, without the number of the system's error.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::UnexpectedEof => "the compressed data ends too early".to_owned(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut chars = text.chars();
            chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
        }
    }
}
