//! A user's own program as the only case.

use std::path::Path;
use std::time::Duration;

use kernel::Kernel;
use machine::payload::Wanted;
use machine::program::{Program, interpreter, read};
use machine::spec;
use protocol::root::PROGRAMS;
use protocol::{Command, Need, Work};

use crate::plan::{Fixed, Item, Plan, tool_path};
use crate::{scripts, userland};
use judge::Dialect;

/// Its time limit.
const LIMIT: Duration = Duration::from_secs(60);

/// A user's own program, as it was said.
#[derive(Debug, Clone, Copy)]
pub struct UserProgram<'a> {
    /// Where it is on this host.
    pub path: &'a Path,
    /// What it is started with.
    pub arguments: &'a [String],
    /// Without these it is skipped.
    pub needs: &'a [Need<String>],
}

impl<'a> UserProgram<'a> {
    /// What is started when it is at `place` in the machine.
    pub(crate) fn command(&self, place: String) -> Command {
        Command::new([vec![place], self.arguments.to_vec()].concat())
    }

    /// Its file, with what it needs of this host.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no program.
    pub(crate) fn load(&self, has_root: bool) -> Result<Program, machine::Error> {
        match has_root {
            // Its interpreter and libraries are those of the root.
            true => Ok(Program { content: read(self.path)?, libraries: Vec::new() }),
            false => scripts::load(self.path),
        }
    }

    /// What it needs, as plans take it.
    pub(crate) fn needs(&self) -> Vec<Need<&'a str>> {
        self.needs.iter().map(Need::borrowed).collect()
    }
}

/// Where a program of this name is in the machine.
pub(crate) fn place(name: &str) -> String {
    format!("{PROGRAMS}/{name}")
}

impl Plan {
    /// A plan for a user's own program.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no program, or a module's files are damaged.
    pub fn for_program(kernel: &Kernel, user: UserProgram<'_>, fixed: Fixed) -> Result<Self, machine::Error> {
        let program = user.load(fixed.has_root)?;
        let name = user.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = place(&name);
        let mut plan = Self::empty(&name, &[], fixed);
        let script = interpreter(&program.content).map(|_| program.content.clone());
        plan.payload.program(program, &place);
        if !fixed.has_root {
            plan.ship_userland(script.as_deref());
        }
        plan.items.push(Item {
            name,
            about: format!("exit status 0 of {}", user.path.display()),
            work: Work::Program(user.command(place)),
            dialect: Dialect::Program,
            limit: fixed.limit.unwrap_or(LIMIT),
            runtime: None,
            expects: Vec::new(),
            needs: Vec::new(),
            modules: Vec::new(),
            lacking: Vec::new(),
            unsure: Vec::new(),
            files: Wanted { common: true, ..Wanted::default() },
            cpus: spec::CPUS,
            skip: None,
        });
        plan.require(kernel, user.needs, fixed)
    }

    /// A shell and the usual programs, and those of the host that a script names.
    fn ship_userland(&mut self, script: Option<&[u8]>) {
        let userland = userland::ship_busybox(&mut self.payload);
        for (name, path) in script.iter().flat_map(|script| userland.lacking(script)) {
            // What cannot be shipped is missed by the script itself.
            if let Ok(program) = Program::load(&path) {
                self.payload.program(program, &tool_path(&name));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::kernel;

    fn plan(needs: &[&str], fixed: Fixed) -> Plan {
        let needs: Vec<_> = needs.iter().map(|need| need.parse().expect(need)).collect();
        let arguments = ["--loops".to_string()];
        let user = UserProgram { path: Path::new("/bin/sh"), arguments: &arguments, needs: &needs };
        Plan::for_program(&kernel(), user, fixed).expect("every host has a shell")
    }

    fn skip(needs: &[&str], fixed: Fixed) -> Option<String> {
        plan(needs, fixed).items[0].skip.clone()
    }

    #[test]
    fn the_machine_is_made_for_what_the_program_needs() {
        let needs = ["module=loop", "config=XFS_FS", "disk=64M", "memory=4G", "cpus=3"];
        let plan = plan(&needs, Fixed::default());
        assert_eq!((plan.disk_mib, plan.memory_mib, plan.cpus), (64, 4096, 3));
        let item = &plan.items[0];
        assert_eq!((item.cpus, item.skip.as_deref()), (3, None));
        assert_eq!(item.unsure, ["loop"], "a lone image says nothing about its modules");
        assert!(self::plan(&["optional-module=loop"], Fixed::default()).items[0].unsure.is_empty());
        let Work::Program(command) = &item.work else { panic!("{:?}", item.work) };
        assert_eq!(command.argv, ["/usr/local/bin/sh", "--loops"]);
        assert_eq!(item.needs.iter().map(ToString::to_string).collect::<Vec<_>>(), needs);
    }

    #[test]
    fn what_is_known_to_be_missing_makes_it_a_skip() {
        let small = Fixed { cpus: Some(1), memory_mib: Some(512), ..Fixed::default() };
        let skipped = |need: &str| skip(&[need], small).unwrap_or_default();
        assert_eq!(skipped("cpus=2"), "needs 2 CPUs, the machine has 1");
        assert_eq!(skipped("memory=513M"), "needs 513 MiB, the machine has 512");
        assert_eq!(skipped("config=EXT4_FS"), "the kernel was built without CONFIG_EXT4_FS");
        assert_eq!(skipped("program=mkfs.nothing"), "this host has no mkfs.nothing");
        assert_eq!(skip(&["fs=xfs", "device=/dev/null", "capability=21"], small), None);
    }

    #[test]
    fn an_instrument_is_shipped_like_a_program_of_the_host_and_also_into_a_root() {
        for fixed in [Fixed::default(), Fixed { has_root: true, ..Fixed::default() }] {
            let plan = plan(&["program=kiln:latency"], fixed);
            assert!(plan.payload.has_tool("/usr/sbin/kiln:latency"), "{fixed:?}");
        }
        let skipped = skip(&["program=kiln:latenzy"], Fixed::default()).unwrap_or_default();
        assert_eq!(
            skipped,
            "kiln:latenzy: kiln has no such instrument: it has count, latency, probe, race, sample, steal, stress, sweep, trace"
        );
    }

    #[test]
    fn a_program_of_the_host_is_shipped_with_it() {
        let (bare, more) = (plan(&[], Fixed::default()), plan(&["program=env"], Fixed::default()));
        assert!(more.payload.size() > bare.payload.size());
    }
}
