//! A Run that was kept, and the command that made it, ready to be given again.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Parser;
use judge::Run;
use kernel::Kernel;
use lab::Plan;
use lab::event::Session;
use lab::plan::Item;
use ledger::Wanted;
use machine::{Accel, Engine, Spec};

use crate::cli::{self, AccelName, BuildOptions, Cli, Course, Format, Kept, MachineOptions, Verb};
use crate::failure::WrongUsage;
use crate::prepare::Prepared;
use crate::{session, signals};

/// The Run of a machine that did not come up, or came up badly.
const BOOT: &str = "boot";

/// A Run that was kept, and its session.
#[derive(Debug)]
pub(crate) struct Recalled {
    pub(crate) wanted: Wanted,
    /// The command, for this one case on the very same kernel.
    pub(crate) said: Said,
    /// Where sessions are kept.
    pub(crate) root: PathBuf,
}

/// The commands that make Runs.
#[derive(Debug)]
pub(crate) enum Said {
    Run(Box<cli::Run>),
    Kunit(Box<cli::Kunit>),
}

/// A single case with its machine.
#[derive(Debug)]
pub(crate) struct Alone {
    pub(crate) kernel: Kernel,
    pub(crate) spec: Spec,
    pub(crate) item: Item,
    pub(crate) session: Session,
}

/// What a command that is given again keeps to.
#[derive(Debug, Clone)]
pub(crate) struct Again {
    case: String,
    seed: u64,
    name: String,
    session: Session,
}

/// Finds the Run and goes to the folder where its command was given.
pub(crate) fn recall(kept: &Kept) -> Result<Recalled> {
    let root = kept.results.clone().unwrap_or_else(ledger::default_root);
    let root = std::path::absolute(&root).with_context(|| root.display().to_string())?;
    let wanted = ledger::find(&root, &kept.run).map_err(|error| WrongUsage(error.to_string()))?;
    let session = wanted.past.session()?;
    let again = Again {
        case: wanted.run.case.clone(),
        seed: wanted.run.seed,
        name: wanted.past.name(),
        session: session.clone(),
    };
    let said = command(again, &root)?;
    std::env::set_current_dir(&session.directory)
        .with_context(|| format!("the folder where the session began, {}", session.directory.display()))?;
    Ok(Recalled { wanted, said, root })
}

/// Reads the command as it was given, and puts the exact kernel and the case in place.
fn command(again: Again, root: &std::path::Path) -> Result<Said> {
    let words = &again.session.command;
    let foreign = || {
        let text =
            if words.is_empty() { "does not say how it was called" } else { "was called in another way" };
        WrongUsage(format!("session {} is of another version of kiln: it {text}", again.name))
    };
    let name = std::iter::once("kiln").chain(words.iter().map(String::as_str));
    let verb = Cli::try_parse_from(name).map_err(|_| foreign())?.verb;
    let kernel = again.session.kernel.parse()?;
    let results = Some(root.to_owned());
    Ok(match verb {
        Verb::Run(mut said) => {
            (said.kernel, said.results, said.format) = (kernel, results, Format::Human);
            said.build.forget();
            said.course.once();
            said.machine.keep_accel(&again.session);
            if again.case != BOOT && said.exec.is_none() {
                said.choice.case = vec![again.case.clone()];
            }
            said.again = Some(again);
            Said::Run(said)
        }
        // Its tests run in one boot, so all of them run again.
        Verb::Kunit(mut said) => {
            (said.kernel, said.results, said.format) = (kernel, results, Format::Human);
            said.build.forget();
            said.machine.keep_accel(&again.session);
            said.again = Some(again);
            Said::Kunit(Box::new(said))
        }
        _ => bail!(foreign()),
    })
}

impl BuildOptions {
    /// What was built is kept and named by its identity.
    fn forget(&mut self) {
        self.config.clear();
        self.make.clear();
    }
}

impl Course {
    /// One Run is made again, once.
    fn once(&mut self) {
        (self.repeat, self.until_fail, self.no_retry) = (None, false, true);
        (self.resume, self.golden) = (false, None);
    }
}

impl MachineOptions {
    /// What `auto` meant then it shall mean now.
    fn keep_accel(&mut self, session: &Session) {
        for (accel, name) in [(Accel::Tcg, AccelName::Tcg), (Accel::Kvm, AccelName::Kvm)] {
            if session.machine.starts_with(&Engine::Qemu(accel).to_string()) {
                self.accel = name;
            }
        }
    }
}

impl Again {
    /// Leaves in `plan` the case alone; for a boot, the first that needs one.
    pub(crate) fn narrow(&self, plan: &mut Plan) -> Result<()> {
        let named = plan.items.iter().find(|item| item.name == self.case);
        let first = || plan.items.iter().find(|item| self.case == BOOT && item.skip.is_none());
        let Some(item) = named.or_else(first).cloned() else {
            bail!(WrongUsage(format!("{}: there is no such case any more", self.case)));
        };
        plan.items = vec![item];
        Ok(())
    }

    /// The session that begins now, if it is about the same kernel; it can itself be given again.
    pub(crate) fn keep_to(&self, now: Session) -> Result<Session> {
        let before = &self.session;
        if now.identity != before.identity {
            let short = |identity: &str| identity.chars().take(12).collect::<String>();
            bail!(WrongUsage(format!(
                "{} is not the kernel of session {} any more: its identity with parameters is {}, it was {}; \
                 `kiln run` takes it as it is",
                now.kernel,
                self.name,
                short(&now.identity),
                short(&before.identity)
            )));
        }
        Ok(Session { command: before.command.clone(), directory: before.directory.clone(), ..now })
    }

    /// What the case drew its random numbers from.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// What is not as it was, in one line.
    pub(crate) fn note(&self, now: &Session) -> Option<String> {
        let before = &self.session.machine;
        (now.machine != *before)
            .then(|| format!("the machine was another in session {}: {before}", self.name))
    }
}

impl Recalled {
    /// What the case needs to run, once the kernel is known to be the same, and the session as it is now.
    pub(crate) fn prepare(&self) -> Result<Alone> {
        let interrupt = signals::interrupt_flag().context("signals")?;
        let Said::Run(said) = &self.said else {
            let text = "the tests of kiln kunit run while the kernel boots: there is none that runs alone";
            bail!(WrongUsage(text.to_string()));
        };
        let prepared = Prepared::new(said, &said.kernel, &interrupt)?;
        let Prepared { kernel, specs, .. } = &prepared;
        let now = session::begin(&said.kernel, kernel, specs, prepared.suite(), Vec::new());
        let session = session::again(now, said.again.as_ref())?;
        let item = prepared.plans.first().and_then(|plan| plan.items.first()).cloned();
        let Some((item, spec)) = item.zip(prepared.specs.into_iter().next()) else {
            bail!("nothing was planned")
        };
        Ok(Alone { kernel: prepared.kernel, spec, item, session })
    }

    /// Whether the case is a program of the user.
    pub(crate) fn is_users(&self) -> bool {
        matches!(&self.said, Said::Run(said) if said.exec.is_some())
    }

    /// The Run as it was.
    pub(crate) fn before(&self) -> &Run {
        &self.wanted.run
    }
}
