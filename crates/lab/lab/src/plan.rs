//! What a Kernel and a host have of what the cases need.

use std::time::Duration;

use kernel::{Kernel, Presence};
use machine::program::Program;
use machine::{Payload, spec};
use protocol::catalogue::Case;
use protocol::{Need, Work};

use judge::Dialect;

/// Modules behind [`Need::Disk`].
const DISK_MODULES: &[&str] = &["virtio_pci", "virtio_blk"];

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
    /// Its time limit on an unloaded machine.
    pub limit: Duration,
    /// Kernel reports that it provokes on purpose.
    pub expects: Vec<String>,
    /// Modules to load, by their paths in the machine.
    pub modules: Vec<String>,
    /// Modules that it needs and of which nothing is known: a lone image says nothing about its own.
    pub unsure: Vec<String>,
    /// It needs what the plan ships.
    pub needs_files: bool,
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
            Self { suite, items, payload, cpus, notes, ..self }
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
        let (mut memory, mut cpus, mut disk) = (spec::MEMORY_MIB, spec::CPUS, 0);
        for need in needs {
            match need {
                Need::Memory(mib) => memory = memory.max(*mib),
                Need::Cpus(count) => cpus = cpus.max(*count),
                Need::Disk(mib) => disk = disk.max(*mib),
                _ => {}
            }
        }
        Self {
            suite: suite.to_string(),
            items: Vec::new(),
            payload: Payload::default(),
            memory_mib: fixed.memory_mib.unwrap_or(memory),
            cpus: fixed.cpus.unwrap_or(cpus),
            disk_mib: disk,
            notes: Vec::new(),
        }
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
            expects: case.expects.clone(),
            needs_files: !modules.is_empty() || case.needs.iter().any(|need| matches!(need, Need::Tool(_))),
            modules,
            unsure: unsure(kernel, &needs),
            cpus: cpus_of(&needs),
            skip,
        })
    }

    /// Ships what `needs` ask for; gives the modules to load by their paths, or none and what is missing as far as can
    /// be told before the boot.
    pub(crate) fn provide(
        &mut self,
        kernel: &Kernel,
        needs: &[Need<&str>],
    ) -> Result<(Vec<String>, Option<String>), machine::Error> {
        let mut missing = None;
        let mut modules = Vec::new();
        for &need in needs {
            missing = missing.or(self.lacks(kernel, need));
            let names = modules_of(need).into_iter();
            modules.extend(names.filter(|name| kernel.modules.presence(name) == Presence::Loadable));
        }
        match missing {
            Some(why) => Ok((Vec::new(), Some(why))),
            None => Ok((self.ship(kernel, &modules)?, None)),
        }
    }

    /// What is missing for `need` as far as can be told before the boot; programs are shipped at once.
    fn lacks(&mut self, kernel: &Kernel, need: Need<&str>) -> Option<String> {
        match need {
            Need::Module(name) if kernel.modules.presence(name) == Presence::Absent => {
                Some(format!("the kernel has no module {name}"))
            }
            Need::Config(option)
                if kernel.config.as_ref().is_some_and(|config| !config.is_enabled(option)) =>
            {
                Some(format!("the kernel was built without CONFIG_{option}"))
            }
            Need::Memory(mib) if mib > self.memory_mib => {
                Some(format!("needs {mib} MiB, the machine has {}", self.memory_mib))
            }
            Need::Cpus(count) if count > self.cpus => {
                Some(format!("needs {count} CPUs, the machine has {}", self.cpus))
            }
            Need::Tool(name) => self.ship_tool(name),
            // The running kernel has the last word on everything else.
            _ => None,
        }
    }

    fn ship_tool(&mut self, name: &str) -> Option<String> {
        let Some(path) = Program::find(name) else {
            return Some(format!("this host has no {name}{}", package_hint(name)));
        };
        match Program::load(&path) {
            Ok(program) => self.payload.program(program, &format!("/usr/sbin/{name}")),
            Err(error) => return Some(error.to_string()),
        }
        None
    }

    /// Ships the modules with all that they need; gives the paths in the order of loading.
    fn ship(&mut self, kernel: &Kernel, names: &[&str]) -> Result<Vec<String>, machine::Error> {
        let mut paths = Vec::new();
        for module in kernel.modules.closure(names)? {
            paths.push(Payload::module_path(&module.name));
            self.payload.module(module);
        }
        Ok(paths)
    }
}

/// CPUs that are needed, at least those of every machine.
pub(crate) fn cpus_of(needs: &[Need<&str>]) -> u32 {
    let needed =
        needs.iter().filter_map(|need| if let Need::Cpus(count) = need { Some(*count) } else { None });
    needed.fold(spec::CPUS, u32::max)
}

/// What is needed and the kernel's files do not tell; for a file system the machine itself does.
pub(crate) fn unsure(kernel: &Kernel, needs: &[Need<&str>]) -> Vec<String> {
    let name =
        |need: &Need<&str>| if let Need::Module(name) = need { Some((*name).to_string()) } else { None };
    let is_unsure = |name: &String| kernel.modules.presence(name) == Presence::Unknown;
    needs.iter().filter_map(name).filter(is_unsure).collect()
}

/// Modules that a need asks for, where they are not built in.
fn modules_of(need: Need<&str>) -> Vec<&str> {
    match need {
        Need::Module(name) | Need::Filesystem(name) => vec![name],
        Need::Disk(_) => DISK_MODULES.to_vec(),
        Need::Config(_)
        | Need::Device(_)
        | Need::Memory(_)
        | Need::Cpus(_)
        | Need::Capability(_)
        | Need::Tool(_) => Vec::new(),
    }
}

/// How to get a program that cases use.
#[must_use]
pub fn package_hint(tool: &str) -> String {
    let package = match tool {
        "mkfs.ext4" => "e2fsprogs",
        "mkfs.xfs" => "xfsprogs",
        "mkfs.btrfs" => "btrfs-progs",
        _ => return String::new(),
    };
    format!(": apt-get install {package}")
}
