//! The JSON Schemas of the files that users write or keep are made from the types that read them. `UPDATE=1` writes them.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs;
use std::path::Path;

use serde_json::Value;
use shardlint::{baseline::Baseline, config::File};

fn hold_against(name: &str, schema: &schemars::Schema) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema").join(name);
    let is = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &is).unwrap();
    }
    let was = fs::read_to_string(&path).unwrap_or_default();
    assert!(was == is, "docs/schema/{name} is out of date; `UPDATE=1 cargo test --test schemas` writes it");
    jsonschema::meta::validate(&serde_json::from_str::<Value>(&is).unwrap()).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_schema_of_a_baseline_is_up_to_date() {
    hold_against("baseline.json", &schemars::schema_for!(Baseline));
}

#[test]
fn the_schema_of_the_configuration_is_up_to_date() {
    hold_against("shardlint.toml.json", &schemars::schema_for!(File));
}

/// The file as JSON, dates as texts.
fn as_json(text: &str) -> Value {
    fn value(toml: toml::Value) -> Value {
        match toml {
            toml::Value::Table(table) => table.into_iter().map(|(key, of)| (key, value(of))).collect(),
            toml::Value::Array(list) => list.into_iter().map(value).collect(),
            toml::Value::Datetime(date) => date.to_string().into(),
            other => serde_json::to_value(other).unwrap(),
        }
    }
    value(toml::Value::Table(text.parse().unwrap()))
}

#[test]
fn the_schema_takes_what_the_program_takes_and_refuses_what_it_refuses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/shardlint.toml.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for text in [
        "",
        "schema = \"sharding.js\"\ninputs = [\"a.log\", \"b.log\"]\nshards = 3\nfail-on = \"warning\"",
        "[rules]\nselect = \"ALL\"\n[rules.severity]\nSL301 = \"info\"",
        "[shard-keys]\n\"shop.orders\" = '{ customerId: 1 }'",
        "[[ignore]]\nrule = [\"SL101\"]\nnamespace = \"shop.*\"\nreason = \"x\"\nuntil = 2027-01-31",
        "[[namespace]]\nname = \"archive.*\"\nmax-broadcast-share = \"50%\"\n[thresholds]\nfew-ranges = 4",
    ] {
        assert!(validator.is_valid(&as_json(text)), "{text}");
    }
    for text in [
        "shcema = \"x\"",
        "shards = 0",
        "fail-on = \"errors\"",
        "[rules.severity]\nSL301 = \"loud\"",
        "[[ignore]]\nrule = \"SL101\"",
        "[[ignore]]\nrule = \"SL101\"\nreason = \"x\"\nshape = \"abc\"",
        "[thresholds]\nfew-range = 4",
    ] {
        assert!(!validator.is_valid(&as_json(text)), "{text}");
    }
}
