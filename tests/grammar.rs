//! The grammars of `grammar/` are run: on sentences made from their own rules, and on mutations of these, grammar and parser
//! have to agree, and every rejection has to say where and why. `grammar/README.md` tells how.

#[path = "grammar/sentences.rs"]
mod sentences;

use std::collections::BTreeSet;

use fastrand::Rng;
use pest_meta::ast::Rule;
use pest_meta::{optimizer, parser};
use pest_vm::Vm;
use shardlint::syntax::SyntaxError;
use shardlint::syntax::legacy::{self, bounds, plan};
use shardlint::syntax::operation;
use shardlint::syntax::shard_key;
use shardlint::syntax::shell::{Script, parse_expression};

use sentences::{Generator, Part, mutated};

const SHELL_DOCUMENT: &str = include_str!("../grammar/shell_document.pest");
const DECLARATIONS: &str = include_str!("../grammar/declarations.pest");
const OPERATION: &str = include_str!("../grammar/operation.pest");
const SHARD_KEY: &str = include_str!("../grammar/shard_key.pest");
const PLAN_SUMMARY: &str = include_str!("../grammar/plan_summary.pest");
const INDEX_BOUNDS: &str = include_str!("../grammar/index_bounds.pest");
const LEGACY_LINE: &str = include_str!("../grammar/legacy_line.pest");

/// A grammar that is run, and the parser that has to agree with it.
struct Language {
    vm: Vm,
    generator: Generator,
    start: &'static str,
    to_cover: BTreeSet<Part>,
    parse: fn(&str) -> Result<(), SyntaxError>,
}

impl Language {
    /// The language that `start` of `own` describes; `base` is a grammar that it builds on, and is covered elsewhere.
    fn new(base: &str, own: &str, start: &'static str, parse: fn(&str) -> Result<(), SyntaxError>) -> Self {
        let rules = rules_of(&format!("{base}\n{own}"));
        let known: BTreeSet<String> = rules_of(base).into_iter().map(|rule| rule.name).collect();
        let vm = Vm::new(optimizer::optimize(rules.clone()));
        let generator = Generator::new(rules);
        let to_cover = generator.parts(start).into_iter().filter(|(rule, _)| !known.contains(rule)).collect();
        Self { vm, generator, start, to_cover, parse }
    }

    fn accepts(&self, text: &str) -> bool {
        self.vm.parse(self.start, text).is_ok()
    }

    /// Grammar and parser say the same; a rejection is located and says what was expected.
    fn agrees_on(&self, text: &str) -> bool {
        let accepted = self.accepts(text);
        match (self.parse)(text) {
            Ok(()) => assert!(accepted, "the parser accepts what the grammar rejects: {text:?}"),
            Err(error) => {
                assert!(
                    !accepted,
                    "the parser rejects what the grammar accepts: {text:?}: {error} at {:?}",
                    error.span
                );
                assert!(text.get(error.span.range()).is_some(), "the span is not in the text: {text:?}: {error:?}");
                let says = error.message.contains("expected ") && !error.message.contains("something else");
                assert!(says, "nothing is expected: {text:?}: {error}");
            }
        }
        accepted
    }

    fn run(&self) {
        let setting =
            |name: &str, default: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
        let mut rng = Rng::with_seed(setting("GRAMMAR_SEED", 20_240_229));
        let mut missing = self.to_cover.clone();
        let mut accepted = [0_u64; 2];
        let count = setting("GRAMMAR_COUNT", 20_000);
        for round in 0..count {
            let (sentence, parts) = self.generator.sentence(self.start, &mut rng);
            let is_mutated = round % 2 == 1;
            let text = if is_mutated { mutated(&sentence, &mut rng) } else { sentence };
            if self.agrees_on(&text) {
                accepted[usize::from(is_mutated)] += 1;
                if !is_mutated {
                    missing.retain(|part| !parts.contains(part));
                }
            }
        }
        assert!(missing.is_empty(), "never produced in an accepted sentence: {missing:?}");
        assert!(accepted[0] > count / 4, "too few sentences are accepted: {accepted:?} of {count}");
        assert!(accepted[1] > 0 && accepted[1] < count / 2, "mutations should be accepted at times: {accepted:?}");
    }
}

fn rules_of(grammar: &str) -> Vec<Rule> {
    if grammar.is_empty() {
        return Vec::new();
    }
    let pairs = parser::parse(parser::Rule::grammar_rules, grammar).expect("the grammar is well-formed");
    pest_meta::validator::validate_pairs(pairs.clone()).expect("the grammar is sound");
    parser::consume_rules(pairs).expect("the grammar has no left recursion")
}

fn shell_documents() -> Language {
    Language::new("", SHELL_DOCUMENT, "document_text", |text| parse_expression(text, 0).map(|_| ()))
}

fn declarations() -> Language {
    Language::new(SHELL_DOCUMENT, DECLARATIONS, "script", |text| {
        Script::parse(text).errors.into_iter().next().map_or(Ok(()), Err)
    })
}

fn shard_keys() -> Language {
    Language::new(SHELL_DOCUMENT, SHARD_KEY, "shard_key_text", |text| shard_key::parse_form(text).map(|_| ()))
}

fn operations() -> Language {
    let base = format!("{SHELL_DOCUMENT}\n{DECLARATIONS}");
    Language::new(&base, OPERATION, "operation", |text| operation::parse_form(text).map(|_| ()))
}

fn plan_summaries() -> Language {
    Language::new("", PLAN_SUMMARY, "plan_summary_text", |text| plan::parse(text, 0).map(|_| ()))
}

fn index_bounds() -> Language {
    Language::new(PLAN_SUMMARY, INDEX_BOUNDS, "index_bounds_text", |text| bounds::parse(text, 0).map(|_| ()))
}

fn legacy_lines() -> Language {
    Language::new(PLAN_SUMMARY, LEGACY_LINE, "legacy_line", legacy::parse_form)
}

#[test]
fn plan_summaries_are_what_their_grammar_says() {
    plan_summaries().run();
}

#[test]
fn index_bounds_are_what_their_grammar_says() {
    index_bounds().run();
}

#[test]
fn legacy_lines_are_what_their_grammar_says() {
    legacy_lines().run();
}

#[test]
fn shell_documents_are_what_their_grammar_says() {
    shell_documents().run();
}

#[test]
fn declarations_are_what_their_grammar_says() {
    declarations().run();
}

#[test]
fn shard_keys_are_what_their_grammar_says() {
    shard_keys().run();
}

#[test]
fn operations_are_what_their_grammar_says() {
    operations().run();
}

#[test]
fn texts_as_people_write_them_are_accepted_by_grammar_and_parser() {
    let documents = shell_documents();
    for text in [
        "{ v: 2, key: { 'items.sku': 1, loc: \"2dsphere\" }, name: 'x', expireAfterSeconds: 60 * 60 * 24 }",
        "{\n\t\"_id\" : ObjectId(\"5f0000000000000000000000\"),\n\t\"n\" : NumberLong(\"9007199254740993\"),\n\t\"e\" : [ ]\n}",
        "[ { a: new Date(2024, 0, 1) }, /^a[/]b/i, -Infinity, undefined, ... 3 more items ]",
        "{ $where: function () { return /}/.test(this.a) && \"}\" }, /* never */ b: { $minKey: 1 }, } // end",
    ] {
        assert!(documents.agrees_on(text), "{text}");
    }
    let scripts = declarations();
    for text in [
        "#!/usr/bin/env mongosh\n'use strict';\nuse shop\nsh.shardCollection(\"shop.orders\", { customerId: 1, _id: 1 }); // key\n",
        "for (const n of [1, 2]) { print(`${n}: ${\"}\"}`) }\ndb.orders\n  .createIndex({ a: 1 }, { unique: true })\n",
        "const shop = db.getSiblingDB('shop')\nassert.commandWorked(shop.runCommand({ createIndexes: 'orders', indexes: [] }), 'no')",
    ] {
        assert!(scripts.agrees_on(text), "{text}");
    }
    let plans = plan_summaries();
    for text in [
        "IXSCAN { a.b: 1, c d: -1.0, : \"hashed\" }, COLLSCAN, IXSCAN { $**: \"text\", _fts: \"text\" }",
        "IXSCAN { a: \"x\", b: \"he said \"no\", and } went\", c: [ \"p\", \"q\" ], d: /a/b, c/i, e: function() { return 1; } }",
    ] {
        assert!(plans.agrees_on(text), "{text}");
    }
    let intervals = index_bounds();
    for text in ["[\"new\", \"new\"]", "(new Date(0), { a: [ 1 ] })", "[\"a \"b\", \"c\"]", "[MaxKey, MinKey]"] {
        assert!(intervals.agrees_on(text), "{text}");
    }
    let lines = legacy_lines();
    for text in [
        "Mon Aug  5 20:21:43.123 [conn2] query shop.orders query: { a: Timestamp 145000|10 } ntoreturn:0 numYields: 5 locks(micros) r:86 nreturned:0 reslen:20 0ms",
        "2019-06-18T12:02:00.506+0100 I COMMAND  [conn7] command shop.my orders appName: \"a \"b\" c\" command: find { find: \"my orders\", filter: { id: UUID(\"0a\"), t: { $lt: new Date(5) } } } planSummary: IXSCAN { a: 1 } locks:{ Global: { acquireCount: { r: 1 } } } protocol:op_msg 12ms",
        "Aug 23 07:10:23 host1 mongod.27017[771]: [conn9] insert shop.orders ninserted:0 exception: E11000 dup key: { : 5 } code:11000 5ms",
    ] {
        assert!(lines.agrees_on(text), "{text}");
    }
    assert!(operations().agrees_on("db.orders.find({ a: 1 }).sort({ b: -1 }).forEach(d => { print(`${d}`) });"));
    assert!(shard_keys().agrees_on("shop_*.orders.2024={ \"a.b\": 1, _id: 'hashed' }"));
}
