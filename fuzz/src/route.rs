//! The router's decision on an operation: a case of `route --cases`, or a declaration and what is typed against it.

use shardlint::catalog::{Catalog, Collection};
use shardlint::engine::check_typed;
use shardlint::model::{ChunkMap, Event, ServerVersion, Statement, Traffic};
use shardlint::report::{Diagnostic, Report};
use shardlint::routing::{self, Cluster, Verdict};
use shardlint::syntax::recognize::looks_like_declaration;
use shardlint::syntax::{operation, parse_case};

use crate::check::assert_renders;
use crate::declarations::{Declared, settings};
use crate::spans::assert_located;

/// The line between a declaration and an operation.
const SEPARATOR: &str = "\n----\n";

/// A declaration for operations that come without one.
const DECLARATION: &str = r#"sh.shardCollection("shop.orders", { customerId: 1, _id: 1 })
sh.shardCollection("shop.customers", { _id: "hashed" })
sh.shardCollection("shop.events", { "meta.tenant": 1, ts: 1 })"#;

/// The versions between which the router's rules differ.
const VERSIONS: [ServerVersion; 4] =
    [ServerVersion::new(4, 4, 0), ServerVersion::new(6, 0, 5), ServerVersion::new(7, 0, 0), ServerVersion::NEWEST];

/// Routes what the text asks; the class must not depend on the chunks, nor shards be told that do not exist.
pub fn route(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if text.trim_start().starts_with('{') {
        route_case(text);
    } else {
        let (declaration, operation) = text.split_once(SEPARATOR).unwrap_or((DECLARATION, text));
        route_typed(declaration, operation);
    }
}

fn route_case(text: &str) {
    let mut case = match parse_case(text) {
        Ok(case) => case,
        Err(error) => return assert_located(text, &error),
    };
    let verdict = routing::route_case(&case);
    assert_eq!(verdict, routing::route_case(&case), "asked twice: {text}");
    assert_shards(&verdict, case.chunks.as_ref(), case.all_shards.as_deref());
    (case.chunks, case.all_shards) = (None, None);
    assert_without_chunks(&verdict, &routing::route_case(&case));
}

fn route_typed(declaration: &str, text: &str) {
    let declared = Declared::read(declaration, looks_like_declaration(declaration.as_bytes()));
    let catalog = &declared.catalog;
    let Ok(statements) = operation::parse(text, |name| catalog.database_of(name).map(str::to_owned)) else { return };
    for statement in &statements {
        let Some(collection) = catalog.get(statement.namespace.as_str()) else { continue };
        for version in VERSIONS {
            assert_routed(statement, collection, catalog, version);
            let report = Report {
                diagnostics: findings(statement, text, &declared, version),
                declarations: declared.texts.texts.clone(),
                ..Report::default()
            };
            assert_renders(&report);
        }
    }
}

fn assert_routed(statement: &Statement, collection: &Collection, catalog: &Catalog, version: ServerVersion) {
    let all_shards = catalog.shards.as_deref();
    let ask = |collection, all_shards, explain| {
        routing::route(statement, Cluster { collection, all_shards, version, explain })
    };
    let verdict = ask(collection, all_shards, true);
    let brief = ask(collection, all_shards, false);
    assert_eq!((brief.class, &brief.shards), (verdict.class, &verdict.shards), "explaining changes the verdict");
    assert_shards(&verdict, collection.chunks.as_ref(), all_shards);
    let blind = Collection { chunks: None, ..collection.clone() };
    assert_without_chunks(&verdict, &ask(&blind, None, true));
}

fn findings(statement: &Statement, text: &str, declared: &Declared, version: ServerVersion) -> Vec<Diagnostic> {
    let mut event = Event::new(statement.namespace.clone(), Traffic::Query, statement.span);
    event.verb = Some(statement.verb);
    event.name_span = statement.name_span;
    event.statements = vec![statement.clone()];
    let settings = settings(declared.catalog.clone(), Some(version), 1);
    check_typed(&event, text, &settings, &declared.texts)
}

/// The class is the same without a chunk map, and then nothing is said about shards.
fn assert_without_chunks(verdict: &Verdict, blind: &Verdict) {
    assert_eq!(verdict.class, blind.class, "{verdict:?} without chunks {blind:?}");
    assert_eq!(blind.shards, None);
}

/// Shards are told once each, in order, and exist.
fn assert_shards(verdict: &Verdict, chunks: Option<&ChunkMap>, all_shards: Option<&[String]>) {
    let Some(shards) = &verdict.shards else { return };
    assert!(shards.is_sorted_by(|a, b| a < b), "{shards:?}");
    let owners = chunks.iter().flat_map(|map| &map.chunks).map(|chunk| &chunk.shard);
    let known: Vec<&String> = owners.chain(all_shards.into_iter().flatten()).collect();
    assert!(shards.iter().all(|shard| known.contains(&shard)), "{shards:?} of {known:?}");
}
