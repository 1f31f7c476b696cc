//! Where a rule is explained on the web.

use crate::rules::rule;

/// The project's repository, as `Cargo.toml` names it; empty if it names none.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The rule's page in the repository; without a repository, the first source that the rule's explanation links to.
pub fn page(code: &str) -> Option<String> {
    let rule = rule(code)?;
    if !REPOSITORY.is_empty() {
        return Some(format!("{REPOSITORY}/blob/main/docs/rules/{}.md", rule.code));
    }
    let links = rule.explanation.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    links.into_iter().find(|link| link.starts_with("https://")).map(str::to_owned)
}
