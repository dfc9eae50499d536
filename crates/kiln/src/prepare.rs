//! From what was said to what a run is made of: a kernel, cases, and machines for them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use kernel::{Kernel, Locator, Store};
use lab::event::Session;
use lab::source::HostedSource;
use lab::suites::kselftest;
use lab::{Part, Plan, Suite, UserProgram};
use machine::{Accel, Engine, Spec, kvm};

use crate::choice::Chosen;
use crate::cli::{AccelName, Run};
use crate::find::{find, source_tree};

/// Of a kernel without its configuration nobody can say before the boot what it was built without.
const NO_CONFIGURATION: &str = "the configuration of this kernel is not known, so what it was built without may show as \
                                a failure: name its tree, or put config-RELEASE beside vmlinuz-RELEASE";

/// Why there are no dumps although they were asked for.
const NO_DUMP: &str = "--dump needs QEMU: there are no memory dumps of User-Mode Linux";

impl Run {
    /// The user's own program, which is at `path`.
    fn program<'a>(&'a self, path: &'a Path) -> UserProgram<'a> {
        UserProgram { path, arguments: &self.arguments, needs: &self.need }
    }

    /// Whether what runs may need something of which only a configuration tells.
    fn has_needs(&self) -> bool {
        self.exec.is_none() || !self.need.is_empty()
    }
}

/// What a run is made of.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) kernel: Kernel,
    pub(crate) engine: Engine,
    /// The cases, in one plan for each shape of machine.
    pub(crate) plans: Vec<Plan>,
    /// The machines for these plans.
    pub(crate) specs: Vec<Spec>,
}

impl Prepared {
    /// Finds the kernel that `locator` names and plans what runs on it, and in which machines.
    pub(crate) fn new(said: &Run, locator: &Locator, interrupt: &AtomicBool) -> Result<Self> {
        // A wrong name is told before anything is fetched.
        let chosen = said.choice.check()?;
        let kernel = find(locator, &said.build, interrupt)?;
        let source = match &chosen {
            Chosen::Group(_) => source_tree(locator, &said.build, interrupt)?,
            Chosen::Suite(_) | Chosen::Selftests(_) => None,
        };
        let root = source.as_ref().map(|source| source.path.clone()).or_else(|| kselftest::tree_of(&kernel));
        let suite = said.choice.suite(chosen, root, interrupt)?;
        // Others may want the tree.
        drop(source);
        let engine = said.machine.engine(&kernel)?;
        let fixed = said.machine.fixed(engine, said.case_timeout)?;
        let mut plan = match (&said.exec, &suite) {
            (Some(path), _) => Plan::for_program(&kernel, said.program(path), fixed)?,
            (None, Suite::Own { name, cases }) => Plan::for_cases(name, &kernel, cases, fixed)?,
            (None, Suite::External(suite)) => Plan::for_external(suite, &kernel, fixed)?,
        };
        if let Some(again) = &said.again {
            again.narrow(&mut plan)?;
        }
        let plans = plan.by_shape(fixed);
        let specs = plans.iter().map(|plan| said.machine.spec(plan, engine)).collect();
        Ok(Self { kernel, engine, plans, specs })
    }

    /// The suite's name, or the program's.
    pub(crate) fn suite(&self) -> &str {
        self.plans.first().map(|plan| plan.suite.as_str()).unwrap_or_default()
    }

    /// Names of all cases.
    pub(crate) fn cases(&self) -> Vec<String> {
        self.plans.iter().flat_map(|plan| &plan.items).map(|item| item.name.clone()).collect()
    }

    /// Where the machines come from.
    pub(crate) fn sources(&self, said: &Run) -> Result<Vec<HostedSource<'_>>> {
        let store = || Store::new(Store::default_dir());
        let source = |spec| HostedSource::new(spec, &self.kernel, store(), said.course.seed.is_some());
        Ok(self.specs.iter().map(source).collect::<Result<_, _>>()?)
    }

    /// The plans with the sources of their machines.
    pub(crate) fn parts<'a>(&'a self, sources: &'a [HostedSource<'a>]) -> Vec<Part<'a>> {
        self.plans.iter().zip(sources).map(|(plan, source)| Part { plan, source }).collect()
    }

    /// Memory dumps of kernels that crash or hang go into this folder; a note where there are none.
    pub(crate) fn dump_into(&mut self, folder: &Path) -> Option<String> {
        if self.engine == Engine::Uml {
            return Some(NO_DUMP.to_string());
        }
        self.specs.iter_mut().for_each(|spec| spec.dumps = Some(folder.to_path_buf()));
        None
    }

    /// What is worth knowing before anything happens.
    pub(crate) fn notes(&self, said: &Run, session: &Session) -> Vec<String> {
        let again = said.again.iter().filter_map(|again| again.note(session));
        let unknown =
            (self.kernel.config.is_none() && said.has_needs()).then(|| NO_CONFIGURATION.to_string());
        let plans = self.plans.first().into_iter().flat_map(|plan| plan.notes.clone());
        self.note_accel(said).into_iter().chain(again).chain(unknown).chain(plans).collect()
    }

    /// Why KVM is not used, where one might expect it.
    fn note_accel(&self, said: &Run) -> Option<String> {
        let is_expected = said.machine.accel == AccelName::Auto
            && self.engine == Engine::Qemu(Accel::Tcg)
            && Path::new("/dev/kvm").exists();
        let why = is_expected.then(|| kvm::verdict().err()).flatten()?;
        Some(format!("{why}: using TCG"))
    }
}
