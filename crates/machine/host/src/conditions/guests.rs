//! Other machines that run on this host.

/// How programs that run machines call themselves, as the 15 characters of proc_pid_comm(5) show it. Processes of UML
/// may have any name, and are not found.
const PROGRAMS: &[&str] = &[
    // Proxmox starts QEMU by this name, and Red Hat by the next.
    "kvm",
    "qemu-kvm",
    "cloud-hyperviso",
    "firecracker",
    "crosvm",
    "lkvm",
    "VBoxHeadless",
    "VirtualBoxVM",
    "vmware-vmx",
];

/// QEMU, for any machine.
const QEMU: &str = "qemu-system-";

/// Processes that are looked at: the largest number that a 32-bit kernel gives, and more than most hosts have.
const MOST: usize = 32_768;

/// Ancestors that are looked at.
const GENERATIONS: usize = 64;

/// Processes that run machines now and that do not descend from the process `own`.
pub(super) fn others(own: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().take(MOST);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let guests = pids.filter(|pid| runs_machines(&super::read(format!("/proc/{pid}/comm"))));
    let parent_of = |pid| parent(&super::read(format!("/proc/{pid}/stat")));
    guests.filter(|&pid| !descends(pid, own, parent_of)).collect()
}

/// Whether the text of proc_pid_comm(5) is the name of such a program.
fn runs_machines(comm: &str) -> bool {
    let name = comm.trim_end();
    name.starts_with(QEMU) || PROGRAMS.contains(&name)
}

/// The fourth field of proc_pid_stat(5). The second may contain anything, blanks and brackets too.
fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn descends(pid: u32, from: u32, parent_of: impl Fn(u32) -> Option<u32>) -> bool {
    std::iter::successors(Some(pid), |&pid| parent_of(pid)).take(GENERATIONS).any(|pid| pid == from)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn machines_are_known_by_the_name_of_their_program() {
        for name in
            ["qemu-system-x86\n", "qemu-system-aarch64\n", "kvm\n", "firecracker\n", "cloud-hyperviso\n"]
        {
            assert!(runs_machines(name), "{name}");
        }
        for name in ["", "qemu-img\n", "kvm-nx-lpage-re\n", "bash\n", "my-qemu-system-\n"] {
            assert!(!runs_machines(name), "{name}");
        }
    }

    #[test]
    fn a_parent_is_found_behind_any_name() {
        assert_eq!(parent("21628 (cat) R 21576 21576 16884 0 -1\n"), Some(21576));
        assert_eq!(parent("7 (a) R 1 (b)) S 3 3 3\n"), Some(3));
        assert_eq!(parent(""), None);
    }

    #[test]
    fn descendants_are_told_from_others() {
        // 5 made 6, which made 7; 8 is a child of process 1.
        let parent_of = |pid| {
            [(7, 6), (6, 5), (5, 1), (8, 1), (1, 0)].into_iter().find_map(|(p, q)| (p == pid).then_some(q))
        };
        assert!(descends(7, 5, parent_of) && descends(5, 5, parent_of));
        assert!(!descends(8, 5, parent_of));
        assert!(!descends(1, 5, |_| Some(1)), "a circle ends");
    }

    #[test]
    fn a_machine_counts_unless_this_process_started_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("qemu-system-planted");
        std::os::unix::fs::symlink(crate::find_program("sleep").unwrap(), &program).unwrap();
        let mut machine = Command::new(program).arg0("sleep").arg("600").spawn().unwrap();
        let found = [std::process::id(), u32::MAX].map(|own| others(own).contains(&machine.id()));
        machine.kill().unwrap();
        machine.wait().unwrap();
        assert_eq!(found, [false, true]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text: String) {
            let (name, stat) = (format!("x{text}"), format!("1 ({text}) S 77 1 1"));
            prop_assert!(!runs_machines(&name));
            prop_assert_eq!(parent(&stat), Some(77));
        }
    }
}
