//! `kiln trace view`, `diff` and `convert`: what a recording says.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::python::python;
use crate::support::{Place, text};

/// A recording of a program in a folder of this name.
fn recorded(place: &Place, name: &str, body: &str) -> PathBuf {
    let program = place.program("traced", body);
    let folder = place.path().join(name);
    let call = ["trace", "--only", "-o", text(&folder), "--exec", text(&program)];
    place.kiln(call).run().expect(0);
    folder
}

fn view(place: &Place, trace: &Path, more: &[&str]) -> Value {
    place.kiln([&["trace", "view", text(trace), "--json"], more].concat()).run().expect(0).stated()
}

/// What is found in a list.
fn found<'a>(list: &'a Value, field: &str, value: &str) -> &'a Value {
    let all = list.as_array().expect("a list");
    all.iter().find(|one| one[field] == value).unwrap_or_else(|| panic!("no {value} in {list}"))
}

/// kiln is recorded, too, and waits.
const OWN: &str = "comm == traced";

/// When the trace began, on its own clock.
fn begin_of(latency: &Value) -> u64 {
    let longest = |field: &str| latency["longest"][field].as_u64().expect("a time");
    longest("time_ns") - longest("since_begin_ns")
}

/// When the program fell asleep (TASK_INTERRUPTIBLE) for the last time. A busy host may keep it from its CPU at any other moment of a
/// call.
fn last_nap(place: &Place, trace: &Path) -> u64 {
    let filter = "name == sched_switch && prev_comm == traced && prev_state == 1";
    let listed = place.kiln(["trace", "view", text(trace), "--json", "--filter", filter]).run().expect(0);
    let last: Value = serde_json::from_str(listed.stdout.lines().last().expect("a nap")).expect("JSON");
    last["time_ns"].as_u64().expect("a time")
}

const NAPS: &str = "for (int i = 0; i < 20; i++) usleep(5000); return 0;";

#[test]
fn states_and_latencies_tell_where_the_time_of_a_thread_went() {
    let place = Place::new();
    let trace = recorded(&place, "naps", NAPS);
    let states = view(&place, &trace, &["--states", "--filter", OWN]);
    let thread = found(&states["threads"], "comm", "traced");
    assert!(thread["sleeping_ns"].as_u64() >= Some(100_000_000), "{thread}");
    assert!(thread["running_ns"].as_u64() > Some(0) && thread["runs"].as_u64() > Some(20), "{thread}");
    let waits = states["waits"].as_array().expect("a list").iter();
    let naps: Vec<&Value> = waits.filter(|wait| wait["call"] == "clock_nanosleep").collect();
    assert!(naps.iter().all(|wait| wait["comm"] == "traced" && wait["state"] == "sleeping"), "{naps:?}");
    assert!(
        naps.iter().all(|wait| wait["waker"].as_str().is_some_and(|waker| waker.contains("interrupt"))),
        "{naps:?}"
    );
    assert_eq!(naps.iter().filter_map(|wait| wait["took"]["count"].as_u64()).sum::<u64>(), 20);
    let latencies = view(&place, &trace, &["--latency", "--filter", OWN]);
    let call = found(&latencies, "name", "clock_nanosleep");
    assert_eq!((&call["kind"], &call["took"]["count"]), (&"system call".into(), &20.into()));
    assert!(call["took"]["p50_ns"].as_u64() >= Some(5_000_000), "{call}");
    let asleep = format!("{}ns", last_nap(&place, &trace) - begin_of(call));
    let moment = view(&place, &trace, &["--at", &asleep]);
    let thread = found(&moment["threads"], "comm", "traced");
    assert_eq!((&thread["state"], &thread["call"]["name"]), (&"sleeping".into(), &"clock_nanosleep".into()));
    for view in ["--states", "--latency", "--tree", "--stats", &format!("--at={asleep}")] {
        let shown = place.kiln(["trace", "view", text(&trace), view]).run().expect(0).stdout;
        assert!(shown.contains("traced"), "{view}: {shown}");
    }
}

#[test]
fn what_is_there_already_is_in_the_trace_and_a_call_has_its_file() {
    let place = Place::new();
    // A pipe that is there before the recording begins.
    let mut waiting = Command::new("sh");
    waiting
        .args(["-c", "read line; while read line; do :; done"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut waiting = waiting.spawn().expect("a shell");
    let (id, mut input) = (waiting.id(), waiting.stdin.take().expect("a pipe"));
    let stdin = std::fs::read_link(format!("/proc/{id}/fd/0")).expect("it lives");
    let folder = place.path().join("pipe");
    // It is woken once, and waits again.
    let body = format!(
        "int it = open(\"/proc/{id}/fd/0\", O_WRONLY); write(it, \"x\\n\", 2); usleep(200000); return 0;"
    );
    let program = place.program("writes", &body);
    place.kiln(["trace", "-o", text(&folder), "--exec", text(&program)]).run().expect(0);
    let moment = view(&place, &folder, &["--at", "3600s"]);
    let thread = moment["threads"].as_array().expect("a list").iter().find(|thread| thread["tid"] == id);
    let thread = thread.unwrap_or_else(|| panic!("no thread {id}: {moment}"));
    assert_eq!((&thread["call"]["name"], &thread["file"]), (&"read".into(), &text(&stdin).into()));
    input.write_all(b"\n").expect("it reads");
    drop(input);
    waiting.wait().expect("our child");
    let listed = |name: &str| {
        let filter = format!("name == kiln:{name}");
        let call = ["trace", "view", text(&folder), "--json", "--filter", &filter];
        place.kiln(call).run().expect(0).stdout
    };
    let descriptor = format!("\"fd\":0,\"file\":{:?}", text(&stdin));
    assert!(listed("descriptor").contains(&descriptor), "{descriptor}");
    assert!(listed("mount").contains("\"place\":\"/\""));
    // A kernel has no module, or no interrupt of a device, if it was built so.
    let modules = std::fs::read_to_string("/proc/modules").unwrap_or_default();
    assert_eq!(listed("module").lines().count(), modules.lines().count());
    assert!(listed("task").contains("\"comm\":\"sh\""));
}

#[test]
fn the_tree_has_a_program_below_what_started_it_and_its_children_below_it() {
    let place = Place::new();
    let body = "for (int i = 0; i < 3; i++) if (!fork()) { if (!fork()) _exit(0); wait(0); _exit(0); } else wait(0); return 0;";
    let trace = recorded(&place, "family", body);
    let tree = view(&place, &trace, &["--tree"]);
    let all = tree.as_array().expect("a list");
    let named = |task: &&Value| {
        task["names"].as_array().is_some_and(|names| names.iter().any(|name| name == "traced"))
    };
    let depths: Vec<i64> = all.iter().filter(named).filter_map(|task| task["depth"].as_i64()).collect();
    let own = depths[0];
    assert_eq!(depths.iter().map(|depth| depth - own).collect::<Vec<_>>(), [0, 1, 2, 1, 2, 1, 2]);
    assert!(all.iter().filter(named).skip(1).all(|task| task["ended_ns"].is_u64()), "{tree}");
}

#[test]
fn differences_of_two_recordings_are_named() {
    let place = Place::new();
    let calling = |times: u32| format!("for (int i = 0; i < {times}; i++) syscall(SYS_getppid); return 0;");
    let (first, second) =
        (recorded(&place, "first", &calling(100)), recorded(&place, "second", &calling(103)));
    let diff = |first: &PathBuf, second: &PathBuf, more: &[&str]| {
        place.kiln([&["trace", "diff", text(first), text(second)], more].concat()).run().expect(0)
    };
    let same: Value = diff(&first, &first, &["--json"]).stated();
    assert_eq!((&same["equality"], &same["latencies"]), (&"exact".into(), &Value::Array(Vec::new())));
    let filter = ["--json", "--filter", "comm == traced && name ~ sys_*_getppid"];
    let found: Value = diff(&first, &second, &filter).stated();
    assert_eq!((&found["equality"], &found["events"]), (&"none".into(), &vec![200, 206].into()));
    let counts: Vec<(&Value, &Value)> = found["counts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (&one["name"], &one["counts"]))
        .collect();
    let both = vec![100, 103].into();
    let names = ["syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid"].map(Value::from);
    assert_eq!(counts, [(&names[0], &both), (&names[1], &both)]);
    let patterns: Value = place
        .kiln(["trace", "view", text(&first), "--patterns", "--json", "--filter", filter[2]])
        .run()
        .expect(0)
        .stated();
    let pattern = &patterns["patterns"][0];
    assert_eq!((&patterns["events"], &pattern["comm"]), (&200.into(), &"traced".into()));
    // The first and the last turn may be on their own.
    assert!(pattern["times"].as_u64() >= Some(98), "{patterns}");
    let events = pattern["events"].as_array().expect("a list");
    assert!(events.len() == 2 && names.iter().all(|name| events.contains(name)), "{patterns}");
    let more: Vec<u64> = found["patterns"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["times"][1].as_u64().expect("a count") - one["times"][0].as_u64().expect("a count"))
        .collect();
    assert!(!more.is_empty() && more.iter().all(|more| *more == 3), "{found}");
    let orders = &found["orders"];
    assert_eq!(
        (&orders[0]["equal"], &orders[0]["then"]),
        (&200.into(), &serde_json::json!([null, names[0]]))
    );
    let shown = diff(&first, &second, &["--filter", "comm == traced"]);
    shown.says("traced syscalls:sys_enter_getppid").says(" events alike, then ");
}

#[test]
fn a_part_of_a_trace_is_a_trace() {
    let place = Place::new();
    let trace = recorded(&place, "naps", NAPS);
    let part = place.path().join("part");
    let filter = "comm == traced && name == sys_enter_clock_nanosleep";
    let convert = |more: &[&str]| {
        place.kiln([&["trace", "convert", text(&trace), "--filter", filter], more].concat()).run()
    };
    convert(&["--ctf", "-o", text(&part)]).expect(0);
    let statistics = view(&place, &part, &["--stats"]);
    assert_eq!(statistics["names"], serde_json::json!({ "syscalls:sys_enter_clock_nanosleep": 20 }));
    let lines = convert(&["--perf-script"]).expect(0).stdout;
    assert_eq!(lines.lines().count(), 20);
    assert!(
        lines
            .lines()
            .all(|line| line.contains("] ") && line.contains(": syscalls:sys_enter_clock_nanosleep: ")),
        "{lines}"
    );
    let again = convert(&["--ctf", "-o", text(&part)]).expect(2);
    assert!(again.stderr.contains("it is there already"), "{}", again.stderr);
    let nothing = place.kiln(["trace", "convert", text(&trace)]).run().expect(2);
    assert!(nothing.stderr.contains("--perfetto"), "{}", nothing.stderr);
    let nowhere = convert(&["--ctf"]).expect(2);
    assert!(nowhere.stderr.contains("--output"), "{}", nowhere.stderr);
}

#[test]
fn a_page_has_the_lanes_and_nothing_from_elsewhere() {
    let place = Place::new();
    let trace = recorded(&place, "naps", NAPS);
    let page = place.path().join("page.html");
    let done = place.kiln(["trace", "view", text(&trace), "--html", text(&page)]).run().expect(0);
    assert_eq!(done.stdout, "");
    let html = std::fs::read_to_string(page).expect("written");
    let (_, rest) = html.split_once(r#"id="timeline-lanes">"#).expect("the lanes are there");
    let lanes: Value = serde_json::from_str(rest.split_once("</script>").expect("it ends").0).expect("JSON");
    let names: Vec<&str> =
        lanes["lanes"].as_array().expect("a list").iter().filter_map(|lane| lane["name"].as_str()).collect();
    assert!(
        names[0].starts_with("CPU ") && names.iter().any(|name| name.starts_with("traced-")),
        "{names:?}"
    );
    assert!(!html.contains("http://") && !html.contains("https://"), "it needs no network");
    let wrong = place.kiln(["trace", "view", text(&trace), "--html", "/nowhere/page.html"]).run().expect(2);
    assert!(wrong.stderr.contains("name a file that can be written"), "{}", wrong.stderr);
}

#[test]
#[ignore = "needs packages of PyPI"]
fn babeltrace_and_perfetto_read_traces() {
    let place = Place::new();
    let trace = recorded(&place, "naps", NAPS);
    let events = view(&place, &trace, &["--stats"])["events"].as_u64().expect("a number");
    let part = place.path().join("part");
    place.kiln(["trace", "convert", text(&trace), "--ctf", "-o", text(&part)]).run().expect(0);
    for folder in [trace.join("trace"), part] {
        let read = Command::new("babeltrace2").arg(folder).output().expect("babeltrace2 is installed");
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        assert_eq!(String::from_utf8_lossy(&read.stdout).lines().count() as u64, events);
    }
    let file = place.path().join("trace.pftrace");
    place
        .kiln(["trace", "convert", text(&trace), "--perfetto", "--filter", OWN, "-o", text(&file)])
        .run()
        .expect(0);
    let program = "
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
trace = Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())
bundles = [packet.ftrace_events for packet in trace.packet if packet.HasField('ftrace_events')]
events = [event for bundle in bundles for event in bundle.event]
naps = [event for event in events if event.HasField('sys_enter') and event.sys_enter.id == 230]
switches = [event.sched_switch for event in events if event.HasField('sched_switch')]
tasks = [one for packet in trace.packet for one in (*packet.process_tree.processes, *packet.process_tree.threads)]
assert all(event.WhichOneof('event') for event in events)
assert [packet.system_info.utsname.sysname for packet in trace.packet if packet.HasField('system_info')] == ['Linux']
print(len(events) + len(tasks), len(naps), any(one.prev_comm == 'traced' for one in switches))
";
    let own = view(&place, &trace, &["--stats", "--filter", OWN])["events"].clone();
    assert_eq!(python(program, &file), format!("{own} 20 True"));
}

#[test]
fn a_critical_path_has_all_the_time_of_a_thread() {
    let place = Place::new();
    // The child sleeps, and the parent waits for it.
    let body = "int ends[2]; pipe(ends); char byte = 0; if (!fork()) { usleep(50000); write(ends[1], &byte, 1); _exit(0); }
        read(ends[0], &byte, 1); return 0;";
    // A recording of some processes alone lacks some of what wakes them.
    let (program, trace) = (place.program("asking-child", body), place.path().join("pair"));
    place.kiln(["trace", "-o", text(&trace), "--exec", text(&program)]).run().expect(0);
    let tree = view(&place, &trace, &["--tree"]);
    let all = tree.as_array().expect("a list");
    let started = all.iter().position(|task| task["names"] == serde_json::json!(["kiln", "asking-child"]));
    let started = started.unwrap_or_else(|| panic!("{tree}"));
    let parent = &all[started]["tid"];
    let path = view(&place, &trace, &["--critical-path", &parent.to_string()]);
    // Which waker is recorded is up to the kernel's filters: that of the path is tested in the viewer.
    let parts = path.as_array().expect("a list");
    let is_contiguous = |pair: &[Value]| pair[0]["end_ns"] == pair[1]["begin_ns"];
    assert!(parts.windows(2).all(is_contiguous), "{path}");
    let length =
        |part: &Value| part["end_ns"].as_u64().zip(part["begin_ns"].as_u64()).map(|(end, begin)| end - begin);
    assert!(parts.iter().filter_map(length).sum::<u64>() >= 50_000_000, "{path}");
    assert!(parts.iter().any(|part| part["tid"] == *parent), "{path}");
    let shown = |thread: &str, code| {
        place.kiln(["trace", "view", text(&trace), "--critical-path", thread]).run().expect(code)
    };
    assert!(shown(&parent.to_string(), 0).stdout.starts_with("critical path of asking-child-"));
    let many = shown("asking-child", 2).stderr;
    assert!(many.contains(" threads have this name: give a number"), "{many}");
    assert!(shown("nobody", 2).stderr.contains("no thread of the trace was seen with this name"));
}
