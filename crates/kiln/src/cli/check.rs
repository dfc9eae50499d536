//! What can be said about a check of patches.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use check::request::{Analysers, NONE};
use clap::Args;
use kbuild::analysis::Tool;

use super::series::revision;
use super::{BuildOptions, Choice, MachineOptions, OUTPUT, RootOptions, Signatures};
use crate::units;

/// Where the help lists what is known of the patches.
const PATCHES: &str = "Patches";

/// `kiln check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The patches: an mbox, a maildir, a folder of patches, an archive of public-inbox in git, or -; the message id of a
    /// mail of the series, or a link to it; or commits of the tree, such as HEAD~3.. or v6.12..topic
    #[arg(value_name = "MAILBOX|MESSAGE-ID|RANGE", required_unless_present = "watch")]
    pub(crate) patches: Option<String>,
    /// Check every series that arrives in this maildir, mbox or folder from now on, until kiln is stopped
    #[arg(long, value_name = "MAILBOX", conflicts_with_all = ["patches", "mailbox", "revision", "mail", "html", "json"], help_heading = PATCHES)]
    pub(crate) watch: Option<PathBuf>,
    /// Look for the message id here, and fetch nothing
    #[arg(long, short, value_name = "MAILBOX", help_heading = PATCHES)]
    pub(crate) mailbox: Option<PathBuf>,
    /// Fetch mails again that were fetched some minutes ago
    #[arg(long, short = 'C', help_heading = PATCHES)]
    pub(crate) no_cache: bool,
    /// Take this revision instead of the latest: 2, or v2
    #[arg(long, short = 'v', value_name = "REVISION", value_parser = revision, help_heading = PATCHES)]
    pub(crate) revision: Option<u32>,
    #[command(flatten)]
    pub(crate) signatures: Signatures,
    /// Refuse patches whose sender is not proved, as b4.attestation-policy = hardfail does
    #[arg(long, help_heading = PATCHES)]
    pub(crate) require_attestation: bool,
    #[command(flatten)]
    pub(crate) how: HowToCheck,
    /// Print the check as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Also write the report to this file, for a browser
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
    /// Also write the answer to the series to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) mail: Option<PathBuf>,
    /// Send the answer to the series
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) send: bool,
}

/// `kiln findings`.
#[derive(Debug, Args)]
pub(crate) struct Findings {
    /// The tree: a checkout or a bare repository
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub(crate) tree: PathBuf,
    /// Where the results of the checks are [default: $XDG_STATE_HOME/kiln/checks]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kiln b4-check`.
#[derive(Debug, Args)]
pub(crate) struct B4Check {
    /// Only build up to the patch on standard input, and say what came of it
    #[arg(long)]
    pub(crate) patch: bool,
    #[command(flatten)]
    pub(crate) how: HowToCheck,
}

/// Reads names with commas between them.
fn analysers(text: &str) -> Result<Analysers, String> {
    if text == NONE {
        return Ok(Analysers::default());
    }
    let named = |name: &str| {
        let tool = Tool::ALL.into_iter().find(|tool| tool.name() == name);
        tool.ok_or_else(|| {
            format!("{name:?} is no analyser of {}, {NONE}", Tool::ALL.map(Tool::name).join(", "))
        })
    };
    let mut tools = text.split(',').map(named).collect::<Result<Vec<Tool>, String>>()?;
    tools.sort();
    tools.dedup();
    Ok(Analysers::Named(tools))
}

/// A path that can stand in JSON; of any other clap says that it is no UTF-8.
fn path(text: &str) -> Result<PathBuf, Infallible> {
    Ok(text.into())
}

/// On which commit patches are checked, and what is asked of them.
#[derive(Debug, Args)]
pub(crate) struct HowToCheck {
    /// The tree: a checkout or a bare repository, which stays as it is
    #[arg(long, value_name = "DIRECTORY", default_value = ".", value_parser = path)]
    pub(crate) tree: PathBuf,
    /// The commit that the patches apply to [default: what the series says, else the newest to which it fits]
    #[arg(long, value_name = "REVISION", help_heading = PATCHES)]
    pub(crate) base: Option<String>,
    /// A branch that may have the base; may be repeated [default: HEAD]
    #[arg(long, short, value_name = "BRANCH", conflicts_with = "base", help_heading = PATCHES)]
    pub(crate) branch: Vec<String>,
    /// How many days before the series commits are tried
    #[arg(long, value_name = "DAYS", default_value_t = history::DAYS, help_heading = PATCHES)]
    pub(crate) guess_days: u32,
    /// Static analysers to ask about the files that the patches touch: sparse, gcc, clang, cppcheck, coccinelle, kernel-doc,
    /// checkpatch, or none [default: all that are installed; none with --build-only]
    #[arg(long, value_name = "ANALYSER,...", value_parser = analysers)]
    pub(crate) analyse: Option<Analysers>,
    /// Only build the patches
    #[arg(long, conflicts_with_all = ["suite", "kselftest", "case", "exec", "measure"])]
    pub(crate) build_only: bool,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Run this program of the host as the only case; arguments for it come after --
    #[arg(long, value_name = "PATH", conflicts_with_all = ["suite", "kselftest", "case"])]
    pub(crate) exec: Option<PathBuf>,
    /// Arguments for the program
    #[arg(last = true, requires = "exec", conflicts_with_all = ["suite", "kselftest", "case"], value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// Compare what these operations cost, to the instruction, such as 'fs/*', or none; may be given more than once [default: all,
    /// unless a program runs]
    #[arg(long, value_name = "GLOB")]
    pub(crate) measure: Vec<String>,
    /// The part by which an operation must cost more to be worse
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = units::percent)]
    pub(crate) worse_by: f64,
    /// Time limit of every case instead of its own, such as 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) case_timeout: Option<Duration>,
    /// Build each patch with these configurations as well, and run nothing on them; may be given more than once
    #[arg(long, value_name = "LIST")]
    pub(crate) also_config: Vec<String>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) root: RootOptions,
    /// Where to make the folder with the results [default: $XDG_STATE_HOME/kiln/checks]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
}
