//! `check --follow`: a diagnostic is told when it is first seen, and again each time it has become ten times as frequent. What
//! rests on a declaration or on the whole of the log is told at the end.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write, stdout};

use anyhow::bail;

use crate::report::{self, Diagnostic, Report};
use crate::rules::unused_suppression;

use super::args::{CheckArgs, FormatName, Output};
use super::output;

/// Refuses options that ask for what can only be had of a log that has ended.
///
/// # Errors
/// If there is one.
pub fn refuse(args: &CheckArgs) -> anyhow::Result<()> {
    if args.per_event {
        bail!("--follow tells how often a finding was seen: it cannot be used with --per-event");
    }
    if args.statistics {
        bail!("--follow tells findings as they come: it cannot be used with --statistics");
    }
    let is_for_people = matches!(args.format, None | Some(FormatName::Pretty | FormatName::Concise));
    let takes_its_place = |text: &String| Output::parse(text).is_ok_and(|output| output.format.is_none());
    if !is_for_people && !args.output.iter().any(takes_its_place) {
        bail!(
            "--follow tells findings as they come, as pretty or concise; `-o FORMAT=FILE` writes a report when it ends"
        );
    }
    Ok(())
}

/// When something is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// More will come.
    Meanwhile,
    /// This is all.
    End,
}

/// Remembers what was told.
pub struct Teller<'a> {
    args: &'a CheckArgs,
    told: HashMap<Identity, u32>,
}

/// What makes two diagnostics of different moments the same one.
type Identity = (&'static str, String, Option<String>);

impl<'a> Teller<'a> {
    /// Nothing has been told yet.
    #[must_use]
    pub fn new(args: &'a CheckArgs) -> Self {
        Self { args, told: HashMap::new() }
    }

    /// Tells what is new in `report`, which is about everything that has been read.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn tell(&mut self, report: &Report, moment: Moment) -> io::Result<()> {
        let diagnostics = report.told().filter(|diagnostic| self.is_news(diagnostic, moment)).cloned().collect();
        let news = Report {
            summary: report.summary.clone(),
            declarations: report.declarations.clone(),
            diagnostics,
            ..Report::default()
        };
        if news.diagnostics.is_empty() || self.args.quiet > 1 {
            return Ok(());
        }
        let mut out = BufWriter::new(stdout().lock());
        report::render(&news, output::format_on_screen(self.args), &output::news_options(self.args), &mut out)?;
        out.flush()
    }

    fn is_news(&mut self, diagnostic: &Diagnostic, moment: Moment) -> bool {
        let may_change = diagnostic.example.is_declaration || diagnostic.code == unused_suppression::RULE.code;
        if moment == Moment::Meanwhile && may_change {
            return false;
        }
        self.is_ten_times_as_frequent(
            (diagnostic.code, diagnostic.fingerprint.clone(), diagnostic.subject.clone()),
            diagnostic.count,
        )
    }

    /// Or seen for the first time.
    fn is_ten_times_as_frequent(&mut self, identity: Identity, count: u64) -> bool {
        let frequency = count.checked_ilog10().unwrap_or(0);
        let told = self.told.get(&identity).copied();
        if told.is_some_and(|told| frequency <= told) {
            return false;
        }
        self.told.insert(identity, frequency);
        true
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::Cli;
    use super::*;

    fn args(arguments: &[&str]) -> CheckArgs {
        Cli::parse_from([&["shardlint", "--follow"], arguments].concat()).check
    }

    #[test]
    fn a_finding_is_news_when_it_is_first_seen_and_at_ten_times_its_count() {
        let args = args(&[]);
        let mut teller = Teller::new(&args);
        let mut news = |count| teller.is_ten_times_as_frequent(("SL101", "a".to_owned(), None), count);
        let counts = [1, 2, 9, 10, 11, 99, 250, 999, 1000];
        assert_eq!(counts.map(&mut news), [true, false, false, true, false, false, true, false, true]);
    }

    #[test]
    fn what_needs_the_whole_log_is_refused_and_reports_in_files_are_not() {
        let refused = [&["--per-event"][..], &["--statistics"], &["-f", "json"], &["-f", "sarif", "-o", "json=x"]];
        for arguments in refused {
            assert!(refuse(&args(arguments)).is_err(), "{arguments:?}");
        }
        for arguments in [&[][..], &["-f", "pretty"], &["-o", "json=x"], &["-f", "json", "-o", "x"]] {
            assert!(refuse(&args(arguments)).is_ok(), "{arguments:?}");
        }
    }
}
