//! What users say of the process behind a log, `FILE=ROLE`: a router, a config server, or a shard and which one. It
//! overrules what the log says of itself.

use std::fmt;
use std::str::FromStr;

use globset::{Glob, GlobMatcher};

use crate::syntax::Role;

/// The role of the processes whose logs have certain names.
#[derive(Debug, Clone)]
pub struct DeclaredRole {
    /// As the user wrote it.
    text: String,
    files: GlobMatcher,
    /// The role.
    pub role: Role,
    /// The shard's name.
    pub shard: Option<String>,
}

impl DeclaredRole {
    /// What `roles` say of the log of that name: the last that fits.
    #[must_use]
    pub fn of<'a>(log: &str, roles: &'a [Self]) -> Option<&'a Self> {
        roles.iter().rev().find(|declared| declared.covers(log))
    }

    /// Whether a log is meant, by its path or by the end of it.
    #[must_use]
    pub fn covers(&self, log: &str) -> bool {
        let mut ends = std::iter::successors(Some(log), |path| path.split_once('/').map(|(_, rest)| rest));
        ends.any(|end| self.files.is_match(end))
    }
}

impl FromStr for DeclaredRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected `FILE=router`, `FILE=config`, `FILE=shard` or `FILE=shard:NAME`";
        let (files, role) = text.rsplit_once('=').ok_or_else(|| format!("no role in `{text}`; {EXPECTED}"))?;
        let (role, shard) = role.split_once(':').map_or((role, None), |(role, shard)| (role, Some(shard)));
        let role = match (role, shard) {
            ("router", None) => Role::Router,
            ("config", None) => Role::Config,
            ("shard", shard) if shard != Some("") => Role::Shard,
            _ => return Err(format!("`{}` is no role; {EXPECTED}", &text[files.len() + 1..])),
        };
        let glob = Glob::new(files).map_err(|error| format!("`{files}` is no glob: {}", error.kind()))?;
        if files.is_empty() {
            return Err(format!("nothing stands before `=`; {EXPECTED}"));
        }
        Ok(Self { text: text.to_owned(), files: glob.compile_matcher(), role, shard: shard.map(str::to_owned) })
    }
}

impl fmt::Display for DeclaredRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for DeclaredRole {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DeclaredRole {
        text.parse().expect("a role")
    }

    #[test]
    fn a_role_is_of_a_file_by_its_path_or_the_end_of_it_and_the_last_one_holds() {
        let roles = [read("*.log=shard"), read("logs/a.log=shard:rs0"), read("mongos.log=router")];
        let of = |log: &str| DeclaredRole::of(log, &roles).map(|found| (found.role, found.shard.as_deref()));
        assert_eq!(of("day/logs/a.log"), Some((Role::Shard, Some("rs0"))));
        assert_eq!(of("a.log"), Some((Role::Shard, None)));
        assert_eq!(of("mongos.log"), Some((Role::Router, None)));
        assert_eq!(of("mongos.txt"), None);
    }

    #[test]
    fn what_is_no_role_says_what_was_expected() {
        for (text, why) in [
            ("a.log", "no role in `a.log`"),
            ("a.log=primary", "`primary` is no role"),
            ("a.log=router:x", "`router:x` is no role"),
            ("a.log=shard:", "`shard:` is no role"),
            ("=router", "nothing stands before `=`"),
            ("[=router", "`[` is no glob"),
        ] {
            let error = text.parse::<DeclaredRole>().expect_err(text);
            assert!(error.contains(why), "{error}");
        }
    }
}
