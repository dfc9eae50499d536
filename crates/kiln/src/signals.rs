//! Ctrl-C and its relatives.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR2};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use judge::exit::INTERRUPTED;

/// Signals that come within this time are one interrupt: timeout(1) sends one to its child and one to the child's
/// process group.
const ONE_INTERRUPT: Duration = Duration::from_millis(500);

/// How often the user's wish to stop is looked at.
const TICK: Duration = Duration::from_millis(200);

/// A flag that is set when the user wants to stop; the second time kiln ends at once. It is the same for all.
pub(crate) fn interrupt_flag() -> io::Result<Arc<AtomicBool>> {
    static FLAG: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
    let mut flag = FLAG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(flag) = &*flag {
        return Ok(Arc::clone(flag));
    }
    Ok(Arc::clone(flag.insert(listen()?)))
}

/// A flag that is set when the user wants to stop, and when this time is over.
pub(crate) fn interrupt_or_deadline(limit: Option<Duration>) -> io::Result<Arc<AtomicBool>> {
    const INTERVAL: Duration = Duration::from_millis(100);
    let interrupt = interrupt_flag()?;
    let Some(limit) = limit else { return Ok(interrupt) };
    let (both, began) = (Arc::new(AtomicBool::new(false)), Instant::now());
    let flag = Arc::clone(&both);
    std::thread::Builder::new().name("deadline".to_string()).spawn(move || {
        while !interrupt.load(Ordering::Relaxed) && began.elapsed() < limit {
            std::thread::sleep(INTERVAL);
        }
        flag.store(true, Ordering::Relaxed);
    })?;
    Ok(both)
}

/// Waits; false if the user wants to stop.
pub(crate) fn pause(time: Duration, interrupt: &AtomicBool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if interrupt.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(TICK.min(time.saturating_sub(begun.elapsed())));
    }
    true
}

/// A flag that is set each time the user wants to see what is known so far: SIGUSR2.
pub(crate) fn report_flag() -> io::Result<Arc<AtomicBool>> {
    let wanted = Arc::new(AtomicBool::new(false));
    flag::register(SIGUSR2, Arc::clone(&wanted))?;
    Ok(wanted)
}

fn listen() -> io::Result<Arc<AtomicBool>> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let flag = Arc::clone(&interrupt);
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            if first.is_some_and(|first| first.elapsed() > ONE_INTERRUPT) {
                low_level::exit(i32::from(INTERRUPTED));
            }
            first.get_or_insert_with(Instant::now);
            flag.store(true, Ordering::Relaxed);
        }
    })?;
    Ok(interrupt)
}
