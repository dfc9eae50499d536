//! What is going to be run, and the machine for it.
//!
//! * [`needs`]: what a Kernel and a host have of what the cases need; [`mod@root`]: a user space for programs
//! * [`devices`]: what drives the devices of the machine

mod devices;
#[cfg(test)]
pub(crate) mod fixture;
mod needs;
mod root;

use std::sync::Arc;
use std::time::Duration;

use ::root::Root;
use kernel::Kernel;
use machine::payload::Wanted;
use machine::{Payload, spec};
use protocol::catalogue::Case;
use protocol::{Need, Work};

pub(crate) use devices::uncountable;
use judge::Dialect;
pub use needs::package_hint;
pub(crate) use needs::{cpus_of, tool_path, unsure};
pub(crate) use root::directory;

/// What is going to be run, and the machine for it.
#[derive(Debug)]
pub struct Plan {
    /// The suite's or the program's name.
    pub suite: String,
    /// In the order in which they run.
    pub items: Vec<Item>,
    /// What the machine must have besides the agent.
    pub payload: Payload,
    /// Memory of the machine in MiB.
    pub memory_mib: u64,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Size of the machine's disk in MiB; 0 for none.
    pub disk_mib: u64,
    /// The user space in which programs run, if it is not the agent's own.
    pub root: Option<Arc<Root>>,
    /// Programs run in a root, which has what they need.
    pub has_root: bool,
    /// What is worth knowing and belongs to no case.
    pub notes: Vec<String>,
}

/// One case or program.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// What it verifies.
    pub about: String,
    /// What the agent is told.
    pub work: Work,
    /// What its exit status and its output mean.
    pub dialect: Dialect,
    /// Without these it is skipped by the machine; a case has needs of its own besides.
    pub needs: Vec<Need<String>>,
    /// Its time limit on an unloaded machine.
    pub limit: Duration,
    /// How long it says that it takes at most.
    pub runtime: Option<Duration>,
    /// Kernel reports that it provokes on purpose.
    pub expects: Vec<String>,
    /// Modules to load, by their paths in the machine.
    pub modules: Vec<String>,
    /// Options that its suite asks for and the kernel was built without.
    pub lacking: Vec<String>,
    /// Modules that it needs and of which nothing is known: a lone image says nothing about its own.
    pub unsure: Vec<String>,
    /// What it needs of what the plan ships.
    pub files: Wanted,
    /// CPUs that its machine must have at least.
    pub cpus: u32,
    /// Why it cannot be run, if it cannot.
    pub skip: Option<String>,
}

/// What the user fixed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fixed {
    /// Memory in MiB.
    pub memory_mib: Option<u64>,
    /// CPUs.
    pub cpus: Option<u32>,
    /// Time limit of every case.
    pub limit: Option<Duration>,
    /// Programs run in a root, which has what they need.
    pub has_root: bool,
}

impl Plan {
    /// A plan for `cases`. A machine that the user did not fix is made large enough for all of them.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn for_cases(
        suite: &str,
        kernel: &Kernel,
        cases: &[&Case],
        fixed: Fixed,
    ) -> Result<Self, machine::Error> {
        let needs: Vec<_> = cases.iter().flat_map(|case| &case.needs).map(Need::borrowed).collect();
        let mut plan = Self::empty(suite, &needs, fixed);
        for case in cases {
            let item = plan.item(kernel, case, fixed)?;
            plan.items.push(item);
        }
        Ok(plan)
    }

    /// Plans for machines of one shape each, as few as can be. Memory and a disk that a case does not use cost
    /// nothing, but with more CPUs than it needs a case is another one; where the user fixed them there is one
    /// shape.
    #[must_use]
    pub fn by_shape(self, fixed: Fixed) -> Vec<Self> {
        if fixed.cpus.is_some() {
            return vec![self];
        }
        let mut shapes: Vec<u32> = self.items.iter().map(|item| item.cpus).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let of_shape = |&cpus: &u32| {
            let items = self.items.iter().filter(|item| item.cpus == cpus).cloned().collect();
            let (suite, payload, notes) = (self.suite.clone(), self.payload.clone(), self.notes.clone());
            let root = self.root.clone();
            Self { suite, items, payload, cpus, notes, root, ..self }
        };
        shapes.iter().map(of_shape).collect()
    }

    /// A plan that runs nothing, for a machine that is used by hand.
    #[must_use]
    pub fn nothing(name: &str, fixed: Fixed) -> Self {
        Self::empty(name, &[], fixed)
    }

    /// A plan that runs nothing yet, on a machine that is large enough for `needs`.
    pub(crate) fn empty(suite: &str, needs: &[Need<&str>], fixed: Fixed) -> Self {
        let mut plan = Self {
            suite: suite.to_string(),
            items: Vec::new(),
            payload: Payload::default(),
            memory_mib: fixed.memory_mib.unwrap_or(spec::MEMORY_MIB),
            cpus: fixed.cpus.unwrap_or(spec::CPUS),
            disk_mib: 0,
            root: None,
            has_root: fixed.has_root,
            notes: Vec::new(),
        };
        plan.grow(needs, fixed);
        plan
    }

    fn item(&mut self, kernel: &Kernel, case: &Case, fixed: Fixed) -> Result<Item, machine::Error> {
        let needs: Vec<_> = case.needs.iter().map(Need::borrowed).collect();
        let (modules, skip) = self.provide(kernel, &needs)?;
        Ok(Item {
            name: case.name.clone(),
            about: case.about.clone(),
            work: Work::Case(case.name.clone()),
            dialect: Dialect::Kiln,
            limit: fixed.limit.unwrap_or(case.limit),
            runtime: None,
            expects: case.expects.clone(),
            needs: Vec::new(),
            files: Wanted { common: false, parts: needs::parts(&modules, &needs).collect() },
            modules,
            lacking: Vec::new(),
            unsure: unsure(kernel, &needs),
            cpus: cpus_of(&needs),
            skip,
        })
    }
}
