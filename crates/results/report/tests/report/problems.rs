use bisect::problem::made;
use jiff::Timestamp;
use judge::Outcome;
use lab::request::{KernelRequest, Request, RunRequest, Selection};
use ledger::{Closing, OnKernel, Problem, Sighting};
use report::ShownProblem;
use verdict::problem::{Standing, Succession};

fn day(day: i64) -> Timestamp {
    Timestamp::from_second(1_763_640_000 + day * 86_400).unwrap()
}

fn on(release: &str, sessions: u32, failing: u32) -> OnKernel {
    let failed = (failing > 0).then(|| day(1));
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

fn problem(id: &str, signature: &str, kernels: &[OnKernel]) -> Problem {
    let seen = |days| Sighting {
        session: "2026-11-20T10-00-00Z-7".to_owned(),
        started: day(days),
        suite: "smoke".to_owned(),
        case: "fs/reflink".to_owned(),
        is_boot: false,
        outcome: Outcome::Fail,
        reason: signature.to_owned(),
        kernel: "deb:6.1.0-44-amd64".to_owned(),
        release: "6.1.0-44-amd64".to_owned(),
    };
    Problem {
        id: id.to_owned(),
        signature: signature.to_owned(),
        accused: Some("kernel".to_owned()),
        cases: ["fs/reflink".to_owned(), "fs/copy".to_owned()].into(),
        failures: 7,
        first: seen(1),
        last: seen(3),
        kernels: kernels.to_vec(),
        closing: None,
    }
}

fn all() -> Vec<(Problem, Standing)> {
    let open = [on("6.1.0-40-amd64", 4, 0), on("6.1.0-44-amd64", 2, 2), on("6.1.0-47-amd64", 3, 1)];
    let fixed = [on("6.1.0-44-amd64", 2, 2), on("6.1.0-47-amd64", 1, 1), on("6.1.0-50-amd64", 5, 0)];
    let returned = Problem {
        closing: Some(Closing { closed: day(0), was_gone: false }),
        ..problem("2222", "fs/copy: hang: \u{1b}[31m\u{202e}", &[on("6.12.1", 1, 1)])
    };
    let problems = [
        problem("0000", "WARNING in xfs_reflink_remap_extent", &open),
        problem("1111", "fs/reflink: fail: is #, expected #", &fixed),
        returned,
        problem("3333", "the boot: crash: ", &[]),
    ];
    problems.map(|problem| (problem.clone(), Standing::of(&problem, &Succession::default()))).into()
}

fn table(width: Option<usize>) -> String {
    let mut out = Vec::new();
    report::problems_table(&all(), width, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_problem_has_a_line() {
    insta::assert_snapshot!(table(Some(120)));
}

#[test]
fn a_narrow_terminal_goes_without_the_kernels() {
    assert!(table(Some(60)).lines().all(|line| line.chars().count() <= 60 && !line.contains("amd64")));
    for width in [Some(1), Some(200), None] {
        assert!(!table(width).contains(['\u{1b}', '\u{202e}']));
    }
}

#[test]
fn all_about_a_problem() {
    let kernel = KernelRequest::named("deb:6.1.0-44-amd64".parse().unwrap());
    let request = Request::Run(Box::new(RunRequest::new(kernel, Selection::whole("smoke"))));
    let made = made(std::path::Path::new("/nonexistent"));
    let text = |at: usize, request: Option<&Request>| {
        let request = request.map(|request| (request, "fs/reflink"));
        let (problem, standing) = &all()[at];
        let mut out = Vec::new();
        ShownProblem { problem, standing, request, made: &made }.text(false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    insta::assert_snapshot!(text(0, Some(&request)));
    insta::assert_snapshot!(text(1, Some(&request)));
    let hostile = text(2, None);
    assert!(
        !hostile.contains(['\u{1b}', '\u{202e}']) && hostile.starts_with("open, returned: fs/copy: hang")
    );
    assert!(text(3, None).contains("the boot: crash\n"));
}

#[test]
fn programs_get_an_object_for_each_problem() {
    let mut out = Vec::new();
    report::problems_json(&all(), &mut out).unwrap();
    assert!(out.is_ascii());
    let first: serde_json::Value =
        serde_json::from_slice(out.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((first["state"].as_str(), first["kernels"][1]["failing"].as_u64()), (Some("open"), Some(2)));
    assert_eq!(first["series"][0]["good"]["release"], "6.1.0-40-amd64");
}
