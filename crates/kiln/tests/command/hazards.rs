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

/// Two processes read messages of the kernel through one open file for some seconds: the one that waits for a message has the lock of the
/// place in the file (fs/file.c, `__fdget_pos`), for which the other one sleeps.
const READERS: &str = "\
int file = open(\"/proc/kmsg\", O_RDONLY);
char line[8192];
pid_t readers[2];
for (int i = 0; i < 2; i++)
    if (!(readers[i] = fork()))
        while (read(file, line, sizeof line) >= 0) ;
sleep(SECONDS);
for (int i = 0; i < 2; i++) kill(readers[i], SIGKILL);
while (wait(0) > 0) ;";

/// Four processes write to one file for some seconds: one after the other, for as long as 32 MiB take.
const WRITERS: &str = "\
static char block[32 << 20];
memset(block, 1, sizeof block);
time_t end = time(0) + 6;
close(open(\"/tmp/big\", O_WRONLY | O_CREAT, 0600));
for (int i = 0; i < 4; i++)
    if (!fork()) {
        int file = open(\"/tmp/big\", O_WRONLY);
        while (time(0) < end) pwrite(file, block, sizeof block, 0);
        exit(0);
    }
while (wait(0) > 0) ;";

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
        (
            &["--in", KERNEL, "--exec", exec, "--when", "lock-wait>1ms"],
            "lock-wait>100ms, for 10ms to 3600s, or write:SYMBOL",
        ),
        (&["--in", KERNEL, "--exec", exec, "--accel", "kvm"], "kvm"),
        (&["--in", UML, "--exec", exec], "User-Mode Linux"),
        (&["--in", UML, "--exec", exec, "--when", "lock-wait>1s"], "User-Mode Linux"),
        (&["--in", KERNEL, "--exec", exec, "--suite", "smoke"], "cannot be used with"),
    ] {
        let done = place.kiln([&["hazard"], arguments].concat()).run();
        assert!(matches!(done.code, Some(2 | 3)), "{arguments:?}: {:?}", done.code);
        assert!(done.stderr.to_lowercase().contains(&why.to_lowercase()), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn a_task_that_sleeps_for_a_lock_is_found_with_the_one_that_has_it() {
    let place = Place::new();
    let program = place.program("load", &READERS.replace("SECONDS", "8"));
    for kernel in [KERNEL, NEWER] {
        let arguments =
            ["hazard", "--in", kernel, "--when", "lock-wait>100ms", "--exec", text(&program), "--json"];
        let found: Value = place.kiln(arguments).run().expect(1).stated();
        let sleeps = found["sleeps"].as_array().expect("a list");
        let is_it = |sleep: &&Value| {
            names(&sleep["task"]["calls"], "text").iter().any(|call| call.contains("fdget_pos+"))
        };
        let sleep = sleeps.iter().find(is_it).unwrap_or_else(|| panic!("{kernel}: {found:#}"));
        let lock = &sleep["lock"];
        assert_eq!((&lock["kind"], &lock["waiters"]), (&"mutex".into(), &1.into()), "{sleep:#}");
        assert!(sleep["slept-ns"].as_u64().is_some_and(|slept| slept > 100_000_000), "{sleep:#}");
        let (task, owner) = (&sleep["task"], &sleep["owner"]);
        assert_eq!((&task["name"], &owner["name"]), (&"load".into(), &"load".into()), "{sleep:#}");
        assert!(task["pid"] != owner["pid"], "{sleep:#}");
        let calls = names(&owner["calls"], "text");
        assert!(calls.iter().any(|call| call.starts_with("kmsg_read+")), "{sleep:#}");
        assert_eq!(found["loops"], serde_json::json!([]), "nothing else is looked for");
    }
}

#[test]
fn writers_of_a_file_sleep_for_the_one_that_writes() {
    let place = Place::new();
    let program = place.program("load", WRITERS);
    let arguments = ["hazard", "--in", KERNEL, "--when", "lock-wait>10ms", "--exec", text(&program)];
    let done = place.kiln(arguments).run().expect(1).says("rw_semaphore").says(" rwsem_down_write_slowpath+");
    let has_it = |line: &str| line.trim_start().starts_with("load (") && line.ends_with(" has it");
    assert!(done.stdout.lines().any(has_it), "{}", done.stdout);
    place.kiln(["show", "last"]).run().expect(0).says("\nhazards\n").says("rw_semaphore");
}

#[test]
fn who_sleeps_for_something_else_does_not_sleep_for_a_lock() {
    let place = Place::new();
    let body = "pid_t child = fork(); if (!child) pause(); sleep(2); kill(child, SIGKILL); wait(0);";
    let program = place.program("load", body);
    let done =
        place.kiln(["hazard", "--in", KERNEL, "--when", "lock-wait>100ms", "--exec", text(&program)]).run();
    assert_eq!(done.stdout, "no task slept for a lock for more than 100.0 ms\n", "{}", done.stderr);
}

#[test]
fn who_writes_to_a_variable_of_the_kernel_is_found() {
    let place = Place::new();
    let program =
        place.program("load", "for (int i = 0; i < 3; i++) if (!fork()) _exit(0); while (wait(0) > 0) ;");
    for kernel in [KERNEL, NEWER] {
        let call =
            ["hazard", "--in", kernel, "--when", "write:total_forks", "--json", "--exec", text(&program)];
        let found: Value = place.kiln(call).run().expect(1).stated();
        let writes = found["writes"].as_array().expect("a list");
        let is_of_load = |write: &&Value| write["task"]["name"] == "load";
        let written: Vec<&Value> = writes.iter().filter(is_of_load).collect();
        assert_eq!(written.len(), 3, "{kernel}: {found:#}");
        for write in written {
            let value = |when: &str| write[when].as_u64().expect("a number");
            assert_eq!(value("after"), value("before") + 1, "{write:#}");
            assert!(names(&write["calls"], "text")[0].starts_with("copy_process+"), "{write:#}");
        }
    }
}

#[test]
fn what_cannot_be_watched_is_one_clear_message() {
    let place = Place::new();
    let program = place.program("load", "");
    for (variable, message) in [
        ("no_such_symbol", "the kernel has no no_such_symbol"),
        ("runqueues", "each CPU has a runqueues of its own"),
        ("total_forks+0x10000", "total_forks has "),
    ] {
        let condition = format!("write:{variable}");
        let done = place
            .kiln(["hazard", "--in", KERNEL, "--when", &condition, "--exec", text(&program)])
            .run()
            .expect(4);
        assert!(done.stderr.contains(message), "{variable}: {}", done.stderr);
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

def waiting(stop):
    return [task["name"] for task in stop["tasks"] if task["on-cpu"] == stop["cpu"]]

def watched(lab):
    expect(lab.machine().hazards(allow = ["refused"]) == None, "it is not watched")
    m = lab.machine(hazards = ["lock-spin>16", "lock-spin>1000"])
    m.put(lab.file("load"))
    found = []
    for turn in range(30):
        m.run("/tmp/load")
        found = [stop for stop in m.hazards() if waiting(stop) == ["load"] and stop["calls"]]
        if found:
            break
    expect(len(found) > 0, "the lock was seen")
    m.power_cut()
    expect(found[0] in m.hazards(), "they are kept")

def asleep(lab):
    m = lab.machine(hazards = "lock-wait>100ms", cpus = 1)
    m.put(lab.file("readers"))
    m.start("/tmp/readers")
    for turn in range(600):
        if m.hazards():
            break
        lab.sleep("100ms")
    stop = m.hazards()[0]
    expect(stop["condition"] == "lock-wait" and stop["lock"]["kind"] == "mutex", "it sleeps")
    expect(stop["owner"]["name"] == "readers", "it is known for whom")

def written(lab):
    m = lab.machine(hazards = "write:total_forks", cpus = 1)
    m.run("true")
    stops = [stop for stop in m.hazards() if stop["calls"][0]["text"].startswith("copy_process+")]
    expect(len(stops) > 0 and stops[0]["condition"] == "write", "who forks writes")
    expect(stops[0]["after"] == stops[0]["before"] + 1, "it counts")

step(watched)
step(asleep)
step(written)
"#;

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_script_sees_where_its_machine_waits() {
    let place = Place::new();
    let folder = folder(&place, SCRIPT);
    let load = place.compile("load", &LOCKS.replace("SECONDS", "2"), "", &["-static"]);
    std::fs::copy(load, folder.join("load")).expect("the folder of the experiment");
    let readers = place.compile("readers", &READERS.replace("SECONDS", "600"), "", &["-static"]);
    std::fs::copy(readers, folder.join("readers")).expect("the folder of the experiment");
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
