//! A Run that was kept, and the request that made it, ready to be carried out again.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use judge::Run;
use kernel::Kernel;
use lab::event::Session;
use lab::plan::Item;
use lab::prepare::Again;
use lab::{Prepared, Request};
use ledger::Wanted;
use machine::Spec;

use crate::cli::Kept;
use crate::failure::WrongUsage;
use crate::find::preparing;
use crate::{old_sessions, signals};

/// A Run that was kept, and its session.
#[derive(Debug)]
pub(crate) struct Recalled {
    pub(crate) wanted: Wanted,
    /// What asks for this one case on the very same kernel.
    pub(crate) request: Request,
    pub(crate) again: Again,
    /// Where sessions are kept.
    pub(crate) root: PathBuf,
}

/// A single case with its machine.
#[derive(Debug)]
pub(crate) struct Alone {
    pub(crate) kernel: Kernel,
    pub(crate) spec: Spec,
    pub(crate) item: Item,
    pub(crate) session: Session,
}

/// Finds the Run and goes to the folder where its session began.
pub(crate) fn recall(kept: &Kept) -> Result<Recalled> {
    let root = kept.results.clone().unwrap_or_else(ledger::default_root);
    let root = std::path::absolute(&root).with_context(|| root.display().to_string())?;
    let wanted = ledger::find(&root, &kept.run).map_err(|error| WrongUsage(error.to_string()))?;
    let session = wanted.past.session()?;
    let name = wanted.past.name();
    let request = old_sessions::request(&session, &name)?;
    let directory = session.directory.clone();
    let again = Again::new(&wanted.run, name, session, request);
    let request = again.request()?;
    std::env::set_current_dir(&directory)
        .with_context(|| format!("the folder where the session began, {}", directory.display()))?;
    Ok(Recalled { wanted, request, again, root })
}

impl Recalled {
    /// What the case needs to run, once the kernel is known to be the same, and the session as it is now.
    pub(crate) fn prepare(&self) -> Result<Alone> {
        let interrupt = signals::interrupt_flag().context("signals")?;
        let Request::Run(request) = &self.request else {
            let text = "the tests of kiln kunit run while the kernel boots: none can run alone";
            bail!(WrongUsage(text.to_string()));
        };
        let prepared = preparing(&interrupt, |context| Prepared::again(request, &self.again, context))?;
        let session = prepared.session()?;
        let item = prepared.plans.first().and_then(|plan| plan.items.first()).cloned();
        let Some((item, spec)) = item.zip(prepared.specs.into_iter().next()) else {
            bail!("nothing was planned")
        };
        Ok(Alone { kernel: prepared.kernel, spec, item, session })
    }

    /// Whether the case is a program of the user.
    pub(crate) fn is_users(&self) -> bool {
        matches!(&self.request, Request::Run(request) if request.cases.program().is_some())
    }

    /// The Run as it was.
    pub(crate) fn before(&self) -> &Run {
        &self.wanted.run
    }
}
