//! Where a series begins in a tree.

use std::path::PathBuf;

use anyhow::{Context, Result};
use history::{Base, Clues};
use series::{Assembled, preimages};

use super::mails;
use crate::cli::InTree;
use crate::find::in_context;
use crate::signals;

impl InTree {
    /// The base of a revision, or why there is none; nothing if nobody wants to know.
    pub(crate) fn base(&self, assembled: &Assembled<'_>) -> Result<Option<Result<Base, String>>> {
        let here = self.guess_base.then(|| PathBuf::from("."));
        let Some(tree) = self.tree.clone().or(here) else { return Ok(None) };
        let files = preimages(mails(assembled).map(|mail| mail.patch.as_slice()));
        let branches = if self.branch.is_empty() { vec!["HEAD".to_owned()] } else { self.branch.clone() };
        let clues = Clues {
            stated: assembled.facts.base_commit.as_deref(),
            files: &files,
            sent: mails(assembled).filter(|mail| mail.was_sent()).map(|mail| mail.sent).max().unwrap_or(0),
            branches: &branches,
            days: self.guess_days,
        };
        let interrupt = signals::interrupt_flag().context("signals")?;
        match in_context(&interrupt, |context| history::base(&tree, &clues, context)) {
            Ok(base) => Ok(Some(Ok(base))),
            Err(error @ (history::Error::BaseIsMissing { .. } | history::Error::NoBase { .. })) => {
                Ok(Some(Err(error.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }
}
