//! `route --cases`, for programs: JSON lines in, one JSON line
//! out for each, in order. A case that cannot be read is answered with `failed`, and the others all the same.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::routing::{RouterError, Verdict, route_case};
use crate::syntax::{SyntaxError, case_id, parse_case};

use crate::cli::exit;

/// Answers the cases in a file, or (`-`) on standard input.
///
/// # Errors
/// If the cases cannot be read, or the answers not written.
pub(super) fn answer(cases: &Path) -> anyhow::Result<u8> {
    let output = BufWriter::new(io::stdout().lock());
    if cases == Path::new("-") {
        return answer_all(io::stdin().lock(), output);
    }
    let path = cases.display();
    let file = File::open(cases).with_context(|| format!("cannot open `{path}`"))?;
    answer_all(BufReader::new(file), output)
}

fn answer_all(mut input: impl BufRead, mut output: impl Write) -> anyhow::Result<u8> {
    let mut outcome = exit::CLEAN;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).context("cannot read the cases")? == 0 {
            output.flush()?;
            return Ok(outcome);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        match parse_case(text) {
            Ok(case) => write_line(&mut output, &Answer::new(case_id(text), &route_case(&case)))?,
            Err(error) => {
                outcome = exit::FAILED;
                write_line(&mut output, &Failure { id: case_id(text), failed: located(&error) })?;
            }
        }
    }
}

fn located(error: &SyntaxError) -> String {
    format!("{} (at byte {})", error.message, error.span.start)
}

fn write_line(output: &mut impl Write, answer: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *output, answer).map_err(io::Error::from)?;
    output.write_all(b"\n")?;
    Ok(())
}

/// The answer to a case.
#[derive(Serialize)]
struct Answer<'a> {
    id: Option<&'a RawValue>,
    class: &'static str,
    shards: Option<&'a [String]>,
    error: Option<ErrorAnswer>,
    #[serde(rename = "twoPhase")]
    two_phase: bool,
    reason: String,
}

#[derive(Serialize)]
struct ErrorAnswer {
    code: i32,
    name: &'static str,
}

/// The answer to a case that could not be read.
#[derive(Serialize)]
struct Failure<'a> {
    id: Option<&'a RawValue>,
    failed: String,
}

impl<'a> Answer<'a> {
    fn new(id: Option<&'a RawValue>, verdict: &'a Verdict) -> Self {
        Self {
            id,
            class: verdict.class.name(),
            shards: verdict.shards.as_deref(),
            error: verdict.error.map(|RouterError { code, name }| ErrorAnswer { code, name }),
            two_phase: verdict.two_phase,
            reason: verdict.reason.text(),
        }
    }
}
