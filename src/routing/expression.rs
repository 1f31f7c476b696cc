//! Aggregation expressions, as far as routing looks into them: constants, field paths, variables, operators.
//!
//! The tree is as written. Folding of constants and the conversion of an `$expr` to predicates is done by `convert`.

use crate::model::{Node, Value};
use crate::text::Span;

use super::parse::MAX_DEPTH;

/// An expression and where it stands.
#[derive(Debug, Clone)]
pub struct Expression {
    /// What it computes.
    pub kind: ExpressionKind,
    /// Where it was written.
    pub span: Span,
}

/// What an expression computes.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// A literal, `$literal` included.
    Constant(Value),
    /// `"$a.b"`, `"$$ROOT.a.b"` or `"$$CURRENT.a.b"`, as `a.b`. Empty for `"$$ROOT"`: the whole document.
    Path(String),
    /// Another variable, such as `$$NOW` or `$$x.y`: the text behind `$$`.
    Variable(String),
    /// `{ $name: argument }`.
    Operator(String, Box<Expression>),
    /// `{ name: expression, … }`.
    Object(Vec<(String, Expression)>),
    /// `[ expression, … ]`.
    Array(Vec<Expression>),
    /// Cut off, redacted or nested too deeply.
    Opaque,
}

impl Expression {
    /// Reads an expression.
    #[must_use]
    pub fn parse(node: &Node) -> Self {
        Self::parse_at(node, 0)
    }

    pub(super) fn parse_at(node: &Node, depth: usize) -> Self {
        let kind = match &node.value {
            _ if depth > MAX_DEPTH => ExpressionKind::Opaque,
            Value::Redacted => ExpressionKind::Opaque,
            Value::String(text) => Self::parse_string(text),
            Value::Document(document) if document.partial => ExpressionKind::Opaque,
            Value::Document(document) => match document.fields.as_slice() {
                [field] if field.name == "$literal" || field.name == "$const" => {
                    ExpressionKind::Constant(field.node.value.clone())
                }
                [field] if field.name.starts_with('$') => {
                    ExpressionKind::Operator(field.name.clone(), Box::new(Self::parse_at(&field.node, depth + 1)))
                }
                fields => ExpressionKind::Object(
                    fields.iter().map(|field| (field.name.clone(), Self::parse_at(&field.node, depth + 1))).collect(),
                ),
            },
            Value::Array(array) if array.partial => ExpressionKind::Opaque,
            Value::Array(array) => {
                ExpressionKind::Array(array.items.iter().map(|item| Self::parse_at(item, depth + 1)).collect())
            }
            other => ExpressionKind::Constant(other.clone()),
        };
        Self { kind, span: node.span }
    }

    fn parse_string(text: &str) -> ExpressionKind {
        let Some(rest) = text.strip_prefix('$') else {
            return ExpressionKind::Constant(Value::String(text.to_owned()));
        };
        let Some(variable) = rest.strip_prefix('$') else {
            return ExpressionKind::Path(rest.to_owned());
        };
        let (name, path) = variable.split_once('.').unwrap_or((variable, ""));
        match name {
            "ROOT" | "CURRENT" => ExpressionKind::Path(path.to_owned()),
            _ => ExpressionKind::Variable(variable.to_owned()),
        }
    }

    /// The expressions one level below.
    fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match &self.kind {
            ExpressionKind::Operator(_, argument) => Box::new(std::iter::once(argument.as_ref())),
            ExpressionKind::Object(members) => Box::new(members.iter().map(|(_, member)| member)),
            ExpressionKind::Array(items) => Box::new(items.iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Calls `visit` with every field path; with the empty path where the whole document is used or unknown.
    pub fn visit_paths(&self, visit: &mut dyn FnMut(&str)) {
        match &self.kind {
            ExpressionKind::Path(path) => visit(path),
            ExpressionKind::Opaque => visit(""),
            _ => self.children().for_each(|child| child.visit_paths(visit)),
        }
    }

    /// Renames every path for which `rename` knows a new name.
    pub fn rename_paths(&mut self, rename: &dyn Fn(&str) -> Option<String>) {
        match &mut self.kind {
            ExpressionKind::Path(path) => {
                if let Some(new) = rename(path) {
                    *path = new;
                }
            }
            ExpressionKind::Operator(_, argument) => argument.rename_paths(rename),
            ExpressionKind::Object(members) => members.iter_mut().for_each(|(_, member)| member.rename_paths(rename)),
            ExpressionKind::Array(items) => items.iter_mut().for_each(|item| item.rename_paths(rename)),
            ExpressionKind::Constant(_) | ExpressionKind::Variable(_) | ExpressionKind::Opaque => {}
        }
    }

    /// Whether it needs one of the variables for which `is_variable` holds, one that it does not bind itself.
    pub(super) fn needs_variable(&self, is_variable: &dyn Fn(&str) -> bool) -> bool {
        match &self.kind {
            ExpressionKind::Variable(text) => is_variable(text.split_once('.').map_or(text.as_str(), |(name, _)| name)),
            ExpressionKind::Operator(operator, argument) => {
                let ExpressionKind::Object(members) = &argument.kind else {
                    return argument.needs_variable(is_variable);
                };
                let bound = bound_names(operator, members);
                let is_free = |name: &str| is_variable(name) && !bound.contains(&name);
                members.iter().any(|(name, member)| match name.as_str() {
                    "in" | "cond" => member.needs_variable(&is_free),
                    _ => member.needs_variable(is_variable),
                })
            }
            _ => self.children().any(|child| child.needs_variable(is_variable)),
        }
    }

    /// Whether `test` holds for this expression or one below it.
    pub fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self) || self.children().any(|child| child.any(test))
    }
}

/// The variables that an operator binds in its `in` or `cond`.
fn bound_names<'e>(operator: &str, members: &'e [(String, Expression)]) -> Vec<&'e str> {
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, member)| &member.kind);
    match (operator, member("vars"), member("as")) {
        ("$let", Some(ExpressionKind::Object(variables)), _) => {
            variables.iter().map(|(name, _)| name.as_str()).collect()
        }
        ("$map" | "$filter", _, Some(ExpressionKind::Constant(Value::String(name)))) => vec![name],
        ("$map" | "$filter", _, None) => vec!["this"],
        ("$reduce", ..) => vec!["this", "value"],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_current_are_paths_and_other_variables_are_not() {
        let read = |text: &str| Expression::parse(&Node::synthetic(Value::String(text.to_owned()))).kind;
        assert!(matches!(read("$a.b"), ExpressionKind::Path(path) if path == "a.b"));
        assert!(matches!(read("$$ROOT.a"), ExpressionKind::Path(path) if path == "a"));
        assert!(matches!(read("$$ROOT"), ExpressionKind::Path(path) if path.is_empty()));
        assert!(matches!(read("$$NOW"), ExpressionKind::Variable(name) if name == "NOW"));
        assert!(matches!(read("a"), ExpressionKind::Constant(Value::String(text)) if text == "a"));
    }

    #[test]
    fn a_variable_that_an_operator_binds_itself_is_not_needed() {
        let needs = |text: &str| {
            let node = crate::syntax::ext_json::parse(text, 0).expect("extended JSON");
            Expression::parse(&node).needs_variable(&|name| name == "v")
        };
        assert!(needs(r#"{"$eq": ["$a", "$$v.b"]}"#));
        assert!(needs(r#"{"$let": {"vars": {"v": "$$v"}, "in": 1}}"#));
        assert!(!needs(r#"{"$let": {"vars": {"v": 1}, "in": {"$eq": ["$a", "$$v"]}}}"#));
        assert!(!needs(r#"{"$filter": {"input": "$a", "as": "v", "cond": {"$gt": ["$$v", 1]}}}"#));
    }
}
