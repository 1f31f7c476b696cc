//! placeholder
use clap::Args;
/// The arguments of `route`.
#[derive(Debug, Args)]
pub struct RouteArgs {}
/// Route.
pub fn route(_: &RouteArgs) -> anyhow::Result<u8> {
    Ok(0)
}
