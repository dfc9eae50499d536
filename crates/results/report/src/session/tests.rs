use std::time::Duration;

use judge::kernel_report::{KernelReport, Kind};
use judge::{Outcome, Run};
use lab::event::{Origin, Session};
use machine::{Condition, Conditions};
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
    page(SessionPage { session, runs, figures: &[], hazards: None, name: "2026-11-20T10-00-00Z-7", took })
        .into_file()
}

fn as_markdown(session: &Session, runs: &[Run], wrap: Wrap) -> String {
    let took = Some(Duration::from_secs(75));
    let shown =
        SessionPage { session, runs, figures: &[], hazards: None, name: "2026-11-20T10-00-00Z-7", took };
    markdown::document(shown, wrap).into_file()
}

#[test]
fn markdown_says_what_the_page_says() {
    let markdown = as_markdown(&session(), &[crashed(), passed()], Wrap::None);
    let parts = [
        "# smoke on deb:6.1.0-47-amd64 (6.1.0-47-amd64): 1 crash, 1 pass, 1 not run\n\n```\nkiln run deb:6.1.0-47-amd64 --case 'pipe/*'\n```\n",
        "\n- kernel: deb:6.1.0-47-amd64 (6.1.0-47-amd64)\n- source: Debian 6.1.147-1\n",
        "\n## What went wrong\n\n### crash: `pipe/full`\n\na full pipe blocks its writer\n",
        "\nBUG: &lt;script&gt;alert(1)&lt;/script&gt;\n",
        "\n```\nkernel  RIP: 0010:pipe_write+0x1/0x2\n",
        "\nTo repeat it:\n\n```\nkiln replay 2026-11-20T10-00-00Z-7/pipe/full\n```\n",
        "\nOutput:\n\n```\none\ntwo\n```\n",
        "\nNote: left /tmp/x\n",
        "\n| `pipe/size` | pass | 0.000 s |  |\n",
    ];
    let mut rest = markdown.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} in order in\n{markdown}"));
        rest = &rest[at + part.len() - 1..];
    }
    assert!(!markdown.contains('\u{1b}'), "{markdown}");
}

#[test]
fn markdown_for_mails_is_narrow_but_for_what_cannot_be_broken() {
    let run = Run { about: "many words in a row ".repeat(20), output: String::new(), ..crashed() };
    let markdown = as_markdown(&session(), &[run, passed()], Wrap::Mail);
    let is_narrow = |line: &&str| line.chars().count() <= 72 || line.starts_with("# ");
    assert!(markdown.lines().all(|line| is_narrow(&line)), "{markdown}");
    assert!(markdown.contains("\ncase       outcome"), "{markdown}");
}

#[test]
fn nothing_of_a_strangers_session_is_to_be_pasted_from_markdown() {
    let origin = Some(Origin { host: "far".to_owned(), session: "2026".to_owned() });
    let markdown = as_markdown(&Session { origin, ..session() }, &[crashed()], Wrap::None);
    assert!(markdown.contains("- run on: far, as 2026\n") && !markdown.contains("kiln re"), "{markdown}");
    assert!(!markdown.contains("kiln run"), "{markdown}");
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

#[test]
fn hazards_are_shown_where_they_were_looked_for() {
    let hazards = Hazards::new(Conditions(vec![Condition::LockSpin(1000)]));
    let (session, runs) = (session(), [passed()]);
    let shown = SessionPage {
        session: &session,
        runs: &runs,
        figures: &[],
        hazards: Some(&hazards),
        name: "2026-11-20T10-00-00Z-7",
        took: Some(Duration::from_secs(1)),
    };
    let text = "no CPU waited for more than 1,000 passes of a loop";
    let page = page(shown).into_file();
    assert!(page.contains("Hazards</h2>") && page.contains(text), "{page}");
    let markdown = markdown::document(shown, Wrap::None).into_file();
    assert!(markdown.contains(&format!("\n## Hazards\n\n```\n{text}\n```\n")), "{markdown}");
}
