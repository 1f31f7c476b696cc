//! `shardlint.toml` as users meet it: what holds, where it comes from, what is wrong in place, and what is suppressed.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const KEY: &str = "[shard-keys]\n\"shop.orders\" = '{ customerId: 1 }'\n";

/// A slow query of an application, with a comment.
fn find(filter: &str, application: &str, comment: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2026-05-14T09:12:03.481+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","appName":"{application}","command":{{"find":"orders","filter":{filter},"comment":"{comment}","$db":"shop"}},"durationMillis":31}}}}"#
    ) + "\n"
}

fn broadcast() -> String {
    find(r#"{"status":"new"}"#, "checkout", "")
}

/// A folder with a configuration and a log, and the program run in it.
struct Project(TempDir);

impl Project {
    fn new(configuration: &str, log: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("shardlint.toml"), configuration).unwrap();
        fs::write(folder.path().join("mongod.log"), log).unwrap();
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shardlint"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn said(&self, arguments: &[&str]) -> (i32, String) {
        let run = self.run(arguments);
        (run.status.code().unwrap(), text(&run))
    }

    /// The report on the log, and the exit code.
    fn report(&self, more: &[&str]) -> (Value, i32) {
        let run = self.run(&[&["check", "--format", "json", "mongod.log"], more].concat());
        let report = serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{}", text(&run)));
        (report, run.status.code().unwrap())
    }
}

fn text(run: &Output) -> String {
    String::from_utf8_lossy(&[run.stdout.as_slice(), run.stderr.as_slice()].concat()).into_owned()
}

/// Code and severity of each diagnostic.
fn found(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let diagnostics = report["diagnostics"].as_array().unwrap().iter();
    diagnostics.map(|d| (text(&d["code"]), text(&d["severity"]))).collect()
}

fn codes(report: &Value) -> Vec<String> {
    found(report).into_iter().map(|(code, _)| code).collect()
}

fn suppressed(report: &Value) -> u64 {
    report["summary"]["suppressed"].as_u64().unwrap()
}

#[test]
fn keys_of_the_file_are_declarations() {
    let (report, code) = Project::new(KEY, &broadcast()).report(&[]);
    assert_eq!((code, codes(&report)), (1, vec!["SL101".to_owned()]));
}

#[test]
fn a_key_that_the_server_would_refuse_is_shown_in_the_file() {
    let project = Project::new("shards = 3\n[shard-keys]\n\"shop.orders\" = \"{ a: \\\"hash\\\" }\"\n", &broadcast());
    let (report, _) = project.report(&[]);
    let refused = report["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "SL500").unwrap();
    let location = &refused["location"];
    assert_eq!((&location["path"], &location["line"]), (&"shardlint.toml".into(), &3.into()));
    let configuration = fs::read_to_string(project.0.path().join("shardlint.toml")).unwrap();
    let (start, end) = (location["byte_start"].as_u64().unwrap(), location["byte_end"].as_u64().unwrap());
    assert!(configuration[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()].contains("hash"));
}

#[test]
fn a_flag_declares_instead_of_the_file() {
    let (report, code) = Project::new(KEY, &broadcast()).report(&["--shard-key", "shop.orders={ status: 1 }"]);
    assert_eq!((code, codes(&report).len()), (0, 0));
}

#[test]
fn everything_wrong_with_the_file_is_shown_in_place_and_ends_with_2() {
    let project =
        Project::new("shcema = \"sharding.js\"\nfail-on = \"eror\"\n[rules]\nselcet = [\"SL1\"]\n", &broadcast());
    let (code, said) = project.said(&["check", "mongod.log"]);
    assert_eq!(code, 2);
    assert!(said.contains("shardlint.toml:1:1") && said.contains("there is no key `shcema`"), "{said}");
    assert!(said.contains("did you mean `schema`?"), "{said}");
    assert!(said.contains("shardlint.toml:4:1") && said.contains("did you mean `select`?"), "{said}");
}

#[test]
fn values_that_mean_nothing_are_shown_in_place() {
    for (configuration, place, message) in [
        ("shards = \"three\"", ":1:10", "expected u32"),
        ("shards = 0", ":1:10", "a cluster has at least 1 shard"),
        ("fail-on = \"eror\"", ":1:11", "`eror` is none of error, warning, info, never; did you mean `error`?"),
        ("server-version = \"new\"", ":1:18", "`new` is not a server version"),
        ("app = \"(\"", ":1:7", "this is no regular expression"),
        ("max-broadcast-share = \"2%:calls\"", ":1:23", "`calls` is no measure"),
        ("[rules]\nselect = \"SL10l\"", ":2:10", "`SL10l` names no rule"),
        ("[rules.severity]\nSL101 = \"loud\"", ":2:9", "`loud` is none of"),
        ("[shard-keys]\n\"shop.orders\" = '{ customerId }'", ":2:", "expected"),
        ("[[ignore]]\nrule = \"SL101\"", ":2:8", "`reason` is missing"),
        ("[[ignore]]\nrule = \"SL101\"\nreason = \" \"", ":2:8", "`reason` is missing"),
        ("[[ignore]]\nreason = \"x\"", ":2:10", "`rule` is missing"),
        ("[[ignore]]\nrule = []\nreason = \"x\"", ":2:8", "`rule` names no rule"),
        ("[[ignore]]\nrule = \"\"\nreason = \"x\"", ":2:8", "names no rule"),
        ("[[ignore]]\nrule = \"SL101\"\nreason = \"x\"\nuntil = \"soon\"", ":4:9", "expected a day"),
        ("[[ignore]]\nrule = \"SL101\"\nreason = \"x\"\nshape = \"{ a: ? }\"", ":4:9", "expected the fingerprint"),
        ("[[namespace]]\nignore = \"SL101\"", ":2:10", "`name` is missing"),
        ("[thresholds]\nfew-rages = 1", ":2:1", "there is no key `few-rages`"),
        ("ignore = [\"SL101\"]", ":1:", "expected"),
        ("schema = [", ":1:", ""),
        ("a = 1\na = 2", ":", "duplicate key"),
    ] {
        let (code, said) = Project::new(configuration, &broadcast()).said(&["check", "mongod.log"]);
        assert_eq!(code, 2, "{configuration}\n{said}");
        assert!(said.contains(&format!("shardlint.toml{place}")), "{configuration}\n{said}");
        // The words may be broken over lines where they are drawn.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&said).contains(message), "{configuration}\n{said}");
    }
}

#[test]
fn the_file_is_found_upward_and_its_paths_begin_where_it_lies() {
    let project = Project::new("schema = \"keys/sharding.js\"\ninputs = \"mongod.log\"\n", &broadcast());
    fs::create_dir_all(project.0.path().join("keys")).unwrap();
    fs::create_dir_all(project.0.path().join(".git")).unwrap();
    fs::create_dir_all(project.0.path().join("src/app")).unwrap();
    fs::write(project.0.path().join("keys/sharding.js"), "sh.shardCollection(\"shop.orders\", { customerId: 1 });\n")
        .unwrap();
    let below = |arguments: &[&str]| {
        let run = project.command(arguments).current_dir(project.0.path().join("src/app")).output().unwrap();
        (run.status.code().unwrap(), text(&run))
    };
    let (code, said) = below(&["check", "--format", "concise"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.starts_with("../../mongod.log:1:"), "{said}");
    let (code, said) = below(&["check", "--isolated", "--format", "concise", "../../mongod.log"]);
    assert!(code == 0 && said.contains("SL003"), "{said}");
    let (code, _) = below(&["check", "--config", "no-such.toml", "../../mongod.log"]);
    assert_eq!(code, 2);
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_and_each_is_told() {
    let project =
        Project::new("fail-on = \"warning\"\ntop = 3\nshards = 4\n[rules]\nignore = [\"SL105\"]\n", &broadcast());
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = project.command(&[&["check", "--show-settings"], arguments].concat());
        text(&command.envs(variables.iter().copied()).output().unwrap())
    };
    let line = |said: &str, key: &str| {
        let start = format!("{key} = ");
        let line = said.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {key} in\n{said}"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = run(&[], &[]);
    assert_eq!(line(&said, "fail-on"), "fail-on = \"warning\" # shardlint.toml:1");
    assert_eq!(line(&said, "ignore"), "ignore = [\"SL105\"] # shardlint.toml:5");
    assert_eq!(line(&said, "fail-on-class"), "fail-on-class = \"broadcast\" # default");
    let said = run(&[], &[("SHARDLINT_FAIL_ON", "info"), ("SHARDLINT_SHARDS", "5")]);
    assert_eq!(line(&said, "fail-on"), "fail-on = \"info\" # SHARDLINT_FAIL_ON");
    assert_eq!(line(&said, "shards"), "shards = 5 # SHARDLINT_SHARDS");
    let said = run(&["--fail-on", "never"], &[("SHARDLINT_FAIL_ON", "info")]);
    assert_eq!(line(&said, "fail-on"), "fail-on = \"never\" # --fail-on");
    assert_eq!(line(&said, "top"), "top = 3 # shardlint.toml:2");
}

#[test]
fn severities_hold_for_all_for_a_namespace_and_for_an_application() {
    let of = |more: &str| {
        let (report, code) = Project::new(&format!("{more}\n{KEY}"), &broadcast()).report(&[]);
        (found(&report).first().map(|(_, severity)| severity.clone()), code)
    };
    assert_eq!(of("[rules.severity]\nSL101 = \"warning\""), (Some("warning".to_owned()), 0));
    assert_eq!(of("[rules.severity]\nSL101 = \"warning\"\nSL1 = \"info\""), (Some("warning".to_owned()), 0));
    assert_eq!(of("[[namespace]]\nname = \"shop.*\"\nseverity = { SL101 = \"info\" }"), (Some("info".to_owned()), 0));
    assert_eq!(of("[[namespace]]\nname = \"crm.*\"\nseverity = { SL101 = \"info\" }"), (Some("error".to_owned()), 1));
    assert_eq!(of("[[application]]\nname = \"^check\"\nignore = \"SL101\""), (None, 0));
    let both = "[[namespace]]\nname = \"shop.*\"\nseverity = { SL101 = \"info\" }\n\
                [[application]]\nname = \"checkout\"\nseverity = { SL101 = \"error\" }";
    assert_eq!(of(both), (Some("error".to_owned()), 1));
}

#[test]
fn limits_of_the_file_hold_for_its_namespaces_and_applications() {
    let code = |more: &str| Project::new(&format!("{more}\n{KEY}"), &broadcast()).report(&["--ignore", "SL1"]).1;
    assert_eq!(code("max-broadcast-share = \"2%\""), 1);
    assert_eq!(code("max-broadcast-share = [\"crm.*=2%\", \"100%\"]"), 0);
    assert_eq!(code("[[namespace]]\nname = \"shop.*\"\nmax-broadcast-share = \"50%\""), 1);
    assert_eq!(code("[[application]]\nname = \"batch\"\nmax-broadcast-share = \"50%\""), 0);
}

#[test]
fn thresholds_reach_the_rules() {
    let log = find(r#"{"customerId":{"$in":[1,2,3]}}"#, "checkout", "");
    let report = |more: &str| codes(&Project::new(&format!("{KEY}{more}"), &log).report(&[]).0);
    assert_eq!(report(""), ["SL105"]);
    assert!(report("[thresholds]\nfew-ranges = 3\n").is_empty());
}

fn ignoring(entry: &str) -> String {
    format!("[[ignore]]\nrule = \"SL101\"\nreason = \"on purpose\"\n{entry}\n{KEY}")
}

#[test]
fn an_entry_hides_what_it_matches_and_the_summary_counts_it() {
    for entry in [
        "",
        "namespace = \"shop.*\"",
        "shape = \"FINGERPRINT\"",
        "application = \"^check\"",
        "until = 2999-12-31",
        "until = \"2999-12-31\"",
    ] {
        let open = Project::new(KEY, &broadcast()).report(&[]).0;
        let entry = entry.replace("FINGERPRINT", open["diagnostics"][0]["fingerprint"].as_str().unwrap());
        let project = Project::new(&ignoring(&entry), &broadcast());
        let (report, code) = project.report(&[]);
        assert_eq!((code, codes(&report), suppressed(&report)), (0, vec![], 1), "{entry}");
        let (report, code) = project.report(&["--no-suppressions"]);
        assert_eq!((code, codes(&report), suppressed(&report)), (1, vec!["SL101".to_owned()], 0), "{entry}");
    }
}

#[test]
fn an_entry_that_matches_nothing_or_is_past_its_date_is_told_in_the_file() {
    for (entry, message, still) in [
        ("namespace = \"crm.*\"", "hides nothing", true),
        ("application = \"^batch\"", "hides nothing", true),
        ("shape = \"00000000000000000000000000000000\"", "hides nothing", true),
        ("until = 2020-01-31", "held until 2020-01-31", true),
    ] {
        let (report, _) = Project::new(&ignoring(entry), &broadcast()).report(&[]);
        assert_eq!(codes(&report).contains(&"SL101".to_owned()), still, "{entry}");
        let unused = report["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "SL006").unwrap();
        assert!(unused["message"].as_str().unwrap().contains(message), "{unused}");
        assert_eq!((&unused["location"]["path"], &unused["location"]["line"]), (&"shardlint.toml".into(), &2.into()));
        assert_eq!(unused["severity"], "warning");
    }
}

#[test]
fn an_entry_is_not_called_unused_where_the_run_did_not_look() {
    let project = Project::new(&ignoring("namespace = \"crm.*\""), &broadcast());
    for part in [&["--ns", "shop.*"], &["--ignore", "SL101"]] {
        let (report, _) = project.report(part);
        assert!(!codes(&report).contains(&"SL006".to_owned()), "{part:?}");
    }
}

#[test]
fn an_entry_for_an_application_leaves_the_calls_of_others() {
    let log = broadcast() + &find(r#"{"status":"new"}"#, "report", "") + &broadcast();
    let (report, code) = Project::new(&ignoring("application = \"^report\""), &log).report(&[]);
    assert_eq!((code, codes(&report), suppressed(&report)), (1, vec!["SL101".to_owned()], 1));
    assert_eq!(report["diagnostics"][0]["count"], 2);
}

#[test]
fn a_comment_of_the_query_hides_what_it_names() {
    let of = |comment: &str| {
        let project = Project::new(KEY, &find(r#"{"status":"new"}"#, "checkout", comment));
        let (report, code) = project.report(&[]);
        (codes(&report), code, suppressed(&report), project.report(&["--no-suppressions"]).1)
    };
    assert_eq!(of("shardlint: ignore SL101 (nightly export)"), (vec![], 0, 1, 1));
    assert_eq!(of("app/export.rb:12 shardlint: ignore broadcast-query (nightly export)"), (vec![], 0, 1, 1));
    let both = vec!["SL101".to_owned(), "SL006".to_owned()];
    assert_eq!(of("shardlint: ignore SL301 (nightly export)"), (both.clone(), 1, 0, 1));
    assert_eq!(of("shardlint: ignore SL999 (nightly export)"), (both, 1, 0, 1));
}

#[test]
fn a_comment_hides_only_its_own_call() {
    let log = find(r#"{"status":"new"}"#, "checkout", "app/orders.rs:41")
        + &find(r#"{"status":"new"}"#, "checkout", "shardlint: ignore SL101 (nightly export)")
        + &find(r#"{"status":"new"}"#, "checkout", "app/orders.rs:42");
    let (report, code) = Project::new(KEY, &log).report(&[]);
    assert_eq!((code, codes(&report), suppressed(&report)), (1, vec!["SL101".to_owned()], 1));
    assert_eq!(report["diagnostics"][0]["count"], 2);
}

#[test]
fn a_comment_is_of_use_if_it_hides_something_in_any_call_of_its_shape() {
    let comment = "shardlint: ignore SL105 (few customers)";
    let log = find(r#"{"customerId":{"$in":[1,2,3]}}"#, "checkout", comment)
        + &find(r#"{"customerId":{"$in":[1,2]}}"#, "checkout", comment);
    let (report, _) = Project::new(KEY, &log).report(&[]);
    assert_eq!((codes(&report), suppressed(&report)), (vec![], 1));
}

#[test]
fn a_suppressed_new_broadcast_does_not_come_back_as_a_regression() {
    let comment = "shardlint: ignore SL101 (nightly export)";
    let project = Project::new(KEY, &find(r#"{"customerId":7}"#, "checkout", ""));
    assert_eq!(project.run(&["baseline", "create", "mongod.log"]).status.code(), Some(0));
    let log = find(r#"{"customerId":7}"#, "checkout", "") + &find(r#"{"status":"new"}"#, "checkout", comment);
    fs::write(project.0.path().join("mongod.log"), log).unwrap();
    let (report, code) = project.report(&["--baseline", "shardlint-baseline.json"]);
    assert_eq!((code, codes(&report)), (0, vec![]));
}

#[test]
fn init_writes_a_file_that_is_read_again_and_leaves_one_that_is_there() {
    let project = Project::new("", &broadcast());
    fs::remove_file(project.0.path().join("shardlint.toml")).unwrap();
    fs::write(project.0.path().join("sharding.js"), "sh.shardCollection(\"web.orders\", { customerId: 1 });\n")
        .unwrap();
    let (code, said) =
        project.said(&["init", "--shard-key", "crm.accounts={ region: \"hashed\" }", "sharding.js", "mongod.log"]);
    assert_eq!(code, 0, "{said}");
    let written = fs::read_to_string(project.0.path().join("shardlint.toml")).unwrap();
    for line in [
        "inputs = [\"mongod.log\"]",
        "schema = [\"sharding.js\"]",
        "\"crm.accounts\" = '{ region: \"hashed\" }'",
        "# \"shop.orders\" = \"unsharded\"  # queried, not declared",
        "# \"shop\" = \"web\"  # has collections of the same names",
    ] {
        assert!(written.lines().any(|written| written == line), "no `{line}` in\n{written}");
    }
    // What it proposes is right as it stands.
    let proposed: String = written.lines().map(|line| line.trim_start_matches("# ").to_owned() + "\n").collect();
    let settings =
        ["server-version", "shards =", "baseline =", "fail-on", "max-", "select", "SL301", "few-", "[[", "until"];
    let kept = written.lines().zip(proposed.lines()).map(|(line, bare)| {
        let is_setting = settings.iter().any(|start| bare.starts_with(start)) && !bare.contains("tells");
        format!("{}\n", if is_setting { bare } else { line })
    });
    let text: String = kept.collect();
    assert!(text.parse::<toml::Table>().is_ok(), "{text}");
    let (code, said) = project.said(&["check", "--ns-map", "shop=web", "--format", "concise"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = project.said(&["init"]);
    assert!(code == 2 && said.contains("is there already"), "{said}");
}

#[test]
fn completions_and_manual_pages_are_printed_for_every_shell_and_command() {
    let project = Project::new("", "");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, said) = project.said(&["completions", shell]);
        assert!(code == 0 && said.contains("max-broadcast-share") && said.contains("prune"), "{shell}");
    }
    let (code, said) = project.said(&["man"]);
    assert!(code == 0 && said.contains(".TH shardlint 1") && said.contains("130"), "{said}");
    assert_eq!(project.said(&["man", "-o", "pages"]).0, 0);
    let mut pages: Vec<String> = fs::read_dir(project.0.path().join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in
        ["shardlint.1", "shardlint-check.1", "shardlint-baseline.1", "shardlint-baseline-diff.1", "shardlint-init.1"]
    {
        assert!(pages.iter().any(|name| name == page), "{page} is not among {pages:?}");
    }
}

#[test]
fn an_option_beats_a_variable_that_nobody_understands_and_an_empty_variable_is_none() {
    let project = Project::new(KEY, &broadcast());
    let run = |arguments: &[&str], value: &str| {
        let mut command = project.command(&[&["check", "mongod.log"], arguments].concat());
        let run = command.env("SHARDLINT_FAIL_ON", value).output().unwrap();
        (run.status.code().unwrap(), text(&run))
    };
    assert_eq!(run(&["--fail-on", "never"], "bogus").0, 0);
    assert_eq!(run(&[], "").0, 1);
    let (code, said) = run(&[], "bogus");
    assert!(code == 2 && said.contains("bogus"), "{said}");
}

#[test]
fn a_report_never_replaces_what_it_was_made_of() {
    let project = Project::new(KEY, &broadcast());
    for (output, why) in [("json=mongod.log", "would replace an input"), ("./mongod.log", "would replace an input")] {
        let (code, said) = project.said(&["check", "mongod.log", "-o", output]);
        assert!(code == 2 && said.contains(why), "{said}");
    }
    assert_eq!(fs::read_to_string(project.0.path().join("mongod.log")).unwrap(), broadcast());
    let (code, said) = project.said(&["check", "mongod.log", "-o", "json=a", "-o", "sarif=a"]);
    assert!(code == 2 && said.contains("names `a` twice"), "{said}");
}
