//! Whoever hears what happens in a session, and standard output.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Stdout, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use judge::Exit;
use lab::prepare::content::ProgramFile;
use lab::{Event, Listener};
use ledger::{Durations, Recorder};
use protocol::End;
use report::{Human, Json, Junit, Ktap, Live, Plain, Transcript};

use crate::cli::Format;

/// A listener that has something to say at the end.
pub(crate) trait Report: Listener + Send {
    /// The first thing that could not be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

macro_rules! report {
    ($($kind:ty),*) => {$(
        impl Report for $kind {
            fn finish(self: Box<Self>) -> io::Result<()> {
                (*self).finish()
            }
        }
    )*};
}

report!(
    Plain<Stdout>,
    Human<Stdout>,
    Json<Stdout>,
    Ktap<Stdout>,
    Junit<Stdout>,
    Transcript<Stdout>,
    Live<io::Stderr>
);

/// How the user looks at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) format: Format,
    pub(crate) color: bool,
    /// What programs write is shown as they do.
    pub(crate) verbose: bool,
}

/// The recorder and what the user looks at.
pub(crate) struct Listeners {
    recorder: Recorder,
    durations: Durations,
    reports: Vec<Box<dyn Report>>,
    last_end: Option<End>,
    exit: Option<Exit>,
    notes: Vec<String>,
}

impl Listeners {
    /// The listeners for what the user looks at.
    pub(crate) fn new(view: View, recorder: Recorder, durations: Durations) -> Self {
        let mut reports: Vec<Box<dyn Report>> = Vec::new();
        // Progress goes to standard error, and takes its line away before the others speak.
        if io::stderr().is_terminal() {
            let live = Live::stderr(view.color);
            reports.push(Box::new(if view.verbose { live.with_output() } else { live }));
        }
        reports.extend(chosen(view, Some(recorder.directory())));
        Self::with(reports, recorder, durations)
    }

    /// The same for an experiment: people read what its script records.
    pub(crate) fn of_experiment(view: View, recorder: Recorder, durations: Durations) -> Self {
        let reports: Vec<Box<dyn Report>> = match view.format {
            Format::Human => {
                let results = recorder.directory().to_path_buf();
                let session = ledger::short_name(&results);
                vec![Box::new(Transcript::new(io::stdout(), view.color, (results, session)))]
            }
            _ => chosen(view, Some(recorder.directory())),
        };
        Self::with(reports, recorder, durations)
    }

    /// The listeners for these reports.
    pub(crate) fn with(reports: Vec<Box<dyn Report>>, recorder: Recorder, durations: Durations) -> Self {
        Self { recorder, durations, reports, last_end: None, exit: None, notes: Vec::new() }
    }

    /// The same with what is worth knowing as soon as the session begins.
    pub(crate) fn noting(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Where the session is kept.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// How long these cases took before, as far as that is known.
    pub(crate) fn durations_of(&self, cases: &[String]) -> HashMap<String, Duration> {
        cases.iter().filter_map(|case| Some((case.clone(), self.durations.of(case)?))).collect()
    }

    /// Keeps the user's program with the session.
    pub(crate) fn keep_program(&self, program: ProgramFile<'_>) -> Result<()> {
        Ok(self.recorder.keep_program(program)?)
    }

    /// Something that is no part of a Run and is told as soon as the session begins.
    pub(crate) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    fn emit(&mut self, event: &Event) {
        self.recorder.on_event(event);
        for report in &mut self.reports {
            report.on_event(event);
        }
    }

    /// How the process of the last Run ended.
    pub(crate) fn last_end(&self) -> Option<End> {
        self.last_end.clone()
    }

    /// The exit code of the session, once it has ended.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Ends all reports.
    pub(crate) fn finish(mut self) -> Result<()> {
        end_all(self.reports)?;
        // What was learnt makes the next session shorter, and nothing else.
        let _ = self.durations.save();
        Ok(self.recorder.finish()?)
    }
}

/// Ends reports. A reader that has gone away has seen what it wanted.
pub(crate) fn end_all(reports: Vec<Box<dyn Report>>) -> io::Result<()> {
    for report in reports {
        match report.finish() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// What the user looks at; `results` is the folder of the session, if it has one.
pub(crate) fn chosen(View { format, color, verbose }: View, results: Option<&Path>) -> Vec<Box<dyn Report>> {
    let out = io::stdout;
    let plain = || if verbose { Plain::new(out()).with_output() } else { Plain::new(out()) };
    let json = || if verbose { Json::new(out()).with_output() } else { Json::new(out()) };
    let human = || {
        let report = Human::new(out(), color, results.map(Path::to_path_buf));
        Box::new(match results {
            Some(results) => report.replayed_as(ledger::short_name(results)),
            None => report,
        })
    };
    match format {
        Format::Human if out().is_terminal() => vec![human()],
        Format::Human => vec![Box::new(plain()), human()],
        Format::Json => vec![Box::new(json())],
        Format::Ktap => vec![Box::new(Ktap::new(out()))],
        Format::Junit => vec![Box::new(Junit::new(out()))],
    }
}

impl Listener for Listeners {
    fn on_event(&mut self, event: &Event) {
        if let Event::Finished(run) = event {
            self.last_end.clone_from(&run.end);
            self.durations.learn(run);
        }
        if let Event::Ended { exit, .. } = event {
            self.exit = *exit;
        }
        self.emit(event);
        if matches!(event, Event::Planned(_)) {
            for text in std::mem::take(&mut self.notes) {
                self.emit(&Event::Note { text });
            }
        }
    }
}

/// Writes to standard output; a reader that has gone away is no error.
pub(crate) fn standard_output(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints what was found: for people, or as one JSON document.
pub(crate) fn document(
    is_json: bool,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> io::Result<()> {
    print(&if is_json { format!("{}\n", json()) } else { text() })
}

/// Prints text.
pub(crate) fn print(text: &str) -> io::Result<()> {
    standard_output(|out| out.write_all(text.as_bytes()))
}
