//! Kernel parameters of one Kernel: all of the path, from the request alone.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bisect::{BisectRequest, Error, Question};
use lab::Request;
use lab::request::{ProgramRequest, Selection};

use crate::fake::{Does, World, asks, culprits, request};

#[test]
fn the_parameter_that_makes_a_case_fail_is_found_and_proven() {
    let world = World::with_culprit("b=2");
    let bisection = world.carry_out(&request("quiet b=1", "quiet a b=2 c d")).unwrap();
    assert_eq!(culprits(&bisection), ["b=2 instead of b=1"]);
    let [good, bad] = bisection.reproduce.as_slice() else { panic!("{:?}", bisection.reproduce) };
    let run = "kiln run /kernels/image --repeat 1";
    assert!(good.starts_with(run) && bad.starts_with(run), "{good}\n{bad}");
    assert_eq!((good.contains("b=2"), bad.contains("b=2")), (true, false));
    assert!(bad.ends_with("--case process/exit-status"), "{bad}");
}

#[test]
fn a_request_that_was_kept_is_carried_out_like_the_first() {
    let asked = request("quiet", "quiet a b c");
    let kept = serde_json::to_string(&asked).unwrap();
    let read: BisectRequest = serde_json::from_str(&kept).unwrap();
    assert_eq!(read, asked);
    assert_eq!(culprits(&World::with_culprit("c").carry_out(&read).unwrap()), ["c"]);
}

#[test]
fn the_folder_of_a_bisection_has_its_request() {
    let world = World::with_culprit("c");
    let asked = request("quiet", "quiet a b c");
    world.carry_out(&asked).unwrap();
    let folders = std::fs::read_dir(world.bisections()).unwrap().flatten().map(|entry| entry.path());
    let [folder] = &folders.collect::<Vec<_>>()[..] else { panic!("there is one bisection") };
    let kept = std::fs::read(folder.join("request.json")).unwrap();
    assert_eq!(serde_json::from_slice::<BisectRequest>(&kept).unwrap(), asked);
    // It is enough to begin again, and leads to the same folder.
    assert_eq!(culprits(&world.carry_out(&serde_json::from_slice(&kept).unwrap()).unwrap()), ["c"]);
    assert_eq!(std::fs::read_dir(world.bisections()).unwrap().count(), 1);
}

#[test]
fn every_session_keeps_the_request_that_made_it() {
    let world = World::with_culprit("a");
    world.carry_out(&request("quiet", "quiet a b")).unwrap();
    let sessions = ledger::sessions(&world.sessions());
    assert!(!sessions.is_empty());
    for past in sessions {
        let Some(Request::Run(request)) = past.session().unwrap().request else { panic!("it is a run") };
        assert_eq!(request.kernel.locator.to_string(), "/kernels/image");
        assert!(request.policy.repeat.is_some() && request.machine.append.len() == 1, "{request:?}");
    }
}

#[test]
fn an_interrupted_search_goes_on_where_it_stopped() {
    let asked = request("quiet", "quiet a b c d e f");
    let alone = World::with_culprit("d");
    alone.carry_out(&asked).unwrap();
    let mut world = World::with_culprit("d").stops_after(alone.count() / 2);
    assert!(matches!(world.carry_out(&asked), Err(Error::Interrupted)));
    world.goes_on();
    let bisection = world.carry_out(&asked).unwrap();
    assert_eq!(culprits(&bisection), ["d"]);
    assert!(bisection.steps.reused > 0);
    // Only the test that was interrupted is made again.
    assert!(world.count() < 2 * alone.count(), "{} {}", world.count(), alone.count());
}

#[test]
fn runs_of_earlier_sessions_count_unless_the_search_is_fresh() {
    let world = World::with_culprit("a");
    let first = request("quiet", "quiet a b");
    world.carry_out(&first).unwrap();
    let before = world.count();
    // A search of its own: it asks for more.
    let mut other = first.clone();
    other.search.any_failure = true;
    let bisection = world.carry_out(&other).unwrap();
    assert_eq!(culprits(&bisection), ["a"]);
    // What runs next depends on what runs cost here and now, but what was run counts.
    assert!(bisection.steps.reused > 0 && world.count() < 2 * before, "{before} {}", world.count());
    other.search.fresh = true;
    let bisection = world.carry_out(&other).unwrap();
    assert_eq!((bisection.steps.reused, world.count() > before), (0, true));
}

#[test]
fn a_failure_of_another_kind_is_not_the_one_that_is_looked_for() {
    let truth = |_: &str, words: &[&str]| match (words.contains(&"c"), words.contains(&"a")) {
        (true, _) => Does::Fails("sum: is 2"),
        (false, true) => Does::Fails("no memory"),
        (false, false) => Does::Passes,
    };
    let bisection = World::new(truth).carry_out(&request("quiet", "quiet a b c")).unwrap();
    assert!(!bisection.states.iter().all(|state| state.untestable.is_none()), "{bisection:?}");
    let mut any = request("quiet", "quiet a b c");
    any.search.any_failure = true;
    assert_eq!(culprits_without_proof(&World::new(truth).carry_out(&any).unwrap()), ["a"]);
}

fn culprits_without_proof(bisection: &bisect::Bisection) -> Vec<&str> {
    match &bisection.conclusion {
        bisect::Conclusion::Culprits { candidates, .. } => {
            candidates.iter().map(|candidate| candidate.name.as_str()).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn boots_are_asked_side_by_side() {
    let truth = |_: &str, words: &[&str]| if words.contains(&"b") { Does::Panics } else { Does::Passes };
    let mut asked = asks(BisectRequest { question: Question::Boot, ..request("quiet", "quiet a b c") });
    asked.search.jobs = Some(3);
    let bisection = World::new(truth).carry_out(&asked).unwrap();
    assert_eq!(culprits(&bisection), ["b"]);
    assert!(bisection.reproduce.iter().all(|line| line.contains("--isolation suite --no-retry")));
}

#[test]
fn a_text_of_the_boot_is_found_in_its_console() {
    let truth = |_: &str, words: &[&str]| match words.contains(&"a") {
        true => Does::Says("[    0.500000] clocksource: unstable"),
        false => Does::Passes,
    };
    let question = Question::Log("clocksource: unstable".to_string());
    let asked = asks(BisectRequest { question, ..request("quiet", "quiet a b c") });
    let bisection = World::new(truth).carry_out(&asked).unwrap();
    assert_eq!(culprits(&bisection), ["a"]);
    assert_eq!(bisection.last.state.evidence.lines, ["[    0.500000] clocksource: unstable"]);
}

#[test]
fn what_an_operation_costs_is_compared_with_both_ends() {
    let truth = |_: &str, words: &[&str]| Does::Costs(if words.contains(&"c") { 200.0 } else { 100.0 });
    let question = Question::Metric { name: "syscall/getppid".into(), worse_by: None, timed: false };
    let asked = asks(BisectRequest { question, ..request("quiet", "quiet a b c d") });
    let bisection = World::new(truth).carry_out(&asked).unwrap();
    assert_eq!(culprits(&bisection), ["c"]);
    assert_eq!(bisection.threshold.unwrap().at, 150.0);
    assert!(
        bisection.reproduce[0].starts_with("kiln measure /kernels/image --metric syscall/getppid --boots 1")
    );
}

#[test]
fn no_two_boots_of_a_state_have_one_seed_also_when_a_search_goes_on() {
    let truth =
        |_: &str, words: &[&str]| Does::CostsAndSeed(if words.contains(&"c") { 2000.0 } else { 1000.0 });
    let question = Question::Metric { name: "syscall/getppid".into(), worse_by: None, timed: false };
    let mut asked = asks(BisectRequest { question, ..request("quiet", "quiet a b c d") });
    for jobs in [1, 3] {
        asked.search.jobs = Some(jobs);
        for stop in [1, 4, 7, 10, usize::MAX] {
            let mut world = World::new(truth).stops_after(stop);
            let bisection = world.carry_out(&asked).unwrap_or_else(|_| {
                world.goes_on();
                world.carry_out(&asked).unwrap()
            });
            assert_eq!(culprits(&bisection), ["c"]);
            assert!(bisection.states.iter().any(|state| state.values.len() > 2), "{bisection:?}");
            for state in &bisection.states {
                let mut values = state.values.clone();
                values.sort_by(f64::total_cmp);
                values.dedup();
                assert_eq!(values.len(), state.values.len(), "{state:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_runs() {
    let world = World::with_culprit("a");
    let refused = |request: &BisectRequest| {
        let error = world.carry_out(request).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    let metric = Question::Metric { name: "syscall/*".into(), worse_by: None, timed: false };
    let several = refused(&BisectRequest { question: metric, ..request("quiet", "a") });
    assert!(several.starts_with("--metric syscall/*: names ") && several.ends_with("name one"), "{several}");
    assert!(refused(&request("quiet", "quiet")).contains("same kernel parameters"));
    assert_eq!(world.count(), 0);
}

/// The same of a program in this folder.
fn of_program(folder: &Path, request: BisectRequest) -> BisectRequest {
    let path = folder.join("boot");
    std::fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let program = ProgramRequest { path, arguments: Vec::new(), needs: Vec::new() };
    let question = Question::Program("boot".to_string());
    BisectRequest { question, cases: Some(Selection::Program(program)), ..request }
}

#[test]
fn a_candidate_that_the_kernel_does_not_know_is_refused() {
    let case = request("quiet", "quiet typo=1 c");
    let metric = Question::Metric { name: "syscall/getppid".into(), worse_by: None, timed: false };
    let metric = asks(BisectRequest { question: metric, ..case.clone() });
    let boot = asks(BisectRequest { question: Question::Boot, ..case.clone() });
    for (asked, does) in [(case, Does::Passes), (metric, Does::Costs(1.0)), (boot, Does::Passes)] {
        let world = World::new(move |_, words| match does {
            Does::Passes if words.contains(&"c") => Does::Fails("sum: is 2"),
            does => does,
        });
        let error = world.carry_out(&asked).unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(error.to_string().starts_with("--params: the kernel does not know typo=1, so"), "{error}");
    }
}

#[test]
fn what_a_kernel_does_not_know_and_is_no_candidate_is_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixed = request("quiet", "quiet c");
    fixed.machine.append.push("typo1 quiet typo2".to_string());
    let metric = Question::Metric { name: "syscall/getppid".into(), worse_by: None, timed: false };
    let metric = asks(BisectRequest { question: metric, ..fixed.clone() });
    // A program may read it.
    let read = of_program(folder.path(), request("quiet", "typo1 c typo2"));
    for asked in [fixed, metric, read] {
        let is_metric = asked.question.is_measured();
        let world = World::new(move |_, words| match (words.contains(&"c"), is_metric) {
            (is_bad, true) => Does::Costs(if is_bad { 2.0 } else { 1.0 }),
            (true, false) => Does::Fails("sum: is 2"),
            (false, false) => Does::Passes,
        });
        // The second time nothing boots.
        for _ in 0..2 {
            let bisection = world.carry_out(&asked).unwrap();
            assert_eq!(bisection.notes, ["the kernel does not know these parameters: typo1 typo2"]);
        }
    }
}

#[test]
fn a_program_called_boot_is_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let asked = of_program(folder.path(), request("quiet", "quiet a b c"));
    // Twice: what earlier sessions kept of it counts as well.
    let world = World::with_culprit("b");
    assert_eq!(culprits(&world.carry_out(&asked).unwrap()), ["b"]);
    let runs = world.count();
    let wider = BisectRequest { axis: request("quiet", "quiet a b").axis, ..asked };
    assert_eq!(culprits(&world.carry_out(&wider).unwrap()), ["b"]);
    assert!(world.count() < 2 * runs, "{} {runs}", world.count());
}
