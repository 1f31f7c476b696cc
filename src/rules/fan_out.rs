//! What all findings about fan-out share: who is asked, which place is marked, which evidence is shown beside it, and
//! the shortest predicate that would help. Reads it from the verdict; routing is decided elsewhere.

use crate::model::{KeyField, Node, ShardKey, Statement, Traffic, Verb};
use crate::routing::{Cause, Class, Comparison, Condition, FieldBounds, Operator, Predicate, Verdict};
use crate::text::Span;

use super::finding::{Finding, Label, Severity};
use super::rule::EventContext;

/// More marks than this make an excerpt hard to read.
const MOST_PREDICATES: usize = 4;

/// A statement on a sharded collection that more than one shard may have to answer.
#[derive(Clone, Copy)]
pub(super) struct FanOut<'a> {
    pub ctx: &'a EventContext<'a>,
    pub verdict: &'a Verdict,
    pub key: &'a ShardKey,
}

/// How the rules on single writes word what they have in common.
pub(super) struct SingleWrite<'a> {
    /// The write, as the message begins.
    pub subject: String,
    /// By what it does not reach one shard.
    pub by: &'a str,
    /// What follows on the fields that are missing.
    pub missing: &'a str,
}

impl<'a> FanOut<'a> {
    /// A read that is sent to every shard.
    pub fn broadcast_read(ctx: &'a EventContext<'a>) -> Option<Self> {
        Self::read(ctx).filter(|fan_out| fan_out.verdict.class == Class::Broadcast)
    }

    /// A read that may reach more than one shard.
    pub fn read(ctx: &'a EventContext<'a>) -> Option<Self> {
        Self::of(ctx).filter(|fan_out| !fan_out.ctx.statement.verb.is_write())
    }

    /// A write that may reach more than one shard, or that the router refuses.
    pub fn write(ctx: &'a EventContext<'a>) -> Option<Self> {
        Self::of(ctx).filter(|fan_out| fan_out.ctx.statement.verb.is_write())
    }

    /// Any statement that may reach more than one shard, or that the router refuses.
    pub fn of(ctx: &'a EventContext<'a>) -> Option<Self> {
        let (verdict, key) = (ctx.verdict?, ctx.collection?.shard_key()?);
        let reaches_several = matches!(verdict.class, Class::MultiShard | Class::Broadcast);
        (reaches_several || verdict.error.is_some()).then_some(Self { ctx, verdict, key })
    }

    /// Whether one shard answers: as chunks lie, or as the record of this execution says.
    pub fn is_on_one_shard(&self) -> bool {
        let observed = self.ctx.event.n_shards.as_ref().filter(|_| !is_batch(self.ctx));
        self.verdict.shards.as_ref().is_some_and(|shards| shards.len() == 1) || observed.is_some_and(|n| n.value == 1)
    }

    pub fn cause(&self) -> &'a Cause {
        &self.verdict.reason.cause
    }

    pub fn statement(&self) -> &'a Statement {
        self.ctx.statement
    }

    /// The field that has to be bound for the router to rule anything out.
    pub fn first(&self) -> &'a KeyField {
        self.key.first()
    }

    /// `` `find` on `shop.orders` ``.
    pub fn subject(&self) -> String {
        format!("`{}` on `{}`", self.statement().verb.name(), self.ctx.namespace)
    }

    /// `every shard`, or `all 12 shards` if their number is known.
    pub fn every_shard(&self) -> String {
        self.ctx.shard_count().map_or_else(|| "every shard".to_owned(), |n| format!("all {n} shards"))
    }

    /// `every shard of the cluster`: those without a chunk of the collection too.
    pub fn whole_cluster(&self) -> String {
        let catalog = self.ctx.catalog;
        let count = catalog.shards.as_ref().map(Vec::len).or(catalog.shard_count);
        count.map_or_else(|| "every shard of the cluster".to_owned(), |n| format!("all {n} shards of the cluster"))
    }

    /// Whether the filter keeps to one shard as chunks lie now, or may do so for all that is known.
    pub fn may_reach_one(&self) -> bool {
        let reaches_one = self.verdict.shards.as_ref().is_some_and(|shards| shards.len() == 1);
        self.verdict.error.is_none() && (reaches_one || self.verdict.class == Class::MultiShard)
    }

    /// The finding on a write of one document whose filter does not give the key: a warning where it may reach one shard
    /// all the same.
    pub fn single_write(&self, words: &SingleWrite<'_>) -> Finding {
        let may_span = self.may_reach_one();
        let SingleWrite { subject, by, missing } = words;
        let outcome = match (self.ctx.version.at_least(7, 1), may_span) {
            (false, false) => format!("is refused: it does not reach one shard{by}"),
            (false, true) => "is refused whenever it spans shards".to_owned(),
            (true, false) => "searches all shards first and writes then, in two phases".to_owned(),
            (true, true) => "is done in two phases whenever it spans shards".to_owned(),
        };
        let message = format!("{subject} {outcome} ({})", version_words(self.ctx));
        let fields = self.unbound_fields();
        let primary = Label::new(self.filter_span(), format!("no equality on {fields}{missing}"));
        let help = format!("add an equality on {fields} to the filter (shard key `{}`)", self.key);
        let mut finding = self.finding(message, primary, Vec::new(), help);
        finding.severity = may_span.then_some(Severity::Warning);
        finding
    }

    /// The place of what is missing: the filter, else the command's name.
    pub fn filter_span(&self) -> Span {
        filter_of(self.statement()).map_or(self.statement().name_span, |filter| filter.span)
    }

    /// The advice to bind the first field of the key, with the key.
    pub fn add_first_field(&self) -> String {
        let (field, key) = (&self.first().path, self.key);
        if self.statement().verb == Verb::Aggregate && filter_of(self.statement()).is_none() {
            return format!("begin the pipeline with a `$match` that has an equality on `{field}` (shard key `{key}`)");
        }
        format!("add an equality on `{field}` to the filter (shard key `{key}`)")
    }

    /// Those key fields that the filter leaves free, for advice on writes: `` `a` and `b` ``.
    pub fn unbound_fields(&self) -> String {
        let bindings = &self.verdict.reason.bindings;
        // An upsert that lacks a field of the key is not bound at all, whatever its filter has.
        let filter = filter_of(self.statement()).filter(|_| self.statement().upsert).map(Predicate::parse);
        let is_equal = |path: &str| filter.as_ref().is_some_and(|filter| has_equality(filter, path));
        let is_point = |path: &str| {
            bindings.iter().any(|b| b.path == path && b.bounds == FieldBounds::Points(1)) || is_equal(path)
        };
        let unbound = self.key.fields.iter().map(|field| field.path.as_str()).filter(|path| !is_point(path));
        let mut names: Vec<String> = unbound.map(|path| format!("`{path}`")).collect();
        match names.pop() {
            Some(last) if names.is_empty() => last,
            Some(last) => format!("{} and {last}", names.join(", ")),
            None => format!("`{}`", self.first().path),
        }
    }

    /// A finding whose primary mark is `primary`, followed by the evidence in the record.
    pub fn finding(&self, message: String, primary: Label, others: Vec<Label>, help: String) -> Finding {
        let mut labels = vec![primary];
        labels.extend(others);
        for label in self.idle_predicates().into_iter().chain(self.observations()) {
            if labels.iter().all(|known| known.span != label.span) {
                labels.push(label);
            }
        }
        Finding { severity: None, message, help: Some(help), labels, subject: None, source: None }
    }

    /// Predicates on key fields that are there and do not help.
    fn idle_predicates(&self) -> Vec<Label> {
        let first = &self.first().path;
        let bindings = self.verdict.reason.bindings.iter();
        let marks = bindings.flat_map(|binding| {
            let text = if binding.path == *first {
                match binding.bounds {
                    FieldBounds::NearlyFree => format!("rules out next to nothing of `{first}`"),
                    FieldBounds::Free => format!("gives no bound on `{first}`"),
                    _ => format!("bounds `{first}`"),
                }
            } else {
                format!("`{}` comes later in the key and does not route by itself", binding.path)
            };
            binding.predicates.iter().map(move |span| Label::new(*span, text.clone()))
        });
        let is_broadcast = self.verdict.class == Class::Broadcast;
        marks.filter(|_| is_broadcast).take(MOST_PREDICATES).collect()
    }

    /// Index bounds of an explain that show the first field of the key scanned from end to end.
    fn unbounded_scan(&self) -> Option<Label> {
        let first = &self.first().path;
        let bounds = self.ctx.event.plan.as_ref()?.bounds.iter().find(|bounds| bounds.field == *first)?;
        bounds.is_everything().then(|| Label::new(bounds.span, format!("every value of `{first}` is scanned")))
    }

    /// A collection scan of one shard, where others of the same explain use an index.
    fn lonely_scan(&self) -> Option<Label> {
        let scanning = &self.ctx.event.plan.as_ref()?.scanning;
        let first = scanning.first()?;
        let who = match scanning.len() {
            1 => format!("`{}` scans its whole part", first.value),
            n => format!("`{}` and {} scan their whole part", first.value, n - 1),
        };
        Some(Label::new(first.span, format!("{who}: the index of the others is not used there")))
    }

    /// What the server told about this execution.
    fn observations(&self) -> Vec<Label> {
        let event = self.ctx.event;
        let plan = event.plan_summary.as_ref().and_then(|plan| {
            let text = match plan.value.split([' ', '{']).next() {
                Some("COLLSCAN") => "each shard that is asked scans the whole collection",
                Some("IXSCAN") => "the index helps each shard, but saves none from being asked",
                _ => return None,
            };
            Some(Label::new(plan.span, text))
        });
        let asked = event.n_shards.as_ref().map(|n| {
            let shards = if n.value == 1 { "1 shard was".to_owned() } else { format!("{} shards were", n.value) };
            let whole = if is_batch(self.ctx) { " for the whole batch" } else { "" };
            Label::new(n.span, format!("{shards} asked{whole}"))
        });
        plan.into_iter().chain(asked).chain(self.unbounded_scan()).chain(self.lonely_scan()).collect()
    }
}

/// Whether a conjunction compares a field with one value.
fn has_equality(predicate: &Predicate, path: &str) -> bool {
    match &predicate.condition {
        Condition::And(members) => members.iter().any(|member| has_equality(member, path)),
        Condition::Field(at, Operator::Compare(Comparison::Eq, _)) => at == path,
        _ => false,
    }
}

/// Whether the record tells of several statements at once, so that its counters belong to none of them alone.
pub(super) fn is_batch(ctx: &EventContext<'_>) -> bool {
    ctx.event.statements.len() > 1 || ctx.event.traffic == Traffic::BatchCommand
}

/// The filter, or that of the `$match` which leads the pipeline.
#[must_use]
pub fn filter_of(statement: &Statement) -> Option<&Node> {
    statement.filter.as_ref().or_else(|| {
        let stages = statement.pipeline.as_ref()?.as_array()?;
        stages.items.first()?.as_document()?.get("$match")
    })
}

/// `MongoDB 6.0`, or that nothing named a version and which one was assumed.
pub(super) fn version_words(ctx: &EventContext<'_>) -> String {
    if ctx.version_assumed { format!("assuming MongoDB {}", ctx.version) } else { format!("MongoDB {}", ctx.version) }
}
