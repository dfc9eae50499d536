//! What can be said of what kiln keeps on the disk.

use clap::{Args, Subcommand};

/// `kiln store`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct StoreArgs {
    /// What to do [default: usage]
    #[command(subcommand)]
    pub(crate) verb: Option<StoreVerb>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with it.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// Show what each kind of results and caches takes
    Usage {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Read the evidence of failures again, check ledger.sqlite, and remove what is damaged
    Verify,
    /// Keep to the budgets now, and remove from the caches what nobody wrote to for a month
    Prune,
}
