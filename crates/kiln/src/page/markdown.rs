//! What each subject has as Markdown.

use std::path::Path;

use anyhow::Result;
use bisect::Bisection;
use check::SeriesCheck;
use ledger::{CHECK, COMPARISON, Figures};
use report::markdown::{Document, Wrap};
use verdict::Comparison;

use super::Subject;
use crate::failure::{WrongUsage, complain};
use crate::matrix::of_known;
use crate::results::opened;
use crate::shell_words::this_call;

impl Subject {
    /// The report as Markdown.
    pub(super) fn markdown(&self, root: &Path, wrap: Wrap) -> Result<Document> {
        match self {
            Self::Session(past, run) => {
                let name = ledger::short_name(past.directory());
                Ok(report::session::markdown(past, run.as_deref(), &name, wrap)?)
            }
            Self::Kept(folder) => kept(folder, wrap),
            Self::Plan(plan) => {
                let mut ledger = opened(root)?;
                let grids = of_known(plan, &mut ledger)?;
                ledger.notes.iter().for_each(|note| complain(note));
                Ok(report::matrix::markdown(&grids, &this_call(), wrap)?)
            }
        }
    }
}

/// What a bisection concluded.
const BISECTION: &str = "bisection";

/// What a comparison, bisection or check concluded.
fn kept(folder: &Path, wrap: Wrap) -> Result<Document> {
    let kept = Figures::at(folder.to_owned());
    let has = |name: &str| folder.join(name).with_extension("json").is_file();
    match () {
        () if has(COMPARISON) => {
            Ok(report::comparison::markdown(&kept.read::<Comparison>(COMPARISON)?, wrap)?)
        }
        () if has(BISECTION) => Ok(report::bisection::markdown(&kept.read::<Bisection>(BISECTION)?, wrap)?),
        () if has(CHECK) => Ok(report::check::markdown(&kept.read::<SeriesCheck>(CHECK)?, wrap)?),
        () => {
            let text =
                format!("{}: it has only its page: kiln report -o report.html copies it", folder.display());
            Err(WrongUsage(text).into())
        }
    }
}
