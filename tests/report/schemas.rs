//! The formats that other programs define, held against their schemas; and our own, whose schema is generated.
//! `UPDATE=1 cargo test --test report` writes `docs/schema/report.json` anew.

use std::fs;
use std::path::{Path, PathBuf};

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde_json::Value;

use super::binary::shardlint;

/// Logs and declarations of all stories, and a path that has to be encoded.
fn runs() -> Vec<(String, String)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut folders: Vec<PathBuf> = fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    let runs = folders.iter().map(|folder| {
        let inputs = ["mongos.log", "mongod.log", "explain.txt"].map(|name| folder.join(name));
        // A story with several logs is read as a folder.
        let input = inputs.into_iter().find(|input| input.exists()).unwrap_or_else(|| folder.clone());
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        (text(folder.join("sharding.js")), text(input))
    });
    let runs: Vec<_> = runs.collect();
    assert!(runs.len() > 10);
    runs
}

/// What every story gives in that format.
fn outputs(format: &str, more: &[&str]) -> Vec<String> {
    let output = |(schema, log): &(String, String)| {
        let mut arguments = vec!["check", "--schema", schema, "--format", format, log];
        arguments.extend(more);
        let run = shardlint(&arguments, None);
        assert!(run.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    runs().iter().map(output).collect()
}

fn hold_against(schema: &str, outputs: &[String]) {
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    // The pattern for languages in SARIF's schema has a bracket too many, which validators refuse.
    for definition in ["run", "toolComponent"] {
        if let Some(language) = schema.pointer_mut(&format!("/definitions/{definition}/properties/language")) {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    for output in outputs {
        let value: Value = serde_json::from_str(output).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}\n{output}", errors.join("\n"));
    }
}

#[test]
fn sarif_is_valid() {
    hold_against("tests/data/schemas/sarif-2.1.0.json", &outputs("sarif", &[]));
    hold_against("tests/data/schemas/sarif-2.1.0.json", &outputs("sarif", &["--no-redact", "--per-event"]));
}

#[test]
fn rdjson_is_valid() {
    hold_against("tests/data/schemas/rdjson.json", &outputs("rdjson", &[]));
}

#[test]
fn an_exceeded_limit_and_a_finding_on_an_option_are_told_without_a_file_of_their_own() {
    let log = runs().into_iter().find(|(_, log)| log.contains("forgotten-tenant")).unwrap().1;
    let output = |format: &str| {
        let key = ["--shard-key", "desk.tickets={ tenantId: 1 }", "--shard-key", "desk.tickets={ tenantId: -1 }"];
        let arguments = [&["check", "--format", format, "--max-broadcast-share", "1%", &log][..], &key].concat();
        String::from_utf8(shardlint(&arguments, None).stdout).unwrap()
    };
    let words = "of all queries, the limit is 1%";
    let sarif = output("sarif");
    hold_against("tests/data/schemas/sarif-2.1.0.json", std::slice::from_ref(&sarif));
    let run = &serde_json::from_str::<Value>(&sarif).unwrap()["runs"][0];
    let told = &run["invocations"][0]["toolExecutionNotifications"];
    assert!(told[0]["message"]["text"].as_str().unwrap().ends_with(words), "{told}");
    assert_eq!(told[0]["descriptor"]["id"], run["tool"]["driver"]["notifications"][0]["id"]);
    let result = run["results"].as_array().unwrap().iter().find(|result| result["ruleId"] == "SL005").unwrap();
    assert_eq!(result["locations"][0]["message"]["text"], "--shard-key");
    assert!(result["locations"][0]["physicalLocation"].is_null());
    let gitlab = output("gitlab");
    hold_against("tests/data/schemas/gitlab-code-quality.json", std::slice::from_ref(&gitlab));
    let issues: Value = serde_json::from_str(&gitlab).unwrap();
    let of = |name: &str| issues.as_array().unwrap().iter().find(|issue| issue["check_name"] == name).unwrap();
    assert!(of("max-broadcast-share")["description"].as_str().unwrap().ends_with(words));
    assert_eq!(["SL005", "max-broadcast-share"].map(|name| &of(name)["location"]["path"]), ["shardlint"; 2]);
    let rdjson = output("rdjson");
    hold_against("tests/data/schemas/rdjson.json", std::slice::from_ref(&rdjson));
    let findings = &serde_json::from_str::<Value>(&rdjson).unwrap()["diagnostics"];
    let of = |name: &str| findings.as_array().unwrap().iter().find(|found| found["code"]["value"] == name).unwrap();
    let nowhere = serde_json::json!({"path": "shardlint"});
    assert_eq!(["SL005", "max-broadcast-share"].map(|name| &of(name)["location"]), [&nowhere; 2]);
}

#[test]
fn gitlab_code_quality_is_valid_and_its_fingerprints_differ() {
    let outputs = outputs("gitlab", &["--per-event"]);
    hold_against("tests/data/schemas/gitlab-code-quality.json", &outputs);
    for output in outputs {
        let issues: Vec<Value> = serde_json::from_str(&output).unwrap();
        let mut fingerprints: Vec<&str> = issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
        let all = fingerprints.len();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), all);
    }
}

#[test]
fn the_schema_of_our_json_is_up_to_date_and_holds() {
    let path = "docs/schema/report.json";
    let schema = format!("{}\n", serde_json::to_string_pretty(&shardlint::report::schema()).unwrap());
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all("docs/schema").unwrap();
        fs::write(path, &schema).unwrap();
    }
    let was = fs::read_to_string(path).unwrap_or_default();
    assert!(was == schema, "{path} is out of date; `UPDATE=1 cargo test --test report` writes it anew");
    hold_against(path, &outputs("json", &[]));
}

#[test]
fn our_schema_refuses_what_is_no_report() {
    let schema = shardlint::report::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut value: Value = serde_json::from_str(&outputs("json", &[])[0]).unwrap();
    assert!(validator.is_valid(&value));
    value["diagnostics"][0]["severity"] = "fatal".into();
    assert!(!validator.is_valid(&value));
}

/// An element of a JUnit file, as its schema sees it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn new(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = String::from_utf8(attribute.value.to_vec()).unwrap();
            (String::from_utf8(attribute.key.as_ref().to_vec()).unwrap(), value)
        });
        Self {
            name: String::from_utf8(start.name().as_ref().to_vec()).unwrap(),
            attributes: attributes.collect(),
            children: Vec::new(),
        }
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> usize {
        self.attribute(name).unwrap_or_else(|| panic!("{} has no `{name}`", self.name)).parse().unwrap()
    }

    /// This and all that is in it.
    fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        self.children.iter().for_each(|child| all.extend(child.all()));
        all
    }

    fn count(&self, name: &str) -> usize {
        self.all().iter().filter(|element| element.name == name).count()
    }
}

fn parse(xml: &str) -> Element {
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(Element::new(&start)),
            Event::Empty(start) => open.last_mut().unwrap().children.push(Element::new(&start)),
            Event::End(_) => {
                let closed = open.pop().unwrap();
                open.last_mut().unwrap().children.push(closed);
            }
            Event::Eof => break,
            Event::Decl(_) | Event::Text(_) | Event::GeneralRef(_) => {}
            other => panic!("a JUnit file has no {other:?}"),
        }
    }
    let mut document = open.pop().unwrap();
    assert_eq!(document.children.len(), 1);
    document.children.remove(0)
}

/// The rules of the JUnit schema that Jenkins and GitLab read by.
pub fn assert_junit(xml: &str) {
    let root = parse(xml);
    assert_eq!(root.name, "testsuites");
    for element in root.all() {
        let (children, attributes): (&[&str], &[&str]) = match element.name.as_str() {
            "testsuites" => (&["testsuite"], &["name", "tests", "skipped", "failures", "errors"]),
            "testsuite" => (&["testcase"], &["name", "tests", "skipped", "failures", "errors"]),
            "testcase" => (&["failure", "system-out"], &["name", "classname"]),
            "failure" => (&[], &["message", "type"]),
            "system-out" => (&[], &[]),
            other => panic!("JUnit has no element `{other}`"),
        };
        element.children.iter().for_each(|child| assert!(children.contains(&child.name.as_str()), "{child:?}"));
        element.attributes.iter().for_each(|(name, _)| assert!(attributes.contains(&name.as_str()), "{element:?}"));
        if matches!(element.name.as_str(), "testsuites" | "testsuite") {
            assert_eq!(element.number("tests"), element.count("testcase"));
            assert_eq!(element.number("failures"), element.count("failure"));
            assert_eq!((element.number("errors"), element.number("skipped")), (0, 0));
        }
        if element.name == "testcase" {
            assert!(element.attribute("name").is_some_and(|name| !name.is_empty()));
            assert!(element.attribute("classname").is_some_and(|name| !name.is_empty()));
        }
    }
}

#[test]
fn junit_has_the_structure_of_its_schema() {
    let outputs = outputs("junit", &[]);
    outputs.iter().for_each(|output| assert_junit(output));
    assert!(outputs.iter().any(|output| output.contains("<failure")));
    let lenient = self::outputs("junit", &["--fail-on", "never"]);
    assert!(lenient.iter().all(|output| !output.contains("<failure")), "what fails no run fails no test");
}
