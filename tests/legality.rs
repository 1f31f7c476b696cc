//! Holds the rules on declared keys and indexes against what real servers accepted and refused (`tests/data/legality`).
//! A row agrees if an error is found on its collection exactly when the server refused.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value as Json;
use shardlint::catalog::{Catalog, Collection, IndexList, Sharding};
use shardlint::model::{Document, Field, IndexSpec, Node, ServerVersion, ShardKey, Value};
use shardlint::rules::{Check, DeclarationContext, Finding, REGISTRY, Severity, Thresholds};
use shardlint::text::{Located, SourceId, Span};

const JUDGES: [&str; 5] = ["SL500", "SL401", "SL402", "SL403", "SL404"];

/// The members of a JSON object in their order.
#[derive(Debug)]
struct Members(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    key: Members,
    #[serde(default)]
    unique: bool,
    #[serde(default)]
    prepare_unique: bool,
    #[serde(default)]
    sparse: bool,
    #[serde(default)]
    hidden: bool,
    partial_filter_expression: Option<Json>,
    collation: Option<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Row {
    kind: Option<String>,
    pattern: Option<Members>,
    shard_key: Option<Members>,
    key: Option<Members>,
    index: Option<Json>,
    indexes: Option<Vec<Index>>,
    unique: Option<bool>,
    unique_shard_key: Option<bool>,
    prepare_unique: Option<bool>,
    collation: Option<Json>,
    collection_empty: Option<bool>,
    valid: Option<bool>,
    legal: Option<bool>,
    ok: Option<bool>,
    error: Option<Json>,
}

/// What is declared about a collection, and whether the server took it.
struct Case {
    key: Members,
    unique_key: bool,
    indexes: Vec<Index>,
    complete: bool,
    accepted: bool,
}

/// The case of a row; `None` if statements cannot express it.
fn case(line: &str) -> Option<Case> {
    if line.contains("multikey") {
        return None;
    }
    let row: Row = serde_json::from_str(line).expect("a row");
    let code = row.error.as_ref().and_then(|error| error["codeName"].as_str()).unwrap_or_default();
    if code == "InvalidIndexSpecificationOption" {
        return None;
    }
    let index = |text: &str| serde_json::from_str::<Option<Index>>(text).expect("an index");
    let raw = || serde_json::from_str::<RawIndex<'_>>(line).expect("a row").index.map(|raw| raw.get());
    let statement = |key, index: Option<Index>, accepted| Case {
        key,
        unique_key: false,
        indexes: index.into_iter().collect(),
        complete: false,
        accepted,
    };
    match row.kind.as_deref() {
        Some("shard-key") => Some(statement(row.pattern?, None, row.valid?)),
        Some("unique-index") => {
            let prepare_unique = row.prepare_unique.unwrap_or_default();
            let index = Index {
                key: serde_json::from_str(raw()?).expect("a pattern"),
                unique: row.unique.unwrap_or(!prepare_unique),
                prepare_unique,
                sparse: false,
                hidden: false,
                partial_filter_expression: None,
                collation: row.collation,
            };
            Some(statement(row.shard_key?, Some(index), row.legal?))
        }
        Some("shard-collection") if row.collection_empty == Some(false) => Some(Case {
            key: row.key?,
            unique_key: row.unique.unwrap_or_default(),
            indexes: row.indexes.unwrap_or_default(),
            complete: true,
            accepted: row.ok?,
        }),
        Some(_) => None,
        None => match (row.unique_shard_key, row.unique, row.index.is_some()) {
            (Some(unique_key), _, _) => Some(Case {
                key: row.shard_key?,
                unique_key,
                indexes: index(raw().unwrap_or("null")).into_iter().collect(),
                complete: true,
                accepted: row.ok?,
            }),
            (None, Some(unique_key), false) => Some(Case { unique_key, ..statement(row.shard_key?, None, row.ok?) }),
            _ => Some(statement(row.shard_key?, index(raw()?), row.ok?)),
        },
    }
}

#[derive(Deserialize)]
struct RawIndex<'a> {
    #[serde(borrow)]
    index: Option<&'a serde_json::value::RawValue>,
}

/// A value of a key pattern; kinds that no pattern has become documents.
fn value(json: &Json) -> Value {
    let number = |name: &str| json.get(name).and_then(Json::as_str).and_then(|text| text.parse::<f64>().ok());
    match json {
        Json::String(text) => Value::String(text.clone()),
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Null => Value::Null,
        Json::Number(n) => Value::Double(n.as_f64().expect("a number")),
        _ => match ["$numberInt", "$numberLong", "$numberDouble"].into_iter().find_map(number) {
            Some(number) => Value::Double(number),
            None => Value::Document(Document::default()),
        },
    }
}

fn document(Members(members): &Members) -> Document {
    let node = |json| Node::synthetic(value(json));
    let fields = members
        .iter()
        .map(|(name, json)| Field { name: name.clone(), name_span: Span::default(), node: node(json) })
        .collect();
    Document { fields, partial: false }
}

fn spec(index: &Index) -> IndexSpec {
    let flag = |is_set: bool| is_set.then(Span::default);
    let locale = |collation: &Json| {
        let locale = Members(vec![("locale".to_owned(), collation["locale"].clone())]);
        Node::synthetic(Value::Document(document(&locale)))
    };
    IndexSpec {
        unique: flag(index.unique),
        prepare_unique: flag(index.prepare_unique),
        sparse: flag(index.sparse),
        hidden: flag(index.hidden),
        partial_filter: index.partial_filter_expression.as_ref().map(|_| Node::default()),
        collation: index.collation.as_ref().map(locale),
        ..IndexSpec::plain(document(&index.key), Span::default(), Span::default())
    }
}

fn collection(case: &Case) -> Collection {
    let pattern = Node::synthetic(Value::Document(document(&case.key)));
    let specs = case.indexes.iter().map(|index| (SourceId(1), spec(index))).collect();
    Collection {
        pattern: "shop.orders".to_owned(),
        sharding: ShardKey::from_pattern(&pattern).map_or(Sharding::Invalid, Sharding::Sharded),
        key_pattern: Some(pattern),
        source: SourceId(0),
        unique_key: case.unique_key.then(|| Located::new(true, Span::default())),
        collation: None,
        indexes: IndexList { specs, complete: case.complete },
        chunks: None,
        characteristics: None,
        distribution: None,
        jumbo: Vec::new(),
        zones: Vec::new(),
    }
}

/// The codes of the errors that the rules find.
fn refusals(case: &Case) -> Vec<&'static str> {
    let (catalog, collection) = (Catalog::default(), collection(case));
    let version = ServerVersion::new(6, 0, 5);
    let ctx = DeclarationContext {
        collection: &collection,
        catalog: &catalog,
        version,
        version_assumed: false,
        thresholds: &Thresholds::default(),
    };
    let mut codes = Vec::new();
    for rule in REGISTRY.iter().filter(|rule| JUDGES.contains(&rule.code)) {
        let Check::Declaration(check) = rule.check else { panic!("{} judges declarations", rule.code) };
        let mut findings: Vec<Finding> = Vec::new();
        check(&ctx, &mut findings);
        if findings.iter().any(|finding| finding.severity.unwrap_or(rule.severity) == Severity::Error) {
            codes.push(rule.code);
        }
    }
    codes
}

/// Judges all rows of a file; at least `expected` of them have to be cases.
fn holds(name: &str, expected: usize) {
    let path = format!("{}/tests/data/legality/{name}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::File::open(&path).expect(&path);
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("gzip");
    let cases: Vec<(&str, Case)> = text.lines().filter_map(|line| Some((line, case(line)?))).collect();
    assert!(cases.len() >= expected, "{name}: only {} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(_, case)| refusals(case).is_empty() != case.accepted)
        .map(|(line, case)| format!("{:?}: {line}", refusals(case)))
        .collect();
    assert!(wrong.is_empty(), "{name}: {} of {} disagree\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn shard_keys_are_refused_as_by_a_server() {
    holds("shard-key-legality", 50);
}

#[test]
fn collections_with_documents_are_refused_as_by_a_server() {
    holds("shard-collection-with-index", 140);
}

#[test]
fn indexes_on_sharded_collections_are_refused_as_by_a_server() {
    holds("create-index-on-sharded", 72);
}

#[test]
fn what_public_server_tests_assert_holds() {
    holds("documented", 70);
}
