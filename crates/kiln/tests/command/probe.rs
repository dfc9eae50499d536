//! `kiln probe`: tools that look at programs of which it is known what they do.

use protocol::probe::{Found, LockKind, LockWaits, PageCache, ProbeReport};

use serde_json::Value;

use crate::support::processes::Shell;
use crate::support::{COMPLETE, Done, KERNEL, NEWER, Place, text};

/// A shell that makes fifty processes, and tries to open seven files that are not there.
const LOAD: &str = "i=0; while [ $i -lt 50 ]; do (exit 0); i=$((i+1)); done
for i in 1 2 3 4 5 6 7; do read line < /nowhere/$i; done 2>/dev/null
exit 3";

fn probed(done: &Done) -> ProbeReport {
    let report: ProbeReport = done.stated();
    assert_eq!(report.validate(), Ok(()));
    assert_eq!((report.status, report.lost), (Some(3), 0), "{report:?}");
    report
}

/// This host, and a machine.
const PLACES: [&[&str]; 2] = [&[], &["--in", KERNEL, "--cpus", "2"]];

/// Machines with other kernels.
const OTHERS: [&[&str]; 2] = [&["--in", COMPLETE], &["--in", NEWER]];

/// What a tool finds in one place.
fn found(place: &Place, tool: &[&str], kernel: &[&str]) -> ProbeReport {
    let program = place.script("load", LOAD);
    let call = ["probe", "--json", "--exec", text(&program)];
    probed(&place.kiln([&call[..], tool, kernel].concat()).run().expect(0))
}

#[test]
fn opensnoop_sees_each_file_that_is_not_there() {
    opensnoop(&PLACES);
}

fn opensnoop(places: &[&[&str]]) {
    let place = Place::new();
    for kernel in places {
        let report = found(&place, &["--tool", "opensnoop"], kernel);
        let Found::Opens { opens, omitted: 0 } = &report.found else { panic!("{report:?}") };
        let paths: Vec<&str> = opens
            .iter()
            .filter(|open| open.path.starts_with("/nowhere"))
            .map(|open| open.path.as_str())
            .collect();
        assert_eq!(paths, (1..8).map(|at| format!("/nowhere/{at}")).collect::<Vec<_>>(), "{kernel:?}");
        assert!(opens.iter().any(|open| open.path.ends_with("load") && open.result >= 0), "{opens:?}");
        let failed = found(&place, &["--tool", "opensnoop", "--failed"], kernel);
        let Found::Opens { opens, .. } = &failed.found else { panic!("{failed:?}") };
        assert!(opens.iter().all(|open| open.result < 0 && open.error.is_some()), "{opens:?}");
        assert!(opens.iter().filter(|open| open.error.as_deref() == Some("ENOENT")).count() >= 7);
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn opensnoop_knows_all_calls_that_open() {
    const CALLS: &str = r#"
        my ($open, $creat, $at, $at2) = ("/nowhere/open", "/nowhere/creat", "/nowhere/openat", "/nowhere/openat2");
        my $how = pack "QQQ", 0, 0, 0;
        syscall 2, $open, 0, 0; syscall 85, $creat, 0; syscall 257, -100, $at, 0, 0; syscall 437, -100, $at2, $how, 24;"#;
    let place = Place::new();
    let asked = ["probe", "--json", "--tool", "opensnoop", "--failed", "--exec", "perl", "--", "-e", CALLS];
    let report: ProbeReport = place.kiln(asked).run().expect(0).stated();
    let Found::Opens { opens, omitted: 0 } = &report.found else { panic!("{report:?}") };
    let paths: Vec<&str> = opens.iter().filter_map(|open| open.path.strip_prefix("/nowhere/")).collect();
    assert_eq!(paths, ["open", "creat", "openat", "openat2"]);
}

#[test]
fn forks_are_those_of_the_program() {
    forks(&PLACES);
}

fn forks(places: &[&[&str]]) {
    let place = Place::new();
    for kernel in places {
        let report = found(&place, &["--tool", "forks"], kernel);
        let Found::Programs(programs) = &report.found else { panic!("{report:?}") };
        let sum = |of: fn(&protocol::probe::Programs) -> u64| programs.iter().map(of).sum::<u64>();
        // The fifty and the program itself end; it was made before.
        assert_eq!([sum(|it| it.processes), sum(|it| it.threads), sum(|it| it.ended)], [50, 0, 51]);
        assert!(sum(|it| it.executed) >= 1, "{programs:?}");
    }
}

#[test]
fn slabratetop_sees_what_processes_are_made_of() {
    slabratetop(&PLACES);
}

fn slabratetop(places: &[&[&str]]) {
    let place = Place::new();
    for kernel in places {
        let report = found(&place, &["--tool", "slabratetop"], kernel);
        let Found::Slabs(slabs) = &report.found else { panic!("{report:?}") };
        let tasks = slabs.iter().find(|slab| slab.cache == "task_struct").expect("processes were made");
        assert!(tasks.objects >= 50 && tasks.bytes > tasks.objects * 1024, "{kernel:?}: {tasks:?}");
        assert!(slabs.iter().any(|slab| slab.cache.starts_with("kmalloc-")), "{slabs:?}");
    }
}

#[test]
fn klockstat_sees_how_long_a_thread_waits_for_a_lock() {
    klockstat(&PLACES);
}

fn klockstat(places: &[&[&str]]) {
    let place = Place::new();
    let program = place.kept_program("contended");
    for kernel in places {
        let call = ["probe", "--json", "--tool", "klockstat", "--exec", text(&program)];
        let report = probed(&place.kiln([&call[..], kernel].concat()).run().expect(0));
        let Found::Locks(locks) = &report.found else { panic!("{report:?}") };
        let is_file = |row: &&LockWaits| row.kind == LockKind::Rwsem && row.caller.contains("write_iter");
        let files: Vec<_> = locks.iter().filter(is_file).collect();
        let [file] = files[..] else { panic!("{kernel:?}: {locks:?}") };
        assert_eq!((file.waits, file.total_ns, file.lock.as_deref()), (1, file.longest_ns, None), "{file:?}");
        assert!(file.longest_ns >= 20_000_000, "{file:?}");
    }
}

/// Names of functions: one, several, one that has no probe, none.
const FUNCTIONS: [&str; 4] =
    ["--tool", "funccount", "--functions", "kernel_clone,do_filp_*,do_int3,kernel_clon"];

#[test]
fn functions_are_counted_by_their_names() {
    funccount(&PLACES[1..]);
}

fn funccount(places: &[&[&str]]) {
    let place = Place::new();
    for kernel in places {
        let report = found(&place, &FUNCTIONS, kernel);
        let Found::Functions(functions) = &report.found else { panic!("{report:?}") };
        let calls = |name: &str| functions.iter().find(|one| one.name == name).map(|one| one.calls);
        assert_eq!(calls("kernel_clone"), Some(50), "{functions:?}");
        assert!(calls("do_filp_open") > Some(7), "{functions:?}");
        let why = |what: &str| report.missing.iter().find(|one| one.what == what).map(|one| one.why.as_str());
        assert_eq!(why("do_int3"), Some("the kernel allows no probe of this function"));
        assert!(why("kernel_clon").is_some_and(|why| why.contains("near ones are kernel_clone")));
    }
}

#[test]
fn functions_are_not_counted_where_there_are_no_probes() {
    let place = Place::new();
    let program = place.script("load", LOAD);
    let here = place.kiln([&["probe", "--exec", text(&program)][..], &FUNCTIONS].concat()).run();
    if std::path::Path::new("/sys/bus/event_source/devices/kprobe").exists() {
        here.expect(0);
    } else {
        assert!(here.expect(4).stderr.contains("CONFIG_KPROBE_EVENTS"));
    }
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn all_tools_look_into_other_kernels_too() {
    opensnoop(&OTHERS);
    forks(&OTHERS);
    slabratetop(&OTHERS);
    // Linux 5.19 is the first with these events.
    klockstat(&OTHERS);
    funccount(&OTHERS);
    cachetop(NEWER);
}

#[test]
fn cachetop_tells_pages_that_are_read_again_from_those_that_are_not() {
    cachetop(KERNEL);
}

fn cachetop(kernel: &str) {
    let place = Place::new();
    // Whoever closes a disk that nobody else has open drops its pages.
    let read = "dd if=/dev/vda of=/dev/null bs=4096";
    let [once, twice] = ["", read].map(|again| {
        let program = place.script("read", &format!("exec 3< /dev/vda\n{read}\n{again}\nexit 3"));
        let call = ["probe", "--json", "--tool", "cachetop", "--in", kernel, "--disk", "4M"];
        let report = probed(&place.kiln([&call[..], &["--exec", text(&program)]].concat()).run().expect(0));
        assert!(report.missing.is_empty(), "{report:?}");
        let Found::PageCache(processes) = report.found else { panic!("{report:?}") };
        let sum = |of: fn(&PageCache) -> u64| {
            processes.iter().filter(|process| process.name == "dd").map(of).sum::<u64>()
        };
        [sum(|it| it.accessed), sum(|it| it.added)]
    });
    let ([first, added], [both, added_by_both]) = (once, twice);
    assert!(added >= 1024 && first >= 1024, "{once:?}");
    assert!(both >= first + 1024 && added_by_both < added + 1024, "{once:?} {twice:?}");
}

#[test]
fn a_process_that_runs_already_is_looked_at() {
    let place = Place::new();
    let shell = Shell::start("while :; do read line < /nowhere; done 2>/dev/null");
    let (id, tool) = (shell.id().to_string(), ["probe", "--tool", "opensnoop", "--failed", "--json"]);
    let done = place.kiln([&tool[..], &["--duration", "1s", "--pid", &id]].concat()).run().expect(0);
    let report: ProbeReport = done.stated();
    let Found::Opens { opens, .. } = &report.found else { panic!("{report:?}") };
    assert!(!opens.is_empty() && opens.iter().all(|open| open.pid == shell.id()), "{report:?}");
    assert!(opens.iter().all(|open| open.path == "/nowhere"), "{report:?}");
}

#[test]
fn a_script_of_bpftrace_misses_nothing_of_the_program() {
    let place = Place::new();
    let program = place.script("load", LOAD);
    let script = "tracepoint:sched:sched_process_fork { @forks[comm] = count(); } \
                  tracepoint:raw_syscalls:sys_enter /pid == $1/ { @calls = count(); }";
    for kernel in PLACES {
        let call = ["probe", "--json", "-e", script, "--exec", text(&program)];
        let report: Value = place.kiln([&call[..], kernel].concat()).run().expect(0).stated();
        let results = report["found"]["results"].as_array().expect("it is a list");
        let map =
            |name: &str| results.iter().find_map(|result| result["data"].get(name)).expect("it is there");
        assert!(map("@calls").as_u64() > Some(50), "{results:?}");
        let forks = map("@forks").as_object().expect("it has keys");
        assert!(forks.values().any(|count| *count == 50), "{results:?}");
    }
}

#[test]
fn what_bpftrace_loses_is_reported() {
    let place = Place::new();
    // 20,000 events of one CPU while nobody else runs there: its buffer has room for 8,191. The last event tells how many were lost.
    let script =
        r#"BEGIN { $i = 0; while ($i < 20000) { printf("x%d\n", $i); $i++ } } END { printf("end\n") }"#;
    let call = ["probe", "--in", KERNEL, "--cpus", "1", "--exec", "true", "-e", script];
    let report: Value = place.kiln([&call[..], &["--json"]].concat()).run().expect(0).stated();
    let results = report["found"]["results"].as_array().expect("it is a list");
    let printed = |result: &&Value| result["data"].as_str().is_some_and(|data| data.starts_with('x'));
    let printed = results.iter().filter(printed).count() as u64;
    let lost = report["lost"].as_u64().expect("it is a number");
    assert!(lost > 0, "{printed} printed");
    assert_eq!(printed + lost, 20_000);
    let page = place.kiln(call).run().expect(0).stdout;
    assert!(page.contains("lost"), "{page}");
}

#[test]
fn scripts_that_are_wrong_or_hostile_hurt_nothing() {
    let place = Place::new();
    for (script, message) in [
        ("tracepoint:no:such { }", "not found"),
        ("kprobe:vfs_read {", "syntax error"),
        ("BEGIN { while (1) { @ = 1; } }", "bpftrace does not take the script"),
        ("BEGIN { $i = 0; unroll(1000) { $i++; } }", "unroll"),
    ] {
        let done = place.kiln(["probe", "--exec", "true", "-e", script]).run().expect(4);
        assert!(done.stderr.contains(message), "{script}: {}", done.stderr);
    }
    // What a script prints is bounded, and it is ended with the program.
    let script = "interval:us:50 { printf(\"%s %s %s %s\\n\", \"aaaaaaaaaaaaaaaa\", \"b\", \"c\", \"d\"); }";
    let done = place.kiln(["probe", "-e", script, "--duration", "1s", "--json"]).run().expect(0);
    let report: Value = done.stated();
    let results = report["found"]["results"].as_array().expect("it is a list");
    assert!(results.iter().any(|result| result["data"] == "aaaaaaaaaaaaaaaa b c d\n"));
}

#[test]
fn pages_are_for_people() {
    let place = Place::new();
    let program = place.script("load", LOAD);
    let done = place.kiln(["probe", "--tool", "opensnoop", "--exec", text(&program)]).run().expect(0);
    for text in ["exit status 3", "of opensnoop", "ENOENT  /nowhere/7", "PROGRAM"] {
        assert!(done.stdout.contains(text), "{text}\n{}", done.stdout);
    }
    let everything = place.kiln(["probe", "--tool", "slabratetop", "--duration", "1500ms", "--live"]);
    let everything = everything.run().expect(0);
    assert!(everything.stdout.starts_with("everything, 1.5 s of slabratetop"), "{}", everything.stdout);
    assert!(everything.stderr.contains("of slabratetop"), "{}", everything.stderr);
}

#[test]
fn what_cannot_be_meant_is_one_clear_message() {
    let place = Place::new();
    for (arguments, code, message) in [
        (&["--exec", "true"][..], 2, "--tool"),
        (&["--tool", "opensnop", "--exec", "true"], 2, "opensnoop"),
        (&["--tool", "funccount", "--exec", "true"], 2, "name some"),
        (&["--tool", "forks", "--functions", "x", "--exec", "true"], 2, "for --tool funccount"),
        (&["--tool", "forks", "--failed", "--exec", "true"], 2, "for --tool opensnoop"),
        (&["--tool", "funccount", "--functions", "a b", "--exec", "true"], 2, "no name of functions"),
        (&["--tool", "forks", "-e", "BEGIN {}", "--exec", "true"], 2, "cannot be used with"),
        (&["-e", " ", "--exec", "true"], 2, "the script is empty"),
        (&["--script", "/nowhere.bt", "--exec", "true"], 2, "/nowhere.bt"),
        (&["--tool", "forks"], 2, "--duration"),
        (&["--tool", "forks", "--exec", "/nowhere"], 4, "/nowhere"),
        (&["--tool", "forks", "--in", KERNEL, "--exec", "/nowhere"], 4, "/nowhere"),
    ] {
        let done = place.kiln([&["probe"], arguments].concat()).run().expect(code);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
}
