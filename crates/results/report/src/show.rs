//! What `kiln show` prints: all that is known of a Run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use judge::Run;
use judge::run::stamp;
use lab::event::Session;
use lab::request::words::call;
use script::Figure;
use serde::Serialize;

use crate::evidence::collect;
use crate::json::document;
use crate::repeats::repeats;
use crate::safe::{safe, safe_line};
use crate::style::{BOLD, DIM, Paint, of};
use crate::words::{kernel, seconds, why};

/// Columns of what a line is about.
const LABEL: usize = 9;

/// A Run that was kept, with what is around it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shown<'a> {
    /// Its session.
    pub session: &'a Session,
    /// The Run.
    pub run: &'a Run,
    /// What its experiment recorded.
    pub figures: &'a [Figure],
    /// By which `kiln replay` finds it.
    pub name: &'a str,
    /// The folder of the session.
    pub folder: &'a Path,
    /// Files in it that are about the Run.
    pub files: &'a [PathBuf],
}

impl Shown<'_> {
    /// Prints it for people.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn text(&self, colour: bool, mut out: impl Write) -> io::Result<()> {
        let paint = Paint { colour };
        let run = self.run;
        let outcome = paint.paint(of(run.outcome), run.outcome.name());
        writeln!(out, "{outcome}: {}", paint.paint(BOLD, &safe_line(&run.case)))?;
        for line in [safe_line(&run.about), why(run)].iter().filter(|line| !line.is_empty()) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        for (label, text) in self.facts().iter().filter(|(_, text)| !text.is_empty()) {
            writeln!(out, "{}  {}", paint.paint(DIM, &format!("{label:LABEL$}")), safe_line(text))?;
        }
        for (title, lines) in self.parts().iter().filter(|(_, lines)| !lines.is_empty()) {
            writeln!(out, "\n{}", paint.paint(DIM, title))?;
            for line in lines {
                writeln!(out, "  {}", line.trim_end())?;
            }
        }
        out.flush()
    }

    /// Prints it for programs.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn json(&self, out: impl Write) -> io::Result<()> {
        document(self, out)
    }

    fn facts(&self) -> [(&'static str, String); 13] {
        let Self { session, run, name, folder, files, .. } = self;
        let place = match (run.boot, run.clone) {
            (0, _) => String::new(),
            (boot, 0) => format!(", in boot {boot}"),
            (boot, clone) => format!(", in clone {clone} of boot {boot}"),
        };
        // Sessions of earlier versions do not say it.
        let is_known = session.origin.is_none() && !session.command.is_empty();
        let command = if is_known { call(&session.command) } else { String::new() };
        // What another host ran is a stranger's, and nothing to be pasted.
        let (host, repeat) = match &session.origin {
            Some(origin) => (format!("{}, as {}", origin.host, origin.session), String::new()),
            None => (String::new(), call(&["replay".to_owned(), (*name).to_owned()])),
        };
        [
            ("kernel", kernel(session)),
            ("source", session.provenance.clone()),
            ("locator", session.kernel.clone()),
            ("machine", session.machine.clone()),
            ("run on", host),
            ("suite", session.suite.clone()),
            (
                "began",
                format!("{}, kiln {}", session.started.strftime("%Y-%m-%d %H:%M:%S UTC"), session.kiln),
            ),
            ("took", format!("{}{place}", seconds(run.duration))),
            ("Runs", repeats(run).unwrap_or_default()),
            ("command", command),
            ("repeat", repeat),
            ("folder", folder.display().to_string()),
            ("files", files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")),
        ]
    }

    /// All texts of it, the most telling first.
    fn parts(&self) -> [(&'static str, Vec<String>); 5] {
        let run = self.run;
        // What stands below as a whole shows nothing twice.
        let is_short = |(label, _): &(&str, String)| !["log", "output", "note"].contains(label);
        let evidence = collect(run, usize::MAX).lines.into_iter().filter(is_short);
        let lines = |text: &str| safe(text).lines().map(str::to_owned).collect::<Vec<_>>();
        let record =
            |record: &protocol::KernelRecord| format!("{} {}", stamp(record), safe_line(&record.text));
        [
            ("evidence", evidence.map(|(label, line)| format!("{label:LABEL$} {line}")).collect()),
            (
                "figures",
                self.figures.iter().map(|it| format!("{} {}", safe_line(&it.name), it.value)).collect(),
            ),
            ("output", lines(&run.output)),
            ("kernel log", run.log.iter().map(record).collect()),
            ("notes", run.notes.iter().map(|note| safe_line(note)).collect()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use judge::Outcome;
    use protocol::KernelRecord;

    use super::*;

    fn session() -> Session {
        let document = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": "deb:6.1.0-47-amd64", "kernel": "deb:6.1.0-47-amd64",
            "provenance": "Debian 6.1.147-1", "release": "6.1.0-47-amd64", "identity": "x", "machine": "QEMU with TCG, 1 CPU, 1024 MiB",
            "suite": "smoke", "cases": ["pipe/full"], "command": ["run", "deb:6.1.0-47-amd64", "--case", "pipe/*"]}"#;
        serde_json::from_str(document).unwrap()
    }

    fn run() -> Run {
        let record =
            |text: &str| KernelRecord { sequence: 1, time_us: 2_500_000, level: 6, text: text.to_owned() };
        Run {
            case: "pipe/full".to_owned(),
            about: "a full pipe blocks its writer".to_owned(),
            outcome: Outcome::Fail,
            reason: "is 0, expected 4096".to_owned(),
            evidence: vec!["pipe.rs:12".to_owned()],
            duration: Duration::from_millis(1500),
            boot: 1,
            clone: 3,
            output: "one\ntwo \u{1b}[31m\n".to_owned(),
            log: vec![record("pipe: \u{202e}full")],
            notes: vec!["left /tmp/x".to_owned()],
            ..Run::unstarted()
        }
    }

    fn shown(json: bool) -> String {
        let (session, run) = (session(), run());
        let figures = [Figure { name: "left".to_owned(), value: 2.5 }];
        let name = "2026-11-20T10-00-00Z-7/pipe/full";
        let (folder, files) = (
            Path::new("/state/2026-11-20T10-00-00Z-7"),
            ["cases/pipe/full.json".into(), "kernel.log".into()],
        );
        let shown = Shown { session: &session, run: &run, figures: &figures, name, folder, files: &files };
        let mut out = Vec::new();
        if json {
            shown.json(&mut out).unwrap();
        } else {
            shown.text(false, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_that_is_known_stands_below_the_verdict() {
        insta::assert_snapshot!(shown(false));
    }

    #[test]
    fn programs_get_the_run_and_its_session() {
        let text = shown(true);
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["run"]["outcome"], "fail");
        assert_eq!((&read["session"]["suite"], &read["figures"][0]["value"]), (&"smoke".into(), &2.5.into()));
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }
}
