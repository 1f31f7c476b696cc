//! The words, places and severities of the rules, on verdicts and declarations made by hand: what the router does is
//! the routing tests' matter.

mod costs;
mod declarations;
mod indexes;
mod key_changes;
mod reads;
mod writes;

use shardlint::catalog::{Catalog, Collection};
use shardlint::model::{
    Document, Event, Field, Namespace, Node, ServerVersion, ShardKey, Statement, Traffic, Value, Verb,
};
use shardlint::routing::{Cause, Class, FieldBinding, FieldBounds, Reason, Verdict};
use shardlint::rules::{Check, EventContext, Finding, Rule, Thresholds, rule};
use shardlint::text::{SourceId, Span};

/// Where the parts of a made-up record stand.
const NAME: Span = Span { start: 1, end: 5 };
const FILTER: Span = Span { start: 10, end: 40 };
const PREDICATE: Span = Span { start: 12, end: 20 };
const PLAN: Span = Span { start: 50, end: 58 };
const SHARDS: Span = Span { start: 60, end: 61 };

fn node(value: Value, span: Span) -> Node {
    Node { value, span }
}

/// A document of `name: value` at `span`.
fn document(fields: &[(&str, Value)], span: Span) -> Node {
    let fields = fields
        .iter()
        .map(|(name, value)| Field {
            name: (*name).to_owned(),
            name_span: PREDICATE,
            node: node(value.clone(), PREDICATE),
        })
        .collect();
    node(Value::Document(Document { fields, partial: false }), span)
}

fn key(fields: &[&str]) -> ShardKey {
    let fields: Vec<(&str, Value)> = fields
        .iter()
        .map(|field| match field.strip_suffix('#') {
            Some(hashed) => (hashed, Value::String("hashed".to_owned())),
            None => (*field, Value::Int32(1)),
        })
        .collect();
    ShardKey::from_pattern(&document(&fields, Span::default())).expect("a key")
}

/// One statement on `shop.orders`, its verdict and what is declared.
struct Scene {
    event: Event,
    statement: Statement,
    verdict: Verdict,
    collection: Collection,
    catalog: Catalog,
    version: ServerVersion,
}

impl Scene {
    /// A statement with a filter, on a collection with that key; a field whose name ends in `#` is hashed.
    fn new(verb: Verb, class: Class, cause: Cause, key_fields: &[&str]) -> Self {
        let namespace = Namespace::new("shop", "orders");
        let key = key(key_fields);
        let mut statement = Statement::new(verb, namespace.clone(), NAME, Span::new(0, 45));
        statement.filter = Some(document(&[("status", Value::Int32(1))], FILTER));
        let bindings = key
            .fields
            .iter()
            .map(|field| FieldBinding {
                path: field.path.clone(),
                bounds: FieldBounds::Free,
                intervals: Vec::new(),
                predicates: Vec::new(),
            })
            .collect();
        let reason = Reason { cause, bindings, version_rules: Vec::new(), ranges: Vec::new() };
        let mut event = Event::new(namespace, Traffic::Query, Span::new(0, 45));
        event.statements = vec![statement.clone()];
        Self {
            event,
            statement,
            verdict: Verdict { class, shards: None, at_most: None, error: None, two_phase: false, reason },
            collection: Collection::sharded("shop.orders", key, SourceId(0)),
            catalog: Catalog::default(),
            version: ServerVersion::line(6, 0),
        }
    }

    fn bind(&mut self, path: &str, bounds: FieldBounds) {
        let bindings = &mut self.verdict.reason.bindings;
        let binding = bindings.iter_mut().find(|binding| binding.path == path).expect("a key field");
        binding.bounds = bounds;
        binding.predicates = vec![PREDICATE];
    }

    fn finding(&self, code: &str) -> Option<Finding> {
        let Check::Statement(check) = checked(code).check else { panic!("{code} judges statements") };
        check(&EventContext {
            event: &self.event,
            statement: &self.statement,
            namespace: "shop.orders",
            verdict: Some(&self.verdict),
            collection: Some(&self.collection),
            catalog: &self.catalog,
            version: self.version,
            version_assumed: false,
            thresholds: &Thresholds::default(),
        })
    }

    fn fires(&self, code: &str) -> Finding {
        self.finding(code).unwrap_or_else(|| panic!("{code} is silent"))
    }

    /// Those of `codes` that fire.
    fn firing<'a>(&self, codes: &[&'a str]) -> Vec<&'a str> {
        codes.iter().copied().filter(|code| self.finding(code).is_some()).collect()
    }
}

fn checked(code: &str) -> &'static Rule {
    rule(code).unwrap_or_else(|| panic!("no rule {code}"))
}
