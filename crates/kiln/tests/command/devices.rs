//! Machines with more than every machine has: disks, interfaces, IOMMUs, NUMA nodes, firmware.

use std::fs;

use judge::Outcome;
use object::LittleEndian as Little;
use object::elf::{FileHeader64, PT_LOAD, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use rustix::process::Signal;

use crate::experiments::passes;
use crate::services::with_init;
use crate::support::bundle::says_the_same;
use crate::support::{BUILD, COMPLETE, KERNEL, Place, UML, text};

/// Drivers are loaded and disks found before the program starts, in clones, too.
#[test]
fn disks_of_many_buses_are_there_when_a_program_starts() {
    let place = Place::new();
    let body = "set -e
        test $(cat /sys/block/vda/size) = 2097152
        cat /sys/block/vda/serial; grep -q one /sys/block/vda/serial
        ls /sys/block
        sectors=
        for disk in sda sdb sdc; do
            sectors=\"$sectors $(cat /sys/block/$disk/queue/logical_block_size) $(cat /sys/block/$disk/ro)\"
        done
        test \"$(echo $sectors | tr ' ' '\\n' | sort | xargs)\" = '0 0 1 4096 512 512'
        ls /sys/class/net/eth0 /sys/class/net/eth1 /dev/watchdog0
        echo written > /dev/vda";
    let job = place.script("job", body);
    let disks = ["1G,serial=one", "64M,bus=scsi,sector=4096", "32M,bus=ahci", "16M,bus=usb,readonly"];
    let mut options: Vec<&str> = disks.iter().flat_map(|disk| ["--disk", disk]).collect();
    for device in ["nic", "nic,model=e1000", "rng", "watchdog"] {
        options.extend(["--device", device]);
    }
    let done = place.exec_on(COMPLETE, &job, &options).run().expect(0);
    assert_eq!(done.only_run().outcome, Outcome::Pass);
    assert!(!done.stdout.contains("cloned"), "it is a clone: {}", done.stdout);
}

/// QEMU does not save the state of NVMe, so machines boot; and they say why.
#[test]
fn a_machine_that_cannot_be_cloned_boots() {
    let place = Place::new();
    let job = place.script("job", "test $(cat /sys/class/nvme/nvme0/serial) = abc");
    let disk = ["--disk", "64M,bus=nvme,serial=abc"];
    place.exec_on(COMPLETE, &job, &disk).run().expect(0).says("non-migratable device").says("nvme");
}

/// QEMU would free pages of the template, which other clones go on from.
#[test]
fn a_machine_with_a_balloon_boots() {
    let place = Place::new();
    let job = place.script("job", "ls /sys/bus/virtio/drivers/virtio_balloon/virtio*");
    let done = place.exec_on(COMPLETE, &job, &["--device", "balloon"]).run().expect(0);
    done.says("what a balloon frees in a clone would be lost to its template");
}

/// Wherever it is, the console keeps its number.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_further_serial_port_comes_after_kilns_own() {
    let place = Place::new();
    let port =
        |number: u32, address: &str| format!("grep '^{number}: uart:16550A port:00000{address}' $ports");
    let ports = [(0, "3F8"), (1, "2F8"), (2, "2C0")].map(|(number, address)| port(number, address));
    let body = format!("set -e\nports=/proc/tty/driver/serial\ncat $ports\n{}", ports.join("\n"));
    let job = place.script("job", &body);
    for kernel in [KERNEL, COMPLETE] {
        place.exec_on(kernel, &job, &["--device", "serial,name=far,port=0x2c0,irq=10"]).run().expect(0);
    }
}

#[test]
fn a_disk_fails_as_it_was_told_to_and_its_writes_are_logged() {
    let place = Place::new();
    let (log, kept, image) =
        (place.path().join("log"), place.path().join("kept"), place.path().join("image"));
    for disk in [&kept, &image] {
        fs::write(disk, vec![b'x'; 1 << 20]).expect("writable");
    }
    let body = "set -e
        read_sector() { dd if=$1 of=/dev/null bs=512 count=1 skip=$2 iflag=direct; }
        read_sector /dev/vda 0
        ! read_sector /dev/vda 2048
        ! read_sector /dev/vda 2048
        ! read_sector /dev/vdd 2048
        read_sector /dev/vdd 2048
        for disk in vdb vdc; do
            test $(dd if=/dev/$disk bs=1 count=1 2>/dev/null) = x
            echo new | dd of=/dev/$disk conv=fsync
        done";
    let job = place.script("job", body);
    let (kept_disk, image_disk) =
        (format!("file={},writes={}", text(&kept), text(&log)), format!("image={}", text(&image)));
    let bad = "64M,fail=read,bad-sector=2048";
    let disks = [bad, &kept_disk, &image_disk, &format!("{bad},once")];
    let options: Vec<&str> = disks.into_iter().flat_map(|disk| ["--disk", disk]).collect();
    let done = place.exec(&job, &options).run().expect(0).says("stays");
    assert_eq!(done.only_run().outcome, Outcome::Pass);
    assert!(fs::read(&kept).expect("readable").starts_with(b"new\n"), "what is written to a file stays");
    assert!(fs::read(&image).expect("readable").starts_with(b"xxxx"), "an image stays as it is");
    // The magic number of dm-log-writes: drivers/md/dm-log-writes.c.
    assert_eq!(fs::read(&log).expect("readable")[..8], 0x6a_7366_7773_6872_u64.to_le_bytes());
}

/// Lower bounds hold on a host of any speed. The requests of one large read would take 13 s one after the other, and overlap.
#[test]
fn requests_take_their_time_and_overlap() {
    let place = Place::new();
    let (image, file) = (place.path().join("image"), place.path().join("file"));
    for disk in [&image, &file] {
        fs::write(disk, vec![b'x'; 1 << 20]).expect("writable");
    }
    let body = "set -e
        now() { read up idle < /proc/uptime; echo ${up%.*}${up#*.}; }
        reads() { read count rest < /sys/block/vda/stat; echo $count; }
        takes() {
            least=$1; shift; start=$(now); \"$@\"; end=$(now)
            echo \"$((end - start)) of at least $least: $*\"
            test $((end - start + 1)) -ge $least
        }
        fails() { ! \"$@\"; }
        read_sector() { dd if=$1 of=/dev/null bs=512 count=1 skip=$2 iflag=direct; }
        write_sector() { echo new | dd of=$1 bs=512 conv=notrunc,fsync; }
        before=$(reads); start=$(now)
        takes 25 dd if=/dev/vda of=/dev/null bs=64M count=1 iflag=direct
        count=$(($(reads) - before))
        echo $count reads
        test $count -ge 40
        test $(($(now) - start)) -lt $((25 * count))
        for disk in vdb sda; do
            takes 25 read_sector /dev/$disk 0
            test $(dd if=/dev/$disk bs=1 count=1) = x
            takes 50 write_sector /dev/$disk
            test $(dd if=/dev/$disk bs=1 count=3) = new
        done
        takes 25 fails read_sector /dev/vdc 2048
        takes 25 read_sector /dev/vdc 0
        test $(cat /sys/block/vdc/ro) = 1";
    let job = place.script("job", body);
    let run = |second: &str| {
        let scsi = format!("image={},bus=scsi,latency=250ms", text(&image));
        let bad = "64M,readonly,latency=250ms,fail=read,bad-sector=2048";
        let disks = ["64M,latency=250ms", &format!("{second},latency=250ms"), &scsi, bad];
        let options: Vec<&str> = disks.into_iter().flat_map(|disk| ["--disk", disk]).collect();
        place.exec(&job, &options).run().expect(0)
    };
    let cloned = run(&format!("image={}", text(&image)));
    assert!(!cloned.stdout.contains("cloned"), "it is a clone: {}", cloned.stdout);
    run(&format!("file={}", text(&file))).says("stays");
    assert!(fs::read(&file).expect("readable").starts_with(b"new\n"), "what is written to a file stays");
}

#[test]
fn what_a_kernel_lacks_for_a_device_is_a_skip_before_the_boot() {
    let place = Place::new();
    let job = place.script("job", "exit 1");
    let done = place.exec(&job, &["--device", "sound"]).run().expect(4);
    assert_eq!(done.only_run().reason, "the kernel has no module snd_hda_intel, which sound needs");
    let shell = place.kiln(["shell", KERNEL, "--device", "sound", "-c", "true"]).run().expect(2);
    assert!(shell.stderr.contains("snd_hda_intel"), "{}", shell.stderr);
}

/// The agent waits for all disks, and that of a root needs a driver as the others do.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_root_and_a_disk_of_another_bus_are_found() {
    let place = Place::new();
    let job = place.script("job", "test -b /dev/sda && ip -V");
    let options = ["--root", "debian:iproute2", "--disk", "64M,bus=scsi"];
    place.exec_on(COMPLETE, &job, &options).run_within(BUILD).expect(0);
}

/// Bytes of each of two nodes.
const NODE: u64 = 256 << 20;

/// Two nodes of this size. A kernel that found them in one socket would warn in its boot.
const NODES: [&str; 4] = [
    "--device",
    "node,cpus=0,memory=256M,distances=10:30",
    "--device",
    "node,cpus=1,memory=256M,distances=30:10",
];

/// The kernel describes the pages of a node in memory of that node, so that a clone without what its template has written there
/// does not live long. The second time, the template comes out of the store.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn nodes_have_cpus_memory_and_distances_in_clones() {
    let place = Place::new();
    let body = "set -e
        cd /sys/devices/system/node
        test \"$(cat node0/distance) $(cat node1/distance)\" = '10 30 30 10'
        test $(cat node1/cpulist) = 1
        test $(nproc) = 2
        mount -t tmpfs -o size=90% none /mnt
        free() { awk '/MemFree/ { print $4 }' $1/meminfo; }
        for node in 0 1; do
            before=$(free node$node)
            taskset -c $node dd if=/dev/urandom of=/mnt/$node bs=1M count=64
            taskset -c $node cp /mnt/$node /mnt/copy
            cmp /mnt/$node /mnt/copy
            rm /mnt/copy
            echo node $node: $before, $(free node$node)
            test $((before - $(free node$node))) -gt 60000
        done
        umount /mnt
        exit 9";
    let job = place.script("job", body);
    let options = [&NODES[..], &["--device", "hotplug,memory=256M"]].concat();
    let run = || {
        let done = place.exec(&job, &options).run().expect(9);
        assert!(!done.stdout.contains("cloned"), "it is a clone: {}", done.stdout);
        done
    };
    says_the_same(&place, &run(), "job");
    run();
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_dump_has_the_memory_of_all_nodes() {
    let place = Place::new();
    let marker = "written by the second node";
    let body = format!(
        "mount -t tmpfs none /mnt
        taskset -c 1 sh -c 'yes \"{marker}\" | head -c 4194304 > /mnt/marker'
        echo c > /proc/sysrq-trigger"
    );
    let job = place.script("job", &body);
    let done = place.exec(&job, &[&NODES[..], &["--dump"]].concat()).run().expect(1);
    let run = done.only_run();
    assert_eq!(run.outcome, Outcome::Crash);
    let path = run.notes.iter().find_map(|note| note.strip_prefix("memory dump: ")).expect("it was written");
    let content = fs::read(path).expect("it is where the note says");
    let core = FileHeader64::<Little>::parse(&*content).expect("an ELF file");
    let segments = core.program_headers(Little, &*content).expect("they are in the file");
    let lines = |segment: &ProgramHeader64<Little>| {
        let (start, bytes) = (segment.p_paddr(Little), segment.data(Little, &*content).expect("in the file"));
        let second = bytes.get(usize::try_from(NODE.saturating_sub(start)).expect("small")..);
        second.map_or(0, |second| {
            second.windows(marker.len()).filter(|bytes| *bytes == marker.as_bytes()).count()
        })
    };
    let loaded = segments.iter().filter(|segment| segment.p_type(Little) == PT_LOAD);
    let found: usize = loaded.map(lines).sum();
    assert!(found > 100_000, "{found} lines");
}

#[test]
fn what_a_kernel_does_not_print_is_read_from_the_memory_of_nodes() {
    let place = Place::new();
    let job = place.script("job", "exit 0");
    let options = [&NODES[..], &["--append", "loglevel=0 rdinit=/nowhere"]].concat();
    let done = place.exec(&job, &options).run().expect(1);
    let reason = done.only_run().reason;
    assert!(reason.starts_with("the kernel panicked: VFS: Unable to mount root fs"), "{reason}");
}

#[test]
fn a_kernel_starts_from_uefi() {
    let place = Place::new();
    let job = place.script("job", "test -d /sys/firmware/efi");
    place.exec(&job, &["--device", "uefi"]).run().expect(0);
}

/// In a clone, too, whose program comes by a device that no firmware has switched on.
#[test]
fn a_kernel_starts_without_a_bios() {
    let place = Place::new();
    let job = place.script("job", "grep -q SeaBIOS /sys/class/dmi/id/bios_vendor && exit 1 || exit 0");
    assert_eq!(place.exec(&job, &["--device", "qboot"]).run().expect(0).only_run().clone, 1);
    let both = place.exec(&job, &["--device", "qboot", "--device", "uefi"]).run().expect(2);
    assert!(both.stderr.contains("a machine has one firmware"), "{}", both.stderr);
}

/// What is plugged in comes and goes while the machine runs: docs/devices.md.
#[test]
fn memory_comes_and_goes() {
    let steps = r#"
def total(m):
    return int(m.run("grep MemTotal /proc/meminfo | tr -dc 0-9").output)

def resize(m, bytes):
    m.qmp("qom-set", path = "/machine/peripheral/more", property = "requested-size", value = bytes)

def it(lab):
    m = lab.machine(devices = ["hotplug,memory=1G", "slot,id=s0", "balloon"])
    m.modprobe("virtio_mem")
    before = total(m)
    m.write("/sys/devices/system/memory/auto_online_blocks", "online_movable")
    m.qmp("object-add", **{"qom-type": "memory-backend-ram", "id": "room", "size": 1 << 30})
    m.plug("qemu:virtio-mem-pci,id=more,bus=s0,memdev=room")
    resize(m, 256 << 20)
    m.wait_for("test $(grep MemTotal /proc/meminfo | tr -dc 0-9) -ge %d" % (before + 250000), where = "command")
    resize(m, 0)
    m.wait_for("test $(grep MemTotal /proc/meminfo | tr -dc 0-9) -le %d" % before, where = "command")
    m.qmp("balloon", value = 512 << 20)
    m.wait_for("test $(grep MemTotal /proc/meminfo | tr -dc 0-9) -lt %d" % (before - 300000), where = "command")

step(it)
"#;
    passes(&Place::new(), KERNEL, steps);
}

#[test]
fn an_iommu_translates_for_what_is_behind_it() {
    let place = Place::new();
    let job = place.script(
        "job",
        "ls /sys/kernel/iommu_groups/ | grep -q . && dd if=/dev/vda of=/dev/null bs=4k count=16",
    );
    let options = ["--device", "iommu,intel,virtio", "--append", "intel_iommu=on", "--disk", "16M"];
    place.exec(&job, &options).run().expect(0);
}

/// Each machine has a TPM of its own.
#[test]
fn a_tpm_answers() {
    let place = Place::new();
    let body = "set -e
        test -c /dev/tpm0
        test $(cat /sys/class/tpm/tpm0/tpm_version_major) = 2
        test $(cat /sys/class/tpm/tpm0/pcr-sha256/0 | wc -c) = 65
        test $(cat /sys/class/tpm/tpm0/pcr-sha256/16) = $(printf '%064d' 0)
        exit 9";
    let job = place.script("job", body);
    for device in ["tpm", "tpm,interface=tis"] {
        let done = place.exec(&job, &["--device", device]).run().expect(9);
        assert!(!done.stdout.contains("cloned"), "it is a clone: {}", done.stdout);
    }
    let bundle = place.kiln(["bundle", "last", "-o", text(&place.path().join("b.tar"))]).run().expect(2);
    assert!(bundle.stderr.contains("a bundle cannot hold a TPM"), "{}", bundle.stderr);
}

/// The init of a root runs before the machine is cloned.
#[test]
fn a_clone_goes_on_with_the_tpm_of_its_template() {
    // TPM2_PCR_Extend of PCR 16 by 32 letters, with an empty password.
    const EXTEND: &str = r"\200\2\0\0\0\101\0\0\1\202\0\0\0\20\0\0\0\11\100\0\0\11\0\0\0\0\0\0\0\0\1\0\13";
    // SHA-256 of 32 zeros and these letters.
    const EXTENDED: &str = "02E1135630209ABF08D0402D579A5282ED2B5B50BB51EE0ED1450792D5D979A0";
    let place = Place::new();
    let letters = "a".repeat(32);
    let init = format!("printf '{EXTEND}{letters}' > /dev/tpm0\nexec /sbin/services");
    let root = with_init(&place, &place.script("first", &init));
    fs::copy(place.kept_program("init"), root.join("sbin/services")).expect("writable");
    let job =
        place.script("job", &format!("test $(busybox cat /sys/class/tpm/tpm0/pcr-sha256/16) = {EXTENDED}"));
    let options = ["--root", text(&root), "--systemd", "--device", "tpm"];
    let done = place.exec(&job, &options).run().expect(0);
    assert!(!done.stdout.contains("cloned"), "it is a clone: {}", done.stdout);
}

#[test]
fn a_tpm_does_not_outlive_a_kiln_that_is_killed() {
    let place = Place::new();
    let job = place.script("job", "sleep 1000");
    let running = place.exec(&job, &["--device", "tpm"]).start();
    assert!(running.program("swtpm") > 0 && running.qemu() > 0);
    running.signal(Signal::KILL);
    // Waits for all that it started.
    assert_eq!(running.wait().code, None);
}

#[test]
fn without_swtpm_there_is_no_tpm() {
    let place = Place::new();
    let bin = place.path().join("bin");
    fs::create_dir(&bin).expect("writable");
    let qemu = host::find_program("qemu-system-x86_64").expect("installed");
    std::os::unix::fs::symlink(qemu, bin.join("qemu-system-x86_64")).expect("writable");
    let job = place.script("job", "exit 0");
    let done = place.exec(&job, &["--device", "tpm"]).env("PATH", text(&bin)).run().expect(2);
    assert!(done.stderr.contains("swtpm is not installed: apt-get install swtpm"), "{}", done.stderr);
}

/// All of the machine is in the bundle.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_failure_on_a_disk_is_handed_over() {
    let place = Place::new();
    let image = place.file("image", vec![b'x'; 1 << 16]);
    let job = place
        .script("job", "test $(dd if=/dev/vdb bs=1 count=1 2>/dev/null) = x && echo a > /dev/vda && exit 9");
    let options = ["--disk", "16M,latency=10ms", "--disk", &format!("image={}", text(&image))];
    let done = place.exec(&job, &options).run().expect(9);
    says_the_same(&place, &done, "job");
    let written = place.exec(&job, &["--disk", "16M", "--disk", &format!("file={}", text(&image))]);
    written.run().expect(9);
    let bundle = place.kiln(["bundle", "last", "-o", text(&place.path().join("b.tar"))]).run().expect(2);
    assert!(bundle.stderr.contains("a bundle cannot hold"), "{}", bundle.stderr);
}

#[test]
fn user_mode_linux_has_disks_and_nothing_else() {
    let place = Place::new();
    let job = place.script("job", "test $(cat /sys/block/ubdc/size) = 32768");
    place.exec_on(UML, &job, &["--disk", "16M"]).run().expect(0);
    for device in [["--device", "nic"], ["--disk", "16M,bus=nvme"], ["--disk", "16M,latency=5ms"]] {
        let refused = place.exec_on(UML, &job, &device).run().expect(2);
        assert!(refused.stderr.contains("User-Mode Linux has only disks"), "{}", refused.stderr);
    }
}

#[test]
fn devices_that_no_machine_has() {
    let place = Place::new();
    let job = place.script("job", "exit 0");
    for (options, words) in [
        (&["--device", "floppy"][..], "there is no device \"floppy\""),
        (&["--disk", "4X"], "disk has no option \"4X\""),
        (&["--disk", "file=/no/such"], "/no/such, which a device of the machine uses: No such file"),
        (&["--device", "iommu,intel", "--device", "iommu,amd"], "a machine has one iommu"),
        (
            &["--device", "topology,sockets=2", "--cpus", "3"],
            "--cpus is 3, but the devices of the machine make 2",
        ),
        (&["--device", "qemu:no-such-device"], "no-such-device"),
    ] {
        let done = place.exec(&job, options).run();
        assert!(
            done.stderr.contains(words) || done.stdout.contains(words),
            "{options:?}: {}{}",
            done.stdout,
            done.stderr
        );
        assert!(matches!(done.code, Some(2 | 3)), "{options:?}: {:?}", done.code);
    }
    let counted = place.kiln(["measure", KERNEL, "--metric", "pipe/*", "--disk", "16M"]).run().expect(2);
    assert!(counted.stderr.contains("--timed can have it"), "{}", counted.stderr);
}
