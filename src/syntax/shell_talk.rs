//! The lines that a shell prints around values: prompts with the command typed behind them, greetings, headings.

/// How the lines begin that shells print of themselves.
const BANNERS: [&str; 15] = [
    "MongoDB shell version",
    "MongoDB server version",
    "MongoDB Enterprise",
    "connecting to:",
    "Connecting to:",
    "Implicit session:",
    "Current Mongosh Log ID:",
    "Using MongoDB:",
    "Using Mongosh:",
    "For mongosh info see:",
    "switched to db",
    "already on db",
    "Type \"it\" for more",
    "DeprecationWarning:",
    "...",
];

/// The headings of `sh.status()` in mongosh under which nothing stands that matters here.
const HEADINGS: [&str; 9] = [
    "shardingVersion",
    "shards",
    "databases",
    "active mongoses",
    "most recently active mongoses",
    "autosplit",
    "automerge",
    "balancer",
    "shardedDataDistribution",
];

/// How the commands begin that people paste without the prompt before them.
const COMMANDS: [&str; 4] = ["use ", "db.", "sh.", "show "];

/// What was typed behind a prompt such as `mongos>`, `rs0:PRIMARY>` or `[direct: mongos] shop>`, or pasted without one.
pub(in crate::syntax) fn typed(line: &str) -> Option<&str> {
    if COMMANDS.iter().any(|command| line.starts_with(command)) {
        return Some(line);
    }
    let (prompt, typed) = line.split_once('>')?;
    let is_prompt = prompt.chars().all(|c| c.is_alphanumeric() || " :_-.[]@".contains(c));
    // `[direct: mongos] shop`, `MongoDB Enterprise rs0:PRIMARY`; other words before a `>` are prose.
    let is_one = !prompt.contains(' ') || prompt.contains('[') || prompt.starts_with("MongoDB");
    (is_prompt && is_one && !typed.starts_with('>')).then(|| typed.trim())
}

/// Whether a line is a heading of mongosh's `sh.status()`, or of `getShardDistribution()`.
pub(in crate::syntax) fn is_heading(line: &str) -> bool {
    HEADINGS.contains(&line) || line == "Totals" || is_distribution_heading(line)
}

/// `Shard NAME at HOST`, of `getShardDistribution()`.
pub(in crate::syntax) fn is_distribution_heading(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words.as_slice(), ["Shard", _, "at", host] if host.contains(':'))
}

/// Whether a shell may have printed this line before a value.
pub(in crate::syntax) fn is_chatter(line: &str) -> bool {
    line.chars().all(|c| c == '-')
        || typed(line).is_some()
        || is_heading(line)
        || BANNERS.iter().any(|banner| line.starts_with(banner))
}

/// Whether a command prints all of `config.collections`.
pub(in crate::syntax) fn lists_all_collections(command: &str) -> bool {
    let command: String = command.chars().filter(|c| !c.is_whitespace()).collect();
    let finds_all = command.contains("collections.find()") || command.contains("collections.find({}");
    let by_name = command.contains("getCollection(\"collections\").find()")
        || command.contains("getCollection('collections').find()");
    (finds_all || by_name) && !command.contains(".limit(") && !command.contains(".skip(")
}
