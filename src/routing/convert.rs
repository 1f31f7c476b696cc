//! The comparisons in an `$expr` that the server converts to ordinary predicates, so that they route.

use crate::model::{Node, ServerVersion};
use crate::text::Span;

use super::fold::{Constants, Folded};
use super::predicate::{Comparison, Condition, Operator, Predicate};
use super::versions;

/// Replaces every `$expr` that converts by a conjunction of its comparisons and itself.
pub(super) fn convert_expressions(predicate: &mut Predicate, constants: &Constants, version: ServerVersion) {
    if let Condition::Expr(expression) = &predicate.condition {
        let span = predicate.span;
        if let Some(converted) = converted(constants.fold(expression), span, version) {
            let original = std::mem::replace(&mut predicate.condition, Condition::Where);
            predicate.condition = Condition::And(vec![converted, Predicate::new(original, span)]);
        }
        return;
    }
    predicate.children_mut().iter_mut().for_each(|child| convert_expressions(child, constants, version));
}

/// The predicate that holds wherever the expression does; `None` if there is none but "everything".
fn converted(folded: Folded, span: Span, version: ServerVersion) -> Option<Predicate> {
    let condition = match folded {
        Folded::Compare(comparison, path, value) => {
            let routes = match comparison {
                Comparison::Eq => versions::expr_equality_routes(version),
                _ => versions::expr_ranges_route(version),
            };
            let operand = Node { value, span };
            routes.then_some(Condition::Field(path, Operator::ExprCompare(comparison, operand)))?
        }
        // What converts is kept and the rest is not needed: the whole expression stays beside it.
        Folded::All(members) => {
            let members: Vec<_> = members.into_iter().filter_map(|member| converted(member, span, version)).collect();
            if members.is_empty() {
                return None;
            }
            Condition::And(members)
        }
        Folded::Any(members) => {
            Condition::Or(members.into_iter().map(|member| converted(member, span, version)).collect::<Option<_>>()?)
        }
        Folded::Unsure => Condition::Opaque(None, "the value of an expression".to_owned()),
        Folded::Constant(_) | Folded::SomeArray | Folded::Missing | Folded::Path(_) | Folded::Other => return None,
    };
    Some(Predicate::new(condition, span))
}
