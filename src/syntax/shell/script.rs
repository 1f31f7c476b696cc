//! The form of a script that sets a cluster up: which statements shard, index and zone, and where everything else ends.
//!
//! A statement is recognised by its method's name; from the opening parenthesis on it has to be well-formed. What is not
//! recognised is passed over as a whole. The language is that of `grammar/declarations.pest`.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{char, satisfy};
use nom::combinator::{not, opt, peek, recognize};
use nom::{Err, Input};

use crate::syntax::error::SyntaxError;
use crate::text::{Located, Span};

use super::expression::{Expression, arguments, expression, key};
use super::failure::{Failure, Step, Text, between, complaint, must, refuse};
use super::javascript::{self, closing};
use super::lexical::{blank, gap, identifier, is_word, string, word};

/// Methods that declare something, of `sh`, of a database or of a collection.
const METHODS: [&str; 24] = [
    "shardCollection",
    "reshardCollection",
    "refineCollectionShardKey",
    "unshardCollection",
    "shardAndDistributeCollection",
    "enableSharding",
    "addShard",
    "addShardTag",
    "addShardToZone",
    "removeShardTag",
    "removeShardFromZone",
    "addTagRange",
    "updateZoneKeyRange",
    "removeTagRange",
    "removeRangeFromZone",
    "splitAt",
    "splitFind",
    "moveChunk",
    "moveRange",
    "moveCollection",
    "createCollection",
    "createIndex",
    "createIndexes",
    "ensureIndex",
];

/// Commands that declare something, by the first name of the command's document.
const COMMANDS: [&str; 20] = [
    "shardCollection",
    "shardcollection",
    "reshardCollection",
    "refineCollectionShardKey",
    "unshardCollection",
    "enableSharding",
    "enablesharding",
    "addShard",
    "addshard",
    "addShardToZone",
    "removeShardFromZone",
    "updateZoneKeyRange",
    "split",
    "moveChunk",
    "movechunk",
    "moveRange",
    "moveCollection",
    "create",
    "createIndexes",
    "createindexes",
];

/// Functions around a declaration that leave it what it is.
const WRAPPERS: [&str; 4] = ["printjson", "print", "assert.commandWorked", "assert"];

/// A whole script.
#[derive(Debug, Clone, Default)]
pub struct Script<'a> {
    /// The statements that were read, in order.
    pub statements: Vec<ScriptStatement<'a>>,
    /// What was malformed; reading went on at the next statement.
    pub errors: Vec<SyntaxError>,
}

/// One statement of a script.
#[derive(Debug, Clone)]
pub enum ScriptStatement<'a> {
    /// `use shop`.
    Use(String),
    /// `const shop = db.getSiblingDB("shop")`.
    Alias {
        /// The variable.
        name: String,
        /// What it stands for.
        chain: Chain,
    },
    /// `const key = { a: 1 }`.
    Variable {
        /// The variable.
        name: String,
        /// Its value.
        value: Expression<'a>,
    },
    /// `db.orders.createIndex({ a: 1 })`.
    Call(MethodCall<'a>),
    /// Anything else; its place.
    Other(Span),
}

/// What stands before a method: `db.orders`, `db.getSiblingDB("shop")["orders"]`, `sh`.
#[derive(Debug, Clone)]
pub struct Chain {
    /// The variable it begins with.
    pub root: String,
    /// How it goes on.
    pub selectors: Vec<Selector>,
    /// The whole chain.
    pub span: Span,
}

/// One step from a variable to a database or collection.
#[derive(Debug, Clone)]
pub enum Selector {
    /// `.name`, `["name"]` or `.getCollection("name")`.
    Name(Located<String>),
    /// `.getSiblingDB("name")`, `.getDB("name")`.
    Database(Located<String>),
    /// `.getMongo()`.
    Connection,
}

/// A method call on a chain.
#[derive(Debug, Clone)]
pub struct MethodCall<'a> {
    /// What the method is called on.
    pub chain: Chain,
    /// Its name.
    pub method: Located<String>,
    /// Its arguments.
    pub arguments: Vec<Expression<'a>>,
    /// From the chain to the closing parenthesis.
    pub span: Span,
}

impl<'a> Script<'a> {
    /// Reads a script. It never fails as a whole: what is malformed is told in `errors`.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let mut script = Self::default();
        let mut rest = Text::new_extra(text, 0);
        loop {
            let step = gap(rest).and_then(|(start, ())| {
                if start.is_empty() { Ok((start, None)) } else { statement(start).map(|(rest, one)| (rest, Some(one))) }
            });
            rest = match step {
                Ok((_, None)) => return script,
                Ok((after, Some(statement))) => {
                    script.statements.extend(statement);
                    after
                }
                Err(error) => {
                    script.errors.push(complaint(text, 0, error));
                    next_start(rest)
                }
            };
        }
    }
}

/// Whether `text` begins, blanks aside, with a statement that has to be a declaration.
pub(in crate::syntax) fn begins_declaration(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    declaration_head(Text::new_extra(start, 0)).is_ok()
}

/// Where to go on after a malformed statement: behind it if its brackets are balanced, else at the next line that begins as a
/// declaration does.
fn next_start(input: Text<'_>) -> Text<'_> {
    let Ok((mut rest, ())) = gap(input) else { return input.take_from(input.len()) };
    if let Ok((after, ())) = javascript::statement(rest) {
        return after;
    }
    while let Some(line_end) = rest.find('\n') {
        rest = rest.take_from(line_end + 1);
        if declaration_head(rest).is_ok() || use_database(rest).is_ok() {
            return rest;
        }
    }
    input.take_from(input.len())
}

/// One statement and the semicolon behind it; an empty one is `None`.
fn statement(input: Text<'_>) -> Step<'_, Option<ScriptStatement<'_>>> {
    let empty: Step<'_, char> = char(';')(input);
    if let Ok((rest, _)) = empty {
        return Ok((rest, None));
    }
    let (rest, read) = match use_database(input) {
        Ok((rest, database)) => (rest, ScriptStatement::Use(database)),
        Err(failure @ Err::Failure(_)) => return Err(failure),
        Err(_) => match declaration_head(input) {
            Ok((rest, head)) => declaration(rest, head)?,
            Err(_) => undeclared(input)?,
        },
    };
    let (rest, ()) = blank(rest)?;
    let (rest, _) = opt(char(';')).parse(rest)?;
    Ok((rest, Some(read)))
}

/// `use shop`, as the shell's own command or as a function.
fn use_database(input: Text<'_>) -> Step<'_, String> {
    let (rest, _) = word("use")(input)?;
    let call = (gap, char('('), gap, string, gap, char(')')).map(|(_, _, _, name, _, _)| name);
    if let Ok((rest, name)) = soft(rest, call) {
        let (rest, ()) = javascript::tail(rest)?;
        return Ok((rest, name));
    }
    let (rest, _) = take_while1(|c| c == ' ' || c == '\t')(rest)?;
    let (rest, name) = take_while1(|c| is_word(c) || c == '-')(rest)?;
    let (rest, ()) = statement_end(rest)?;
    Ok((rest, name.into_fragment().to_owned()))
}

/// Whether nothing but blanks and comments follows on this line.
fn statement_end(input: Text<'_>) -> Step<'_, ()> {
    let (after, ()) = blank(input)?;
    if after.is_empty() {
        return Ok((input, ()));
    }
    let (_, _) = peek(alt((tag(";"), tag("\n"), tag("//")))).parse(after)?;
    Ok((input, ()))
}

/// Runs a parser whose failure lets other readings be tried.
fn soft<'a, T>(input: Text<'a>, mut parser: impl Parser<Text<'a>, Output = T, Error = Failure>) -> Step<'a, T> {
    parser.parse(input).map_err(|error| match error {
        Err::Failure(failure) => Err::Error(failure),
        other => other,
    })
}

/// What makes a statement a declaration, up to its opening parenthesis.
struct Head {
    chain: Chain,
    method: Located<String>,
    wrapped: bool,
}

fn declaration_head(input: Text<'_>) -> Step<'_, Head> {
    let (rest, _) = opt(|input| soft(input, assigned)).parse(input)?;
    let (rest, wrapper) = opt(|input| soft(input, wrapper)).parse(rest)?;
    let (rest, chain) = soft(rest, chain)?;
    let (rest, ()) = soft(rest, (gap, char('.'), gap).map(|_| ()))?;
    let (after, name) = identifier(rest)?;
    let method = Located::new(name.fragment().to_string(), between(rest, after));
    let (after, ()) = soft(after, gap)?;
    let declares = match *name.fragment() {
        "adminCommand" | "runCommand" => soft(after, command_name).is_ok(),
        name => METHODS.contains(&name) && after.starts_with('('),
    };
    if declares {
        Ok((after, Head { chain, method, wrapped: wrapper.is_some() }))
    } else {
        refuse(rest, "a method that declares")
    }
}

/// `const name =`, the keyword being optional; the variable's name.
fn assigned(input: Text<'_>) -> Step<'_, String> {
    let keyword = alt((word("const"), word("let"), word("var")));
    let declared = (keyword, gap, identifier).map(|(_, _, name)| name);
    let (rest, name) = alt((declared, identifier)).parse(input)?;
    let (rest, _) = (gap, char('='), not(satisfy(|c| c == '=' || c == '>')), gap).parse(rest)?;
    Ok((rest, name.into_fragment().to_owned()))
}

fn wrapper(input: Text<'_>) -> Step<'_, ()> {
    let (rest, name) = take_while1(|c| is_word(c) || c == '.')(input)?;
    if !WRAPPERS.contains(name.fragment()) {
        return refuse(input, "a function that prints or asserts");
    }
    let (rest, _) = (gap, char('('), gap).parse(rest)?;
    Ok((rest, ()))
}

/// `({ shardCollection:`, the beginning of a command that declares.
fn command_name(input: Text<'_>) -> Step<'_, ()> {
    let (start, _) = (char('('), gap, char('{'), gap).parse(input)?;
    let (rest, name) = recognize(key).parse(start)?;
    let (_, _) = (gap, char(':')).parse(rest)?;
    let name = name.trim_matches(['"', '\'']);
    if COMMANDS.contains(&name) { Ok((input, ())) } else { refuse(start, "a command that declares") }
}

/// A variable and the way from it to a database or collection; the method call behind it is left.
pub(in crate::syntax) fn chain(input: Text<'_>) -> Step<'_, Chain> {
    let (mut rest, root) = identifier(input)?;
    let mut selectors = Vec::new();
    while let Ok((after, next)) = soft(rest, selector) {
        selectors.push(next);
        rest = after;
    }
    Ok((rest, Chain { root: root.into_fragment().to_owned(), selectors, span: between(input, rest) }))
}

fn selector(input: Text<'_>) -> Step<'_, Selector> {
    let (input, ()) = gap(input)?;
    let bracket: Step<'_, char> = char('[')(input);
    if let Ok((rest, _)) = bracket {
        let (start, ()) = gap(rest)?;
        let (rest, name) = string(start)?;
        let name = Located::new(name, between(start, rest));
        let (rest, _) = (gap, char(']')).parse(rest)?;
        return Ok((rest, Selector::Name(name)));
    }
    let (rest, _) = (char('.'), gap).parse(input)?;
    let (after, name) = identifier(rest)?;
    let (called, ()) = gap(after)?;
    if !called.starts_with('(') {
        return Ok((after, Selector::Name(Located::new(name.fragment().to_string(), between(rest, after)))));
    }
    match *name.fragment() {
        "getMongo" => {
            let (rest, _) = (char('('), gap, char(')')).parse(called)?;
            Ok((rest, Selector::Connection))
        }
        "getSiblingDB" | "getSisterDB" | "getDB" => named(called).map(|(rest, name)| (rest, Selector::Database(name))),
        "getCollection" => named(called).map(|(rest, name)| (rest, Selector::Name(name))),
        _ => refuse(rest, "a database or collection"),
    }
}

/// `("name")`.
fn named(input: Text<'_>) -> Step<'_, Located<String>> {
    let (start, _) = (char('('), gap).parse(input)?;
    let (end, name) = string(start)?;
    let (rest, _) = (gap, char(')')).parse(end)?;
    Ok((rest, Located::new(name, between(start, end))))
}

fn declaration(input: Text<'_>, head: Head) -> Step<'_, ScriptStatement<'_>> {
    let (mut rest, arguments) = must(input, "`(`", arguments(input, 0))?;
    let span = head.chain.span.join(between(input, rest));
    if head.wrapped {
        (rest, ()) = closing(rest, ')', 0)?;
    }
    let (rest, ()) = javascript::tail(rest)?;
    Ok((rest, ScriptStatement::Call(MethodCall { chain: head.chain, method: head.method, arguments, span })))
}

/// A statement that declares nothing: a variable with a plain value, or anything.
fn undeclared(input: Text<'_>) -> Step<'_, ScriptStatement<'_>> {
    if let Ok((value, name)) = soft(input, assigned) {
        if let Ok((rest, (chain, ()))) = soft(value, (chain, statement_end)) {
            return Ok((rest, ScriptStatement::Alias { name, chain }));
        }
        if let Ok((rest, (value, ()))) = soft(value, (|input| expression(input, 0), statement_end)) {
            return Ok((rest, ScriptStatement::Variable { name, value }));
        }
    }
    let (rest, ()) = must(input, "a statement", javascript::statement(input))?;
    Ok((rest, ScriptStatement::Other(between(input, rest))))
}
