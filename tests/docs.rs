//! Runs what the documentation shows. Every `console` block with a `$ shardlint …` or `$ cargo run --release -- …` line
//! must print exactly the lines below it, the generated blocks must be up to date, and links must lead somewhere.
//! `UPDATE=1` rewrites outputs and blocks. A command without `--format` is run as a terminal shows it, without colours.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

#[path = "docs/pages.rs"]
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use shardlint::rules::REGISTRY;

const DOCUMENTS: [&str; 10] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/DESIGN.md",
    "samples/README.md",
    "docs/baseline.md",
    "docs/configuration.md",
    "docs/formats.md",
    "docs/ci.md",
    "docs/myths.md",
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(repository().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// What the program prints for a command line of the documentation; quotes are the shell's.
fn output_of(arguments: &str) -> String {
    let mut words = shell_words(arguments);
    if words.first().is_some_and(|word| word == "check") && !arguments.contains("--format") {
        words.extend(["--format".to_owned(), "pretty".to_owned()]);
    }
    pages::run_in(repository(), &words)
}

/// Splits at blanks, keeping what stands in single or double quotes together.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The document with every shown output replaced by the true one.
fn with_true_outputs(document: &str) -> (String, usize) {
    let mut result = String::new();
    let mut commands = 0;
    let mut lines = document.lines().peekable();
    let mut fence: Option<&str> = None;
    let mut in_console = false;
    while let Some(line) = lines.next() {
        result += line;
        result.push('\n');
        let language = line.trim_start_matches('`');
        match fence {
            Some(open) if line == open => fence = None,
            None if line.starts_with("```") => {
                fence = Some(&line[..line.len() - language.len()]);
                in_console = language == "console";
            }
            _ => {}
        }
        let typed = line.strip_prefix("$ shardlint ").or_else(|| line.strip_prefix("$ cargo run --release -- "));
        let Some(arguments) = typed.filter(|_| in_console && fence.is_some()) else { continue };
        while lines.next_if(|line| Some(*line) != fence && !line.starts_with("$ ")).is_some() {}
        result += output_of(arguments).trim_end_matches('\n');
        result.push('\n');
        commands += 1;
    }
    (result, commands)
}

/// The document with `<!-- generated: name -->` … `<!-- end -->` filled.
fn with_block(document: &str, name: &str, content: &str) -> String {
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = document.split_once(&begin).unwrap_or_else(|| panic!("no block `{name}`"));
    let (_, after) = rest.split_once("<!-- end -->").unwrap_or_else(|| panic!("block `{name}` has no end"));
    format!("{before}{begin}{content}<!-- end -->{after}")
}

/// The rules as a Markdown table.
fn rules_table() -> String {
    let mut table = "| code | name | severity | says |\n|---|---|---|---|\n".to_owned();
    for rule in REGISTRY {
        let summary = rule.summary.replace('|', "\\|");
        let row =
            [format!("[{}]({})", rule.code, pages::path(rule)), rule.name.into(), rule.severity.name().into(), summary];
        table += &format!("| {} |\n", row.join(" | "));
    }
    table
}

fn hold_against(document: &str, was: &str, is: &str) {
    if updating() {
        fs::write(repository().join(document), is).unwrap();
        return;
    }
    let same = was.lines().zip(is.lines()).take_while(|(was, is)| was == is).count();
    let at = |text: &str| text.lines().nth(same).unwrap_or("(end)").to_owned();
    assert!(
        was == is,
        "{document} is out of date from line {} on\n  shown: {}\n  true:  {}\n`UPDATE=1 cargo test --test docs` rewrites it",
        same + 1,
        at(was),
        at(is)
    );
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let was = read("README.md");
    let (is, commands) = with_true_outputs(&with_block(&was, "rules", &rules_table()));
    assert!(commands > 0, "the README shows no command");
    hold_against("README.md", &was, &is);
}

#[test]
fn the_configuration_that_is_shown_is_one() {
    let document = read("docs/configuration.md");
    let shown = document.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let config = shardlint::config::Config::read(Path::new("shardlint.toml"), shown).unwrap();
    let today = jiff::civil::date(2026, 11, 30);
    let resolved = config.resolve(today, shardlint::text::SourceId(0)).unwrap();
    assert_eq!((resolved.suppressions.len(), resolved.limits.len(), resolved.shard_keys.len()), (1, 3, 2));
}

#[test]
fn other_documents_show_what_the_program_prints() {
    for document in &DOCUMENTS[1..] {
        let was = read(document);
        hold_against(document, &was, &with_true_outputs(&was).0);
    }
}

#[test]
fn the_page_of_every_rule_is_what_the_rule_says_and_prints() {
    fs::create_dir_all(repository().join("docs/rules")).unwrap();
    for rule in REGISTRY {
        let path = pages::path(rule);
        let was = fs::read_to_string(repository().join(&path)).unwrap_or_default();
        hold_against(&path, &was, &pages::page(rule));
    }
    let files = fs::read_dir(repository().join("docs/rules")).unwrap().count();
    assert_eq!(files, REGISTRY.len(), "docs/rules has pages of rules that are not there");
}

#[test]
fn links_lead_somewhere() {
    for document in DOCUMENTS {
        let folder = repository().join(document).parent().map(PathBuf::from).unwrap();
        for link in read(document).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            let local = !path.is_empty() && !path.contains("://");
            assert!(!local || folder.join(path).exists(), "{document} links to `{path}`, which is not there");
        }
    }
}

#[test]
fn words_in_quotes_stay_together() {
    assert_eq!(shell_words("route --shard-key 'a.b={ x: 1 }' -"), ["route", "--shard-key", "a.b={ x: 1 }", "-"]);
}

#[test]
fn the_terminal_shows_the_page_of_a_rule() {
    for rule in REGISTRY {
        let page = fs::read_to_string(repository().join(pages::path(rule))).unwrap();
        let (head, body) = page.split_once("\n\n<!--").unwrap();
        let (_, body) = body.split_once("-->\n\n").unwrap();
        // A page that was just written anew is in the program after the next build.
        if !updating() {
            assert_eq!(pages::run_in(repository(), &["rule", rule.code]), format!("{head}\n\n{body}"));
        }
    }
}
