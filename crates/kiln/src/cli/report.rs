//! Which page is written.

use std::path::PathBuf;

use clap::Args;

use super::OUTPUT;
use crate::units;

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln report -o report.html                                 the newest session in which something failed
  kiln report 2026-11-20T10-07-31Z-4711 -o report.html       that session; SESSION/CASE is one Run of it
  kiln report ./4f1c9a0e6b7d2c35 -o report.html              a bisection, comparison or check by its folder
  kiln report weekly.star -o matrix.html                     the matrix of a plan, of what is known

The page needs no network and no script to be read; with JavaScript its tables sort and can be searched. Exit codes: 0 written, 2 there is no such \
thing, 3 broken.";

/// `kiln report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A session or a Run as for kiln show, a comparison, bisection or check by the name of its folder or the beginning of that, a
    /// folder, or the plan of a matrix
    #[arg(default_value = "last")]
    pub(crate) subject: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
}
