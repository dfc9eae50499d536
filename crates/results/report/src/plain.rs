//! One line per event, for logs and pipes.

use std::io::{self, Write};
use std::time::Duration;

use judge::{Outcome, Run, Summary};
use lab::event::Session;
use lab::{Event, Listener};

use crate::evidence::not_found;
use crate::progress::Progress;
use crate::repeats::why_and_repeats;
use crate::safe::safe_line;
use crate::sink::Sink;
use crate::words::{cases, kernel, seconds, tally_text, why};

/// Columns for how far the session is, at least: nobody knows how often a case will be repeated.
const COUNT_WIDTH: usize = 5;

/// Prints a line for everything but the console.
///
/// The columns are: what happened, how far the session is (or the number of the boot, or `#` and the number of
/// the repeat), how long it took, and what it happened to. The first is an Outcome, `plan`, `note`, `boot`,
/// `booted`, `kept` (the boot of an earlier session), `output` (a line of a program, if that is wanted) or `end`.
#[derive(Debug)]
pub struct Plain<W> {
    sink: Sink<W>,
    progress: Progress,
    output: bool,
}

impl<W: Write> Plain<W> {
    /// A report that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { sink: Sink::new(out), progress: Progress::default(), output: false }
    }

    /// Also prints what programs write, as they do.
    #[must_use]
    pub fn with_output(self) -> Self {
        Self { output: true, ..self }
    }

    /// Ends the report and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }

    fn row(&mut self, word: &str, count: &str, took: Option<Duration>, text: &str) {
        let width = COUNT_WIDTH.max(self.progress.total.to_string().len() * 2 + 1);
        let took = took.map(seconds).unwrap_or_default();
        let line = format!("{word:<6}  {count:>width$}  {took:>10}  {text}");
        self.sink.write(line.trim_end());
        self.sink.write("\n");
        self.sink.flush();
    }

    fn planned(&mut self, session: &Session) {
        self.progress.plan(session);
        let time = self.progress.estimate.planned().map(|time| format!("; {time}")).unwrap_or_default();
        let (count, machine) = (cases(self.progress.total), safe_line(&session.machine));
        let text = format!("{count} on {}, {machine}{time}", kernel(session));
        self.row("plan", "", None, &text);
    }

    fn repeated(&mut self, run: &Run) {
        let count = format!("#{}", self.progress.repeat(run).ended);
        self.ran(run, &count, &why(run));
    }

    fn finished(&mut self, run: &Run) {
        self.progress.finish(run);
        let count = format!("{}/{}", self.progress.done, self.progress.total);
        let lacking = not_found(run).filter(|_| run.outcome == Outcome::Pass);
        let why = Some(why_and_repeats(run)).filter(|why| !why.is_empty());
        self.ran(run, &count, &lacking.into_iter().chain(why).collect::<Vec<_>>().join("; "));
    }

    fn ran(&mut self, run: &Run, count: &str, why: &str) {
        let took = (!run.duration.is_zero()).then_some(run.duration);
        let separator = if why.is_empty() { "" } else { ": " };
        self.row(run.outcome.name(), count, took, &format!("{}{separator}{why}", safe_line(&run.case)));
    }

    fn ended(&mut self, summary: Summary, took: Duration, interrupted: bool) {
        let (conclusion, counts) = (self.progress.conclusion(summary, interrupted), tally_text(summary));
        let separator = if counts.is_empty() { "" } else { ": " };
        self.row("end", "", Some(took), &format!("{conclusion}{separator}{counts}"));
    }
}

impl<W: Write> Listener for Plain<W> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Planned(session) => self.planned(session),
            Event::Note { text } => self.row("note", "", None, &safe_line(text)),
            Event::Booting { boot, cases: count } => {
                self.row("boot", &boot.to_string(), None, &format!("for {}", cases(*count as usize)));
            }
            Event::Booted { boot, release, took, kept } => {
                let word = if *kept { "kept" } else { "booted" };
                self.row(word, &boot.to_string(), Some(*took), &safe_line(release));
            }
            Event::Repeated(run) => self.repeated(run),
            Event::Finished(run) => self.finished(run),
            Event::Ended { summary, took, interrupted, .. } => self.ended(*summary, *took, *interrupted),
            Event::Output { case, line, .. } if self.output => {
                self.row("output", "", None, &format!("{}: {}", safe_line(case), safe_line(line)));
            }
            Event::CommandLine { .. }
            | Event::Console { .. }
            | Event::Output { .. }
            | Event::Hazard { .. }
            | Event::Waited { .. }
            | Event::Recorded { .. }
            | Event::Started { .. } => {}
        }
    }
}
