//! `kiln observe`: what processes of this host do.

use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Done, Place, processes, text, until};

/// The JSON lines of a file.
fn lines(path: &std::path::Path) -> Vec<Value> {
    let content = std::fs::read_to_string(path).expect("it was written");
    content.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
fn complains(done: &Done, texts: &[&str]) {
    texts.iter().for_each(|text| assert!(done.stderr.contains(text), "no {text:?} in\n{}", done.stderr));
}

/// A program that crashes in `main`.
fn crashing(place: &Place) -> String {
    text(&place.program("crashing", "return *(volatile int *)(long)(argc - 1);")).to_owned()
}

#[test]
fn a_job_is_observed_and_its_exit_code_is_that_of_kiln() {
    let place = Place::new();
    let (file, crashing) = (place.path().join("events.json"), crashing(&place));
    let job = format!("{crashing}; sh -c 'exit 3'; true; exit 5");
    let done = place
        .kiln(["observe", "--tree", "--stats", "-o", text(&file), "--", "sh", "-c", &job])
        .run()
        .expect(5);
    let shown = [
        "dies of SIGSEGV at 0x0",
        "#0  0x",
        " main",
        "3 processes, 3 programs, 2 with an exit code that is not 0, 1 killed by a signal",
        "killed by SIGSEGV at 0x0",
        "[exit 3]",
    ];
    complains(&done, &shown);
    let written = lines(&file);
    let crash = written.iter().find(|line| line["event"] == "crash").expect("it crashed");
    assert_eq!(crash["frames"][0]["function"], "main");
    let all = written.last().expect("the processes")["processes"].as_array().expect("a list").clone();
    let ends: Vec<&Value> = all.iter().map(|process| &process["end"]).collect();
    assert_eq!(*ends[0], serde_json::json!({ "code": 5 }));
    assert_eq!(ends[1]["signal"], "SIGSEGV");
    assert_eq!(*ends[2], serde_json::json!({ "code": 3 }));
}

#[test]
fn what_crashes_is_held_for_a_time() {
    let place = Place::new();
    let job = format!("{}; exit 6", crashing(&place));
    let done = place.kiln(["observe", "--hold=200ms", "--", "sh", "-c", &job]).run().expect(6);
    complains(&done, &["is held: gdb -p ", "by itself in 0.2 s"]);
}

/// Three threads: one changes what is in memory and crashes, the others wait.
const THREADS: &str = "\
#include <pthread.h>
char text[] = \"before\";
volatile int *nowhere;
static void *crash(void *all) { strcpy(text, \"after\"); pthread_barrier_wait(all); return (void *)(long)*nowhere; }
static void *rest(void *all) { pthread_barrier_wait(all); for (;;) pause(); }";

#[test]
fn a_core_dump_has_all_threads_and_what_was_in_memory() {
    let place = Place::new();
    let body = "pthread_barrier_t all; pthread_t one, two; pthread_barrier_init(&all, 0, 2);
        pthread_create(&one, 0, rest, &all); pthread_create(&two, 0, crash, &all); pause();";
    let program = place.compile("threads", body, THREADS, &["-g", "-pthread"]);
    let cores = place.path().join("cores");
    let call = ["observe", "--cores", text(&cores), "--", text(&program)];
    let done = place.kiln(call).run().expect(139);
    complains(&done, &["dies of SIGSEGV at 0x0", "core dump: "]);
    let written: Vec<_> = std::fs::read_dir(&cores).expect("a directory").flatten().collect();
    let [core] = &written[..] else { panic!("{written:?}") };
    assert!(core.file_name().to_string_lossy().starts_with("threads."), "{core:?}");
    let commands = ["print text", "print $_siginfo.si_signo", "thread apply all backtrace"];
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx"]).args(commands.iter().flat_map(|command| ["-ex", command]));
    let shown = gdb.arg(&program).arg(core.path()).output().expect("gdb is installed");
    let shown = String::from_utf8_lossy(&shown.stdout) + String::from_utf8_lossy(&shown.stderr);
    for text in ["terminated with signal SIGSEGV", "\"after\"", "= 11", "crash (all=", "rest (all=", "main ("]
    {
        assert!(shown.contains(text), "no {text:?} in\n{shown}");
    }
    // It is there already.
    let again = place.path().join("file");
    std::fs::write(&again, "").expect("writable");
    place.kiln(["observe", "--cores", text(&again), "--", "true"]).run().expect(2);
}

#[test]
fn a_job_does_not_outlive_kiln() {
    let place = Place::new();
    let running = place.kiln(["observe", "--", "sh", "-c", "sleep 1000 & sleep 1000"]).start();
    let all = until("both sleep", || {
        let all = processes::descendants(running.pid());
        (all.len() == 3).then_some(all)
    });
    running.signal(Signal::KILL);
    running.wait();
    until("all of them are gone", || (!all.iter().any(processes::lives)).then_some(()));
}

#[test]
fn all_processes_are_heard_or_those_of_a_program() {
    let place = Place::new();
    let done =
        place.kiln(["observe", "forks", "--json", "--", "sh", "-c", "sleep 0.1; exit 4"]).run().expect(4);
    let events: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    assert_eq!((of("fork"), of("exec"), of("exit")), (1, 2, 2), "{}", done.stdout);
    let done = place
        .kiln(["observe", "forks", "--events", "exit!=0", "--", "sh", "-c", "true & exit 4"])
        .run()
        .expect(4);
    let shown: Vec<&str> = done.stdout.lines().collect();
    assert!(shown.len() == 2 && shown[1].contains("exit 4"), "{}", done.stdout);
}

#[test]
fn a_process_that_runs_is_looked_at() {
    let place = Place::new();
    let mut sleeping = Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().expect("it starts");
    let number = sleeping.id().to_string();
    let stacks = until("it sleeps", || {
        let done = place.kiln(["observe", "stacks", "--json", &number]).run().expect(0);
        let stacks: Value = done.stated();
        let frames = stacks[0]["frames"].as_array().expect("a list");
        frames
            .iter()
            .any(|frame| frame["file"].as_str().is_some_and(|file| file.contains("libc")))
            .then_some(stacks)
    });
    assert_eq!(stacks[0]["comm"], "sleep");
    place.kiln(["observe", "locks", &number]).run().expect(0);
    let found = place.kiln(["observe", "deadlocks", &number]).run().expect(0);
    assert_eq!(found.stdout, "no deadlock\n");
    sleeping.kill().expect("it is there");
    sleeping.wait().expect("it is gone");
}

#[test]
fn what_cannot_be_observed_is_a_line() {
    let place = Place::new();
    let wrong: [(&[&str], &str); 6] = [
        (&["observe", "--tree"], "name a program after --"),
        (&["observe", "--", "/no/such/program"], "/no/such/program: No such file"),
        (&["observe", "forks", "--events", "births"], "there are fork, clone, exec"),
        (&["observe", "stacks", "2000000000"], "there is no process 2000000000"),
        (&["observe", "locks", "0"], "0 is not in 1.."),
        (&["observe", "-o", "/no/such/folder/file", "--", "true"], "/no/such/folder/file: No such file"),
    ];
    for (arguments, message) in wrong {
        complains(&place.kiln(arguments).run().expect(2), &[message]);
    }
}
