//! Whatever is done to a case, to a machine or to kiln: what is finished is kept, and the innocent are untouched.

use std::path::Path;
use std::time::Duration;

use judge::{Blame, Outcome};
use lab::Event;
use ledger::Past;
use rustix::process::Signal;

use crate::support::load::under_load;
use crate::support::planted::Fault;
use crate::support::small_room::{SmallRoom, in_small_room};
use crate::support::{BUILD, Call, KERNEL, Place, Running, processes, sessions, until};

/// A case that does not end where it is given this seed.
const ENDLESS: &str = "[ $KILN_SEED = 1 ] || exit 0; while :; do :; done";

/// `kiln run KERNEL --suite suite` with more arguments.
fn run(place: &Place, suite: &str, more: &[&str]) -> Call {
    place.kiln([&["run", KERNEL, "--suite", suite], more].concat())
}

/// Adds a program of this place to its suite.
fn add(place: &Place, name: &str) {
    std::fs::rename(place.path().join(name), place.path().join("suite").join(name)).expect("the same disk");
}

/// A C program that is a case.
fn program(place: &Place, name: &str, body: &str) {
    place.program(name, body);
    add(place, name);
}

const GARBAGE: &str = r#"
    int port = open("/dev/ttyS1", O_WRONLY | O_NOCTTY);
    for (int i = 0; i < 50; i++) dprintf(port, "all is well, believe me %d\n", i);
    char half[5000]; memset(half, 'x', sizeof half);
    write(port, half, sizeof half);
    return 5;"#;

const FLOOD: &str = r#"
    int console = open("/dev/ttyS0", O_WRONLY | O_NOCTTY);
    static char line[1000];
    memset(line, 'x', sizeof line); line[sizeof line - 1] = '\n';
    int seconds = getenv("FLOOD") ? atoi(getenv("FLOOD")) : SECONDS;
    for (time_t end = time(0) + seconds; time(0) < end;)
        for (int i = 0; i < 10; i++) { write(console, line, sizeof line); fwrite(line, sizeof line, 1, stdout); }"#;

const KILLER: &str = r#"
    FILE *maps = fopen("/proc/1/maps", "r");
    char line[256]; unsigned long from, to; char mode[8];
    int memory = open("/proc/1/mem", O_RDWR);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && mode[2] == 'x')
            for (; from < to; from += 4096) { char zeros[4096] = ""; pwrite(memory, zeros, 4096, from); }
    pause();"#;

const HOG: &str = r#"
    static char block[1 << 20];
    int fd = open("/tmp/full", O_WRONLY | O_CREAT, 0600);
    while (write(fd, block, sizeof block) > 0);
    return errno != ENOSPC;"#;

const DAEMONS: &str = r#"
    for (int i = 0; i < 50; i++)
        if (!fork()) { setsid(); signal(SIGTERM, SIG_IGN); if (fork()) _exit(0); for (;;) pause(); }"#;

/// Says what is to be done with the marks of [`crowd`].
const INNOCENT: &str = "[ ! -e /tmp/full ] && kiln-report pass 'nothing is here that was not'";

/// A suite of bad cases with innocent ones between them; what is right for each.
fn crowd(place: &Place) -> Vec<(&'static str, Outcome, Option<Blame>, &'static str)> {
    place.suite(&[
        ("a-innocent", INNOCENT),
        ("c-innocent", INNOCENT),
        ("e-innocent", INNOCENT),
        ("g-innocent", INNOCENT),
        ("panic", "echo c > /proc/sysrq-trigger"),
        ("reset", "echo b > /proc/sysrq-trigger"),
        ("liar", "echo 'ok 1 all is well'; echo 'Kernel panic - not syncing: no'; exit 1"),
        ("early", "echo 1..3; echo 'ok 1 first'; exit 0"),
        ("w-innocent", INNOCENT),
        ("z-innocent", INNOCENT),
    ]);
    for (name, fault) in [("oops", Fault::NullPointer), ("spin", Fault::Spin), ("fault", Fault::Reset)] {
        place.planted(name, fault, "");
        add(place, name);
    }
    program(place, "restart", "reboot(RB_AUTOBOOT);");
    program(place, "garbage", GARBAGE);
    program(place, "flood", &FLOOD.replace("SECONDS", "2"));
    program(place, "killer", KILLER);
    program(place, "hog", HOG);
    program(place, "daemons", DAEMONS);
    let (well, case) = ((Outcome::Pass, None), Some(Blame::Case));
    let of = |name, (outcome, blame), reason| (name, outcome, blame, reason);
    vec![
        of("a-innocent", well, ""),
        of("c-innocent", well, ""),
        of("daemons", well, ""),
        of("e-innocent", well, ""),
        of("early", well, ""),
        of("fault", (Outcome::Crash, None), "the machine was reset without a message"),
        of("flood", well, ""),
        of("g-innocent", well, ""),
        of("garbage", (Outcome::Fail, None), "exit status 5"),
        of("hog", well, ""),
        of("killer", (Outcome::Broken, Some(Blame::Kiln)), "process 1 died: Attempted to kill init!"),
        of("liar", (Outcome::Fail, None), "exit status 1"),
        of("oops", (Outcome::Fail, None), "BUG: kernel NULL pointer dereference"),
        of("panic", (Outcome::Crash, None), "Kernel panic: sysrq triggered crash"),
        of("reset", (Outcome::Broken, case), "the case restarted the machine"),
        of("restart", (Outcome::Broken, case), "the case restarted the machine"),
        of("spin", (Outcome::Hang, None), "the machine stopped answering for"),
        of("w-innocent", well, ""),
        of("z-innocent", well, ""),
    ]
}

#[test]
fn each_way_to_die_has_its_outcome_on_a_busy_host_and_nobody_elses_is_changed() {
    let place = Place::new();
    let expected = crowd(&place);
    let suite = place.path().join("suite").display().to_string();
    let call = run(&place, &suite, &["--no-retry", "-j", "2", "--cpus", "1"]).impatient();
    let done = under_load(|| call.run_within(BUILD)).expect(1);
    let mut runs = done.finished();
    runs.sort_by(|a, b| a.case.cmp(&b.case));
    let seen: Vec<_> = runs.iter().map(|run| (run.case.as_str(), run.outcome, run.blame)).collect();
    let right: Vec<_> = expected.iter().map(|&(case, outcome, blame, _)| (case, outcome, blame)).collect();
    assert_eq!(seen, right, "{}", done.stdout);
    for (run, (case, .., reason)) in runs.iter().zip(expected) {
        assert!(run.reason.starts_with(reason), "{case}: {}", run.reason);
        assert_eq!((run.boot, run.repeats.len()), (1, 0), "one boot for all");
        let text = done.console(case);
        assert!(
            text.starts_with(&format!("=== case {case}\n")) && text.matches("===").count() == 1,
            "{text}"
        );
        if case.ends_with("innocent") {
            let texts: Vec<&str> = run.reports.iter().map(|report| report.text.as_str()).collect();
            assert_eq!(texts, ["nothing is here that was not"]);
            assert!(run.notes.is_empty() && run.kernel_reports.is_empty(), "{run:?}");
        }
    }
    let left = done.document("daemons").notes;
    assert!(left.iter().any(|note| note.starts_with("left behind: process ")), "{left:?}");
}

#[test]
fn a_qemu_that_is_killed_costs_its_case_and_no_other() {
    let place = Place::new();
    let suite = place.suite(&[("a-endless", ENDLESS), ("b", "exit 0"), ("c", "exit 0"), ("d", "exit 0")]);
    let running = run(&place, &suite, &["-j", "2", "--seed", "1"]).start();
    await_events(&running, "\"finished\"", 3);
    // That of the case that does not end is the last.
    let qemu = until("one machine is left", || match &processes::marked(running.mark())[..] {
        [kiln, qemu] | [qemu, kiln] if qemu.name.starts_with("qemu") && kiln.name == "kiln" => Some(qemu.id),
        _ => None,
    });
    processes::signal(qemu, Signal::KILL);
    let done = running.wait().expect(3).says("QEMU: ended by signal 9");
    let run = done.document("a-endless");
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Machine)));
    assert_eq!((done.session()["summary"]["pass"].as_u64(), done.finished().len()), (Some(3), 4));
}

/// Waits until the record has a word so many times.
fn await_events(running: &Running, word: &str, count: usize) {
    let file = running.results().join("events.jsonl");
    until(word, || (std::fs::read_to_string(&file).ok()?.matches(word).count() >= count).then_some(()));
}

/// Names that begin like this in the store of templates.
fn templates(cache: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(cache.join("kiln/templates")).expect("it is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
    names.sort();
    names
}

#[test]
fn what_was_edited_is_run_again_and_not_resumed() {
    let place = Place::new();
    let program = place.script("edited", "exit 0");
    let resumed = |code| place.exec(&program, &["--resume"]).run().expect(code);
    resumed(0);
    resumed(0).says("1 of 1 cases are taken from session");
    place.script("edited", "exit 1");
    resumed(1).says("nothing to resume: session 20").says("ran another program, suite, root or agent");

    let suite = place.suite(&[("a", "exit 0"), ("b", ". ./data")]);
    let data = |text: &str| std::fs::write(Path::new(&suite).join("data"), text).expect("writable");
    let resumed = |code| run(&place, &suite, &["--resume"]).run().expect(code);
    data("exit 0\n");
    resumed(0);
    resumed(0).says("2 of 2 cases are taken from session");
    data("exit 1\n");
    resumed(1).says("nothing to resume: session 20");
}

/// Kills kiln as soon as `is_time` comes, and lets another one go on; gives how many Runs the first one had kept.
#[track_caller]
fn killed(is_time: impl Fn(&Running, &Path)) -> usize {
    let place = Place::new();
    let cache = place.templates();
    let cases = [("a", "exit 0"), ("b", "exit 0"), ("c-fails", "exit 1"), ("d-endless", ENDLESS)];
    let suite = place.suite(&cases);
    let call =
        |seed| run(&place, &suite, &["-j", "2", "--resume", "--seed", seed]).env("XDG_CACHE_HOME", &cache);
    let running = call("1").start();
    is_time(&running, &cache);
    running.signal(Signal::KILL);
    let done = running.wait();
    assert_eq!(done.code, None);
    assert!(done.events().iter().all(|event| !matches!(event, Event::Ended { .. })));
    let first = Past::open(&done.results()).expect("a session");
    let kept = first.runs();
    assert!(!first.ended() && kept.len() < cases.len(), "{kept:?}");
    assert_eq!(done.finished().len(), kept.len(), "what is told is kept, and the other way round");

    let done =
        call("2").start().wait().expect(1).says(&format!("{} of 4 cases are taken from session", kept.len()));
    let root = place.path().join("state/kiln/runs");
    let all = ledger::sessions(&root);
    assert_eq!((all.len(), all[0].ended(), &all[1]), (2, true, &first));
    let runs: Vec<_> = all[0].runs().into_iter().map(|run| (run.case, run.outcome)).collect();
    let right = cases
        .map(|(name, _)| (name.to_string(), if name == "c-fails" { Outcome::Fail } else { Outcome::Pass }));
    assert_eq!(runs, right, "{}", done.stdout);
    for run in &kept {
        assert_eq!(all[0].run(&run.case).expect("told again"), *run, "it was not run again");
        let file = Some(all[0].directory().join(format!("cases/{}.console", run.case)))
            .filter(|path| path.is_file());
        assert_eq!(file, None, "it was not run again");
    }
    let left = templates(&cache);
    // What fails is run again in a second boot.
    let is_whole = |name: &String| !name.starts_with("tmp-");
    assert!((1..=2).contains(&left.len()) && left.iter().all(is_whole), "{left:?}");
    kept.len()
}

#[test]
fn kiln_may_be_killed_while_the_template_boots() {
    let kept = killed(|running, _| running.await_event("command-line"));
    assert_eq!(kept, 0);
}

#[test]
fn kiln_may_be_killed_while_the_template_is_written() {
    killed(|_, cache| {
        until("a template is on its way", || {
            templates(cache).iter().any(|name| name.starts_with("tmp-")).then_some(())
        });
    });
}

#[test]
fn kiln_may_be_killed_while_cases_run() {
    let kept = killed(|running, _| await_events(running, "\"finished\"", 2));
    assert!(kept >= 2);
}

#[test]
fn kiln_may_be_killed_while_a_case_is_repeated() {
    let kept = killed(|running, _| await_events(running, "\"repeated\"", 2));
    assert!(kept >= 2, "a and b");
}

#[test]
fn a_disk_that_is_full_of_results_costs_no_case_and_leaves_nothing_half_written() {
    let place = Place::new();
    let suite = place.suite(&[("a", "exit 0"), ("b", "exit 0"), ("d", "exit 0")]);
    // While it sleeps somebody else fills the disk.
    program(&place, "c", "sleep(3);");
    let (room, copy) = (place.path().join("room"), place.path().join("copy"));
    let call = run(&place, &suite, &["-j", "1", "--results", room.to_str().expect("UTF-8")]);
    let fill = "until [ -e $0/*/cases/b.json ]; do sleep 0.1; done; cat /dev/zero > $0/zeroes";
    let Some(done) = in_small_room(call, SmallRoom { folder: &room, mib: 17, beside: fill }, &copy) else {
        return;
    };
    let done = done.expect(3).says("4 cases in").says("4 pass");
    assert_eq!(done.stderr.matches("No space left on device").count(), 1, "{}", done.stderr);
    assert!(done.stderr.contains("--results"), "{}", done.stderr);
    let [past] = &ledger::sessions(&copy)[..] else { panic!("one session") };
    let kept: Vec<String> = past.runs().into_iter().map(|run| run.case).collect();
    assert!(kept.starts_with(&["a".into(), "b".into()]) && !kept.contains(&"d".into()), "{kept:?}");
    let events = std::fs::read_to_string(past.directory().join("events.jsonl")).expect("kept");
    let whole = |line: &str| serde_json::from_str::<Event>(line).is_ok();
    assert!(events.lines().all(whole) && events.ends_with('\n'), "{events}");
    let files = std::fs::read_dir(past.directory().join("cases")).expect("made").flatten();
    let names: Vec<_> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.starts_with(".kiln-part-")), "{names:?}");
}

#[test]
fn a_disk_without_room_for_the_template_costs_only_time() {
    let place = Place::new();
    let cache = place.templates();
    let suite = place.suite(&[("a", "exit 0"), ("b", "exit 0")]);
    let copy = place.path().join("copy");
    let call = run(&place, &suite, &[]).env("XDG_CACHE_HOME", &cache);
    let room = SmallRoom { folder: &cache.join("kiln/templates"), mib: 20, beside: ":" };
    let Some(done) = in_small_room(call, room, &copy) else { return };
    let done = done.expect(0).says("2 pass");
    assert!(done.stderr.is_empty(), "{}", done.stderr);
    assert!(done.finished().iter().all(|run| (run.outcome, run.boot) == (Outcome::Pass, 1)));
    let left: Vec<_> =
        std::fs::read_dir(&copy).expect("copied").flatten().map(|file| file.file_name()).collect();
    assert_eq!(left, [".lock"]);
}

/// Floods the console for so long; kiln must not grow, nor what it writes.
fn floods(seconds: u32) {
    let place = Place::new();
    let suite = place.suite(&[("b", "exit 0")]);
    program(&place, "a-flood", &FLOOD.replace("SECONDS", &seconds.to_string()));
    let running = run(&place, &suite, &["-j", "1", "--case-timeout", "10m"]).start();
    let status = format!("/proc/{}/status", running.pid());
    let mut most = 0;
    let peak = || {
        let text = std::fs::read_to_string(&status).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    // It is dead before it is waited for, and then has no memory.
    while let Some(kib) = peak() {
        most = most.max(kib);
        std::thread::sleep(Duration::from_millis(50));
    }
    let done = running.wait().expect(0).says("2 pass");
    assert!((1..200 << 10).contains(&most), "{most} KiB");
    let mut size = 0;
    for file in ["console.log", "events.jsonl", "kernel.log", "cases/a-flood.console", "cases/a-flood.json"] {
        size += std::fs::metadata(done.results().join(file)).map_or(0, |found| found.len());
    }
    assert!((100 << 10..80 << 20).contains(&size), "{size}");
    assert!(done.console("b").contains("=== case b\n"), "the flood of one takes no room from another");
}

#[test]
fn a_flood_of_the_console_is_bounded() {
    floods(3);
}

#[test]
#[ignore = "takes minutes"]
fn a_flood_of_the_console_for_a_minute_is_bounded() {
    floods(60);
}

#[test]
fn no_session_is_left_behind_by_what_was_refused() {
    let place = Place::new();
    let suite = place.suite(&[("a", "exit 0")]);
    run(&place, &suite, &[]).env("PATH", "/nowhere").run().expect(3);
    assert_eq!(sessions(&place.path().join("state")).len(), 0);
}
