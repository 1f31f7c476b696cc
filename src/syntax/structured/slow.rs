//! The attributes of a slow-query record to an [`Event`].

use crate::model::{Event, Namespace, OperationName, Origin, Statement, Traffic, Verb};
use crate::text::Located;

use super::command::{Command, Kind};
use super::cut::{self, Cut};
use super::members::{Members, Raw};
use super::traffic::{self, is_own_thread};
use super::{bulk_write, statement, views};

/// The event of a record with the id and the message of a slow query. Nothing of it is required.
pub(super) fn event(record: &Members<'_>) -> Event {
    let attr = record.object("attr").unwrap_or(Members { line: record.line, list: Vec::new(), partial: false });
    let mut event = judged(record, &attr);
    envelope(record, &mut event);
    event.is_own_work = is_own_thread(event.context.as_bytes());
    counters(&attr, &mut event);
    for statement in &mut event.statements {
        statement.now = event.time_millis;
        views::resolve(&attr, statement);
    }
    event.redacted = event.statements.iter().find_map(|statement| first_redacted(record.line, statement));
    event
}

/// What the operation was: its kind, its command, its statements.
fn judged(record: &Members<'_>, attr: &Members<'_>) -> Event {
    let place = attr.raw("command").map_or(record.span(record.line), |raw| raw.span(record.line));
    let namespace = Namespace::parse(&attr.string("ns").unwrap_or_default());
    let read = |name: &str| {
        let cut = record.has("truncated").then(|| Cut::of(record, name)).flatten();
        attr.raw(name).and_then(|raw| Command::read(record.line, raw, cut))
    };
    let Some(command) = read("command") else {
        return without_command(attr, Event::new(namespace, Traffic::NotAQuery(String::new()), place));
    };
    let originating = (command.kind == Kind::GetMore).then(|| read("originatingCommand")).flatten();
    let commands: Vec<&Command<'_>> = std::iter::once(&command).chain(&originating).collect();
    let origin = traffic::origin(record, attr, &commands);
    let mut event = match &originating {
        Some(originating) => {
            let mut event = of_command(attr, originating, &namespace);
            event.get_more = true;
            event
        }
        None => of_command(attr, &command, &namespace),
    };
    event.origin = origin;
    event.comment = commands.iter().find_map(|command| comment(command));
    event.operation_name = operation_name(&command);
    event.shard_version = shard_version(&command);
    if record.has("truncated") {
        event.truncated = cut::described(record, if event.get_more { "originatingCommand" } else { "command" });
    }
    event
}

/// A record without a command document: `"command": "unrecognized"`, or none at all.
fn without_command(attr: &Members<'_>, mut event: Event) -> Event {
    let name = attr.string("command").or_else(|| attr.string("type")).unwrap_or_default();
    event.verb = written(attr);
    event.traffic = match event.verb {
        Some(_) => Traffic::BatchStatement,
        None => Traffic::NotAQuery(name.into_owned()),
    };
    event
}

/// The verb of a WRITE line, by its `type`.
fn written(attr: &Members<'_>) -> Option<Verb> {
    match attr.string("type").as_deref() {
        Some("update") => Some(Verb::Update),
        Some("remove") => Some(Verb::Delete),
        _ => None,
    }
}

/// The event of one command, `command` or `originatingCommand`.
fn of_command(attr: &Members<'_>, command: &Command<'_>, ns: &Namespace) -> Event {
    let kind = kind(attr, command);
    let verb = match kind {
        Kind::Single(verb) | Kind::Batch(verb) => Some(verb),
        Kind::WriteStatement => written(attr).or_else(|| bulk_verb(command)).or_else(|| write_verb(command)),
        Kind::BulkWrite | Kind::GetMore | Kind::Other => None,
    };
    let namespace = collection_of(command, ns);
    let mut event = Event::new(namespace, Traffic::Query, command.span);
    event.name_span = command.name_span;
    event.verb = verb;
    if let Some(why) = traffic::internal(attr, command, verb, &event.namespace) {
        event.traffic = Traffic::Internal(why);
        return event;
    }
    fill(attr, command, kind, &mut event);
    event
}

/// What the command is, in this record: an operation of a bulkWrite in its WRITE line looks like an update command.
fn kind(attr: &Members<'_>, command: &Command<'_>) -> Kind {
    let is_bulk = attr.string("type").is_some_and(|kind| kind == "bulkWrite");
    match command.kind {
        Kind::Batch(_) | Kind::Single(Verb::Insert) if is_bulk => Kind::WriteStatement,
        kind => kind,
    }
}

/// Gives the event its traffic and its statements.
fn fill(attr: &Members<'_>, command: &Command<'_>, kind: Kind, event: &mut Event) {
    let namespace = event.namespace.clone();
    match (kind, event.verb) {
        (Kind::Single(verb), _) if is_collectionless_on_admin(command, verb, &namespace) => {
            event.traffic = Traffic::NotAQuery(command.name.to_string());
        }
        (Kind::Single(verb), _) => {
            let mut statement = statement::single(command, verb, namespace);
            if verb == Verb::Insert && statement.document_count.is_none() {
                statement.document_count = attr.counter("ninserted").map(|count| count.value);
            }
            event.statements.push(statement);
        }
        (Kind::Batch(verb), _) => {
            event.traffic = Traffic::BatchCommand;
            event.statements = statement::batch(command, verb, &namespace);
        }
        (Kind::BulkWrite, _) => {
            event.traffic = Traffic::BatchCommand;
            event.statements = bulk_write::statements(command);
            if let Some(first) = event.statements.first() {
                event.namespace = first.namespace.clone();
                event.verb = Some(first.verb);
            }
        }
        (Kind::WriteStatement, Some(verb)) => {
            event.traffic = Traffic::BatchStatement;
            event.statements.extend(write_statement(command, verb, namespace));
            if let Some(statement) = event.statements.first() {
                event.name_span = statement.name_span;
            }
        }
        (Kind::WriteStatement | Kind::GetMore | Kind::Other, _) => {
            event.traffic = Traffic::NotAQuery(command.name.to_string());
        }
    }
}

/// `{aggregate: 1}` on `admin` looks at the server, not at a collection.
fn is_collectionless_on_admin(command: &Command<'_>, verb: Verb, namespace: &Namespace) -> bool {
    verb == Verb::Aggregate && namespace.database() == "admin" && command.collection().is_none()
}

/// The collection a command works on. `ns` names it, or only the database: `shop.$cmd`.
fn collection_of(command: &Command<'_>, ns: &Namespace) -> Namespace {
    let is_real = !ns.collection().is_empty() && !ns.collection().starts_with("$cmd");
    if is_real || command.kind == Kind::Other {
        return ns.clone();
    }
    let database = match ns.database() {
        "" => command.members.string("$db").unwrap_or_default().into_owned(),
        database => database.to_owned(),
    };
    command.collection().map_or_else(|| ns.clone(), |collection| Namespace::new(&database, &collection))
}

fn write_statement(command: &Command<'_>, verb: Verb, namespace: Namespace) -> Option<Statement> {
    let node = command.whole()?;
    if bulk_write::verb(&node).is_some() {
        return bulk_write::statement(node, namespace);
    }
    statement::write(node, verb, namespace, command.name_span)
}

/// The verb of one operation of a bulkWrite.
fn bulk_verb(command: &Command<'_>) -> Option<Verb> {
    bulk_write::verb(&command.whole()?).map(|(verb, _, _)| verb)
}

/// The verb of a write statement whose record has no `type`: only updates have a `u`.
fn write_verb(command: &Command<'_>) -> Option<Verb> {
    let is_update = ["u", "multi", "upsert"].iter().any(|name| command.members.has(name));
    Some(if is_update { Verb::Update } else { Verb::Delete })
}

/// `comment` as text: a string, or any other value as it is printed.
fn comment(command: &Command<'_>) -> Option<String> {
    let raw = command.members.raw("comment")?;
    let compact = || match raw {
        Raw::Json(json) => serde_json::from_str::<serde_json::Value>(json).ok().map(|value| value.to_string()),
        Raw::Read(_) => Some(raw.text(command.members.line).to_owned()),
    };
    raw.string().map_or_else(compact, |text| Some(text.into_owned()))
}

/// What names the operation in the records of all shards that the router sent it to.
fn operation_name(command: &Command<'_>) -> Option<OperationName> {
    let members = &command.members;
    let text = |raw: Raw<'_>| raw.text(members.line).to_owned();
    if let Some(key) = members.raw("clientOperationKey") {
        return Some(OperationName::Key(text(key)));
    }
    let session = text(members.object("lsid")?.raw("id")?);
    let number = members.raw("txnNumber").map(text);
    Some(OperationName::Session(number.into_iter().fold(session, |session, number| format!("{session} {number}"))))
}

/// The version by which a router and a shard agree on chunks; all shards without any have the same one, of zeros.
fn shard_version(command: &Command<'_>) -> Option<String> {
    let text = command.members.raw("shardVersion")?.text(command.members.line);
    let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let is_of_nothing = ["\"t\":0,\"i\":0", "Timestamp(0,0)", "Timestamp0|0"].iter().any(|zero| packed.contains(zero));
    (!is_of_nothing).then_some(packed)
}

fn envelope(record: &Members<'_>, event: &mut Event) {
    event.time_millis = record.time_millis("t");
    event.context = record.string("ctx").unwrap_or_default().into_owned();
    if record.has("truncated") && event.truncated.is_none() {
        event.truncated = cut::described(record, "command");
    }
}

fn counters(attr: &Members<'_>, event: &mut Event) {
    // A router of 8.0 prints zeros where only shards could tell.
    let told = |counter: &Located<u64>| event.origin != Origin::Router || counter.value != 0;
    event.keys_examined = attr.counter("keysExamined").filter(told);
    event.docs_examined = attr.counter("docsExamined").filter(told);
    event.plan_summary = plan_summary(attr);
    event.n_shards = attr.counter("nShards");
    event.duration_millis = attr.counter("durationMillis");
    event.returned = attr.counter("nreturned");
    event.has_sort_stage = attr.truth("hasSortStage");
    event.used_disk = attr.truth("usedDisk");
    event.error_code = attr.number("errCode");
    event.app_name = attr.string("appName").map(std::borrow::Cow::into_owned);
}

fn plan_summary(attr: &Members<'_>) -> Option<Located<String>> {
    let text = attr.string("planSummary")?;
    let raw = attr.raw("planSummary")?;
    let mut span = raw.span(attr.line);
    if let Raw::Json(_) = raw {
        span.start += 1;
        span.end -= 1;
    }
    Some(Located::new(text.into_owned(), span))
}

fn first_redacted(line: &str, statement: &Statement) -> Option<crate::text::Span> {
    let parts = [&statement.filter, &statement.pipeline, &statement.update, &statement.sort, &statement.limit];
    let parts = parts.into_iter().flatten().chain(&statement.documents);
    parts.filter_map(|part| statement::first_redacted(line, part)).min()
}
