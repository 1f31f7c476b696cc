//! Which filter the router targets an aggregate with: the pipeline is optimised as the router does it, and the filter of
//! the first stage counts.
//!
//! `stage` and `projection` say what each stage does to the paths of a document, `changes` what that means for a later
//! `$match`, `split` takes a `$match` apart, `optimise` moves the parts forward, `leading` gives the result. `foreign` is
//! about the collections that `$lookup`, `$graphLookup` and `$unionWith` read. Bounds are left to the rest of `routing`.

mod changes;
mod foreign;
mod leading;
mod optimise;
mod projection;
mod split;
mod stage;
#[cfg(test)]
mod tests;

pub(super) use foreign::foreign_filters;
pub(super) use leading::{LeadingFilter, Obstacle, leading_filter};
