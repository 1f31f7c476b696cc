//! Measurements among dumps: the output of `analyzeShardKey`, of a grouping by value, of `$shardedDataDistribution` and of
//! `getShardDistribution()`. A list of values that a limit or the shell may have cut says nothing of their number.

use std::collections::BTreeSet;

use crate::model::{Distribution, Document, KeyCharacteristics, Node, ShardPart};
use crate::text::Span;

use super::printed::PrintedValue;
use super::{Dump, Measured};
use crate::syntax::shell;
use crate::syntax::shell_talk::is_distribution_heading;

/// Whether a document is the output of `analyzeShardKey`.
pub(super) fn is_characteristics(document: &Document) -> bool {
    document.get("keyCharacteristics").is_some_and(|inner| inner.as_document().is_some())
}

/// Whether a document is one row of a grouping by value: `{ _id: VALUE, count: N }`.
pub(super) fn is_group(document: &Document) -> bool {
    document.fields.len() == 2 && document.get("_id").is_some() && group_count(document).is_some()
}

fn group_count(document: &Document) -> Option<u64> {
    let count = document.get("count").or_else(|| document.get("n"))?;
    u64::try_from(count.as_i64()?).ok()
}

/// Whether a document is one of `$shardedDataDistribution`.
pub(super) fn is_distribution(document: &Document) -> bool {
    let first = document.get("shards").and_then(Node::as_array).and_then(|shards| shards.items.first());
    let is_counted = first.and_then(Node::as_document).is_some_and(|shard| shard.get("numOwnedDocuments").is_some());
    is_counted && document.get("ns").is_some()
}

fn number(document: &Document, name: &str) -> Option<u64> {
    let node = document.get(name)?;
    let whole = node.as_i64().and_then(|n| u64::try_from(n).ok());
    whole.or(match node.value {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        crate::model::Value::Double(n) if n >= 0.0 => Some(n as u64),
        _ => None,
    })
}

/// What `analyzeShardKey` says; `command` is what was typed for it, if that shows.
pub(super) fn characteristics(text: &str, node: &Node, command: Option<&str>) -> Option<Measured<KeyCharacteristics>> {
    let document = node.as_document()?;
    let inner = document.get("keyCharacteristics")?.as_document()?;
    let listed = inner.get("mostCommonValues").and_then(Node::as_array).map(|array| array.items.as_slice());
    let common = listed.unwrap_or_default().iter().filter_map(|item| {
        let item = item.as_document()?;
        Some((one_line(text, item.get("value")?.span), number(item, "frequency")?))
    });
    let monotonicity =
        inner.get("monotonicity").and_then(Node::as_document).and_then(|found| found.get("type")?.as_str());
    let named = document.get("ns").and_then(Node::as_str).map(str::to_owned);
    Some(Measured {
        namespace: named.or_else(|| command.and_then(namespace_of)),
        value: KeyCharacteristics {
            span: node.span,
            fields: command.and_then(analyzed_key).or_else(|| listed.and_then(valued_fields)),
            documents: number(inner, "numDocsTotal"),
            distinct: number(inner, "numDistinctValues"),
            most_common: common.collect(),
            document_bytes: number(inner, "avgDocSizeBytes"),
            monotonic: match monotonicity {
                Some("monotonic") => Some(true),
                Some("not monotonic") => Some(false),
                _ => None,
            },
        },
    })
}

/// The fields of the `key` that a command has analyzed.
fn analyzed_key(command: &str) -> Option<Vec<String>> {
    let argument = &command[command.find('{')?..];
    let (node, _) = shell::parse_prefix(argument, 0).ok()?;
    let key = node.as_document()?.get("key")?.as_document()?;
    Some(names(key))
}

/// The fields of the key by one of its values.
fn valued_fields(common: &[Node]) -> Option<Vec<String>> {
    common.first()?.as_document()?.get("value")?.as_document().map(names)
}

fn names(document: &Document) -> Vec<String> {
    document.fields.iter().map(|field| field.name.clone()).collect()
}

/// What the rows of a grouping say together.
pub(super) fn groups(text: &str, values: &[PrintedValue<'_>], is_cut: bool) -> Option<Measured<KeyCharacteristics>> {
    let rows = values.iter().flat_map(|value| match value.node.as_array() {
        Some(array) => array.items.iter().collect::<Vec<_>>(),
        None => vec![&value.node],
    });
    let rows: Vec<(&Node, &Document)> =
        rows.filter_map(|node| Some((node, node.as_document().filter(|row| is_group(row))?))).collect();
    let span = rows.iter().map(|(node, _)| node.span).reduce(Span::join)?;
    let mut most_common: Vec<(String, u64)> =
        rows.iter().filter_map(|(_, row)| Some((one_line(text, row.get("_id")?.span), group_count(row)?))).collect();
    most_common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    // A value stands in one row of a grouping; one that comes again was printed again.
    let mut seen = BTreeSet::new();
    most_common.retain(|(value, _)| seen.insert(value.clone()));
    let command = values.iter().find_map(|value| value.command);
    // Limits are round numbers. Where the list may be cut, neither all values nor all documents are known.
    let may_be_cut =
        is_cut || most_common.len().is_multiple_of(10) || command.is_some_and(|command| command.contains("$limit"));
    let all = most_common.iter().map(|(_, count)| count).sum();
    Some(Measured {
        namespace: command.and_then(namespace_of),
        value: KeyCharacteristics {
            span,
            documents: (!may_be_cut).then_some(all),
            distinct: (!may_be_cut).then_some(most_common.len() as u64),
            most_common,
            ..KeyCharacteristics::default()
        },
    })
}

/// A document of `$shardedDataDistribution`.
pub(super) fn distribution(document: &Document, span: Span) -> Option<Measured<Distribution>> {
    let shards = document.get("shards")?.as_array()?;
    let part = |node: &Node| {
        let shard = node.as_document()?;
        Some(ShardPart {
            shard: shard.get("shardName")?.as_str()?.to_owned(),
            bytes: number(shard, "ownedSizeBytes"),
            documents: number(shard, "numOwnedDocuments"),
            chunks: None,
        })
    };
    let namespace = document.get("ns").and_then(Node::as_str).map(str::to_owned);
    let parts = shards.items.iter().filter_map(part).collect();
    Some(Measured { namespace, value: Distribution { span, parts } })
}

/// How many chunks mongosh's `sh.status()` counts on each shard of a collection.
pub(super) fn counted_chunks(status: &Document, namespace: &str, span: Span) -> Option<Measured<Distribution>> {
    let part = |shard: &str, count: &Node| ShardPart {
        shard: shard.to_owned(),
        chunks: count.as_i64().and_then(|n| u64::try_from(n).ok()),
        ..ShardPart::default()
    };
    let metadata = status.get("chunkMetadata")?;
    let parts: Vec<ShardPart> = match (metadata.as_array(), metadata.as_document()) {
        (Some(list), _) => list
            .items
            .iter()
            .filter_map(|item| {
                Some(part(item.as_document()?.get("shard")?.as_str()?, item.as_document()?.get("nChunks")?))
            })
            .collect(),
        (_, Some(counts)) => counts.fields.iter().map(|count| part(&count.name, &count.node)).collect(),
        _ => return None,
    };
    Some(Measured { namespace: Some(namespace.to_owned()), value: Distribution { span, parts } })
}

/// Adds what `getShardDistribution()` printed, in the words of either shell: a heading for each shard, then its figures.
pub(super) fn printed_distribution(text: &str, dump: &mut Dump) {
    let mut parts: Vec<ShardPart> = Vec::new();
    let (mut at, mut span, mut command) = (0, None, None);
    let mut is_shard = false;
    for line in text.split_inclusive('\n') {
        let (start, trimmed) = (at, line.trim());
        at += line.len();
        if trimmed.contains("getShardDistribution(") {
            command = Some(trimmed);
        } else if is_distribution_heading(trimmed) {
            let name = trimmed.split_whitespace().nth(1).unwrap_or_default();
            parts.push(ShardPart { shard: name.to_owned(), ..ShardPart::default() });
            let here = Span::new(start, start + line.trim_end().len());
            span = Some(span.map_or(here, |span: Span| span.join(here)));
            is_shard = true;
        } else if trimmed == "Totals" {
            is_shard = false;
        } else if let (true, Some(part)) = (is_shard, parts.last_mut()) {
            figures(trimmed, part);
        }
    }
    if let Some(span) = span {
        let namespace = command.and_then(namespace_of);
        dump.distributions.push(Measured { namespace, value: Distribution { span, parts } });
    }
}

/// `data : 1.16MiB docs : 4999 chunks : 2`, or one of them a line.
fn figures(line: &str, part: &mut ShardPart) {
    let words = line.split(|c: char| c.is_whitespace() || "{},:'\"".contains(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    for pair in words.windows(2) {
        match pair[0] {
            "data" => part.bytes = part.bytes.or_else(|| bytes(pair[1])),
            "docs" => part.documents = part.documents.or_else(|| pair[1].parse().ok()),
            "chunks" => part.chunks = part.chunks.or_else(|| pair[1].parse().ok()),
            _ => {}
        }
    }
}

/// `1.16MiB`, `244B`, and `1.2Gb` of old shells.
fn bytes(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..unit].parse().ok()?;
    let factor = match text[unit..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kib" | "kb" => 1024.0,
        "mib" | "mb" => 1_048_576.0,
        "gib" | "gb" => 1_073_741_824.0,
        "tib" | "tb" => 1_099_511_627_776.0,
        _ => return None,
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some((number * factor) as u64)
}

/// The collection that a typed command names: `analyzeShardKey: "shop.orders"`, `db.getSiblingDB("shop").orders.…`.
fn namespace_of(command: &str) -> Option<String> {
    let quoted = |text: &str| {
        let open = text.find(['"', '\''])?;
        let rest = &text[open + 1..];
        Some(rest[..rest.find(['"', '\''])?].to_owned())
    };
    if let Some((_, behind)) = command.split_once("analyzeShardKey") {
        let named = behind.trim_start_matches(['"', '\'', ' ']).strip_prefix(':').and_then(quoted);
        if named.as_ref().is_some_and(|name| name.contains('.')) {
            return named;
        }
    }
    let (_, behind) = command.split_once("getSiblingDB(")?;
    let database = quoted(behind)?;
    let rest = behind.split_once(')')?.1;
    if let Some((_, named)) = rest.split_once("getCollection(") {
        return Some(format!("{database}.{}", quoted(named)?));
    }
    let (path, _) = rest.trim_start_matches('.').split_once('(')?;
    Some(format!("{database}.{}", path.rsplit_once('.')?.0))
}

/// A printed value on one line.
fn one_line(text: &str, span: Span) -> String {
    text.get(span.range()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::dump::{begins_dump, dumps};

    #[test]
    fn a_grouping_tells_values_and_how_many_there_are_unless_it_may_be_cut() {
        let rows = "[ { _id: 'open', count: 900 }, { _id: 'done', count: 90 }, { _id: null, count: 10 } ]";
        assert!(begins_dump(rows));
        let dump = dumps(rows);
        let found = &dump.characteristics[0];
        assert_eq!(
            (found.namespace.as_deref(), found.value.distinct, found.value.documents),
            (None, Some(3), Some(1000))
        );
        assert_eq!(found.value.most_common[0], ("'open'".to_owned(), 900));
        let lines: String = (0..20).map(|n| format!("{{\"_id\":{n},\"count\":{}}}\n", 100 - n)).collect();
        assert_eq!(dumps(&lines).characteristics[0].value.distinct, None, "twenty rows may be a limit");
        let twice = dumps(&format!("{rows}\n{rows}"));
        assert_eq!(twice.characteristics[0].value.distinct, Some(3), "printed twice");
        assert_eq!(twice.characteristics[0].value.documents, Some(1000));
        let typed = format!(
            "shop> db.getSiblingDB('shop').orders.aggregate([{{$group: {{_id: '$a', count: {{$sum: 1}}}}}}])\n{rows}"
        );
        assert_eq!(dumps(&typed).characteristics[0].namespace.as_deref(), Some("shop.orders"));
    }

    #[test]
    fn analyze_shard_key_is_understood_with_the_command_before_it() {
        let text = "db.adminCommand({ analyzeShardKey: \"shop.orders\", key: { status: 1 } })\n{ keyCharacteristics: { numDocsTotal: Long('1000'), avgDocSizeBytes: 80, numDistinctValues: 3, mostCommonValues: [ { value: { status: 'a' }, frequency: 700 } ], monotonicity: { type: 'monotonic' } }, ok: 1 }";
        assert!(begins_dump(text));
        let found = &dumps(text).characteristics[0];
        assert_eq!(found.namespace.as_deref(), Some("shop.orders"));
        assert_eq!(
            (found.value.distinct, found.value.monotonic, found.value.documents),
            (Some(3), Some(true), Some(1000))
        );
        assert_eq!(found.value.most_common, [("{ status: 'a' }".to_owned(), 700)]);
    }

    #[test]
    fn both_shells_words_of_a_distribution_are_understood() {
        for text in [
            "Shard rs1 at rs1/localhost:27011\n data : 1.5MiB docs : 4999 chunks : 2\n estimated data per chunk : 595KiB\n\nTotals\n data : 3MiB docs : 9 chunks : 9\n",
            "Shard rs1 at rs1/a:27018\n{\n  data: '1.5MiB',\n  docs: 4999,\n  chunks: 2,\n  'estimated docs per chunk': 492\n}\n---\nTotals\n{ data: '45KiB' }\n",
        ] {
            let dump = dumps(text);
            let part =
                ShardPart { shard: "rs1".to_owned(), bytes: Some(1_572_864), documents: Some(4999), chunks: Some(2) };
            assert_eq!(dump.distributions[0].value.parts, [part], "{text}");
        }
        let document = "{ ns: 'shop.orders', shards: [ { shardName: 'a', numOrphanedDocs: 0, numOwnedDocuments: 7, ownedSizeBytes: 700, orphanedSizeBytes: 0 } ] }";
        let dump = dumps(document);
        assert_eq!(dump.distributions[0].namespace.as_deref(), Some("shop.orders"));
        assert_eq!(dump.distributions[0].value.parts[0].bytes, Some(700));
    }
}
