//! Puts it together: chunks through rayon, ordered merge, grouping, summary.

mod declarations;
mod finish;
mod judge;
mod known;
mod memo;
mod pairing;
mod run;
mod scan;
mod settings;
mod tally;
mod typed;
mod worker;

pub use declarations::DeclarationTexts;
pub use finish::{Run, finish};
pub use judge::{Judged, Standing};
pub use run::{Job, Outcome, Progress, Source, SourceLines, run};
pub use settings::{Filters, Settings};
pub use typed::check_typed;
