//! A case that was run more than once.

use std::time::Duration;

use judge::run::Repeat;
use judge::{Outcome, Run};
use lab::{Event, Listener};
use ledger::Recorder;
use protocol::KernelRecord;

fn run(clone: u32, outcome: Outcome) -> Run {
    let text = format!("in clone {clone}");
    let log = vec![KernelRecord { sequence: 1, time_us: 5, level: 6, text }];
    Run { case: "pipe/full".into(), clone, outcome, log, ..Run::unstarted() }
}

#[test]
fn each_run_is_kept_and_logged_once() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(root.path(), "t").unwrap();
    let runs = [run(1, Outcome::Pass), run(2, Outcome::Fail), run(3, Outcome::Pass)];
    for run in &runs {
        recorder.on_event(&Event::Started { case: run.case.clone(), clone: run.clone });
        recorder.on_event(&Event::Repeated(Box::new(run.clone())));
    }
    let repeats = runs.iter().map(|run| Repeat {
        outcome: run.outcome,
        reason: String::new(),
        duration: Duration::ZERO,
        boot: run.boot,
        clone: run.clone,
        seed: 0,
    });
    let standing = Run { repeats: repeats.collect(), ..runs[1].clone() };
    recorder.on_event(&Event::Finished(Box::new(standing.clone())));
    let folder = recorder.directory().to_path_buf();
    recorder.finish().unwrap();

    let log = std::fs::read_to_string(folder.join("kernel.log")).unwrap();
    let logged: Vec<_> = log.lines().filter_map(|line| line.split("<6> ").nth(1)).collect();
    assert_eq!(logged, ["in clone 1", "in clone 2", "in clone 3"]);
    let kept = |name: &str| -> Run {
        serde_json::from_str(&std::fs::read_to_string(folder.join("cases/pipe").join(name)).unwrap()).unwrap()
    };
    assert_eq!(kept("full.json"), standing);
    assert_eq!(["full.1.json", "full.2.json", "full.3.json"].map(kept), runs);
}
