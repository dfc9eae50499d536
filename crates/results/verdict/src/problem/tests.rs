use history::Ancestry;
use jiff::Timestamp;
use judge::Outcome;
use ledger::{Closing, Sighting};
use proptest::prelude::*;

use super::*;

fn day(day: i64) -> Timestamp {
    Timestamp::from_second(day * 86_400).expect("a time")
}

/// A kernel that was judged in so many sessions, of which so many failed, from that day on.
fn on(release: &str, sessions: u32, failing: u32, from: i64) -> OnKernel {
    let failed = (failing > 0).then(|| day(from));
    OnKernel {
        kernel: format!("deb:{release}"),
        release: release.to_owned(),
        source: None,
        sessions,
        failing,
        first_failed: failed,
        last_failed: failed,
    }
}

fn problem(kernels: Vec<OnKernel>, closing: Option<Closing>) -> Problem {
    let seen = Sighting {
        session: "2026-11-20T10-00-00Z-7".to_owned(),
        started: day(0),
        suite: "smoke".to_owned(),
        case: "pipe/full".to_owned(),
        is_boot: false,
        outcome: Outcome::Fail,
        reason: "x".to_owned(),
        kernel: "deb:x".to_owned(),
        release: "x".to_owned(),
    };
    Problem {
        id: "4f1c".to_owned(),
        signature: "pipe/full: fail: x".to_owned(),
        accused: None,
        cases: ["pipe/full".to_owned()].into(),
        failures: 1,
        first: seen.clone(),
        last: seen,
        kernels,
        closing,
    }
}

fn standing(kernels: &[(&str, u32, u32)]) -> Standing {
    let kernels = kernels.iter().map(|&(release, sessions, failing)| on(release, sessions, failing, 1));
    Standing::of(&problem(kernels.collect(), None), &Succession::default())
}

#[test]
fn a_problem_of_the_latest_kernel_is_open() {
    let found = standing(&[("6.1.0-40-amd64", 5, 0), ("6.1.0-44-amd64", 3, 3), ("6.1.0-47-amd64", 1, 1)]);
    assert_eq!(found.state, State::Open);
    let series = &found.series[0];
    assert_eq!(series.good.as_ref().map(|on| on.release.as_str()), Some("6.1.0-40-amd64"));
    assert_eq!(
        (series.first.release.as_str(), series.last.release.as_str()),
        ("6.1.0-44-amd64", "6.1.0-47-amd64")
    );
    assert_eq!((&series.fixed, series.chance), (&None, None));
}

#[test]
fn it_takes_sessions_to_verify_a_fix() {
    let state = |failing: u32, of: u32, passed: u32| {
        standing(&[("6.1.0-44-amd64", of, failing), ("6.1.0-47-amd64", passed, 0)]).state
    };
    assert_eq!(state(1, 1, 1), State::FixCandidate, "one against one is a toss of a coin");
    assert_eq!(state(1, 1, 100), State::FixCandidate, "the first failure says nothing about the rate");
    assert_eq!(state(3, 3, 4), State::FixCandidate);
    assert_eq!(state(3, 3, 5), State::Verified, "1 of 21 ways to choose two of seven");
    assert_eq!(state(2, 10, 100), State::FixCandidate);
    assert_eq!(state(3, 10, 100), State::Verified);
}

#[test]
fn the_chance_is_that_of_fishers_test() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    close(chance(4, 4, 3), 1.0 / 20.0);
    // As SciPy's fisher_exact([[8, 2], [0, 5]], 'greater') has it: 8 of 10 against 0 of 5.
    close(chance(11, 9, 5), 45.0 / 6435.0);
    close(chance(0, 0, 0), 1.0);
}

#[test]
fn other_flavours_and_maintained_series_say_nothing() {
    let cloud = standing(&[("6.1.0-44-amd64", 3, 3), ("6.1.0-47-cloud-amd64", 9, 0)]);
    assert_eq!(cloud.state, State::Open);
    let maintained = standing(&[("6.1.0-44-amd64", 3, 3), ("6.1.0-47-amd64", 1, 1), ("6.12.1-amd64", 9, 0)]);
    assert_eq!(maintained.state, State::Open, "nobody has fixed it in 6.1");
    let both = standing(&[("6.1.0-44-amd64", 3, 3), ("6.1.0-47-amd64", 9, 0), ("6.12.1-amd64", 3, 3)]);
    assert_eq!(both.state, State::Open, "fixed in 6.1, open in 6.12");
    assert_eq!(both.series.iter().map(|series| series.fixed.is_some()).collect::<Vec<_>>(), [true, false]);
    let candidates = standing(&[("6.17.0-rc1-gabcdef1", 1, 1), ("6.17.0-rc2-g1234567", 1, 0)]);
    assert_eq!(candidates.state, State::FixCandidate, "a commit is no flavour");
}

#[test]
fn a_closed_problem_returns_where_it_was_not_known_to_be() {
    let old = || on("6.1.0-44-amd64", 3, 3, 1);
    let returned = |kernels: Vec<OnKernel>, was_gone| {
        let found = Standing::of(
            &problem(kernels, Some(Closing { closed: day(5), was_gone })),
            &Succession::default(),
        );
        assert_eq!(found.state == State::Closed, !found.returned);
        found.returned
    };
    let fixed = || on("6.1.0-47-amd64", 3, 0, 2);
    assert!(!returned(vec![old(), fixed()], true));
    let again = OnKernel { last_failed: Some(day(9)), failing: 4, ..old() };
    assert!(!returned(vec![again.clone(), fixed()], true), "the old kernel still has it");
    assert!(!returned(vec![on("6.1.0-40-amd64", 1, 1, 9), old(), fixed()], true), "so had older ones");
    assert!(returned(vec![old(), fixed(), on("6.1.0-50-amd64", 1, 1, 9)], true));
    assert!(returned(vec![old(), on("6.1.0-47-amd64", 4, 1, 9)], true), "what passed before fails");
    assert!(returned(vec![old(), fixed(), on("6.12.1-amd64", 1, 1, 9)], true), "another series");
    assert!(returned(vec![again], false), "nobody had seen it pass");
}

/// The commits of a history, each a letter with those of its parents: `b a`.
fn history(commits: &[&str]) -> Succession {
    let wanted = commits.iter().map(|line| &line[..1]).collect();
    Succession::from(vec![Ancestry::listed(&wanted, &commits.join("\n"))])
}

/// A build of a commit.
fn built(commit: &str, sessions: u32, failing: u32) -> OnKernel {
    let source =
        Source { commit: commit.to_owned(), tree: Some("/linux".into()), build: "boot x86_64".to_owned() };
    OnKernel { source: Some(source), ..on(&format!("6.12.0 ({commit})"), sessions, failing, 1) }
}

/// The last good commit, the first bad one, the last bad one and the one that fixed it, of each series.
fn lives(succession: &Succession, kernels: Vec<OnKernel>) -> Vec<[String; 4]> {
    let mut problem = problem(kernels, None);
    succession.arrange(&mut problem);
    let name = |on: Option<&OnKernel>| on.map_or("-".to_owned(), |on| on.release[8..9].to_owned());
    let life = |of: &Series| [of.good.as_ref(), Some(&of.first), Some(&of.last), of.fixed.as_ref()].map(name);
    Standing::of(&problem, succession).series.iter().map(life).collect()
}

#[test]
fn a_commit_is_later_than_what_is_in_its_history() {
    let line = history(&["a", "b a", "c b", "d c"]);
    let kernels = vec![built("d", 1, 0), built("b", 3, 3), built("a", 1, 0), built("c", 1, 1)];
    assert_eq!(lives(&line, kernels.clone()), [["a", "b", "c", "d"]]);
    assert_eq!(lives(&Succession::default(), kernels).len(), 2, "a tree that is gone says nothing");
    let debug = |on: OnKernel| {
        let source = on.source.clone().map(|source| Source { build: "debug x86_64".to_owned(), ..source });
        OnKernel { source, ..on }
    };
    let otherwise = vec![built("b", 3, 3), debug(built("d", 1, 0))];
    assert_eq!(lives(&line, otherwise), [["-", "b", "b", "-"]], "another configuration says nothing");
    let package = vec![built("b", 3, 3), on("6.13.1-amd64", 9, 0, 1)];
    assert_eq!(lives(&line, package), [["-", "b", "b", "-"]]);
}

#[test]
fn a_branch_says_nothing_about_another() {
    // The problem began with b, which a branch never had; d merges them.
    let merged = history(&["a", "b a", "c a", "d b c", "e d"]);
    let open = vec![built("a", 1, 0), built("b", 1, 1), built("c", 9, 0)];
    assert_eq!(lives(&merged, open.clone()), [["a", "b", "b", "-"]]);
    let fixed = [open.clone(), vec![built("d", 1, 0), built("e", 1, 0)]].concat();
    assert_eq!(lives(&merged, fixed), [["a", "b", "b", "d"]]);
    let both = vec![built("b", 1, 1), built("c", 1, 1), built("e", 1, 0)];
    assert_eq!(lives(&merged, both), [["-", "b", "c", "e"]], "what follows both");
    let split = history(&["a", "b a", "c a", "d c"]);
    let half = vec![built("a", 1, 0), built("b", 1, 1), built("c", 1, 1), built("d", 9, 0)];
    assert_eq!(lives(&split, half), [["a", "b", "c", "-"]], "d does not have b");
}

#[test]
fn a_series_of_commits_is_called_by_its_tree_and_its_build() {
    let found = Standing::of(&problem(vec![built("a", 1, 1)], None), &history(&["a"]));
    assert_eq!(found.series[0].name(), "/linux boot x86_64");
}

proptest! {
    #[test]
    fn more_sessions_that_pass_are_never_less_sure(sessions in 1_u32..50, failing in 1_u32..50, passed in 0_u32..200) {
        let failing = failing.min(sessions);
        let chance = |passed| chance(sessions, failing, passed);
        prop_assert!((0.0..=1.0).contains(&chance(passed)));
        prop_assert!(chance(passed + 1) <= chance(passed));
    }

    #[test]
    fn any_kernels_have_a_standing(kernels in prop::collection::vec(("[0-9.]{0,6}(-[a-z]{1,3})?", 0_u32..9, 0_u32..9, 0_i64..9), 0..12), closing in prop::option::of(any::<bool>())) {
        let all: Vec<OnKernel> =
            kernels.iter().map(|(release, sessions, failing, from)| on(release, *sessions, *failing, *from)).collect();
        let failing = all.iter().any(|on| on.failing > 0);
        let closing = closing.map(|was_gone| Closing { closed: day(4), was_gone });
        let found = Standing::of(&problem(all, closing), &Succession::default());
        prop_assert_eq!(found.series.is_empty(), !failing);
        prop_assert!(found.series.iter().all(|series| series.fixed.is_some() == series.chance.is_some()));
    }

    #[test]
    fn what_fixed_a_problem_follows_all_commits_that_have_it(parents in prop::collection::vec((any::<u8>(), any::<u8>()), 1..20), failing in any::<u32>()) {
        let name = |number: usize| char::from(b'a' + number as u8).to_string();
        let line = |(number, (first, second)): (usize, &(u8, u8))| {
            let parents = [first, second].map(|parent| usize::from(*parent) % (number + 1));
            let parents = parents.iter().filter(|&&parent| parent < number).map(|&parent| name(parent));
            std::iter::once(name(number)).chain(parents).collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = parents.iter().enumerate().map(line).collect();
        let succession = history(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let fails = |number: usize| failing >> number & 1;
        let kernels: Vec<OnKernel> = (0..lines.len()).map(|number| built(&name(number), 1, fails(number))).collect();
        let bad = || kernels.iter().filter(|on| on.failing > 0);
        let mut arranged = problem(kernels.clone(), None);
        succession.arrange(&mut arranged);
        for series in Standing::of(&arranged, &succession).series {
            if let Some(fixed) = &series.fixed {
                prop_assert!(bad().all(|on| succession.follows(fixed, on)), "{:?}", lines);
            }
            let follows_all = |on: &OnKernel| bad().all(|bad| succession.follows(on, bad));
            prop_assert_eq!(series.fixed.is_some(), kernels.iter().any(follows_all));
            prop_assert!(series.good.iter().all(|good| succession.follows(&series.first, good) && good.failing == 0));
        }
    }
}
