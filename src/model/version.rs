//! Server versions. A version without a patch number means the newest patch of its line (`routing.md` 10a).

use std::fmt;
use std::str::FromStr;

/// A MongoDB server version. Ordered by age; a missing patch is the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerVersion {
    /// 6 of 6.0.5.
    pub major: u32,
    /// 0 of 6.0.5.
    pub minor: u32,
    /// 5 of 6.0.5; `u32::MAX` stands for "the newest patch".
    patch: u32,
}

/// A text that is no version.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{0}` is not a server version; expected something like 6.0 or 6.0.5")]
pub struct InvalidVersion(String);

impl ServerVersion {
    /// The newest release line whose rules are known; assumed when nothing names a version.
    pub const NEWEST: Self = Self { major: 9, minor: 0, patch: u32::MAX };

    /// `major.minor.patch`.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// The newest patch of `major.minor`.
    #[must_use]
    pub const fn line(major: u32, minor: u32) -> Self {
        Self { major, minor, patch: u32::MAX }
    }

    /// Whether the version is of `major.minor` or of a later line.
    #[must_use]
    pub fn at_least(self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    /// The patch number, if one is known.
    #[must_use]
    pub fn patch(self) -> Option<u32> {
        (self.patch != u32::MAX).then_some(self.patch)
    }
}

impl FromStr for ServerVersion {
    type Err = InvalidVersion;

    /// `6`, `6.0`, `6.0.5`, `v6.0.5`, `6.0.5-ent`, `7.0.0-rc2`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidVersion(text.to_owned());
        let plain = text.trim().trim_start_matches('v');
        let plain = plain.split(['-', '+', ' ']).next().unwrap_or_default();
        let mut numbers = plain.split('.').map(str::parse::<u32>);
        let major = numbers.next().and_then(Result::ok).ok_or_else(invalid)?;
        let mut rest = || numbers.next().transpose().map_err(|_| invalid());
        let (minor, patch) = (rest()?.unwrap_or(0), rest()?.unwrap_or(u32::MAX));
        Ok(Self { major, minor, patch })
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch().map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_without_a_patch_is_the_newest_of_its_line() {
        let version = |text: &str| text.parse::<ServerVersion>().expect("a version");
        assert!(version("6.0.27") < version("6.0"));
        assert!(version("6.0") < version("7.0.0-rc1"));
        assert_eq!(version("6.0.5-ent").to_string(), "6.0.5");
        assert_eq!(version("8").to_string(), "8.0");
        assert!("newest".parse::<ServerVersion>().is_err());
    }
}
