//! `kiln hazard`: programs and kernels of which it is known where they wait.

use serde_json::Value;

use crate::experiments::{call, folder, result};
use crate::support::{KERNEL, NEWER, Place, UML, text};

/// A lock that is held for ever, and is tried so often.
const ADAPTIVE: &str = "\
static int lock = 1;
__attribute__((noinline)) static int adaptive(long tries) {
    while (tries--) {
        __builtin_ia32_pause();
        if (!__atomic_load_n(&lock, __ATOMIC_RELAXED)) return 1;
    }
    return 0;
}";

/// Atomic counters, strings and sums: all of it short loops.
const WORK: &str = "\
static int counter;
char *bytes = malloc(1 << 20);
for (int i = 0; i < 1000000; i++) __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
for (int i = 1; i < 20; i++) memset(bytes, i, 1 << 20);
long sum = 0;
for (int i = 0; i < 1 << 20; i++) sum += bytes[i];
return sum == 0 || strlen(bytes) < 10;";

/// Two processes that lock and unlock a part of a file for so many seconds.
const LOCKS: &str = "\
int file = open(\"/file\", O_RDWR | O_CREAT, 0600);
fork();
time_t end = time(0) + SECONDS;
struct flock part = { .l_len = 1 };
while (time(0) < end) {
    part.l_type = F_RDLCK;
    fcntl(file, F_SETLK, &part);
    part.l_type = F_UNLCK;
    fcntl(file, F_SETLK, &part);
}";

/// The loops that were found.
fn loops(place: &Place, arguments: &[&str], code: i32) -> Vec<Value> {
    let done = place.kiln([&["hazard", "--json"], arguments].concat()).run().expect(code);
    let found: Value = done.stated();
    found["loops"].as_array().expect("a list").clone()
}

/// Whether a loop is in a program, which has the lower half of all addresses.
fn is_in_program(found: &&Value) -> bool {
    found["stops"][0]["address"].as_u64().expect("an address") >> 63 == 0
}

fn names(list: &Value, member: &str) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.filter_map(|it| it[member].as_str()).map(str::to_owned).collect()
}

#[test]
fn a_lock_that_is_tried_again_and_again_is_found_in_its_program() {
    let place = Place::new();
    let program =
        place.compile("load", "return adaptive(100000);", ADAPTIVE, &["-static", "-g", "-fno-inline"]);
    // A slow host has few passes between two interrupts.
    let found = loops(&place, &["--in", KERNEL, "--when", "lock-spin>16", "--exec", text(&program)], 1);
    let own: Vec<&Value> = found.iter().filter(is_in_program).collect();
    let [found] = &own[..] else { panic!("{own:#?}") };
    let stop = &found["stops"][0];
    assert_eq!(stop["function"], "adaptive", "{stop:#}");
    let calls = names(&stop["calls"], "text");
    assert!(calls[0].contains("load.c:") && calls[1].starts_with("main at "), "{calls:?}");
    assert_eq!(stop["looks-at"].as_array().map(Vec::len), Some(1), "{stop:#}");
    let code = stop["code"].as_array().expect("lines").iter().filter_map(Value::as_str);
    assert!(code.clone().any(|line| line.ends_with(": pause")), "{stop:#}");
    let passes = found["waited"]["passes"].as_u64().expect("it was counted");
    assert!((17..=100_000).contains(&passes), "{passes}");
}

#[test]
fn work_is_no_hazard() {
    let place = Place::new();
    let program = place.program("load", WORK);
    let done =
        place.kiln(["hazard", "--json", "--in", KERNEL, "--when", "lock-spin>16", "--exec", text(&program)]);
    let found: Value = done.run().stated();
    let loops = found["loops"].as_array().expect("a list");
    assert_eq!(found["when"], serde_json::json!(["lock-spin>16"]));
    assert!(!loops.iter().any(|found| is_in_program(&found)), "{found:#}");
}

#[test]
fn what_is_no_hazard_or_no_machine_for_it_is_one_clear_message() {
    let place = Place::new();
    let program = place.script("load", "exit 0");
    let exec = text(&program);
    for (arguments, why) in [
        (&["--exec", exec][..], "--in host"),
        (&["--in", KERNEL, "--exec", exec, "--when", "lock-spin>15"], "write lock-spin>1000, for 16 to"),
        (&["--in", KERNEL, "--exec", exec, "--when", "cache-misses>5"], "no hazard"),
        (&["--in", KERNEL, "--exec", exec, "--accel", "kvm"], "kvm"),
        (&["--in", UML, "--exec", exec], "User-Mode Linux"),
        (&["--in", KERNEL, "--exec", exec, "--suite", "smoke"], "cannot be used with"),
    ] {
        let done = place.kiln([&["hazard"], arguments].concat()).run();
        assert!(matches!(done.code, Some(2 | 3)), "{arguments:?}: {:?}", done.code);
        assert!(done.stderr.to_lowercase().contains(&why.to_lowercase()), "{arguments:?}: {}", done.stderr);
    }
}

/// Two CPUs want one lock again and again: each time the one has it, and the other waits for it.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_lock_of_the_kernel_is_found_with_who_waits_and_who_has_it() {
    let place = Place::new();
    let program = place.program("load", &LOCKS.replace("SECONDS", "8"));
    for kernel in [KERNEL, NEWER] {
        let found = loops(&place, &["--in", kernel, "--when", "lock-spin>50", "--exec", text(&program)], 1);
        let stops = found.iter().flat_map(|found| found["stops"].as_array().expect("a list"));
        let waits = |stop: &&Value| {
            let calls = names(&stop["calls"], "text");
            // Of the lock itself; an interrupt may wait for one of its own above.
            let is_of_lock = |call: &str| {
                ["native_queued_spin_lock_slowpath+", "_raw_spin_lock+"]
                    .iter()
                    .any(|name| call.starts_with(name))
            };
            let caller = calls.iter().find(|call| !is_of_lock(call));
            caller.is_some_and(|caller| caller.starts_with("posix_lock_inode+"))
        };
        let stop = stops.clone().find(waits).unwrap_or_else(|| panic!("{kernel}: {found:#?}"));
        let places = names(&stop["looks-at"], "name");
        assert!(places.iter().any(|place| place.starts_with("an object of ")), "{stop:#}");
        let (cpu, tasks) = (&stop["cpu"], stop["tasks"].as_array().expect("a list"));
        assert!(tasks.iter().any(|task| task["on-cpu"] == *cpu && task["name"] == "load"), "{stop:#}");
        assert!(tasks.iter().any(|task| task["on-cpu"] != *cpu && task["name"] == "load"), "{stop:#}");
    }
}

#[test]
#[ignore = "boots a machine for a case"]
fn cases_are_looked_at_too() {
    let place = Place::new();
    let arguments =
        ["hazard", "--in", KERNEL, "--suite", "smoke", "--case", "fs/*", "--when", "lock-spin>1000000000"];
    let done = place.kiln(arguments).run().expect(0);
    assert_eq!(done.stdout, "no CPU waited for more than 1,000,000,000 passes of a loop\n");
}

/// Has the processes want the lock until they were seen to.
const SCRIPT: &str = r#"
experiment(question = "where does a machine wait?", time = "10m")

def callers(stop):
    return [call["text"].split("+")[0] for call in stop["calls"]]

def watched(lab):
    expect(lab.machine().hazards(allow = ["refused"]) == None, "it is not watched")
    m = lab.machine(hazards = ["lock-spin>50", "lock-spin>1000"])
    m.put(lab.file("load"))
    found = []
    for turn in range(30):
        m.run("/tmp/load")
        found = [stop for stop in m.hazards() if "posix_lock_inode" in callers(stop)]
        if found:
            break
    expect(len(found) > 0, "the lock was seen")
    stop = found[0]
    waiting = [task["name"] for task in stop["tasks"] if task["on-cpu"] == stop["cpu"]]
    expect(waiting == ["load"], "the one that waits")
    m.power_cut()
    expect(found[0] in m.hazards(), "they are kept")

step(watched)
"#;

#[test]
fn a_script_sees_where_its_machine_waits() {
    let place = Place::new();
    let folder = folder(&place, SCRIPT);
    let load = place.compile("load", &LOCKS.replace("SECONDS", "2"), "", &["-static"]);
    std::fs::copy(load, folder.join("load")).expect("the folder of the experiment");
    let run = result(&call(&place, &folder, &[KERNEL]).run());
    assert_eq!(run.outcome, judge::Outcome::Pass, "{run:#?}");
}

#[test]
fn a_wrong_condition_of_a_script_is_refused_as_by_the_command() {
    let place = Place::new();
    let exec = place.script("load", "exit 0");
    let refused =
        place.kiln(["hazard", "--in", KERNEL, "--exec", text(&exec), "--when", "lock-spin>1"]).run();
    let folder = folder(
        &place,
        "experiment(question = \"what is a hazard?\")
def watched(lab):
    lab.machine(hazards = \"lock-spin>1\")
step(watched)
",
    );
    let run = result(&call(&place, &folder, &[KERNEL]).run());
    assert_eq!(run.outcome, judge::Outcome::Fail, "{run:#?}");
    assert!(run.reason.contains("\"lock-spin>1\" is no hazard"), "{}", run.reason);
    assert!(refused.stderr.contains(&run.reason), "{}: {}", run.reason, refused.stderr);
    assert!(run.evidence.iter().any(|line| line.contains("experiment.star:3:")), "{run:#?}");
}
