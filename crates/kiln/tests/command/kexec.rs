//! Machines of lab scripts that go over to another kernel.

use crate::experiments::{call, folder, passes, result};
use crate::support::{BUILD, COMPLETE, KERNEL, Place};

/// What is in memory is gone, the program of the machine and its disks stay.
#[test]
fn a_machine_goes_over_to_its_own_kernel_with_other_parameters() {
    let steps = r#"
def over(lab):
    m = lab.machine(append = "first=1", disks = ["16M"])
    m.write("/tmp/x", "gone")
    m.run("echo kept | dd of=/dev/vda conv=sync,fsync")
    m.snapshot()
    waits = m.start("sleep 1000")
    m.kexec(append = "second=2")
    line = m.read("/proc/cmdline")
    expect("second=2" in line and "first=1" not in line, line)
    expect(m.read("/tmp/x", allow = ["refused"]) == None, "a file in memory is gone")
    expect("kept" in m.run("dd if=/dev/vda count=1 2>/dev/null").output, "a disk keeps what was flushed")
    expect(waits.wait(allow = ["stopped"]).error == "stopped", "a command has ended")
    expect(m.restore(allow = ["refused"]).error == "refused", "a snapshot is of the other kernel")

    m.sysctl("kernel.kexec_load_disabled", 1)
    note(m.kexec(allow = ["refused"]).reason)
    m.run("echo alive")

step(over)
"#;
    let output = passes(&Place::new(), KERNEL, steps);
    assert!(output.contains("the next kernel cannot be loaded: Operation not permitted"), "{output}");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_machine_goes_over_to_another_kernel_and_boots_its_own() {
    let script = r#"
experiment(question = "why?", time = "5m", kernels = 2)

def over(lab):
    m = lab.machine()
    m.kexec(kernel = lab.kernels[1])
    expect(m.run("uname -r").output.strip() == lab.kernels[1].release, "it is the other kernel")
    m.modprobe("dummy")
    expect("dummy" in m.read("/proc/modules"), "with modules of its own")
    m.reboot()
    expect(m.run("uname -r").output.strip() == lab.kernels[0].release, "firmware starts the first one")
    m.snapshot()
    m.restore()
    m.kexec(append = "again=1")
    expect("again=1" in m.read("/proc/cmdline"), "and a machine that was not cloned can do it, too")

def dies(lab):
    m = lab.machine()
    expect(m.kexec(append = "rdinit=/none", allow = ["crash"]).error == "crash", "it has no init")
    expect(m.run("true", allow = ["stopped"]).error == "stopped", "and is off")

step(over)
step(dies)
"#;
    let place = Place::new();
    let folder = folder(&place, script);
    let result = result(&call(&place, &folder, &[KERNEL, "--kernel", COMPLETE]).run_within(BUILD));
    assert_eq!(result.outcome, judge::Outcome::Pass, "{result:#?}");
}

#[test]
fn user_mode_linux_has_no_kexec() {
    let steps =
        "def it(lab):\n    m = lab.machine()\n    note(m.kexec(allow = [\"missing\"]).reason)\nstep(it)\n";
    let missing = passes(&Place::new(), "uml:deb", steps);
    assert!(missing.contains("User-Mode Linux has no kexec: use a kernel for QEMU"), "{missing}");
}
