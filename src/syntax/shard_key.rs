//! `--shard-key 'shop.orders={ customerId: 1, _id: 1 }'` and `'crm.accounts=unsharded'`. The language is that of
//! `grammar/shard_key.pest`; whether a server would take the key is for the rules.

use nom::bytes::complete::take_while1;
use nom::character::complete::char;
use nom::combinator::recognize;
use nom::{Input, Parser};

use crate::model::Node;
use crate::text::{Located, Span};

use super::error::SyntaxError;
use super::shell::{Expression, Failure, Scope, Step, Text, between, complaint, gap, mark, must, primary, word};

/// A collection and its key.
#[derive(Debug, Clone)]
pub struct ShardKeyDeclaration {
    /// The namespace, or a glob over namespaces.
    pub namespace: Located<String>,
    /// The key pattern; `None` if the collection is declared unsharded.
    pub key: Option<Node>,
    /// Where the key, or the word `unsharded`, stands.
    pub span: Span,
}

/// Reads one declaration.
///
/// # Errors
/// If `text` is not of the form `NAMESPACE={ KEY }` or `NAMESPACE=unsharded`.
pub fn parse(text: &str) -> Result<ShardKeyDeclaration, SyntaxError> {
    let form = parse_form(text)?;
    let key = form.key.as_ref().map(|key| Scope::default().evaluate(key)).transpose()?;
    Ok(ShardKeyDeclaration { namespace: form.namespace, key, span: form.span })
}

/// A declaration whose key has not been given a meaning.
#[derive(Debug, Clone)]
pub struct ShardKeyForm<'a> {
    namespace: Located<String>,
    key: Option<Expression<'a>>,
    span: Span,
}

/// Reads only the form: the language of `grammar/shard_key.pest`.
///
/// # Errors
/// If `text` is not of that form.
pub fn parse_form(text: &str) -> Result<ShardKeyForm<'_>, SyntaxError> {
    declaration(Text::new_extra(text, 0)).map_err(|error| complaint(text, 0, error))
}

fn declaration(input: Text<'_>) -> Result<ShardKeyForm<'_>, nom::Err<Failure>> {
    let (start, ()) = gap(input)?;
    let (rest, name) = must(start, "a namespace such as `shop.orders`", namespace(start))?;
    let namespace = Located::new(name.into_fragment().to_owned(), between(start, rest));
    let (rest, ()) = mark(rest, '=', "`=` after the namespace")?;
    let (value, ()) = gap(rest)?;
    let (rest, key) = if value.starts_with('{') {
        primary(value, 0).map(|(rest, key)| (rest, Some(key)))?
    } else {
        let (rest, _) = must(value, "a key such as `{ customerId: 1 }` or `unsharded`", word("unsharded")(value))?;
        (rest, None)
    };
    let span = between(value, rest);
    let (rest, ()) = gap(rest)?;
    if rest.is_empty() {
        Ok(ShardKeyForm { namespace, key, span })
    } else {
        Err(nom::Err::Failure(Failure::expected(rest, "the end of the text")))
    }
}

/// `database.collection`, both without blanks and `=`; a `/` in front of the dot would be that of a comment.
fn namespace(input: Text<'_>) -> Step<'_, Text<'_>> {
    let ends = |c: char| c == '=' || c.is_ascii_whitespace();
    let (dot, _) = take_while1(|c| !matches!(c, '.' | '/') && !ends(c))(input)?;
    let (start, _) = must(dot, "`.` and a collection's name", char('.')(dot))?;
    let (_, collection) = must(start, "a collection's name", recognize(take_while1(|c| !ends(c))).parse(start))?;
    let length = start.location_offset() + collection.len() - input.location_offset();
    Ok(input.take_split(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_may_be_a_glob_and_its_collection_may_hold_dots() {
        let text = " shop_*.orders.2024 = { 'a.b': 1, _id: \"hashed\" } ";
        let declared = parse(text).expect("valid");
        assert_eq!(declared.namespace.value, "shop_*.orders.2024");
        assert_eq!(&text[declared.namespace.span.range()], "shop_*.orders.2024");
        assert_eq!(&text[declared.span.range()], "{ 'a.b': 1, _id: \"hashed\" }");
        assert_eq!(declared.key.and_then(|key| key.as_document().map(|d| d.fields.len())), Some(2));
        assert!(parse("crm.accounts=unsharded").expect("valid").key.is_none());
    }

    #[test]
    fn a_malformed_declaration_is_told_in_place() {
        for (text, at, message) in [
            ("orders={a: 1}", 6, "expected `.` and a collection's name, found `=`"),
            ("shop.orders", 11, "expected `=` after the namespace, found the end of the text"),
            ("shop.orders=a", 12, "expected a key such as `{ customerId: 1 }` or `unsharded`, found `a`"),
            ("shop.orders={a 1}", 15, "expected `:` after the key, found `1`"),
            (
                "shop.orders={a: x}",
                16,
                "`x` is not a value; expected a literal or a type of the shell, such as `ObjectId(…)`",
            ),
            ("shop.orders={a: 1} b", 19, "expected the end of the text, found `b`"),
            ("", 0, "expected a namespace such as `shop.orders`, found the end of the text"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
        }
    }
}
