//! Reader-writer locks of glibc that a thread has for writing: `pthread_rwlock_t`, sysdeps/nptl/bits/struct_rwlock.h and
//! nptl/pthread_rwlock_common.c.

/// Bytes before the two words of a lock on which threads wait: `__wrphase_futex`, readers and the next writer, and `__writers_futex`, other
/// writers.
const BEFORE: [u64; 2] = [8, 12];

/// The value for which they wait: 1 with `PTHREAD_RWLOCK_FUTEX_USED`.
const LOCKED: u32 = 1 | 2;

/// Of `__readers`: `PTHREAD_RWLOCK_WRPHASE` and `PTHREAD_RWLOCK_WRLOCKED`.
const WRITTEN: u32 = 1 | 2;

/// The lock of whose words a thread waits for one, and the thread that has it for writing; `read` gives eight words of the memory.
pub(super) fn writer(
    (futex, expected): (u64, u32),
    read: impl Fn(u64) -> Option<[u32; 8]>,
    is_thread: impl Fn(i32) -> bool,
) -> Option<(u64, i32)> {
    if expected != LOCKED {
        return None;
    }
    BEFORE.into_iter().find_map(|before| {
        let lock = futex.checked_sub(before)?;
        // Readers, writers, both futexes, two words that are not used, the writer, whether several processes have it.
        let words = read(lock)?;
        let [readers, _, _, _, 0, 0, writer, 0 | 1] = words else { return None };
        let is_locked =
            readers & WRITTEN == WRITTEN && words[usize::try_from(before / 4).unwrap_or_default()] == LOCKED;
        let writer = i32::try_from(writer).ok().filter(|&writer| is_locked && is_thread(writer))?;
        Some((lock, writer))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer_in(words: [u32; 8], futex: u64) -> Option<(u64, i32)> {
        let read = |at| (at == 0x100).then_some(words);
        writer((futex, 3), read, |thread| thread == 4711)
    }

    #[test]
    fn who_writes_is_known_to_readers_and_to_other_writers() {
        let words = [3 | 4, 1, 3, 3, 0, 0, 4711, 0];
        assert_eq!(writer_in(words, 0x108), Some((0x100, 4711)));
        assert_eq!(writer_in(words, 0x10c), Some((0x100, 4711)));
        assert_eq!(writer_in(words, 0x100), None);
        assert_eq!(writer((0x108, 2), |_| Some(words), |_| true), None, "a writer waits for readers");
        assert_eq!(writer((4, 3), |_| Some(words), |_| true), None);
    }

    #[test]
    fn what_is_no_lock_has_no_writer() {
        let words = [7, 1, 3, 3, 0, 0, 4711, 0];
        for (at, word) in [(0, 2 | 8), (2, 1), (4, 1), (6, 4712), (6, u32::MAX), (7, 2)] {
            let mut other = words;
            other[at] = word;
            assert_eq!(writer_in(other, 0x108), None, "{at} {word}");
        }
    }
}
