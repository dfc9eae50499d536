//! What can be said of watching.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{OUTPUT, OnEach};
use crate::units;

/// Where kiln tells what changed.
const TELLING: &str = "Telling";

/// `kiln watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchVerb {
    /// Where kernels come from: apt:linux-image, a pattern such as 'deb:6.1.*', or git:TREE@BRANCH
    #[arg(value_name = "SOURCE", required = true)]
    pub(crate) sources: Vec<String>,
    /// How often to look: 30s, 10m, 1h
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = units::duration)]
    pub(crate) every: Duration,
    /// Look once, test what is new, and end
    #[arg(long)]
    pub(crate) once: bool,
    /// Test what this plan says, whatever kernels it names
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) each: OnEach,
    /// Mail the report to this address, as git's sendemail configuration has it; may be given more than once
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = TELLING)]
    pub(crate) mail: Vec<String>,
    /// Run this line of shell with the report on standard input
    #[arg(long, value_name = "COMMAND", help_heading = TELLING)]
    pub(crate) run: Option<String>,
    /// Send the report to this server as JSON
    #[arg(long, value_name = "URL", value_parser = server, help_heading = TELLING)]
    pub(crate) webhook: Option<String>,
    /// Also tell that nothing changed
    #[arg(long, help_heading = TELLING)]
    pub(crate) always: bool,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
}

fn address(text: &str) -> Result<String, String> {
    if outbox::message::is_address(text) {
        Ok(text.to_owned())
    } else {
        Err("write an address such as me@example.org".to_owned())
    }
}

fn server(text: &str) -> Result<String, String> {
    if outbox::hook::is_server(text) {
        Ok(text.to_owned())
    } else {
        Err("write https://HOST/PATH".to_owned())
    }
}
