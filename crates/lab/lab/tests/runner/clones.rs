//! Sessions in which each case has a clone of its own, on a fake machine.
//!
//! * [`repeats`]: cases that are run more than once, on a golden kernel too, and only where something is missing

mod repeats;

use std::collections::HashSet;
use std::time::Duration;

use judge::{Blame, Outcome};
use lab::Event;
use lab::plan::Item;
use machine::{BootTrouble, Death, Event as MachineEvent};
use protocol::{Counts, End};

use crate::fake::{Boot, Cloned, Scenario, World, console, fails, finished, item, log, passed, passes};

const PASS: (Outcome, Option<Blame>) = (Outcome::Pass, None);

const NAMES: [&str; 6] = ["a/0", "a/1", "a/2", "a/3", "a/4", "a/5"];

/// Cases that pass.
fn innocents() -> Vec<(&'static str, Scenario)> {
    NAMES.iter().map(|name| (*name, passes as Scenario)).collect()
}

fn panics(_: u32) -> Vec<MachineEvent> {
    vec![console("Kernel panic - not syncing: planted"), MachineEvent::Ended(Death::Panic("planted".into()))]
}

fn oopses(run: u32) -> Vec<MachineEvent> {
    let first = "BUG: kernel NULL pointer dereference, address: 0000000000000008";
    vec![log(first), log("Oops: 0002 [#1] PREEMPT SMP"), log("RIP: 0010:foo_bar+0x1/0x20"), passed(run)]
}

fn broken(why: &str) -> BootTrouble {
    BootTrouble::Machine(why.into())
}

#[test]
fn each_case_has_a_clone_of_the_one_boot() {
    let story = World::apart(1, &innocents()).run();
    assert_eq!((story.seen.templates, story.seen.boots, story.seen.clones), (1, 0, 6));
    let expected: Vec<_> = NAMES.iter().copied().zip(1..).collect();
    assert_eq!(story.started(), expected);
    assert!(story.runs().iter().all(|run| (run.outcome, run.boot) == (Outcome::Pass, 1)));
    assert_eq!((story.exit_code(), story.notes(), story.repeated().len()), (0, vec![], 0));
}

#[test]
fn as_many_cases_run_at_once_as_there_are_jobs() {
    for jobs in 1..=4 {
        let mut world = World::apart(jobs, &innocents());
        world.gather = jobs;
        let story = world.run();
        assert_eq!((story.seen.most_at_work, story.seen.clones, story.exit_code()), (jobs, 6, 0));
        let clones: HashSet<u32> = story.started().iter().map(|&(_, clone)| clone).collect();
        assert_eq!(clones, HashSet::from([1, 2, 3, 4, 5, 6]));
    }
}

#[test]
fn whatever_a_case_does_no_other_notices() {
    let ways: [(Scenario, Outcome, Option<Blame>); 9] = [
        (panics, Outcome::Crash, None),
        (oopses, Outcome::Fail, None),
        (fails, Outcome::Fail, None),
        (|_| vec![MachineEvent::Ended(Death::Reset)], Outcome::Crash, None),
        (|_| vec![MachineEvent::Ended(Death::Restarted)], Outcome::Broken, Some(Blame::Case)),
        (|_| vec![MachineEvent::Ended(Death::PoweredOff)], Outcome::Broken, Some(Blame::Case)),
        (|_| vec![MachineEvent::Ended(Death::AgentDied("x".into()))], Outcome::Broken, Some(Blame::Kiln)),
        (|_| vec![MachineEvent::Ended(Death::Broken("x".into()))], Outcome::Broken, Some(Blame::Machine)),
        (|run| vec![finished(run, End::Exited(0), Counts::default())], Outcome::Broken, Some(Blame::Case)),
    ];
    for (scenario, outcome, blame) in ways {
        for jobs in 1..=4 {
            let mut cases = innocents();
            cases.insert(2, ("bad", scenario));
            let story = World::apart(jobs, &cases).run();
            let seen = story.sorted();
            let expected = NAMES.iter().map(|name| (*name, PASS.0, PASS.1)).chain([("bad", outcome, blame)]);
            assert_eq!(seen, expected.collect::<Vec<_>>());
            assert_eq!((story.seen.templates, story.seen.clones), (1, 7));
            assert_eq!(story.exit_code(), outcome.exit_code());
        }
    }
}

#[test]
fn a_case_that_never_ends_keeps_only_its_own_machine() {
    let mut cases = innocents();
    cases.insert(0, ("endless", |_| vec![]));
    let story = World::apart(2, &cases).impatient().run();
    assert_eq!(story.sorted().last(), Some(&("endless", Outcome::Hang, None)));
    assert_eq!(story.summary().pass, 6);
    assert_eq!(story.runs().last().map(|run| run.case.as_str()), Some("endless"), "the others went on");
}

#[test]
fn the_longest_are_run_first_and_unknown_ones_may_be_as_long() {
    let mut world = World::apart(1, &innocents());
    let seconds = [("a/0", 1), ("a/1", 9), ("a/3", 5), ("a/4", 5), ("a/5", 0)];
    world.options.durations =
        seconds.map(|(name, seconds)| (name.to_string(), Duration::from_secs(seconds))).into();
    let story = world.run();
    let order: Vec<&str> = story.started().iter().map(|&(name, _)| name).collect();
    assert_eq!(order, ["a/2", "a/1", "a/3", "a/4", "a/0", "a/5"]);
}

#[test]
fn a_seed_is_asked_for_or_each_run_has_its_own() {
    let mut world = World::apart(2, &innocents());
    world.options.seed = Some(7);
    assert!(world.run().runs().iter().all(|run| run.seed == 7));
    let story = World::apart(2, &innocents()).run();
    let seeds: HashSet<u64> = story.runs().iter().map(|run| run.seed).collect();
    assert_eq!(seeds.len(), 6);
}

#[test]
fn a_template_that_does_not_come_up_is_one_run_and_nothing_else_is_run() {
    for (trouble, outcome, blame) in [
        (BootTrouble::Panic("no init".into()), Outcome::Crash, None),
        (BootTrouble::Hang { lines: 3, seconds: 9 }, Outcome::Hang, None),
        (broken("no"), Outcome::Broken, Some(Blame::Machine)),
    ] {
        let story = World::apart(2, &innocents()).boots(vec![Boot::Fails(trouble)]).run();
        assert_eq!(story.outcomes(), [("boot", outcome, blame, 1)]);
        assert_eq!((story.summary().not_run, story.seen.clones), (6, 0));
    }
    let story = World::apart(2, &innocents()).boots(vec![Boot::Impossible]).run();
    assert!(matches!(story.result, Err(machine::Error::NoQemu(_))));
}

#[test]
fn a_kept_template_is_not_booted_and_its_console_is_reported() {
    let story = World::apart(2, &innocents()).boots(vec![Boot::Kept("hello of old")]).run();
    assert_eq!((story.exit_code(), story.seen.boots), (0, 0));
    let booting = |event: &&Event| matches!(event, Event::Booting { .. } | Event::CommandLine { .. });
    assert_eq!(story.events.iter().find(booting), None);
    let console: Vec<_> =
        story.events.iter().filter(|event| matches!(event, Event::Console { .. })).collect();
    assert_eq!(console, [&Event::Console { boot: 1, clone: 0, line: "hello of old".into() }]);
    assert!(story.events.iter().any(|event| matches!(event, Event::Booted { boot: 1, kept: true, .. })));
}

#[test]
fn what_the_kernel_reported_in_its_boot_is_told_also_of_a_kept_template() {
    let line = "[    0.5] WARNING: CPU: 0 PID: 1 at fs/foo.c:12 foo_init+0x1/0x20";
    for boot in [Boot::Says(line), Boot::Kept(line)] {
        let story = World::apart(2, &innocents()).boots(vec![boot]).run();
        assert_eq!(story.outcomes()[0], ("boot", Outcome::Fail, None, 1));
        assert_eq!((story.summary().pass, story.exit_code()), (6, 1));
    }
}

#[test]
fn a_clone_that_does_not_come_up_is_made_again() {
    let clones = vec![Cloned::Fails(broken("once")), Cloned::Up, Cloned::Fails(broken("once more"))];
    let story = World::apart(1, &innocents()).clones(clones).run();
    assert_eq!((story.summary().pass, story.seen.clones, story.exit_code()), (6, 8, 0));
}

#[test]
fn one_that_never_does_costs_its_case_and_no_other() {
    for (clones, outcome, blame, reason) in [
        ([broken("1"), broken("2")].map(Cloned::Fails), Outcome::Broken, Some(Blame::Machine), "2"),
        (
            [broken("1"), BootTrouble::Panic("oh".into())].map(Cloned::Fails),
            Outcome::Crash,
            None,
            "the kernel panicked: oh",
        ),
        (
            [Cloned::Impossible, Cloned::Up],
            Outcome::Broken,
            Some(Blame::Host),
            "fake is not installed: apt-get install qemu-system-x86",
        ),
    ] {
        let story = World::apart(1, &innocents()).clones(clones.into()).run();
        let first = story.run("a/0");
        assert_eq!((first.outcome, first.blame, first.clone), (outcome, blame, 0));
        assert_eq!(first.reason, reason);
        assert_eq!((first.about.as_str(), story.summary().pass), ("about a/0", 5));
        assert!(!story.started().iter().any(|&(case, _)| case == "a/0"), "it never began");
    }
}

#[test]
fn where_nothing_can_be_cloned_each_case_is_booted_and_that_is_said_once() {
    for jobs in 1..=3 {
        let mut cases = innocents();
        cases.insert(1, ("bad", panics));
        let unclonable = BootTrouble::Unclonable("no such thing".into());
        let story = World::apart(jobs, &cases).boots(vec![Boot::Fails(unclonable)]).run();
        let note = "this machine cannot be cloned: no such thing: every case gets a boot of its own";
        assert_eq!(story.notes(), [note]);
        assert_eq!((story.seen.templates, story.seen.boots, story.seen.clones), (1, 7, 0));
        let boots: HashSet<u32> = story.runs().iter().map(|run| run.boot).collect();
        assert_eq!(boots.len(), 7, "each in a boot of its own");
        assert_eq!((story.summary().pass, story.summary().crash), (6, 1));
        assert!(story.started().iter().all(|&(_, clone)| clone == 0));
    }
}

#[test]
fn a_boot_that_fails_for_good_does_not_take_away_what_the_others_are_at() {
    let slow: Scenario = |run| {
        std::thread::sleep(Duration::from_millis(300));
        passes(run)
    };
    let mut cases = innocents();
    cases.insert(0, ("slow", slow));
    let fails = || Boot::Fails(BootTrouble::Panic("again".into()));
    let boots =
        vec![Boot::Fails(BootTrouble::Unclonable("no".into())), Boot::Up, fails(), fails(), fails(), fails()];
    let mut world = World::apart(2, &cases).boots(boots);
    // Either of the two that come first may get the machine.
    world.items[1].1 = slow;
    let story = world.run();
    assert_eq!(story.summary().pass, 1, "{:?}", story.outcomes());
    // On a slow host the worker of the slow case boots before the other one has failed, and fails, too.
    let summary = story.summary();
    assert!((1..=2).contains(&summary.crash) && summary.not_run == 6, "{summary:?}");
}

#[test]
fn only_what_needs_files_gets_them() {
    let mut world = World::apart(1, &[("a/none", passes), ("a/some", passes), ("a/more", passes)]);
    for index in [1, 2] {
        world.items[index].0.files.common = true;
    }
    let story = world.run();
    assert_eq!((story.seen.clones, story.seen.unpacked, story.exit_code()), (3, 2, 0));
}

#[test]
fn files_that_do_not_come_into_the_machine_say_nothing_about_the_kernel() {
    let why =
        "programs could not be copied into the machine: the programs take 64 MiB, and the machine has 9 MiB";
    let clones = [broken(why), broken(why)].map(Cloned::Fails);
    let mut world = World::apart(1, &[("a/large", passes)]).clones(clones.into());
    world.items[0].0.files.common = true;
    let story = world.run();
    let run = story.run("a/large");
    assert_eq!((run.outcome, run.blame, run.reason.as_str()), (Outcome::Broken, Some(Blame::Machine), why));
    assert_eq!(story.exit_code(), 3);
}

#[test]
fn an_interrupt_ends_all_at_work_and_keeps_what_is_finished() {
    let mut cases: Vec<(&str, Scenario)> = vec![("first", passes)];
    cases.extend([("long/0", (|_| vec![]) as Scenario), ("long/1", |_| vec![])]);
    cases.extend(innocents());
    for repeats in [lab::Repeats::OnFailure(3), lab::Repeats::Times(1)] {
        let mut world = World::apart(2, &cases).repeats(repeats);
        world.interrupt_at = Some("long/1");
        let story = world.run();
        assert_eq!(story.run("first").outcome, Outcome::Pass);
        assert!(!story.runs().iter().any(|run| run.case.starts_with("long")), "{:?}", story.outcomes());
        assert!(matches!(story.events.last(), Some(Event::Ended { interrupted: true, .. })));
        assert_eq!(story.summary().not_run as usize + story.runs().len(), cases.len());
    }
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_defect_of_kiln_in_one_thread_does_not_let_the_others_wait_for_ever() {
    let mut cases = innocents();
    cases.insert(0, ("defect", |_| panic!("a defect of kiln")));
    World::apart(3, &cases).run();
}

#[test]
fn nothing_is_booted_for_what_is_skipped() {
    let mut world = World::apart(2, &[]);
    world.items.push((Item { skip: Some("no module xfs".into()), ..item("fs/xfs") }, passes));
    let story = world.run();
    assert_eq!(story.outcomes(), [("fs/xfs", Outcome::Skip, None, 0)]);
    assert_eq!((story.seen.templates, story.exit_code()), (0, 4));
}
