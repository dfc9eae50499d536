//! Which page is written.

use std::path::PathBuf;
use std::str::FromStr;

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
  kiln report --publish /srv/www/kiln                        a site: sessions, problems, kernels, conclusions, and a feed
  kiln report --publish git:git@example.org:kiln.git@pages   the same as a commit of that branch

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
    #[arg(short, long, value_name = "FILE", required_unless_present = "publish", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    /// Write a site of all that is worth showing: to a folder, or as a commit of a branch
    #[arg(
        long,
        value_name = "DIR|git:REPO@BRANCH",
        conflicts_with_all = ["subject", "output"],
        help_heading = OUTPUT
    )]
    pub(crate) publish: Option<Target>,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
}

/// Where a site goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A folder.
    Folder(PathBuf),
    /// A branch of a repository.
    Branch { repository: String, branch: String },
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix("git:") else { return Ok(Self::Folder(text.into())) };
        // The address of a repository may have an @ of its own.
        match rest.rsplit_once('@') {
            Some((repository, branch)) if !repository.is_empty() && !branch.is_empty() => {
                Ok(Self::Branch { repository: repository.to_owned(), branch: branch.to_owned() })
            }
            _ => Err("a branch is named as git:REPOSITORY@BRANCH".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_may_have_an_at_of_its_own() {
        let branch = |repository: &str, branch: &str| Target::Branch {
            repository: repository.into(),
            branch: branch.into(),
        };
        for (text, expected) in [
            ("site", Target::Folder("site".into())),
            ("git:../pages@main", branch("../pages", "main")),
            ("git:git@example.org:kiln.git@pages", branch("git@example.org:kiln.git", "pages")),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for wrong in ["git:", "git:@", "git:repository", "git:@main", "git:repository@"] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
