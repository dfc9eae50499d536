//! A status line that goes on by itself.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anstyle::Style;

use super::screen::Screen;
use crate::style::Paint;

/// How often the status line is looked at; it is written only when it has changed.
const TICK: Duration = Duration::from_millis(200);

/// What a status line says.
pub(crate) trait Pieces {
    /// What matters most comes first, for terminals that are narrow.
    fn pieces(&self, now: Instant) -> Vec<(Style, String)>;
}

/// The last line of a terminal, redrawn in place until this is stopped or dropped.
pub(crate) struct StatusLine<W: Write + Send + 'static, S: Pieces + Send + 'static> {
    shared: Arc<Mutex<Shared<W, S>>>,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shared<W: Write, S> {
    screen: Screen<W>,
    status: S,
    paint: Paint,
}

impl<W: Write + Send + 'static, S: Pieces + Send + 'static> StatusLine<W, S> {
    /// A line on `out`, a terminal that is as wide as `width` says when asked.
    pub(crate) fn new(out: W, width: fn() -> usize, paint: Paint, status: S) -> Self {
        let shared = Arc::new(Mutex::new(Shared { screen: Screen::new(out, width), status, paint }));
        let ticker = tick(Arc::clone(&shared));
        Self { shared, ticker: Some(ticker) }
    }

    /// Changes what the line says; it is seen with the next tick.
    pub(crate) fn update(&self, change: impl FnOnce(&mut S)) {
        change(&mut lock(&self.shared).status);
    }

    /// Prints `text`, which stays, above the line.
    pub(crate) fn above(&self, text: &str) {
        let Shared { screen, status, paint } = &mut *lock(&self.shared);
        screen.above(text, &status.pieces(Instant::now()), *paint);
    }

    /// Removes the line for good.
    pub(crate) fn stop(&mut self) {
        if let Some((stop, thread)) = self.ticker.take() {
            drop(stop);
            // A ticker that panicked has nothing left to do.
            let _ = thread.join();
        }
        lock(&self.shared).screen.clear();
    }

    /// Removes the line and gives the first error in writing.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.stop();
        lock(&self.shared).screen.result()
    }
}

impl<W: Write + Send + 'static, S: Pieces + Send + 'static> Drop for StatusLine<W, S> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Columns of standard error.
pub(crate) fn stderr_width() -> usize {
    rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col))
}

/// Redraws now and then, so that clocks go on when nothing happens; ends when the sender is dropped.
fn tick<W, S>(shared: Arc<Mutex<Shared<W, S>>>) -> (Sender<()>, JoinHandle<()>)
where
    W: Write + Send + 'static,
    S: Pieces + Send + 'static,
{
    let (stop, stopped) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let Shared { screen, status, paint } = &mut *lock(&shared);
            screen.draw(&status.pieces(Instant::now()), *paint);
        }
    });
    (stop, thread)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
