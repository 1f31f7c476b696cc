//! One line of `route --cases`: a JSON object with extended JSON values, to a [`RoutingCase`].
//! Members that are not known are passed over.

use serde_json::value::RawValue;

use crate::model::{
    Array, Chunk, ChunkMap, Document, KeyField, Namespace, Node, RoutingCase, ServerVersion, ShardKey, Statement,
    Value, Verb, compare,
};
use crate::text::{Located, Span};

use super::error::SyntaxError;
use super::ext_json;

/// Reads a case; its spans lie in `text`.
///
/// # Errors
/// If `text` is no JSON object, or a member is missing or not what it should be.
pub fn parse_case(text: &str) -> Result<RoutingCase, SyntaxError> {
    let node = ext_json::parse(text, 0)?;
    let Value::Document(members) = &node.value else {
        return Err(SyntaxError::new(node.span, "a case has to be a JSON object"));
    };
    Case { members, span: node.span }.read()
}

/// The `id` of a case as JSON text, as far as the line can be read at all.
#[must_use]
pub fn case_id(text: &str) -> Option<&RawValue> {
    #[derive(serde::Deserialize)]
    struct Identified<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    serde_json::from_str::<Identified<'_>>(text).ok()?.id
}

struct Case<'a> {
    members: &'a Document,
    span: Span,
}

impl<'a> Case<'a> {
    fn read(&self) -> Result<RoutingCase, SyntaxError> {
        let name = self.required("ns")?;
        let namespace = Namespace::parse(name.as_str().unwrap_or_default());
        if namespace.collection().is_empty() {
            return Err(SyntaxError::new(name.span, "expected `database.collection`"));
        }
        let shard_key = read_key(self.required("shardKey")?)?;
        let version = match self.member("serverVersion") {
            Some(node) => {
                let text = node.as_str().unwrap_or_default();
                text.parse().map_err(|error| SyntaxError::new(node.span, format!("{error}")))?
            }
            None => ServerVersion::NEWEST,
        };
        let chunks = self.member("chunks").map(|node| read_chunks(node, &shard_key)).transpose()?;
        let all_shards = self.member("allShards").map(|node| names(array(node)?)).transpose()?;
        let text_of = |name| self.member(name).and_then(Node::as_str);
        Ok(RoutingCase {
            statement: self.statement(namespace)?,
            chunks,
            all_shards,
            collection_collation: self.member("collectionCollation").cloned(),
            outer: text_of("outer").map(Namespace::parse),
            shard_key,
            version,
        })
    }

    /// A member that is there and not null.
    fn member(&self, name: &str) -> Option<&'a Node> {
        self.members.get(name).filter(|node| !matches!(node.value, Value::Null))
    }

    fn required(&self, name: &str) -> Result<&'a Node, SyntaxError> {
        self.member(name).ok_or_else(|| SyntaxError::new(self.span, format!("the case has no `{name}`")))
    }

    fn statement(&self, namespace: Namespace) -> Result<Statement, SyntaxError> {
        let op = self.members.field("op").ok_or_else(|| SyntaxError::new(self.span, "the case has no `op`"))?;
        let verb = read_verb(&op.node)?;
        let given = |name: &str| self.member(name).cloned();
        let options = self.member("options").and_then(Node::as_document);
        let option = |name: &str| options.and_then(|options| options.get(name)).or_else(|| self.member(name)).cloned();
        let truthy = |name: &str| self.member(name).is_some_and(Node::is_truthy);
        let is_delete_many = verb == Verb::Delete && self.member("limit").and_then(Node::as_i64) == Some(0);
        let mut statement = Statement::new(verb, namespace, op.name_span, self.span);
        statement.filter = given("filter").or_else(|| given("query"));
        statement.pipeline = given("pipeline");
        if let Some(pipeline) = &statement.pipeline {
            array(pipeline)?;
        }
        statement.documents = given("document").into_iter().collect();
        if verb == Verb::Insert {
            document(self.required("document")?)?;
        }
        statement.update = given("update");
        statement.multi = truthy("multi") || is_delete_many;
        statement.upsert = truthy("upsert");
        statement.remove = truthy("remove");
        statement.sort = option("sort");
        statement.skip = option("skip");
        statement.limit = option("limit").filter(|_| verb != Verb::Delete);
        statement.hint = option("hint");
        statement.projection = option("projection");
        statement.collation = option("collation").filter(|node| !matches!(node.value, Value::Null));
        statement.let_variables = option("let");
        statement.in_transaction = truthy("inTransaction");
        statement.view_pipeline = self.member("view").map(view_pipeline).transpose()?;
        statement.now = self.member("now").and_then(|now| match now.value {
            Value::Date(millis) => Some(millis),
            _ => now.as_i64(),
        });
        Ok(statement)
    }
}

fn array(node: &Node) -> Result<&Array, SyntaxError> {
    node.as_array().ok_or_else(|| SyntaxError::new(node.span, "expected an array"))
}

fn document(node: &Node) -> Result<&Document, SyntaxError> {
    node.as_document().ok_or_else(|| SyntaxError::new(node.span, "expected a document"))
}

fn names(array: &Array) -> Result<Vec<String>, SyntaxError> {
    let name = |item: &Node| {
        item.as_str().map(str::to_owned).ok_or_else(|| SyntaxError::new(item.span, "expected the name of a shard"))
    };
    array.items.iter().map(name).collect()
}

fn read_verb(node: &Node) -> Result<Verb, SyntaxError> {
    const VERBS: [Verb; 9] = [
        Verb::Find,
        Verb::Aggregate,
        Verb::Count,
        Verb::Distinct,
        Verb::Insert,
        Verb::Update,
        Verb::Delete,
        Verb::FindAndModify,
        Verb::MapReduce,
    ];
    let name = node.as_str().unwrap_or_default();
    VERBS.into_iter().find(|verb| verb.name() == name).ok_or_else(|| {
        SyntaxError::new(node.span, format!("`{name}` is not an operation; expected find, aggregate, update …"))
    })
}

fn read_key(node: &Node) -> Result<ShardKey, SyntaxError> {
    let first = |mut refused: Vec<Located<String>>| match refused.is_empty() {
        true => SyntaxError::new(node.span, "not a shard key"),
        false => {
            let Located { value, span } = refused.swap_remove(0);
            SyntaxError::new(span, value)
        }
    };
    ShardKey::from_pattern(node).map_err(first)
}

fn read_chunks(node: &Node, key: &ShardKey) -> Result<ChunkMap, SyntaxError> {
    let mut chunks = array(node)?.items.iter().map(|item| read_chunk(item, key)).collect::<Result<Vec<_>, _>>()?;
    chunks.sort_by(|a, b| {
        let unequal = a.min.iter().zip(&b.min).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
        unequal.unwrap_or(std::cmp::Ordering::Equal)
    });
    Ok(ChunkMap { chunks })
}

fn read_chunk(node: &Node, key: &ShardKey) -> Result<Chunk, SyntaxError> {
    let chunk = document(node)?;
    let missing = |name: &str| SyntaxError::new(node.span, format!("the chunk has no `{name}`"));
    let bound = |name: &str| {
        let bound = chunk.get(name).ok_or_else(|| missing(name)).and_then(document)?;
        let value = |field: &KeyField| {
            bound.get(&field.path).map(|node| node.value.clone()).ok_or_else(|| missing(&field.path))
        };
        key.fields.iter().map(value).collect::<Result<Vec<_>, _>>()
    };
    let shard = chunk.get("shard").and_then(Node::as_str).ok_or_else(|| missing("shard"))?.to_owned();
    Ok(Chunk { min: bound("min")?, max: bound("max")?, shard })
}

/// A view's stages; a name alone says nothing about them.
fn view_pipeline(node: &Node) -> Result<Node, SyntaxError> {
    let stages = match &node.value {
        Value::Document(view) => view.get("pipeline"),
        _ => Some(node),
    };
    stages
        .filter(|stages| stages.as_array().is_some())
        .cloned()
        .ok_or_else(|| SyntaxError::new(node.span, "expected the pipeline of the view"))
}
