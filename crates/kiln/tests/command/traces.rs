//! `kiln trace`: what the kernel did while a program ran.

use std::process::Command;

use serde_json::Value;

use crate::support::{Done, KERNEL, Place, text};

/// A program that asks so often who its parent is.
fn asking(place: &Place, times: u32) -> String {
    let code = format!("for (int i = 0; i < {times}; i++) syscall(SYS_getppid); return 7;");
    text(&place.program("asking", &code)).to_owned()
}

/// The statistics of the newest trace.
fn statistics(place: &Place, filter: &str) -> Value {
    place.kiln(["trace", "view", "--stats", "--json", "--filter", filter]).run().expect(0).stated()
}

fn recorded(place: &Place, more: &[&str], program: &str) -> Done {
    place.kiln([&["trace"], more, &["--exec", program]].concat()).run()
}

/// A program that is in the recording up to its exit status 7, and goes on behind it.
#[test]
fn an_event_ends_the_recording() {
    let place = Place::new();
    let code =
        "if (!fork()) exit(7); wait(0); for (int i = 0; i < 5000; i++) syscall(SYS_getppid); return 9;";
    let program = text(&place.program("goes-on", code)).to_owned();
    let until = "sched:sched_process_exit if comm == \"goes-on\"";
    for event in ["sched:sched_process_exit", until] {
        let done = recorded(&place, &["--only", "--until", event], &program).expect(9);
        assert!(done.stderr.contains("; the event has ended the recording"), "{}", done.stderr);
        let names = statistics(&place, "comm == goes-on")["names"].clone();
        assert_eq!(
            (&names["sched:sched_process_exit"], &names["syscalls:sys_enter_exit_group"]),
            (&1.into(), &1.into())
        );
        assert!(names["syscalls:sys_enter_getppid"].as_u64() < Some(5000), "{names}");
    }
    let never = ["--events", "irq", "--until", "sched:sched_process_exit if pid == 0"];
    let done = recorded(&place, &never, &program).expect(9);
    assert!(done.stderr.contains("sched:sched_process_exit if pid == 0 did not happen"), "{}", done.stderr);
    for (event, code, message) in [
        ("sched", 2, "name one event"),
        ("sched:no_such", 4, "the kernel has no such event: sched:no_such"),
        ("sched:sched_process_exit if nothing == 1", 4, "does not take the condition"),
    ] {
        let done = recorded(&place, &["--until", event], &program).expect(code);
        assert!(done.stderr.contains(message), "{event}: {}", done.stderr);
    }
    let results = place.path().join("results");
    let inside = ["--in", KERNEL, "--until", until, "--results", text(&results)];
    let done = recorded(&place, &inside, &program);
    assert!(done.stdout.contains(&format!("{until} has ended it")), "{}", done.stdout);
}

#[test]
fn each_call_of_a_program_is_recorded_and_its_exit_code_is_that_of_kiln() {
    let place = Place::new();
    let done = recorded(&place, &["--only"], &asking(&place, 5000)).expect(7);
    assert!(
        done.stderr.contains(", none lost; kernel ")
            && done.stderr.contains("kiln trace view last shows them"),
        "{}",
        done.stderr
    );
    let found = statistics(&place, "comm == asking");
    let names = &found["names"];
    assert_eq!(names["syscalls:sys_enter_getppid"], 5000);
    assert_eq!(names["syscalls:sys_exit_getppid"], 5000);
    let calls = found["system_calls"].as_array().expect("a list");
    let getppid = calls.iter().find(|call| call["name"] == "getppid").expect("it was called");
    assert_eq!((&getppid["took"]["count"], &getppid["failed"]), (&Value::from(5000), &Value::from(0)));
    let line = place
        .kiln(["trace", "view", "--limit", "1", "--filter", "name == sys_exit_getppid"])
        .run()
        .expect(0)
        .stdout;
    assert!(
        line.contains(" asking-")
            && line.contains(" syscalls:sys_exit_getppid: ")
            && line.lines().count() == 1,
        "{line}"
    );
    let json = place
        .kiln(["trace", "view", "--json", "--filter", "name == sys_exit_getppid"])
        .run()
        .expect(0)
        .stdout;
    let events: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.len(), 5000);
    assert!(events.windows(2).all(|pair| pair[0]["time_ns"].as_u64() <= pair[1]["time_ns"].as_u64()));
}

#[test]
fn what_is_recorded_and_what_is_lost_is_all_that_happened() {
    let place = Place::new();
    let event = "syscalls:sys_enter_getppid";
    let program = asking(&place, 300_000);
    let kept = place.path().join("kept");
    recorded(&place, &["--only", "--events", event, "--buffer", "8K", "-o", text(&kept)], &program).expect(7);
    let document = std::fs::read_to_string(kept.join("summary.json")).expect("kept");
    let summary: Value = serde_json::from_str(&document).expect("JSON");
    let number = |name: &str| summary[name].as_u64().expect("a number");
    assert_eq!(number("events") + number("lost"), 300_000, "{summary}");
    assert_eq!((&summary["is_whole"], number("unreadable")), (&Value::Bool(true), 0));
    let shown = place.kiln(["trace", "view", text(&kept), "--stats", "--json"]).run().expect(0);
    assert_eq!(shown.stated::<Value>()["names"][event], number("events"));
    assert_eq!(shown.stderr.contains("events were lost"), number("lost") > 0, "{}", shown.stderr);
}

#[test]
fn an_event_that_the_kernel_lacks_is_reported_and_the_others_are_recorded() {
    let place = Place::new();
    let events = "syscalls:sys_enter_getppid,sched:no_such_event,sched:no_other,nosuch";
    let done = recorded(&place, &["--only", "--events", events], &asking(&place, 10)).expect(7);
    for missing in ["sched:no_such_event", "sched:no_other", "nosuch"] {
        let note = format!("{missing} is not recorded: the kernel has no such event");
        assert!(done.stderr.contains(&note), "{}", done.stderr);
    }
    assert_eq!(statistics(&place, "name ~ sys_*")["events"], 10);
    let none = recorded(&place, &["--events", "nosuch"], "/bin/true").expect(4);
    assert!(none.stderr.contains("trace: skip: the kernel has none of these events"), "{}", none.stderr);
}

#[test]
fn conditions_of_the_kernel_leave_events_out() {
    let place = Place::new();
    let code = "for (int i = 0; i < 100; i++) syscall(SYS_umask, i % 2); return 0;";
    let program = place.program("masking", code);
    let event = "syscalls:sys_enter_umask if mask == 0";
    recorded(&place, &["--only", "--events", "syscalls:sys_exit_umask", "-e", event], text(&program))
        .expect(0);
    let names = &statistics(&place, "name ~ sys_*")["names"];
    assert_eq!(
        (&names["syscalls:sys_enter_umask"], &names["syscalls:sys_exit_umask"]),
        (&50.into(), &100.into())
    );
    let event = "syscalls:sys_enter_umask if nothing == 0";
    let wrong =
        recorded(&place, &["--events", "syscalls:sys_exit_umask", "-e", event], "/bin/true").expect(0);
    let note = "syscalls:sys_enter_umask is not recorded: the kernel does not take the filter";
    assert!(wrong.stderr.contains(note), "{}", wrong.stderr);
}

#[test]
fn what_cannot_be_recorded_or_shown_is_one_clear_message() {
    let place = Place::new();
    let refused = |arguments: &[&str], why: &str| {
        let done = place.kiln(arguments).run().expect(2);
        assert!(done.stderr.contains(why), "{}", done.stderr);
    };
    refused(&["trace", "--events", "../x", "--exec", "/bin/true"], "names no events");
    refused(&["trace", "--buffer", "4G", "--exec", "/bin/true"], "is no size of a buffer");
    refused(&["trace", "--exec", "/no/such/program"], "/no/such/program: ");
    refused(&["trace", "-o", "/", "--exec", "/bin/true"], "/: ");
    refused(&["trace", "view", "/"], "there is no trace in this folder");
    refused(&["trace", "view", "2001"], "no trace \"2001\" in ");
    refused(&["trace", "view", "--filter", "cpu = 1"], "the filter is not understood at character 5");
}

#[test]
fn what_the_kernel_of_a_machine_does_in_a_case_becomes_a_trace() {
    let place = Place::new();
    let program = asking(&place, 500);
    let done = place.kiln(["trace", "--in", KERNEL, "--only", "--exec", &program]).run().expect(7);
    let folder = done.results().join("cases/asking.trace");
    let run = done.document("asking");
    let note = format!("trace: {}: ", folder.display());
    assert!(
        run.notes
            .iter()
            .any(|found| found.starts_with(&note) && found.contains(", 0 lost; clock aligned within")),
        "{:?}",
        run.notes
    );
    let shown = place
        .kiln(["trace", "view", text(&folder), "--stats", "--json", "--filter", "comm == asking"])
        .run()
        .expect(0);
    let found: Value = shown.stated();
    assert_eq!(found["names"]["syscalls:sys_enter_getppid"], 500);
}

#[test]
fn a_machine_and_its_host_are_on_one_axis() {
    let place = Place::new();
    let events = "sched:sched_process_exec,syscalls:sys_enter_getppid";
    let program = asking(&place, 5);
    let call = ["trace", "--in", KERNEL, "--host", "--events", events, "--exec", &program];
    let done = place.kiln(call).run().expect(7);
    assert!(
        done.stderr.contains("on this host: ") && done.stderr.contains("--with TRACE"),
        "{}",
        done.stderr
    );
    let folder = done.results().join("cases/asking.trace");
    let shown = place.kiln(["trace", "view", text(&folder), "--with", "last", "--json"]).run().expect(0);
    let notes: Vec<&str> =
        shown.stderr.lines().filter(|line| line.contains(": clock aligned within ")).collect();
    assert!(notes[0].ends_with(" us with the host's") && notes.len() == 2, "{notes:?}");
    let events: Vec<Value> =
        shown.stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert!(
        events.is_sorted_by_key(|event| event["time_ns"].as_u64()),
        "they are in the order of their times"
    );
    let is_guest = |event: &&Value| event["trace"].as_str().is_some_and(|name| KERNEL.contains(name));
    assert_eq!(events.iter().filter(is_guest).filter(|event| event["comm"] == "asking").count(), 6);
    // QEMU began before what it runs.
    let first = events.iter().position(|event| event["fields"]["filename"].to_string().contains("qemu"));
    assert!(
        first.is_some() && first < events.iter().position(|event| is_guest(&event)),
        "{:?}",
        shown.stdout
    );
    let page = place.path().join("both.html");
    place.kiln(["trace", "view", text(&folder), "--with", "last", "--html", text(&page)]).run().expect(0);
    let page = std::fs::read_to_string(&page).expect("a page");
    for note in &notes {
        let name = note.trim_start_matches("kiln: ").split(": clock").next().expect("a name");
        assert!(page.contains(&format!(" ({name})\"")), "a lane of {name}");
    }
    let wrong = place.kiln(["trace", "view", "--with", "last", "--stats"]).run().expect(2);
    assert!(wrong.stderr.contains("cannot be used with"), "{}", wrong.stderr);
}

#[test]
fn a_trace_of_a_kernel_that_panics_has_what_came_before() {
    let place = Place::new();
    let code = "for (int i = 0; i < 100; i++) syscall(SYS_getppid); usleep(500000);
        int it = open(\"/proc/sysrq-trigger\", O_WRONLY); write(it, \"c\", 1); return 0;";
    let program = place.program("dying", code);
    let events = "syscalls:sys_enter_getppid";
    let call = ["run", KERNEL, "--no-retry", "--trace", events, "--exec", text(&program)];
    let done = place.kiln(call).run().expect(1);
    let folder = done.results().join("cases/dying.trace");
    let notes = done.document("dying").notes;
    assert!(notes.iter().any(|note| note.contains(", cut off")), "{notes:?}");
    let shown = place.kiln(["trace", "view", text(&folder), "--stats", "--json"]).run().expect(0);
    assert_eq!(shown.stated::<Value>()["names"][events], 100);
}

#[test]
fn a_flight_recorder_keeps_only_what_failed() {
    let place = Place::new();
    let suite = place.path().join("cases");
    std::fs::create_dir(&suite).expect("a folder");
    let good = place.program("good", "for (int i = 0; i < 10; i++) syscall(SYS_getppid); return 0;");
    let bad = place.program("bad", "for (int i = 0; i < 20; i++) syscall(SYS_getppid); return 1;");
    for program in [&good, &bad] {
        std::fs::copy(program, suite.join(program.file_name().expect("a name"))).expect("copied");
    }
    let event = "--flight=syscalls:sys_enter_getppid";
    let done = place.kiln(["run", KERNEL, "--no-retry", event, "--suite", text(&suite)]).run().expect(1);
    let cases = done.results().join("cases");
    let kept: Vec<_> = walk(&cases).into_iter().filter(|name| name.ends_with(".trace")).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].ends_with("bad.trace"), "{kept:?}");
    let shown = place.kiln(["trace", "view", &kept[0], "--stats", "--json"]).run().expect(0);
    assert_eq!(shown.stated::<Value>()["names"]["syscalls:sys_enter_getppid"], 20);
}

/// All folders below one.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let folders = entries.filter(|path| path.is_dir());
    folders.flat_map(|path| [vec![text(&path).to_owned()], walk(&path)].concat()).collect()
}

/// A program that marks its steps, and is killed after the last one.
fn marking(place: &Place) -> String {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/marks/kiln_mark.h");
    let before = format!("#include \"{header}\"\n");
    let body = "for (int i = 0; i < 100; i++) kiln_mark(\"step %d of %s\", i, \"marking\"); raise(SIGKILL);";
    text(&place.compile("marking", body, &before, &["-static"])).to_owned()
}

/// What is marked.
fn marks(place: &Place, trace: &str) -> Vec<String> {
    let call = ["trace", "view", trace, "--json", "--filter", "name == print"];
    let lines = place.kiln(call).run().expect(0).stdout;
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events.map(|event| event["fields"]["buf"].as_str().expect("a text").trim_end().to_owned()).collect()
}

#[test]
fn marks_of_a_program_stay_when_it_is_killed() {
    let place = Place::new();
    let steps: Vec<String> = (0..100).map(|step| format!("step {step} of marking")).collect();
    let program = marking(&place);
    recorded(&place, &["--only", "--events", "sched"], &program).expect(137);
    assert_eq!(marks(&place, "last"), steps);
    let alone = Command::new(&program).status().expect("it runs");
    assert!(!alone.success(), "without a recording it marks nothing, and is killed");

    let run =
        place.kiln(["run", KERNEL, "--no-retry", "--trace", "sched", "--exec", &program]).run().expect(137);
    let found = marks(&place, text(&run.results().join("cases/marking.trace")));
    let (first, last) = (&found[0], &found[found.len() - 1]);
    assert!(first.starts_with("kiln: ") && first.ends_with("marking begins"), "{first}");
    assert!(last.contains("marking ends: "), "{last}");
    assert_eq!(found[1..found.len() - 1], steps);
}
