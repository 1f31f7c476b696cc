//! One event, judged: a verdict and findings for each of its statements, and what the record as a whole counts as.

use std::sync::Arc;

use compact_str::CompactString;

use crate::catalog::Collection;
use crate::model::{Event, OperationName, ServerVersion, Shape, Statement};
use crate::routing::{self, Class, Cluster, Verdict};
use crate::rules::{
    Access, Carried, Check, EventContext, Finding, KeyValue, Rule, Severity, filter_of, key_values, knows_indexes,
    truncated_record, undeclared_namespace, unused_suppression,
};
use crate::text::{Fingerprint, RecordPos, Span};

use super::adjust::adjust_raised;
use super::settings::Settings;
use super::sums::{Occurrence, Share, Sums};
use super::suppress::{directive, unused_directive};

/// What a record counts as: a class, or nothing is declared about its namespace. Ordered from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// No declaration covers the namespace.
    Undeclared,
    /// A verdict.
    Judged(Class),
}

impl Standing {
    /// All standings, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Judged(Class::Targeted),
        Self::Judged(Class::MultiShard),
        Self::Judged(Class::Broadcast),
        Self::Judged(Class::Unknown),
        Self::Judged(Class::Unsharded),
        Self::Undeclared,
    ];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Undeclared => "undeclared",
            Self::Judged(class) => class.name(),
        }
    }
}

/// A finding of a rule, and what it is grouped by.
#[derive(Debug, Clone, PartialEq)]
pub struct Raised {
    /// The rule.
    pub rule: &'static Rule,
    /// The finding.
    pub finding: Finding,
    /// What makes two findings one diagnostic: the shape, or the namespace.
    pub group: Fingerprint,
    /// Whether `group` is the statement's shape.
    pub by_shape: bool,
}

impl Raised {
    /// The finding's own severity, else the rule's.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.finding.severity.unwrap_or(self.rule.severity)
    }
}

/// One statement of a record, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedStatement {
    /// After `--ns-map`.
    pub namespace: String,
    /// `find` …
    pub operation: &'static str,
    /// The value-free text.
    pub shape: Shape,
    /// Names namespace, operation and shape.
    pub fingerprint: Fingerprint,
    /// The class.
    pub standing: Standing,
    /// The shards contacted, if a chunk map is known.
    pub shards: Option<Vec<String>>,
    /// Why, for the reader.
    pub reason: String,
    /// The filter; without one, the command's name.
    pub place: Span,
    /// What it carries of the shard key, where that is known.
    pub carried: Option<Carried>,
    /// What an index could do for it, where indexes of the collection are known.
    pub access: Option<Access>,
    /// The values of the shard key that it shows.
    pub key_values: Vec<KeyValue>,
    /// What the rules say.
    pub raised: Vec<Raised>,
    /// What they say and suppressions hide.
    pub hidden: Vec<Hidden>,
}

/// A finding that a suppression hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// The rule's code.
    pub code: &'static str,
    /// What it would have been grouped by.
    pub group: Fingerprint,
    /// The entry of the configuration; `None` for a comment.
    pub entry: Option<usize>,
}

/// What records are about, as far as they are counted: of those that are about the same it is the same.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The worst standing among the statements.
    pub standing: Standing,
    /// `planSummary`.
    pub plan: Option<&'a Arc<str>>,
    /// At least one; a batch without its statements has one of its own kind.
    pub statements: &'a [JudgedStatement],
}

/// One record, judged.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What it tells for itself.
    pub own: Occurrence,
    /// The worst standing among the statements.
    pub standing: Standing,
    /// `comment` of the command.
    pub comment: Option<String>,
    /// `planSummary`.
    pub plan: Option<Arc<str>>,
    /// What names the client's operation in the records of several shards.
    pub operation_name: Option<OperationName>,
    /// What tells the shard from others, whichever of its members wrote the record.
    pub shard_version: Option<String>,
    /// The record is a getMore: the operation began with another record.
    pub continues: bool,
    /// The limits, by place, that count the record.
    pub limits: Vec<usize>,
    /// At least one; a batch without its statements has one of its own kind.
    pub statements: Arc<[JudgedStatement]>,
}

impl Judged {
    /// What it is about.
    #[must_use]
    pub fn about(&self) -> About<'_> {
        About { standing: self.standing, plan: self.plan.as_ref(), statements: &self.statements }
    }

    /// It alone, as a sum.
    #[must_use]
    pub fn sums(&self) -> Sums {
        let share = Share::new(self.own.application.clone(), self.statements.len(), self.limits.clone());
        Sums::one(&self.own, share)
    }
}

/// Judges every statement of `event`.
#[must_use]
pub fn judge(event: &Event, position: RecordPos, logged: Option<ServerVersion>, settings: &Settings) -> Judged {
    let millis = event.duration_millis.as_ref().map_or(0, |duration| duration.value);
    let (version, version_assumed) = settings.version_for(logged, event.newest_writer);
    let judge = Judge { event, version, version_assumed, settings };
    let statements: Arc<[JudgedStatement]> = if event.statements.is_empty() {
        Arc::new([judge.missing_statements()])
    } else {
        event.statements.iter().map(|statement| judge.statement(statement)).collect()
    };
    Judged {
        own: Occurrence {
            position,
            lead: 0,
            origin: event.origin,
            time: event.time_millis,
            millis,
            application: event.app_name.as_deref().map(CompactString::from),
            observed_shards: event.n_shards.as_ref().map(|n| n.value),
            logged,
        },
        standing: statements.iter().map(|s| s.standing).max().unwrap_or(Standing::Undeclared),
        comment: event.comment.clone(),
        plan: event.plan_summary.as_ref().map(|plan| Arc::from(plan.value.as_str())),
        operation_name: event.operation_name.clone(),
        shard_version: event.shard_version.clone(),
        continues: event.get_more,
        limits: limits(event.app_name.as_deref(), &statements, settings),
        statements,
    }
}

/// The limits, by place, that count a record of the application.
pub(super) fn limits(application: Option<&str>, statements: &[JudgedStatement], settings: &Settings) -> Vec<usize> {
    let Some(namespace) = statements.first().map(|statement| statement.namespace.as_str()) else { return Vec::new() };
    let limits = settings.limits.iter().enumerate();
    limits.filter(|(_, limit)| limit.covers(application, namespace)).map(|(place, _)| place).collect()
}

/// The values of the shard key of its collection that a statement shows.
pub(super) fn key_values_of(statement: &Statement, settings: &Settings) -> Vec<KeyValue> {
    let namespace = settings.namespace_map.apply(&statement.namespace);
    let key = settings.catalog.get(namespace.as_str()).and_then(Collection::shard_key);
    key.map_or_else(Vec::new, |key| key_values(statement, key))
}

struct Judge<'a> {
    event: &'a Event,
    version: ServerVersion,
    version_assumed: bool,
    settings: &'a Settings,
}

impl Judge<'_> {
    fn statement(&self, statement: &Statement) -> JudgedStatement {
        let Settings { catalog, namespace_map, .. } = self.settings;
        let namespace = namespace_map.apply(&statement.namespace);
        let collection = catalog.get(namespace.as_str());
        if self.event.is_own_work {
            return own_work(statement, namespace.as_str(), collection);
        }
        let verdict = collection.filter(|collection| collection.says_where_documents_lie()).map(|collection| {
            let cluster =
                Cluster { collection, all_shards: catalog.shards.as_deref(), version: self.version, explain: false };
            routing::route(statement, cluster)
        });
        let shape = Shape::of(statement);
        let operation = statement.verb.name();
        let fingerprint = shape.fingerprint(namespace.as_str(), operation);
        let context = EventContext {
            event: self.event,
            statement,
            namespace: namespace.as_str(),
            verdict: verdict.as_ref(),
            collection,
            catalog,
            version: self.version,
            version_assumed: self.version_assumed,
            thresholds: &self.settings.thresholds,
        };
        let mut raised = self.run_rules(&context, fingerprint);
        let standing = standing(verdict.as_ref());
        if standing == Standing::Undeclared {
            raised.extend(self.undeclared(namespace.as_str(), statement.name_span));
        }
        let hidden = self.sift(&mut raised, namespace.as_str(), (fingerprint, standing, statement.name_span));
        let carried = verdict.as_ref().and_then(|verdict| Carried::of(statement.verb, verdict));
        JudgedStatement {
            operation,
            shape,
            fingerprint,
            standing,
            hidden,
            shards: verdict.as_ref().and_then(|verdict| verdict.shards.clone()),
            place: place_of(statement),
            reason: verdict
                .map_or_else(|| "no shard key is declared for the namespace".to_owned(), |v| v.reason.text()),
            carried,
            key_values: key_values_of(statement, self.settings),
            access: collection.filter(|known| knows_indexes(known)).and_then(|_| Access::of(statement)),
            raised,
            namespace: namespace.as_str().to_owned(),
        }
    }

    /// A batch whose COMMAND line does not hold its statements, with no WRITE line beside it.
    fn missing_statements(&self) -> JudgedStatement {
        let Settings { catalog, namespace_map, .. } = self.settings;
        let namespace = namespace_map.apply(&self.event.namespace);
        let declared = catalog.get(namespace.as_str()).filter(|collection| collection.says_where_documents_lie());
        let is_explain = self.event.plan.is_some();
        let standing = match declared {
            None if is_explain && namespace.as_str().is_empty() => Standing::Judged(Class::Unknown),
            None => Standing::Undeclared,
            Some(collection) if collection.is_unsharded() => Standing::Judged(Class::Unsharded),
            Some(_) => Standing::Judged(Class::Unknown),
        };
        let operation = self.event.verb.map_or("command", crate::model::Verb::name);
        let (missing, reason) = if is_explain {
            ("query not in the explain", "the explain does not tell what was asked of which collection")
        } else {
            ("statements not in the record", "the log shows this batch without its statements")
        };
        let shape = Shape { text: missing.to_owned() };
        let fingerprint = shape.fingerprint(namespace.as_str(), operation);
        let undeclared = (standing == Standing::Undeclared)
            .then(|| self.undeclared(namespace.as_str(), self.event.name_span))
            .flatten();
        let mut raised: Vec<_> =
            undeclared.into_iter().chain(self.cut(namespace.as_str(), standing, fingerprint)).collect();
        raised.retain(|_| !self.event.is_own_work);
        let hidden = self.sift(&mut raised, namespace.as_str(), (fingerprint, standing, self.event.name_span));
        JudgedStatement {
            hidden,
            fingerprint: shape.fingerprint(namespace.as_str(), operation),
            operation,
            shape,
            standing,
            shards: None,
            reason: reason.to_owned(),
            place: self.event.name_span,
            carried: None,
            key_values: Vec::new(),
            access: None,
            raised,
            namespace: namespace.as_str().to_owned(),
        }
    }

    /// Takes out of `raised` what the configuration leaves out, and what suppressions hide; the latter is returned. A comment
    /// that hides nothing is a finding itself.
    fn sift(&self, raised: &mut Vec<Raised>, namespace: &str, about: (Fingerprint, Standing, Span)) -> Vec<Hidden> {
        let Settings { adjustments, suppressions, .. } = self.settings;
        let directive = self.event.comment.as_deref().filter(|_| suppressions.heed_comments()).and_then(directive);
        let mut hidden = Vec::new();
        raised.retain_mut(|found| {
            let (code, group) = (found.rule.code, found.group);
            if !adjust_raised(adjustments, found, namespace, self.event) {
                return false;
            }
            if directive.as_ref().is_some_and(|directive| directive.codes.contains(&code)) {
                hidden.push(Hidden { code, group, entry: None });
                return false;
            }
            let mut entries = suppressions.entries().iter();
            let entry = entries.position(|entry| entry.hides_event(code, namespace, group, self.event));
            hidden.extend(entry.map(|place| Hidden { code, group, entry: Some(place) }));
            entry.is_none()
        });
        let (group, standing, place) = about;
        if let Some(directive) = directive.filter(|_| standing != Standing::Undeclared)
            && let Some(rule) = self.settings.enabled(unused_suppression::RULE.code)
            && !hidden.iter().any(|hidden| hidden.entry.is_none())
        {
            raised.push(Raised { rule, finding: unused_directive(&directive, place), group, by_shape: true });
        }
        hidden
    }

    /// All findings on one statement: of those on fan-out only the most specific.
    fn run_rules(&self, context: &EventContext<'_>, group: Fingerprint) -> Vec<Raised> {
        let mut raised: Vec<Raised> = Vec::new();
        let mut fan_out: Option<(u8, Raised)> = None;
        for &rule in &self.settings.rules {
            let Check::Statement(check) = rule.check else { continue };
            if let (Some(rank), Some((best, _))) = (rule.fan_out_rank, &fan_out)
                && rank >= *best
            {
                continue;
            }
            let Some(finding) = check(context) else { continue };
            let found = Raised { rule, finding, group, by_shape: true };
            match rule.fan_out_rank {
                Some(rank) => fan_out = Some((rank, found)),
                None => raised.push(found),
            }
        }
        raised.extend(fan_out.map(|(_, found)| found));
        raised
    }

    /// That the record was cut, where no statement is left of it to say so.
    fn cut(&self, namespace: &str, standing: Standing, group: Fingerprint) -> Option<Raised> {
        let (rule, cut) = (self.settings.enabled(truncated_record::RULE.code)?, self.event.truncated.as_ref()?);
        let class = match standing {
            Standing::Undeclared => None,
            Standing::Judged(class) => Some(class),
        };
        Some(Raised { rule, finding: truncated_record::truncated(cut, namespace, class), group, by_shape: true })
    }

    fn undeclared(&self, namespace: &str, name: Span) -> Option<Raised> {
        let rule = self.settings.enabled(undeclared_namespace::RULE.code)?;
        let finding = undeclared_namespace::undeclared(namespace, 0, 0, name);
        Some(Raised { rule, finding, group: Fingerprint::of(&["namespace-1", namespace]), by_shape: false })
    }
}

/// A statement that the server ran by itself: documents that expire, chunks that move. No router chose a shard for it, so
/// there is nothing to say.
fn own_work(statement: &Statement, namespace: &str, collection: Option<&Collection>) -> JudgedStatement {
    let shape = Shape::of(statement);
    let operation = statement.verb.name();
    let is_declared = collection.is_some_and(Collection::says_where_documents_lie);
    JudgedStatement {
        fingerprint: shape.fingerprint(namespace, operation),
        operation,
        shape,
        standing: if is_declared { Standing::Judged(Class::Unsharded) } else { Standing::Undeclared },
        hidden: Vec::new(),
        shards: None,
        place: place_of(statement),
        reason: "the server's own work, which no router sends".to_owned(),
        carried: None,
        key_values: Vec::new(),
        access: None,
        raised: Vec::new(),
        namespace: namespace.to_owned(),
    }
}

/// What a finding on the whole statement points at.
fn place_of(statement: &Statement) -> Span {
    filter_of(statement).map_or(statement.name_span, |filter| filter.span)
}

fn standing(verdict: Option<&Verdict>) -> Standing {
    verdict.map_or(Standing::Undeclared, |verdict| Standing::Judged(verdict.class))
}
