//! `--select`, `--ignore`, `--extend-select`: which rules run. Codes, names, prefixes (`SL1`) and `ALL`, in any case.

use anyhow::bail;

use crate::report::escape;
use crate::rules::{REGISTRY, Rule, Status, matching, suggestions};

/// The rules to run, in the order of their codes.
///
/// # Errors
/// If a selector names no rule.
pub fn rules(select: &[String], extend: &[String], ignore: &[String]) -> anyhow::Result<Vec<&'static Rule>> {
    for selector in select.iter().chain(extend).chain(ignore) {
        if matching(selector).is_empty() {
            let near = suggestions(selector);
            let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
            bail!("`{}` names no rule{hint}", escape(selector));
        }
    }
    let any = |selectors: &[String], rule: &Rule| {
        selectors.iter().any(|selector| matching(selector).iter().any(|named| named.code == rule.code))
    };
    let by_default = |rule: &Rule| select.is_empty() && rule.status == Status::Stable;
    let runs = |rule: &Rule| (by_default(rule) || any(select, rule) || any(extend, rule)) && !any(ignore, rule);
    Ok(REGISTRY.iter().copied().filter(|rule| runs(rule)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(select: &[&str], extend: &[&str], ignore: &[&str]) -> Vec<&'static str> {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rules = rules(&owned(select), &owned(extend), &owned(ignore)).expect("known selectors");
        rules.into_iter().map(|rule| rule.code).collect()
    }

    #[test]
    fn a_prefix_selects_its_rules_and_ignore_beats_select() {
        assert!(codes(&["SL1"], &[], &[]).iter().all(|code| code.starts_with("SL1")));
        assert!(!codes(&["sl1"], &[], &["SL101"]).contains(&"SL101"));
        assert_eq!(codes(&["broadcast-query"], &["SL301"], &[]), ["SL101", "SL301"]);
    }

    #[test]
    fn an_unknown_selector_is_refused_with_the_nearest_names() {
        let error = rules(&["SL10l".to_owned()], &[], &[]).expect_err("unknown");
        assert!(error.to_string().contains("SL101"), "{error}");
    }
}
