//! Experiments: lab scripts with machines, disks and segments.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use judge::{Blame, Outcome, Run};
use lab::Event;
use rustix::process::Signal;

use crate::support::processes::{self, Process, command_line};
use crate::support::{BUILD, COMPLETE, Call, Done, KERNEL, Place, text, until};

/// The page about the language.
const PAGE: &str = include_str!("../../../../docs/scripts.md");

/// How a script begins.
const BEGIN: &str = "experiment(question = \"why?\", time = \"5m\")\n";

/// A folder with this script.
pub(crate) fn folder(place: &Place, script: &str) -> PathBuf {
    let folder = place.path().join("it");
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join("experiment.star"), script).expect("writable");
    folder
}

pub(crate) fn call(place: &Place, folder: &Path, more: &[&str]) -> Call {
    place.kiln([&["exp", "run", text(folder), "--format", "json", "--kernel"][..], more].concat())
}

/// The Run of the only session that was printed.
#[track_caller]
pub(crate) fn result(done: &Done) -> Run {
    let events = done.stdout.lines().map(|line| serde_json::from_str(line).expect("an event"));
    let runs = events.filter_map(|event| if let Event::Finished(run) = event { Some(*run) } else { None });
    let runs: Vec<Run> = runs.collect();
    let [run] = &runs[..] else { panic!("one run: {}{}", done.stdout, done.stderr) };
    run.clone()
}

/// What the only experiment with results in this folder has recorded so far.
fn journal(results: &Path) -> Option<String> {
    let mut entries = fs::read_dir(results).ok()?.flatten();
    entries.find_map(|entry| fs::read_to_string(entry.path().join("journal.jsonl")).ok())
}

/// The steps of a script, run; gives what it recorded.
#[track_caller]
pub(crate) fn passes(place: &Place, kernel: &str, steps: &str) -> String {
    let folder = folder(place, &format!("{BEGIN}{steps}"));
    let result = result(&call(place, &folder, &[kernel]).run_within(BUILD));
    assert_eq!(result.outcome, judge::Outcome::Pass, "{result:#?}");
    result.output
}

#[test]
fn the_example_of_the_book_runs() {
    let place = Place::new();
    let (_, example) = PAGE.split_once("```python\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let folder = folder(&place, example);
    let checked = place.kiln(["exp", "check", text(&folder)]).run().expect(0);
    checked.says("nothing is wrong").says("steps      lossy");
    let result = result(&call(&place, &folder, &[KERNEL]).run_within(BUILD).expect(0));
    assert!(result.output.contains("throughput = "), "{}", result.output);
}

#[test]
fn a_new_experiment_runs_at_once_and_is_listed() {
    let place = Place::new();
    let path = place.path().join("experiments/mine");
    place.kiln(["exp", "new", text(&path)]).run().expect(0).says("kiln exp run");
    let again = place.kiln(["exp", "new", text(&path)]).run().expect(2);
    assert!(again.stderr.contains("is there already"), "{}", again.stderr);
    place
        .kiln(["exp", "run", text(&path), "--kernel", KERNEL])
        .run()
        .expect(0)
        .says("pass    exp/mine on deb:");
    let shown = place.kiln(["exp", "show", text(&path)]).run().expect(0);
    shown.says("Does a file that was synced survive").says("pass").says("sync = ");
}

#[test]
fn a_machine_that_dies_of_what_was_done_to_it_has_crashed() {
    let place = Place::new();
    let steps = r#"
def kill(lab):
    machine = lab.machine()
    for _ in range(100):
        machine.nmi()
        lab.sleep("200ms")

step(kill)
"#;
    let folder = folder(&place, &format!("{BEGIN}{steps}"));
    let result = result(&call(&place, &folder, &[KERNEL]).run());
    assert_eq!(result.outcome, Outcome::Crash, "{result:#?}");
    assert!(result.reason.contains("NMI: Not continuing"), "{result:#?}");
}

#[test]
fn what_a_kernel_reports_is_shown_with_its_stack() {
    let place = Place::new();
    // The tracepoint of the console may not be used in an NMI, and 6.1 uses it.
    let steps = r#"
def warn(lab):
    machine = lab.machine()
    machine.sysctl("kernel.unknown_nmi_panic", 0)
    tracefs = "/sys/kernel/tracing"
    machine.run("mount -t tracefs none %s 2>/dev/null; echo 1 >%s/events/printk/enable" % (tracefs, tracefs))
    for _ in range(100):
        machine.nmi()
        machine.run("sleep 0.1")

step(warn)
"#;
    let folder = folder(&place, &format!("{BEGIN}{steps}"));
    let result = result(&call(&place, &folder, &[KERNEL]).run());
    assert_eq!(
        (result.outcome, result.reason.as_str()),
        (Outcome::Fail, "WARNING in printk_sprint"),
        "{result:#?}"
    );
    assert!(result.evidence.iter().any(|line| line.contains("Call Trace")), "{result:#?}");
}

/// Machines of one template on a segment: each with an address of its own, a cable that can be cut, and an end of its own.
#[test]
fn machines_on_a_segment_reach_each_other_until_it_is_cut() {
    let place = Place::new();
    let steps = r#"
def talk(lab):
    wire = lab.segment(delay = "1ms")
    a = lab.machine(nics = [wire.nic()])
    b = lab.machine(nics = [wire.nic("10.77.0.9")])
    a.run("ping -c 1 10.77.0.9 && ping -c 1 10.77.0.1")
    wire.cut(a, b)
    expect(a.run("ping -c 1 -W 1 10.77.0.9", allow = ["exit"]).status == 1, "nothing passes")
    wire.heal()
    a.run("ping -c 1 10.77.0.9")
    wire.impair(sender = a, loss = 1)
    expect(a.run("ping -c 1 -W 1 10.77.0.9", allow = ["exit"]).status == 1, "all is lost")
    expect(wire.statistics()["10.77.0.2"]["lost"] > 0, "it is counted")
    note(wire.capture())
    ended = b.run("echo c > /proc/sysrq-trigger", allow = ["crash"])
    expect(ended.error == "crash", "a machine dies alone")
    expect(a.run("echo alive").output == "alive\n", "the other one lives")

step(talk)
"#;
    let output = passes(&place, KERNEL, steps);
    assert!(output.contains("frames.pcapng"), "{output}");
}

/// A listener on the loopback interface of this host is reached from a segment with a way out, and from no other.
#[test]
fn a_segment_has_a_way_out_when_it_is_asked_for() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        listener.incoming().flatten().try_for_each(|mut peer| peer.write_all(b"hello\n"))
    });
    let steps = r#"
def talk(lab):
    inside, outside = lab.segment(), lab.segment(outside = True, network = "10.78.0.0/24")
    a = lab.machine(nics = [inside.nic()])
    b = lab.machine(nics = [outside.nic()])
    c = lab.machine(nics = [outside.nic()])
    ask = "nc -w 5 %s PORT < /dev/null"
    expect(b.run(ask % "10.78.0.254").output == "hello\n", "the host is there")
    expect(c.run("ping -c 1 10.78.0.2 && " + ask % "10.78.0.254").output.endswith("hello\n"), "for each machine")
    expect(outside.statistics()["10.78.0.254"]["sent"]["frames"] > 0, "the gateway is a station")
    for address in ["10.77.0.254", "10.78.0.254"]:
        expect(a.run(ask % address, allow = ["exit"]).status == 1, "no way out")

step(talk)
"#;
    passes(&place, KERNEL, &steps.replace("PORT", &port.to_string()));
}

/// Whoever does not reach the outside then is not to blame.
#[test]
fn a_way_out_that_ends_is_the_fault_of_the_host() {
    let place = Place::new();
    let steps = r#"
def waits(lab):
    wire = lab.segment(outside = True)
    m = lab.machine(nics = [wire.nic()])
    note("it is time")
    for _ in range(6000):
        m.run("ping -c 1 10.77.0.254")
        lab.sleep("100ms")

step(waits)
"#;
    let folder = folder(&place, &format!("{BEGIN}{steps}"));
    let results = place.path().join("results");
    let running = call(&place, &folder, &[KERNEL, "--results", text(&results)]).start();
    until("it is time", || journal(&results)?.contains("it is time").then_some(()));
    let is_gateway = |process: &&Process| command_line(process.id).contains("hubport");
    let all = processes::marked(running.mark());
    processes::signal(all.iter().find(is_gateway).expect("it runs").id, Signal::KILL);
    let run = result(&running.wait().expect(3));
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Host)), "{run:?}");
    assert!(run.reason.contains("the way out of a segment has ended: QEMU: ended by signal 9"), "{run:?}");
}

/// What a script can do to a machine from inside and from outside.
#[test]
fn a_script_has_files_modules_devices_and_the_power_in_its_hand() {
    let place = Place::new();
    let steps = r#"
def received(lab, m):
    line = ""
    for _ in range(600):
        line += m.receive("line")
        if line.endswith("\n"):
            break
        lab.sleep("100ms")
    return line

def inside(lab):
    m = lab.machine(disks = ["16M,serial=d0", "16M,fail=read,bad-sector=0"], devices = ["slot,id=s0", "serial,name=line"])
    text = "text" * 10000 + "\nno line feed at its end"
    m.write("/tmp/x", text)
    expect(m.read("/tmp/x") == text, "a file comes back")
    m.put(lab.file("experiment.star"))
    expect("def inside" in m.read("/tmp/experiment.star"), "so does one of the folder")
    expect(m.read("/none", allow = ["refused"]) == None, "a file that is not there is refused")
    note("kept " + m.get("/proc/version"))
    m.modprobe("dummy", params = {"numdummies": 3})
    expect(m.run("ls -d /sys/class/net/dummy*").output.count("dummy") == 3, "with its parameters")
    m.rmmod("dummy")
    m.sysctl("kernel.panic", 7)
    expect(m.sysctl("kernel.panic") == "7", "a sysctl is what it was set to")
    expect(m.run("dd if=/dev/vdb count=1", allow = ["exit"]).status == 1, "the disk fails")
    job = m.start("echo ready; sleep 600")
    m.wait_for("test -d /proc", where = "command")
    job.kill()
    expect(job.wait(allow = ["signal"]).signal == 9, "a command can be ended")
    m.run("echo marked > /dev/kmsg")
    m.wait_for("marked")
    expect(m.run("sleep 100", timeout = "1ms", allow = ["timeout"]).error == "timeout", "a command has a limit")

    refused = m.plug("balloon", allow = ["refused"])
    expect("lost to its template" in refused.reason, "a clone has no balloon")
    in_words = "device_add virtio-balloon-pci,bus=s0"
    expect(m.qmp("device_add", driver = "virtio-balloon-pci", bus = "s0", allow = ["refused"]) == None, "in no words")
    expect(m.qmp("human-monitor-command", **{"command-line": in_words, "allow": ["refused"]}) == None, "not in these")
    m.plug("qemu:e1000,id=n0,bus=s0")
    m.wait_for("grep -q 0x8086 /sys/bus/pci/devices/0000:01:00.0/vendor", where = "command", timeout = "60s")
    m.unplug("n0")
    expect(m.run("ls /sys/bus/pci/devices/0000:01:00.0", allow = ["exit"]).status != 0, "it is gone")
    expect(m.qmp("query-status")["running"], "it runs")
    m.pause()
    m.resume()
    expect(len(m.memory(0x1000, 16)) == 16 and len(m.registers()) > 0, "its memory can be read")
    threads = [each for each in m.tasks() if each["name"] == "kthreadd"]
    expect(threads[0]["calls"][-1]["text"].startswith("ret_from_fork"), "its tasks can be read")
    m.run("stty -F /dev/ttyS2 raw -echo && echo hello > /dev/ttyS2")
    expect(received(lab, m) == "hello\n", "a serial port leads to the script")
    reader = m.start("exec 3< /dev/ttyS2; touch /tmp/open; head -n 1 <&3")
    m.wait_for("test -e /tmp/open", where = "command")
    m.transmit("line", "answer\n")
    expect(reader.wait().output == "answer\n", "and back")

    m.run("echo kept | dd of=/dev/vda conv=sync,fsync")
    m.reboot()
    expect("kept" in m.run("dd if=/dev/vda count=1 2>/dev/null").output, "a disk outlives a restart")
    m.qmp("device_add", driver = "virtio-balloon-pci", bus = "s0")
    m.power_cut()
    expect("kept" in m.run("dd if=/dev/vda count=1 2>/dev/null").output, "and a power cut")
    m.stop()
    expect(m.run("true", allow = ["stopped"]).error == "stopped", "a machine that is off does nothing")

step(inside)
"#;
    let output = passes(&place, COMPLETE, steps);
    assert!(output.contains("kept 0-version"), "{output}");
}

/// A machine that does not read leaves what it is asked in its port. The first bytes are lost with its serial chip.
#[test]
fn a_restored_machine_does_nothing_that_another_life_was_asked() {
    let steps = r#"
def undone(lab):
    m = lab.machine()
    m.snapshot()
    m.pause()
    for _ in range(2):
        m.set_clock("2038-01-19T03:14:00", allow = ["hang"])
    m.restore()
    m.resume()
    expect(m.run("date +%Y").output.strip() != "2038", "nothing of it was done")

step(undone)
"#;
    passes(&Place::new(), KERNEL, steps);
}

/// It may be neither here nor there.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_machine_that_cannot_be_restored_is_off() {
    let steps = r#"
def lost(lab):
    m = lab.machine(disks = ["16M"], devices = ["slot,id=s0"])
    m.plug("qemu:virtio-rng-pci,id=r0,bus=s0")
    m.snapshot()
    m.unplug("r0")
    refused = m.restore(allow = ["refused"])
    expect(refused.error == "refused" and "the machine is off now" in refused.reason, "it says so")
    expect(m.run("true", allow = ["stopped"]).error == "stopped", "and it is")
    m.power_cut()
    m.run("true")
    for machine in [lab.machine(devices = ["edu"]), lab.machine(disks = ["16M,writes=log"])]:
        expect(machine.snapshot(allow = ["refused"]).error == "refused", "what cannot be put back is known")

step(lost)
"#;
    passes(&Place::new(), KERNEL, steps);
}

#[test]
fn a_machine_that_has_ended_is_not_waited_for() {
    let place = Place::new();
    let folder = folder(
        &place,
        "experiment(question = \"why?\", time = \"5m\")

def ended(lab):
    m = lab.machine()
    m.pause()
    m.qmp(\"quit\")
    m.snapshot(allow = [\"refused\"])

step(ended)
",
    );
    let run = result(&call(&place, &folder, &[KERNEL]).run_within(BUILD));
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Machine)), "{run:?}");
    assert!(run.reason.contains("QEMU shut down"), "{}", run.reason);
}

#[test]
fn a_restart_ends_within_the_time_of_the_script() {
    let steps = r#"
def restarts(lab):
    m = lab.machine()
    note(m.reboot(timeout = "1ms", allow = ["hang"]).reason)
    expect(m.power_cut(timeout = "1ms", allow = ["hang"]).error == "hang", "so is power that comes back")
    m.power_cut(timeout = "10m")
    m.run("true")

step(restarts)
"#;
    let late = passes(&Place::new(), "uml:deb", steps);
    assert!(late.contains("did not reach user space within 0 s; timeout = gives it more time"), "{late}");
}

/// Memory, disks and commands are as they were; the conversation with the agent goes on from there.
#[test]
fn a_machine_goes_back_to_where_it_was() {
    let steps = r#"
def block(m):
    return m.run("dd if=/dev/vda iflag=direct count=1 2>/dev/null").output

def back(lab):
    m = lab.machine(disks = ["16M"])
    m.write("/tmp/x", "before")
    m.run("echo before | dd of=/dev/vda conv=sync,fsync")
    waits = m.start("while test ! -e /tmp/go; do sleep 0.1; done; echo went")
    m.snapshot()
    for time in ["2038-01-19T03:14:00", "1999-12-31T23:59:00"]:
        m.set_clock(time)
        expect(m.run("date +%Y-%m-%dT%H").output.strip() == time[:13], "the clock is what it was set to")
        m.write("/tmp/x", "after")
        m.run("echo after | dd of=/dev/vda conv=sync,fsync")
        later = m.start("sleep 1000")
        m.write("/tmp/go", "")
        expect("went" in waits.wait().output, "it ends")
        m.run("echo undone > /dev/kmsg")
        m.wait_for("undone")
        m.restore()
        expect(not any(["undone" in line for line in m.log()]), "the log says nothing of what has never been")
        expect(m.wait_for("undone", timeout = "0s", allow = ["timeout"]).error == "timeout", "nor is it waited for")
        expect(m.read("/tmp/x") == "before" and block(m).startswith("before"), "memory and disks are as they were")
        expect(m.run("date +%Y").output.strip() not in ["2038", "1999"], "and the clock")
        expect(later.wait(allow = ["stopped"]).error == "stopped", "what was started later has never been")
    m.write("/tmp/go", "")
    expect(waits.wait().output == "went\n", "what was running runs again")
    m.pause()
    m.snapshot(name = "held")
    lab.sleep("5s")
    m.restore(name = "held")
    m.resume()
    m.run("true")
    m.set_clock("2038-01-19T05:14:00+02:00")
    expect(m.run("date +%Y-%m-%dT%H").output.strip() == "2038-01-19T03", "a time may have an offset")
    expect(m.restore(name = "none", allow = ["refused"]).error == "refused", "there is no such snapshot")
    m.reboot()
    expect(m.restore(allow = ["refused"]).error == "refused", "another machine has none")
    expect(m.set_clock("noon", allow = ["refused"]).error == "refused", "that is no time")

step(back)
"#;
    passes(&Place::new(), KERNEL, steps);
    let steps =
        "def it(lab):\n    m = lab.machine()\n    note(m.snapshot(allow = [\"refused\"]).reason)\nstep(it)\n";
    let refused = passes(&Place::new(), "uml:deb", steps);
    assert!(refused.contains("User-Mode Linux cannot be paused"), "{refused}");
}

#[test]
fn an_experiment_runs_on_each_kernel_and_compares_them() {
    let place = Place::new();
    let steps = "def f(lab):\n    metric(\"letters\", len(lab.machine().run(\"uname -r\").output.strip()))\nstep(f)\n";
    let measures = "measures = [metric_info(\"letters\", unit = \"1\")]";
    let script = |more: &str| format!("experiment(question = \"why?\", {measures}{more})\n{steps}");
    let each = folder(&place, &script(""));
    let done =
        place.kiln(["exp", "run", text(&each), "--kernel", KERNEL, "--kernel", COMPLETE]).run().expect(0);
    let last: Vec<Vec<&str>> =
        done.stdout.lines().rev().take(4).map(|line| line.split_whitespace().collect()).collect();
    let [metric, outcome, head, title] = &last[..] else { panic!("{}", done.stdout) };
    assert_eq!(title.join(" "), "all kernels");
    assert_eq!(head.join(" "), format!("unit {KERNEL} {COMPLETE}"));
    assert_eq!(outcome.join(" "), "outcome pass pass");
    assert_eq!(metric.join(" "), "letters 1 20 14", "the lengths of 6.1.0-56-cloud-amd64 and 6.1.0-56-amd64");

    let both = folder(&place, &script(", kernels = 2"));
    let done = place.kiln(["exp", "run", text(&both), "--kernel", KERNEL]).run().expect(2);
    assert!(done.stderr.contains("takes 2 kernels at once"), "{}", done.stderr);
    let done = call(&place, &both, &[KERNEL, "--kernel", COMPLETE]).run().expect(0);
    assert_eq!(done.stdout.matches("{\"metric\":").count(), 1, "{}", done.stdout);
}

/// Its serial ports take 4 KiB at once.
#[test]
fn user_mode_linux_is_a_machine_for_scripts() {
    let place = Place::new();
    let steps = r#"
def files(lab):
    m = lab.machine()
    m.write("/tmp/large", "0123456789" * 2000)
    expect(m.run("wc -c < /tmp/large").output.strip() == "20000", "all of the file is there")
    expect(m.read("/tmp/large") == "0123456789" * 2000, "and comes back")
    expect(m.run("cat", input = "x" * 1024).output == "x" * 1024, "so does what a command reads")
    long = [m.run("cat", input = "x" * 1025, allow = ["refused"]), m.run("echo " + "x" * 1024, allow = ["refused"])]
    expect([each.error for each in long] == ["refused"] * 2, "more is refused")
    expect(m.run("echo alive").output == "alive\n", "and the machine lives")

step(files)
"#;
    passes(&place, "uml:deb", steps);
}

/// What a complete step found belongs to the programs that it ran.
#[test]
fn an_experiment_whose_folder_was_changed_begins_again() {
    let place = Place::new();
    let steps =
        "def first(lab):\n    note(\"ran\")\ndef second(lab):\n    1 // 0\nstep(first)\nstep(second)\n";
    let folder = folder(&place, &format!("{BEGIN}{steps}"));
    let goes_on = || {
        let done = place.kiln(["exp", "run", text(&folder), "--kernel", "uml:deb"]).run().expect(3);
        done.stdout.contains("goes on after the steps")
    };
    assert!(!goes_on() && goes_on());
    for program in ["int main(void) { return 0; }", "int main(void) { return 1; }"] {
        fs::write(folder.join("guest.c"), program).expect("writable");
        assert!(!goes_on(), "it is another experiment with {program}");
        assert!(goes_on());
    }
}

/// It was the user, not the kernel, who ended the command: the next call must not find that it failed.
#[test]
fn an_interrupted_experiment_concludes_nothing() {
    let place = Place::new();
    let steps = r#"
def waits(lab):
    m = lab.machine()
    note("it waits")
    m.run("sleep 600", timeout = "600s")

step(waits)
"#;
    let folder = folder(&place, &format!("{BEGIN}{steps}"));
    let results = place.path().join("results");
    let running = call(&place, &folder, &["uml:deb", "--results", text(&results)]).start();
    until("it waits", || journal(&results)?.contains("it waits").then_some(()));
    running.signal(Signal::INT);
    running.wait().expect(130);
    let journal = journal(&results).expect("it is kept");
    assert!(!journal.contains("concluded"), "{journal}");
}

#[test]
fn what_is_wrong_with_a_script_is_one_message_at_its_line() {
    let place = Place::new();
    for (steps, code, words) in [
        ("def f(lab):\n    lab.mashine()\nstep(f)\n", 3, "did you mean `machine`"),
        ("def f(lab):\n    lab.machine(disks = [\"4X\"])\nstep(f)\n", 1, "disk has no option \\\"4X\\\""),
        (
            "def f(lab):\n    for x in range(16000000):\n        for y in range(16000000):\n            pass\nstep(f)\n",
            3,
            "a loop without end",
        ),
        ("def f(lab):\n    lab.file(\"../x\")\nstep(f)\n", 3, "../x"),
        ("def f(lab):\n    lab.machine(devices = [\"sound\"])\nstep(f)\n", 4, "snd_hda_intel"),
        ("def f(lab):\n    lab.machine().run(\"exit 3\")\nstep(f)\n", 1, "status 3"),
    ] {
        let folder = folder(&place, &format!("{BEGIN}{steps}"));
        let done = call(&place, &folder, &[KERNEL]).run();
        assert_eq!(done.code, Some(code), "{steps}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
        assert!(done.stdout.contains("experiment.star:"), "{}", done.stdout);
    }
    let wrong = folder(&place, "def f(:\n");
    let done = call(&place, &wrong, &[KERNEL]).run().expect(2);
    assert!(done.stderr.contains("experiment.star:1"), "{}", done.stderr);
    assert_eq!(place.kiln(["exp", "check", text(&wrong)]).run().code, Some(2));
    let none = place.kiln(["exp", "show", "no-such-experiment"]).run().expect(2);
    assert!(none.stderr.contains("there is no experiment"), "{}", none.stderr);
}

#[test]
fn an_instrument_gives_its_report() {
    let script = r#"experiment(question = "Is it late?", needs = ["program=kiln:latency"])

def late(lab):
    m = lab.machine()
    report = m.instrument("latency", {"policy": "other", "priority": 0, "samples": 50})
    expect(len(report["threads"]) == 1, "one thread measures")
    m.instrument("latency", {"cpus": [1000]}, allow = ["missing"])
    accusing = {"policy": "other", "priority": 0, "samples": 5, "fault": {"statistic": "max", "above-ns": 0}}
    m.instrument("latency", accusing, allow = ["exit"])

step(late)
"#;
    let place = Place::new();
    let folder = folder(&place, script);
    let result = result(&call(&place, &folder, &[KERNEL]).run_within(BUILD).expect(0));
    assert_eq!(result.outcome, judge::Outcome::Pass, "{result:#?}");
}
