//! QEMU's command line, one function per concern.

use std::path::Path;

use crate::accel::Accel;
use crate::hosted::launch::{Numbers, Origin, inherited};
use crate::spec::Spec;

/// All arguments after the program's name.
pub(super) fn arguments(
    spec: &Spec,
    accel: Accel,
    image: &Path,
    numbers: &Numbers,
    monitor: i32,
) -> Vec<String> {
    [
        machine(accel),
        processor(spec, accel),
        memory(spec, &numbers.origin),
        numbers.origin.initramfs().map(|initramfs| boot(spec, image, initramfs)).unwrap_or_default(),
        serial_port("console", numbers.console),
        serial_port("control", numbers.control),
        self::monitor(monitor),
        numbers.disk.map(disk).unwrap_or_default(),
        ending(spec),
    ]
    .concat()
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_string).to_vec()
}

/// A current PC with nothing on it that was not asked for. SATA, USB, SMBus, the keyboard controller
/// and the VMware port would only cost the kernel time to probe.
fn machine(accel: Accel) -> Vec<String> {
    let machine =
        format!("q35,accel={},smm=off,sata=off,usb=off,smbus=off,i8042=off,vmport=off", accel.name());
    [strings(["-nodefaults", "-no-user-config", "-display", "none", "-machine"]), vec![machine]].concat()
}

/// All that the accelerator offers. But under TCG a kernel that believes in fast `rep movsb` copies
/// byte by byte: without it the smoke suite takes a fifth less time.
fn processor(spec: &Spec, accel: Accel) -> Vec<String> {
    let model = match accel {
        Accel::Tcg => "max,-erms",
        Accel::Kvm => "max",
    };
    strings(["-cpu", model, "-smp", &spec.cpus.to_string()])
}

/// What is cloned lies in a file that clones map privately; only the state of the devices is migrated.
fn memory(spec: &Spec, origin: &Origin<i32>) -> Vec<String> {
    let size = strings(["-m", &format!("{}M", spec.memory_mib)]);
    let file = |number: i32, share: &str| {
        let path = inherited(number);
        let memory = spec.memory_mib;
        strings([
            "-machine",
            "memory-backend=memory",
            "-object",
            &format!("memory-backend-file,id=memory,size={memory}M,mem-path={path},share={share}"),
        ])
    };
    match origin {
        Origin::Boot { .. } => size,
        Origin::Template { memory, .. } => [size, file(*memory, "on")].concat(),
        Origin::Clone { memory, .. } => [size, file(*memory, "off"), incoming()].concat(),
        Origin::Layer { memory, .. } => [size, file(*memory, "on"), incoming()].concat(),
    }
}

/// It waits for its state until the monitor says where that is.
fn incoming() -> Vec<String> {
    strings(["-incoming", "defer"])
}

fn boot(spec: &Spec, image: &Path, initramfs: i32) -> Vec<String> {
    let image = image.display().to_string();
    strings(["-kernel", &image, "-initrd", &inherited(initramfs), "-append", &spec.parameters()])
}

fn serial_port(name: &str, descriptor: i32) -> Vec<String> {
    let socket = format!("socket,id={name},fd={descriptor}");
    strings(["-chardev", &socket, "-serial", &format!("chardev:{name}")])
}

fn monitor(descriptor: i32) -> Vec<String> {
    let socket = format!("socket,id=qmp,fd={descriptor}");
    strings(["-chardev", &socket, "-mon", "chardev=qmp,mode=control"])
}

fn disk(descriptor: i32) -> Vec<String> {
    let drive = format!("file={},format=raw,if=none,id=disk,cache=unsafe", inherited(descriptor));
    strings(["-drive", &drive, "-device", "virtio-blk-pci,drive=disk"])
}

/// A reset ends the machine: what comes after it is another boot, which kiln makes itself.
fn ending(spec: &Spec) -> Vec<String> {
    // A machine that has ended stays until its memory has been dumped. The device takes a note from kernels that
    // have one, with which crash(8) and drgn find their way.
    let kept = if spec.dumps.is_some() {
        strings(["-action", "shutdown=pause", "-device", "vmcoreinfo"])
    } else {
        vec![]
    };
    [strings(["-no-reboot"]), kept].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::payload::Payload;
    use std::time::Duration;

    fn spec() -> Spec {
        Spec {
            memory_mib: 512,
            cpus: 2,
            append: "quiet".into(),
            engine: Engine::Qemu(Accel::Tcg),
            boot_limit: Duration::ZERO,
            silence_limit: Duration::ZERO,
            disk_mib: 0,
            dumps: None,
            payload: Payload::default(),
        }
    }

    #[test]
    fn the_command_line_says_everything_once() {
        let numbers = Numbers::example(false);
        let line = arguments(&spec(), Accel::Tcg, Path::new("/boot/vmlinuz"), &numbers, 6).join(" ");
        assert_eq!(
            line,
            "-nodefaults -no-user-config -display none -machine \
             q35,accel=tcg,smm=off,sata=off,usb=off,smbus=off,i8042=off,vmport=off \
             -cpu max,-erms -smp 2 -m 512M -kernel /boot/vmlinuz -initrd /proc/self/fd/3 \
             -append console=ttyS0 earlyprintk=ttyS0 panic=-1 random.trust_cpu=on sysrq_always_enabled \
             unknown_nmi_panic no_timer_check quiet \
             -chardev socket,id=console,fd=4 -serial chardev:console \
             -chardev socket,id=control,fd=5 -serial chardev:control \
             -chardev socket,id=qmp,fd=6 -mon chardev=qmp,mode=control -no-reboot"
        );
    }

    #[test]
    fn a_machine_whose_memory_is_dumped_stays_when_it_has_ended() {
        let spec = Spec { dumps: Some("/results".into()), ..spec() };
        let line = arguments(&spec, Accel::Tcg, Path::new("x"), &Numbers::example(true), 6).join(" ");
        assert!(line.ends_with("-no-reboot -action shutdown=pause -device vmcoreinfo"), "{line}");
    }

    #[test]
    fn a_disk_is_there_only_when_asked_for() {
        let line = arguments(&spec(), Accel::Tcg, Path::new("x"), &Numbers::example(true), 6).join(" ");
        assert!(
            line.contains("-drive file=/proc/self/fd/7,format=raw,if=none,id=disk,cache=unsafe"),
            "{line}"
        );
    }
}
