//! Is a text a declaration? Decided by its content alone. Logs, profiles, tables and prose are none.

use super::dump;
use super::shell::begins_declaration;

/// The kinds of declarations that a text can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclarationKind {
    /// Shell statements.
    Script,
    /// Documents of the config database, lists of indexes, the output of `sh.status()`.
    Dump,
}

/// What kind of declaration `text` is, if it is one.
#[must_use]
pub fn looks_like_declaration(text: &[u8]) -> Option<DeclarationKind> {
    let text = std::str::from_utf8(text).ok()?;
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    let is_script = !trimmed.starts_with(['[', '{']) && looks_like_script(trimmed);
    if is_script {
        return Some(DeclarationKind::Script);
    }
    dump::begins_dump(trimmed).then_some(DeclarationKind::Dump)
}

/// A script has a line that begins as a declaration does, and its first line (comments aside) is code.
fn looks_like_script(text: &str) -> bool {
    let mut at = 0;
    let mut first = true;
    let mut in_comment = false;
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        let begins_comment = code.starts_with("/*");
        if in_comment || begins_comment {
            in_comment = !code.contains("*/");
        } else if !code.is_empty() && !code.starts_with("//") && !code.starts_with("#!") {
            if begins_declaration(&text[at..]) {
                return true;
            }
            if first && !looks_like_code(code) {
                return false;
            }
            let mut semicolons = memchr::memchr_iter(b';', line.as_bytes());
            if semicolons.any(|semicolon| begins_declaration(&text[at + semicolon + 1..])) {
                return true;
            }
            first = false;
        }
        at += line.len();
    }
    false
}

/// Whether a line could be the first of a script: it begins with a keyword, a call, an assignment or a member access.
fn looks_like_code(line: &str) -> bool {
    const KEYWORDS: [&str; 12] =
        ["use", "var", "let", "const", "function", "async", "if", "for", "while", "try", "do", "load"];
    let name = line.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(line.len());
    let (name, rest) = line.split_at(name);
    let is_call = rest.trim_start().starts_with(['(', '=', '[']) || rest.starts_with('.');
    line.contains("use strict") || KEYWORDS.contains(&name) || (!name.is_empty() && is_call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_dumps_are_recognised_by_their_content() {
        for script in [
            "sh.shardCollection('shop.orders', { a: 1 })",
            "\u{feff}/* set up\n the cluster */\n// orders\nuse shop\n\n  db.orders\n    .createIndex({ a: 1 })\n",
            "#!/usr/bin/env mongosh\n'use strict';\nconst shop = db.getSiblingDB('shop');\nshop.orders.createIndex({a: 1})",
            "db.adminCommand({ shardCollection: 'a.b' key: {} })",
            "printjson(sh.enableSharding('shop'))\r\n",
            "rs.initiate()\nsh.addShard('rs0/a:1')",
            "const ns = 'shop.orders'; sh.shardCollection(ns, { a: 1 })",
        ] {
            assert_eq!(looks_like_declaration(script.as_bytes()), Some(DeclarationKind::Script), "{script}");
        }
        for dump in [
            "[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"}]",
            "\n{ \"cursor\": { \"firstBatch\": [ { \"v\": 2, \"key\": { \"_id\": 1 }, \"name\": \"_id_\" } ], \"ns\": \"a.b\" }, \"ok\": 1 }",
            "[\n  { v: 2, key: { _id: 1 }, name: '_id_' }\n]",
            "{\"_id\":\"shop.orders\",\"key\":{\"a\":1},\"unique\":false}\n",
            "[{\"ns\":\"a.b\",\"min\":{\"x\":{\"$minKey\":1}},\"max\":{\"x\":5},\"shard\":\"s1\"},{\"ns\":\"a.b\",\"min\":{",
            "{ \"_id\" : \"s1\", \"host\" : \"s1/db1:27018\", \"state\" : 1 }\n",
            "MongoDB shell version v4.2.0\nmongos> use config\nswitched to db config\nmongos> db.shards.find()\n{ \"_id\" : \"s1\", \"host\" : \"a:1\" }\n",
            "[direct: mongos] test> shardingVersion\n{ _id: 1, clusterId: ObjectId('67133cee033a81de4b213e77') }\n---\nshards\n[]\n",
            "--- Sharding Status --- \n  sharding version: {\n",
            "\nShard rs1 at rs1/localhost:27011\n data : 1.16MiB docs : 4999 chunks : 2\n",
        ] {
            assert_eq!(looks_like_declaration(dump.as_bytes()), Some(DeclarationKind::Dump), "{dump}");
        }
    }

    #[test]
    fn logs_tables_and_prose_are_no_declarations() {
        for text in [
            "",
            "{\"t\":{\"$date\":\"2024-01-01T00:00:00Z\"},\"s\":\"I\",\"c\":\"COMMAND\",\"id\":51803,\"attr\":{\"command\":{\"createIndexes\":\"c\",\"indexes\":[{\"key\":{\"a\":1},\"name\":\"a_1\"}]}}}\n",
            "2019-01-01T00:00:00.000+0000 I COMMAND [conn1] command shop.orders command: createIndexes { key: 1 }\n",
            "id,key,name\n1,a,b\n",
            "# Sharding\n\nRun this:\n\nsh.shardCollection('shop.orders', { a: 1 })\n",
            "print('hello')\nrs.status()\n",
            "{\"op\":\"query\",\"ns\":\"shop.orders\",\"command\":{\"find\":\"orders\"},\"millis\":3,\"ts\":{\"$date\":\"2024-01-01T00:00:00Z\"}}\n",
            "[ { op: 'query', ns: 'config.chunks', command: { find: 'chunks', filter: { min: { a: 1 } } }, millis: 3 } ]",
            "{ queryPlanner: { namespace: 'config.shards' }, serverInfo: { host: 'a', port: 1 }, ok: 1 }",
            "{\"_id\":\"a.b\",\"key\":{\"a\":\"x\"}}\n",
            "Notes of the meeting\n\n--- Sharding Status ---\n",
            "mongos> db.orders.find()\n{ \"_id\" : 1, \"total\" : 5 }\n",
            "[1, 2, 3]",
        ] {
            assert_eq!(looks_like_declaration(text.as_bytes()), None, "{text}");
        }
        assert_eq!(looks_like_declaration(b"sh.shardCollection('\xff')"), None);
    }
}
