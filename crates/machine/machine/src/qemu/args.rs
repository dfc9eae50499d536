//! QEMU's command line, one function per concern.

use std::path::Path;

use hardware::hardware::WHOLE;
use hardware::topology::Memory;
use hardware::{Arguments, Backing, Place};
use protocol::measure::EXCHANGE_SIZE;
use protocol::root::SERIAL;
use protocol::window::WINDOW_SIZE;
use root::{Files, HostFiles, Image, Medium};

use super::files;
use crate::accel::Accel;
use crate::instrument::{self, Plugin, Timing};
use crate::root::{TAG, tag_of};
use crate::spec::Spec;
use crate::vmm::launch::{Numbers, Origin, inherited, plugin};

/// QEMU's name for what is behind the control port.
pub(super) const CONTROL: &str = "control";

/// What executes the guest's instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Executor {
    pub(super) accel: Accel,
    /// It keeps the flags of the guest: [`crate::tcg`].
    pub(super) keeps_flags: bool,
}

/// All arguments after the program's name.
pub(super) fn arguments(
    spec: &Spec,
    executor: Executor,
    image: &Path,
    numbers: &Numbers,
    monitor: i32,
) -> Vec<String> {
    let image = image.display().to_string();
    let initramfs = numbers.origin.initramfs().map(|&number| inherited(number));
    let Arguments { first, devices } = spec.hardware.arguments(&numbers.places());
    [
        machine(executor.accel),
        processor(spec, executor),
        memory(spec, &numbers.origin),
        first,
        initramfs.map(|file| boot(spec, &image, &file)).unwrap_or_default(),
        self::monitor(monitor),
        numbers.disk.map(|number| disk(&inherited(number))).unwrap_or_default(),
        spec.image()
            .zip(numbers.root)
            .map(|(image, number)| root(image, &inherited(number)))
            .unwrap_or_default(),
        shares(spec),
        devices,
        serial_ports(&socket(numbers.control), &socket(numbers.console)),
        spec.timing.map(Timing::arguments).unwrap_or_default(),
        numbers.instrument.map(instrument).unwrap_or_default(),
        numbers.plugin.map(|files| plugin(files, spec.hazards.lock_spin())).unwrap_or_default(),
        ending(spec),
    ]
    .concat()
}

/// The same machine out of files in the current folder, with nobody beside it: both ports go to files.
pub(super) fn from_files(spec: &Spec, executor: Executor) -> Vec<String> {
    let file = |name: &str| format!("file,path={name}");
    let Arguments { first, devices } = spec.hardware.arguments(&places_of_files(&spec.hardware.backings()));
    [
        machine(executor.accel),
        processor(spec, executor),
        size(spec),
        backends(spec, &[], "on"),
        first,
        boot(spec, files::IMAGE, files::INITRAMFS),
        if spec.disk_mib > 0 { disk(files::DISK) } else { Vec::new() },
        spec.image().map(|image| root(image, files::ROOT)).unwrap_or_default(),
        devices,
        serial_ports(&file(files::CONTROL), &file(files::CONSOLE)),
        ending(spec),
    ]
    .concat()
}

/// Where what is behind devices is in the current folder; an overlay is needless there, for the image is a copy.
fn places_of_files(backings: &[Vec<Backing>]) -> Vec<Vec<Place>> {
    let of = |(device, backings): (usize, &Vec<Backing>)| {
        let names = backings.iter().filter(|backing| backing.is_file()).enumerate();
        names.map(|(number, _)| Place::File(files::device(device, number))).collect()
    };
    backings.iter().enumerate().map(of).collect()
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
fn processor(spec: &Spec, Executor { accel, keeps_flags }: Executor) -> Vec<String> {
    let model = match accel {
        // Without the instruction kernels refuse AMD's IOMMU.
        Accel::Tcg if !keeps_flags && !spec.hardware.has_amd_iommu() => "max,-erms,-cx16",
        Accel::Tcg => "max,-erms",
        Accel::Kvm => "max",
    };
    let words = spec.hardware.cpu_words(spec.cpus);
    strings(["-cpu", model, "-smp", &format!("{}{words}", spec.cpus)])
}

/// QEMU aligns memory beside the guest's own to gigabytes.
const ALIGNMENT_MIB: u64 = 1024;

/// Places for memory that is plugged in.
const MEMORY_SLOTS: u32 = 16;

fn size(spec: &Spec) -> Vec<String> {
    let mib = spec.memory_mib;
    let beside = spec.timing.map(|_| ALIGNMENT_MIB + root_mib(spec));
    let more = spec.hardware.more_memory().map(|bytes| bytes >> 20);
    match (beside, more) {
        (None, None) => strings(["-m", &format!("{mib}M")]),
        (Some(beside), None) => strings(["-m", &format!("{mib}M,slots=1,maxmem={}M", mib + beside)]),
        (beside, Some(more)) => {
            let most = mib + beside.unwrap_or_default() + more;
            strings(["-m", &format!("{mib}M,slots={MEMORY_SLOTS},maxmem={most}M")])
        }
    }
}

/// What a root in memory takes of it.
fn root_mib(spec: &Spec) -> u64 {
    let image = spec.image().filter(|image| image.medium == Medium::Memory);
    image.map_or(0, |image| (image.size >> 20).next_multiple_of(ALIGNMENT_MIB))
}

/// It lies in files, where it can be read when the machine has gone, and which clones map privately; only the state of the
/// devices is migrated.
fn memory(spec: &Spec, origin: &Origin<i32>) -> Vec<String> {
    let (memory, window, share, state) = match origin {
        Origin::Boot { memory, window, .. } => (memory, window, "on", Vec::new()),
        Origin::Clone { memory, window, .. } => (memory, window, "off", incoming()),
    };
    let window = window.map(|file| self::window(file, share)).unwrap_or_default();
    [size(spec), backends(spec, memory, share), window, state].concat()
}

/// The parts of the memory, in files if there are any. `-numa` names that of each node.
fn backends(spec: &Spec, files: &[i32], share: &str) -> Vec<String> {
    let backend = |(part, Memory { id, mib }): (usize, Memory)| {
        let object = match files.get(part) {
            Some(&file) => {
                let path = inherited(file);
                format!("memory-backend-file,id={id},size={mib}M,mem-path={path},share={share}")
            }
            None => format!("memory-backend-ram,id={id},size={mib}M"),
        };
        let whole =
            if id == WHOLE { strings(["-machine", &format!("memory-backend={id}")]) } else { Vec::new() };
        [whole, strings(["-object", &object])].concat()
    };
    spec.hardware.memories(spec.memory_mib).into_iter().enumerate().flat_map(backend).collect()
}

/// Memory of a PCI device, through which programs come. What clones write there is their own: it is shared only in
/// the template, so that it is no part of the state that is migrated.
fn window(number: i32, share: &str) -> Vec<String> {
    let path = inherited(number);
    strings([
        "-object",
        &format!("memory-backend-file,id=window,size={WINDOW_SIZE},mem-path={path},share={share}"),
        "-device",
        "ivshmem-plain,memdev=window,master=on",
    ])
}

/// It waits for its state until the monitor says where that is.
fn incoming() -> Vec<String> {
    strings(["-incoming", "defer"])
}

fn boot(spec: &Spec, image: &str, initramfs: &str) -> Vec<String> {
    strings(["-kernel", image, "-initrd", initramfs, "-append", &spec.parameters()])
}

/// Linux gives ports numbers in the order of QEMU's ACPI table, which lists the last one first: so the console is `ttyS0`,
/// whatever other ports there are.
fn serial_ports(control: &str, console: &str) -> Vec<String> {
    [serial_port(CONTROL, control, 1), serial_port("console", console, 0)].concat()
}

fn serial_port(name: &str, end: &str, index: u32) -> Vec<String> {
    let device = format!("isa-serial,chardev={name},index={index}");
    strings(["-chardev", &format!("{end},id={name}"), "-device", &device])
}

fn socket(descriptor: i32) -> String {
    format!("socket,fd={descriptor}")
}

fn monitor(descriptor: i32) -> Vec<String> {
    let socket = format!("socket,id=qmp,fd={descriptor}");
    strings(["-chardev", &socket, "-mon", "chardev=qmp,mode=control"])
}

fn disk(file: &str) -> Vec<String> {
    let drive = format!("file={file},format=raw,if=none,id=disk,cache=unsafe");
    strings(["-drive", &drive, "-device", "virtio-blk-pci,drive=disk"])
}

/// Others read the image too, and nobody writes to it.
fn root(image: &Image, file: &str) -> Vec<String> {
    match image.medium {
        Medium::Disk => {
            let drive = format!("file={file},format=raw,if=none,id=root,readonly=on,file.locking=off");
            let device = format!("virtio-blk-pci,drive=root,serial={SERIAL}");
            strings(["-drive", &drive, "-device", &device])
        }
        // Shared, it is no part of the state that is migrated.
        Medium::Memory => {
            let size = image.size;
            let memory =
                format!("memory-backend-file,id=root,size={size},mem-path={file},readonly=on,share=on");
            strings(["-object", &memory, "-device", "virtio-pmem-pci,memdev=root"])
        }
    }
}

/// Directories of this host, if the root is that: all of it to read, and some to write to.
fn shares(spec: &Spec) -> Vec<String> {
    let Some(Files::Host(HostFiles { writable })) = spec.root.as_ref().map(|root| &root.files) else {
        return Vec::new();
    };
    let writable = writable.iter().enumerate();
    let writable = writable.flat_map(|(number, path)| share(&tag_of(number), path, "off"));
    share(TAG, Path::new("/"), "on").into_iter().chain(writable).collect()
}

/// A directory of this host under a tag: <https://wiki.qemu.org/Documentation/9psetup>. Files keep their owners, as far as
/// QEMU's user may know them, and those of several file systems keep numbers of their own.
fn share(tag: &str, directory: &Path, readonly: &str) -> Vec<String> {
    // A comma ends a value.
    let path = directory.display().to_string().replace(',', ",,");
    let directory =
        format!("local,id={tag},path={path},security_model=none,multidevs=remap,readonly={readonly}");
    strings(["-fsdev", &directory, "-device", &format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}")])
}

/// The memory that it shares with this host, the device by which it stops itself, and the plugin that watches it.
fn instrument(files: instrument::Files<i32>) -> Vec<String> {
    let memory = format!(
        "memory-backend-file,id=exchange,size={EXCHANGE_SIZE},mem-path={},share=on",
        inherited(files.exchange)
    );
    let devices = [
        "-machine",
        "nvdimm=on",
        "-device",
        "nvdimm,memdev=exchange",
        "-device",
        "pvpanic",
        "-action",
        "panic=pause",
    ];
    let plugin = files.plugin.map(|Plugin { code, output, events, stacks }| {
        let stacks = if stacks { "on" } else { "off" };
        let events = events.map(|file| format!(",events={}", inherited(file))).unwrap_or_default();
        let plugin = format!("{},output={},stacks={stacks}{events}", inherited(code), inherited(output));
        strings(["-plugin", &plugin])
    });
    [strings(["-object", &memory]), strings(devices), plugin.unwrap_or_default()].concat()
}

/// The plugin that forgets breakpoints that are gone, and looks for loops that are passed more often than `bound`.
fn plugin(files: plugin::Files<i32>, bound: Option<u64>) -> Vec<String> {
    let hazards = files.channel.zip(bound);
    let hazards = hazards.map(|(channel, bound)| format!(",hazards={channel},lock-spin={bound}"));
    let plugin = format!("{},breakpoints=on{}", inherited(files.code), hazards.unwrap_or_default());
    strings(["-plugin", &plugin])
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
    use hardware::Hardware;
    use root::{Filesystem, Root};
    use std::sync::Arc;

    const TCG: Executor = Executor { accel: Accel::Tcg, keeps_flags: true };

    #[test]
    fn the_command_line_says_everything_once() {
        let numbers = Numbers::example(false, false);
        let line = arguments(&Spec::example(), TCG, Path::new("/boot/vmlinuz"), &numbers, 6).join(" ");
        assert_eq!(
            line,
            "-nodefaults -no-user-config -display none -machine \
             q35,accel=tcg,smm=off,sata=off,usb=off,smbus=off,i8042=off,vmport=off \
             -cpu max,-erms -smp 2 -m 512M -machine memory-backend=memory \
             -object memory-backend-file,id=memory,size=512M,mem-path=/proc/self/fd/9,share=on -kernel /boot/vmlinuz -initrd /proc/self/fd/3 \
             -append console=ttyS0 earlyprintk=ttyS0 panic=-1 random.trust_cpu=on sysrq_always_enabled \
             unknown_nmi_panic no_timer_check quiet \
             -chardev socket,id=qmp,fd=6 -mon chardev=qmp,mode=control \
             -chardev socket,fd=5,id=control -device isa-serial,chardev=control,index=1 \
             -chardev socket,fd=4,id=console -device isa-serial,chardev=console,index=0 -no-reboot"
        );
    }

    #[test]
    fn a_qemu_that_loses_flags_hides_the_instruction_from_all_but_amds_iommu() {
        let model = |hardware: &[&str], accel, keeps_flags| {
            let devices = hardware.iter().map(|device| device.parse().expect("it is right")).collect();
            let hardware = Hardware::new(devices).expect("it is right");
            processor(&Spec { hardware, ..Spec::example() }, Executor { accel, keeps_flags })[1].clone()
        };
        assert_eq!(model(&[], Accel::Tcg, false), "max,-erms,-cx16");
        assert_eq!(model(&["iommu,intel"], Accel::Tcg, false), "max,-erms,-cx16");
        assert_eq!(model(&["iommu,amd"], Accel::Tcg, false), "max,-erms");
        assert_eq!(model(&[], Accel::Tcg, true), "max,-erms");
        assert_eq!(model(&[], Accel::Kvm, true), "max");
    }

    #[test]
    fn a_machine_whose_memory_is_dumped_stays_when_it_has_ended() {
        let spec = Spec { dumps: Some("/results".into()), ..Spec::example() };
        let line = arguments(&spec, TCG, Path::new("x"), &Numbers::example(true, false), 6).join(" ");
        assert!(line.ends_with("-no-reboot -action shutdown=pause -device vmcoreinfo"), "{line}");
    }

    #[test]
    fn a_machine_out_of_files_is_the_same_machine() {
        let spec = Spec { disk_mib: 64, ..Spec::example() };
        let origin = Origin::Boot { initramfs: 3, memory: Vec::new(), window: None };
        let numbers = Numbers { origin, ..Numbers::example(true, false) };
        let of_kiln = arguments(&spec, TCG, Path::new("vmlinuz"), &numbers, 6);
        let of_files = from_files(&spec, TCG);
        let kept = |line: &[String]| -> Vec<String> {
            let differs = |word: &str| {
                ["fd", "file", "chardev", "-mon", "initramfs"].iter().any(|part| word.contains(part))
            };
            line.iter().filter(|word| !differs(word)).cloned().collect()
        };
        assert_eq!(kept(&of_files), kept(&of_kiln));
        let line = of_files.join(" ");
        assert!(
            line.contains("-initrd initramfs.cpio ")
                && line.contains(
                    "-chardev file,path=console,id=console -device isa-serial,chardev=console,index=0"
                ),
            "{line}"
        );
        assert!(line.contains("-drive file=disk,format=raw"), "{line}");
    }

    #[test]
    fn what_a_clone_writes_into_its_window_is_its_own() {
        let of = |origin| {
            let numbers = Numbers { origin, ..Numbers::example(false, false) };
            arguments(&Spec::example(), TCG, Path::new("x"), &numbers, 6).join(" ")
        };
        let template = of(Origin::Boot { initramfs: 3, memory: vec![8], window: Some(9) });
        let clone = of(Origin::Clone { memory: vec![8], state: 3, window: Some(9) });
        for (line, share) in [(template, "on"), (clone, "off")] {
            let window = format!(
                "-object memory-backend-file,id=window,size=67108864,mem-path=/proc/self/fd/9,share={share} \
                 -device ivshmem-plain,memdev=window,master=on"
            );
            assert!(line.contains(&window), "{line}");
        }
        assert!(!of(Origin::Clone { memory: vec![8], state: 3, window: None }).contains("window"));
    }

    #[test]
    fn each_node_has_memory_of_its_own() {
        let nodes = ["node,cpus=0,memory=256M", "node,cpus=1,memory=128M"].map(|text| text.parse().unwrap());
        let spec =
            Spec { hardware: Hardware::new(nodes.to_vec()).unwrap(), memory_mib: 384, ..Spec::example() };
        let origin = Origin::Clone { memory: vec![8, 9], state: 3, window: None };
        let numbers = Numbers { origin, ..Numbers::example(false, false) };
        let clone = arguments(&spec, TCG, Path::new("x"), &numbers, 6).join(" ");
        for (part, mib) in [(0, 256), (1, 128)] {
            let object = format!("id=node{part},size={mib}M");
            let file = format!("mem-path=/proc/self/fd/{},share=off", 8 + part);
            assert!(clone.contains(&format!("-object memory-backend-file,{object},{file} ")), "{clone}");
            let files = from_files(&spec, TCG).join(" ");
            assert!(files.contains(&format!("-object memory-backend-ram,{object} ")), "{files}");
        }
        assert!(!clone.contains("memory-backend="), "{clone}");
    }

    fn with_root(files: Files) -> Spec {
        let root = Root { locator: "x".into(), provenance: String::new(), identity: String::new(), files };
        Spec { root: Some(Arc::new(root)), ..Spec::example() }
    }

    fn with_image(medium: Medium) -> Spec {
        let (path, filesystem) = ("/image".into(), Filesystem::Erofs);
        with_root(Files::Image(Image { path, filesystem, size: 1026 << 20, medium, lease: None }))
    }

    #[test]
    fn a_root_is_read_and_never_written() {
        let numbers = |measures| Numbers { root: Some(9), ..Numbers::example(false, measures) };
        let line =
            |spec: &Spec, measures| arguments(spec, TCG, Path::new("x"), &numbers(measures), 6).join(" ");
        let disk = line(&with_image(Medium::Disk), false);
        let root = "-drive file=/proc/self/fd/9,format=raw,if=none,id=root,readonly=on,file.locking=off \
                    -device virtio-blk-pci,drive=root,serial=kiln-root";
        assert!(disk.contains(root), "{disk}");
        let measuring = Spec { timing: Some(Timing::Host), ..with_image(Medium::Memory) };
        let memory = line(&measuring, true);
        let root = "-object memory-backend-file,id=root,size=1075838976,mem-path=/proc/self/fd/9,readonly=on,share=on \
                    -device virtio-pmem-pci,memdev=root";
        assert!(memory.contains(root) && memory.contains("-m 512M,slots=1,maxmem=3584M"), "{memory}");
        assert!(!memory.contains("virtio-blk"), "{memory}");
    }

    #[test]
    fn directories_of_this_host_are_read_unless_they_are_named() {
        let files = Files::Host(HostFiles { writable: vec!["/srv/a,b".into()] });
        let spec = with_root(files);
        let line = arguments(&spec, TCG, Path::new("x"), &Numbers::example(false, false), 6).join(" ");
        let common = "security_model=none,multidevs=remap";
        for words in [
            format!("-fsdev local,id=kiln-root,path=/,{common},readonly=on "),
            "-device virtio-9p-pci,fsdev=kiln-root,mount_tag=kiln-root ".to_string(),
            format!("-fsdev local,id=kiln-writable-0,path=/srv/a,,b,{common},readonly=off "),
        ] {
            assert!(line.contains(&words), "{line}");
        }
        assert!(!line.contains("virtio-blk"), "{line}");
    }

    #[test]
    fn a_disk_is_there_only_when_asked_for() {
        let line =
            arguments(&Spec::example(), TCG, Path::new("x"), &Numbers::example(true, false), 6).join(" ");
        assert!(
            line.contains("-drive file=/proc/self/fd/7,format=raw,if=none,id=disk,cache=unsafe"),
            "{line}"
        );
    }
}
