//! Which report is written, and where it goes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

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
  kiln report last -o /tmp/report.md --wrap 72               as Markdown, with lines for a mail
  kiln report last --post https://blog.example.org           as a draft on a server of WriteFreely
  kiln report last --post https://blog.example.org/kernels --token-file ~/.token --public
                                                             for all readers of that blog

The page needs no network and no script to be read; with JavaScript its tables sort and can be searched. The same subject is posted once: \
another call updates the post. What cannot be sent waits, and is sent by the next --post or by kiln mail send: docs/publishing.md. \
Exit codes: 0 written, 2 there is no such thing, 3 broken, or not posted yet.";

/// `kiln report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A session or a Run as for kiln show, a comparison, bisection or check by the name of its folder or the beginning of that, a
    /// folder, or the plan of a matrix
    #[arg(default_value = "last")]
    pub(crate) subject: String,
    /// The file to write [default with --format: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, required_unless_present_any = ["format", "post", "publish"])]
    pub(crate) output: Option<PathBuf>,
    /// What to write [default: markdown for a file that ends in .md, and html]
    #[arg(long, value_enum, help_heading = OUTPUT)]
    pub(crate) format: Option<ReportFormat>,
    /// How to break lines of Markdown
    #[arg(long, value_enum, value_name = "COLUMNS", help_heading = OUTPUT)]
    pub(crate) wrap: Option<WrapAt>,
    /// Write a site of all that is worth showing: to a folder, or as a commit of a branch
    #[arg(
        long,
        value_name = "DIR|git:REPO@BRANCH",
        conflicts_with_all = ["subject", "output", "format", "wrap", "post"],
        help_heading = OUTPUT
    )]
    pub(crate) publish: Option<Target>,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) posting: Posting,
}

/// Where a report is posted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Posting")]
pub(crate) struct Posting {
    /// Post it as a draft to a server of WriteFreely: https://HOST or https://HOST/BLOG
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) post: Option<String>,
    /// Move the post to the blog, where everybody can read it
    #[arg(long, requires = "post")]
    pub(crate) public: bool,
    /// A file whose first line is the token of the account whose post it is [default: a post of nobody's, where the server takes those]
    #[arg(long, value_name = "FILE", requires = "post")]
    pub(crate) token_file: Option<PathBuf>,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One file for a browser
    Html,
    /// For blogs, forges and mails
    Markdown,
}

/// How lines of Markdown are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WrapAt {
    /// A line for each paragraph, for platforms that keep the breaks between lines
    None,
    /// At 72 columns, as in mails
    #[value(name = "72")]
    Mail,
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
