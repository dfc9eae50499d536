//! What `kiln show` prints: all that is known of a Run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::Style;
use judge::Run;
use judge::run::stamp;
use lab::event::Session;
use lab::request::words::call;
use ledger::{PastError, Wanted, short_name};
use protocol::KernelRecord;
use script::Figure;
use serde::Serialize;

use crate::evidence::collect;
use crate::hazard::Hazards;
use crate::json::document;
use crate::repeats::repeats;
use crate::safe::{safe, safe_line};
use crate::style::{BOLD, DIM, Paint, of};
use crate::words::{kernel, seconds, why};

/// Columns of what a line is about.
const LABEL: usize = 9;

/// A line about a Run, without anything that a terminal obeys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownLine {
    /// Its texts, each in one style.
    pub pieces: Vec<(Style, String)>,
    /// The kernel wrote it, and it belongs to a report on a defect.
    pub is_report: bool,
}

/// A Run that was kept, with what is around it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shown<'a> {
    /// Its session.
    pub session: &'a Session,
    /// The Run.
    pub run: &'a Run,
    /// What its experiment recorded.
    pub figures: &'a [Figure],
    /// Where its machine waited for too long, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hazards: Option<&'a Hazards>,
    /// By which `kiln replay` finds it.
    pub name: &'a str,
    /// The folder of the session.
    pub folder: &'a Path,
    /// Files in it that are about the Run.
    pub files: &'a [PathBuf],
}

/// A Run with all that is shown of it.
#[derive(Debug)]
pub struct KeptRun {
    session: Session,
    run: Run,
    figures: Vec<Figure>,
    hazards: Option<Hazards>,
    name: String,
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl KeptRun {
    /// Reads what is around a Run.
    ///
    /// # Errors
    ///
    /// When the document about its session cannot be read.
    pub fn read(Wanted { past, run }: Wanted) -> Result<Self, PastError> {
        let session = past.session()?;
        // Without them the Run says what there is to say.
        let figures = past.result().ok().flatten().map(|result| result.figures).unwrap_or_default();
        let folder = past.directory().to_owned();
        let name = format!("{}/{}", short_name(&folder), run.case);
        let inside = |path: PathBuf| path.strip_prefix(&folder).map(Path::to_owned).unwrap_or(path);
        let files = past.evidence(&run).into_iter().map(|(_, path)| inside(path)).collect();
        let hazards = Hazards::kept(&past, &session, Some(&run));
        Ok(Self { session, run, figures, hazards, name, folder, files })
    }

    /// To be printed.
    #[must_use]
    pub fn shown(&self) -> Shown<'_> {
        let Self { session, run, figures, hazards, name, folder, files } = self;
        Shown { session, run, figures, hazards: hazards.as_ref(), name, folder, files }
    }
}

impl Shown<'_> {
    /// Prints it for people.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn text(&self, colour: bool, mut out: impl Write) -> io::Result<()> {
        let paint = Paint { colour };
        for ShownLine { pieces, .. } in self.lines() {
            let line: String = pieces.iter().map(|(style, text)| paint.paint(*style, text)).collect();
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    /// The lines of what is printed for people.
    #[must_use]
    pub fn lines(&self) -> Vec<ShownLine> {
        let run = self.run;
        let outcome = (of(run.outcome), run.outcome.name().to_owned());
        let mut lines = vec![ShownLine::of(vec![outcome, plain(": "), (BOLD, safe_line(&run.case))])];
        let said = [safe_line(&run.about), why(run)].into_iter().filter(|line| !line.is_empty());
        lines.extend(said.map(|line| ShownLine::of(vec![plain(line)])));
        lines.push(ShownLine::default());
        for (label, text) in self.facts().iter().filter(|(_, text)| !text.is_empty()) {
            let label = (DIM, format!("{label:LABEL$}"));
            lines.push(ShownLine::of(vec![label, plain(format!("  {}", safe_line(text)))]));
        }
        for (title, part) in self.parts().into_iter().filter(|(_, part)| !part.is_empty()) {
            lines.push(ShownLine::default());
            lines.push(ShownLine::of(vec![(DIM, title.to_owned())]));
            lines.extend(part);
        }
        lines
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
    fn parts(&self) -> [(&'static str, Vec<ShownLine>); 6] {
        let run = self.run;
        // What stands below as a whole shows nothing twice.
        let is_short = |(label, _): &(&str, String)| !["log", "output", "note"].contains(label);
        let evidence = collect(run, usize::MAX).lines.into_iter().filter(is_short);
        let figures = self.figures.iter().map(|it| format!("{} {}", safe_line(&it.name), it.value));
        let log = |record: &KernelRecord| {
            let text = format!("{} {}", stamp(record), safe_line(&record.text));
            let is_report = run.is_in_report(&record.text);
            ShownLine { is_report, ..indented(&text, if is_report { BOLD } else { Style::new() }) }
        };
        let indented = |text: String| indented(&text, Style::new());
        let hazards = self.hazards.map(Hazards::text).unwrap_or_default();
        [
            ("evidence", evidence.map(|(label, line)| indented(format!("{label:LABEL$} {line}"))).collect()),
            ("figures", figures.map(indented).collect()),
            ("hazards", hazards.lines().map(|line| indented(line.to_owned())).collect()),
            ("output", safe(&run.output).lines().map(|line| indented(line.to_owned())).collect()),
            ("kernel log", run.log.iter().map(log).collect()),
            ("notes", run.notes.iter().map(|note| indented(safe_line(note))).collect()),
        ]
    }
}

impl ShownLine {
    fn of(pieces: Vec<(Style, String)>) -> Self {
        Self { pieces, is_report: false }
    }

    /// The line without its styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }
}

fn plain(text: impl Into<String>) -> (Style, String) {
    (Style::new(), text.into())
}

/// A line below a title.
fn indented(text: &str, style: Style) -> ShownLine {
    ShownLine::of(vec![(style, format!("  {text}").trim_end().to_owned())])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use judge::Outcome;
    use machine::{Condition, Conditions};

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
        let hazards = Hazards::new(Conditions(vec![Condition::LockSpin(20)]));
        let figures = [Figure { name: "left".to_owned(), value: 2.5 }];
        let name = "2026-11-20T10-00-00Z-7/pipe/full";
        let (folder, files) = (
            Path::new("/state/2026-11-20T10-00-00Z-7"),
            ["cases/pipe/full.json".into(), "kernel.log".into()],
        );
        let shown = Shown {
            session: &session,
            run: &run,
            figures: &figures,
            hazards: Some(&hazards),
            name,
            folder,
            files: &files,
        };
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
    fn lines_of_a_report_of_the_kernel_stand_out() {
        let session = session();
        let line = |text: &str| KernelRecord { sequence: 1, time_us: 0, level: 6, text: text.to_owned() };
        let (kind, title) = (judge::kernel_report::Kind::Warning, "WARNING in foo".to_owned());
        let report = judge::kernel_report::KernelReport {
            kind,
            title,
            lines: vec!["WARNING: CPU: 0 foo+0x1".to_owned()],
        };
        let log = ["usb 1-1: new", "WARNING: CPU: 0 foo+0x1"].map(line).to_vec();
        let run = Run { log, kernel_reports: vec![report], ..run() };
        let (name, folder) = ("a/b", Path::new("a"));
        let shown =
            Shown { session: &session, run: &run, figures: &[], hazards: None, name, folder, files: &[] };
        let lines = shown.lines();
        let reported: Vec<String> = lines.iter().filter(|line| line.is_report).map(ShownLine::text).collect();
        assert_eq!(reported, ["  [    0.000000] WARNING: CPU: 0 foo+0x1"]);
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
