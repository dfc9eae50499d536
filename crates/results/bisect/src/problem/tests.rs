use jiff::Timestamp;
use judge::Outcome;
use lab::request::{BuildOptions, KernelRequest, MachineRequest, ProgramRequest, RunRequest, Version};
use ledger::{Sighting, Source};

use super::*;
use crate::candidate::Candidate;
use crate::question::Question;
use crate::request::SearchRequest;

fn on(kernel: &str, failing: u32) -> OnKernel {
    let time = Timestamp::UNIX_EPOCH;
    let failed = (failing > 0).then_some(time);
    OnKernel {
        kernel: kernel.to_owned(),
        release: kernel.trim_start_matches("deb:").to_owned(),
        source: None,
        sessions: 9,
        failing,
        first_failed: failed,
        last_failed: failed,
    }
}

fn problem(case: &str, kernels: &[OnKernel]) -> Problem {
    let seen = Sighting {
        session: "s".to_owned(),
        started: Timestamp::UNIX_EPOCH,
        suite: "smoke".to_owned(),
        case: case.to_owned(),
        is_boot: false,
        outcome: Outcome::Fail,
        reason: "x".to_owned(),
        kernel: "k".to_owned(),
        release: "k".to_owned(),
    };
    Problem {
        id: "4f1c".to_owned(),
        signature: "x".to_owned(),
        accused: None,
        cases: [case.to_owned()].into(),
        failures: 1,
        first: seen.clone(),
        last: seen,
        kernels: kernels.to_vec(),
        closing: None,
    }
}

fn request(cases: Selection) -> Request {
    let kernel = KernelRequest::named("deb:6.1.0-47-amd64".parse().expect("a locator"));
    Request::Run(Box::new(RunRequest::new(kernel, cases)))
}

fn debian() -> Problem {
    problem(
        "pipe/full",
        &[on("deb:6.1.0-40-amd64", 0), on("deb:6.1.0-44-amd64", 3), on("deb:6.1.0-47-amd64", 0)],
    )
}

/// A bisection of packages that found this one.
fn bisection(first: &str, last: &str, case: &str, culprit: Option<&str>) -> Made {
    let locator = |text: &str| text.parse().expect("a locator");
    let cases = Selection::Suite { suite: ALL_CASES.to_owned(), patterns: vec![case.to_owned()] };
    let request = BisectRequest {
        version: Version,
        axis: AxisRequest::Packages { first: locator(first), last: locator(last) },
        question: Question::Case(case.to_owned()),
        cases: Some(cases),
        case_limit: None,
        search: SearchRequest::default(),
        build: BuildOptions::default(),
        machine: MachineRequest::default(),
    };
    let candidate = |name: &str| Candidate { name: name.to_owned(), ..Candidate::default() };
    let conclusion = match culprit {
        Some(name) => {
            Conclusion::Culprits { numbers: vec![0], candidates: vec![candidate(name)], confidence: 0.99 }
        }
        None => Conclusion::Contradiction { why: "x".to_owned() },
    };
    Made { folder: "4f1c9a0e6b7d2c35".to_owned(), request, conclusion }
}

#[test]
fn a_problem_says_how_to_find_where_it_begins_and_ends() {
    let problem = debian();
    let series = &Standing::of(&problem, &Succession::default()).series[0];
    let words = |search: Option<Search>, cases| {
        search?.words(&request(cases), "pipe/full").map(|words| words.join(" "))
    };
    let suite = |name: &str| Selection::whole(name);
    let (begin, end) = (|| Search::for_culprit(&problem, series), || Search::for_fix(&problem, series));
    assert_eq!(
        words(begin(), suite("smoke")).as_deref(),
        Some("bisect deb:6.1.0-40-amd64..deb:6.1.0-44-amd64 --case pipe/full")
    );
    assert_eq!(
        words(end(), suite("./tests")).as_deref(),
        Some("bisect deb:6.1.0-44-amd64..deb:6.1.0-47-amd64 --fixed --suite ./tests --case pipe/full")
    );
    let program =
        ProgramRequest { path: "./repro".into(), arguments: vec!["-x".to_owned()], needs: Vec::new() };
    assert_eq!(
        words(begin(), Selection::Program(program)).as_deref(),
        Some("bisect deb:6.1.0-40-amd64..deb:6.1.0-44-amd64 --exec ./repro -- -x")
    );
    let selftests = Selection::Selftests { place: "net".to_owned(), patterns: Vec::new() };
    assert_eq!(words(begin(), selftests), None);
}

#[test]
fn commits_are_searched_in_their_tree() {
    let built = |commit: &str, failing| {
        let tree = Some("/made-up/linux".into());
        let source = Source { commit: commit.repeat(40), tree, build: "debug x86_64".to_owned() };
        OnKernel { source: Some(source), ..on("built:1f", failing) }
    };
    let good = Series {
        good: Some(built("a", 0)),
        first: built("b", 3),
        last: built("b", 3),
        fixed: None,
        chance: None,
    };
    let problem = problem("pipe/full", &[built("a", 0), built("b", 3)]);
    let search = Search::for_culprit(&problem, &good).expect("both ends are known");
    assert_eq!(search.about(), "what brought it, from aaaaaaaaaaaa to bbbbbbbbbbbb");
    let mut ran = request(Selection::whole("smoke"));
    let Request::Run(run) = &mut ran else { panic!("cases") };
    run.kernel.build.configurations = vec!["debug".to_owned()];
    let (a, b) = ("a".repeat(40), "b".repeat(40));
    let words = search.words(&ran, "pipe/full").expect("a case of kiln");
    assert_eq!(
        words.join(" "),
        format!("bisect git:/made-up/linux@{a}..{b} --config debug --case pipe/full")
    );
    let asked = search.request(&ran, "pipe/full").expect("a case of kiln");
    assert_eq!(asked.build.configurations, ["debug"]);
    let axis = AxisRequest::Commits {
        tree: "/made-up/linux".into(),
        first: a,
        last: b.clone(),
        paths: Vec::new(),
        first_parent: false,
    };
    assert_eq!(asked.axis, axis);
    let mut known = bisection("deb:x", "deb:y", "pipe/full", Some(&b));
    known.request.axis = axis;
    assert!(search.found(&problem, &[known]).is_some());
    let elsewhere =
        OnKernel { source: built("b", 3).source.map(|it| Source { tree: None, ..it }), ..built("b", 3) };
    assert_eq!(
        Search::for_culprit(&problem, &Series { first: elsewhere, ..good }),
        None,
        "another host has it"
    );
}

#[test]
fn a_search_asks_what_its_command_asks() {
    let problem = debian();
    let standing = Standing::of(&problem, &Succession::default());
    let [begin, end] = &pending(&problem, &standing, &[])[..] else { panic!("both ends are known") };
    assert_eq!(begin.about(), "what brought it, from deb:6.1.0-40-amd64 to deb:6.1.0-44-amd64");
    let ran = request(Selection::whole("smoke"));
    let asked = begin.request(&ran, "pipe/full").expect("a case of kiln");
    let known = bisection("deb:6.1.0-40-amd64", "deb:6.1.0-44-amd64", "pipe/full", Some("6.1.140-1"));
    assert_eq!(asked, known.request);
    assert_eq!(end.request(&ran, "pipe/full").map(|asked| asked.search.fixed), Some(true));
    let program =
        ProgramRequest { path: "./repro".into(), arguments: vec!["-x".to_owned()], needs: Vec::new() };
    let asked = begin.request(&request(Selection::Program(program)), "repro").expect("a program");
    assert_eq!(asked.question, Question::Program("repro".to_owned()));
    let selftests = Selection::Selftests { place: "net".to_owned(), patterns: Vec::new() };
    assert_eq!(begin.request(&request(selftests), "net"), None);
    assert_eq!(
        pending(&problem, &standing, &[known]),
        std::slice::from_ref(end),
        "what was made is not made again"
    );
}

#[test]
fn only_what_can_be_walked_is_searched() {
    let between = |first: &str, last: &str| {
        let problem = problem("a", &[on(first, 0), on(last, 3)]);
        Search::for_culprit(&problem, &Standing::of(&problem, &Succession::default()).series[0])
    };
    assert!(between("deb:6.1.0-40-amd64", "deb:6.1.0-44-amd64").is_some());
    assert_eq!(between("/boot/vmlinuz", "/boot/vmlinuz.new"), None);
    let alone = problem("a", &[on("deb:6.1.0-44-amd64", 3)]);
    assert_eq!(Search::for_culprit(&alone, &Standing::of(&alone, &Succession::default()).series[0]), None);
    let mut boot = debian();
    boot.first.is_boot = true;
    assert_eq!(Search::for_culprit(&boot, &Standing::of(&boot, &Succession::default()).series[0]), None);
}

#[test]
fn a_bisection_that_found_a_change_makes_its_problem_bisected() {
    let open = problem("pipe/full", &[on("deb:6.1.0-40-amd64", 0), on("deb:6.1.0-44-amd64", 3)]);
    let state = |first: &str, case: &str, culprit| {
        let made = [bisection(first, "deb:6.1.0-44-amd64", case, culprit)];
        standing(&open, &Succession::default(), &made).state
    };
    let first = "deb:6.1.0-40-amd64";
    assert_eq!(state(first, "pipe/full", Some("6.1.140-1")), State::Bisected);
    assert_eq!(state(first, "pipe/full", None), State::Open, "it found nothing");
    assert_eq!(state(first, "pipe/other", Some("6.1.140-1")), State::Open);
    assert_eq!(state("deb:6.1.0-39-amd64", "pipe/full", Some("6.1.140-1")), State::Open);
    let narrowed = "what was tested on the way has moved the first end";
    assert_eq!(
        state("deb:6.1.0-39-amd64", "pipe/full", Some("deb:6.1.0-44-amd64")),
        State::Bisected,
        "{narrowed}"
    );
    let both = [
        bisection(first, "deb:6.1.0-44-amd64", "pipe/full", Some("6.1.140-1")),
        bisection(first, "deb:6.1.0-44-amd64", "pipe/full", None),
    ];
    assert_eq!(
        standing(&open, &Succession::default(), &both).state,
        State::Bisected,
        "another search that found nothing does not hide it"
    );
    let made = [bisection(first, "deb:6.1.0-44-amd64", "pipe/full", Some("6.1.140-1"))];
    assert_eq!(
        standing(&debian(), &Succession::default(), &made).state,
        State::FixCandidate,
        "what comes later in its life counts"
    );
}

#[test]
fn bisections_are_read_from_their_folders() {
    let root = tempfile::tempdir().expect("a directory");
    let one = bisection("deb:a", "deb:b", "pipe/full", Some("c"));
    for (folder, ended) in [("1", true), ("2", false)] {
        let folder = root.path().join(folder);
        std::fs::create_dir(&folder).expect("writable");
        let write = |name: &str, value: serde_json::Value| {
            std::fs::write(folder.join(name), value.to_string()).expect("writable");
        };
        write("request.json", serde_json::to_value(&one.request).expect("JSON"));
        if ended {
            write("bisection.json", serde_json::json!({"conclusion": one.conclusion}));
        }
    }
    let all = made(root.path());
    assert_eq!(
        all.iter().map(|made| (made.folder.as_str(), made.culprits())).collect::<Vec<_>>(),
        [("1", vec!["c"])]
    );
}
