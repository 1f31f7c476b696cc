//! What the fuzzer starts from: the recordings under `tests/data`, the samples, a few lines of each language in
//! `fuzz/seeds`, and the files of any other folder. Files are cut into lines, runs of lines and whole texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use shardlint::input::Input;
use shardlint::syntax::recognize::looks_like_declaration;

/// Longer seeds make a fuzzer slow.
const LONGEST: usize = 16 * 1024;

/// So much of a log is one seed of `check`.
const RUN: usize = 4 * 1024;

/// So many seeds of one target come out of one file: recordings repeat themselves.
const FROM_ONE_FILE: usize = 150;

/// An operation that declarations are asked about.
const ASKED: &[u8] = b"db.orders.updateMany({ customerId: { $in: [1, 7] }, ts: { $gt: 5 } }, { $set: { a: 1 } })";

/// Seeds by target, in a settled order.
#[derive(Debug, Default)]
pub struct Seeds {
    by_target: BTreeMap<&'static str, BTreeSet<Vec<u8>>>,
}

impl Seeds {
    /// Those of the project itself.
    ///
    /// # Errors
    /// If one of its files cannot be read.
    pub fn own() -> Result<Self, String> {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut seeds = Self::default();
        for folder in ["seeds", "../samples", "../tests/data", "../tests/cli/inputs"] {
            seeds.add_folder(&fuzz.join(folder))?;
        }
        Ok(seeds)
    }

    /// Adds all files of a folder and of those in it; compressed ones are unpacked.
    ///
    /// # Errors
    /// If a folder or a file cannot be read.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), String> {
        for path in entries(folder)? {
            if path.is_dir() {
                self.add_folder(&path)?;
            } else {
                let bytes = Input::file(&path).read_all().map_err(|error| error.to_string())?;
                self.add_file(&path, &bytes);
            }
        }
        Ok(())
    }

    /// The seeds of a target.
    pub fn of(&self, target: &str) -> impl Iterator<Item = &[u8]> {
        self.by_target.get(target).into_iter().flatten().map(Vec::as_slice)
    }

    fn add_file(&mut self, path: &Path, bytes: &[u8]) {
        if let Some(target) = named_target(path) {
            self.add_named(target, bytes);
        } else if is_log(bytes) {
            self.add_log(bytes);
        } else if bytes.starts_with(b"{\"id\":\"q") {
            sampled(bytes).for_each(|line| self.add("route", line));
        } else {
            self.add_text(bytes);
        }
    }

    /// One of `fuzz/seeds`; lines of logs make a log, operations can be routed, declarations be asked for a route.
    fn add_named(&mut self, target: &'static str, bytes: &[u8]) {
        let is_long = matches!(target, "declarations" | "documents");
        let separator: &[u8] = if is_long { b"\n====\n" } else { b"\n" };
        for piece in pieces(bytes, separator) {
            self.add(target, piece);
            match target {
                "declarations" => self.add("route", &[piece, b"\n----\n", ASKED].concat()),
                "shell_document" if piece.starts_with(b"db.") => self.add("route", piece),
                _ => {}
            }
        }
        if matches!(target, "structured" | "legacy" | "documents") {
            self.add("check", bytes);
        }
    }

    fn add_log(&mut self, bytes: &[u8]) {
        for line in sampled(bytes) {
            self.add(if line.starts_with(b"{") { "structured" } else { "legacy" }, line);
        }
        let mut run = Vec::new();
        for line in sampled(bytes) {
            if run.len() + line.len() > RUN {
                self.add("check", &std::mem::take(&mut run));
            }
            run.extend_from_slice(line);
            run.push(b'\n');
        }
        self.add("check", &run);
    }

    fn add_text(&mut self, bytes: &[u8]) {
        self.add("check", bytes);
        self.add("documents", bytes);
        self.add("shell_document", bytes);
        if looks_like_declaration(bytes).is_some() {
            self.add("declarations", bytes);
        }
        for line in sampled(bytes).filter(|line| line.starts_with(b"{")) {
            self.add("shell_document", line);
        }
    }

    fn add(&mut self, target: &'static str, seed: &[u8]) {
        if !seed.is_empty() && seed.len() <= LONGEST {
            self.by_target.entry(target).or_default().insert(seed.to_vec());
        }
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read `{}`: {error}", folder.display());
    let entries = folder.read_dir().map_err(unreadable)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

/// The files of `fuzz/seeds` are named after their target.
fn named_target(path: &Path) -> Option<&'static str> {
    let stem = path.file_stem().filter(|_| path.parent().is_some_and(|folder| folder.ends_with("fuzz/seeds")))?;
    crate::TARGETS.iter().map(|(name, _)| *name).find(|name| stem == *name)
}

fn is_log(bytes: &[u8]) -> bool {
    let first = bytes.split(|&byte| byte == b'\n').find(|line| !line.is_empty()).unwrap_or_default();
    let is_structured = first.starts_with(b"{\"t\":{") || first.starts_with(b"{\"log\":");
    is_structured || contains(first, b"[") && looks_like_declaration(bytes).is_none() && !first.starts_with(b"[")
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

/// Lines from all over a text.
fn sampled(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines: Vec<&[u8]> = pieces(bytes, b"\n").filter(|line| line.len() <= RUN).collect();
    let step = lines.len().div_ceil(FROM_ONE_FILE).max(1);
    lines.into_iter().step_by(step)
}

fn pieces<'a>(bytes: &'a [u8], separator: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let text = rest?;
        let at = text.windows(separator.len()).position(|window| window == separator);
        rest = at.map(|at| &text[at + separator.len()..]);
        Some(&text[..at.unwrap_or(text.len())])
    })
}
