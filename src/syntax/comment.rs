//! Where a query was sent from, if its `comment` says so: `path:line` (alone or inside a stack frame), `file=…,line=…`,
//! the key/value pairs of sqlcommenter and Rails (`/*…*/`, quoted, URL-encoded), or an object with a file and a line.
//! A comment is free text that anybody may write, so only what looks like a source file with a line is taken, and whether
//! that file is there is for others to find out.

use std::fmt;
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::{Map, Value};

/// Longer comments are not looked into; a server cuts records long before that.
const LONGEST: usize = 16 * 1024;

/// A line of the application's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFrom {
    /// The file, as the comment names it, with `/` between folders.
    pub path: String,
    /// 1-based line.
    pub line: u64,
}

impl fmt::Display for SentFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}

/// Names under which tools put the file: plain ones, OpenTelemetry's old and new, Rails'.
const FILE_NAMES: [&str; 9] = [
    "file",
    "filepath",
    "filename",
    "path",
    "source",
    "source_location",
    "code.filepath",
    "code.file.path",
    "sourcefile",
];

/// Names under which tools put the line.
const LINE_NAMES: [&str; 6] = ["line", "lineno", "linenumber", "line_number", "code.lineno", "code.line.number"];

/// Endings by which a file without a folder is known as source, so that `db.example.com:27017` is none.
const SOURCE_ENDINGS: &[&str] = &[
    "c", "cc", "cjs", "clj", "coffee", "cpp", "cs", "cts", "dart", "ex", "exs", "erl", "fs", "go", "groovy", "h", "hs",
    "java", "jl", "js", "jsx", "kt", "kts", "lua", "mjs", "mts", "php", "pl", "pm", "py", "r", "rb", "rs", "scala",
    "swift", "svelte", "ts", "tsx", "vb", "vue",
];

/// Reads a comment, as text or, if it is an object, as JSON.
#[must_use]
pub fn sent_from(comment: &str) -> Option<SentFrom> {
    if comment.len() > LONGEST {
        return None;
    }
    if let Ok(Value::Object(members)) = serde_json::from_str(comment) {
        return object(&members);
    }
    let text = comment.trim().trim_start_matches("/*").trim_end_matches("*/").trim();
    pairs(text).or_else(|| plain(text))
}

fn object(members: &Map<String, Value>) -> Option<SentFrom> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let pairs = members.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?)));
    named(&pairs.collect::<Vec<_>>()).or_else(|| {
        // `{ comment: { source: { file, line } } }` and its like; what is deeper was not meant for us.
        members.values().filter_map(Value::as_object).find_map(|inner| {
            let pairs = inner.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?)));
            named(&pairs.collect::<Vec<_>>())
        })
    })
}

/// `key=value`, `key='value'` or `key:value`, separated by commas, semicolons or blanks.
fn pairs(text: &str) -> Option<SentFrom> {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"(?:^|[\s,;])([A-Za-z_][A-Za-z0-9_.%-]*)\s*[=:]\s*(?:'([^']*)'|"([^"]*)"|([^\s,;'"]+))"#;
        Regex::new(pattern).expect("a pattern that compiles")
    });
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let found: Vec<(String, String)> = PAIR
        .captures_iter(text)
        .filter_map(|pair| {
            let (encoded, bare) = (pair.get(2).or(pair.get(3)), pair.get(4));
            Some((decoded(&pair[1]), decoded(encoded.or(bare)?.as_str())))
        })
        .collect();
    named(&found)
}

/// The file and line among named values; a file's value may have the line at its end, and Rails calls such a pair a line.
fn named(pairs: &[(String, String)]) -> Option<SentFrom> {
    let get = |names: &[&str]| {
        let is_asked = |name: &String| names.iter().any(|asked| name.eq_ignore_ascii_case(asked));
        pairs.iter().find(|(name, _)| is_asked(name)).map(|(_, value)| value.as_str())
    };
    let (file, line) = (get(&FILE_NAMES), get(&LINE_NAMES));
    let both = || {
        let line = line?.parse().ok().filter(|line| *line > 0)?;
        let path = file.filter(|path| is_file(path))?;
        Some(SentFrom { path: with_slashes(path), line })
    };
    both().or_else(|| file.and_then(plain)).or_else(|| line.and_then(plain))
}

/// The first `path:line` of a text.
fn plain(text: &str) -> Option<SentFrom> {
    static PLACE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"((?:\b[A-Za-z]:[\\/])?[^\s:'"`(),;<>|]+\.[A-Za-z][A-Za-z0-9]{0,9}):([0-9]{1,9})\b"#;
        Regex::new(pattern).expect("a pattern that compiles")
    });
    PLACE.captures_iter(text).find_map(|place| {
        let line = place[2].parse().ok().filter(|line| *line > 0)?;
        let start = place.get(1)?.start();
        let is_url = text[..start].ends_with(':') && place[1].starts_with("//");
        (!is_url && is_source(&place[1])).then(|| SentFrom { path: with_slashes(&place[1]), line })
    })
}

/// A path without control characters, and not a URL.
fn is_file(path: &str) -> bool {
    !path.is_empty() && !path.chars().any(char::is_control) && !path.contains("://")
}

/// A file in a folder, or one whose ending is that of a language.
fn is_source(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    is_file(path)
        && (path.contains(['/', '\\']) || SOURCE_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn with_slashes(path: &str) -> String {
    path.replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(comment: &str) -> Option<String> {
        sent_from(comment).map(|place| place.to_string())
    }

    #[test]
    fn each_way_to_name_a_place_is_read() {
        for (comment, place) in [
            ("app/orders.py:41", "app/orders.py:41"),
            ("orders.py:41", "orders.py:41"),
            ("OrderList.page app/orders.py:41 in page", "app/orders.py:41"),
            ("at page (/srv/app/orders.js:41:13)", "/srv/app/orders.js:41"),
            ("file=app/orders.py,line=41", "app/orders.py:41"),
            ("file: app/orders.py, line: 41", "app/orders.py:41"),
            ("line=41; file=\"app/my orders.py\"", "app/my orders.py:41"),
            ("/*controller='orders',file='app%2Forders.rb',line='41'*/", "app/orders.rb:41"),
            ("/*action='index',code.filepath='app%2Fmy%20orders.go',code.lineno='41'*/", "app/my orders.go:41"),
            ("/*application:Shop,line:/app/models/order.rb:41:in `page'*/", "/app/models/order.rb:41"),
            ("source_location='app/models/order.rb:41'", "app/models/order.rb:41"),
            (r#"{"file":"app/orders.ts","line":41}"#, "app/orders.ts:41"),
            (r#"{"app":"shop","code.file.path":"app/orders.ts","code.line.number":"41"}"#, "app/orders.ts:41"),
            (r#"{"source":{"path":"app/orders.ts","lineNumber":41}}"#, "app/orders.ts:41"),
            (r"C:\shop\Orders.cs:41", "C:/shop/Orders.cs:41"),
            ("app/größe/訂單.py:7", "app/größe/訂單.py:7"),
        ] {
            assert_eq!(found(comment).as_deref(), Some(place), "{comment}");
        }
    }

    #[test]
    fn what_is_no_place_in_a_source_is_left_alone() {
        for comment in [
            "",
            "nightly report",
            "db.example.com:27017",
            "http://example.com/a.html:80",
            "10.0.0.1:27017",
            "version 1.2:3",
            "app/orders.py",
            "app/orders.py:0",
            "app/orders.py:99999999999999999999",
            "file=app/orders.py",
            "file=http://example.com/x,line=4",
            r#"{"file":7,"line":"x"}"#,
            "[1, 2]",
        ] {
            assert_eq!(found(comment), None, "{comment}");
        }
    }

    #[test]
    fn a_very_long_comment_is_not_looked_into() {
        assert_eq!(sent_from(&format!("{} app/orders.py:41", "x".repeat(LONGEST))), None);
    }
}
