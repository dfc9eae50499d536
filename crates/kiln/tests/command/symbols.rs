//! What a package of symbols gives: source lines in back traces of a stock kernel, and a dump that crash(8) opens.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{KERNEL, Place, cache, kernel};

/// The vmlinux with debugging information of [`KERNEL`], out of its package.
fn vmlinux() -> PathBuf {
    let release = KERNEL.trim_start_matches("deb:");
    let root = cache().join("symbols");
    let vmlinux = root.join("usr/lib/debug/boot").join(format!("vmlinux-{release}"));
    std::fs::create_dir_all(&root).expect("the cache is writable");
    let lock = File::create(root.join("lock")).expect("the cache is writable");
    lock.lock().expect("it can be locked");
    if !root.join("ready").is_file() {
        let folder = tempfile::tempdir_in(&root).expect("the cache is writable");
        let package = format!("linux-image-{release}-dbg");
        let fetched =
            Command::new("apt-get").args(["download", "--", &package]).current_dir(folder.path()).output();
        assert!(fetched.is_ok_and(|done| done.status.success()), "apt has {package}");
        let package =
            std::fs::read_dir(folder.path()).expect("it is ours").flatten().next().expect("fetched");
        let mut packed = Command::new("dpkg-deb")
            .arg("--fsys-tarfile")
            .arg(package.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this is Debian");
        let mut unpack = Command::new("tar");
        // The directory is that of the names behind it.
        unpack.arg("--directory").arg(&root);
        unpack.args(["--extract", "--wildcards", "./usr/lib/debug/boot/vmlinux*"]);
        let unpacked = unpack.stdin(packed.stdout.take().expect("a pipe")).status();
        assert!(unpacked.is_ok_and(|status| status.success()) && packed.wait().is_ok() && vmlinux.is_file());
        File::create(root.join("ready")).expect("writable");
    }
    vmlinux
}

#[test]
fn where_a_silent_kernel_is_is_named_by_its_own_map() {
    let place = Place::new();
    let shell = ["shell", KERNEL, "--append", "nokaslr", "-c", "cat /proc/kallsyms"];
    let map = place.kiln(shell).run().expect(0).stdout;
    let root = place.installed(&kernel().image, &["PRINTK", "SERIAL_8250_CONSOLE"]);
    std::fs::write(root.join("boot/System.map-6.1.0-made-up"), &map).expect("it is ours");
    // It stops in its panic, and tells what KASLR did.
    let root = root.to_str().expect("paths of tests are UTF-8");
    let append = ["--append", "loglevel=0 panic=0 rdinit=/nowhere"];
    let done = place.kiln(["run", root, "--case", "pipe/full"].iter().chain(&append)).run().expect(1);
    let run = done.document("boot");
    let after = |text: &str| run.evidence.iter().find_map(|line| line.strip_prefix(text));
    let number = |text: Option<&str>| {
        let digits = text.and_then(|text| text.split(' ').next()).expect("a number");
        u64::from_str_radix(digits.trim_start_matches("0x"), 16).expect("hexadecimal")
    };
    let counter = after("RIP=");
    let (_, name) = counter.and_then(|text| text.split_once(" (")).expect("it is named");
    let (name, offset) =
        name.split_once(')').and_then(|(name, _)| name.split_once("+0x")).expect("an offset");
    let address = number(counter) - number(after("Kernel Offset: ")) - number(Some(offset));
    assert!(
        map.contains(&format!("{address:016x} t {name}\n"))
            || map.contains(&format!("{address:016x} T {name}\n"))
    );
}

#[test]
#[ignore = "fetches 283 MB"]
fn a_stock_kernel_is_decoded_with_its_symbols() {
    let place = Place::new();
    let image = place.path().join("vmlinuz");
    std::fs::copy(kernel().image, &image).expect("readable");
    symlink(vmlinux(), place.path().join("vmlinux")).expect("it is new");
    let program = place.script("panic", "echo c > /proc/sysrq-trigger");
    let image = image.to_str().expect("paths of tests are UTF-8");
    let done = place.exec_on(image, &program, &["--memory", "256M", "--dump"]).run().expect(1);
    let run = done.document("panic");
    let shows = |text: &str| run.evidence.iter().any(|line| line.contains(text));
    assert!(shows("sysrq_handle_crash+0x16/0x20 (drivers/tty/sysrq.c:155)"), "{:?}", run.evidence);
    assert!(shows("do_syscall_x64 (arch/x86/entry/common.c:46) [inline]"), "{:?}", run.evidence);

    let dump =
        run.notes.iter().find_map(|note| note.strip_prefix("memory dump: ")).expect("it was asked for");
    let commands = place.file("commands", "bt\nlog\nquit\n");
    let opened = Command::new("crash").arg("-s").arg("-i").arg(commands).arg(vmlinux()).arg(dump).output();
    let said = opened.expect("scripts/setup installs it").stdout;
    let said = String::from_utf8_lossy(&said);
    for text in
        ["sysrq_handle_crash at ", "COMMAND: \"panic\"", "Kernel panic - not syncing: sysrq triggered crash"]
    {
        assert!(said.contains(text), "no {text:?} in {said}");
    }
}
