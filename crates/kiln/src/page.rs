//! `kiln report`: one file for a browser.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use judge::Run;
use ledger::{PAGE, Past, PastError, Wanted, bisections_root, checks_root, figures_root, folder_named};

use crate::cli::Report;
use crate::failure::{WrongUsage, complain};
use crate::matrix::{is_plan, of_known};
use crate::publish::publish_site;
use crate::report_file::{check, write};
use crate::results::opened;
use crate::shell_words::this_call;

/// What a page is about.
enum Subject {
    /// A session, or one Run of it.
    Session(Past, Option<Box<Run>>),
    /// What has its page already.
    Kept(PathBuf),
    /// The plan of a matrix.
    Plan(PathBuf),
}

/// Writes a page and gives the exit code.
pub(crate) fn report(args: &Report) -> Result<u8> {
    if let Some(target) = &args.publish {
        return publish_site(args, target);
    }
    check([("--output", &args.output)])?;
    let Some(output) = &args.output else {
        return Err(WrongUsage("name a file with --output".to_owned()).into());
    };
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    match find(&root, &args.subject)? {
        Subject::Session(past, run) => {
            let name = ledger::short_name(past.directory());
            let page = report::session::kept(&past, run.as_deref(), &name)?;
            write(output, |out| out.write_all(page.into_file().as_bytes()))?;
        }
        Subject::Kept(page) => {
            let mut kept = File::open(&page).with_context(|| page.display().to_string())?;
            write(output, |out| std::io::copy(&mut kept, out).map(drop))?;
        }
        Subject::Plan(plan) => {
            let mut ledger = opened(&root)?;
            let grids = of_known(&plan, &mut ledger)?;
            ledger.notes.iter().for_each(|note| complain(note));
            write(output, |out| report::matrix::html(&grids, &this_call(), out))?;
        }
    }
    Ok(0)
}

/// What the user named.
fn find(root: &Path, name: &str) -> Result<Subject> {
    if is_plan(name) {
        return Ok(Subject::Plan(name.into()));
    }
    let page = Path::new(name).join(PAGE);
    if page.is_file() {
        return Ok(Subject::Kept(page));
    }
    if let Ok(past) = ledger::session(root, name) {
        return Ok(Subject::Session(past, None));
    }
    let kept = [figures_root(), bisections_root(), checks_root()];
    let kept = kept.iter().find_map(|root| folder_named(root, name, ("report", PAGE)).ok());
    if let Some(folder) = kept {
        return Ok(Subject::Kept(folder.join(PAGE)));
    }
    match ledger::find(root, name) {
        Ok(Wanted { past, run }) => Ok(Subject::Session(past, Some(Box::new(run)))),
        Err(error @ PastError::Document { .. }) => Err(error.into()),
        Err(PastError::Wanted(why)) => {
            Err(WrongUsage(format!("{why}; no comparison, bisection or check has this name either")).into())
        }
    }
}
