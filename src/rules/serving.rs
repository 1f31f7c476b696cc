//! Whether a declared index serves what a statement compares and sorts by: also one that only some queries can use, because it
//! is partial, sparse, hashed, a wildcard index, or has a collation. Where values decide, as with a partial index, it is said to
//! serve if it may.

use crate::catalog::Collection;
use crate::model::{Document, IndexSpec, Node};

use super::access::{Access, Direction, Pattern, collation_words};

/// What an index of a collection holds.
enum Kind {
    /// Values of fields, in order.
    Ordered(Pattern),
    /// Hashes of one of its fields.
    Hashed,
    /// Every field below a path, each by itself.
    Wildcard,
    /// Words or places.
    Other,
}

impl Access {
    /// Whether `index`, or one that is alike, may find the documents by one of the compared fields and yield them in the order
    /// asked for.
    #[must_use]
    pub fn is_served_by_index(&self, collection: &Collection, index: &IndexSpec) -> bool {
        index.hidden.is_none() && self.would_be_served_by(collection, index)
    }

    /// The same if it were not hidden.
    #[must_use]
    pub fn would_be_served_by(&self, collection: &Collection, index: &IndexSpec) -> bool {
        let names_what_is_in_it = index.partial_filter.as_ref().is_none_or(|filter| self.compares_all_of(filter))
            && (index.sparse.is_none() || self.compares_first_of(index));
        names_what_is_in_it && self.can_use_collation_of(collection, index) && self.is_served_by_kind(index)
    }

    fn is_served_by_kind(&self, index: &IndexSpec) -> bool {
        match kind(index) {
            Kind::Ordered(pattern) => self.is_served_by(&pattern),
            Kind::Hashed => {
                self.sort.is_empty() && index.key.first().is_some_and(|first| self.equality.contains(&first.name))
            }
            Kind::Wildcard => self.is_served_by_wildcard(index),
            Kind::Other => false,
        }
    }

    /// A partial index is used only if the filter says that what is wanted is in it: so it compares the same fields.
    fn compares_all_of(&self, filter: &Node) -> bool {
        let fields = filter.as_document().map(|document| document.fields.as_slice()).unwrap_or_default();
        fields.iter().all(|field| match field.name.as_str() {
            "$and" | "$or" => {
                let members = field.node.as_array().map(|array| array.items.as_slice()).unwrap_or_default();
                let mut met = members.iter().map(|member| self.compares_all_of(member));
                if field.name == "$and" { met.all(|met| met) } else { met.any(|met| met) }
            }
            path => self.compared.iter().any(|compared| compared == path),
        })
    }

    fn compares_first_of(&self, index: &IndexSpec) -> bool {
        index.key.first().is_some_and(|first| self.compared.contains(&first.name))
    }

    /// An index orders strings by its collation: with another one they are neither found by it nor sorted.
    fn can_use_collation_of(&self, collection: &Collection, index: &IndexSpec) -> bool {
        let simple = || "{ locale: \"simple\" }".to_owned();
        let of_index = collection.index_collation(index).map_or_else(simple, collation_words);
        let of_collection = || collection.collation.as_ref().map_or_else(simple, collation_words);
        let asked = self.collation.clone().unwrap_or_else(of_collection);
        asked == of_index || (!self.has_strings && self.sort.is_empty())
    }

    /// A wildcard index holds each field by itself. It finds by one field, and sorts by none but that.
    fn is_served_by_wildcard(&self, index: &IndexSpec) -> bool {
        let fields = &index.key.fields;
        let Some(wild) = fields.iter().position(|field| is_wildcard(&field.name)) else { return false };
        let prefix = fields[..wild].iter().all(|field| self.equality.contains(&field.name));
        let holds = |path: &String| is_in_wildcard(index, &fields[wild].name, path);
        let finds = self.compared.iter().any(holds) || (wild > 0 && prefix);
        let sorts = match self.sort.as_slice() {
            [] => true,
            [(path, _)] => holds(path) && self.compared.contains(path),
            _ => false,
        };
        prefix && finds && sorts
    }
}

fn kind(index: &IndexSpec) -> Kind {
    let fields = &index.key.fields;
    if fields.iter().any(|field| is_wildcard(&field.name)) {
        return Kind::Wildcard;
    }
    if fields.iter().any(|field| field.node.as_str() == Some("hashed")) {
        return Kind::Hashed;
    }
    let ordered = fields.iter().map(|field| match field.node.as_i64() {
        Some(number) if number > 0 => Some((field.name.clone(), Direction::Up)),
        Some(number) if number < 0 => Some((field.name.clone(), Direction::Down)),
        _ => None,
    });
    ordered.collect::<Option<Vec<_>>>().map_or(Kind::Other, |fields| Kind::Ordered(Pattern(fields)))
}

fn is_wildcard(name: &str) -> bool {
    name == "$**" || name.ends_with(".$**")
}

/// Whether a wildcard index holds a field. `_id` it holds only where its projection says so.
fn is_in_wildcard(index: &IndexSpec, wildcard: &str, path: &str) -> bool {
    let root = wildcard.strip_suffix("$**").unwrap_or_default();
    let is_below = root.is_empty() || path.starts_with(root) || format!("{path}.") == root;
    let is_id = path == "_id" || path.starts_with("_id.");
    let projection = index.wildcard_projection.as_ref().and_then(Node::as_document);
    is_below && projection.map_or(!is_id, |projection| projects(projection, path, is_id))
}

fn projects(projection: &Document, path: &str, is_id: bool) -> bool {
    let covers = |name: &str| path == name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let named = projection.fields.iter().find(|field| covers(&field.name)).map(|field| field.node.is_truthy());
    let includes = projection.fields.iter().any(|field| field.name != "_id" && field.node.is_truthy());
    named.unwrap_or(!includes && !is_id)
}
