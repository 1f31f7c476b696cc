//! Messages on chunks that do not move: marked jumbo (21873, 21874), migrations that failed (21871, 21872, and
//! `moveChunk.error` among the events of 22080).

use crate::model::{Document, Node};
use crate::syntax::record::Trouble;
use crate::text::Span;

const FAILED: [f64; 2] = [21871.0, 21872.0];
const JUMBO: [f64; 2] = [21873.0, 21874.0];
const EVENT: f64 = 22080.0;

/// Whether a message of that id may be about a chunk that does not move.
pub(super) fn concerns(id: f64) -> bool {
    id == EVENT || FAILED.contains(&id) || JUMBO.contains(&id)
}

/// What the message says; `message` is where its text stands.
pub(super) fn read(id: f64, attr: &Node, message: Span) -> Option<Trouble> {
    let attr = attr.as_document()?;
    if id != EVENT {
        let jumbo = JUMBO.contains(&id);
        return Some(Trouble {
            namespace: namespace(attr),
            reason: reason(attr),
            time_millis: None,
            jumbo,
            span: message,
        });
    }
    let event = attr.get("event")?.as_document()?;
    let what = event.get("what").filter(|what| what.as_str() == Some("moveChunk.error"))?;
    let details = event.get("details").and_then(Node::as_document);
    let told = details.and_then(reason).or_else(|| reason(event));
    Some(Trouble { namespace: namespace(event), reason: told, time_millis: None, jumbo: false, span: what.span })
}

/// The collection, where the message names it by itself or at the front of a text such as `shop.orders: [{ … `.
fn namespace(document: &Document) -> Option<String> {
    let named = ["namespace", "ns", "nss"].iter().find_map(|name| document.get(name)?.as_str());
    let described = || ["migrateInfo", "chunk"].iter().find_map(|name| document.get(name)?.as_str());
    let name = named.or_else(|| described()?.split([':', ' ']).next())?;
    (name.contains('.') && !name.contains(['{', '['])).then(|| name.to_owned())
}

/// Why, without what differs from one failure to the next: the name of the code, else the first sentence.
fn reason(document: &Document) -> Option<String> {
    let error = ["error", "errmsg", "reason", "status"].iter().find_map(|name| document.get(name))?;
    if let Some(inner) = error.as_document() {
        let part = |name: &str| inner.get(name).and_then(Node::as_str).map(str::to_owned);
        return part("codeName").or_else(|| part("errmsg"));
    }
    const LONGEST: usize = 120;
    let text = error.as_str()?;
    let end = (0..=LONGEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Some(text[..end].split(" :: ").next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use crate::syntax::{Fact, Record, read_record};

    fn told(id: u32, attr: &str) -> Option<(Option<String>, Option<String>, bool)> {
        let line = format!(
            r#"{{"t":{{"$date":"2024-05-14T09:12:03.481+00:00"}},"s":"I","c":"SHARDING","id":{id},"ctx":"Balancer","msg":"Migration failed","attr":{attr}}}"#
        );
        match read_record(line.as_bytes()) {
            Record::Other(Fact::Trouble(trouble)) => Some((trouble.namespace, trouble.reason, trouble.jumbo)),
            _ => None,
        }
    }

    #[test]
    fn failures_are_told_with_the_collection_and_the_name_of_the_error() {
        let failed = r#"{"migrateInfo":"shop.orders: [{ a: 1 }, { a: 2 }), from rs0, to rs1","error":{"code":100001,"codeName":"ChunkTooBig","errmsg":"x"}}"#;
        let expected = (Some("shop.orders".to_owned()), Some("ChunkTooBig".to_owned()), false);
        assert_eq!(told(21872, failed), Some(expected));
        let event = r#"{"event":{"what":"moveChunk.error","ns":"shop.orders","details":{"errmsg":"moveChunk failed to engage TO-shard in the data transfer :: caused by :: x"}}}"#;
        let reason = "moveChunk failed to engage TO-shard in the data transfer";
        assert_eq!(told(22080, event), Some((Some("shop.orders".to_owned()), Some(reason.to_owned()), false)));
        assert_eq!(told(21873, r#"{"chunk":"shop.orders: x"}"#).map(|found| found.2), Some(true));
    }

    #[test]
    fn other_events_are_plain() {
        assert_eq!(told(22080, r#"{"event":{"what":"moveChunk.commit","ns":"shop.orders","details":{}}}"#), None);
        assert_eq!(told(22016, r#"{"namespace":"shop.orders"}"#), None);
    }
}
