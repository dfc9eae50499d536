//! Comparisons and measurements that are written down.

use std::time::Duration;

use jiff::Timestamp;
use judge::Outcome;
use measure::{
    Boot, Detail, Function, Kind, Measurement, Metric, NotMeasured, OwnUnit, Subject, Unit, Value,
};
use verdict::{
    Against, Change, Comparison, Ended, Ground, Missing, Noise, Row, Runs, Side, Steadiness, Verdict, Why,
};

pub(crate) fn subject(release: &str) -> Subject {
    Subject {
        label: format!("deb:{release}"),
        locator: format!("deb:{release}"),
        kernel: format!("deb:{release}@6.1.{}", release.len()),
        provenance: "Debian, linux-image, snapshot of 2026-11-16".into(),
        release: release.into(),
        identity: format!(
            "{:016x}",
            release.bytes().map(u64::from).fold(7_u64, |sum, byte| sum.wrapping_mul(31) + byte)
        ),
        parameters: "console=ttyS0 nokaslr norandmaps randomize_kstack_offset=off".into(),
        machine: "QEMU 7.2 with TCG, counted, 1 CPU, 512 MB".into(),
        size: None,
        warnings: None,
    }
}

/// A side with the medians of its boots and the range of all repetitions.
pub(crate) fn side(boots: &[f64], min: f64, max: f64) -> Side {
    let mut sorted = boots.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(boots.len() / 2).copied().unwrap_or(min);
    Side { min, median, max, boots: boots.to_vec(), apart: None }
}

/// A row of three boots that were the same.
pub(crate) fn counted(metric: &str, base: f64, new: f64, verdict: Verdict) -> Row {
    let point = |value: f64| Side {
        apart: Some((120, (value as u64).saturating_sub(120))),
        ..side(&[value; 3], value, value)
    };
    let is_certain = matches!(verdict, Verdict::Worse | Verdict::Better);
    Row {
        metric: metric.into(),
        about: format!("What {metric} does, once"),
        unit: Unit::Instructions,
        base: point(base),
        new: point(new),
        difference: new - base,
        percent: (base != 0.0).then(|| 100.0 * (new - base) / base),
        interval: None,
        p: None,
        verdict,
        steadiness: Some(Steadiness::Constant),
        ground: is_certain.then_some(Ground::Code),
        why: None,
    }
}

fn change(function: &str, base: Option<u64>, new: Option<u64>) -> Change {
    Change { function: function.into(), base, new }
}

pub(crate) fn why() -> Why {
    Why {
        functions: vec![
            change("ext4_create [ext4]", Some(1_200), Some(1_320)),
            change("security_inode_init_security", None, Some(45)),
            change("ext4_mark_inode_dirty [ext4]", Some(310), Some(277)),
            change("fsnotify_create", Some(30), None),
        ],
        explained: 102,
        unexplained: 0,
        stacks: [
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_openat;do_filp_open;path_openat;ext4_create [ext4]", 1_200, 1_320),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_openat;do_filp_open;path_openat;ext4_create [ext4];ext4_mark_inode_dirty [ext4]", 310, 277),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_openat;do_filp_open;path_openat;ext4_create [ext4];security_inode_init_security", 0, 45),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_openat;do_filp_open;path_openat;fsnotify_create", 30, 0),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_openat;do_filp_open;path_openat", 9_800, 9_800),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_openat;getname_flags", 2_400, 2_400),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_unlink;do_unlinkat", 8_300, 8_300),
            ("entry_SYSCALL_64;do_syscall_64;__x64_sys_unlink;do_unlinkat;ext4_unlink [ext4]", 3_497, 3_497),
        ]
        .map(|(stack, base, new)| (stack.to_owned(), base, new))
        .to_vec(),
    }
}

fn missing(metric: &str, base: Option<&str>, new: Option<&str>) -> Missing {
    let side = |reason: Option<&str>| {
        reason.map(|reason| NotMeasured { outcome: Outcome::Skip, reason: reason.to_owned() })
    };
    Missing { metric: metric.into(), base: side(base), new: side(new) }
}

/// Two package kernels, with functions and with figures that were not the same each time.
pub(crate) fn exact() -> Comparison {
    let mut create = counted("fs/ext4-create-unlink", 25_537.0, 25_639.0, Verdict::Worse);
    create.why = Some(why());
    let mut fork = counted("process/fork", 88_120.0, 88_121.0, Verdict::Same);
    fork.base = side(&[88_120.0, 88_120.0, 88_122.0], 88_100.0, 91_000.0);
    let mut pipe = counted("pipe/round-trip", 2_303.0, 2_311.0, Verdict::Worse);
    pipe.new = side(&[2_311.0, 2_311.0, 2_315.0], 2_311.0, 2_460.0);
    for varying in [&mut fork, &mut pipe] {
        varying.steadiness = Some(Steadiness::Varying);
    }
    let switches =
        Row { unit: Unit::Count, ..counted("pipe/round-trip:context-switches", 200.0, 200.0, Verdict::Same) };
    let rows = vec![
        create,
        counted("unix/round-trip", 4_261.0, 4_277.0, Verdict::Worse),
        pipe,
        counted("fs/open-close", 5_732.0, 5_722.0, Verdict::Better),
        counted("boot/user-space", 1_933_201_877.0, 1_933_180_004.0, Verdict::Better),
        counted("syscall/getppid", 327.0, 327.0, Verdict::Same),
        fork,
        switches,
    ];
    let missing = vec![
        missing("io_uring/nop", Some("needs CONFIG_IO_URING"), Some("needs CONFIG_IO_URING")),
        missing("io_uring/read", Some("needs CONFIG_IO_URING"), Some("needs CONFIG_IO_URING")),
        missing("bpf/run", None, Some("bpf(2) gives EPERM")),
    ];
    Comparison {
        kind: Kind::Exact,
        base: subject("6.1.0-47-cloud-amd64"),
        others: vec![Against { subject: subject("6.1.0-56-cloud-amd64"), rows, missing, runs: None }],
        noise: None,
        notes: vec!["6.1.0-56-cloud-amd64: one repetition of mm/fault was left out in each boot".into()],
    }
}

fn timed_row(metric: &str, base: f64, new: f64, verdict: Verdict) -> Row {
    // Boots that lie around their median as boots do: many near, few far.
    let spread = [-0.021, -0.008, -0.004, -0.002, -0.001, 0.0, 0.001, 0.003, 0.004, 0.011, 0.034];
    let around = |median: f64, turn: f64| {
        let boots: Vec<f64> = spread.iter().map(|part| (median * (1.0 + part * turn)).round()).collect();
        side(&boots, (median * 0.97).round(), (median * 14.0).round())
    };
    Row {
        unit: Unit::Nanoseconds,
        base: around(base, 1.0),
        new: around(new, -0.8),
        steadiness: None,
        ground: None,
        ..counted(metric, base, new, verdict)
    }
}

/// Times of the same kernels.
pub(crate) fn timed() -> Comparison {
    let rows = vec![
        Row {
            interval: Some((1.9, 3.6)),
            p: Some(0.000_4),
            ..timed_row("unix/round-trip", 4_261.0, 4_377.0, Verdict::Worse)
        },
        Row {
            interval: Some((-0.4, 2.4)),
            p: Some(0.21),
            ..timed_row("process/fork", 88_120.0, 89_020.0, Verdict::Undecided)
        },
        Row {
            interval: Some((-3.1, -1.7)),
            p: Some(0.012),
            ..timed_row("fs/open-close", 1_732.0, 1_690.0, Verdict::Better)
        },
        Row {
            interval: Some((-0.1, 0.5)),
            p: Some(0.81),
            ..timed_row("syscall/getppid", 52.3, 52.4, Verdict::Same)
        },
    ];
    let noise = Noise {
        measured: Timestamp::from_second(1_795_168_800).unwrap(),
        false_alarms: 0.012,
        comparisons: 1_120,
        floor: 0.8,
    };
    let mut comparison = exact();
    comparison.kind = Kind::Timed;
    comparison.noise = Some(noise);
    comparison.others[0].rows = rows;
    comparison.others[0].missing.clear();
    comparison.notes = vec!["2 of 44 boots were left out: another guest ran beside them".into()];
    comparison
}

/// An experiment on the same kernels, which fails on one of them.
pub(crate) fn recorded() -> Comparison {
    let own = |name: &str, more_is_better, is_timed| {
        Unit::Own(OwnUnit { name: name.to_owned(), more_is_better, is_timed })
    };
    let boots = |values: &[f64]| {
        let ends = |value: f64, other: &f64| (value.min(*other), value.max(*other));
        let (min, max) = values
            .iter()
            .fold((values[0], values[0]), |(low, high), value| (ends(low, value).0, ends(high, value).1));
        side(values, min, max)
    };
    let mut speed = Row {
        unit: own("Mbit/s", true, true),
        base: boots(&[941.25, 940.5, 942.0, 941.0, 941.5]),
        new: boots(&[871.5, 869.25, 870.0, 871.0, 870.5]),
        difference: -70.65,
        percent: Some(-7.5),
        interval: Some((-7.8, -7.2)),
        p: Some(0.048),
        steadiness: None,
        ground: None,
        ..counted("throughput", 941.25, 870.5, Verdict::Worse)
    };
    speed.about = "Does TCP survive?".to_owned();
    let left = Row {
        unit: own("files", false, false),
        base: boots(&[3.0; 5]),
        new: boots(&[4.0; 5]),
        p: Some(0.048),
        ground: Some(Ground::Boots),
        ..counted("left behind", 3.0, 4.0, Verdict::Worse)
    };
    let wait = Row {
        unit: own("s", false, true),
        base: boots(&[0.000_25, 0.000_26, 0.000_25, 0.000_27, 0.000_25]),
        new: boots(&[0.000_25, 0.000_25, 0.000_26, 0.000_24, 0.000_25]),
        interval: Some((-9.1, 4.2)),
        steadiness: None,
        ..counted("wait", 0.000_25, 0.000_25, Verdict::Undecided)
    };
    let runs = Runs {
        base: Ended { pass: 5, ..Ended::default() },
        new: Ended {
            pass: 2,
            fail: 2,
            crash: 1,
            reason: Some("expected: nothing is left".to_owned()),
            ..Ended::default()
        },
        p: Some(1.0),
        verdict: Verdict::Undecided,
    };
    let mut comparison = exact();
    comparison.kind = Kind::Recorded;
    comparison.others[0].rows = vec![left, speed, wait];
    comparison.others[0].missing = vec![missing("drops", None, Some("no run recorded it"))];
    comparison.others[0].runs = Some(runs);
    comparison.notes = vec!["the experiment lossy, in its short form: Does TCP survive?".into()];
    comparison
}

/// Three kernels.
pub(crate) fn several() -> Comparison {
    let mut comparison = exact();
    let rows = vec![counted("syscall/getppid", 327.0, 327.0, Verdict::Same)];
    comparison.others.push(Against {
        subject: subject("6.12.9-amd64"),
        rows,
        missing: Vec::new(),
        runs: None,
    });
    comparison
}

/// More rows than anybody reads, most of them small, some of them events.
pub(crate) fn many() -> Comparison {
    let mut comparison = exact();
    let rows = &mut comparison.others[0].rows;
    rows.push(Row {
        unit: Unit::Count,
        ..counted("fs/ext4-create-unlink:allocations", 3.0, 4.0, Verdict::Worse)
    });
    for index in 0..30 {
        let name = format!("file/operation-{index}");
        let new = if index < 3 { 10_012.0 } else { 10_004.0 };
        rows.push(Row { why: Some(why()), ..counted(&name, 10_000.0, new, Verdict::Worse) });
    }
    comparison
}

/// Nothing was asked for.
pub(crate) fn empty() -> Comparison {
    let mut comparison = exact();
    comparison.notes.clear();
    comparison.others[0].rows.clear();
    comparison.others[0].missing.clear();
    comparison
}

/// Nothing could be measured.
pub(crate) fn all_missing() -> Comparison {
    let mut comparison = exact();
    comparison.others[0].rows.clear();
    comparison.others[0].missing = (0..20)
        .map(|index| missing(&format!("fs/operation-{index}"), Some("the kernel has no ext4"), None))
        .chain([missing("syscall/none", None, None)])
        .collect();
    comparison
}

/// A comparison in which every text wants to do harm.
pub(crate) fn hostile() -> Comparison {
    let evil = |length: usize| {
        format!("<script>alert('1')</script>\"&\x1b[2J\x07\r\n\u{202e}{}", "é世x".repeat(length))
    };
    let bad = |subject: Subject| Subject {
        label: evil(3_000),
        locator: evil(0),
        release: evil(1),
        parameters: evil(3_000),
        ..subject
    };
    let mut comparison = exact();
    comparison.base = bad(comparison.base);
    comparison.notes = vec![evil(10)];
    let against = &mut comparison.others[0];
    against.subject = bad(against.subject.clone());
    let rows = std::mem::take(&mut against.rows);
    against.rows = rows
        .into_iter()
        .map(|mut row| {
            row.metric = evil(3_400);
            row.about = evil(5);
            for change in row.why.iter_mut().flat_map(|why| &mut why.functions) {
                change.function = evil(3_400);
            }
            for (stack, ..) in row.why.iter_mut().flat_map(|why| &mut why.stacks) {
                *stack = evil(3_400);
            }
            Row { difference: f64::NAN, percent: Some(f64::INFINITY), ..row }
        })
        .collect();
    for missing in &mut against.missing {
        missing.metric = evil(2);
        missing.new = Some(NotMeasured { outcome: Outcome::Broken, reason: evil(3_000) });
    }
    comparison
}

fn metric(name: &str, values: &[(f64, f64, f64)], unit: Unit) -> Metric {
    let value = |(boot, (min, median, max)): (u32, &(f64, f64, f64))| Value {
        boot,
        min: *min,
        median: *median,
        max: *max,
        repetitions: 40,
        left_out: 1,
    };
    Metric {
        name: name.into(),
        about: format!("What {name} does, once"),
        unit,
        values: (0..).zip(values).map(value).collect(),
        samples: Vec::new(),
        not_measured: None,
        detail: None,
    }
}

/// Figures of one kernel.
pub(crate) fn measurement() -> Measurement {
    let point = |value: f64| [(value, value, value); 3];
    let function = Function { name: "pipe_write".into(), instructions: 310, calls: 2 };
    let detail = Detail { user: 214, kernel: 2_097, functions: vec![function], stacks: Vec::new() };
    let ring = Metric {
        not_measured: Some(NotMeasured { outcome: Outcome::Skip, reason: "needs CONFIG_IO_URING".into() }),
        ..metric("io_uring/nop", &[], Unit::Instructions)
    };
    let spread = [(2_311.0, 2_311.0, 2_460.0), (2_311.0, 2_311.0, 2_311.0), (2_311.0, 2_315.0, 2_320.0)];
    Measurement {
        subject: subject("6.1.0-56-cloud-amd64"),
        kind: Kind::Exact,
        procedure: String::new(),
        boots: (1..=3)
            .map(|seed| Boot { seed, took: Duration::from_millis(7_300), conditions: None, run: None })
            .collect(),
        code: std::collections::BTreeMap::new(),
        metrics: vec![
            metric("syscall/getppid", &point(327.0), Unit::Instructions),
            Metric { detail: Some(detail), ..metric("pipe/round-trip", &spread, Unit::Instructions) },
            metric("pipe/round-trip:context-switches", &point(2.0), Unit::Count),
            metric("pipe/round-trip:page-faults", &point(0.0), Unit::Count),
            metric("pipe/round-trip:syscalls", &point(4.0), Unit::Count),
            ring,
            metric("bpf/run", &[], Unit::Instructions),
        ],
        notes: vec!["ticks were left out".into()],
    }
}
