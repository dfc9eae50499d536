//! KVM, anywhere: QEMU emulates AMD's SVM, so a machine of kiln with the module `kvm-amd` is a host with a `/dev/kvm` that
//! works. In it runs a second kiln, with a QEMU of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use judge::Outcome;

use crate::support::planted::Fault;
use crate::support::{BUILD, Place, kernel, kernel_of};

/// A kernel that has KVM; those for clouds have not.
const HOST: &str = "deb:6.1.0-56-amd64";

/// What the inner QEMU reads besides its libraries.
const FIRMWARE: [&str; 4] = [
    "/usr/share/seabios/bios-256k.bin",
    "/usr/share/qemu/linuxboot_dma.bin",
    "/usr/share/qemu/kvmvapic.bin",
    "/usr/share/seabios/vgabios-stdvga.bin",
];

#[test]
fn a_kvm_that_does_not_work_is_one_short_line_a_day() {
    let place = Place::new();
    let program = place.script("quiet", "exit 0");
    // What kiln found out about this boot of the host, and when it said so.
    let cache = place.templates();
    let (found, said) = (cache.join("kiln/kvm"), cache.join("kiln/kvm-said"));
    if found.is_symlink() {
        fs::remove_file(&found).expect("ours");
    }
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    fs::write(&found, format!("{}\nit is planted\n", boot.trim())).expect("writable");
    let lines = || {
        let done = place.exec(&program, &[]).env("XDG_CACHE_HOME", &cache).run().expect(0);
        done.stdout.lines().filter(|line| line.contains("KVM")).map(str::to_string).collect::<Vec<_>>()
    };
    let expected: &[&str] = if Path::new("/dev/kvm").exists() { &["KVM does not work here"] } else { &[] };
    let is_told = |lines: &[String]| {
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        assert!(
            lines.iter().zip(expected).all(|(line, text)| line.contains(text) && line.len() < 100),
            "{lines:?}"
        );
    };
    is_told(&lines());
    assert_eq!(lines(), [""; 0], "today it was said");
    if let Ok(file) = fs::File::options().write(true).open(&said) {
        let days = std::time::Duration::from_secs(2 * 24 * 3600);
        file.set_modified(std::time::SystemTime::now() - days).expect("ours");
    }
    is_told(&lines());
}

/// Before each script: where things are, and a check that reports.
const PROLOGUE: &str = r#"
    export KILN_TIMEOUT_MUL=20 XDG_CACHE_HOME=/tmp/cache XDG_STATE_HOME=/tmp/state HOME=/root
    mkdir -p /usr/share/qemu /usr/share/seabios
    cp /suite/firmware/* /usr/share/qemu
    cp /suite/firmware/* /usr/share/seabios
    script() { printf '#!/bin/sh\n%s\n' "$2" > $1; chmod +x $1; }
    inner() { kiln "$@" > /tmp/said 2>&1; }
    says() {
        if grep -q "$1" /tmp/said; then kiln-report pass "$1"; else cat /tmp/said; kiln-report fail "$1"; fi
    }
    ends() {
        code=$1; shift
        inner "$@"; was=$?
        if [ $was = $code ]; then kiln-report pass "$*"
        else cat /tmp/said; kiln-report fail "$*: exit code $was, expected $code"; fi
    }
    run() {
        code=$1; shift
        ends $code run /suite/bzImage --accel kvm --memory 512M --timeout 300s --no-retry "$@"
    }
"#;

/// Runs scripts in machines that have KVM; each must pass.
fn in_hosts(place: &Place, cases: &[(&str, &str)]) {
    kernel_of(HOST);
    let scripts: Vec<(&str, String)> =
        cases.iter().map(|(name, body)| (*name, format!("{PROLOGUE}\n{body}"))).collect();
    let scripts: Vec<(&str, &str)> = scripts.iter().map(|(name, body)| (*name, body.as_str())).collect();
    let suite = place.suite(&scripts);
    fill(Path::new(&suite));
    let programs = programs(place);
    let needs =
        "module=irqbypass,module=ccp,module=kvm-amd,program=qemu-system-x86_64,program=kiln,memory=4G";
    let call = ["run", HOST, "--no-retry", "--suite", &suite, "--need", needs, "--case-timeout", "600s"];
    // The emulated processor says that its state is larger than what it then saves.
    let call = call.iter().chain(&["--append", "noxsave"]);
    let done = place.kiln(call).env("PATH", programs).run_within(BUILD).expect(0);
    for (name, _) in cases {
        let run = done.document(name);
        assert_eq!((run.outcome, run.counts.fail), (Outcome::Pass, 0), "{}", run.output);
    }
}

/// Where this host finds its programs, and first of all kiln without what a debugger needs: that would be too large.
fn programs(place: &Place) -> String {
    let folder = place.path().join("bin");
    fs::create_dir_all(&folder).expect("writable");
    let strip =
        Command::new("strip").arg("-o").arg(folder.join("kiln")).arg(env!("CARGO_BIN_EXE_kiln")).status();
    assert!(strip.is_ok_and(|status| status.success()), "binutils are there");
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// What the scripts read: the kernel of the inner machines, and QEMU's firmware.
fn fill(suite: &Path) {
    fs::create_dir_all(suite.join("firmware")).expect("writable");
    fs::copy(kernel().image, suite.join("bzImage")).expect("readable");
    for path in FIRMWARE {
        let name = Path::new(path).file_name().expect("a file");
        fs::copy(path, suite.join("firmware").join(name)).expect("QEMU came with it");
    }
}

#[test]
fn a_case_runs_in_a_clone_under_kvm() {
    let body = "ends 0 doctor; says '^ok *KVM .*executes 64-bit code'
                run 0 --suite full --case process/no-child
                says 'QEMU with KVM'; says ' 1 pass'";
    in_hosts(&Place::new(), &[("clone", body)]);
}

#[test]
#[ignore = "takes minutes"]
fn kernels_die_and_are_compared_under_kvm() {
    let place = Place::new();
    place.suite(&[]);
    let spin = place.planted("spin", Fault::Spin, "");
    // Not executable: it is no case of the suite.
    fs::write(place.path().join("suite/spin.bin"), fs::read(spin).expect("just built")).expect("writable");
    let cases = [
        (
            "panic",
            "script panic.sh 'echo c > /proc/sysrq-trigger'
             run 1 --dump --exec ./panic.sh
             says 'Kernel panic: sysrq triggered crash'
             dump=$(find /tmp/state -name '*.vmcore')
             if [ $(stat -c %s \"$dump\") -ge $((512 << 20)) ]; then kiln-report pass dump; else kiln-report fail dump; fi",
        ),
        (
            "hang",
            "cp /suite/spin.bin spin; chmod +x spin
             export KILN_TIMEOUT_MUL=1
             run 1 --cpus 1 --exec ./spin
             says 'the machine stopped answering for'
             if grep -rq 'Kernel panic - not syncing: NMI' /tmp/state; then kiln-report pass nmi; else kiln-report fail nmi; fi",
        ),
        ("cpus", "run 0 --suite full --case process/no-child --cpus 2; says ' 1 pass'"),
        ("clones", "run 0 --suite full --case 'process/*'; says ' pass'"),
        ("one-boot", "run 0 --suite full --case 'process/*' --isolation suite; says ' pass'"),
        (
            "codes",
            "script pass.sh 'exit 0'; script fail.sh 'exit 7'; script signal.sh 'kill -TERM $$'; script restart.sh 'reboot -f'
             run 0 --exec ./pass.sh; run 7 --exec ./fail.sh; run 143 --exec ./signal.sh
             run 3 --exec ./restart.sh; run 2 --exec ./missing.sh",
        ),
        (
            "timed",
            "ends 0 compare /suite/bzImage /suite/bzImage --timed --accel kvm --metric syscall/getppid --budget 3m
             says 'syscall/getppid'",
        ),
    ];
    in_hosts(&place, &cases);
}
