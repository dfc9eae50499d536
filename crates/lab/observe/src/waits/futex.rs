//! Futexes that say which thread has to do something.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::syscall::Syscall;
use super::{Reason, rwlock};

/// `FUTEX_TID_MASK` of linux/futex.h: the owner in a word of which the kernel or the C library knows that it has one.
const TID_MASK: u32 = 0x3fff_ffff;

/// `FUTEX_WAITERS`.
const WAITERS: u32 = 0x8000_0000;

/// `FUTEX_LOCK_PI2`: `FUTEX_LOCK_PI` with another clock.
const LOCK_PI2: i32 = 13;

/// The largest kind of a mutex of glibc: four types, and flags up to those of elision.
const KIND_MAX: u32 = 0x3ff;

/// What a futex is, and the thread for which it waits. `is_thread` says of a number whether it is a thread that can have it:
/// of the same process if the futex is private.
pub(super) fn decode(
    call: &Syscall,
    memory: &File,
    is_thread: impl Fn(i32, bool) -> bool,
) -> Option<(Reason, i32)> {
    let [address, operation, expected, timeout, ..] = call.arguments;
    let operation = i32::try_from(operation & 0xffff_ffff).ok()?;
    // It goes on by itself.
    if timeout != 0 {
        return None;
    }
    let is_private = operation & libc::FUTEX_PRIVATE_FLAG != 0;
    let mut words = [0; 20];
    memory.read_exact_at(&mut words[..4], address).ok()?;
    // A mutex may be the last thing of a page.
    let _ = memory.read_exact_at(&mut words, address);
    let expected = u32::try_from(expected & 0xffff_ffff).ok()?;
    let is_thread = |thread| is_thread(thread, is_private);
    let read = |at| {
        let mut bytes = [0; 32];
        memory.read_exact_at(&mut bytes, at).ok().map(|()| self::words(bytes))
    };
    let waits = is_wait(operation).then_some((address, expected));
    // What has more of a form comes first.
    if let Some((lock, writer)) = waits.and_then(|waits| rwlock::writer(waits, read, is_thread)) {
        return Some((Reason::Rwlock(lock), writer));
    }
    let (reason, thread) = match owner(operation, expected, &self::words(words))? {
        Owner::Mutex(thread) => (Reason::Mutex(address), thread),
        Owner::Ending(thread) => (Reason::Thread(thread), thread),
    };
    is_thread(thread).then_some((reason, thread))
}

fn words<const BYTES: usize, const WORDS: usize>(bytes: [u8; BYTES]) -> [u32; WORDS] {
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|at| words.get(at).copied().map(u32::from_ne_bytes).unwrap_or_default())
}

/// Whether it waits for the value of a word to change.
fn is_wait(operation: i32) -> bool {
    matches!(command(operation), libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET)
}

fn command(operation: i32) -> i32 {
    operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME)
}

#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Mutex(i32),
    Ending(i32),
}

/// Who has what a thread waits for. `words` are five from the futex on: those of `pthread_mutex_t` of glibc are a lock, a count, the
/// owner, the number of its users, and a kind.
fn owner(operation: i32, expected: u32, words: &[u32; 5]) -> Option<Owner> {
    let &[lock, _, owner, users, kind] = words;
    let thread = |word: u32| i32::try_from(word & TID_MASK).ok().filter(|&thread| thread > 0);
    match command(operation) {
        libc::FUTEX_LOCK_PI | LOCK_PI2 => thread(lock).map(Owner::Mutex),
        _ if is_wait(operation) => {
            // 2: locked, and somebody waits.
            if (lock, expected) == (2, 2) {
                let is_mutex = users > 0 && kind <= KIND_MAX;
                return thread(owner).filter(|_| is_mutex).map(Owner::Mutex);
            }
            if lock != expected {
                return None;
            }
            // Robust mutexes, and all of musl's, hold their owner. pthread_join waits, shared, for a word that was the thread.
            let is_shared = operation & libc::FUTEX_PRIVATE_FLAG == 0;
            match lock & WAITERS {
                0 if is_shared && lock == lock & TID_MASK => thread(lock).map(Owner::Ending),
                0 => None,
                _ => thread(lock).map(Owner::Mutex),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVATE: i32 = libc::FUTEX_PRIVATE_FLAG;

    #[test]
    fn mutexes_name_their_owners() {
        let wait = libc::FUTEX_WAIT | PRIVATE;
        assert_eq!(owner(wait, 2, &[2, 1, 4711, 1, 0]), Some(Owner::Mutex(4711)));
        assert_eq!(owner(wait, 2, &[2, 1, 4711, 0, 0]), None, "nobody uses it");
        assert_eq!(owner(wait, 2, &[1, 1, 4711, 1, 0]), None, "it has changed");
        assert_eq!(owner(libc::FUTEX_LOCK_PI, 0, &[WAITERS | 4711, 0, 0, 0, 0]), Some(Owner::Mutex(4711)));
        let robust = WAITERS | 4711;
        assert_eq!(owner(wait, robust, &[robust, 0, 0, 0, 0]), Some(Owner::Mutex(4711)));
    }

    #[test]
    fn joined_threads_are_told_from_other_words() {
        let join = libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME;
        assert_eq!(owner(join, 4711, &[4711, 0, 0, 0, 0]), Some(Owner::Ending(4711)));
        assert_eq!(owner(join | PRIVATE, 4711, &[4711, 0, 0, 0, 0]), None, "a condition variable is private");
        assert_eq!(owner(join, 0, &[0, 0, 0, 0, 0]), None);
        assert_eq!(owner(libc::FUTEX_WAKE, 1, &[1, 0, 0, 0, 0]), None);
    }
}
