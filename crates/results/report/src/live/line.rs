//! Status lines that go on by themselves.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anstyle::Style;

use super::screen::{Line, Screen};
use crate::style::Paint;

/// How often the status lines are looked at; they are written only when they have changed.
const TICK: Duration = Duration::from_millis(200);

/// What status lines say.
pub(crate) trait Lines {
    /// One line or a few, the same number as long as nothing begins or ends. What matters most comes first in each:
    /// what does not fit in `columns` is cut.
    fn lines(&self, now: Instant, columns: usize) -> Vec<Line>;
}

/// The last lines of a terminal, redrawn in place until this is stopped or dropped.
pub(crate) struct StatusLines<W: Write + Send + 'static, S: Lines + Send + 'static> {
    shared: Arc<Mutex<Shared<W, S>>>,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shared<W: Write, S> {
    screen: Screen<W>,
    status: S,
    paint: Paint,
}

impl<W: Write + Send + 'static, S: Lines + Send + 'static> StatusLines<W, S> {
    /// Lines on `out`, a terminal that is as wide as `width` says when asked.
    pub(crate) fn new(out: W, width: fn() -> usize, paint: Paint, status: S) -> Self {
        let shared = Arc::new(Mutex::new(Shared { screen: Screen::new(out, width), status, paint }));
        let ticker = tick(Arc::clone(&shared));
        Self { shared, ticker: Some(ticker) }
    }

    /// Changes what the lines say; it is seen with the next tick.
    pub(crate) fn update(&self, change: impl FnOnce(&mut S)) {
        change(&mut lock(&self.shared).status);
    }

    /// Prints `text`, which stays, above the lines.
    pub(crate) fn above(&self, text: &str) {
        let Shared { screen, status, paint } = &mut *lock(&self.shared);
        let lines = status.lines(Instant::now(), screen.columns());
        screen.above(text, &lines, *paint);
    }

    /// Removes the lines for good.
    pub(crate) fn stop(&mut self) {
        if let Some((stop, thread)) = self.ticker.take() {
            drop(stop);
            // A ticker that panicked has nothing left to do.
            let _ = thread.join();
        }
        lock(&self.shared).screen.clear();
    }

    /// Removes the lines and gives the first error in writing.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.stop();
        lock(&self.shared).screen.result()
    }
}

impl<W: Write + Send + 'static, S: Lines + Send + 'static> Drop for StatusLines<W, S> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A line of those pieces that are not empty, with gaps between them.
pub(crate) fn gaps(pieces: impl IntoIterator<Item = (Style, String)>) -> Line {
    let pieces = pieces.into_iter().filter(|(_, text)| !text.is_empty()).enumerate();
    pieces.map(|(at, (style, text))| (style, if at == 0 { text } else { format!("  {text}") })).collect()
}

/// Columns of standard error.
pub(crate) fn stderr_width() -> usize {
    rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col))
}

/// Redraws now and then, so that clocks go on when nothing happens; ends when the sender is dropped.
fn tick<W, S>(shared: Arc<Mutex<Shared<W, S>>>) -> (Sender<()>, JoinHandle<()>)
where
    W: Write + Send + 'static,
    S: Lines + Send + 'static,
{
    let (stop, stopped) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let Shared { screen, status, paint } = &mut *lock(&shared);
            let lines = status.lines(Instant::now(), screen.columns());
            screen.draw(&lines, *paint);
        }
    });
    (stop, thread)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
