use std::time::Duration;

use judge::kernel_report::{KernelReport, Kind};
use judge::{Outcome, Run};
use lab::event::{Origin, Session};
use protocol::KernelRecord;

use super::*;

fn session() -> Session {
    let document = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": "deb:6.1.0-47-amd64", "kernel": "deb:6.1.0-47-amd64",
        "provenance": "Debian 6.1.147-1", "release": "6.1.0-47-amd64", "identity": "x", "machine": "QEMU with TCG, 1 CPU, 1024 MiB",
        "suite": "smoke", "cases": ["pipe/full", "pipe/size", "pipe/fifo"], "command": ["run", "deb:6.1.0-47-amd64", "--case", "pipe/*"]}"#;
    serde_json::from_str(document).unwrap()
}

fn passed() -> Run {
    Run { case: "pipe/size".to_owned(), outcome: Outcome::Pass, reason: String::new(), ..Run::unstarted() }
}

fn crashed() -> Run {
    let record =
        |sequence, text: &str| KernelRecord { sequence, time_us: 2_500_000, level: 4, text: text.to_owned() };
    Run {
        case: "pipe/full".to_owned(),
        about: "a full pipe blocks its writer".to_owned(),
        outcome: Outcome::Crash,
        reason: "BUG: <script>alert(1)</script>".to_owned(),
        kernel_reports: vec![KernelReport {
            kind: Kind::Bug,
            title: "BUG: <script>alert(1)</script>".to_owned(),
            lines: vec!["RIP: 0010:pipe_write+0x1/0x2".to_owned()],
        }],
        duration: Duration::from_millis(1500),
        output: "one\n\u{1b}[31mtwo\n".to_owned(),
        log: vec![record(1, "pipe: begins"), record(2, "RIP: 0010:pipe_write+0x1/0x2")],
        notes: vec!["left /tmp/x".to_owned()],
        ..Run::unstarted()
    }
}

fn shown(session: &Session, runs: &[Run], took: Option<Duration>) -> String {
    SessionPage { session, runs, figures: &[], name: "2026-11-20T10-00-00Z-7", took }.page().into_file()
}

#[test]
fn the_verdict_comes_first_and_evidence_stands_out() {
    let page = shown(&session(), &[crashed(), passed()], Some(Duration::from_secs(75)));
    let title = "<title>smoke on deb:6.1.0-47-amd64 (6.1.0-47-amd64): 1 crash, 1 pass, 1 not run</title>";
    assert!(page.contains(title), "{page}");
    assert!(page.contains("kiln run deb:6.1.0-47-amd64 <span class=\"option\">--case"), "{page}");
    assert!(page.contains("kiln replay 2026-11-20T10-00-00Z-7/pipe/full"), "{page}");
    assert!(page.contains("<strong>RIP: 0010:pipe_write+0x1/0x2</strong>"), "{page}");
    assert!(page.contains("href=\"#run-0\">pipe/full</a>") && page.contains("id=\"run-0\""), "{page}");
    assert!(!page.contains("did not come to its end"), "{page}");
}

#[test]
fn nothing_of_a_guest_is_markup() {
    let page = shown(&session(), &[crashed()], None);
    assert!(!page.contains("<script>alert") && !page.contains('\u{1b}'), "{page}");
    assert!(page.contains("did not come to its end"), "{page}");
}

#[test]
fn nothing_of_a_strangers_session_is_to_be_pasted() {
    let origin = Some(Origin { host: "far".to_owned(), session: "2026".to_owned() });
    let page = shown(&Session { origin, ..session() }, &[crashed()], None);
    assert!(page.contains("far, as 2026") && !page.contains("kiln replay"), "{page}");
}

#[test]
fn a_session_with_endless_outputs_has_a_bounded_page() {
    let run = || Run { output: "x".repeat(256 << 10), ..crashed() };
    let page = shown(&session(), &(0..20).map(|_| run()).collect::<Vec<_>>(), None);
    assert!(page.len() < 4 << 20, "{}", page.len());
    assert!(page.contains("are left out: the page would be too large"));
}
