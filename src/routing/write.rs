//! Updates, deletes and findAndModify. A single write has to be found on one shard, or is an error or a search in two
//! phases; a multi-write goes wherever its filter leads, and to the whole cluster if that is more than one shard.

use crate::model::{Document, KeyField, KeyKind, Node, ShardKey, Value, Verb};
use crate::text::Span;

use super::chunks::owner_of_key;
use super::collation::{depends_on_collation, same_collation};
use super::document_key::document_key;
use super::equality::full_key;
use super::insert::{SHARD_KEY_NOT_FOUND, complete};
use super::predicate::{Condition, Predicate};
use super::question::{Filter, Question};
use super::reading::{Gap, Reading};
use super::target::{Reach, Target, Targeting};
use super::verdict::{Cause, Class, RouterError, Verdict};
use super::versions;

const INVALID_OPTIONS: RouterError = RouterError { code: 72, name: "InvalidOptions" };

/// The verdict on an update, delete or findAndModify.
pub(super) fn route_write(question: Question<'_>) -> Verdict {
    let filter = question.own_filter();
    let gap = question.statement.options_partial.then_some(Gap::Lost);
    filter.settle(gap, |reading| {
        let predicate = filter.read(question.key, reading);
        let targeting = question.targeting(reading);
        let target = targeting.target(&predicate);
        let verdict = question.filter_verdict(&filter, &target, reading);
        let write = Write { question, filter: &filter, predicate: &predicate, targeting, target: &target };
        // A cut record may have lost `multi` and `upsert`.
        let lost = question.statement.options_partial && reading == Reading::Wide;
        if question.statement.multi || (lost && question.statement.verb != Verb::FindAndModify) {
            write.multi(verdict)
        } else {
            write.single(verdict)
        }
    })
}

struct Write<'a> {
    question: Question<'a>,
    filter: &'a Filter,
    /// The filter, normalised.
    predicate: &'a Predicate,
    targeting: Targeting<'a>,
    target: &'a Target,
}

impl Write<'_> {
    fn refused(verdict: Verdict, error: RouterError, cause: Cause) -> Verdict {
        let mut refused = Verdict { error: Some(error), shards: Some(Vec::new()), ..verdict };
        refused.reason.cause = cause;
        refused
    }

    fn multi(&self, mut verdict: Verdict) -> Verdict {
        let statement = self.question.statement;
        if self.replacement().is_some() {
            return Verdict { error: Some(INVALID_OPTIONS), shards: Some(Vec::new()), ..verdict };
        }
        if statement.upsert && !matches!(self.target.reach, Reach::Key(_)) {
            return Self::refused(verdict, SHARD_KEY_NOT_FOUND, Cause::UpsertWithoutKey);
        }
        if verdict.class == Class::Targeted || statement.in_transaction {
            return verdict;
        }
        verdict.class = Class::Broadcast;
        verdict.at_most = None;
        verdict.reason.cause = Cause::MultiWrite;
        self.to_whole_cluster(verdict)
    }

    fn single(&self, verdict: Verdict) -> Verdict {
        if matches!(self.target.reach, Reach::Key(_)) {
            return verdict;
        }
        if versions::writes_are_two_phase(self.question.version) {
            return self.single_in_two_phases(verdict);
        }
        if self.question.statement.upsert {
            let mut refused = Self::refused(verdict, SHARD_KEY_NOT_FOUND, Cause::UpsertWithoutKey);
            refused.reason.version_rules.push(versions::UPSERT.text);
            return refused;
        }
        match self.question.statement.verb {
            Verb::Update => self.single_update(verdict),
            Verb::Delete if self.is_exact_id() => self.by_id(verdict),
            _ => self.needs_key_or_one_shard(verdict),
        }
    }

    /// Whether the filter leads to one shard; without a chunk map only where no placement can change it.
    fn reaches_one_shard(verdict: &Verdict) -> bool {
        verdict.class == Class::Targeted || verdict.shards.as_ref().is_some_and(|shards| shards.len() == 1)
    }

    /// Since 7.1 no single write is refused for lack of the key.
    fn single_in_two_phases(&self, mut verdict: Verdict) -> Verdict {
        let statement = self.question.statement;
        let by_id = statement.verb != Verb::FindAndModify && !statement.upsert && self.is_exact_id();
        let reaches_one = Self::reaches_one_shard(&verdict);
        if verdict.class != Class::Targeted {
            verdict.class = Class::Broadcast;
            verdict.at_most = None;
            verdict.reason.cause = match (by_id, statement.upsert) {
                (true, _) => Cause::IdOnlyWrite,
                (false, true) => Cause::UpsertWithoutKey,
                (false, false) => Cause::SingleWriteWithoutKey,
            };
            verdict.reason.version_rules.push(versions::TWO_PHASE.text);
        }
        verdict.two_phase = !reaches_one && !by_id;
        if by_id { self.to_whole_cluster(verdict) } else { verdict }
    }

    fn single_update(&self, mut verdict: Verdict) -> Verdict {
        if Self::reaches_one_shard(&verdict) && verdict.class == Class::Targeted {
            return verdict;
        }
        if let Some(replacement) = self.replacement() {
            return self.by_replacement(verdict, replacement);
        }
        if self.is_exact_id() && !self.uses_let() {
            return self.by_id(verdict);
        }
        if !Self::reaches_one_shard(&verdict) && Self::is_surely_refused(&verdict) {
            verdict.reason.version_rules.push(versions::TWO_PHASE.text);
            return Self::refused(verdict, INVALID_OPTIONS, Cause::SingleWriteWithoutKey);
        }
        verdict
    }

    /// Without a chunk map a range may lie inside one shard, but everything does not.
    fn is_surely_refused(verdict: &Verdict) -> bool {
        verdict.shards.is_some() || verdict.class == Class::Broadcast
    }

    fn by_id(&self, mut verdict: Verdict) -> Verdict {
        if verdict.class == Class::Broadcast {
            verdict.reason.cause = Cause::IdOnlyWrite;
        }
        self.to_whole_cluster(verdict)
    }

    /// A write that is sent to more than one shard is sent to all of them, chunkless ones too, but in a transaction.
    fn to_whole_cluster(&self, mut verdict: Verdict) -> Verdict {
        let is_spread = verdict.shards.as_ref().is_some_and(|shards| shards.len() > 1);
        if is_spread && !self.question.statement.in_transaction {
            verdict.shards = self.question.whole_cluster();
        }
        verdict
    }

    /// Where the filter spans shards, the key is read from the replacement.
    fn by_replacement(&self, mut verdict: Verdict, replacement: &Document) -> Verdict {
        let key = self.replacement_key(replacement);
        let in_one = Self::reaches_one_shard(&verdict);
        verdict.class = Class::Targeted;
        verdict.at_most = Some(1);
        verdict.reason.cause = Cause::SingleKey;
        match key {
            _ if in_one => verdict,
            None => Self::refused(verdict, SHARD_KEY_NOT_FOUND, Cause::SingleWriteWithoutKey),
            Some(key) => {
                let owner = self.question.chunks().map(|map| owner_of_key(map, &key));
                verdict.shards = owner.as_ref().map(Question::names);
                verdict
            }
        }
    }

    /// The key of a replacement; a missing `_id` is that of the filter. `None` if the router refuses it.
    fn replacement_key(&self, replacement: &Document) -> Option<Vec<Value>> {
        let key = self.question.key;
        let id_key = id_key();
        let id = full_key(self.predicate, &id_key).and_then(|found| found.first().map(|(value, _)| (*value).clone()));
        let mut values = document_key(replacement, key).ok()?;
        for (value, field) in values.iter_mut().zip(&key.fields) {
            if field.path == "_id" {
                *value = value.or(id.as_ref());
            }
        }
        let may_target = self.targeting.collation_allows(values.iter().copied().flatten());
        may_target.then(|| complete(self.question, &values))?
    }

    fn replacement(&self) -> Option<&Document> {
        let update =
            self.question.statement.update.as_ref().filter(|_| self.question.statement.verb == Verb::Update)?;
        update.as_document().filter(|document| document.first().is_none_or(|field| !field.name.starts_with('$')))
    }

    /// Deletes and findAndModify need the full key; later patches take one shard, however it was found.
    fn needs_key_or_one_shard(&self, mut verdict: Verdict) -> Verdict {
        verdict.reason.version_rules.push(versions::PARTIAL_KEY_DELETE.text);
        let is_allowed = versions::partial_key_delete_is_allowed(self.question.version);
        if is_allowed && (Self::reaches_one_shard(&verdict) || !Self::is_surely_refused(&verdict)) {
            return verdict;
        }
        Self::refused(verdict, SHARD_KEY_NOT_FOUND, Cause::SingleWriteWithoutKey)
    }

    /// Whether the filter names a variable of the command's `let`: an update is tested for an exact `_id` without them, and
    /// a filter that cannot be read has none.
    fn uses_let(&self) -> bool {
        let variables = self.question.statement.let_variables.as_ref().and_then(Node::as_document);
        let is_variable = |name: &str| variables.is_some_and(|variables| variables.get(name).is_some());
        self.filter.written.any(
            &|part| matches!(&part.condition, Condition::Expr(expression) if expression.needs_variable(&is_variable)),
        )
    }

    /// Whether the filter names one `_id`. Where a collation could matter to it, it has to be the collection's own.
    fn is_exact_id(&self) -> bool {
        let id_key = id_key();
        let Some(id) = full_key(self.predicate, &id_key) else { return false };
        let given = self.question.statement.collation.as_ref();
        let default = self.question.collection.collation.as_ref();
        let is_own = given.is_none_or(|given| same_collation(given, default.unwrap_or(&Node::synthetic(Value::Null))));
        is_own || !id.iter().any(|(value, _)| depends_on_collation(value))
    }
}

fn id_key() -> ShardKey {
    let field = KeyField { path: "_id".to_owned(), kind: KeyKind::Ranged, span: Span::default() };
    ShardKey { fields: vec![field], span: Span::default() }
}
