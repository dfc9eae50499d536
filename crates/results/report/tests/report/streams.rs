//! Sessions at random.

use std::time::Duration;

use judge::{Blame, Outcome, Run};
use lab::Event;
use proptest::prelude::*;
use protocol::{Counts, Report, ReportKind};

use crate::sessions::{events, run, session, standing};

/// A session of up to a dozen cases that ended early, was interrupted or lost its machine.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    pub(crate) cases: Vec<String>,
    pub(crate) runs: Vec<Run>,
    pub(crate) interrupted: bool,
    pub(crate) boot_failed: bool,
}

impl Stream {
    pub(crate) fn events(&self) -> Vec<Event> {
        let cases: Vec<_> = self.cases.iter().map(String::as_str).collect();
        let mut runs = self.runs.clone();
        if self.boot_failed {
            runs.push(run("boot", Outcome::Crash, "ok 1 fake\n# SKIP"));
        }
        events(session("random", &cases), runs, self.interrupted)
    }
}

/// Text as guests like to send it to a reader of KTAP, XML or a terminal.
fn text() -> impl Strategy<Value = String> {
    let nasty = [
        "",
        "#",
        " # SKIP ",
        "\n",
        "\nok 1 x\n",
        "Bail out!",
        "KTAP version 1",
        "1..3",
        "\x1b[2J",
        "\u{9b}",
        "]]>",
        "&<\"",
        "\u{ffff}",
        "Subtest: x",
        "not ok 2",
        "- ",
        "/",
    ];
    let piece = prop_oneof![
        prop::sample::select(nasty.to_vec()).prop_map(str::to_string),
        "[a-z]{1,3}",
        any::<String>()
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// Few areas and names, so that they repeat and interleave.
fn name() -> impl Strategy<Value = String> {
    let name = prop_oneof![4 => "[a-c]".prop_map(String::from), 1 => text()];
    (prop::option::weighted(0.8, "[pq#]"), name).prop_map(|(area, name)| match area {
        Some(area) => format!("{area}/{name}"),
        None => name,
    })
}

fn outcome() -> impl Strategy<Value = (Outcome, Option<Blame>)> {
    let blames = [Blame::Case, Blame::Machine, Blame::Host, Blame::Kiln];
    (prop::sample::select(Outcome::ALL.to_vec()), prop::sample::select(blames.to_vec()))
        .prop_map(|(outcome, blame)| (outcome, (outcome == Outcome::Broken).then_some(blame)))
}

prop_compose! {
    fn a_run()(case in name(), (outcome, blame) in outcome(), reason in text(), lines in prop::collection::vec(text(), 0..4),
               output in text(), ms in 0..100_000_u64, fail in 0..3_u32,
               repeats in prop::collection::vec((outcome(), text()), 0..4)) -> Run {
        let repeats: Vec<_> = repeats.iter().map(|((outcome, _), reason)| (*outcome, reason.as_str())).collect();
        let run = Run {
            blame,
            duration: Duration::from_millis(ms),
            counts: Counts { fail, ..Counts::default() },
            reports: lines.iter().map(|text| Report { kind: ReportKind::Fail, text: text.clone() }).collect(),
            evidence: lines,
            output,
            ..run(&case, outcome, &reason)
        };
        standing(run, &repeats)
    }
}

prop_compose! {
    pub(crate) fn stream()(runs in prop::collection::vec(a_run(), 0..12))
        (order in Just(runs.clone()).prop_shuffle(), finished in 0..=runs.len(), orderly in any::<bool>(),
         interrupted in any::<bool>(), boot_failed in any::<bool>(), runs in Just(runs)) -> Stream {
        let cases: Vec<_> = runs.iter().map(|run| run.case.clone()).collect();
        let mut done = if orderly { runs } else { order };
        done.truncate(finished);
        Stream { boot_failed: boot_failed && !cases.contains(&"boot".to_string()), cases, runs: done, interrupted }
    }
}
