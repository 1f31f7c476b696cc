//! Is a text a declaration? Decided by its content alone. Logs, profiles, tables and prose are none.

use memchr::memmem;

use super::index_list;
use super::shell::begins_declaration;

/// The kinds of declarations that a text can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclarationKind {
    /// Shell statements.
    Script,
    /// Complete lists of indexes.
    IndexList,
}

/// How far a text is looked into for the names that a list of indexes has.
const LIST_HEAD: usize = 4096;

/// What kind of declaration `text` is, if it is one.
#[must_use]
pub fn looks_like_declaration(text: &[u8]) -> Option<DeclarationKind> {
    let text = std::str::from_utf8(text).ok()?;
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    if trimmed.starts_with(['[', '{']) {
        return looks_like_list(trimmed).then_some(DeclarationKind::IndexList);
    }
    looks_like_script(trimmed).then_some(DeclarationKind::Script)
}

fn looks_like_list(text: &str) -> bool {
    let head = &text.as_bytes()[..text.len().min(LIST_HEAD)];
    let names = ["firstBatch", "indexes", "key"];
    names.iter().any(|name| memmem::find(head, name.as_bytes()).is_some()) && index_list::begins_with_list(text)
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
    fn scripts_and_index_lists_are_recognised_by_their_content() {
        for script in [
            "sh.shardCollection('shop.orders', { a: 1 })",
            "\u{feff}/* set up\n the cluster */\n// orders\nuse shop\n\n  db.orders\n    .createIndex({ a: 1 })\n",
            "#!/usr/bin/env mongosh\n'use strict';\nconst shop = db.getSiblingDB('shop');\nshop.orders.createIndex({a: 1})",
            "db.adminCommand({ shardCollection: 'a.b' key: {} })",
            "printjson(sh.enableSharding('shop'))\r\n",
            "rs.initiate()\nsh.addShard('rs0/a:1')",
        ] {
            assert_eq!(looks_like_declaration(script.as_bytes()), Some(DeclarationKind::Script), "{script}");
        }
        for list in [
            "[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"}]",
            "\n{ \"cursor\": { \"firstBatch\": [ { \"v\": 2, \"key\": { \"_id\": 1 }, \"name\": \"_id_\" } ], \"ns\": \"a.b\" }, \"ok\": 1 }",
            "[\n  { v: 2, key: { _id: 1 }, name: '_id_' }\n]",
        ] {
            assert_eq!(looks_like_declaration(list.as_bytes()), Some(DeclarationKind::IndexList), "{list}");
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
            "{\"_id\":\"shop.orders\",\"key\":{\"a\":1},\"unique\":false}\n",
            "[1, 2, 3]",
        ] {
            assert_eq!(looks_like_declaration(text.as_bytes()), None, "{text}");
        }
        assert_eq!(looks_like_declaration(b"sh.shardCollection('\xff')"), None);
    }
}
