//! Limits on the share of broadcasts, `[SCOPE=]P[%][:count|:time]`: of all queries, of some namespaces (`shop.*=1%`) or of
//! some applications (`app:^batch-=50%`), by number (default) or by time.

use std::fmt;
use std::str::FromStr;

use globset::{Glob, GlobMatcher};
use regex::Regex;

use crate::report::{ClassCount, LimitResult};

use super::settings::user_regex;

/// Parts of the whole that a share is counted in: a ten-thousandth of a percent.
const WHOLE: u64 = 1_000_000;

/// What a limit is about.
#[derive(Debug, Clone)]
pub enum Scope {
    /// All queries.
    All,
    /// Queries on these namespaces, after `--ns-map`.
    Namespace(GlobMatcher),
    /// Queries of these applications.
    Application(Regex),
}

/// A limit.
#[derive(Debug, Clone)]
pub struct Limit {
    /// As the user wrote it.
    text: String,
    scope: Scope,
    /// The percentage in it.
    percentage: String,
    /// The same in millionths.
    share: u64,
    by_time: bool,
}

/// What was counted for a limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured {
    /// Broadcasts.
    pub broadcast: ClassCount,
    /// All queries.
    pub total: ClassCount,
}

impl Measured {
    /// Adds the counts of a later part of the input.
    pub fn add(&mut self, more: Self) {
        for (mine, more) in [(&mut self.broadcast, more.broadcast), (&mut self.total, more.total)] {
            mine.count += more.count;
            mine.millis += more.millis;
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (scope, rest) = text.rsplit_once('=').map_or((None, text), |(scope, rest)| (Some(scope), rest));
        let (share, by_time) = match rest.rsplit_once(':') {
            None => (rest, false),
            Some((share, "count")) => (share, false),
            Some((share, "time")) => (share, true),
            Some((_, other)) => return Err(format!("`{other}` is no measure; expected `count` or `time`")),
        };
        let scope = match scope.map(str::trim) {
            None => Scope::All,
            Some("") => return Err("nothing stands before `=`; expected a namespace such as `shop.*`".to_owned()),
            Some(scope) => match scope.strip_prefix("app:") {
                Some(regex) => {
                    Scope::Application(user_regex(regex).map_err(|_| format!("`{scope}` holds no regular expression"))?)
                }
                None => {
                    let glob = Glob::new(scope).map_err(|error| format!("`{scope}` is no glob: {}", error.kind()))?;
                    Scope::Namespace(glob.compile_matcher())
                }
            },
        };
        let percentage = share.trim().to_owned();
        Ok(Self { text: text.to_owned(), scope, share: millionths(&percentage)?, percentage, by_time })
    }
}

/// `2%`, `2`, `0.5 %` in millionths.
fn millionths(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no share; expected a percentage from 0% to 100%, such as `2%`");
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 3 || fraction.len() > 4 || !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    let share = format!("{whole}{fraction:0<4}").parse::<u64>().map_err(|_| wrong())?;
    if share > WHOLE { Err(wrong()) } else { Ok(share) }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Limit {
    /// The same limit for some namespaces or applications only.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Whether an operation of the application, on `namespace` after mapping, counts.
    #[must_use]
    pub fn covers(&self, application: Option<&str>, namespace: &str) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Namespace(glob) => glob.is_match(namespace),
            Scope::Application(regex) => regex.is_match(application.unwrap_or_default()),
        }
    }

    /// What became of it.
    #[must_use]
    pub fn result(&self, measured: Measured) -> LimitResult {
        let pick = |count: ClassCount| if self.by_time { count.millis } else { count.count };
        let (broadcast, total) = (pick(measured.broadcast), pick(measured.total));
        let scope = match &self.scope {
            Scope::All => "all queries".to_owned(),
            Scope::Namespace(glob) => glob.glob().glob().to_owned(),
            Scope::Application(regex) => format!("application {}", regex.as_str()),
        };
        LimitResult {
            limit: self.percentage.clone(),
            scope,
            by_time: self.by_time,
            broadcast,
            total,
            exceeded: u128::from(broadcast) * u128::from(WHOLE) > u128::from(self.share) * u128::from(total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Result<Limit, String> {
        text.parse()
    }

    #[test]
    fn shares_are_percentages_with_or_without_the_sign() {
        for (text, share, by_time) in [
            ("2%", 20_000, false),
            ("2", 20_000, false),
            ("0.5%:time", 5_000, true),
            ("100 %:count", 1_000_000, false),
            ("0", 0, false),
        ] {
            let limit = limit(text).expect(text);
            assert_eq!((limit.share, limit.by_time), (share, by_time), "{text}");
        }
        for text in ["", "%", "-1%", "101%", "two", "2%:calls", "=2%", "[=2%", "app:(=2%", "0.00001%"] {
            assert!(limit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_at_the_limit_is_no_more_than_the_limit() {
        let of = |broadcast, total| Measured {
            broadcast: ClassCount { count: broadcast, millis: 9 },
            total: ClassCount { count: total, millis: 10 },
        };
        let two = limit("2%").expect("a limit");
        assert!(!two.result(of(2, 100)).exceeded);
        assert!(two.result(of(3, 100)).exceeded);
        assert!(!two.result(of(0, 0)).exceeded);
        assert!(limit("shop.*=50%:time").expect("a limit").result(of(0, 100)).exceeded);
    }
}
