//! What can be said of patch series.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use series::Pick;

use super::OUTPUT;

/// `kiln series`.
#[derive(Debug, Args)]
pub(crate) struct Series {
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: SeriesVerb,
}

/// What to do with a series.
#[derive(Debug, Subcommand)]
pub(crate) enum SeriesVerb {
    /// Show what was understood of a series: revisions, patches, trailers, base
    Show(Show),
    /// Show what changed from one revision of a series to another
    Diff(Diff),
    /// Write the patches of a series as an mbox for `git am`, with the trailers that they got
    Am(Am),
}

/// Which mails, and which series of them.
#[derive(Debug, Default, Args)]
pub(crate) struct Source {
    /// An mbox, a maildir, a folder of patches, an archive of public-inbox in git, or - for standard input; or the message
    /// id of a mail of the series, or a link to it, which is fetched as git's b4.midmask says
    #[arg(value_name = "MAILBOX|MESSAGE-ID", required_unless_present = "mailbox")]
    pub(crate) source: Option<String>,
    /// Look for the message id here, and fetch nothing
    #[arg(long, short, value_name = "MAILBOX")]
    pub(crate) mailbox: Option<PathBuf>,
    /// Fetch mails again that were fetched some minutes ago
    #[arg(long, short = 'C')]
    pub(crate) no_cache: bool,
    /// Take this revision instead of the latest: 2, or v2
    #[arg(long, short = 'v', value_name = "REVISION", value_parser = revision)]
    pub(crate) revision: Option<u32>,
    /// Take trailers also from mails of other people than they name
    #[arg(long, short = 'S')]
    pub(crate) sloppy_trailers: bool,
    /// Give all patches the trailers that the cover letter got
    #[arg(long, short = 't')]
    pub(crate) apply_cover_trailers: bool,
    /// Do not complete a revision of which only some patches were sent with those of the revision before
    #[arg(long)]
    pub(crate) no_partial_reroll: bool,
}

/// Who is asked about signatures.
#[derive(Debug, Default, Args)]
pub(crate) struct Signatures {
    /// A zone file with keys of domains for DKIM, as opendkim-genkey writes them
    #[arg(long, value_name = "FILE")]
    pub(crate) domain_keys: Option<PathBuf>,
    /// Ask DNS for keys of DKIM also about mails that are on this host
    #[arg(long)]
    pub(crate) dns: bool,
}

/// Where the base of a series is looked for.
#[derive(Debug, Args)]
pub(crate) struct InTree {
    /// Find the base of the series in this tree
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) tree: Option<PathBuf>,
    /// Find it in the tree around this directory
    #[arg(long, short, conflicts_with = "tree")]
    pub(crate) guess_base: bool,
    /// A branch that may have the base; may be repeated [default: HEAD]
    #[arg(long, short, value_name = "BRANCH")]
    pub(crate) branch: Vec<String>,
    /// How many days before the series commits are tried
    #[arg(long, value_name = "DAYS", default_value_t = history::DAYS)]
    pub(crate) guess_days: u32,
}

/// `kiln series show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) signatures: Signatures,
    #[command(flatten)]
    pub(crate) in_tree: InTree,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// `kiln series diff`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A mailbox, or the message id of a mail of the series, as for show
    #[arg(value_name = "MAILBOX|MESSAGE-ID")]
    pub(crate) source: String,
    /// The older revision: 1, or v1 [default: the one before the newer]
    #[arg(value_name = "OLDER", value_parser = revision)]
    pub(crate) older: Option<u32>,
    /// The newer revision [default: the latest]
    #[arg(value_name = "NEWER", value_parser = revision, requires = "older")]
    pub(crate) newer: Option<u32>,
    /// Look for the message id here, and fetch nothing
    #[arg(long, short, value_name = "MAILBOX")]
    pub(crate) mailbox: Option<PathBuf>,
    /// Fetch mails again that were fetched some minutes ago
    #[arg(long, short = 'C')]
    pub(crate) no_cache: bool,
}

/// `kiln series am`.
#[derive(Debug, Args)]
pub(crate) struct Am {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) signatures: Signatures,
    #[command(flatten)]
    pub(crate) in_tree: InTree,
    /// Refuse patches whose sender is not proved, as b4.attestation-policy = hardfail does
    #[arg(long)]
    pub(crate) require_attestation: bool,
    /// Take only these patches: 1,3,5-7,9- or -1 for the last, or '*mm*' for subjects
    #[arg(long, short = 'P', visible_alias = "cherry-pick", value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) cherry: Option<Pick>,
    /// Write also an incomplete series
    #[arg(long)]
    pub(crate) allow_partial: bool,
    /// Add none of the trailers that others gave
    #[arg(long, short = 'T')]
    pub(crate) no_add_trailers: bool,
    /// Add a Link: to the mail of each patch, as git's b4.linkmask has it
    #[arg(long, short = 'l')]
    pub(crate) add_link: bool,
    /// Add your Signed-off-by:, from git's user.name and user.email
    #[arg(long, short = 's')]
    pub(crate) add_my_sob: bool,
    /// Accept characters that hide or reorder text
    #[arg(long)]
    pub(crate) allow_unicode_control_chars: bool,
    /// Do not write the cover letter beside the mbox
    #[arg(long)]
    pub(crate) no_cover: bool,
    /// The mbox, a folder for it, or - for standard output [default: a name made of revision, date and author]
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
}

pub(super) fn revision(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    digits.parse().map_err(|_| format!("{text}: give a number, such as 2 or v2"))
}
