//! `parsedQuery` as it was most likely written. The server's form names every operator and lists what a document joins; the
//! same query has to have the same shape here and in a log.

use crate::model::{Array, Document, Field, Node, Value};

/// Operators that a negation is short for.
const NEGATED: [(&str, &str); 2] = [("$eq", "$ne"), ("$in", "$nin")];

/// The filter that `query` is the parsed form of.
pub(super) fn as_written(query: &Node) -> Node {
    let Some(document) = query.as_document() else { return query.clone() };
    let fields = document.fields.iter().map(member).collect();
    let plain = Document { fields, partial: document.partial };
    let joined = match plain.fields.as_slice() {
        [Field { name, node, .. }] if name == "$and" => node.as_array().and_then(joined),
        _ => None,
    };
    Node { value: Value::Document(joined.unwrap_or(plain)), span: query.span }
}

fn member(field: &Field) -> Field {
    let node = match (&field.node.value, field.name.as_str()) {
        (Value::Array(list), "$and" | "$or" | "$nor") => {
            let items = list.items.iter().map(as_written).collect();
            Node { value: Value::Array(Array { items, partial: list.partial }), span: field.node.span }
        }
        (Value::Document(_), name) if !name.starts_with('$') => predicate(&field.node),
        _ => field.node.clone(),
    };
    Field { node, ..field.clone() }
}

/// `{ $eq: 5 }` as `5`, `{ $not: { $in: […] } }` as `{ $nin: […] }`, `{ $regex: "^a" }` as `/^a/`.
fn predicate(node: &Node) -> Node {
    if let Some(value) = node.as_document().and_then(regex) {
        return Node { value, span: node.span };
    }
    let Some([only]) = node.as_document().map(|document| document.fields.as_slice()) else { return node.clone() };
    match only.name.as_str() {
        "$eq" if !is_operator(&only.node) => only.node.clone(),
        "$elemMatch" => with(node, Field { node: as_written(&only.node), ..only.clone() }),
        "$not" => {
            let inner = only.node.as_document().and_then(|document| match document.fields.as_slice() {
                [inner] => NEGATED.iter().find(|(name, _)| *name == inner.name).map(|(_, negated)| (inner, *negated)),
                _ => None,
            });
            inner.map_or_else(
                || node.clone(),
                |(inner, name)| with(node, Field { name: name.to_owned(), ..inner.clone() }),
            )
        }
        _ => node.clone(),
    }
}

fn regex(document: &Document) -> Option<Value> {
    let (pattern, options) = match document.fields.as_slice() {
        [pattern] => (pattern, ""),
        [pattern, options] if options.name == "$options" => (pattern, options.node.as_str()?),
        _ => return None,
    };
    let text = pattern.node.as_str().filter(|_| pattern.name == "$regex")?;
    Some(Value::Regex { pattern: text.into(), options: options.into() })
}

fn with(node: &Node, field: Field) -> Node {
    Node { value: Value::Document(Document { fields: vec![field], partial: false }), span: node.span }
}

/// Whether a value would mean something else if it stood alone.
fn is_operator(node: &Node) -> bool {
    let first = node.as_document().and_then(Document::first);
    matches!(node.value, Value::Regex { .. }) || first.is_some_and(|first| first.name.starts_with('$'))
}

/// The branches of an `$and` as one document, if no field takes two of them that cannot stand beside each other.
fn joined(branches: &Array) -> Option<Document> {
    let mut all = Document { fields: Vec::new(), partial: branches.partial };
    for branch in &branches.items {
        for field in &branch.as_document()?.fields {
            match all.fields.iter_mut().find(|known| known.name == field.name) {
                Some(known) => beside(&mut known.node, &field.node)?,
                None => all.fields.push(field.clone()),
            }
        }
    }
    Some(all)
}

/// Adds the operators of `more` to those of `known`.
fn beside(known: &mut Node, more: &Node) -> Option<()> {
    let (Value::Document(known), Value::Document(more)) = (&mut known.value, &more.value) else { return None };
    let is_free = |field: &Field| field.name.starts_with('$') && known.get(&field.name).is_none();
    let are_operators = known.fields.iter().all(|field| field.name.starts_with('$'));
    (are_operators && more.fields.iter().all(is_free)).then(|| known.fields.extend(more.fields.iter().cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Namespace, Shape, Statement, Verb};
    use crate::syntax::ext_json;
    use crate::text::Span;

    fn shape(filter: Node) -> String {
        let mut statement =
            Statement::new(Verb::Find, Namespace::parse("shop.orders"), Span::default(), Span::default());
        statement.filter = Some(filter);
        Shape::of(&statement).text
    }

    #[test]
    fn a_parsed_query_has_the_shape_of_the_query_that_was_written() {
        for (parsed, written) in [
            (r#"{"$and": []}"#, "{}"),
            (r#"{"a": {"$eq": 5}}"#, r#"{"a": 5}"#),
            (r#"{"a": {"$eq": {"$date": "2024-01-01T00:00:00Z"}}}"#, r#"{"a": {"$date": "2024-01-01T00:00:00Z"}}"#),
            (r#"{"$and": [{"a": {"$lte": 5}}, {"a": {"$gte": 1}}]}"#, r#"{"a": {"$gte": 1, "$lte": 5}}"#),
            (r#"{"$and": [{"b": {"$eq": 5}}, {"a": {"$not": {"$eq": 1}}}]}"#, r#"{"a": {"$ne": 1}, "b": 5}"#),
            (r#"{"$or": [{"$and": [{"a": {"$eq": 1}}, {"b": {"$eq": 1}}]}]}"#, r#"{"$or": [{"a": 1, "b": 1}]}"#),
            (
                r#"{"a": {"$regex": "^x", "$options": "i"}}"#,
                r#"{"a": {"$regularExpression": {"pattern": "^x", "options": "i"}}}"#,
            ),
            (r#"{"a": {"$elemMatch": {"b": {"$eq": 1}}}}"#, r#"{"a": {"$elemMatch": {"b": 1}}}"#),
            // What cannot be written otherwise stays.
            (
                r#"{"$and": [{"a": {"$gt": 5}}, {"a": {"$gt": 1}}]}"#,
                r#"{"$and": [{"a": {"$gt": 5}}, {"a": {"$gt": 1}}]}"#,
            ),
            (r#"{"a": {"$not": {"$gt": 1}}}"#, r#"{"a": {"$not": {"$gt": 1}}}"#),
        ] {
            let read = |text: &str| ext_json::parse(text, 0).expect("a document");
            assert_eq!(shape(as_written(&read(parsed))), shape(read(written)), "{parsed}");
        }
    }
}
