//! Declared keys and indexes: SL4xx and SL500. Which of them a server refuses is held in `tests/legality.rs`.

use shardlint::catalog::{Catalog, Collection, IndexList, Sharding};
use shardlint::model::{IndexSpec, ServerVersion, ShardKey, Value};
use shardlint::rules::{Check, DeclarationContext, Finding, Severity, Thresholds};
use shardlint::text::{Located, SourceId, Span};

use super::{checked, document, key, node};

const KEY: Span = Span { start: 100, end: 120 };
const PATTERN: Span = Span { start: 30, end: 40 };
const OPTION: Span = Span { start: 42, end: 54 };

/// An index of ascending fields, without options, that stands at `start` of the declaration.
fn index(fields: &[&str], start: usize) -> IndexSpec {
    let fields: Vec<(&str, Value)> = fields.iter().map(|field| (*field, Value::Int32(1))).collect();
    let Value::Document(key) = document(&fields, PATTERN).value else { unreachable!("a document") };
    IndexSpec::plain(key, PATTERN, Span::new(start, start + 40))
}

fn unique(fields: &[&str]) -> IndexSpec {
    IndexSpec { unique: Some(OPTION), ..index(fields, 20) }
}

/// A collection whose key stands at [`KEY`], all in one file.
fn collection(fields: &[&str], indexes: Vec<IndexSpec>) -> Collection {
    let key = ShardKey { span: KEY, ..key(fields) };
    Collection {
        pattern: "shop.orders".to_owned(),
        sharding: Sharding::Sharded(key),
        key_pattern: None,
        source: SourceId(0),
        unique_key: None,
        collation: None,
        indexes: IndexList { specs: indexes.into_iter().map(|spec| (SourceId(0), spec)).collect(), complete: false },
        chunks: None,
        characteristics: None,
        distribution: None,
        jumbo: Vec::new(),
        zones: Vec::new(),
    }
}

fn findings_of(code: &str, collection: &Collection, version: ServerVersion) -> Vec<Finding> {
    let Check::Declaration(check) = checked(code).check else { panic!("{code} judges declarations") };
    let mut findings = Vec::new();
    let catalog = Catalog::default();
    check(
        &DeclarationContext {
            collection,
            catalog: &catalog,
            version,
            version_assumed: false,
            thresholds: &Thresholds::default(),
        },
        &mut findings,
    );
    findings
}

fn findings(code: &str, collection: &Collection) -> Vec<Finding> {
    findings_of(code, collection, ServerVersion::line(6, 0))
}

/// The only finding, and its severity.
fn one(code: &str, collection: &Collection) -> (Finding, Severity) {
    let mut found = findings(code, collection);
    assert_eq!(found.len(), 1, "{code}: {found:?}");
    let finding = found.remove(0);
    let severity = finding.severity.unwrap_or(checked(code).severity);
    (finding, severity)
}

#[test]
fn without_any_declared_index_nothing_is_said_about_the_missing_one() {
    assert!(findings("SL401", &collection(&["customerId"], Vec::new())).is_empty());
}

#[test]
fn a_missing_index_is_an_error_only_where_all_indexes_are_known() {
    let mut declared = collection(&["customerId"], vec![index(&["status"], 0)]);
    let (finding, severity) = one("SL401", &declared);
    assert_eq!(severity, Severity::Warning);
    assert!(finding.message.ends_with("created by itself if the collection is empty, refused otherwise"));
    declared.indexes.complete = true;
    let (finding, severity) = one("SL401", &declared);
    assert_eq!((severity, finding.labels[0].span), (Severity::Error, KEY));
    let help = "create it: `db.getSiblingDB(\"shop\").orders.createIndex({ customerId: 1 })`";
    assert_eq!(finding.help.as_deref(), Some(help));
    assert_eq!(finding.subject, Some(("shop.orders".to_owned(), "key".to_owned())));
}

#[test]
fn an_index_in_another_direction_is_pointed_at() {
    let mut descending = index(&["customerId"], 0);
    descending.key.fields[0].node = node(Value::Int32(-1), PATTERN);
    let (finding, _) = one("SL401", &collection(&["customerId"], vec![descending]));
    assert_eq!(finding.labels[1].text, "`{ customerId: -1 }` has the fields in another direction or kind");
}

#[test]
fn the_id_index_always_exists() {
    let mut by_id = collection(&["_id"], Vec::new());
    by_id.indexes.complete = true;
    assert!(findings("SL401", &by_id).is_empty());
    by_id.collation = Some(document(&[("locale", Value::String("en".to_owned()))], OPTION));
    assert_eq!(one("SL402", &by_id).1, Severity::Error);
}

#[test]
fn an_unusable_index_names_each_reason_in_place() {
    let mut unfit = index(&["customerId", "status"], 0);
    (unfit.sparse, unfit.hidden) = (Some(OPTION), Some(Span::new(60, 70)));
    let mut declared = collection(&["customerId"], vec![unfit]);
    declared.indexes.complete = true;
    let (finding, severity) = one("SL402", &declared);
    assert_eq!(severity, Severity::Error);
    assert!(finding.message.ends_with("what starts with it is sparse, is hidden"), "{}", finding.message);
    let spans: Vec<Span> = finding.labels.iter().map(|label| label.span).collect();
    assert_eq!(spans, [OPTION, Span::new(60, 70), KEY]);
    declared.indexes.specs.push((SourceId(0), index(&["customerId"], 0)));
    assert!(findings("SL402", &declared).is_empty());
}

#[test]
fn an_unusable_index_made_after_sharding_is_a_warning() {
    let sparse = |start| IndexSpec { sparse: Some(OPTION), ..index(&["customerId"], start) };
    assert_eq!(one("SL402", &collection(&["customerId"], vec![sparse(0)])).1, Severity::Error);
    assert_eq!(one("SL402", &collection(&["customerId"], vec![sparse(200)])).1, Severity::Warning);
    let named = IndexSpec { name: Some("few".to_owned()), ..sparse(0) };
    assert_eq!(one("SL402", &collection(&["customerId"], vec![named])).1, Severity::Warning);
}

#[test]
fn an_illegal_unique_index_is_shown_at_its_option_with_both_ways_out() {
    let (finding, severity) = one("SL403", &collection(&["region"], vec![unique(&["email"])]));
    assert_eq!((severity, finding.labels[0].span, finding.labels[1].span), (Severity::Error, OPTION, PATTERN));
    assert_eq!(finding.subject, Some(("shop.orders".to_owned(), "email_1".to_owned())));
    let help = finding.help.expect("help");
    assert!(help.contains("lead the index with the key") && help.contains("or shard by `email`"), "{help}");
}

#[test]
fn the_key_or_id_may_lead_a_unique_index() {
    for fields in [vec!["region", "email"], vec!["_id", "email"]] {
        assert!(findings("SL403", &collection(&["region"], vec![unique(&fields)])).is_empty(), "{fields:?}");
    }
}

#[test]
fn a_unique_key_needs_a_unique_index_of_exactly_its_fields() {
    let mut declared = collection(&["region"], vec![index(&["region"], 0)]);
    declared.unique_key = Some(Located::new(true, OPTION));
    assert_eq!(one("SL403", &declared).0.labels[0].span, OPTION);
    declared.indexes.specs = vec![(SourceId(0), index(&["region", "email"], 0))];
    assert!(findings("SL403", &declared).is_empty(), "an empty collection gets the index");
    declared.indexes.complete = true;
    assert_eq!(one("SL403", &declared).1, Severity::Error);
    declared.unique_key = Some(Located::new(false, OPTION));
    assert!(findings("SL403", &declared).is_empty());
}

#[test]
fn neither_a_hashed_index_nor_a_hashed_key_is_unique() {
    let mut hashed = unique(&["token"]);
    hashed.key.fields[0].node = node(Value::String("hashed".to_owned()), PATTERN);
    let declared = collection(&["token"], vec![hashed]);
    assert_eq!(one("SL404", &declared).1, Severity::Error);
    assert!(findings("SL403", &declared).is_empty());
    let mut key = collection(&["token#"], Vec::new());
    assert!(findings("SL404", &key).is_empty());
    key.unique_key = Some(Located::new(true, OPTION));
    assert_eq!(one("SL404", &key).0.labels[0].span, OPTION);
}

#[test]
fn a_unique_index_with_a_collation_is_refused_by_new_servers_only() {
    let collation = document(&[("locale", Value::String("en".to_owned()))], OPTION);
    let collated = IndexSpec { collation: Some(collation), ..unique(&["region"]) };
    let declared = collection(&["region"], vec![collated.clone()]);
    assert_eq!(one("SL404", &declared).1, Severity::Warning);
    assert_eq!(findings_of("SL404", &declared, ServerVersion::line(9, 0))[0].severity, None);
    assert!(findings("SL404", &collection(&["region#"], vec![collated])).is_empty());
}

#[test]
fn the_uniqueness_of_ids_is_doubted_only_where_their_index_is_known() {
    let mut declared = collection(&["region"], vec![index(&["region"], 0)]);
    assert!(findings("SL405", &declared).is_empty());
    declared.indexes.complete = true;
    assert_eq!(one("SL405", &declared).1, Severity::Warning);
    let mut by_id = collection(&["_id#"], vec![index(&["region"], 0)]);
    by_id.indexes.complete = true;
    assert!(findings("SL405", &by_id).is_empty());
}

#[test]
fn an_invalid_key_is_shown_part_by_part() {
    let mut declared = collection(&["a"], Vec::new());
    declared.sharding = Sharding::Invalid;
    declared.key_pattern = Some(document(&[("a", Value::Int32(-1)), ("b.", Value::Int32(1))], KEY));
    let (finding, _) = one("SL500", &declared);
    assert_eq!(finding.message, "the shard key of `shop.orders` is refused: expected 1 or `\"hashed\"`");
    assert_eq!(finding.labels.len(), 2);
}

#[test]
fn a_compound_hashed_key_needs_4_4() {
    let declared = collection(&["a", "b#"], Vec::new());
    assert!(findings_of("SL500", &declared, ServerVersion::line(4, 4)).is_empty());
    assert_eq!(findings_of("SL500", &declared, ServerVersion::line(4, 2)).len(), 1);
}

#[test]
fn a_label_in_another_file_says_so() {
    let mut declared = collection(&["region"], Vec::new());
    declared.indexes.specs = vec![(SourceId(1), unique(&["email"]))];
    let (finding, _) = one("SL403", &declared);
    assert_eq!(finding.source, Some(SourceId(1)));
    let sources: Vec<Option<SourceId>> = finding.labels.iter().map(|label| label.source).collect();
    assert_eq!(sources, [None, None, Some(SourceId(0))]);
}
