//! From what a user typed to rules: `SL101`, `sl101`, `broadcast-query`, `SL1`; and to the nearest ones where nothing fits.

use super::REGISTRY;
use super::rule::Rule;

/// The rule with that code or name, in any case.
#[must_use]
pub fn rule(code_or_name: &str) -> Option<&'static Rule> {
    REGISTRY
        .iter()
        .copied()
        .find(|rule| rule.code.eq_ignore_ascii_case(code_or_name) || rule.name.eq_ignore_ascii_case(code_or_name))
}

/// The rules that a selector names: a code, a name, a prefix (`SL1`) or `ALL`, in any case. In the order of their codes.
#[must_use]
pub fn matching(selector: &str) -> Vec<&'static Rule> {
    let selector = selector.trim().to_ascii_uppercase();
    let names = |rule: &Rule| {
        let is_prefix = selector.starts_with("SL") && rule.code.starts_with(&selector);
        selector == "ALL" || is_prefix || rule.name.eq_ignore_ascii_case(&selector)
    };
    REGISTRY.iter().copied().filter(|rule| names(rule)).collect()
}

/// Codes or names that the user may have meant, the likeliest first; at most three.
#[must_use]
pub fn suggestions(code_or_name: &str) -> Vec<&'static str> {
    let typed = code_or_name.to_ascii_lowercase();
    let mut near: Vec<(usize, &'static str)> = REGISTRY
        .iter()
        .flat_map(|rule| [rule.code, rule.name])
        .map(|known| (strsim::damerau_levenshtein(&typed, &known.to_ascii_lowercase()), known))
        .filter(|(distance, known)| *distance <= known.len().div_ceil(4))
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, known)| known).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_found_by_code_and_by_name_in_any_case() {
        for typed in ["SL101", "sl101", "broadcast-query", "Broadcast-Query"] {
            assert_eq!(rule(typed).map(|rule| rule.code), Some("SL101"), "{typed}");
        }
        assert!(rule("SL1").is_none());
    }

    #[test]
    fn a_slip_of_the_pen_is_answered_with_the_nearest_names() {
        assert_eq!(suggestions("brodcast-query").first(), Some(&"broadcast-query"));
        assert!(suggestions("SL110").len() <= 3);
        assert!(suggestions("something-else-altogether").is_empty());
    }
}
