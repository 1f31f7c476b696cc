//! What a stage does to the paths of a document, in the terms in which the router asks whether a `$match` can move past it.

use std::collections::BTreeSet;

use crate::model::{Node, Value};
use crate::text::Span;

use super::super::expression::{Expression, ExpressionKind};

/// The paths that a stage touches and the names under which it passes others on.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// What is no longer the same after the stage.
    pub(super) touched: Touched,
    /// New names of unchanged values: the name after the stage, and the one before it.
    pub(super) renames: Vec<(String, String)>,
    /// A `$group` by one expression makes an `_id` for every document, so `$exists` on `_id` means something else before it.
    pub(super) makes_id: bool,
    /// A hidden literal that could be a rename.
    pub(super) hidden: Option<Span>,
}

/// The paths that a stage touches.
#[derive(Debug, Clone)]
pub(super) enum Touched {
    /// These and what is below them.
    Only(BTreeSet<String>),
    /// All but these and what is below them.
    AllBut(BTreeSet<String>),
}

impl Default for Touched {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

/// Whether `path` is `prefix` or lies below it.
pub(super) fn is_at_or_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a change of one path can be seen through the other. The empty path is the whole document.
pub(super) fn overlap(a: &str, b: &str) -> bool {
    a.is_empty() || b.is_empty() || is_at_or_below(a, b) || is_at_or_below(b, a)
}

/// `parent.name`, or `name` at the top.
pub(super) fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

impl Changes {
    /// Touches these paths only.
    pub(super) fn only<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        Self { touched: Touched::Only(paths.into_iter().map(str::to_owned).collect()), ..Self::default() }
    }

    /// The paths among `dependencies` that the stage touches, or all that it touches if they are few enough to be named.
    pub(super) fn touched_among(&self, dependencies: &BTreeSet<String>) -> BTreeSet<String> {
        match &self.touched {
            Touched::Only(paths) => paths.clone(),
            Touched::AllBut(kept) => dependencies
                .iter()
                .filter(|path| {
                    let names = kept.iter().chain(self.renames.iter().map(|(new, _)| new));
                    !names.into_iter().any(|name| is_at_or_below(path, name))
                })
                .cloned()
                .collect(),
        }
    }

    /// The name before the stage of what is called `path` after it, if that is another one.
    pub(super) fn name_before(&self, path: &str) -> Option<String> {
        self.renames.iter().find_map(|(new, old)| {
            let rest = path.strip_prefix(new.as_str())?;
            (rest.is_empty() || rest.starts_with('.')).then(|| format!("{old}{rest}"))
        })
    }

    /// The name before the stage of what is called `path` after it, if the stage passes it on.
    pub(super) fn origin(&self, path: &str) -> Option<String> {
        self.name_before(path).or_else(|| self.keeps(path).then(|| path.to_owned()))
    }

    /// All names after the stage of what is called `path` before it.
    pub(super) fn names_after(&self, path: &str) -> BTreeSet<String> {
        let renamed = self.renames.iter().filter_map(|(new, old)| {
            let rest = path.strip_prefix(old.as_str())?;
            (rest.is_empty() || rest.starts_with('.')).then(|| format!("{new}{rest}"))
        });
        renamed.chain(self.keeps(path).then(|| path.to_owned())).collect()
    }

    fn keeps(&self, path: &str) -> bool {
        match &self.touched {
            Touched::Only(paths) => !paths.iter().any(|touched| overlap(touched, path)),
            Touched::AllBut(kept) => kept.iter().any(|kept| is_at_or_below(path, kept)),
        }
    }

    /// Notes that the value at `target` becomes that of an expression. A lone undotted field path is a rename; so are
    /// the members of an object and those of a `$map` over an undotted path.
    pub(super) fn compute(&mut self, target: &str, node: &Node) {
        let mut outcome = Outcome::default();
        outcome.trace(target, &Expression::parse(node), None);
        if let Touched::Only(paths) = &mut self.touched {
            paths.extend(outcome.computed);
        }
        self.renames.extend(outcome.renames);
        self.hidden = self.hidden.or(outcome.hidden);
    }
}

/// The undotted field path that an expression is, relative to the document or to `variable`.
fn plain_field<'e>(expression: &'e Expression, variable: Option<&str>) -> Option<&'e str> {
    let path = match (&expression.kind, variable) {
        (ExpressionKind::Path(path), None) => path.as_str(),
        (ExpressionKind::Variable(text), Some(name)) => text.strip_prefix(name)?.strip_prefix('.')?,
        _ => return None,
    };
    (!path.is_empty() && !path.contains('.')).then_some(path)
}

/// What an expression makes of the paths at and below its target.
#[derive(Default)]
struct Outcome {
    computed: Vec<String>,
    renames: Vec<(String, String)>,
    hidden: Option<Span>,
}

impl Outcome {
    fn trace(&mut self, target: &str, expression: &Expression, variable: Option<&str>) {
        if let Some(field) = plain_field(expression, variable) {
            return self.renames.push((target.to_owned(), field.to_owned()));
        }
        match &expression.kind {
            ExpressionKind::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    self.trace(&join(target, name), member, variable);
                }
            }
            ExpressionKind::Operator(name, argument) if name == "$map" => self.trace_map(target, argument, variable),
            ExpressionKind::Opaque => {
                self.hidden.get_or_insert(expression.span);
                self.computed.push(target.to_owned());
            }
            _ => self.computed.push(target.to_owned()),
        }
    }

    /// What a `$map` passes on of an array's members: `{input: "$a", as: "e", in: {k: "$$e.b"}}` makes `a.b` of `k`.
    fn trace_map(&mut self, target: &str, argument: &Expression, variable: Option<&str>) {
        let mut each = Self::default();
        if let Some((array, element, member)) = map_parts(argument, variable) {
            each.trace(target, member, Some(element));
            each.renames.iter_mut().for_each(|(_, old)| *old = join(array, old));
        }
        if each.renames.is_empty() {
            self.computed.push(target.to_owned());
        } else {
            self.computed.extend(each.computed);
            self.renames.extend(each.renames);
        }
    }
}

/// The undotted input, the variable and the `in` of a `$map`.
fn map_parts<'e>(argument: &'e Expression, variable: Option<&str>) -> Option<(&'e str, &'e str, &'e Expression)> {
    let ExpressionKind::Object(members) = &argument.kind else {
        return None;
    };
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, member)| member);
    let array = plain_field(member("input")?, variable)?;
    let element = match member("as").map(|name| &name.kind) {
        None => "this",
        Some(ExpressionKind::Constant(Value::String(name))) => name,
        Some(_) => return None,
    };
    Some((array, element, member("in")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn computed(target: &str, expression: &str) -> Changes {
        let mut changes = Changes::default();
        changes.compute(target, &ext_json::parse(expression, 0).expect("extended JSON"));
        changes
    }

    #[test]
    fn an_undotted_field_path_is_a_rename_and_a_dotted_one_is_computed() {
        assert_eq!(computed("n", r#""$a""#).name_before("n.b").as_deref(), Some("a.b"));
        assert_eq!(computed("n", r#""$$ROOT.a""#).name_before("n").as_deref(), Some("a"));
        assert_eq!(computed("n", r#""$a.b""#).origin("n"), None);
    }

    #[test]
    fn the_members_of_an_object_are_traced_one_by_one() {
        let changes = computed("_id", r#"{"k": "$a", "m": {"$add": ["$b", 1]}}"#);
        assert_eq!(changes.origin("_id.k").as_deref(), Some("a"));
        assert_eq!(changes.origin("_id.m"), None);
    }

    #[test]
    fn a_map_over_an_array_renames_what_it_passes_on() {
        let changes = computed("q", r#"{"$map": {"input": "$a", "as": "e", "in": {"k": "$$e.b"}}}"#);
        assert_eq!(changes.origin("q.k").as_deref(), Some("a.b"));
        let changes = computed("q", r#"{"$map": {"input": "$a", "as": "e", "in": {"k": "$$e.b.c"}}}"#);
        assert_eq!(changes.origin("q.k"), None);
    }

    #[test]
    fn a_kept_path_keeps_what_is_below_it_and_not_what_is_above() {
        let changes = Changes { touched: Touched::AllBut(["a.x".to_owned()].into()), ..Changes::default() };
        assert_eq!(changes.origin("a.x.y").as_deref(), Some("a.x.y"));
        assert_eq!(changes.origin("a"), None);
        assert_eq!(changes.origin("a.b"), None);
        assert_eq!(changes.origin("a.xy"), None);
    }
}
