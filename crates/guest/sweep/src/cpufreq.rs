//! The governors of CPU frequencies: Documentation/admin-guide/pm/cpufreq.rst.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protocol::sweep::{GOVERNOR_MAX, GOVERNORS_MAX};

const CPUS: &str = "devices/system/cpu";

const GOVERNOR: &str = "scaling_governor";

/// The interface of cpufreq for each CPU that has one.
#[derive(Debug)]
pub(crate) struct Cpufreq(Vec<PathBuf>);

impl Cpufreq {
    /// What there is below a sysfs.
    pub(crate) fn find(system: &Path) -> Self {
        let entries = fs::read_dir(system.join(CPUS)).into_iter().flatten().flatten();
        let is_cpu =
            |name: &str| name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok());
        let cpus = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_cpu));
        let mut interfaces: Vec<PathBuf> =
            cpus.map(|cpu| cpu.path().join("cpufreq")).filter(|it| it.join(GOVERNOR).exists()).collect();
        interfaces.sort_unstable();
        Self(interfaces)
    }

    /// The drivers of all CPUs, each once.
    pub(crate) fn drivers(&self) -> Vec<String> {
        let mut drivers: Vec<String> =
            self.0.iter().filter_map(|it| words(&it.join("scaling_driver")).into_iter().next()).collect();
        drivers.sort_unstable();
        drivers.dedup();
        drivers
    }

    /// The governors that all CPUs offer.
    pub(crate) fn offered(&self) -> Vec<String> {
        let mut of_each = self.0.iter().map(|it| words(&it.join("scaling_available_governors")));
        let first = of_each.next().unwrap_or_default();
        of_each.fold(first, |mut all, offered| {
            all.retain(|governor| offered.contains(governor));
            all
        })
    }

    /// Where the governors stand.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.0.iter().map(|interface| interface.join(GOVERNOR)).collect()
    }

    /// Sets the governor of all CPUs.
    ///
    /// # Errors
    ///
    /// When the kernel does not take it.
    pub(crate) fn set(&self, governor: &str) -> io::Result<()> {
        self.files().iter().try_for_each(|file| fs::write(file, governor))
    }
}

/// The words of a file, as many as there may be governors, without those that cannot be one.
fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let words = text.split_whitespace().filter(|word| word.len() <= GOVERNOR_MAX);
    words.take(GOVERNORS_MAX).map(str::to_owned).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sysfs whose CPUs offer these governors, and have the first.
    pub(crate) fn system(offered: &[&str]) -> tempfile::TempDir {
        let system = tempfile::tempdir().expect("there is room");
        for (cpu, offered) in offered.iter().enumerate() {
            let interface = system.path().join(CPUS).join(format!("cpu{cpu}/cpufreq"));
            fs::create_dir_all(&interface).expect("there is room");
            let first = offered.split(' ').next().unwrap_or_default();
            for (name, text) in [
                (GOVERNOR, first),
                ("scaling_available_governors", offered),
                ("scaling_driver", "acpi-cpufreq"),
            ] {
                fs::write(interface.join(name), format!("{text}\n")).expect("there is room");
            }
        }
        fs::create_dir_all(system.path().join(CPUS).join("cpufreq")).expect("there is room");
        system
    }

    #[test]
    fn what_all_cpus_offer_is_offered() {
        let system = system(&["performance ondemand powersave", "powersave performance"]);
        let cpufreq = Cpufreq::find(system.path());
        assert_eq!(cpufreq.offered(), ["performance", "powersave"]);
        assert_eq!(cpufreq.drivers(), ["acpi-cpufreq"]);
        cpufreq.set("powersave").expect("it is taken");
        let set: Vec<String> =
            cpufreq.files().iter().map(|file| fs::read_to_string(file).expect("it is there")).collect();
        assert_eq!(set, ["powersave", "powersave"]);
    }

    #[test]
    fn a_machine_without_it_offers_nothing() {
        let empty = tempfile::tempdir().expect("there is room");
        let cpufreq = Cpufreq::find(empty.path());
        assert!(cpufreq.offered().is_empty() && cpufreq.files().is_empty() && cpufreq.drivers().is_empty());
    }
}
