//! The lock of a file that one kiln uses at a time.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long another kiln may still have the file that is about to end. A program that it was starting when it was killed keeps its
/// files until the kernel has ended that, too.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How often it is tried.
const PERIOD: Duration = Duration::from_millis(20);

/// Takes the lock of a file.
///
/// # Errors
///
/// When another kiln has it, and still does after 2 seconds.
pub(crate) fn take(file: &File) -> Result<(), TryLockError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < TIMEOUT => std::thread::sleep(PERIOD),
            taken => return taken,
        }
    }
}

/// Whether somebody has the lock of the file there. Whoever looks takes none that keeps others from looking.
pub(crate) fn is_taken(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock_shared().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_given_back_is_waited_for_and_no_other() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let open = || File::open(file.path()).expect("it is there");
        let (held, wanted) = (open(), open());
        held.lock().expect("free");
        assert!(matches!(take(&wanted), Err(TryLockError::WouldBlock)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| take(&wanted));
            drop(held);
            waiting.join().expect("no panic").expect("it was given back");
        });
    }
}
