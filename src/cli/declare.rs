//! Which inputs are declarations and which are logs, and what the declarations say. (being completed)

use crate::catalog::{Catalog, Collection, IndexList, Sharding};
use crate::engine::{DeclarationTexts, Source};
use crate::input::discover;
use crate::model::ShardKey;
use crate::rules::Finding;
use crate::text::SourceId;

use super::args::CheckArgs;
use super::complain;

/// Everything declared.
pub struct Declared {
    /// Merged from all sources.
    pub catalog: Catalog,
    /// The sources.
    pub texts: DeclarationTexts,
    /// What could not be read in them.
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

/// Sorts the inputs by their content.
pub fn sort_out(args: &CheckArgs) -> anyhow::Result<Inputs> {
    let mut catalog = Catalog::default();
    for text in &args.shard_key {
        let (ns, key) = text.split_once('=').ok_or_else(|| anyhow::anyhow!("no ="))?;
        let node = crate::syntax::shell::parse(key, 0)?;
        let key = ShardKey::from_pattern(&node).map_err(|_| anyhow::anyhow!("bad key"))?;
        catalog.add(Collection {
            pattern: ns.to_owned(),
            sharding: Sharding::Sharded(key),
            key_pattern: Some(node),
            source: SourceId(0),
            unique_key: None,
            collation: None,
            indexes: IndexList::default(),
            chunks: None,
        });
    }
    let inputs: Vec<_> = args.inputs.iter().map(Into::into).collect();
    let found = discover(&inputs);
    found.errors.iter().for_each(|error| complain(&error.to_string()));
    Ok(Inputs {
        logs: found.inputs.into_iter().map(|input| Source { input, opened: None }).collect(),
        declared: Declared { catalog, texts: DeclarationTexts::default(), findings: Vec::new() },
        failed: !found.errors.is_empty(),
    })
}
