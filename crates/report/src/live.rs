//! The live view on a terminal.

mod screen;
mod status;

use std::fmt;
use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lab::{Event, Listener, Run};

use crate::repeats::why_and_repeats;
use crate::safe::safe_line;
use crate::style::{DIM, Paint, of};
use screen::Screen;
use status::Status;

/// How often the status line is looked at; it is written only when it has changed.
const TICK: Duration = Duration::from_millis(200);

/// One status line, redrawn in place; failures and notes stay above it.
///
/// The cursor stays visible, every redraw is one write, and when this is dropped the line is gone.
pub struct Live<W: Write + Send + 'static> {
    shared: Arc<Mutex<Shared<W>>>,
    paint: Paint,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shared<W: Write> {
    screen: Screen<W>,
    status: Status,
    paint: Paint,
}

impl Live<io::Stderr> {
    /// A view on standard error, which must be a terminal.
    #[must_use]
    pub fn stderr(colour: bool) -> Self {
        Self::new(io::stderr(), colour, || {
            rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col))
        })
    }
}

impl<W: Write + Send + 'static> Live<W> {
    /// A view on `out`, a terminal that is as wide as `width` says when asked.
    pub fn new(out: W, colour: bool, width: fn() -> usize) -> Self {
        let paint = Paint { colour };
        let status = Status::new(Instant::now());
        let shared = Arc::new(Mutex::new(Shared { screen: Screen::new(out, width), status, paint }));
        let ticker = tick(Arc::clone(&shared));
        Self { shared, paint, ticker: Some(ticker) }
    }

    /// Removes the status line and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.stop();
        lock(&self.shared).screen.result()
    }

    fn stop(&mut self) {
        if let Some((stop, thread)) = self.ticker.take() {
            drop(stop);
            // A ticker that panicked has nothing left to do.
            let _ = thread.join();
        }
        lock(&self.shared).screen.clear();
    }

    fn finished(&self, shared: &mut Shared<W>, run: &Run) {
        shared.status.finished(run);
        if run.outcome.accuses_kernel() || run.blame.is_some() {
            let word = self.paint.paint(of(run.outcome), &format!("{:<6}", run.outcome.name()));
            shared.above(&format!("{word}  {}: {}", safe_line(&run.case), why_and_repeats(run)));
        }
    }
}

impl<W: Write> Shared<W> {
    fn draw(&mut self) {
        let pieces = self.status.pieces(Instant::now());
        self.screen.draw(&pieces, self.paint);
    }

    fn above(&mut self, line: &str) {
        let pieces = self.status.pieces(Instant::now());
        self.screen.above(line, &pieces, self.paint);
    }
}

impl<W: Write + Send + 'static> Listener for Live<W> {
    fn hear(&mut self, event: &Event) {
        let mut shared = lock(&self.shared);
        match event {
            Event::Finished(run) => self.finished(&mut shared, run),
            Event::Note { text } => {
                shared.above(&self.paint.paint(DIM, &format!("note    {}", safe_line(text))));
            }
            Event::Ended { .. } => {
                drop(shared);
                self.stop();
            }
            _ => shared.status.hear(event, Instant::now()),
        }
    }
}

impl<W: Write + Send + 'static> Drop for Live<W> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<W: Write + Send + 'static> fmt::Debug for Live<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("paint", &self.paint).finish_non_exhaustive()
    }
}

/// Redraws now and then, so that clocks go on when nothing happens; ends when the sender is dropped.
fn tick<W: Write + Send + 'static>(shared: Arc<Mutex<Shared<W>>>) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            lock(&shared).draw();
        }
    });
    (stop, thread)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
