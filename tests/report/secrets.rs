//! A log with a secret wherever a client can put one goes through every format that is shared, and through the others with
//! `--redact`; none comes out. Secrets in names (of fields, collections, indexes) are names.

use std::process::Command;

use shardlint::report::{Format, RenderOptions};
use shardlint::rules::literal;

/// What must not be seen. The places are in [`LOG`].
const SECRETS: [&str; 26] = [
    "s3cretFilter",
    "918273645",
    "s3cretIn",
    "s3cretRegex",
    "s3cretExpr",
    "s3cretSet",
    "s3cretReplacement",
    "s3cretInserted",
    "s3cretComment",
    "s3cretObjectComment",
    "s3cretSort",
    "s3cretMatch",
    "s3cretAdded",
    "s3cretFunction",
    "s3cretLocale",
    "s3cretError",
    "s3cretApp",
    "s3cretHint",
    "s3cretLet",
    "s3cretLegacy",
    "s3cretQuoted",
    "s3cretLine",
    "s3cretObject",
    "s3cretCut",
    "10.99.88.77",
    "5ec2e75ec2e75ec2e75ec2e7",
];

fn slow(namespace: &str, command: &str, more: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2026-05-14T09:12:03.481+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{{"type":"command","ns":"{namespace}","appName":"s3cretApp","remote":"10.99.88.77:4711","command":{command},"planSummary":"COLLSCAN","nShards":4{more},"durationMillis":310}}}}"#
    )
}

fn log() -> String {
    let orders = |command: &str| slow("shop.orders", command, r#","errMsg":"s3cretError","errCode":2"#);
    let mut lines = vec![
        orders(r#"{"find":"orders","filter":{"a":"s3cretFilter","n":918273645,"i":{"$in":["s3cretIn","x"]},"r":{"$regularExpression":{"pattern":"s3cretRegex","options":"i"}},"o":{"$oid":"5ec2e75ec2e75ec2e75ec2e7"}},"sort":{"b":{"$meta":"s3cretSort"}},"hint":"s3cretHint","comment":"s3cretComment","let":{"v":"s3cretLet"},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"$expr":{"$eq":["$a","s3cretExpr"]}},"collation":{"locale":"s3cretLocale"},"comment":{"file":"app/orders.py","line":41,"user":"s3cretObjectComment"},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"tenantId":{"$regex":"s3cretRegex"}},"collation":{"locale":"s3cretLocale"},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"tenantId":{"$ne":"s3cretFilter"}},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"tenantId":{"$s3cretly":"s3cretFilter"}},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"tenantId":{"$in":["s3cretIn","s3cretIn2","c"]}},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"_id":"s3cretFilter"},"$db":"shop"}"#),
        orders(r#"{"find":"orders","filter":{"$or":[{"tenantId":"s3cretFilter"},{"b":"s3cretFilter"}]},"$db":"shop"}"#),
        orders(r#"{"count":"orders","query":{"a":"s3cretFilter"},"$db":"shop"}"#),
        orders(r#"{"distinct":"orders","key":"b","query":{"a":"s3cretFilter"},"$db":"shop"}"#),
        orders(r#"{"insert":"orders","documents":[{"tenantId":"s3cretInserted"}],"$db":"shop"}"#),
        orders(r#"{"findAndModify":"orders","query":{"a":"s3cretFilter"},"update":{"$set":{"b":"s3cretSet"}},"$db":"shop"}"#),
        orders(r#"{"update":"orders","updates":[{"q":{"a":"s3cretFilter"},"u":{"$set":{"b":"s3cretSet"}},"multi":true},{"q":{"_id":918273645},"u":{"c":"s3cretReplacement"},"upsert":true}],"$db":"shop"}"#),
        orders(r#"{"delete":"orders","deletes":[{"q":{"a":"s3cretFilter"},"limit":1}],"$db":"shop"}"#),
        orders(r#"{"aggregate":"orders","pipeline":[{"$addFields":{"z":"s3cretAdded","f":{"$function":{"body":"function() { return 's3cretFunction' }","args":[],"lang":"js"}}}},{"$match":{"tenantId":"s3cretMatch"}},{"$limit":918273645}],"$db":"shop"}"#),
        orders(r#"{"aggregate":"orders","pipeline":[{"$limit":3},{"$match":{"tenantId":"s3cretMatch"}}],"comment":"by s3cretComment","$db":"shop"}"#),
        slow("shop.undeclared", r#"{"find":"undeclared","filter":{"a":"s3cretFilter"},"$db":"shop"}"#, ""),
        slow("shop.orders", r#"{"find":"orders","filter":{"a":"s3cretCut","b":{"c":"s3cretCut"}},"$db":"shop"}"#, r#","truncated":{"command":{"filter":{"truncated":{"b":{"type":"object","size":99}}}}}"#)
            .replace(r#","truncated""#, r#"},"truncated""#).replace(r#"}}}}},"durationMillis":310}}"#, r#"}}}}},"size":{"command":20000}}"#),
        r#"2019-05-14T09:12:03.481+0000 I COMMAND  [conn42] command shop.orders appName: "s3cretApp" command: find { find: "orders", filter: { a: "s3cretLegacy", b: { $in: [ 918273645, ObjectId('5ec2e75ec2e75ec2e75ec2e7') ] } }, comment: "s3cretComment", $db: "shop" } planSummary: COLLSCAN keysExamined:0 docsExamined:9 cursorExhausted:1 numYields:0 nreturned:0 reslen:100 locks:{} protocol:op_msg 310ms"#.to_owned(),
        r#"2019-05-14T09:12:04.481+0000 I COMMAND  [conn42] command shop.orders command: find { find: "orders", filter: { a: "it said "s3cretQuoted", b: 1" }, $db: "shop" } planSummary: COLLSCAN keysExamined:0 docsExamined:9 numYields:0 nreturned:0 reslen:100 locks:{} protocol:op_msg 310ms"#.to_owned(),
        "this is s3cretLine and no log record, password=s3cretLine".to_owned(),
        r#"{"user":"s3cretObject","file":"s3cretObject"}"#.to_owned(),
        r#"{"t":{"$date":"2026-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"ns":"shop.orders","command":{"find":"orders","filter":{"a":"s3cretCut"#.to_owned(),
    ];
    let wrapped =
        serde_json::json!({"log": format!("{}\n", lines[0]), "stream": "stdout", "time": "2026-05-14T09:12:03Z"});
    lines.push(wrapped.to_string());
    format!("{}\n", lines.join("\n"))
}

/// The report on the log, read from a file in the working directory, so that all formats can point into it.
fn output(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mongod.log"), log()).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(["check", "--shard-key", "shop.orders={ tenantId: 1, _id: 1 }", "--extend-select", "ALL", "mongod.log"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

fn assert_kept(arguments: &[&str]) {
    let output = output(arguments);
    for secret in SECRETS {
        let at = output.find(secret);
        let around =
            at.map(|at| output[..at].char_indices().rev().nth(200).map_or(0, |(at, _)| at)..(at + secret.len()));
        assert!(at.is_none(), "{arguments:?} shows {secret}:\n{}", around.map_or("", |range| &output[range]));
    }
}

#[test]
fn formats_for_sharing_show_no_literal() {
    for format in ["sarif", "junit", "github", "gitlab", "rdjson", "markdown"] {
        assert_kept(&["--format", format]);
        assert_kept(&["--format", format, "--per-event"]);
    }
}

#[test]
fn the_others_show_none_when_asked_to() {
    for format in ["pretty", "concise", "json", "jsonl"] {
        assert_kept(&["--format", format, "--redact"]);
        assert_kept(&["--format", format, "--redact", "--per-event"]);
    }
}

#[test]
fn the_log_is_understood_and_without_redaction_its_literals_are_shown() {
    let json: serde_json::Value = serde_json::from_str(&output(&["--format", "json"])).unwrap();
    assert!(json["summary"]["slow_queries"].as_u64().unwrap() >= 20, "{}", json["summary"]);
    let codes: std::collections::BTreeSet<&str> =
        json["diagnostics"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap()).collect();
    assert!(codes.len() >= 14, "{codes:?}");
    let open = output(&["--format", "sarif", "--no-redact"]);
    assert!(open.contains("s3cretFilter"));
    assert!(output(&["--format", "markdown", "--no-redact"]).contains("s3cretFilter"));
    assert!(output(&["--format", "pretty"]).contains("s3cretComment"));
}

#[test]
fn a_literal_that_a_message_quotes_is_shown_or_named_by_its_type() {
    let record = super::build::slow_query(r#"{"find":"orders","filter":{"a":1},"$db":"shop"}"#, r#""nShards":4"#);
    let labels: [(&[u8], &str); 1] = [(b"{\"a\":1}", "here")];
    let example = super::build::example(record.as_bytes(), 1, &labels);
    let message = format!("40 % of the calls give `{}`", literal("\"s3cret\"", "string"));
    let mut finding = super::build::diagnostic(&message, example);
    finding.example.labels[0].text = format!("all of `{}`", literal("s3cret", "string"));
    let report = super::build::report(vec![finding]);
    for (redact, shown) in
        [(true, "40 % of the calls give `<string>`"), (false, "40 % of the calls give `\\\"s3cret\\\"`")]
    {
        let options = RenderOptions { redact: Some(redact), ..RenderOptions::default() };
        let json = super::build::text(&report, Format::Json, &options);
        assert!(json.contains(shown), "{json}");
        assert_eq!(json.contains("s3cret"), !redact);
        assert!(!json.contains(['\u{fdd0}', '\u{fdd1}', '\u{fdd2}']));
    }
}

#[test]
fn spans_stay_true_when_literals_are_hidden() {
    let read = |arguments: &[&str]| serde_json::from_str::<serde_json::Value>(&output(arguments)).unwrap();
    let (open, redacted) = (read(&["--format", "json"]), read(&["--format", "json", "--redact"]));
    let log = log();
    let pairs = open["diagnostics"].as_array().unwrap().iter().zip(redacted["diagnostics"].as_array().unwrap());
    // What is found on a declared key points into the declaration.
    let in_log = |diagnostic: &serde_json::Value| diagnostic["location"]["path"] == "mongod.log";
    for (open, redacted) in pairs.filter(|(open, _)| in_log(open)) {
        assert_eq!(open["location"], redacted["location"]);
        for (open, redacted) in open["labels"].as_array().unwrap().iter().zip(redacted["labels"].as_array().unwrap()) {
            assert_eq!(open["location"], redacted["location"]);
            let at = |name: &str| usize::try_from(redacted["location"][name].as_u64().unwrap()).unwrap();
            assert_eq!(&log[at("byte_start")..at("byte_end")], open["snippet"].as_str().unwrap());
        }
    }
    assert!(output(&["--format", "pretty", "--redact"]).contains("a: <string>"));
}
