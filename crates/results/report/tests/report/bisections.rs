//! Bisections that are written down.

use std::time::Duration;

use bisect::Kind;
use bisect::bisection::Rate;
use bisect::{
    Belief, Bisection, Candidate, Changes, Check, Checked, Conclusion, End, Evidence, Point, Purpose,
    Question, StateReport, Steps, Testing, Threshold, Underway,
};
use judge::kernel_report::KernelReport;
use judge::{Outcome, Run};
use measure::Function;
use protocol::KernelRecord;
use verdict::BootRuns;

/// The commit that did it.
pub(crate) const HASH: &str = "6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c";

fn log(lines: &[&str]) -> Vec<KernelRecord> {
    let record = |(at, line): (u64, &&str)| KernelRecord {
        sequence: at,
        time_us: at * 1_337,
        level: 6,
        text: (*line).to_owned(),
    };
    (1..).zip(lines).map(record).collect()
}

fn failed() -> Run {
    let lines = [
        "overlayfs: upper fs needs to support d_type",
        "WARNING: CPU: 0 PID: 71 at fs/overlayfs/dir.c:1187 ovl_rename+0x5c1/0x8e0",
        "loop0: detected capacity change from 0 to 4096",
    ];
    Run {
        case: "fs/overlay-rename".into(),
        outcome: Outcome::Fail,
        reason: "rename(2): is EINVAL, expected 0 (cases/overlay.rs:88)".into(),
        evidence: vec!["rename(2): is EINVAL, expected 0 (cases/overlay.rs:88)".into()],
        log: log(&lines),
        ..Run::unstarted()
    }
}

fn passed() -> Run {
    let lines =
        ["overlayfs: upper fs needs to support d_type", "loop1: detected capacity change from 0 to 8192"];
    Run { case: "fs/overlay-rename".into(), outcome: Outcome::Pass, log: log(&lines), ..Run::unstarted() }
}

/// A state with so many runs that show it and so many that do not.
fn state(point: Point, name: &str, bad: u32, good: u32) -> StateReport {
    let run = if bad > 0 { failed() } else { passed() };
    let evidence = Evidence {
        release: None,
        sessions: vec!["2026-11-21-1".into()],
        command: format!("kiln run git:~/linux@{name} --case fs/overlay-rename --repeat 14"),
        run: Some(Box::new(run)),
        ..Evidence::default()
    };
    // Three runs a boot.
    let runs = |fails, count| (0..count).map(move |_| BootRuns::one(fails));
    let runs: Vec<BootRuns> = runs(true, bad).chain(runs(false, good)).collect();
    let boot = |runs: &[BootRuns]| {
        runs.iter().fold(BootRuns::default(), |mut boot, run| {
            boot.add(*run);
            boot
        })
    };
    let boots = runs.chunks(3).map(boot).collect();
    StateReport { point, name: name.into(), bad, good, boots, values: Vec::new(), untestable: None, evidence }
}

fn untestable(point: Point, name: &str) -> StateReport {
    let why = "fs/overlayfs/dir.c:1187: error: implicit declaration of function ‘ovl_old’".to_owned();
    StateReport { untestable: Some(why), evidence: Evidence::default(), ..state(point, name, 0, 0) }
}

fn holds(what: &str, expected: bool, state: StateReport) -> Check {
    Check {
        what: what.into(),
        tested: None,
        expected,
        state: Some(state),
        untried: None,
        objection: None,
        holds: true,
    }
}

fn hash(number: usize) -> String {
    if number == 6 { HASH.to_owned() } else { format!("{:08x}", (number + 1) * 0x123_4567).repeat(5) }
}

/// A commit of twelve that fails each time; without it the bad end is good.
pub(crate) fn commit() -> Bisection {
    let culprit = Candidate {
        name: HASH.into(),
        title: "ovl: do not copy up twice".into(),
        author: Some("Ada Lovelace <ada@example.org>".into()),
        date: Some("2026-09-14".into()),
        files: (0..15).map(|number| format!("fs/overlayfs/part-{number}.c")).collect(),
        ..Candidate::default()
    };
    let mut probabilities = vec![0.000_01; 12];
    probabilities[6] = 0.999_8;
    Bisection {
        kind: Kind::Commits,
        question: Question::Case("fs/overlay-rename".into()),
        fixed: false,
        first: End { name: "v6.1".into(), state: state(Point::First, "v6.1", 0, 14) },
        last: End { name: "v6.2".into(), state: state(Point::Last, "v6.2", 14, 0) },
        threshold: None,
        candidates: (0..12).map(hash).collect(),
        probabilities,
        states: vec![
            state(Point::After(2), &hash(2), 0, 3),
            untestable(Point::After(4), &hash(4)),
            state(Point::After(5), &hash(5), 0, 3),
            state(Point::After(6), &hash(6), 3, 0),
            state(Point::After(9), &hash(9), 3, 0),
        ],
        conclusion: Conclusion::Culprits {
            numbers: vec![6],
            candidates: vec![culprit],
            confidence: 0.999_93,
        },
        proof: vec![
            holds("just before it", false, state(Point::After(5), &hash(5), 0, 14)),
            holds("with it", true, state(Point::After(6), &hash(6), 14, 0)),
            holds("the bad end without it", false, state(Point::Without(6), "v6.2 without it", 0, 14)),
        ],
        steps: Steps { taken: 5, rounds: 5, runs: 84, reused: 9, expected: 3.67, worst: 4 },
        rate: Rate { mean: 0.999, interval: (0.96, 1.0), always: true, decided_at_boot: Some(0.3) },
        notes: vec!["one test was made again: the host was busy".into()],
        reproduce: vec![
            format!("kiln run git:~/linux@{HASH}~1 --case fs/overlay-rename --repeat 14"),
            format!("kiln run git:~/linux@{HASH} --case fs/overlay-rename --repeat 14"),
        ],
    }
}

/// A package that fixed what failed now and then.
pub(crate) fn fixed() -> Bisection {
    let names: Vec<String> = (41..47).map(|abi| format!("6.1.0-{abi}-cloud-amd64")).collect();
    let other = |number| format!("net: part {number} of what has nothing to do with it (CVE-2026-{number})");
    let known = [
        "ovl: do not rename twice (Closes: #1154101)",
        "vfs: rename_lock is no spinlock",
        "overlay: one dir",
    ];
    let changes = Changes {
        since: "6.1.174-1".into(),
        stable: vec!["6.1.175".into(), "6.1.176".into()],
        entries: (10..1_211).map(other).chain(known.map(str::to_owned)).collect(),
        omitted: 0,
    };
    let culprit =
        Candidate { name: names[3].clone(), title: "6.1.176-1".into(), changes, ..Candidate::default() };
    let at = |number: usize, bad, good| state(Point::After(number), &names[number], bad, good);
    Bisection {
        kind: Kind::Packages,
        fixed: true,
        first: End {
            name: "6.1.0-40-cloud-amd64".into(),
            state: state(Point::First, "6.1.0-40-cloud-amd64", 5, 25),
        },
        last: End { name: names[5].clone(), state: state(Point::Last, &names[5], 0, 60) },
        probabilities: vec![0.0, 0.004, 0.03, 0.951, 0.01, 0.005],
        states: vec![at(1, 2, 18), at(2, 3, 37), at(3, 0, 55), at(4, 0, 20)],
        conclusion: Conclusion::Culprits { numbers: vec![3], candidates: vec![culprit], confidence: 0.951 },
        proof: vec![holds("just before it", true, at(2, 9, 51)), holds("with it", false, at(3, 0, 60))],
        steps: Steps { taken: 4, rounds: 4, runs: 365, reused: 0, expected: 2.67, worst: 3 },
        rate: Rate { mean: 0.127, interval: (0.083, 0.19), always: false, decided_at_boot: Some(0.9) },
        notes: Vec::new(),
        reproduce: vec![format!("kiln run deb:{} --case fs/overlay-rename --repeat 60", names[2])],
        candidates: names,
        ..commit()
    }
}

/// A metric that gets worse with one patch of a series.
pub(crate) fn metric() -> Bisection {
    let measured = |point, name: &str, values: &[f64]| {
        let function = |name: &str, instructions| Function { name: name.into(), instructions, calls: 1 };
        let functions = match values[0] > 2_400.0 {
            true => vec![function("pipe_write", 1_320), function("account", 76), function("__schedule", 402)],
            false => vec![function("pipe_write", 1_200), function("__schedule", 402)],
        };
        let evidence = Evidence { functions, ..Evidence::default() };
        let bad = u32::from(values[0] > 2_400.0);
        StateReport { values: values.to_vec(), evidence, ..state(point, name, bad, 1 - bad) }
    };
    let title = "pipe: count what is written".to_owned();
    let author = Some("Jörg Müller, Ph.D. <joerg@example.org>".to_owned());
    let culprit = Candidate { name: "2/4".into(), title, author, ..Candidate::default() };
    Bisection {
        kind: Kind::Patches,
        question: Question::Metric { name: "pipe/round-trip".into(), worse_by: None, timed: false },
        first: End { name: "base".into(), state: measured(Point::First, "base", &[2_303.0; 3]) },
        last: End { name: "4/4".into(), state: measured(Point::Last, "4/4", &[2_500.0; 3]) },
        threshold: Some(Threshold { at: 2_401.5, above: true }),
        candidates: (1..5).map(|number| format!("{number}/4")).collect(),
        probabilities: vec![0.0, 1.0, 0.0, 0.0],
        states: vec![
            measured(Point::After(0), "1/4", &[2_303.0]),
            measured(Point::After(1), "2/4", &[2_499.0]),
        ],
        conclusion: Conclusion::Culprits { numbers: vec![1], candidates: vec![culprit], confidence: 1.0 },
        proof: vec![
            holds("just before it", false, measured(Point::After(0), "1/4", &[2_303.0; 3])),
            holds("with it", true, measured(Point::After(1), "2/4", &[2_499.0, 2_499.0, 2_501.0])),
            Check {
                what: "the bad end without it".into(),
                tested: None,
                expected: false,
                state: None,
                untried: Some("patch 3/4 does not apply without it".into()),
                objection: None,
                holds: false,
            },
        ],
        steps: Steps { taken: 2, rounds: 1, runs: 14, reused: 0, expected: 2.0, worst: 2 },
        rate: Rate { mean: 1.0, interval: (1.0, 1.0), always: true, decided_at_boot: None },
        notes: Vec::new(),
        reproduce: vec!["kiln measure ./series/2 --metric pipe/round-trip".into()],
        ..commit()
    }
}

/// Two options that only together keep a kernel from booting.
pub(crate) fn together() -> Bisection {
    let names: Vec<String> =
        ["CONFIG_KASAN=y", "CONFIG_NUMA=n", "CONFIG_SLUB_DEBUG=y", "CONFIG_VMAP_STACK=n"]
            .map(str::to_owned)
            .into();
    let one = |number: usize| Candidate { name: names[number].clone(), ..Candidate::default() };
    let panicked = |point, name: &str| {
        let report = KernelReport {
            title: "Kernel panic: stack guard page was hit".into(),
            kind: judge::kernel_report::Kind::Panic,
            lines: Vec::new(),
        };
        let run = Run {
            case: "boot".into(),
            reason: report.title.clone(),
            kernel_reports: vec![report],
            outcome: Outcome::Crash,
            ..failed()
        };
        let mut state = state(point, name, 3, 0);
        state.evidence.run = Some(Box::new(run));
        state
    };
    Bisection {
        kind: Kind::Options,
        question: Question::Boot,
        first: End { name: "defconfig".into(), state: state(Point::First, "defconfig", 0, 3) },
        last: End { name: "my.config".into(), state: panicked(Point::Last, "my.config") },
        probabilities: vec![0.49, 0.0, 0.0, 0.51],
        states: vec![state(Point::With(vec![0]), "CONFIG_KASAN=y alone", 0, 3)],
        conclusion: Conclusion::Culprits {
            numbers: vec![0, 3],
            candidates: vec![one(0), one(3)],
            confidence: 0.998,
        },
        proof: vec![
            holds("both of them", true, panicked(Point::With(vec![0, 3]), "defconfig with both")),
            holds("without CONFIG_KASAN=y", false, state(Point::Without(0), "my.config without KASAN", 0, 3)),
        ],
        reproduce: Vec::new(),
        candidates: names,
        ..commit()
    }
}

/// One parameter of four that suffices and is not needed.
pub(crate) fn one_of_two(fixed: bool) -> Bisection {
    let names: Vec<String> =
        ["aaa=1", "bbb=2 instead of bbb=1", "no ccc=1", "no ddd=1"].map(str::to_owned).into();
    let (bad, good) = if fixed { (0, 14) } else { (14, 0) };
    let alone = state(Point::With(vec![0]), "host with aaa=1", bad, good);
    let rest = state(Point::With(vec![1, 2, 3]), "host with bbb=2", bad, good);
    let first = state(Point::First, "host with bbb=1 ccc=1 ddd=1", good, bad);
    let last = state(Point::Last, "host with aaa=1 bbb=2", bad, good);
    let culprit = Candidate { name: names[0].clone(), ..Candidate::default() };
    Bisection {
        kind: Kind::Parameters,
        fixed,
        first: End { name: first.name.clone(), state: first },
        last: End { name: last.name.clone(), state: last },
        probabilities: vec![0.999, 0.001, 0.0, 0.0],
        states: Vec::new(),
        conclusion: Conclusion::Culprits { numbers: vec![0], candidates: vec![culprit], confidence: 0.999 },
        proof: vec![
            holds("the parameter alone", !fixed, alone),
            Check { holds: false, ..holds("the last end without aaa=1", fixed, rest) },
        ],
        candidates: names,
        ..commit()
    }
}

/// One parameter of four whose absence does it.
pub(crate) fn absence(fixed: bool) -> Bisection {
    let mut bisection = one_of_two(fixed);
    let name = bisection.candidates[3].clone();
    let (bad, good) = if fixed { (14, 0) } else { (0, 14) };
    bisection.proof[0].state = Some(state(Point::With(vec![3]), "host with bbb=1 ccc=1", good, bad));
    let check = &mut bisection.proof[1];
    (check.what, check.holds) = (format!("the last end without {name}"), true);
    check.tested = Some(Checked::LastWithout(3));
    check.state = Some(state(Point::With(vec![0, 1, 2]), "host with aaa=1 bbb=2 ddd=1", bad, good));
    bisection.proof[0].tested = Some(Checked::Alone);
    let removes = Some("ddd=1".to_string());
    let candidates = vec![Candidate { name, removes, ..Candidate::default() }];
    bisection.conclusion = Conclusion::Culprits { numbers: vec![3], candidates, confidence: 0.999 };
    bisection
}

/// Commits around one that does not build.
pub(crate) fn suspects() -> Bisection {
    let one = |number: usize| Candidate {
        name: hash(number),
        title: format!("ovl: part {number}"),
        author: Some("Ada Lovelace <ada@example.org>".into()),
        ..Candidate::default()
    };
    let mut bisection = commit();
    bisection.states = vec![
        state(Point::After(3), &hash(3), 0, 3),
        untestable(Point::After(4), &hash(4)),
        untestable(Point::After(5), &hash(5)),
        state(Point::After(6), &hash(6), 3, 0),
    ];
    bisection.probabilities = vec![0.0; 12];
    bisection.probabilities[4..7].fill(0.333);
    bisection.conclusion = Conclusion::Suspects {
        numbers: vec![4, 5, 6],
        candidates: (4..7).map(one).collect(),
        confidence: 0.997,
    };
    bisection.proof = Vec::new();
    bisection
}

/// What was seen cannot be.
pub(crate) fn contradiction() -> Bisection {
    let mut bisection = commit();
    bisection.conclusion = Conclusion::Contradiction {
        why: "it shows at 3 of 3 runs of one commit and at none of its child, which contains it".into(),
    };
    bisection.proof = vec![Check {
        holds: false,
        ..holds("just before it", false, state(Point::After(5), &hash(5), 2, 12))
    }];
    bisection
}

/// One of these while its next state is tested.
pub(crate) fn going_on(bisection: Bisection) -> Underway {
    let Bisection { kind, question, fixed, first, last, threshold, candidates, states, .. } = bisection;
    let name = first.name.clone();
    let since = "2026-11-20T10:07:31Z".parse().unwrap();
    let testing = vec![Testing { name, times: 20, purpose: Purpose::Search, since }];
    let belief = Belief {
        probabilities: bisection.probabilities,
        steps: 3,
        steps_left: 1.84,
        time_left: Duration::from_secs(312),
        rate: (0.21, false),
    };
    let belief = Some(belief);
    let ends = [first.name, last.name];
    Underway { kind, question, fixed, ends, candidates, threshold, states, testing, belief }
}

/// Nothing is known but that nothing is.
pub(crate) fn empty() -> Bisection {
    let bare = |point| StateReport { evidence: Evidence::default(), ..state(point, "", 0, 0) };
    Bisection {
        first: End { name: String::new(), state: bare(Point::First) },
        last: End { name: String::new(), state: bare(Point::Last) },
        candidates: Vec::new(),
        probabilities: Vec::new(),
        states: Vec::new(),
        proof: Vec::new(),
        conclusion: Conclusion::Contradiction { why: String::new() },
        rate: Rate::default(),
        steps: Steps::default(),
        notes: Vec::new(),
        reproduce: Vec::new(),
        ..commit()
    }
}

/// `bisection` with `evil` in the place of every text that comes from outside.
pub(crate) fn poisoned(mut bisection: Bisection, evil: &str) -> Bisection {
    let poison = |state: &mut StateReport| {
        state.name = evil.into();
        state.untestable = state.untestable.as_ref().map(|_| evil.into());
        state.evidence.release = Some(evil.into());
        state.evidence.command = evil.into();
        state.evidence.lines = vec![evil.into(); 2];
        for run in state.evidence.run.iter_mut() {
            (run.case, run.reason, run.output) = (evil.into(), evil.into(), evil.into());
            run.evidence = vec![evil.into()];
            run.log.iter_mut().for_each(|record| record.text = format!("{evil}{}", record.text));
        }
    };
    let ends = [&mut bisection.first, &mut bisection.last];
    for end in ends {
        end.name = evil.into();
        poison(&mut end.state);
    }
    bisection.states.iter_mut().for_each(poison);
    for check in &mut bisection.proof {
        check.what = evil.into();
        check.untried = check.untried.as_ref().map(|_| evil.into());
        check.state.iter_mut().for_each(poison);
    }
    match &mut bisection.conclusion {
        Conclusion::Culprits { candidates, .. } | Conclusion::Suspects { candidates, .. } => {
            for candidate in candidates {
                (candidate.name, candidate.title) = (evil.into(), evil.into());
                candidate.author = Some(format!("{evil} <ada@example.org>"));
                (candidate.date, candidate.files) = (Some(evil.into()), vec![evil.into(); 3]);
                candidate.changes = Changes {
                    since: evil.into(),
                    stable: vec![evil.into(); 2],
                    entries: vec![evil.into(); 40],
                    omitted: 1,
                };
            }
        }
        Conclusion::Contradiction { why } => *why = evil.into(),
    }
    bisection.question = match bisection.question {
        Question::Metric { timed, worse_by, .. } => Question::Metric { name: evil.into(), worse_by, timed },
        Question::Boot => Question::Log(evil.into()),
        _ => Question::Case(evil.into()),
    };
    bisection.candidates.iter_mut().for_each(|name| *name = evil.into());
    bisection.notes = vec![evil.into()];
    bisection.reproduce = vec![evil.into()];
    bisection
}

/// All of them.
pub(crate) fn all() -> Vec<Bisection> {
    vec![
        commit(),
        fixed(),
        metric(),
        together(),
        suspects(),
        contradiction(),
        empty(),
        one_of_two(false),
        one_of_two(true),
        absence(false),
    ]
}
