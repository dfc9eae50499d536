//! What an experiment records, as it comes, and what it concludes.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use judge::Run;
use lab::event::Session;
use lab::experiment::lines::lines;
use lab::{Event, Listener};

use crate::evidence;
use crate::safe::{safe, safe_line};
use crate::sink::Sink;
use crate::style::{BOLD, DIM, Paint, of};
use crate::words::span;

/// Prints what the script records, and at the end its Outcome with what shows it.
#[derive(Debug)]
pub struct Transcript<W> {
    sink: Sink<W>,
    paint: Paint,
    results: PathBuf,
    replayed_as: String,
    kernel: String,
    run: Option<Box<Run>>,
}

impl<W: Write> Transcript<W> {
    /// A report on `out`; everything that happened is kept in `results`, and `session` is what `kiln replay` takes for the
    /// session.
    pub fn new(out: W, colour: bool, (results, session): (PathBuf, String)) -> Self {
        let (sink, paint) = (Sink::new(out), Paint { colour });
        Self { sink, paint, results, replayed_as: session, kernel: String::new(), run: None }
    }

    /// Ends the report and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }

    fn planned(&mut self, session: &Session) {
        self.kernel = safe_line(&session.kernel);
    }

    fn line(&mut self, line: &str) {
        self.sink.write(line.trim_end());
        self.sink.write("\n");
        self.sink.flush();
    }

    fn ended(&mut self, took: Duration, interrupted: bool) {
        if let Some(run) = self.run.take() {
            self.concluded(&run);
        }
        let results = safe_line(&self.results.display().to_string());
        let took = span(took);
        self.line(&match interrupted {
            true => format!("interrupted after {took}; the same call goes on after the last complete step"),
            false => format!("{took}; results in {results}"),
        });
    }

    fn concluded(&mut self, run: &Run) {
        let word = self.paint.paint(of(run.outcome), &format!("{:<6}", run.outcome.name()));
        let case = self.paint.paint(BOLD, &safe_line(&run.case));
        let blame = run.blame.map(|blame| format!(", by {}", blame.name())).unwrap_or_default();
        self.line(&format!("{word}  {case} on {}{blame}", self.kernel));
        // The evidence begins with the reason, and with its place.
        let reason = Some(safe_line(&run.reason)).filter(|text| run.evidence.is_empty() && !text.is_empty());
        let evidence = run.evidence.iter().take(evidence::LINES).map(|line| safe(line));
        for line in reason.into_iter().chain(evidence).collect::<Vec<_>>() {
            self.line(&format!("        {line}"));
        }
        if !run.outcome.is_well() {
            let replay = format!("replay  kiln replay {}", safe_line(&self.replayed_as));
            self.line(&format!("        {}", self.paint.paint(DIM, &replay)));
        }
    }
}

impl<W: Write> Listener for Transcript<W> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Planned(session) => self.planned(session),
            Event::Note { text } => self.line(&format!("note: {}", safe_line(text))),
            Event::Recorded { record, .. } => lines(record).iter().for_each(|line| self.line(line)),
            Event::Finished(run) => self.run = Some(run.clone()),
            Event::Ended { took, interrupted, .. } => self.ended(*took, *interrupted),
            _ => {}
        }
    }
}
