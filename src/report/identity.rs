//! What a diagnostic is called by tools that follow it from run to run: its rule, namespace and shape, never its line.

use super::data::Diagnostic;
use crate::syntax::{SentFrom, sent_from};
use crate::text::Fingerprint;

impl Diagnostic {
    /// The line of the application's source that the query's comment names.
    #[must_use]
    pub fn sent_from(&self) -> Option<SentFrom> {
        self.comment.as_deref().and_then(sent_from)
    }

    /// 32 hexadecimal digits, the same for the same finding in every run.
    #[must_use]
    pub fn identity(&self) -> String {
        Fingerprint::of(&["finding-1", self.code, &self.namespace, &self.fingerprint]).to_string()
    }

    /// What the baseline says about it; `None` without one.
    #[must_use]
    pub fn standing(&self) -> Option<String> {
        match (self.was, self.now, self.new) {
            (Some(was), Some(now), _) => Some(format!("{was} in the baseline, {now} now")),
            (_, _, Some(true)) => Some("new since the baseline".to_owned()),
            (_, _, Some(false)) => Some("known in the baseline".to_owned()),
            _ => None,
        }
    }
}
