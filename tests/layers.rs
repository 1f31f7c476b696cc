//! Holds the `crate::…` paths of every source file against the order of the layers, so that the picture in
//! `docs/DESIGN.md` stays true. Unit tests inside the sources may look anywhere; production code may not.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs;
use std::path::{Path, PathBuf};

/// From left to right; a folder may use itself and what stands before it. `main.rs` and `lib.rs` stand above all.
/// Data flows from `engine` to `report`, yet `report` stands left of it: it defines the data that `engine` fills.
const LAYERS: [&str; 12] = [
    "text", "input", "model", "syntax", "catalog", "routing", "rules", "report", "baseline", "engine", "config", "cli",
];

fn rank(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|known| *known == layer)
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The source without comment lines and without its unit tests, which end a file by convention.
fn production_code(source: &str) -> String {
    let tests = source.find("#[cfg(test)]\nmod ").unwrap_or(source.len());
    let code = source[..tests].lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The first segment of each `crate::…` path, also of each member of a `crate::{…}` list.
fn used_layers(code: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut used = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        let rest = &code[at + path.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            used.push(name(rest));
            continue;
        };
        let mut depth = 0_usize;
        let mut member = true;
        for (at, c) in list.char_indices() {
            match c {
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                '{' => depth += 1,
                ',' if depth == 0 => member = true,
                c if member && !c.is_whitespace() => {
                    used.push(name(&list[at..]));
                    member = false;
                }
                _ => {}
            }
        }
    }
    used
}

#[test]
fn no_folder_uses_one_to_its_right() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&sources, &mut files);
    let mut offenders = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&sources).unwrap();
        let folder = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        if inside.components().count() == 1 || inside.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let own = rank(folder).unwrap_or_else(|| panic!("`src/{folder}` has no place among the layers"));
        let code = production_code(&fs::read_to_string(file).unwrap());
        let rightward = used_layers(&code).into_iter().filter(|used| rank(used).is_some_and(|rank| rank > own));
        offenders.extend(rightward.map(|used| format!("src/{} uses {used}", inside.display())));
    }
    offenders.sort();
    offenders.dedup();
    assert!(offenders.is_empty(), "layers used against their order:\n{}", offenders.join("\n"));
    assert!(files.len() > 20, "only {} source files were found", files.len());
}

#[test]
fn paths_are_found_in_every_form_they_are_written_in() {
    let code = "use crate::text::Span;\nuse crate::{model::{Value, Node}, rules};\nlet x = crate::engine::run();";
    assert_eq!(used_layers(code), ["text", "model", "rules", "engine"]);
}

#[test]
fn comments_and_unit_tests_are_no_dependencies() {
    let source =
        "//! See [`crate::cli`].\nuse crate::text::Span;\n#[cfg(test)]\nmod tests {\n    use crate::report::X;\n}\n";
    assert_eq!(used_layers(&production_code(source)), ["text"]);
}
