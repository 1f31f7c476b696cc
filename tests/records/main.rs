//! Records of real logs and of the corner cases that the format has.

mod corpus;
mod damaged;
mod kinds;
mod legacy;
mod logs;
mod profile;
mod truncation;
mod wrapped;

use shardlint::model::Event;
use shardlint::syntax::{Record, read_record};

/// The event of a slow-query record.
fn slow(line: &str) -> Event {
    match read_record(line.as_bytes()) {
        Record::Slow(event) => *event,
        other => panic!("{other:?} of {line}"),
    }
}

/// A slow-query record with these attributes.
fn record(attr: &str) -> String {
    line(attr, "")
}

/// A slow-query record with these attributes and these further members.
fn line(attr: &str, rest: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2026-11-30T08:17:00.824+00:00"}},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn9","msg":"Slow query","attr":{{{attr}}}{rest}}}"#
    )
}

/// The event of a command on `shop.orders`.
fn command(command: &str) -> Event {
    slow(&record(&format!(r#""type":"command","ns":"shop.orders","command":{command},"durationMillis":5"#)))
}
