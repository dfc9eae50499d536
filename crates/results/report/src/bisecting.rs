//! How far a bisection is.

mod log;
mod status;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use bisect::Progress;

use crate::live::{StatusLines, stderr_width};
use crate::safe::safe_line;
use crate::sink::Sink;
use crate::style::{BOLD, DIM, Paint};
use log::Log;
pub(crate) use log::{about, left, likely};
use status::Status;

/// Shows progress: on a terminal as a few lines that are redrawn in place, the axis with what is known of it first;
/// elsewhere as a line for each test.
pub struct Bisecting<W: Write + Send + 'static> {
    view: View<W>,
}

enum View<W: Write + Send + 'static> {
    Lines { lines: StatusLines<W, Status>, paint: Paint },
    Plain { sink: Sink<W>, log: Log },
}

impl Bisecting<io::Stderr> {
    /// Whatever suits standard error.
    #[must_use]
    pub fn stderr(colour: bool) -> Self {
        if io::stderr().is_terminal() {
            Self::live(io::stderr(), colour, stderr_width)
        } else {
            Self::plain(io::stderr())
        }
    }
}

impl<W: Write + Send + 'static> Bisecting<W> {
    /// Status lines on `out`, a terminal that is as wide as `width` says when asked.
    pub fn live(out: W, colour: bool, width: fn() -> usize) -> Self {
        let paint = Paint { colour };
        let lines = StatusLines::new(out, width, paint, Status::new(Instant::now()));
        Self { view: View::Lines { lines, paint } }
    }

    /// Lines in `out`.
    pub fn plain(out: W) -> Self {
        Self { view: View::Plain { sink: Sink::new(out), log: Log::default() } }
    }

    /// Something happened.
    pub fn on_event(&mut self, progress: &Progress) {
        match &mut self.view {
            View::Lines { lines, paint } => {
                lines.update(|status| status.on_event(progress, Instant::now()));
                match progress {
                    Progress::Begun { .. } => {
                        for row in Log::default().rows(progress) {
                            lines.above(&paint.paint(BOLD, &row));
                        }
                    }
                    Progress::Note(text) => {
                        lines.above(&paint.paint(DIM, &format!("note    {}", safe_line(text))));
                    }
                    _ => {}
                }
            }
            View::Plain { sink, log } => {
                for row in log.rows(progress) {
                    sink.write(&(row + "\n"));
                }
                sink.flush();
            }
        }
    }

    /// Removes the status lines and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        match self.view {
            View::Lines { lines, .. } => lines.finish(),
            View::Plain { sink, .. } => sink.finish(),
        }
    }
}

impl<W: Write + Send + 'static> fmt::Debug for Bisecting<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bisecting").finish_non_exhaustive()
    }
}
