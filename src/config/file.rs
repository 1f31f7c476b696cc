//! What the file may say. `docs/schema/shardlint.toml.json` is made from these types, and unknown keys are found with it.
//! Texts with a meaning of their own (globs, codes, versions) are only texts here.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor, value::SeqAccessDeserializer};
use toml::Spanned;

use crate::rules::Thresholds;

/// A table of texts.
pub type Texts = BTreeMap<Spanned<String>, Spanned<String>>;

/// The whole file.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
#[schemars(title = "shardlint.toml", deny_unknown_fields)]
pub struct File {
    /// What is read if the command line names no input: files, folders, globs. Paths begin at the folder of this file.
    #[schemars(with = "Option<Strings>")]
    pub inputs: Option<Spanned<Strings>>,
    /// Files with declarations: `FILE` or `NS=FILE`. Paths begin at the folder of this file.
    #[schemars(with = "Option<Strings>")]
    pub schema: Option<Spanned<Strings>>,
    /// Shard keys by namespace or glob: `"shop.orders" = "{ customerId: 1 }"`, or `"unsharded"`.
    #[schemars(with = "BTreeMap<String, String>")]
    pub shard_keys: Texts,
    /// Databases that are reported under another name: `"shop_test_*" = "shop"`.
    #[schemars(with = "BTreeMap<String, String>")]
    pub ns_map: Texts,
    /// Which processes wrote the logs, by their names or the ends of them, which may be globs: `"mongos.log" = "router"`,
    /// `"s1*.log" = "shard:rs1"`, `"cfg.log" = "config"`.
    #[schemars(with = "BTreeMap<String, String>")]
    pub roles: Texts,
    /// The server version whose rules hold; otherwise the log's, otherwise the newest.
    #[schemars(with = "Option<String>")]
    pub server_version: Option<Spanned<String>>,
    /// The number of shards of the cluster.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub shards: Option<Spanned<u32>>,
    /// Only these namespaces: a glob.
    #[schemars(with = "Option<String>")]
    pub ns: Option<Spanned<String>>,
    /// Only operations of applications whose name matches: a regular expression.
    #[schemars(with = "Option<String>")]
    pub app: Option<Spanned<String>>,
    /// Only operations that took at least so many milliseconds.
    #[schemars(with = "Option<u64>")]
    pub min_duration: Option<Spanned<u64>>,
    /// The known findings. The path begins at the folder of this file.
    #[schemars(with = "Option<String>")]
    pub baseline: Option<Spanned<String>>,
    /// The severity from which findings end in exit code 1.
    #[schemars(with = "Option<String>", extend("enum" = ["error", "warning", "info", "never", null]))]
    pub fail_on: Option<Spanned<String>>,
    /// The class from which a query that the baseline does not know is an error.
    #[schemars(with = "Option<String>", extend("enum" = ["multi-shard", "broadcast", null]))]
    pub fail_on_class: Option<Spanned<String>>,
    /// Limits on the share of broadcasts: `2%`, `2%:time`, `shop.*=1%`, `app:^batch-=50%`.
    #[schemars(with = "Option<Strings>")]
    pub max_broadcast_share: Option<Spanned<Strings>>,
    /// How many shapes the summary shows.
    #[schemars(with = "Option<usize>")]
    pub top: Option<Spanned<usize>>,
    /// Which rules run, and how serious their findings are.
    pub rules: Rules,
    /// From where on rules speak.
    pub thresholds: Thresholds,
    /// Settings for some namespaces; of several that match, the last one holds.
    pub namespace: Vec<Part>,
    /// Settings for some applications; they overrule those for namespaces.
    pub application: Vec<Part>,
    /// Findings that are not to be shown.
    pub ignore: Vec<Ignore>,
}

/// Which rules run, and how serious their findings are. Rules are named by code, name, prefix (`SL1`) or `ALL`.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
#[schemars(deny_unknown_fields)]
pub struct Rules {
    /// The rules to run; otherwise all that are stable.
    #[schemars(with = "Option<Strings>")]
    pub select: Option<Spanned<Strings>>,
    /// Rules to run besides these.
    #[schemars(with = "Option<Strings>")]
    pub extend_select: Option<Spanned<Strings>>,
    /// Rules not to run.
    #[schemars(with = "Option<Strings>")]
    pub ignore: Option<Spanned<Strings>>,
    /// Severities: `SL301 = "info"`.
    #[schemars(with = "BTreeMap<String, Level>")]
    pub severity: Texts,
}

/// Settings for some namespaces, or for some applications.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
#[schemars(deny_unknown_fields, extend("required" = ["name"]))]
pub struct Part {
    /// Which: a glob over namespaces (after `ns-map`), or a regular expression over names of applications.
    #[schemars(with = "String")]
    pub name: Option<Spanned<String>>,
    /// Rules whose findings are left out.
    #[schemars(with = "Option<Strings>")]
    pub ignore: Option<Spanned<Strings>>,
    /// Severities: `SL301 = "info"`.
    #[schemars(with = "BTreeMap<String, Level>")]
    pub severity: Texts,
    /// The greatest share of broadcasts: `2%`, `2%:time`.
    #[schemars(with = "Option<String>")]
    pub max_broadcast_share: Option<Spanned<String>>,
}

/// Findings that are not to be shown. What is left out matches everything.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
#[schemars(deny_unknown_fields, extend("required" = ["rule", "reason"]))]
pub struct Ignore {
    /// The rule, or several.
    #[schemars(with = "Strings")]
    pub rule: Option<Spanned<Strings>>,
    /// Namespaces (after `ns-map`): a glob.
    #[schemars(with = "Option<String>")]
    pub namespace: Option<Spanned<String>>,
    /// The fingerprint of a shape.
    #[schemars(with = "Option<String>", regex(pattern = "^[0-9a-f]{32}$"))]
    pub shape: Option<Spanned<String>>,
    /// Applications: a regular expression over their names.
    #[schemars(with = "Option<String>")]
    pub application: Option<Spanned<String>>,
    /// Why the findings are accepted.
    #[schemars(with = "String")]
    pub reason: Option<Spanned<String>>,
    /// The last day on which it holds: `2027-01-31`.
    #[schemars(with = "Option<String>")]
    pub until: Option<Spanned<toml::Value>>,
}

/// The severities, for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[allow(dead_code, reason = "only its schema is used")]
enum Level {
    Info,
    Warning,
    Error,
}

/// One text, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings(pub Vec<String>);

impl<'de> Deserialize<'de> for Strings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Strings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Strings, E> {
                Ok(Strings(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Strings, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Strings)
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl JsonSchema for Strings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Strings".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "One text, or a list of them.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
        })
    }
}
