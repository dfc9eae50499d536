//! Which patches are checked, and on which commit.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use attestation::Policy;
use check::PatchesRequest;
use ledger::Figures;
use report::series::{Findings, base_words};
use series::{Assembled, Reply};

use crate::cli::{Check, HowToCheck, InTree, Source};
use crate::failure::WrongUsage;
use crate::series::{heed, mails, written};

/// The file with the patches of a series.
const PATCHES: &str = "patches.mbx";

/// What stands between the ends of a range.
const DOTS: &str = "..";

/// What was found.
pub(super) struct Found {
    pub(super) patches: Patches,
    /// To whom an answer goes, if the patches were sent.
    pub(super) reply: Option<Reply>,
    /// What names the patches on other hosts.
    pub(super) name: String,
    /// Why this is the base, and what it must have.
    pub(super) notes: Vec<String>,
}

/// Patches that are not kept yet.
pub(super) enum Patches {
    /// An mbox, and the commit that it applies to.
    Series { mbox: Vec<u8>, revision: String },
    /// Commits of the tree.
    Commits { first: String, last: String },
}

impl Patches {
    /// Keeps the mbox of a series beside the results; gives what is asked.
    pub(super) fn keep(self, kept: &Figures, tree: &Path) -> Result<PatchesRequest> {
        let tree = tree.to_owned();
        Ok(match self {
            Self::Commits { first, last } => PatchesRequest::Commits { tree, first, last },
            Self::Series { mbox, revision } => {
                let mail = std::path::absolute(kept.path(PATCHES)).context("--results")?;
                std::fs::write(&mail, mbox).with_context(|| mail.display().to_string())?;
                PatchesRequest::Series { mail, tree, revision }
            }
        })
    }
}

/// Finds the patches that were named.
pub(super) fn find(args: &Check) -> Result<Found> {
    let patches = args.patches.as_deref().unwrap_or_default();
    if let Some((first, last)) = range(patches)? {
        return Ok(Found::commits(patches, first, last));
    }
    let source = Source {
        source: Some(patches.to_owned()),
        mailbox: args.mailbox.clone(),
        no_cache: args.no_cache,
        revision: args.revision,
        ..Source::default()
    };
    let threads = source.threads()?;
    let all = series::series(&threads);
    let assembled = source.whole(&threads, &all)?;
    vouched(args, &source, &assembled)
}

/// The patches of a whole revision, unless nobody vouches for them and the user wants that.
pub(super) fn vouched(args: &Check, source: &Source, assembled: &Assembled<'_>) -> Result<Found> {
    let policy = args.require_attestation.then_some(Policy::HardFail);
    let (policy, attested) = args.signatures.of(source, policy, mails(assembled))?;
    attested.as_ref().map_or(Ok(()), |attested| heed(policy, attested, assembled))?;
    Found::series(&args.how, assembled)
}

impl Found {
    /// Commits of the tree.
    pub(super) fn commits(name: &str, first: String, last: String) -> Self {
        let patches = Patches::Commits { first, last };
        Self { patches, reply: None, name: name.to_owned(), notes: Vec::new() }
    }

    /// The patches of a revision.
    pub(super) fn series(how: &HowToCheck, assembled: &Assembled<'_>) -> Result<Self> {
        let (revision, notes) = how.base(assembled)?;
        let head = assembled.head().filter(|head| head.was_sent());
        Ok(Self {
            patches: Patches::Series { mbox: written(assembled)?, revision },
            reply: head.map(Reply::to),
            name: head.map_or_else(|| PATCHES.to_owned(), |head| head.id.clone()),
            notes,
        })
    }
}

impl HowToCheck {
    /// The commit that a series applies to, with why it is this one and what the series says that it must have.
    fn base(&self, assembled: &Assembled<'_>) -> Result<(String, Vec<String>)> {
        if let Some(base) = &self.base {
            return Ok((base.clone(), Vec::new()));
        }
        let in_tree = InTree {
            tree: Some(self.tree.clone()),
            guess_base: false,
            branch: self.branch.clone(),
            guess_days: self.guess_days,
        };
        let findings = Findings { attested: None, base: in_tree.base(assembled)? };
        let words = format!("base {}", base_words(assembled, &findings));
        match findings.base {
            Some(Ok(base)) => {
                let needs = needed(assembled.facts.prerequisites.len());
                Ok((base.commit, [words].into_iter().chain(needs).collect()))
            }
            _ => Err(WrongUsage(format!("{words}: name it with --base")).into()),
        }
    }
}

/// What a series says of patches that must be there before it.
fn needed(count: usize) -> Option<String> {
    let patches = match count {
        0 => return None,
        1 => "1 patch".to_owned(),
        _ => format!("{count} patches"),
    };
    Some(format!(
        "the series needs {patches} before it: if the base lacks them, name a commit that has them with --base"
    ))
}

/// The ends of a range of commits, if that is what a text names: `HEAD~3..` ends at HEAD.
fn range(text: &str) -> Result<Option<(String, String)>> {
    // `@` alone is git's HEAD.
    let names_host = |(at, _)| at > 0 && text[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_message = text.match_indices('@').any(names_host);
    let is_elsewhere = is_message || text.contains("://") || PathBuf::from(text).exists();
    let Some((first, last)) = text.split_once(DOTS).filter(|_| !is_elsewhere) else { return Ok(None) };
    if last.starts_with('.') || last.contains(DOTS) {
        return Err(WrongUsage(format!("{text}: is no range: write FIRST..LAST")).into());
    }
    let or_head = |text: &str| if text.is_empty() { "HEAD".to_owned() } else { text.to_owned() };
    Ok(Some((or_head(first), or_head(last))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_from_mails() {
        let ends = |first: &str, last: &str| Some((first.to_owned(), last.to_owned()));
        for (text, expected) in [
            ("HEAD~3..", ends("HEAD~3", "HEAD")),
            ("v6.12..topic", ends("v6.12", "topic")),
            ("..topic", ends("HEAD", "topic")),
            ("HEAD@{1}..", ends("HEAD@{1}", "HEAD")),
            ("@~2..", ends("@~2", "HEAD")),
            ("@~1..@", ends("@~1", "@")),
            ("20250101..x@example.org", None),
            ("https://lore.kernel.org/r/a..b", None),
            ("../", None),
            ("thread.mbx", None),
        ] {
            assert_eq!(range(text).unwrap(), expected, "{text}");
        }
        for text in ["a...b", "a..b..c"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
