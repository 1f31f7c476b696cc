//! The line itself: which kind of record it is. Attributes are read only for slow queries and for the few records that
//! tell version and role.

use crate::model::{Node, Value};
use crate::syntax::SyntaxError;
use crate::syntax::record::{Fact, Record, Role, Trouble};
use crate::text::Span;

use super::members::Members;
use super::{slow, trouble};

/// "Slow query", of mongod and mongos alike.
const SLOW_QUERY: f64 = 51803.0;
/// "Build Info".
const BUILD_INFO: f64 = 23403.0;
/// "Options set by command line".
const OPTIONS: f64 = 21951.0;
/// "SERVER RESTARTED".
const RESTARTED: f64 = 20698.0;

/// Reads a line that holds one log record, perhaps behind a prefix that a container or syslog put before it.
///
/// # Errors
/// If the line holds no JSON object, or one that is no log record.
pub(in crate::syntax) fn read(line: &str) -> Result<Record, SyntaxError> {
    of_object(line, object_text(line)?)
}

/// Reads `json`, a part of `line`, as a log record.
///
/// # Errors
/// If it is no JSON object, or one that is no log record.
pub(in crate::syntax) fn of_object(line: &str, json: &str) -> Result<Record, SyntaxError> {
    let record = Members::read(line, json)?;
    let id = record.raw("id").and_then(|raw| raw.text(line).parse::<f64>().ok());
    let signs = ["t", "s", "c", "id", "msg"].iter().filter(|name| record.has(name)).count();
    if signs < 3 {
        let message = "a JSON object, but no log record: expected the members `t`, `s`, `c`, `id` and `msg`";
        return Err(SyntaxError::new(record.span(json), message));
    }
    if id == Some(SLOW_QUERY) && record.string("msg").is_some_and(|msg| msg.eq_ignore_ascii_case("slow query")) {
        return Ok(Record::Slow(Box::new(slow::event(&record))));
    }
    Ok(Record::Other(fact(&record, id)))
}

/// The part of the line that should be the JSON object: all of it, or what follows a prefix.
fn object_text(line: &str) -> Result<&str, SyntaxError> {
    let text = line.trim_end_matches(|c: char| c.is_whitespace() || c == '\0');
    let bare = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}');
    if bare.starts_with('{') {
        return Ok(bare);
    }
    // Lines of the text log are passed over with one search.
    let is_named = memchr::memmem::find(text.as_bytes(), b"\"t\"").is_some();
    let starts = ["{\"t\":", "{ \"t\":", "{\"t\" :"].iter().filter(|_| is_named);
    let start = starts.filter_map(|start| text.find(start)).min();
    start.map(|at| &text[at..]).ok_or_else(|| {
        let first = text.len() - bare.len();
        let end = bare.chars().next().map_or(first, |c| first + c.len_utf8());
        SyntaxError::new(Span::new(first, end), "no log record: expected a JSON object that begins with `{\"t\":`")
    })
}

/// What a record of another kind tells about the process.
fn fact(record: &Members<'_>, id: Option<f64>) -> Fact {
    let Some(id) = id else { return Fact::Plain };
    let told = if id == RESTARTED {
        Some(Fact::Restart)
    } else if id == BUILD_INFO {
        record.node("attr").and_then(|attr| version(&attr))
    } else if id == OPTIONS {
        record.node("attr").and_then(|attr| role(attr.as_document()?.get("options")?))
    } else if trouble::concerns(id) {
        let message = record.raw("msg").map_or_else(Span::default, |raw| record.span(raw.text(record.line)));
        let told = record.node("attr").and_then(|attr| trouble::read(id, &attr, message));
        told.map(|told| Fact::Trouble(Box::new(Trouble { time_millis: record.time_millis("t"), ..told })))
    } else {
        None
    };
    told.unwrap_or(Fact::Plain)
}

fn version(attr: &Node) -> Option<Fact> {
    let version = attr.as_document()?.get("buildInfo")?.as_document()?.get("version")?.as_str()?;
    version.parse().ok().map(Fact::Version)
}

/// What the options of a process say that it is.
pub(in crate::syntax) fn role(options: &Node) -> Option<Fact> {
    let options = options.as_document()?;
    let sharding = options.get("sharding")?.as_document()?;
    if sharding.get("configDB").is_some() {
        return Some(Fact::Role(Role::Router, None));
    }
    match &sharding.get("clusterRole")?.value {
        Value::String(role) if role == "shardsvr" => {
            let replication = options.get("replication").and_then(Node::as_document);
            let named = |name: &str| replication.and_then(|replication| replication.get(name)?.as_str());
            let set = named("replSet").or_else(|| named("replSetName"));
            // A shard is named after its replica set, unless somebody named it when it was added; seeds may follow a slash.
            let set = set.and_then(|set| set.split('/').next()).filter(|set| !set.is_empty());
            Some(Fact::Role(Role::Shard, set.map(str::to_owned)))
        }
        Value::String(role) if role == "configsvr" => Some(Fact::Role(Role::Config, None)),
        _ => None,
    }
}
