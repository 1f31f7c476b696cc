//! Puts it together: chunks through rayon, ordered merge, grouping, summary.

mod adjust;
mod blocks;
mod conclude;
mod declarations;
mod durations;
mod finish;
mod judge;
mod known;
mod limit;
mod memo;
mod pairing;
mod processes;
mod reading;
mod role;
mod roster;
mod run;
mod scan;
mod settings;
mod sightings;
mod suppress;
mod tally;
mod totals;
mod typed;
mod usage;
mod worker;

pub use adjust::Adjustment;
pub use conclude::pruned;
pub use declarations::{DeclarationTexts, declared};
pub use finish::{Run, finish};
pub use judge::{Judged, Standing};
pub use limit::{Limit, Scope};
pub use role::DeclaredRole;
pub use run::{Job, Outcome, Progress, Source, SourceLines, follow, run};
pub use settings::{Filters, Settings, Suppressions, user_regex};
pub use suppress::Suppression;
pub use typed::check_typed;
