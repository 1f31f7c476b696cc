//! Documents on one line or many that are records of their own: explain output, profiler documents, replies and arrays of them.

use shardlint::model::Event;
use shardlint::syntax::{Record, read_record, shell};

use crate::log_line::assert_record;
use crate::print::canonical;

/// Reads the text as one record. One that a shell prints is read again as canonical JSON, and must say the same.
pub fn documents(data: &[u8]) {
    let record = read_record(data);
    assert_record(data, &record);
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A reference that is written as a call may be read as a pointer once it is printed; what the clock says differs.
    if ["DBRef", "Date", "ObjectI"].iter().any(|call| text.contains(call)) {
        return;
    }
    let Some(printed) = shell::parse(text, 0).ok().and_then(|node| canonical(&node.value)) else { return };
    match (&record, read_record(printed.as_bytes())) {
        (Record::Explain(event), Record::Explain(again)) | (Record::Slow(event), Record::Slow(again)) => {
            assert_eq!(told(event), told(&again), "{text}\nis printed as {printed}");
        }
        (Record::Explain(_) | Record::Slow(_), other) => {
            panic!("{text}\nis printed as {printed} and read as {other:?}")
        }
        _ => {}
    }
}

/// What an event says, without its places.
fn told(event: &Event) -> impl PartialEq + std::fmt::Debug {
    let shards = event.plan.iter().flat_map(|plan| &plan.shards).map(|shard| shard.value.clone());
    (
        event.namespace.clone(),
        event.verb,
        event.statements.len(),
        event.n_shards.as_ref().map(|count| count.value),
        event.plan_summary.as_ref().map(|summary| summary.value.clone()),
        event.duration_millis.as_ref().map(|millis| millis.value),
        shards.collect::<Vec<_>>(),
    )
}
