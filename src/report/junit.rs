//! JUnit XML, for the test tab of a CI system: a suite for each namespace, in it a test for each finding and for each shape
//! that has none. A finding fails its test where it fails the run; a known or lesser one is told in a test that passes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use quick_junit::{NonSuccessKind, Report as Suites, TestCase, TestCaseStatus, TestSuite};

use super::RenderOptions;
use super::data::{Diagnostic, LimitResult, Report, ShapeRow};
use super::escape::escape;
use super::place::Place;
use super::wording::{counted, duration};

/// The suite of findings on no namespace.
const INPUTS: &str = "inputs";

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let found: BTreeSet<&str> = report.diagnostics.iter().map(|d| d.fingerprint.as_str()).collect();
    let mut suites: BTreeMap<String, Vec<TestCase>> = BTreeMap::new();
    for diagnostic in &report.diagnostics {
        let namespace = if diagnostic.namespace.is_empty() { INPUTS } else { &diagnostic.namespace };
        suites.entry(escape(namespace)).or_default().push(finding(diagnostic, options));
    }
    for shape in report.shapes.iter().filter(|shape| !found.contains(shape.fingerprint.as_str())) {
        suites.entry(escape(&shape.namespace)).or_default().push(clean(shape));
    }
    for limit in &report.limits {
        suites.entry("limits".to_owned()).or_default().push(held(limit));
    }
    let mut xml = Suites::new(env!("CARGO_PKG_NAME"));
    for (name, cases) in suites {
        let mut suite = TestSuite::new(name);
        suite.add_test_cases(cases);
        xml.add_test_suite(suite);
    }
    xml.serialize(&mut *out).map_err(io::Error::other)
}

fn finding(diagnostic: &Diagnostic, options: &RenderOptions) -> TestCase {
    let message = escape(&diagnostic.message);
    let text = text(diagnostic, options);
    let mut case = if diagnostic.new != Some(false) && options.fails(diagnostic.severity) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(diagnostic.code).set_message(message).set_description(text);
        TestCase::new(name(diagnostic), status)
    } else {
        let mut case = TestCase::new(name(diagnostic), TestCaseStatus::success());
        case.set_system_out(format!("{}: {message}\n{text}", diagnostic.severity));
        case
    };
    case.set_classname(class_name(&diagnostic.namespace));
    case
}

/// A limit on broadcasts, kept or exceeded.
fn held(limit: &LimitResult) -> TestCase {
    let words = escape(&limit.words());
    let mut status = TestCaseStatus::success();
    if limit.exceeded {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(words.clone());
    }
    let mut case = TestCase::new(escape(&format!("broadcasts of {} up to {}", limit.scope, limit.limit)), status);
    case.set_classname("limits");
    case.set_system_out(words);
    case
}

fn name(diagnostic: &Diagnostic) -> String {
    let what = match (diagnostic.operation, &diagnostic.shape) {
        (Some(operation), Some(shape)) => query(operation, shape),
        _ => diagnostic.message.clone(),
    };
    escape(&format!("{} {}: {what}", diagnostic.code, diagnostic.rule))
}

fn class_name(namespace: &str) -> String {
    escape(if namespace.is_empty() { INPUTS } else { namespace })
}

/// The shape of an insert is its name.
fn query(operation: &str, shape: &str) -> String {
    if operation == shape { shape.to_owned() } else { format!("{operation} {shape}") }
}

fn clean(shape: &ShapeRow) -> TestCase {
    let name = escape(&query(shape.operation, &shape.shape));
    let mut case = TestCase::new(name, TestCaseStatus::success());
    case.set_classname(class_name(&shape.namespace));
    let cost = format!("{} in {}", duration(shape.millis), counted(shape.count, "call"));
    case.set_system_out(format!("{}: {}; {cost}", shape.class, escape(&shape.reason)));
    case
}

/// Where it is, what the labels say, what to do, how often it was seen and what it was before.
fn text(diagnostic: &Diagnostic, options: &RenderOptions) -> String {
    let mut lines = Vec::new();
    lines.extend(Place::sent_from(diagnostic, &options.root).map(|place| format!("sent from {}", escape(&place))));
    for label in &diagnostic.example.labels {
        let at = &label.location;
        lines.push(format!("{}:{}:{}: {}", escape(&at.path), at.line, at.column, escape(&label.text)));
    }
    lines.extend(diagnostic.help.as_ref().map(|help| format!("help: {}", escape(help))));
    if diagnostic.count > 0 {
        lines.push(format!("seen {}, {}", counted(diagnostic.count, "time"), duration(diagnostic.millis)));
    }
    lines.extend(diagnostic.standing());
    lines.push(format!("`shardlint rule {}` explains it", diagnostic.code));
    lines.join("\n")
}
