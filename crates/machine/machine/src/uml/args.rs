//! UML's command line. What is no parameter of UML itself goes to the kernel.

use hardware::Device;
use hardware::disk::{Bus, Content, Disk, Faults};
use root::Files;

use crate::spec::Spec;
use crate::vmm::launch::{Numbers, inherited};

/// A tmpfs that only UML sees is mounted here, with this directory in it. It holds the machine's memory,
/// and the socket of its management console. UML looks here for a tmpfs by itself.
pub(super) const SCRATCH_PLACE: &str = "/dev/shm";
pub(super) const SCRATCH_DIRECTORY: &str = "kiln";

/// Where the socket of the management console is, as UML sees it. Without the scratch the directory above
/// does not exist, and UML does without.
pub(super) const MCONSOLE: &str = "/dev/shm/kiln/uml/machine/mconsole";

/// All arguments after the program's name.
pub(super) fn arguments(spec: &Spec, numbers: &Numbers) -> Vec<String> {
    let mut arguments = vec![format!("mem={}M", spec.memory_mib)];
    arguments.extend(numbers.origin.initramfs().map(|&number| format!("initrd={}", inherited(number))));
    arguments.extend([
        // The first console is the standard streams, the second serial port the control port.
        "con=null".to_string(),
        "con0=fd:0,fd:1".to_string(),
        "ssl=null".to_string(),
        format!("ssl1=fd:{}", numbers.control),
        "uml_dir=/dev/shm/kiln/uml".to_string(),
        "umid=machine".to_string(),
        format!("hostfs={}", hostfs(spec)),
        // A restart ends the machine.
        "noreboot".to_string(),
    ]);
    arguments.extend(numbers.disk.map(|disk| format!("ubd0={}", inherited(disk))));
    // Read-only, and others read it too.
    arguments.extend(numbers.root.map(|root| format!("ubd1rc={}", inherited(root))));
    arguments.extend(numbers.devices.iter().flatten().zip(FIRST_DISK..).map(disk));
    arguments.extend(spec.parameters().split_whitespace().map(str::to_string));
    arguments
}

/// The number of the first disk that the user asked for: before it are that of cases and that of the root.
const FIRST_DISK: u32 = 2;

/// Disks may be those of other machines, too.
fn disk((number, place): (&i32, u32)) -> String {
    format!("ubd{place}c={}", inherited(*number))
}

/// Whether it can have this: its disks are files, and nothing else.
pub(super) fn can_have(device: &Device) -> bool {
    let Device::Disk(disk) = device else { return false };
    let Disk { content, bus, sector, serial, readonly, writethrough, shared: _, faults } = disk;
    let is_plain =
        serial.is_none() && sector.is_none() && !readonly && !writethrough && *faults == Faults::default();
    *bus == Bus::Virtio && is_plain && !matches!(content, Content::Image(_))
}

/// What the guest may mount of this host's files: nothing is there unless its root is in them.
fn hostfs(spec: &Spec) -> &'static str {
    match spec.root.as_ref().map(|root| &root.files) {
        Some(Files::Host(_)) => "/",
        Some(Files::Image(_)) | None => "/dev/shm/kiln/host",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;

    fn spec() -> Spec {
        let append = "quiet dyndbg=\"file a.c +p\"".into();
        Spec { cpus: 1, append, engine: Engine::Uml, ..Spec::example() }
    }

    #[test]
    fn the_command_line_says_everything_once() {
        let line = arguments(&spec(), &Numbers::example(false, false)).join(" ");
        assert_eq!(
            line,
            "mem=512M initrd=/proc/self/fd/3 con=null con0=fd:0,fd:1 ssl=null ssl1=fd:5 \
             uml_dir=/dev/shm/kiln/uml umid=machine hostfs=/dev/shm/kiln/host noreboot \
             console=tty0 panic=-1 quiet dyndbg=\"file a.c +p\""
        );
    }

    #[test]
    fn a_disk_is_there_only_when_asked_for() {
        let line = arguments(&spec(), &Numbers::example(true, false)).join(" ");
        assert!(line.contains(" ubd0=/proc/self/fd/7 "), "{line}");
    }
}
