//! Cases that are run more than once, on a golden kernel too, and only where something is missing.

use judge::{Blame, Outcome, Run};
use lab::{Event, Repeats};
use machine::{BootTrouble, Death, Event as MachineEvent};

use super::{NAMES, innocents, oopses, panics};
use crate::fake::{Boot, Cloned, Scenario, Story, World, failed, fails, log, passed, passes};

/// One bad case before the innocent ones.
fn bad(jobs: usize, scenario: Scenario) -> World {
    let mut cases = innocents();
    cases.insert(0, ("bad", scenario));
    World::apart(jobs, &cases)
}

fn repeats(story: &Story, case: &str) -> Vec<Outcome> {
    story.run(case).repeats.iter().map(|repeat| repeat.outcome).collect()
}

#[test]
fn a_failing_case_is_repeated_after_all_others_had_their_turn() {
    let story = bad(1, fails).repeats(Repeats::OnFailure(3)).run();
    let started: Vec<&str> = story.started().iter().map(|&(case, _)| case).collect();
    let expected: Vec<&str> = ["bad"].into_iter().chain(NAMES).chain(["bad"; 3]).collect();
    assert_eq!(started, expected);
    assert_eq!(story.runs().last().map(|run| run.case.as_str()), Some("bad"));
    assert_eq!((repeats(&story, "bad"), story.repeated().len()), (vec![Outcome::Fail; 4], 4));
    assert!(NAMES.iter().all(|name| story.run(name).repeats.is_empty()));
    assert_eq!((story.summary().fail, story.summary().pass, story.exit_code()), (1, 6, 1));
}

#[test]
fn what_kills_its_machine_is_repeated_too_and_with_any_number_of_jobs() {
    for jobs in 1..=4 {
        let story = bad(jobs, panics).repeats(Repeats::OnFailure(3)).run();
        assert_eq!(repeats(&story, "bad"), [Outcome::Crash; 4]);
        assert_eq!((story.summary().crash, story.summary().pass, story.seen.clones), (1, 6, 10));
    }
}

#[test]
fn one_defect_is_repeated_in_the_case_that_met_it_first() {
    for jobs in 1..=4 {
        let mut cases = innocents();
        cases.splice(0..0, [("bad", oopses as Scenario), ("also", oopses), ("other", fails)]);
        let story = World::apart(jobs, &cases).repeats(Repeats::OnFailure(3)).run();
        let mut counts =
            ["bad", "also"].map(|case| (repeats(&story, case).len(), story.run(case).notes.clone()));
        counts.sort();
        let [(0, notes), (4, none)] = &counts else { panic!("{counts:?}") };
        assert!(none.is_empty() && notes.len() == 1, "{counts:?}");
        assert!(
            notes[0].starts_with("not repeated: ") && notes[0].ends_with(" met the same defect"),
            "{notes:?}"
        );
        assert_eq!((repeats(&story, "other").len(), story.seen.clones), (4, 9 + 3 + 3));
    }
}

#[test]
fn a_case_that_fails_now_and_then_says_how_often() {
    // Its Runs are those of numbers 1, 8, 9 and 10.
    let story = bad(1, |run| if run % 2 == 1 { fails(run) } else { passes(run) });
    let story = story.repeats(Repeats::OnFailure(3)).run();
    assert_eq!(repeats(&story, "bad"), [Outcome::Fail, Outcome::Pass, Outcome::Fail, Outcome::Pass]);
    assert_eq!((story.run("bad").outcome, story.run("bad").clone), (Outcome::Fail, 1));
}

#[test]
fn what_says_nothing_about_the_kernel_is_not_repeated() {
    let story = bad(2, |_| vec![MachineEvent::Ended(Death::Restarted)]).repeats(Repeats::OnFailure(3)).run();
    assert_eq!((repeats(&story, "bad"), story.seen.clones), (vec![], 7));
    let mut without = bad(1, passes).repeats(Repeats::OnFailure(3));
    without.clones = vec![Cloned::Impossible];
    assert_eq!(without.run().seen.clones, 7);
}

#[test]
fn as_often_as_was_asked_for() {
    for jobs in 1..=4 {
        let story = bad(jobs, fails).repeats(Repeats::Times(20)).run();
        assert_eq!((repeats(&story, "bad"), repeats(&story, "a/0").len()), (vec![Outcome::Fail; 20], 20));
        assert_eq!((story.repeated().len(), story.seen.clones, story.exit_code()), (140, 140, 1));
        let mut clones: Vec<u32> = story.repeated().iter().map(|run| run.clone).collect();
        clones.sort_unstable();
        assert_eq!(clones, (1..=140).collect::<Vec<u32>>());
    }
}

#[test]
fn until_it_fails_and_no_longer() {
    let at_the_fifth: Scenario = |run| if run == 5 { fails(run) } else { passes(run) };
    let alone = |jobs| World::apart(jobs, &[("bad", at_the_fifth)]);
    let story = alone(1).repeats(Repeats::UntilFailure(None)).run();
    assert_eq!((story.started().len(), story.run("bad").outcome), (5, Outcome::Fail));
    assert_eq!(story.run("bad").clone, 5);
    for jobs in 2..=4 {
        let story = alone(jobs).repeats(Repeats::UntilFailure(None)).run();
        let told = |event: &Event| matches!(event, Event::Repeated(run) if run.outcome == Outcome::Fail);
        let after = story.events.iter().skip_while(|event| !told(event));
        let late = after.filter(|event| matches!(event, Event::Started { .. })).count();
        assert_eq!(story.run("bad").outcome, Outcome::Fail);
        assert!(late < jobs, "{:?}", story.events);
    }
    let story = alone(2).repeats(Repeats::UntilFailure(Some(3))).run();
    assert_eq!((story.started().len(), story.run("bad").outcome), (3, Outcome::Pass));
    assert_eq!(story.exit_code(), 0);
}

#[test]
fn a_machine_that_breaks_among_repeats_hides_no_failure() {
    let story = bad(1, |run| match run {
        1 => vec![MachineEvent::Ended(Death::Broken("QEMU: ended by signal 9".into()))],
        2 => fails(run),
        _ => passes(run),
    });
    let mut story = story.repeats(Repeats::Times(3));
    story.items.truncate(1);
    let story = story.run();
    assert_eq!(repeats(&story, "bad"), [Outcome::Broken, Outcome::Fail, Outcome::Pass]);
    assert_eq!((story.run("bad").outcome, story.exit_code()), (Outcome::Fail, 1));
}

#[test]
fn who_is_interrupted_keeps_the_runs_that_were_made_of_a_case() {
    let endless: Scenario = |_| vec![];
    for (repeats_of, scenario, outcome) in [
        (Repeats::OnFailure(3), fails as Scenario, Outcome::Fail),
        (Repeats::UntilFailure(None), passes, Outcome::Pass),
    ] {
        let mut world = World::apart(1, &[("first", scenario), ("endless", endless)]).repeats(repeats_of);
        world.interrupt_at = Some("endless");
        let story = world.run();
        assert_eq!(story.run("first").outcome, outcome, "{repeats_of:?}");
        assert_eq!((repeats(&story, "first"), story.summary().not_run), (vec![outcome], 1));
    }
}

/// Four bad cases, on a kernel and on a golden one on which they do something else.
fn compared(golden_boots: Vec<Boot>) -> Story {
    let warns: Scenario = |run| vec![log("WARNING: CPU: 0 PID: 80 at a.c:1 foo+0x1/0x20"), passed(run)];
    let cases: [(&str, Scenario); 5] = [
        ("same", |run| failed(run, "sum: is 2")),
        ("number", |run| failed(run, "sum: is 3")),
        ("other", |run| failed(run, "sum: is 2")),
        ("only-here", fails),
        ("good", passes),
    ];
    let golden: [(&str, Scenario); 4] = [
        ("same", |run| failed(run, "sum: is 2")),
        ("number", |run| failed(run, "sum: is 4")),
        ("other", warns),
        ("good", |_| panic!("what passes is not run on the golden kernel")),
    ];
    let mut golden = World::apart(2, &golden).boots(golden_boots);
    golden.items.push((crate::fake::item("only-here"), passes));
    World::apart(2, &cases).repeats(Repeats::OnFailure(1)).golden(golden).run()
}

#[test]
fn a_golden_kernel_takes_the_blame_off_only_where_it_fails_in_the_same_way() {
    let story = compared(vec![]);
    let case = Some(Blame::Case);
    assert_eq!(
        story.sorted(),
        [
            ("good", Outcome::Pass, None),
            ("number", Outcome::Broken, case),
            ("only-here", Outcome::Fail, None),
            ("other", Outcome::Fail, None),
            ("same", Outcome::Broken, case),
        ]
    );
    let reason = "the golden kernel golden fails in the same way: fail: sum: is 2";
    assert_eq!(story.run("same").reason, reason);
    assert_eq!(story.run("other").notes, ["on the golden kernel golden: fail: WARNING in foo"]);
    assert_eq!(story.run("only-here").notes, ["on the golden kernel golden: pass"]);
    assert!(story.notes().contains(&"running 4 cases on the golden kernel golden"));
    assert_eq!(story.exit_code(), 1);
    let told = (story.repeated().len(), story.started().len());
    assert_eq!(told, (8, 9), "Runs on the golden kernel are not Runs of the tested one");
}

#[test]
fn a_golden_kernel_that_does_not_boot_accuses_nobody_and_excuses_nobody() {
    let panics = || Boot::Fails(BootTrouble::Panic("no init".into()));
    for (boots, note) in [
        (vec![panics(), panics()], "the golden kernel: the kernel panicked: no init"),
        (
            vec![Boot::Impossible],
            "the golden kernel golden: fake is not installed: apt-get install qemu-system-x86",
        ),
    ] {
        let story = compared(boots);
        assert_eq!((story.summary().fail, story.summary().pass, story.runs().len()), (4, 1, 5));
        assert!(story.notes().contains(&note), "{:?}", story.notes());
        assert_eq!(story.run("same").notes, ["it was not run on the golden kernel golden"]);
    }
}

#[test]
fn a_case_that_the_golden_kernel_does_not_have_stays_as_it_is() {
    let world = World::apart(1, &[("bad", fails)]);
    let story = world.golden(World::apart(1, &[("another", passes)])).run();
    assert_eq!(story.run("bad").notes, ["it was not run on the golden kernel golden"]);
    assert_eq!((story.run("bad").outcome, story.exit_code()), (Outcome::Fail, 1));
}

fn earlier(case: &str, outcome: Outcome) -> Run {
    Run { case: case.into(), outcome, boot: 1, clone: 77, reason: "of old".into(), ..Run::unstarted() }
}

#[test]
fn only_what_is_missing_is_run_and_the_sum_is_complete() {
    let mut world = World::apart(2, &innocents()).repeats(Repeats::OnFailure(3));
    world.options.finished = vec![earlier("a/1", Outcome::Pass), earlier("a/4", Outcome::Crash)];
    let story = world.run();
    let mut started: Vec<&str> = story.started().iter().map(|&(case, _)| case).collect();
    started.sort_unstable();
    assert_eq!(started, ["a/0", "a/2", "a/3", "a/5"]);
    assert_eq!(*story.run("a/4"), earlier("a/4", Outcome::Crash), "it is told as it was");
    assert_eq!((story.summary().pass, story.summary().crash, story.summary().not_run), (5, 1, 0));
    assert_eq!(story.exit_code(), 1);
    let first = story.events.iter().position(|event| matches!(event, Event::Booting { .. }));
    let last =
        story.events.iter().rposition(|event| matches!(event, Event::Finished(run) if run.clone == 77));
    assert!(last < first, "whoever is interrupted now has all that there was");
}

#[test]
fn where_nothing_is_missing_nothing_is_booted() {
    let mut world = World::apart(2, &innocents());
    world.options.finished = NAMES.map(|name| earlier(name, Outcome::Pass)).into();
    let story = world.run();
    assert_eq!((story.seen.templates, story.summary().pass, story.exit_code()), (0, 6, 0));
}
