//! Everything that declares: shell scripts, dumps of the config database, lists of indexes, `NAMESPACE={ KEY }`.

use shardlint::catalog::{Builder, Catalog};
use shardlint::engine::{DeclarationTexts, Outcome, Run, Settings, finish};
use shardlint::model::ServerVersion;
use shardlint::report::Report;
use shardlint::rules::{Finding, declaration_not_understood as sl005};
use shardlint::syntax::recognize::{DeclarationKind, looks_like_declaration};
use shardlint::syntax::{SyntaxError, declaration, dump, shard_key, shell};
use shardlint::text::SourceId;

use crate::check::{assert_labels, assert_renders};
use crate::spans::{assert_inside, assert_located, of_node};

/// Reads the bytes as each kind of declaration, merges what they declare, and runs the rules on it.
pub fn declarations(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let kind = looks_like_declaration(data);
    let script = shell::Script::parse(&text);
    script.errors.iter().for_each(|error| assert_located(&text, error));
    match shard_key::parse(&text) {
        Ok(declared) => {
            let mut spans = vec![declared.span, declared.namespace.span];
            declared.key.iter().for_each(|key| of_node(key, &mut spans));
            assert_inside(&text, &spans);
        }
        Err(error) => assert_located(&text, &error),
    }
    let kinds = match kind {
        Some(kind) => vec![kind],
        None => vec![DeclarationKind::Script, DeclarationKind::Dump],
    };
    for kind in kinds {
        let declared = Declared::read(&text, Some(kind));
        let report = declared.report();
        assert_labels(&report, &[]);
        assert_renders(&report);
    }
}

/// What a text declares.
pub struct Declared {
    pub catalog: Catalog,
    pub texts: DeclarationTexts,
    findings: Vec<Finding>,
}

impl Declared {
    /// Reads `text`; as a script if it does not look like anything.
    pub fn read(text: &str, kind: Option<DeclarationKind>) -> Self {
        let (mut builder, source) = (Builder::default(), SourceId(0));
        let texts = DeclarationTexts { texts: vec![("declarations".to_owned(), text.as_bytes().to_vec())] };
        let (errors, passed_over) = match kind.unwrap_or(DeclarationKind::Script) {
            DeclarationKind::Script => {
                let declared = declaration::declarations(text);
                builder.script(source, &declared);
                (declared.errors, declared.passed_over)
            }
            DeclarationKind::Dump => {
                let dump = dump::dumps(text);
                builder.dump(source, &dump, Some("shop.orders"));
                (dump.errors, dump.passed_over)
            }
        };
        errors.iter().for_each(|error| assert_located(text, error));
        assert_inside(text, &passed_over);
        let (catalog, conflicts) = builder.finish();
        let mut findings: Vec<Finding> =
            errors.iter().map(|error| sl005::malformed(error, source, "declarations")).collect();
        for conflict in conflicts {
            let error = SyntaxError::new(conflict.span, conflict.message);
            assert_located(text, &error);
            findings.push(sl005::unusable(&error, source, "declarations"));
        }
        Self { catalog, texts, findings }
    }

    /// What the rules say about the declarations by themselves.
    fn report(self) -> Report {
        let settings = settings(self.catalog, None, 1);
        let run = Run {
            inputs: Vec::new(),
            declarations: &self.texts,
            declaration_findings: self.findings,
            settings: &settings,
        };
        finish(Outcome::default(), run)
    }
}

/// Settings that leave nothing out.
pub fn settings(catalog: Catalog, version: Option<ServerVersion>, threads: usize) -> Settings {
    Settings { catalog, version, threads, ..Settings::default() }
}
