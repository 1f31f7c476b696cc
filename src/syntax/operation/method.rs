//! Methods of a collection, and of the cursor that a `find` gives.

use crate::model::{Array, Document, Field, Namespace, Node, Statement, Value, Verb};
use crate::syntax::error::SyntaxError;
use crate::text::Span;

use super::command::{documents, member};
use super::expected;
use super::form::{Call, OperationForm};

type Statements = Result<Vec<Statement>, SyntaxError>;

/// Methods of cursors and of results that change nothing about routing.
const NEUTRAL: [&str; 29] = [
    "addOption",
    "allowDiskUse",
    "allowPartialResults",
    "batchSize",
    "close",
    "comment",
    "explain",
    "forEach",
    "hasNext",
    "isClosed",
    "isExhausted",
    "itcount",
    "length",
    "map",
    "maxAwaitTimeMS",
    "maxTimeMS",
    "next",
    "noCursorTimeout",
    "objsLeftInBatch",
    "oplogReplay",
    "pretty",
    "readConcern",
    "readPref",
    "returnKey",
    "showRecordId",
    "tailable",
    "toArray",
    "tryNext",
    "writeConcern",
];

/// The statements of an operation on the collection `namespace`.
pub(super) fn statements(form: &OperationForm<'_>, namespace: &Namespace) -> Statements {
    let explained = usize::from(form.calls[0].name.value == "explain");
    let Some((call, modifiers)) = form.calls[explained..].split_first() else {
        return expected(form.calls[0].span, "an operation behind `explain()`");
    };
    let mut statements = Method { call, values: call.values()?, namespace, span: form.span }.read()?;
    for modifier in modifiers {
        statements.iter_mut().try_for_each(|statement| modify(statement, modifier))?;
    }
    Ok(statements)
}

/// `.sort(…)` and the like behind a `find` or `aggregate`.
fn modify(statement: &mut Statement, call: &Call<'_>) -> Result<(), SyntaxError> {
    let name = match call.name.value.as_str() {
        name if NEUTRAL.contains(&name) => return Ok(()),
        "count" | "size" if statement.verb == Verb::Find => {
            statement.verb = Verb::Count;
            return Ok(());
        }
        "project" => "projection",
        name @ ("sort" | "limit" | "skip" | "hint" | "min" | "max" | "collation" | "projection" | "let") => name,
        _ => return expected(call.name.span, "a method of a cursor, such as `sort` or `limit`"),
    };
    match call.values()?.into_iter().next() {
        Some(node) => member(statement, &Field { name: name.to_owned(), name_span: call.name.span, node }),
        None => return expected(call.span, &format!("an argument of `{name}`")),
    }
    Ok(())
}

/// One call of a method of a collection.
struct Method<'a> {
    call: &'a Call<'a>,
    values: Vec<Node>,
    namespace: &'a Namespace,
    span: Span,
}

impl Method<'_> {
    fn read(&self) -> Statements {
        let name = self.call.name.value.as_str();
        let statement = match name {
            "find" | "findOne" => self.find(name == "findOne")?,
            "aggregate" => self.aggregate()?,
            "count" => self.with_options(Verb::Count, &["filter"])?,
            "estimatedDocumentCount" => self.blank(Verb::Count),
            "countDocuments" => self.count_documents()?,
            "distinct" => self.with_options(Verb::Distinct, &["key", "filter"])?,
            "insert" | "insertOne" | "insertMany" => self.insert()?,
            "updateOne" | "replaceOne" => self.update(false)?,
            "updateMany" => self.update(true)?,
            "update" => self.legacy_update()?,
            "deleteOne" => self.delete(false)?,
            "deleteMany" => self.delete(true)?,
            "remove" => self.legacy_remove()?,
            "findOneAndUpdate" | "findOneAndReplace" => {
                self.with_options(Verb::FindAndModify, &["filter", "update"])?
            }
            "findOneAndDelete" => Statement { remove: true, ..self.with_options(Verb::FindAndModify, &["filter"])? },
            "findAndModify" => self.with_options(Verb::FindAndModify, &[])?,
            "bulkWrite" => return self.bulk_write(),
            _ => return expected(self.call.name.span, "an operation such as `find`, `aggregate` or `updateOne`"),
        };
        Ok(vec![statement])
    }

    fn blank(&self, verb: Verb) -> Statement {
        Statement::new(verb, self.namespace.clone(), self.call.name.span, self.span)
    }

    /// A method whose first arguments have these meanings, with a document of options behind them.
    fn with_options(&self, verb: Verb, meanings: &[&str]) -> Result<Statement, SyntaxError> {
        let mut statement = self.blank(verb);
        for (meaning, node) in meanings.iter().zip(&self.values) {
            if *meaning == "filter" {
                document(node)?;
            }
            let name = (*meaning).to_owned();
            member(&mut statement, &Field { name, name_span: self.call.name.span, node: node.clone() });
        }
        if let Some(options) = self.values.get(meanings.len()) {
            document(options)?.iter().for_each(|field| member(&mut statement, field));
        }
        Ok(statement)
    }

    fn find(&self, one: bool) -> Result<Statement, SyntaxError> {
        let mut statement = self.with_options(Verb::Find, &["filter", "projection"])?;
        if one {
            statement.limit = Some(Node { value: Value::Int32(1), span: self.call.name.span });
        }
        Ok(statement)
    }

    /// A pipeline as an array, or, in old scripts, as one argument for each stage.
    fn aggregate(&self) -> Result<Statement, SyntaxError> {
        if self.values.first().is_some_and(|node| node.as_array().is_some()) {
            return self.with_options(Verb::Aggregate, &["pipeline"]);
        }
        for stage in &self.values {
            document(stage)?;
        }
        let value = Value::Array(Array { items: self.values.clone(), partial: false });
        Ok(Statement { pipeline: Some(Node { value, span: self.call.span }), ..self.blank(Verb::Aggregate) })
    }

    /// The shell counts documents with a pipeline that begins with the filter as a `$match`.
    fn count_documents(&self) -> Result<Statement, SyntaxError> {
        let mut statement = self.with_options(Verb::Aggregate, &["filter"])?;
        let (span, name_span) = (self.call.span, self.call.name.span);
        let stage = |name: &str, node: Node| {
            let fields = vec![Field { name: name.to_owned(), name_span, node }];
            Node { value: Value::Document(Document { fields, partial: false }), span }
        };
        let every = || Node { value: Value::Document(Document::default()), span };
        let filter = statement.filter.take().unwrap_or_else(every);
        let group = stage("_id", Node { value: Value::Int32(1), span });
        let items = vec![stage("$match", filter), stage("$group", group)];
        statement.pipeline = Some(Node { value: Value::Array(Array { items, partial: false }), span });
        Ok(statement)
    }

    fn insert(&self) -> Result<Statement, SyntaxError> {
        let mut statement = self.blank(Verb::Insert);
        match self.values.first() {
            Some(node) if node.as_document().is_some() || node.as_array().is_some() => documents(&mut statement, node),
            _ => return expected(self.call.span, "a document to insert"),
        }
        Ok(statement)
    }

    fn update(&self, multi: bool) -> Result<Statement, SyntaxError> {
        if self.values.len() < 2 {
            return expected(self.call.span, "a filter and an update, such as `({ a: 1 }, { $set: { b: 2 } })`");
        }
        Ok(Statement { multi, ..self.with_options(Verb::Update, &["filter", "update"])? })
    }

    /// `update(filter, update, { multi, upsert })` or `update(filter, update, upsert, multi)`.
    fn legacy_update(&self) -> Result<Statement, SyntaxError> {
        match self.values.get(2) {
            Some(Node { value: Value::Bool(upsert), .. }) => {
                let multi = self.values.get(3).is_some_and(Node::is_truthy);
                let values = self.values[..2].to_vec();
                let method = Method { values, ..*self };
                Ok(Statement { upsert: *upsert, ..method.update(multi)? })
            }
            options => {
                let multi = options.and_then(Node::as_document).and_then(|options| options.get("multi"));
                self.update(multi.is_some_and(Node::is_truthy))
            }
        }
    }

    fn delete(&self, multi: bool) -> Result<Statement, SyntaxError> {
        Ok(Statement { multi, ..self.with_options(Verb::Delete, &["filter"])? })
    }

    /// `remove(filter, justOne)` or `remove(filter, { justOne })`; without it, all documents that match.
    fn legacy_remove(&self) -> Result<Statement, SyntaxError> {
        let Some(options) = self.values.get(1) else { return self.delete(true) };
        let named = options.as_document().and_then(|options| options.get("justOne"));
        let just_one = named.unwrap_or(options).is_truthy();
        let count = if options.as_document().is_some() { 2 } else { 1 };
        Method { values: self.values[..count].to_vec(), ..*self }.delete(!just_one)
    }

    fn bulk_write(&self) -> Statements {
        let Some(models) = self.values.first().and_then(Node::as_array) else {
            return expected(self.call.span, "an array of writes, such as `[{ insertOne: { document: {} } }]`");
        };
        models.items.iter().map(|model| self.model(model)).collect()
    }

    /// `{ updateOne: { filter, update, upsert } }`, one write of a `bulkWrite`.
    fn model(&self, model: &Node) -> Result<Statement, SyntaxError> {
        let Some(Field { name, name_span, node }) = document(model)?.first() else {
            return expected(model.span, "a write such as `updateOne`");
        };
        let (verb, multi) = match name.as_str() {
            "insertOne" => (Verb::Insert, false),
            "updateOne" | "replaceOne" => (Verb::Update, false),
            "updateMany" => (Verb::Update, true),
            "deleteOne" => (Verb::Delete, false),
            "deleteMany" => (Verb::Delete, true),
            _ => return expected(*name_span, "a write such as `updateOne`"),
        };
        let mut statement = Statement::new(verb, self.namespace.clone(), *name_span, model.span);
        for field in document(node)? {
            match field.name.as_str() {
                "document" => documents(&mut statement, &field.node),
                _ => member(&mut statement, field),
            }
        }
        statement.multi = multi;
        Ok(statement)
    }
}

fn document(node: &Node) -> Result<&[Field], SyntaxError> {
    match &node.value {
        Value::Document(document) => Ok(&document.fields),
        Value::Null | Value::Undefined => Ok(&[]),
        _ => expected(node.span, "a document such as `{ customerId: 1 }`"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use crate::model::{Node, Statement, Verb};

    fn read(text: &str) -> Vec<Statement> {
        parse(text, |_| None).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn one(text: &str) -> Statement {
        let mut statements = read(text);
        assert_eq!(statements.len(), 1, "{text}");
        statements.remove(0)
    }

    fn cut<'a>(text: &'a str, node: Option<&Node>) -> &'a str {
        node.map_or("", |node| &text[node.span.range()])
    }

    #[test]
    fn a_find_has_its_filter_and_what_its_cursor_is_told() {
        let text = " db.orders\n  .find({ status: \"A\" }, { _id: 0 }).sort({ ts: -1 }).limit(5).forEach(d => print(d)).pretty();";
        let find = one(text);
        assert_eq!((find.verb, find.namespace.as_str()), (Verb::Find, "test.orders"));
        assert_eq!(cut(text, find.filter.as_ref()), "{ status: \"A\" }");
        assert_eq!(cut(text, find.sort.as_ref()), "{ ts: -1 }");
        assert_eq!(cut(text, find.projection.as_ref()), "{ _id: 0 }");
        assert_eq!((cut(text, find.limit.as_ref()), &text[find.name_span.range()]), ("5", "find"));
        assert!(one("db.orders.findOne()").limit.is_some());
        assert_eq!(one("db.orders.find({ a: 1 }).count()").verb, Verb::Count);
        assert_eq!(one("db.orders.explain('executionStats').find({ a: 1 })").verb, Verb::Find);
    }

    #[test]
    fn the_database_is_named_by_the_text_or_asked_for() {
        let named = |text: &str| parse(text, |c| (c == "orders").then(|| "shop".to_owned())).expect("valid").remove(0);
        assert_eq!(named("db.orders.find()").namespace.as_str(), "shop.orders");
        assert_eq!(named("db['order.log'].find()").namespace.as_str(), "test.order.log");
        assert_eq!(named("db.getSiblingDB('crm').orders.find()").namespace.as_str(), "crm.orders");
        assert_eq!(named("db.getSiblingDB('crm').runCommand({ count: 'x' })").namespace.as_str(), "crm.x");
    }

    #[test]
    fn writes_have_their_kind_and_options() {
        let multi = |text: &str| (one(text).verb, one(text).multi, one(text).upsert);
        assert_eq!(
            multi("db.c.updateOne({ a: 1 }, { $set: { b: 1 } }, { upsert: true })"),
            (Verb::Update, false, true)
        );
        assert_eq!(multi("db.c.updateMany({ a: 1 }, [{ $set: { b: 1 } }])"), (Verb::Update, true, false));
        assert_eq!(multi("db.c.update({ a: 1 }, { $set: { b: 1 } }, true, true)"), (Verb::Update, true, true));
        assert_eq!(multi("db.c.update({ a: 1 }, { $set: { b: 1 } }, { multi: true })"), (Verb::Update, true, false));
        assert_eq!(multi("db.c.replaceOne({ a: 1 }, { b: 1 })"), (Verb::Update, false, false));
        assert_eq!(multi("db.c.deleteOne({ a: 1 })"), (Verb::Delete, false, false));
        assert_eq!(multi("db.c.deleteMany({ a: 1 })"), (Verb::Delete, true, false));
        assert_eq!(multi("db.c.remove({ a: 1 })"), (Verb::Delete, true, false));
        assert_eq!(multi("db.c.remove({ a: 1 }, true)"), (Verb::Delete, false, false));
        assert_eq!(multi("db.c.remove({ a: 1 }, { justOne: true })"), (Verb::Delete, false, false));
        assert_eq!(
            multi("db.c.findOneAndUpdate({ a: 1 }, { $inc: { b: 1 } }, { upsert: true })"),
            (Verb::FindAndModify, false, true)
        );
        assert!(one("db.c.findOneAndDelete({ a: 1 })").remove);
        assert!(one("db.c.findAndModify({ query: { a: 1 }, remove: true })").remove);
        assert_eq!(one("db.c.insertMany([{ a: 1 }, { a: 2 }])").document_count, Some(2));
        assert_eq!(one("db.c.insertOne({ a: 1 })").documents.len(), 1);
        let bulk =
            read("db.c.bulkWrite([{ insertOne: { document: { a: 1 } } }, { deleteMany: { filter: { a: 2 } } }])");
        assert_eq!((bulk[0].documents.len(), bulk[1].multi), (1, true));
    }

    #[test]
    fn counts_distincts_pipelines_and_commands_are_read() {
        let text = "db.c.countDocuments({ a: 1 })";
        let count = one(text);
        let stages = count.pipeline.as_ref().and_then(Node::as_array).expect("a pipeline");
        let filter = stages.items[0].as_document().and_then(|stage| stage.get("$match"));
        assert_eq!((count.verb, cut(text, filter)), (Verb::Aggregate, "{ a: 1 }"));
        let text = "db.c.distinct('a', { b: 1 })";
        let distinct = one(text);
        assert_eq!(
            (cut(text, distinct.distinct_key.as_ref()), cut(text, distinct.filter.as_ref())),
            ("'a'", "{ b: 1 }")
        );
        assert_eq!(
            one("db.c.aggregate({ $match: { a: 1 } }, { $limit: 1 })")
                .pipeline
                .and_then(|p| p.as_array().map(|a| a.items.len())),
            Some(2)
        );
        assert!(one("db.c.aggregate([{ $match: { a: 1 } }], { collation: { locale: 'de' } })").collation.is_some());
        let text = "db.runCommand({ find: 'c', filter: { a: 1 }, sort: { b: 1 } })";
        assert_eq!(cut(text, one(text).filter.as_ref()), "{ a: 1 }");
        let text = "db.runCommand({ delete: 'c', deletes: [{ q: { a: 1 }, limit: 0 }, { q: { a: 2 }, limit: 1 }] })";
        assert_eq!(read(text).iter().map(|s| s.multi).collect::<Vec<_>>(), [true, false]);
        assert_eq!(one("db.runCommand({ explain: { count: 'c', query: {} } })").verb, Verb::Count);
    }

    #[test]
    fn what_is_no_operation_is_told_in_place() {
        for (text, at, message) in [
            ("", 0, "expected an operation such as `db.orders.find({ a: 1 })`, found the end of the text"),
            ("db.orders", 9, "expected a method such as `.find(…)`, found the end of the text"),
            ("db.orders.find({ a 1 })", 19, "expected `:` after the key, found `1`"),
            ("db.orders.find({ a: 1 }", 23, "expected `,` or `)`, found the end of the text"),
            ("db.orders.fnid({})", 10, "expected an operation such as `find`, `aggregate` or `updateOne`"),
            ("db.orders.find({}).srot({})", 19, "expected a method of a cursor, such as `sort` or `limit`"),
            ("db.orders.find(5)", 15, "expected a document such as `{ customerId: 1 }`"),
            (
                "db.orders.updateOne({ a: 1 })",
                10,
                "expected a filter and an update, such as `({ a: 1 }, { $set: { b: 2 } })`",
            ),
            ("db.stats()", 3, "expected a method of a collection, such as `db.orders.find(…)`, or `runCommand`"),
            (
                "db.runCommand({ ping: 1 })",
                16,
                "expected a command that reads or writes documents, such as `find` or `update`",
            ),
            ("orders.find({})", 0, "`orders` is not known; expected an operation such as `db.orders.find({ a: 1 })`"),
            ("db.orders.find({}) x", 19, "expected the end of the operation, found `x`"),
        ] {
            let error = parse(text, |_| None).expect_err(text);
            assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
        }
    }
}
