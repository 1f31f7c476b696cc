//! The specified hash: SipHash-1-3 with 128 bits and a zero key over UTF-8 bytes.
//! A fingerprint is part of users' baselines, so it never changes between releases (a frozen list in the tests).

use std::fmt;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

/// 128 bits that name a text in every release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// The fingerprint of several parts; `["ab", "c"]` and `["a", "bc"]` differ.
    #[must_use]
    pub fn of(parts: &[&str]) -> Self {
        let mut hasher = SipHasher13::new_with_keys(0, 0);
        for part in parts {
            hasher.write(part.as_bytes());
            hasher.write(&[0xff]);
        }
        Self(hasher.finish128().as_u128())
    }
}

impl fmt::Display for Fingerprint {
    /// 32 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
