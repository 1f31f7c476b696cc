//! Runs a script as far as declarations need it: which database is current, which variables stand for databases, collections
//! and plain values. Control flow is not followed; its statements are passed over.

use std::collections::BTreeMap;

use regex::Regex;

use crate::model::Node;
use crate::syntax::error::SyntaxError;
use crate::syntax::shell::{Chain, Expression, Form, MethodCall, Scope, Script, ScriptStatement, Selector};
use crate::text::Span;

use super::arguments::expected;
use super::command::command;
use super::method;
use super::statement::{Declaration, Declarations, Declared, Target};
use super::zone::{self, ZoneStatement};

/// Reads a script of shell statements.
#[must_use]
pub fn declarations(text: &str) -> Declarations {
    let script = Script::parse(text);
    let mut interpreter = Interpreter::default();
    for statement in &script.statements {
        interpreter.run(statement, text);
    }
    let mut declarations = interpreter.declarations;
    declarations.errors.extend(script.errors);
    declarations.errors.sort_by_key(|error| error.span);
    declarations
}

/// What a chain such as `db.orders` leads to.
#[derive(Debug, Clone, Default)]
struct Place {
    database: Option<String>,
    collection: Option<String>,
    /// Where the collection is named.
    span: Span,
}

/// What a variable stands for.
enum Meaning {
    Place(Place),
    Value(Node),
}

#[derive(Default)]
struct Interpreter {
    /// What `db` stands for, once the script has said so.
    database: Option<String>,
    aliases: BTreeMap<String, Place>,
    scope: Scope,
    declarations: Declarations,
}

impl Interpreter {
    fn run(&mut self, statement: &ScriptStatement<'_>, text: &str) {
        let (understood, span) = match statement {
            ScriptStatement::Use(database) => {
                self.database = Some(database.clone());
                return;
            }
            ScriptStatement::Alias { name, chain } => (self.assign(name, self.meant_by_chain(chain)), chain.span),
            ScriptStatement::Variable { name, value } => (self.assign(name, self.meant_by(value)), value.span),
            ScriptStatement::Call(call) => (self.call(call), call.span),
            ScriptStatement::Other(span) => {
                self.forget_changed(&text[span.range()]);
                (false, *span)
            }
        };
        if !understood {
            self.declarations.passed_over.push(span);
        }
    }

    /// Lets a variable stand for something. What it stood for before, it stands for no longer, whether or not that is known.
    fn assign(&mut self, name: &str, meaning: Option<Meaning>) -> bool {
        self.scope.forget(|known| known == name);
        self.aliases.remove(name);
        let is_known = meaning.is_some();
        match meaning {
            Some(Meaning::Place(place)) if name == "db" => self.database = place.database,
            _ if name == "db" => self.database = None,
            Some(Meaning::Place(place)) => drop(self.aliases.insert(name.to_owned(), place)),
            Some(Meaning::Value(value)) => self.scope.set(name, value),
            None => {}
        }
        is_known
    }

    /// Forgets the variables that a statement may change which is not understood.
    fn forget_changed(&mut self, statement: &str) {
        let may_change = |name: &str| {
            // Most statements name none, and need no expression.
            if !statement.contains(name) {
                return false;
            }
            let name = regex::escape(name);
            let assigned = r"(\s*(\.\s*\w+|\[[^\]]*\]))*\s*([-+*/%&|?^<>]{0,3}=([^=>]|$)|\+\+|--)";
            let changed = r"\.(push|pop|shift|unshift|splice|sort|reverse|fill)\s*\(";
            let changes = Regex::new(&format!(
                r"(^|[^\w$.])({name}({assigned}|{changed})|(Object\.assign\s*\(|delete|\+\+|--)\s*{name}([^\w$]|$))"
            ));
            changes.map_or(true, |changes| changes.is_match(statement))
        };
        self.scope.forget(may_change);
        self.aliases.retain(|name, _| !may_change(name));
        if may_change("db") {
            self.database = None;
        }
    }

    /// What a chain stands for.
    fn meant_by_chain(&self, chain: &Chain) -> Option<Meaning> {
        let value = || self.scope.get(&chain.root).filter(|_| chain.selectors.is_empty()).cloned();
        self.place(chain).map(Meaning::Place).or_else(|| value().map(Meaning::Value))
    }

    /// What an expression stands for: a connection to a database, or a value.
    fn meant_by(&self, value: &Expression<'_>) -> Option<Meaning> {
        if let Form::Call { name: function, arguments: Some(arguments) } = &value.form
            && function == "connect"
            && let Some(Expression { form: Form::String(address), .. }) = arguments.first()
        {
            let address = address.split('?').next().unwrap_or_default();
            let database = address.rsplit_once('/').map(|(_, database)| database.to_owned()).filter(|d| !d.is_empty());
            return Some(Meaning::Place(Place { database, ..Place::default() }));
        }
        self.scope.evaluate(value).ok().map(Meaning::Value)
    }

    /// Follows a chain; `None` if nothing says what its variable stands for.
    fn place(&self, chain: &Chain) -> Option<Place> {
        let names_database = chain.selectors.iter().any(|selector| matches!(selector, Selector::Database(_)));
        let mut place = match chain.root.as_str() {
            "db" => Place { database: self.database.clone(), ..Place::default() },
            root => self.aliases.get(root).cloned().or_else(|| names_database.then(Place::default))?,
        };
        for selector in &chain.selectors {
            match selector {
                Selector::Connection => {}
                Selector::Database(name) => place = Place { database: Some(name.value.clone()), ..Place::default() },
                Selector::Name(name) => {
                    (place.collection, place.span) = match place.collection {
                        Some(first) => (Some(format!("{first}.{}", name.value)), place.span.join(name.span)),
                        None => (Some(name.value.clone()), name.span),
                    }
                }
            }
        }
        Some(place)
    }

    fn call(&mut self, call: &MethodCall<'_>) -> bool {
        let is_sh = call.chain.root == "sh" && call.chain.selectors.is_empty();
        let place = self.place(&call.chain);
        if !is_sh && place.is_none() {
            return false;
        }
        let arguments: Result<Vec<Node>, _> = call.arguments.iter().map(|a| self.scope.evaluate(a)).collect();
        let said = arguments.and_then(|arguments| {
            let zones = of_zones(call, place.as_ref().filter(|_| !is_sh), &arguments).transpose()?;
            let said = match place {
                Some(place) if !is_sh => of_place(call, place, &arguments).transpose()?,
                _ => method::of_sh(&call.method, &arguments).transpose()?,
            };
            Ok((said, zones))
        });
        match said {
            Ok((None, None)) => return false,
            Ok((said, zones)) => {
                let declared = said.flatten().map(|(target, what)| Declared { target, what, span: call.span });
                self.declarations.statements.extend(declared);
                self.declarations.zones.extend(zones.unwrap_or_default());
            }
            Err(error) => self.declarations.errors.push(error),
        }
        true
    }
}

/// What a method of `sh`, or a command that is sent to the database `place`, says about zones.
fn of_zones(
    call: &MethodCall<'_>,
    place: Option<&Place>,
    arguments: &[Node],
) -> Option<Result<Vec<ZoneStatement>, SyntaxError>> {
    let Some(place) = place else { return zone::of_sh(&call.method, arguments, call.span) };
    let is_command = matches!(call.method.value.as_str(), "adminCommand" | "runCommand") && place.collection.is_none();
    let body = arguments.first().filter(|_| is_command).and_then(Node::as_document)?;
    zone::of_command(body, call.span)
}

/// A method of a database or collection; the outer `None` if it has no such method.
fn of_place(call: &MethodCall<'_>, place: Place, arguments: &[Node]) -> Option<Result<method::Said, SyntaxError>> {
    let database = place.database.clone();
    let said = match (call.method.value.as_str(), place.collection) {
        ("adminCommand" | "runCommand", None) => match arguments.first() {
            Some(node) => command(node, database.as_deref()),
            None => expected(None, call.method.span, "a command"),
        },
        ("createCollection", None) => method::created(call.method.span, arguments)
            .map(|(name, what)| Some((Target { database, collection: name.value, span: name.span }, what))),
        ("createIndex" | "createIndexes" | "ensureIndex", Some(collection)) => {
            method::indexes(&call.method, arguments, call.span)
                .map(|indexes| Some((Target { database, collection, span: place.span }, Declaration::Indexes(indexes))))
        }
        _ => return None,
    };
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each declaration in a line: target, what, and the text of its parts.
    fn told(text: &str) -> Vec<String> {
        let read = declarations(text);
        assert_eq!(read.errors, [], "{text}");
        read.statements.iter().map(|declared| one(text, declared)).collect()
    }

    fn one(text: &str, declared: &Declared) -> String {
        let database = declared.target.database.as_deref().unwrap_or("?");
        let what = match &declared.what {
            Declaration::Key { change, pattern, unique } => {
                let unique = unique.as_ref().map_or("", |unique| &text[unique.span.range()]);
                format!("{change:?} {} {unique}", &text[pattern.span.range()])
            }
            Declaration::Unsharded => "unsharded".to_owned(),
            Declaration::Indexes(indexes) => {
                let one = |index: &crate::model::IndexSpec| {
                    format!("index {} {}", &text[index.key_span.range()], index.unique.map_or("", |u| &text[u.range()]))
                };
                indexes.iter().map(one).collect::<Vec<_>>().join("; ")
            }
            Declaration::Created { collation, clustered } => {
                let collation = collation.as_ref().map_or("", |c| &text[c.span.range()]);
                format!("created {collation} {}", if clustered.is_some() { "clustered" } else { "" })
            }
        };
        format!("{database}.{}: {}", declared.target.collection, what.trim_end())
    }

    #[test]
    fn keys_are_declared_by_methods_and_commands() {
        for text in [
            "sh.shardCollection(\"shop.orders\", { a: 1, _id: 'hashed' })",
            "db.adminCommand({ shardCollection: 'shop.orders', key: { a: 1, _id: 'hashed' } });",
            "db.runCommand( { shardcollection : \"shop.orders\" , key : { a: 1, _id: 'hashed' } } )",
            "db.getSiblingDB('admin').runCommand({ \"shardCollection\": 'shop.orders', key: { a: 1, _id: 'hashed' } })",
            "assert.commandWorked(db.adminCommand({ shardCollection: 'shop.orders', key: { a: 1, _id: 'hashed' } }), \"no\")",
            "const done = sh.shardCollection('shop.orders', { a: 1, _id: 'hashed' }).ok;",
        ] {
            assert_eq!(told(text), ["shop.orders: Shard { a: 1, _id: 'hashed' }"], "{text}");
        }
        assert_eq!(told("sh.shardCollection('a.b', {a: 1}, true)"), ["a.b: Shard {a: 1} true"]);
        assert_eq!(
            told("sh.shardCollection('a.b', {a: 1}, false, {unique: true})"),
            ["a.b: Shard {a: 1} unique: true"]
        );
        assert_eq!(
            told(
                "db.adminCommand({refineCollectionShardKey: 'a.b', key: {a: 1, b: 1}})\nsh.reshardCollection('a.b', {c: 1})\nsh.unshardCollection('a.b')"
            ),
            ["a.b: Refine {a: 1, b: 1}", "a.b: Reshard {c: 1}", "a.b: unsharded"]
        );
    }

    #[test]
    fn indexes_are_declared_on_every_way_to_a_collection() {
        let text = r#"
            db.a.createIndex({ x: 1 })
            use shop
            db.orders.items.createIndex({ x: 1 }, { unique: true })
            db["order-log"].ensureIndex({ x: 1 }, { unique: true })
            db.getCollection('c').createIndexes([{ x: 1 }, { y: -1 }], { unique: true })
            db.getSiblingDB("crm").accounts
              .createIndex({ x: "hashed" })
            db.getMongo().getDB("log").c.createIndex({ x: 1 })
            db = db.getSiblingDB("other"); db.c.createIndex({ x: 1 })
            const crm = db.getSiblingDB('crm'), accounts = 1
            var store = db.getSiblingDB('store')
            let goods = store.goods;
            goods.createIndex({ x: 1 }); store["g2"].createIndex({ y: 1 });
            db.runCommand({ createIndexes: "d", indexes: [{ key: { x: 1 }, name: "x", unique: true }] })
        "#;
        assert_eq!(
            told(text),
            [
                "?.a: index { x: 1 }",
                "shop.orders.items: index { x: 1 } unique: true",
                "shop.order-log: index { x: 1 } unique: true",
                "shop.c: index { x: 1 } unique: true; index { y: -1 } unique: true",
                "crm.accounts: index { x: \"hashed\" }",
                "log.c: index { x: 1 }",
                "other.c: index { x: 1 }",
                "store.goods: index { x: 1 }",
                "store.g2: index { y: 1 }",
                "other.d: index { x: 1 } unique: true",
            ]
        );
        let text = "use('shop'); db.createCollection('c', { collation: { locale: 'de' }, clusteredIndex: { key: { _id: 1 }, unique: true } })";
        assert_eq!(told(text), ["shop.c: created { locale: 'de' } clustered"]);
    }

    #[test]
    fn variables_with_plain_values_stand_for_them() {
        let text = "const NS = 'shop' + '.orders';\nconst key = { a: 1 };\nsh.shardCollection(NS, key);\n";
        assert_eq!(told(text), ["shop.orders: Shard { a: 1 }"]);
        let text = "db = connect('localhost:27017/shop?ssl=true');\ndb.c.createIndex({ a: 1 })";
        assert_eq!(told(text), ["shop.c: index { a: 1 }"]);
    }

    #[test]
    fn what_is_not_understood_is_passed_over_and_counted() {
        let text = r#"
            load("x.js"); rs.initiate({ _id: "rs0", members: [ { _id: 0, host: "a:1" } ] });
            function setUp(a, b) {
              // don't stop at a quote in a comment, nor at a /
              sh.shardCollection(name, /[/'"}]/.test(a) ? a : b);
            }
            for (const c of ["a", "b"])
            {
              db[c].createIndex({ x: 1 }); print(`${c} ${"}"} done`)
            }
            if (a / 2 > b / 3)
              print("it's")
            else print('x')
            db.users.insertOne({ a: 1 })
              .acknowledged
            i++
            sh.shardCollection('shop.orders', { a: 1 }); sh.status()
            db.adminCommand({ setParameter: 1, x: "}" })
            unknown.orders.createIndex({ a: 1 })
        "#;
        let read = declarations(text);
        assert_eq!((read.errors.as_slice(), read.statements.len(), read.passed_over.len()), (&[][..], 1, 10));
    }

    #[test]
    fn malformed_declarations_are_told_in_place_and_reading_goes_on() {
        for (text, at, message) in [
            ("sh.shardCollection('shop.orders', { a 1 })", "1 })", "expected `:` after the key, found `1`"),
            ("sh.shardCollection('shop.orders' { a: 1 })", "{ a", "expected `,` or `)`, found `{`"),
            ("sh.shardCollection('shop.orders')", "shardColl", "expected a shard key such as `{ customerId: 1 }`"),
            (
                "sh.shardCollection('orders', { a: 1 })",
                "'orders'",
                "`orders` is not a namespace; expected `database.collection`",
            ),
            (
                "sh.shardCollection('a.b', key)",
                "key",
                "`key` is not a value; expected a literal or a type of the shell, such as `ObjectId(…)`",
            ),
            ("sh.shardCollection('a.b', 'key')", "'key'", "expected a shard key such as `{ customerId: 1 }`"),
            (
                "db.adminCommand({ shardCollection: 'a.b' })",
                "shardColl",
                "expected a `key` such as `{ customerId: 1 }`",
            ),
            ("db.c.createIndex()", "createIndex", "expected a key pattern such as `{ customerId: 1 }`"),
            ("db.c.createIndexes({ a: 1 })", "{ a", "expected an array of key patterns"),
            ("sh.splitAt('a.b', 5)", "5", "expected a document such as `{ customerId: 1000 }`"),
            ("sh.addShardToZone('rs0')", "addShard", "expected a zone's name"),
            ("sh.shardCollection('a.b', { a: 1 }))", ")", "expected a statement, found `)`"),
            ("sh.shardCollection('a.b', { a: 1 }", "", "expected `,` or `)`, found the end of the text"),
        ] {
            let read = declarations(text);
            assert_eq!(read.errors.len(), 1, "{text}: {:?}", read.errors);
            let error = &read.errors[0];
            let end = if at.is_empty() { text.len() } else { text.rfind(at).expect("in the text") };
            assert_eq!((error.message.as_str(), error.span.start as usize), (message, end), "{text}");

            let followed = format!("{text}\nsh.shardCollection('x.y', {{ z: 1 }})\n");
            let read = declarations(&followed);
            assert!(!read.errors.is_empty(), "{text}");
            assert_eq!(read.statements.last().map(|s| s.target.collection.as_str()), Some("y"), "{text}");
        }
    }

    #[test]
    fn every_truncation_of_a_script_is_read_without_a_panic() {
        let text = "use shop // é\ndb.o.createIndex({ 'é\\u00e9': `x` }, { unique: true }); if (x) { /* */ }\nsh.splitAt('a.b', { a: 1 })";
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            for error in declarations(&text[..end]).errors {
                assert!(text[..end].get(error.span.range()).is_some(), "{end}: {error:?}");
            }
        }
    }

    #[test]
    fn a_variable_that_a_statement_may_change_which_is_not_understood_stands_for_nothing() {
        let script = |change: &str| format!("var key = {{ a: 1 }};\n{change}\nsh.shardCollection(\"shop.k\", key);\n");
        for change in [
            "key.b = 1;",
            "key[\"b\"] = 1;",
            "if (big) { key = { b: 1 }; }",
            "Object.assign(key, { b: 1 });",
            "for (const f of fields) { key[f]++ }",
            "delete key.a;",
            "key = chosen();",
            "key = big ? { b: 1 } : { a: 1 };",
        ] {
            let declared = declarations(&script(change));
            assert!(declared.statements.is_empty(), "{change}");
            assert_eq!(declared.errors.len(), 1, "{change}");
        }
        for harmless in [
            "printjson(key);",
            "if (key == other) { print(\"same\"); }",
            "mykey = 5 + f();",
            "f(x => key);",
            "other.key = 1;",
        ] {
            let declared = declarations(&script(harmless));
            assert_eq!((declared.statements.len(), declared.errors.len()), (1, 0), "{harmless}");
        }
    }
}
