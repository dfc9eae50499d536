//! The live view on a terminal.

mod line;
mod screen;
mod status;

use std::fmt;
use std::io::{self, Write};
use std::time::Instant;

use judge::Run;
use lab::event::Session;
use lab::{Event, Listener};

use crate::repeats::why_and_repeats;
use crate::safe::safe_line;
use crate::style::{DIM, Paint, of};
use crate::words::cases;
use status::Status;

pub(crate) use line::{Lines, StatusLines, gaps, stderr_width};
pub(crate) use screen::Line;
pub(crate) use status::long;

/// One status line, redrawn in place; failures and notes stay above it.
///
/// The cursor stays visible, every redraw is one write, and when this is dropped the line is gone.
pub struct Live<W: Write + Send + 'static> {
    line: StatusLines<W, Status>,
    paint: Paint,
    output: bool,
}

impl Live<io::Stderr> {
    /// A view on standard error, which must be a terminal.
    #[must_use]
    pub fn stderr(colour: bool) -> Self {
        Self::new(io::stderr(), colour, stderr_width)
    }
}

impl<W: Write + Send + 'static> Live<W> {
    /// A view on `out`, a terminal that is as wide as `width` says when asked.
    pub fn new(out: W, colour: bool, width: fn() -> usize) -> Self {
        let paint = Paint { colour };
        Self { line: StatusLines::new(out, width, paint, Status::new(Instant::now())), paint, output: false }
    }

    /// Also shows what programs write, as they do.
    #[must_use]
    pub fn with_output(self) -> Self {
        Self { output: true, ..self }
    }

    /// Removes the status line and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.line.finish()
    }

    fn planned(&self, session: &Session) {
        let mut time = None;
        self.line.update(|status| time = status.planned(session));
        if let Some(time) = time {
            self.line
                .above(&self.paint.paint(DIM, &format!("plan    {}, {time}", cases(session.cases.len()))));
        }
    }

    fn finished(&self, run: &Run) {
        self.line.update(|status| status.finished(run));
        if run.outcome.is_failure() || run.blame.is_some() {
            let word = self.paint.paint(of(run.outcome), &format!("{:<6}", run.outcome.name()));
            self.line.above(&format!("{word}  {}: {}", safe_line(&run.case), why_and_repeats(run)));
        }
    }
}

impl<W: Write + Send + 'static> Listener for Live<W> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Finished(run) => self.finished(run),
            Event::Planned(session) => self.planned(session),
            Event::Note { text } => {
                self.line.above(&self.paint.paint(DIM, &format!("note    {}", safe_line(text))));
            }
            Event::Output { case, line, .. } if self.output => {
                let case = self.paint.paint(DIM, &safe_line(case));
                self.line.above(&format!("output  {case}: {}", safe_line(line)));
            }
            Event::Ended { .. } => self.line.stop(),
            _ => self.line.update(|status| status.on_event(event, Instant::now())),
        }
    }
}

impl<W: Write + Send + 'static> fmt::Debug for Live<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("paint", &self.paint).finish_non_exhaustive()
    }
}
