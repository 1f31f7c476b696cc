//! Which inputs are declarations and which are logs, decided by their content, and what the declarations say.

use std::collections::BTreeSet;
use std::io::{Cursor, IsTerminal, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::baseline::looks_like_baseline;
use crate::catalog::{Builder, Catalog};
use crate::engine::{DeclarationTexts, DeclaredRole, Source};
use crate::input::{Input, InputError, discover};
use crate::report::escape;
use crate::rules::{Finding, declaration_not_understood as sl005};
use crate::syntax::recognize::{DeclarationKind, looks_like_declaration};
use crate::syntax::shard_key::ShardKeyDeclaration;
use crate::syntax::{Record, SyntaxError, declaration, dump, read_record, shard_key};
use crate::text::{SourceId, Span};

use super::settings::Settled;
use super::{complain, remark};

/// Everything declared.
pub struct Declared {
    /// Merged from all sources.
    pub catalog: Catalog,
    /// The sources.
    pub texts: DeclarationTexts,
    /// What could not be read in them, and what contradicts.
    pub findings: Vec<Finding>,
}

/// The inputs of a run.
pub struct Inputs {
    /// Logs.
    pub logs: Vec<Source>,
    /// Declarations.
    pub declared: Declared,
    /// An input could not be read.
    pub failed: bool,
}

/// Sorts the inputs by their content and reads the declarations among them.
///
/// # Errors
/// If `--shard-key` or `--schema` cannot be read: without its declarations a run would be worthless.
pub fn sort_out(settled: &Settled) -> anyhow::Result<Inputs> {
    let args = &settled.args;
    let mut reader = Reader::default();
    // The configuration comes first, so that its place is known; what flags declare goes before what it declares.
    let source = settled.config.as_ref().map(|config| reader.source(&config.name, config.text.clone().into_bytes()));
    reader.add(&args.shard_key, &args.schema)?;
    reader.configured(source, &settled.resolved.shard_keys);
    let (configured, declares_keys) = (usize::from(source.is_some()), !settled.resolved.shard_keys.is_empty());
    let mut failed = false;
    let mut failures = |error: &InputError| {
        complain(&error.to_string());
        failed = true;
    };
    let mut logs = Vec::new();
    let mut arguments: Vec<PathBuf> = args.inputs.iter().map(PathBuf::from).collect();
    let implied = arguments.is_empty() && !stdin().is_terminal();
    if implied {
        arguments.push("-".into());
    }
    let found = discover(&arguments);
    let roles = args.role.as_slice();
    let source = |input: Input, opened| Source {
        role: DeclaredRole::of(input.name(), roles).map(|known| known.role),
        input,
        opened,
    };
    found.errors.iter().for_each(&mut failures);
    for (link, folder) in &found.loops {
        let (link, folder) = (link.display().to_string(), folder.display().to_string());
        remark(&format!("warning: `{}` is a link back to `{}`: passed over", escape(&link), escape(&folder)));
    }
    for input in found.inputs {
        if args.follow && !input.path().is_some_and(Path::is_file) {
            // Nothing can be put back into a pipe, and looking into it would be waiting.
            logs.push(source(input, None));
            continue;
        }
        match sniff(&input) {
            Ok(Sniffed::Declaration(kind, text)) => reader.declarations(input.name(), text, kind, None),
            Ok(Sniffed::Baseline) => {
                remark(&format!("`{}` is a baseline and no input; `--baseline` names it", escape(input.name())));
            }
            Ok(Sniffed::Log(opened)) => logs.push(source(input, opened)),
            Ok(Sniffed::Empty) if implied && (declares_keys || reader.texts.texts.len() > configured) => {
                remark("standard input is empty: only the declarations are checked");
            }
            Ok(Sniffed::Empty) if args.follow => logs.push(source(input, None)),
            Ok(Sniffed::Empty) => logs.push(source(input, Some(Box::new(std::io::empty())))),
            Err(error) => failures(&error),
        }
    }
    Ok(Inputs { logs, declared: reader.finish(args.shards)?, failed })
}

/// Whether an input is a file of declarations.
pub fn is_declaration(input: &str) -> bool {
    let path = Path::new(input);
    path.is_file() && matches!(sniff(&Input::file(path)), Ok(Sniffed::Declaration(..)))
}

/// What `--shard-key` and `--schema` declare.
///
/// # Errors
/// If one of them cannot be read.
pub fn declared(shard_keys: &[String], schemas: &[String]) -> anyhow::Result<Declared> {
    let mut reader = Reader::default();
    reader.add(shard_keys, schemas)?;
    reader.finish(None)
}

/// What an input turned out to be.
enum Sniffed {
    Declaration(DeclarationKind, Vec<u8>),
    /// Standard input comes opened, since it cannot be read twice.
    Log(Option<Box<dyn Read + Send>>),
    /// One that lies beside the logs.
    Baseline,
    Empty,
}

/// A declaration is recognised within so many bytes.
const HEAD: usize = 1 << 20;

fn sniff(input: &Input) -> Result<Sniffed, InputError> {
    let unreadable = |source| InputError::Unreadable { name: input.name().to_owned(), source };
    let mut reader = input.open()?;
    let mut head = Vec::new();
    first_line(&mut reader, &mut head).map_err(unreadable)?;
    if head.is_empty() {
        return Ok(Sniffed::Empty);
    }
    if !begins_with_record(&head) {
        let rest = (HEAD - head.len().min(HEAD)) as u64;
        reader.by_ref().take(rest).read_to_end(&mut head).map_err(unreadable)?;
        if looks_like_baseline(&head) {
            return Ok(Sniffed::Baseline);
        }
        if let Some(kind) = looks_like_declaration(whole_lines(&head)) {
            reader.read_to_end(&mut head).map_err(unreadable)?;
            return Ok(Sniffed::Declaration(kind, head));
        }
    }
    let opened: Option<Box<dyn Read + Send>> = match input.path() {
        Some(path) if path.is_file() => None,
        _ => Some(Box::new(Cursor::new(head).chain(reader))),
    };
    Ok(Sniffed::Log(opened))
}

/// Reads until there is a line: a log that is still being written must not be waited for.
fn first_line(reader: &mut dyn Read, head: &mut Vec<u8>) -> std::io::Result<()> {
    let mut block = [0; 4096];
    while head.len() < HEAD && !head.trim_ascii_start().contains(&b'\n') {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(count) => head.extend_from_slice(&block[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn begins_with_record(head: &[u8]) -> bool {
    let line = head.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"{\"t\":") && !matches!(read_record(line), Record::Bad(_))
}

/// What was cut off in mid-line (and perhaps in mid-character) is left out.
fn whole_lines(head: &[u8]) -> &[u8] {
    if head.len() < HEAD {
        return head;
    }
    memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end])
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    texts: DeclarationTexts,
    findings: Vec<Finding>,
    /// Namespaces whose key a flag gives.
    flagged: BTreeSet<String>,
    /// Files of `--schema` in which nothing is declared.
    quiet: Vec<String>,
}

impl Reader {
    fn add(&mut self, shard_keys: &[String], schemas: &[String]) -> anyhow::Result<()> {
        shard_keys.iter().try_for_each(|text| self.shard_key(text))?;
        schemas.iter().try_for_each(|text| self.schema(text))
    }

    /// The keys of the configuration, but for namespaces of which a flag gives the key.
    fn configured(&mut self, source: Option<SourceId>, keys: &[ShardKeyDeclaration]) {
        let Some(source) = source else { return };
        for key in keys.iter().filter(|key| !self.flagged.contains(&key.namespace.value)) {
            self.builder.shard_key(source, key);
        }
    }

    fn shard_key(&mut self, text: &str) -> anyhow::Result<()> {
        let declared = shard_key::parse(text).map_err(|error| {
            let column = text[..error.span.range().start].chars().count() + 1;
            anyhow::anyhow!("--shard-key '{}': {} (column {column})", escape(text), error.message)
        })?;
        let source = self.source("--shard-key", text.as_bytes().to_vec());
        self.builder.shard_key(source, &declared);
        self.flagged.insert(declared.namespace.value);
        Ok(())
    }

    /// `FILE` or `NS=FILE`.
    fn schema(&mut self, argument: &str) -> anyhow::Result<()> {
        let named = argument.split_once('=').filter(|(namespace, _)| {
            namespace.contains('.') && !namespace.contains('/') && !Path::new(argument).exists()
        });
        let (namespace, path) = named.map_or((None, argument), |(namespace, path)| (Some(namespace), path));
        let input = if path == "-" { Input::stdin() } else { Input::file(Path::new(path)) };
        let text = input.read_all().map_err(|error| anyhow::anyhow!("--schema: {error}"))?;
        let known = looks_like_declaration(&text);
        let Some(kind) = known.or_else(|| is_quiet_script(&text)) else {
            bail!("--schema: nothing in `{}` is a declaration; expected {DECLARATIONS}", escape(path));
        };
        self.quiet.extend(known.is_none().then(|| input.name().to_owned()));
        self.declarations(input.name(), text, kind, namespace);
        Ok(())
    }

    fn declarations(&mut self, name: &str, text: Vec<u8>, kind: DeclarationKind, namespace: Option<&str>) {
        let source = self.source(name, text);
        let text = String::from_utf8_lossy(&self.texts.texts[source.0 as usize].1).into_owned();
        match kind {
            DeclarationKind::Script => {
                let declared = declaration::declarations(&text);
                self.builder.script(source, &declared);
                self.malformed(&declared.errors, source, name);
                self.passed_over(&declared.passed_over, source, name);
            }
            DeclarationKind::Dump => {
                let dump = dump::dumps(&text);
                self.builder.dump(source, &dump, namespace);
                self.malformed(&dump.errors, source, name);
                self.passed_over(&dump.passed_over, source, name);
            }
        }
    }

    fn passed_over(&mut self, places: &[Span], source: SourceId, name: &str) {
        self.findings.extend(places.first().map(|first| sl005::passed_over(places.len(), *first, source, name)));
    }

    fn malformed(&mut self, errors: &[SyntaxError], source: SourceId, name: &str) {
        self.findings.extend(errors.iter().map(|error| sl005::malformed(error, source, name)));
    }

    fn source(&mut self, name: &str, text: Vec<u8>) -> SourceId {
        let id = u32::try_from(self.texts.texts.len()).unwrap_or(u32::MAX);
        self.texts.texts.push((name.to_owned(), text));
        SourceId(id)
    }

    fn finish(mut self, shards: Option<u32>) -> anyhow::Result<Declared> {
        let (mut catalog, conflicts) = self.builder.finish();
        if let Some(quiet) = self.quiet.first().filter(|_| catalog.is_empty() && self.findings.is_empty()) {
            bail!("--schema: nothing is declared in `{}`; expected {DECLARATIONS}", escape(quiet));
        }
        for quiet in &self.quiet {
            remark(&format!("warning: nothing is declared in `{}`", escape(quiet)));
        }
        catalog.shard_count = shards.map(|count| count as usize);
        for conflict in conflicts {
            let error = SyntaxError::new(conflict.span, conflict.message);
            let name = self.texts.texts[conflict.source.0 as usize].0.clone();
            self.findings.push(sl005::unusable(&error, conflict.source, &name));
        }
        Ok(Declared { catalog, texts: self.texts, findings: self.findings })
    }
}

/// What a declaration may be.
const DECLARATIONS: &str = "shell commands such as `sh.shardCollection(…)`, documents of the config database, or the \
                            output of `sh.status()`, `listIndexes` or `getIndexes()`";

/// A script of comments alone, in which nothing is declared yet, as opposed to a text that is no script.
fn is_quiet_script(text: &[u8]) -> Option<DeclarationKind> {
    let text = std::str::from_utf8(text).ok()?;
    let declared = declaration::declarations(text);
    (declared.errors.is_empty() && declared.passed_over.is_empty()).then_some(DeclarationKind::Script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cut_in_the_middle_of_a_line_is_judged_by_its_whole_lines() {
        let mut head = vec![b'x'; HEAD];
        head[10] = b'\n';
        assert_eq!(whole_lines(&head).len(), 10);
        assert_eq!(whole_lines(b"ab\ncd"), b"ab\ncd");
    }
}
