//! How far measuring is.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use anstyle::Style;
use measure::Progress;

use crate::live::{Line, Lines, StatusLines, gaps, long, stderr_width};
use crate::safe::safe_line;
use crate::sink::Sink;
use crate::style::{BOLD, DIM, Paint};
use crate::words::{clock, seconds};

/// Shows progress: as one status line on a terminal, as a line for each boot and each look elsewhere.
pub struct Measuring<W: Write + Send + 'static> {
    view: View<W>,
}

enum View<W: Write + Send + 'static> {
    Line { line: StatusLines<W, Status>, paint: Paint },
    Plain(Sink<W>),
}

impl Measuring<io::Stderr> {
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

impl<W: Write + Send + 'static> Measuring<W> {
    /// A status line on `out`, a terminal that is as wide as `width` says when asked.
    pub fn live(out: W, colour: bool, width: fn() -> usize) -> Self {
        let paint = Paint { colour };
        Self {
            view: View::Line {
                line: StatusLines::new(out, width, paint, Status::new(Instant::now())),
                paint,
            },
        }
    }

    /// Lines in `out`.
    pub fn plain(out: W) -> Self {
        Self { view: View::Plain(Sink::new(out)) }
    }

    /// Something happened.
    pub fn on_event(&mut self, progress: &Progress) {
        match (&mut self.view, progress) {
            (View::Line { line, paint }, Progress::Note(text)) => {
                line.above(&paint.paint(DIM, &format!("note    {}", safe_line(text))));
            }
            (View::Line { line, .. }, _) => line.update(|status| status.on_event(progress, Instant::now())),
            (View::Plain(sink), _) => {
                if let Some(text) = row(progress) {
                    sink.write(&(text + "\n"));
                    sink.flush();
                }
            }
        }
    }

    /// Removes the status line and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        match self.view {
            View::Line { line, .. } => line.finish(),
            View::Plain(sink) => sink.finish(),
        }
    }
}

impl<W: Write + Send + 'static> fmt::Debug for Measuring<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measuring").finish_non_exhaustive()
    }
}

/// What happened in one line, if it does not happen all the time.
fn row(progress: &Progress) -> Option<String> {
    match progress {
        Progress::Boot { .. } | Progress::Measuring { .. } => None,
        Progress::Booted { kernel, took, kept, unknown: _ } => {
            let word = if *kept { "kept" } else { "booted" };
            Some(format!("{word:<6}  {:>10}  {}", seconds(*took), safe_line(kernel)))
        }
        Progress::Look { boots, decided, of } => {
            Some(format!("look    {boots:>10}  boots, {decided} of {of} metrics decided"))
        }
        Progress::Note(text) => Some(format!("note    {:>10}  {}", "", safe_line(text))),
    }
}

/// State as far as it is shown.
struct Status {
    start: Instant,
    /// What is being done, and since when.
    now: Option<(String, Instant)>,
    /// The Kernel, and which boot of it.
    boot: String,
    look: String,
}

impl Status {
    fn new(start: Instant) -> Self {
        Self { start, now: None, boot: String::new(), look: String::new() }
    }

    fn on_event(&mut self, progress: &Progress, now: Instant) {
        match progress {
            Progress::Boot { kernel, number, of } => {
                let of = of.map(|of| format!("/{of}")).unwrap_or_default();
                self.boot = format!("boot {number}{of} of {}", safe_line(kernel));
                self.now = Some(("boots".to_owned(), now));
            }
            Progress::Booted { .. } => self.now = None,
            Progress::Measuring { kernel, boot, job, of, name } => {
                self.boot = format!("boot {boot} of {}", safe_line(kernel));
                self.now = Some((format!("{job}/{of} {}", safe_line(name)), now));
            }
            Progress::Look { boots, decided, of } => {
                self.look = format!("{boots} boots, {decided}/{of} decided");
            }
            Progress::Note(_) => {}
        }
    }
}

impl Lines for Status {
    fn lines(&self, now: Instant, _: usize) -> Vec<Line> {
        let since = |since: Instant| long(now.saturating_duration_since(since));
        let doing = self.now.as_ref().map(|(text, at)| format!("{text}{}", since(*at)));
        let elapsed = clock(now.saturating_duration_since(self.start));
        vec![gaps([
            (BOLD, self.look.clone()),
            (DIM, elapsed),
            (Style::new(), self.boot.clone()),
            (Style::new(), doing.unwrap_or_default()),
        ])]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn story() -> Vec<Progress> {
        let kernel = || "deb:6.1\x1b[2J".to_owned();
        vec![
            Progress::Boot { kernel: kernel(), number: 2, of: Some(3) },
            Progress::Booted {
                kernel: kernel(),
                took: Duration::from_millis(2412),
                kept: false,
                unknown: Vec::new(),
            },
            Progress::Measuring { kernel: kernel(), boot: 2, job: 7, of: 112, name: "pipe/round\n".into() },
            Progress::Look { boots: 12, decided: 100, of: 112 },
            Progress::Note("a disturbance".into()),
        ]
    }

    fn text(status: &Status, now: Instant) -> String {
        status.lines(now, 80).concat().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn the_status_line_says_what_is_done_and_since_when() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut status = Status::new(start);
        let story = story();
        status.on_event(&story[0], at(1));
        assert_eq!(text(&status, at(4)), "0:04  boot 2/3 of deb:6.1  boots 3 s");
        status.on_event(&story[1], at(4));
        assert_eq!(text(&status, at(4)), "0:04  boot 2/3 of deb:6.1");
        status.on_event(&story[2], at(5));
        status.on_event(&story[3], at(5));
        assert_eq!(
            text(&status, at(5)),
            "12 boots, 100/112 decided  0:05  boot 2 of deb:6.1  7/112 pipe/round"
        );
    }

    /// A file that keeps what was written, and can be looked at afterwards.
    #[derive(Clone, Default)]
    struct Kept(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(measuring: impl FnOnce(Kept) -> Measuring<Kept>) -> String {
        let kept = Kept::default();
        let mut measuring = measuring(kept.clone());
        story().iter().for_each(|progress| measuring.on_event(progress));
        measuring.finish().unwrap();
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_pipe_gets_few_lines() {
        let wanted = "booted     2.412 s  deb:6.1\n\
                      look            12  boots, 100 of 112 metrics decided\n\
                      note                a disturbance\n";
        assert_eq!(printed(Measuring::plain), wanted);
    }

    #[test]
    fn a_terminal_keeps_the_notes_only() {
        let shown = printed(|out| Measuring::live(out, false, || 80));
        assert!(shown.contains("note    a disturbance\n") && shown.ends_with("\r\x1b[K"), "{shown:?}");
        assert_eq!(shown.lines().count(), 2);
    }
}
