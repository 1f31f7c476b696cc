//! `planSummary`, also as the structured log prints it: stages, and after most of them the key pattern of an index in the
//! syntax of legacy documents. The language is that of `grammar/plan_summary.pest`.

use nom::Parser;
use nom::bytes::complete::{tag, take_while};
use nom::character::complete::satisfy;
use nom::combinator::{eof, recognize};
use nom::multi::separated_list1;

use crate::model::Node;
use crate::syntax::error::SyntaxError;
use crate::syntax::shell::{Failure, Step, Text, between, complaint};
use crate::text::Located;

use super::document::{Reading, document};

/// How one collection, or one branch of an `$or`, was read.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `IXSCAN`, `COLLSCAN` …
    pub stage: Located<String>,
    /// The key pattern of the index.
    pub pattern: Option<Node>,
}

/// Reads a plan summary that is the whole of `text`; spans are those of `text`, moved by `base` bytes.
///
/// # Errors
/// If `text` is no plan summary: where reading failed and what was expected there.
pub fn parse(text: &str, base: usize) -> Result<Vec<Plan>, SyntaxError> {
    let (rest, plans) = plans(Text::new_extra(text, base)).map_err(|error| complaint(text, base, error))?;
    let end: Step<'_, Text<'_>> = eof(rest);
    match end {
        Ok(_) => Ok(plans),
        Err(_) => {
            let error = Failure::expected(rest, "`,`, a key pattern or the end");
            Err(complaint(text, base, nom::Err::Error(error)))
        }
    }
}

/// `IXSCAN { a: 1 }, IXSCAN { b: 1 }`
pub(super) fn plans(input: Text<'_>) -> Step<'_, Vec<Plan>> {
    separated_list1(tag(", "), plan).parse(input)
}

fn plan(input: Text<'_>) -> Step<'_, Plan> {
    let initial = satisfy(|c| c.is_ascii_uppercase());
    let name = recognize((initial, take_while(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')));
    let mut name = name;
    let named: Step<'_, Text<'_>> = name.parse(input);
    let (rest, stage) = named.map_err(|_| super::document::expected(input, "a stage such as `IXSCAN`"))?;
    let stage = Located::new(stage.into_fragment().to_owned(), between(input, rest));
    let (rest, pattern) = match nom::character::complete::char::<_, Failure>(' ').parse(rest) {
        Ok((open, _)) if open.starts_with('{') => {
            let (rest, pattern) = document(open, &Reading::default(), 0)?;
            (rest, Some(pattern))
        }
        _ => (rest, None),
    };
    Ok((rest, Plan { stage, pattern }))
}
