//! Every object and method: from the script to a typed call, and back.

use judge::Outcome;
use script::call::Call;
use script::reference::reference;

use crate::fake::{BEGIN, run, run_step, run_with, setup};

/// The page about the language.
const PAGE: &str = include_str!("../../../../../docs/scripts.md");

/// Uses every method of every object.
const ALL: &str = r#"
def check(lab):
    wire = lab.segment(loss = 0.1, delay = "5ms", rate = "1M", seed = 3, network = "10.77.0.0/24",
                       outside = True)
    m = lab.machine(kernel = lab.kernels[0], cpus = 2, memory = "1G", root = "debian:fio", systemd = True, append = "quiet",
                    disks = ["4G,bus=nvme,sector=4096"], nics = [wire.nic("10.77.0.2"), wire.nic()],
                    devices = ["edu", "iommu,intel"], acpi = [lab.file("dock.asl")], clone = False,
                    hazards = "lock-spin>1000")
    result = m.run("echo hi", timeout = "5s", input = "x", env = {"A": "b"}, allow = ["exit"])
    note("%s %s %s %s %s" % (result.output, result.status, result.signal, result.duration, result.error))
    job = m.start("iperf3 -s", env = {"A": "b"})
    note(job.output())
    job.kill(signal = 15)
    note(str(job.wait(timeout = 3).status))
    note(m.read("/etc/hostname"))
    m.write("/tmp/x", "text")
    m.put(lab.file("dock.asl"), path = "/tmp/dock.asl")
    note(m.get("/var/log/x"))
    m.modprobe("edu", params = {"x": 1})
    m.rmmod("edu")
    note(m.sysctl("kernel.panic"))
    m.sysctl("kernel.panic", 1)
    m.set_clock("2038-01-19T03:14:00")
    note(str(m.instrument("latency", {"samples": 5}, timeout = "1m")["elapsed-ns"]))
    note(",".join(m.log()))
    m.wait_for("eth0: link", timeout = 5)
    m.wait_for("login:", where = "console")
    m.wait_for("test -e /x", where = "command")
    m.reboot(timeout = "1m")
    m.kexec(kernel = lab.kernels[0], append = "quiet", timeout = "1m")
    m.suspend("5s")
    m.trace(events = ["sched", "block"], buffer = "1M")
    note(str(m.end_trace()["events"]))
    note(str(m.qmp("query-status", verbose = True)["return"]["running"]))
    m.plug("edu")
    m.unplug("e")
    m.nmi(allow = ["report"])
    note(str(m.registers()["rip"]))
    note(m.tasks()[0]["name"])
    note(str(m.hazards()[0]["cpu"]))
    m.pause()
    m.resume()
    m.power_cut()
    m.snapshot()
    m.snapshot(name = "later")
    m.restore(name = "later")
    note(m.dump())
    note(str(len(m.memory(0x1000, 16))))
    m.transmit("dock", "d")
    note(m.receive("dock"))
    wire.impair(sender = m, loss = 0.5, jitter = 0.001, duplicate = 0, reorder = 1, corrupt = 0.0)
    wire.cut(m)
    wire.cut()
    wire.heal()
    note(str(wire.statistics()["lost"]))
    note(wire.capture())
    lab.sleep("1s")
    m.stop()
    finding("it works", machines = 1)
    table("sizes", ["name", "bytes"], [["a", 1], ("b", 2)])
    metric("speed", 3)
    expect(True, "all is well")

step(check)
"#;

#[test]
fn the_example_of_the_page_passes() {
    let (_, example) = PAGE.split_once("```python\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    assert!(example.lines().count() < 30);
    let ran = run_with(&[("experiment.star", example)], &setup());
    assert_eq!(ran.verdict.outcome, Outcome::Pass, "{}", ran.said());
    insta::assert_json_snapshot!("example", (&ran.calls, &ran.events));
}

#[test]
fn every_method_is_a_typed_call() {
    let script = format!("{BEGIN}{ALL}");
    let ran = run_with(&[("experiment.star", &script), ("dock.asl", "x")], &setup());
    assert_eq!(ran.verdict.outcome, Outcome::Pass, "{}", ran.said());
    insta::assert_json_snapshot!("every-call", ran.calls);
    insta::assert_json_snapshot!("every-event", ran.events);
    for call in &ran.calls {
        let json = serde_json::to_string(call).unwrap();
        assert_eq!(&serde_json::from_str::<Call>(&json).unwrap(), call, "{json}");
    }
    for entry in reference() {
        let name = entry.usage.split('(').next().unwrap();
        let others = ["parallel", "barrier", "random", "skip", "metric_info", "experiment"];
        assert!(ALL.contains(&format!("{name}(")) || others.contains(&name), "no test uses {name}");
    }
}

#[test]
fn the_page_has_every_function_and_method() {
    for entry in reference() {
        let row = match entry.object {
            Some(object) => format!("| `{object}.{}` | {} | {} |", entry.usage, entry.gives, entry.about),
            None => format!("| `{}` | {} | {} |", entry.usage, entry.gives, entry.about),
        };
        assert!(PAGE.contains(&row), "docs/scripts.md has no row\n{row}");
    }
    for name in script::ErrorName::ALL {
        assert!(PAGE.contains(&format!("| `{name}` |")), "docs/scripts.md does not explain {name}");
    }
}

#[test]
fn a_kernel_and_the_lab_show_what_they_are() {
    let ran = run_step("note(lab.kernels[0].locator + lab.kernels[0].release + lab.mode + str(lab.seed))");
    assert_eq!(ran.notes(), ["deb:6.16.1.0-56-amd64full7"]);
}

#[test]
fn chance_is_the_same_in_each_run() {
    let draw = || {
        run_step("note(str([lab.random() for i in range(3)]))\nnote(str([lab.random(10) for i in range(9)]))")
            .notes()
    };
    assert_eq!(draw(), draw());
    assert!(draw()[0].starts_with("[0."), "{:?}", draw());
}

#[test]
fn helpers_are_loaded_and_have_the_language() {
    let files = [
        (
            "experiment.star",
            &*format!("load(\"helper.star\", g = \"greet\")\n{BEGIN}def f(lab):\n    g(lab)\nstep(f)\n"),
        ),
        ("helper.star", "def greet(lab):\n    note(\"hi from \" + lab.machine().run(\"echo x\").output)\n"),
    ];
    let ran = run_with(&files, &setup());
    assert_eq!(
        (ran.verdict.outcome, ran.notes()),
        (Outcome::Pass, vec!["hi from x".to_owned()]),
        "{}",
        ran.said()
    );
}

#[test]
fn starlark_itself_is_there() {
    let ran = run(r#"
NAMES = ["a", "b"]
def check(lab, greeting, count):
    x = 2
    x *= 3
    parts = {name: index * x for index, name in enumerate(NAMES) if name}
    s = struct(a = 1)
    note(f"{greeting} {count}" + str(parts) + str(s.a) + "-" * 3 + json.encode([1]))
step(check, "hello", 2)
"#);
    assert_eq!(ran.notes(), ["hello 2{\"a\": 0, \"b\": 6}1---[1]"], "{}", ran.said());
}
