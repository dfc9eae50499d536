//! What a Kernel and a host have of what the cases need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kernel::{Kernel, Presence};
use machine::instruments::is_named;
use machine::program::Program;
use machine::{Payload, spec};
use protocol::Need;
use protocol::need::OF_HOST;

use super::{Fixed, Item, Plan};

impl Plan {
    /// Each case needs this besides what it needs itself: the machine grows, modules and programs are shipped, and what
    /// is missing skips all of them.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn require(
        mut self,
        kernel: &Kernel,
        needs: &[Need<String>],
        fixed: Fixed,
    ) -> Result<Self, machine::Error> {
        let borrowed: Vec<_> = needs.iter().map(Need::borrowed).collect();
        self.grow(&borrowed, fixed);
        let (modules, skip) = self.provide(kernel, &borrowed)?;
        let shared =
            Shared { needs, modules, unsure: unsure(kernel, &borrowed), cpus: cpus_of(&borrowed), skip };
        self.items.iter_mut().for_each(|item| shared.add_to(item));
        Ok(self)
    }

    /// A machine that runs nothing of its own gets what `needs` ask for, modules loaded; or says what is missing.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn give_needs(
        &mut self,
        kernel: &Kernel,
        needs: &[Need<String>],
        fixed: Fixed,
    ) -> Result<Option<String>, machine::Error> {
        let borrowed: Vec<_> = needs.iter().map(Need::borrowed).collect();
        self.grow(&borrowed, fixed);
        let missing = borrowed.iter().find_map(|&need| self.lacks(kernel, need));
        if missing.is_some() {
            return Ok(missing);
        }
        let names = borrowed.iter().flat_map(|&need| modules_of(need));
        let loadable: Vec<&str> =
            names.filter(|name| kernel.modules.presence(name) == Presence::Loadable).collect();
        self.payload.load_at_boot(kernel.modules.closure(&loadable)?);
        Ok(None)
    }

    /// Makes the machine large enough, as far as the user did not fix it.
    pub(super) fn grow(&mut self, needs: &[Need<&str>], fixed: Fixed) {
        for need in needs {
            match need {
                Need::Memory(mib) if fixed.memory_mib.is_none() => {
                    self.memory_mib = self.memory_mib.max(*mib);
                }
                Need::Cpus(count) if fixed.cpus.is_none() => self.cpus = self.cpus.max(*count),
                Need::Disk(mib) => self.disk_mib = self.disk_mib.max(*mib),
                _ => {}
            }
        }
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

    /// Ships what kernel and host have of what `needs` ask for, and leaves the rest out; gives the modules to load by
    /// their paths, and what was shipped by its place.
    pub(crate) fn provide_available(
        &mut self,
        kernel: &Kernel,
        needs: &[Need<String>],
    ) -> Result<(Vec<String>, BTreeSet<String>), machine::Error> {
        let needs = needs.iter().map(Need::borrowed);
        let available: Vec<_> = needs.filter(|&need| self.lacks(kernel, need).is_none()).collect();
        let (modules, _) = self.provide(kernel, &available)?;
        let parts = parts(&modules, &available).collect();
        Ok((modules, parts))
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
            // What a root has, only the machine can tell; it has nothing of this host.
            Need::Tool(name) => match name.strip_prefix(OF_HOST) {
                Some(path) => self.ship_tool(path),
                None if !self.has_root || is_named(Path::new(name)) => self.ship_tool(name),
                None => None,
            },
            // The running kernel has the last word on everything else.
            _ => None,
        }
    }

    fn ship_tool(&mut self, name: &str) -> Option<String> {
        let place = tool_path(name);
        // Many cases may need it.
        if self.payload.has_tool(&place) {
            return None;
        }
        let instrument = Some(PathBuf::from(name)).filter(|path| is_named(path));
        let Some(path) = instrument.or_else(|| Program::find(name)) else {
            return Some(format!("this host has no {name}{}", package_hint(name)));
        };
        match Program::load(&path) {
            Ok(program) => self.payload.tool(program, &place),
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

/// What all cases need.
struct Shared<'a> {
    needs: &'a [Need<String>],
    modules: Vec<String>,
    unsure: Vec<String>,
    cpus: u32,
    skip: Option<String>,
}

impl Shared<'_> {
    fn add_to(&self, item: &mut Item) {
        item.needs.extend_from_slice(self.needs);
        add_new(&mut item.modules, &self.modules);
        add_new(&mut item.unsure, &self.unsure);
        item.cpus = item.cpus.max(self.cpus);
        item.files.parts.extend(parts(&self.modules, self.needs));
        item.skip = item.skip.take().or_else(|| self.skip.clone());
    }
}

/// The modules and tools that have to be in the machine for this, by their places there.
pub(super) fn parts<Name: AsRef<str>>(
    modules: &[String],
    needs: &[Need<Name>],
) -> impl Iterator<Item = String> {
    let tool =
        |need: &Need<Name>| if let Need::Tool(name) = need { Some(tool_path(name.as_ref())) } else { None };
    modules.iter().cloned().chain(needs.iter().filter_map(tool))
}

/// Where a program of the host that cases need is in the machine.
pub(crate) fn tool_path(name: &str) -> String {
    let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
    format!("/usr/sbin/{name}")
}

/// Adds what is not there yet, in its order: a module is loaded after all that it depends on.
fn add_new(names: &mut Vec<String>, more: &[String]) {
    for name in more {
        if !names.contains(name) {
            names.push(name.clone());
        }
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
        Need::Module(name) | Need::OptionalModule(name) | Need::Filesystem(name) => vec![name],
        Need::Disk(_) => machine::root::DISK_MODULES.to_vec(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::kernel;
    use crate::suites::select::{DEFAULT, select};

    /// A plan for some cases of kiln, each of which needs this, too.
    fn plan(needs: &[&str], fixed: Fixed) -> Plan {
        let needs: Vec<_> = needs.iter().map(|need| need.parse().expect(need)).collect();
        plan_with(&needs, fixed)
    }

    fn plan_with(needs: &[Need<String>], fixed: Fixed) -> Plan {
        let cases = select(DEFAULT, &["pipe/*".to_string()]).expect("there are some");
        let plan = Plan::for_cases(DEFAULT, &kernel(), &cases, fixed).expect("nothing is shipped");
        plan.require(&kernel(), needs, fixed).expect("nothing is damaged")
    }

    #[test]
    fn what_all_cases_need_changes_the_machine_and_each_case() {
        let needs = ["module=loop", "disk=64M", "memory=4G", "cpus=3", "device=/dev/vda", "program=env"];
        let plan = plan(&needs, Fixed::default());
        assert_eq!((plan.disk_mib, plan.memory_mib, plan.cpus), (64, 4096, 3));
        assert!(plan.items.len() > 1 && plan.payload.size() > 0);
        for item in &plan.items {
            assert_eq!((item.cpus, item.skip.as_deref()), (3, None));
            assert_eq!(item.files.parts, ["/usr/sbin/env".to_string()].into());
            assert_eq!(item.unsure, ["loop"], "a lone image says nothing about its modules");
            assert_eq!(item.needs.iter().map(ToString::to_string).collect::<Vec<_>>(), needs);
        }
        assert_eq!(plan.by_shape(Fixed::default()).len(), 1);
    }

    #[test]
    fn a_root_has_programs_but_no_files_of_this_host() {
        let fixed = Fixed { has_root: true, ..Fixed::default() };
        for (name, is_shipped, missing) in [
            ("env", false, None),
            ("host:/usr/bin/env", true, None),
            ("host:/no/load", false, Some("this host has no /no/load")),
        ] {
            let plan = plan_with(&[Need::Tool(name.to_owned())], fixed);
            assert_eq!(plan.payload.has_tool("/usr/sbin/env"), is_shipped, "{name}");
            assert!(plan.items.iter().all(|item| item.skip.as_deref() == missing), "{name}");
        }
    }

    #[test]
    fn what_is_missing_skips_each_case() {
        let fixed = Fixed { cpus: Some(1), memory_mib: Some(512), ..Fixed::default() };
        for (need, reason) in [
            ("cpus=2", "needs 2 CPUs, the machine has 1"),
            ("memory=513M", "needs 513 MiB, the machine has 512"),
            ("config=EXT4_FS", "the kernel was built without CONFIG_EXT4_FS"),
            ("program=mkfs.nothing", "this host has no mkfs.nothing"),
        ] {
            let plan = plan(&[need], fixed);
            assert!(plan.items.iter().all(|item| item.skip.as_deref() == Some(reason)), "{need}");
        }
    }

    #[test]
    fn a_module_is_loaded_once_and_after_those_of_the_case() {
        let (mut modules, more) =
            (vec!["a".to_string(), "b".to_string()], ["c", "b", "d"].map(str::to_string));
        add_new(&mut modules, &more);
        assert_eq!(modules, ["a", "b", "c", "d"]);
    }
}
