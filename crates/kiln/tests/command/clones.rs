//! A clone for every case: what they share and what they do not, how often cases are run, and where clones are from.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use judge::{Blame, Outcome, Run};
use lab::Event;

use crate::support::{Call, Done, KERNEL, Place};

/// A case that fails whenever it is given an odd seed.
const ODD: &str = "case $KILN_SEED in *[13579]) exit 1;; esac";

/// `kiln run KERNEL --suite suite` with more arguments.
fn run(place: &Place, suite: &str, more: &[&str]) -> Call {
    place.kiln([&["run", KERNEL, "--suite", suite], more].concat())
}

/// The Runs of which others are the sum.
fn repeated(done: &Done) -> Vec<Run> {
    let run = |event| if let Event::Repeated(run) = event { Some(*run) } else { None };
    done.events().into_iter().filter_map(run).collect()
}

/// Whether the machine that clones were made of had been booted by an earlier session.
fn was_kept(done: &Done) -> bool {
    let kept = |event| if let Event::Booted { kept, .. } = event { Some(kept) } else { None };
    done.events().into_iter().find_map(kept).expect("a machine came up")
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_secs()
}

#[test]
fn what_a_case_leaves_behind_is_there_for_the_next_only_in_the_same_machine() {
    let place = Place::new();
    let suite = place.suite(&[("a-leaves", ": > /run/mark"), ("b-finds", "test ! -e /run/mark")]);
    let apart = run(&place, &suite, &["-j", "1"]).run().expect(0);
    assert_eq!(
        apart.finished().iter().map(|run| (run.boot, run.clone)).collect::<Vec<_>>(),
        [(1, 1), (1, 2)]
    );
    let together = Place::new();
    let done = run(&together, &suite, &["--isolation", "suite"]).run().expect(1);
    let runs = done.finished();
    assert_eq!(runs.iter().map(|run| (run.boot, run.clone)).collect::<Vec<_>>(), [(1, 0), (1, 0)]);
    assert_eq!((runs[0].outcome, runs[1].outcome), (Outcome::Pass, Outcome::Fail));
    assert!(runs[1].repeats.is_empty(), "a machine in which others have run does not tell");
}

#[test]
fn no_two_clones_have_the_same_random_numbers_and_all_have_the_right_time() {
    let body = r#"
        unsigned char bytes[16];
        if (syscall(SYS_getrandom, bytes, sizeof bytes, 0) != sizeof bytes) return 1;
        for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
        printf(" %ld %s\n", (long)time(0), getenv("KILN_SEED"));"#;
    let build = Place::new();
    let program = build.program("random", body);
    let program = program.to_str().expect("paths of tests are UTF-8");
    let (mut numbers, mut seeds) = (HashSet::new(), HashSet::new());
    // The second session finds the machine as it was when the first one booted it.
    for _ in 0..2 {
        let place = Place::new();
        let before = seconds();
        let done = place.kiln(["run", KERNEL, "--exec", program, "--repeat", "10"]).run().expect(0);
        let now = before.saturating_sub(2)..=seconds() + 2;
        for run in repeated(&done) {
            let words: Vec<&str> = run.output.split_whitespace().collect();
            let [bytes, time, seed] = words[..] else { panic!("{}", run.output) };
            assert!(numbers.insert(bytes.to_string()), "two clones read {bytes}");
            assert!(now.contains(&time.parse().expect("a number")), "{time} is not within {now:?}");
            assert_eq!(seed, run.seed.to_string());
            assert!(seeds.insert(run.seed));
        }
        assert_eq!(done.document("random").repeats.len(), 10);
    }
    assert_eq!(numbers.len(), 20);
}

#[test]
fn a_seed_that_is_asked_for_is_that_of_every_run() {
    let place = Place::new();
    let suite = place.suite(&[("a", "echo $KILN_SEED"), ("b", "echo $KILN_SEED")]);
    let done = run(&place, &suite, &["--seed", "18446744073709551615"]).run().expect(0);
    for run in done.finished() {
        assert_eq!((run.seed, run.output.as_str()), (u64::MAX, "18446744073709551615\n"));
    }
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn twenty_repeats_have_a_rate_with_its_interval() {
    let place = Place::new();
    let suite = place.suite(&[("odd", ODD), ("well", "exit 0")]);
    let done = run(&place, &suite, &["--repeat", "20", "-j", "2"]).run().expect(1);
    let odd = done.document("odd");
    assert_eq!((odd.repeats.len(), done.document("well").repeats.len()), (20, 20));
    for repeat in &odd.repeats {
        let expected = if repeat.seed % 2 == 1 { Outcome::Fail } else { Outcome::Pass };
        assert_eq!(repeat.outcome, expected, "{repeat:?}");
        assert_eq!(done.document(&format!("odd.{}", repeat.clone)).outcome, expected);
    }
    let failures = odd.repeats.iter().filter(|repeat| repeat.outcome == Outcome::Fail).count();
    let clones: HashSet<u32> = repeated(&done).iter().map(|run| run.clone).collect();
    assert_eq!(clones.len(), 40);
    let boots: HashSet<u32> = odd.repeats.iter().map(|repeat| repeat.boot).collect();
    assert_eq!(boots.len(), 5, "{:?}", odd.repeats);
    let text = format!("intermittent: {failures} of 20 failed in ");
    let done = done.says(&text).says("5 boots, ").says(" % (95 % interval ");
    assert_eq!(done.session()["summary"]["pass"], 1);
}

#[test]
fn what_is_decided_at_boot_is_the_same_in_all_clones_of_a_boot() {
    let place = Place::new();
    // Where the kernel is, which it draws when it boots, decides whether the case fails.
    let suite = place.suite(&[(
        "at-boot",
        "while read address type name; do \
             if [ $name = _text ]; then \
                 echo $address; case $address in *[13579bdf]??????) exit 1;; esac; exit 0; \
             fi; \
         done < /proc/kallsyms; exit 125",
    )]);
    let done = run(&place, &suite, &["--repeat", "6", "--boots", "3"]).run();
    let mut boots = HashMap::<u32, Vec<(Outcome, String)>>::new();
    for run in repeated(&done) {
        boots.entry(run.boot).or_default().push((run.outcome, run.output));
    }
    assert_eq!(boots.values().map(Vec::len).collect::<Vec<_>>(), [2; 3], "{boots:?}");
    assert!(boots.values().all(|runs| runs[0] == runs[1]), "{boots:?}");
    assert!(boots.values().any(|runs| runs[0].1 != boots[&1][0].1), "{boots:?}");
    let failing = boots.values().filter(|runs| runs[0].0 == Outcome::Fail).count();
    let text = match failing {
        0 => "0 of 6 failed in 3 boots, at most ".to_string(),
        3 => "consistent: 6 of 6 in 3 boots".to_string(),
        some => format!("intermittent: {} of 6 failed in {some} of 3 boots, ", 2 * some),
    };
    done.says(&text);
}

#[test]
fn a_failing_case_is_repeated_and_the_others_are_not() {
    let place = Place::new();
    let suite = place.suite(&[("fails", "echo here; exit 1"), ("well", "exit 0"), ("well-too", "exit 0")]);
    let done = run(&place, &suite, &[]).run().expect(1).says("consistent: 4 of 4 in 2 boots");
    let fails = done.document("fails");
    assert_eq!(fails.repeats.iter().map(|repeat| repeat.outcome).collect::<Vec<_>>(), [Outcome::Fail; 4]);
    assert_eq!(done.document(&format!("fails.{}", fails.clone)).output, "here\n");
    assert!(done.finished().iter().all(|run| run.case == "fails" || run.repeats.is_empty()));
    let once = Place::new();
    let done = run(&once, &suite, &["--no-retry"]).run().expect(1);
    assert_eq!((done.document("fails").repeats.len(), repeated(&done).len()), (0, 0));
}

#[test]
fn until_it_fails_ends_with_the_first_that_does() {
    let place = Place::new();
    let suite = place.suite(&[("odd", ODD)]);
    let done = run(&place, &suite, &["--until-fail", "-j", "1"]).run().expect(1);
    let odd = done.document("odd");
    let (last, before) = odd.repeats.split_last().expect("at least one");
    assert_eq!((last.outcome, last.clone), (Outcome::Fail, odd.clone));
    assert!(before.iter().all(|repeat| repeat.outcome == Outcome::Pass && repeat.seed % 2 == 0));
    assert!(last.seed % 2 == 1);
}

#[test]
fn a_case_that_fails_on_the_golden_kernel_too_does_not_accuse_the_kernel() {
    let place = Place::new();
    let suite = place.suite(&[("fails", "echo 'not ok 1 sum'; exit 1"), ("well", "exit 0")]);
    let done = run(&place, &suite, &["--golden", KERNEL]).run().expect(3);
    let fails = done.document("fails");
    assert_eq!((fails.outcome, fails.blame), (Outcome::Broken, Some(Blame::Case)));
    assert!(
        fails.reason.ends_with("fails in the same way: fail: exit status 1: not ok 1 sum"),
        "{}",
        fails.reason
    );
    assert_eq!(done.document("well").outcome, Outcome::Pass);
}

/// The only template of a store.
fn template(cache: &Path) -> PathBuf {
    let entries: Vec<PathBuf> = std::fs::read_dir(cache.join("kiln/templates"))
        .expect("it was made")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    let [template] = &entries[..] else { panic!("{entries:?}") };
    template.clone()
}

/// What is done to a template.
type Damage = fn(&Path);

fn open(path: PathBuf) -> File {
    OpenOptions::new().write(true).open(path).expect("ours")
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_template_is_kept_and_a_damaged_one_is_replaced() {
    let build = Place::new();
    let cache = build.templates();
    let suite = build.suite(&[("well", "exit 0"), ("well-too", "exit 0")]);
    let session = || {
        let place = Place::new();
        let done = run(&place, &suite, &[]).env("XDG_CACHE_HOME", &cache).run().expect(0);
        assert!(done.finished().iter().all(|run| run.outcome == Outcome::Pass));
        was_kept(&done)
    };
    assert!(!session());
    assert!(session());
    let damages: [(&str, Damage); 6] = [
        ("a state that is cut off", |at| {
            let state = open(at.join("state"));
            state.set_len(state.metadata().expect("ours").len() / 2).expect("ours");
        }),
        ("a state of zeroes", |at| {
            let size = std::fs::metadata(at.join("state")).expect("there").len();
            std::fs::write(at.join("state"), vec![0; usize::try_from(size).expect("small")]).expect("ours");
        }),
        ("a memory that is too small", |at| open(at.join("memory0")).set_len(64 << 20).expect("ours")),
        ("a memory of zeroes", |at| {
            let memory = open(at.join("memory0"));
            let size = memory.metadata().expect("ours").len();
            memory.set_len(0).and_then(|()| memory.set_len(size)).expect("ours");
        }),
        ("no memory", |at| std::fs::remove_file(at.join("memory0")).expect("ours")),
        ("a document that is none", |at| std::fs::write(at.join("template.json"), "{}").expect("ours")),
    ];
    for (what, damage) in damages {
        damage(&template(&cache));
        assert!(!session(), "{what} is trusted");
        assert!(session(), "{what} is not replaced");
    }
}

#[test]
fn two_programs_share_one_template() {
    let build = Place::new();
    let cache = build.templates();
    for (name, kept) in [("first", false), ("second", true)] {
        let place = Place::new();
        let program = place.script(name, &format!("echo {name}"));
        let done = place.exec(&program, &[]).env("XDG_CACHE_HOME", &cache).run().expect(0);
        assert_eq!((was_kept(&done), done.document(name).output), (kept, format!("{name}\n")));
        template(&cache);
    }
}

#[test]
fn files_beyond_the_window_are_there_and_those_beyond_the_memory_are_refused() {
    const SIZE: u64 = 65 << 20;
    let place = Place::new();
    let suite = place.suite(&[("sees", &format!("test $(stat -c %s large) = {SIZE}"))]);
    let large = File::create(Path::new(&suite).join("large")).expect("writable");
    large.set_len(SIZE).expect("it takes no room");
    let done = run(&place, &suite, &[]).run().expect(0);
    let seen = done.document("sees");
    assert_eq!(seen.outcome, Outcome::Pass);
    // A template without a window has clones without one.
    let notes: Vec<_> =
        done.events().into_iter().filter(|event| matches!(event, Event::Note { .. })).collect();
    assert!(seen.clone > 0 && notes.is_empty(), "{notes:?}");
    let refused = run(&Place::new(), &suite, &["--memory", "128M"]).run().expect(2);
    let text = "--memory 128M is too little: this kernel and the files for what runs need at least ";
    assert!(refused.stderr.contains(text), "{}", refused.stderr);
}

#[test]
fn each_case_finds_the_modules_and_programs_that_it_needs() {
    let place = Place::new();
    let arguments =
        ["run", KERNEL, "--suite", "full", "--case", "fs/*", "--case", "loop/*", "--case", "pipe/full"];
    let done = place.kiln(arguments).run().expect(0);
    for run in done.finished() {
        assert!(matches!(run.outcome, Outcome::Pass | Outcome::Skip), "{run:?}");
    }
}

#[test]
fn two_kilns_that_want_the_same_machine_at_once_both_get_it() {
    let build = Place::new();
    let cache = build.templates();
    let suite = build.suite(&[("well", "exit 0"), ("well-too", "exit 0")]);
    let places = [Place::new(), Place::new()];
    let start = |place| run(place, &suite, &[]).env("XDG_CACHE_HOME", &cache).start();
    for running in places.each_ref().map(start) {
        let done = running.wait().expect(0);
        assert!(done.finished().iter().all(|run| (run.outcome, run.boot) == (Outcome::Pass, 1)));
    }
    template(&cache);
    let place = Place::new();
    assert!(was_kept(&run(&place, &suite, &[]).env("XDG_CACHE_HOME", &cache).run().expect(0)));
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred_clones_end_in_the_same_way() {
    let place = Place::new();
    let arguments = ["run", KERNEL, "--case", "pipe/full", "--repeat", "500"];
    let done = place.kiln(arguments).run_within(Duration::from_secs(60 * 60)).expect(0);
    let run = done.document("pipe/full");
    assert_eq!(run.repeats.len(), 500);
    assert!(run.repeats.iter().all(|repeat| repeat.outcome == Outcome::Pass && repeat.reason.is_empty()));
    let clones: HashSet<u32> = run.repeats.iter().map(|repeat| repeat.clone).collect();
    assert_eq!(clones, (1..=500).collect());
}
