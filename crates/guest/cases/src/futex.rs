//! Fast user-space locking: futex(2).

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, equal, fails, holds, skip};
use harness::child::{Child, child, shared_word};
use harness::sys;
use harness::waiting::{until, until_asleep_in};
use rustix::io::Errno;
use rustix::process::getpid;
use rustix::thread::ClockId;
use rustix::thread::futex::{
    self, Flags, OWNER_DIED, Timespec, WAITERS, Wait, WaitFlags, WaitPtr, WaitvFlags, cmp_requeue, lock_pi,
    requeue, trylock_pi, unlock_pi, wait_bitset, waitv, wake, wake_bitset,
};

use crate::case::{Case, Need};

const NEEDS: &[Need] = &[Need::Config("FUTEX")];
const PRIORITY: &[Need] = &[Need::Config("FUTEX_PI")];

pub(super) const CASES: &[Case] = &[
    Case::new("futex/wake", "futex(2) FUTEX_WAKE wakes waiters and returns their number", wake_one)
        .needs(NEEDS),
    Case::new(
        "futex/changed-value",
        "futex(2) FUTEX_WAIT gives EAGAIN when the value has changed",
        changed_value,
    )
    .needs(NEEDS),
    Case::new("futex/timeout", "futex(2) FUTEX_WAIT gives ETIMEDOUT no earlier than asked", timeout)
        .needs(NEEDS),
    Case::new(
        "futex/requeue",
        "futex(2) FUTEX_REQUEUE moves waiters to another word without waking them",
        move_waiters,
    )
    .needs(NEEDS),
    Case::new("futex/bit-set", "futex(2) FUTEX_WAKE_BITSET wakes only waiters with one of its bits", bit_set)
        .needs(NEEDS),
    Case::new(
        "futex/wait-multiple",
        "futex_waitv(2) waits for several words and returns the index of the woken one",
        wait_multiple,
    )
    .needs(NEEDS),
    Case::new(
        "futex/robust-list",
        "set_robust_list(2) wakes a waiter with FUTEX_OWNER_DIED at the owner's death",
        robust_list,
    )
    .needs(NEEDS),
    Case::new(
        "futex/priority-lock",
        "futex(2) FUTEX_LOCK_PI hands a lock over; EDEADLK, EPERM, ETIMEDOUT",
        priority_lock,
    )
    .needs(PRIORITY),
    Case::new("futex/refusals", "futex(2) gives EINVAL, EFAULT and ENOSYS as promised", refusals)
        .needs(NEEDS),
];

/// For words that processes share.
const SHARED: Flags = Flags::empty();
const EVERYBODY: u32 = i32::MAX.unsigned_abs();

/// A child that waits on `word`, which is 0, until it is woken.
fn waiter(word: &'static AtomicU32) -> Result<Child, Errno> {
    waiting(move || futex::wait(word, SHARED, 0, None))
}

/// A child that sleeps in futex(2) until it is woken.
fn waiting(wait: impl FnOnce() -> Result<(), Errno>) -> Result<Child, Errno> {
    let waiter = child(|| equal("how the wait ended", wait(), Ok(())))?;
    until_asleep_in(waiter.pid(), libc::SYS_futex)?;
    Ok(waiter)
}

fn wake_one() -> Checked {
    let word = shared_word()?;
    equal("woken when nobody waits", wake(word, SHARED, EVERYBODY)?, 0)?;
    let waiting = waiter(word)?;
    equal("woken when one waits", wake(word, SHARED, 1)?, 1)?;
    waiting.succeeds()?;
    equal("woken when nobody waits any more", wake(word, SHARED, EVERYBODY)?, 0)
}

fn changed_value() -> Checked {
    let word = AtomicU32::new(7);
    fails("waiting for a 6", futex::wait(&word, SHARED, 6, None), Errno::AGAIN)?;
    fails("waiting for a 6 in private", futex::wait(&word, Flags::PRIVATE, 6, None), Errno::AGAIN)?;
    let moved = cmp_requeue(&word, SHARED, 1, 1, &AtomicU32::new(0), 6);
    fails("FUTEX_CMP_REQUEUE of a 6", moved, Errno::AGAIN)
}

fn timeout() -> Checked {
    const TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
    let word = AtomicU32::new(0);
    let start = Instant::now();
    fails("waiting", futex::wait(&word, SHARED, 0, Some(&TIMEOUT)), Errno::TIMEDOUT)?;
    at_least("time waited", start.elapsed(), Duration::from_millis(30))?;
    let past = Timespec { tv_sec: 0, tv_nsec: 1 };
    let waited = wait_bitset(&word, SHARED, 0, Some(&past), NonZeroU32::MAX);
    fails("waiting until a time that has passed", waited, Errno::TIMEDOUT)?;
    let wrong = Timespec { tv_sec: 0, tv_nsec: 1_000_000_000 };
    fails("1000000000 nanoseconds", futex::wait(&word, SHARED, 0, Some(&wrong)), Errno::INVAL)
}

fn move_waiters() -> Checked {
    let (from, to) = (shared_word()?, shared_word()?);
    let waiting = [waiter(from)?, waiter(from)?, waiter(from)?];
    equal("moved of three", requeue(from, SHARED, 0, EVERYBODY, to)?, 3)?;
    equal("woken at the old word", wake(from, SHARED, EVERYBODY)?, 0)?;
    equal("woken at the new word, of two", wake(to, SHARED, 2)?, 2)?;
    equal("woken of all others", wake(to, SHARED, EVERYBODY)?, 1)?;
    waiting.into_iter().try_for_each(Child::succeeds)
}

fn bit_set() -> Checked {
    let word = shared_word()?;
    let bits = [NonZeroU32::MIN, NonZeroU32::MIN.saturating_add(1)];
    let waiter = |bits| waiting(move || wait_bitset(word, SHARED, 0, None, bits));
    let [first, second] = [waiter(bits[0])?, waiter(bits[1])?];
    equal("woken with the bits of one", wake_bitset(word, SHARED, EVERYBODY, bits[1])?, 1)?;
    second.succeeds()?;
    equal("woken with bits that nobody waits for", wake_bitset(word, SHARED, EVERYBODY, bits[1])?, 0)?;
    equal("woken with any bits", wake(word, SHARED, EVERYBODY)?, 1)?;
    first.succeeds()
}

fn wait_multiple() -> Checked {
    let words = [shared_word()?, shared_word()?];
    let expecting = |value: u64| {
        words.map(|word| {
            let mut wait = Wait::new();
            wait.val = value;
            wait.uaddr = WaitPtr::new(word.as_ptr().cast());
            wait.flags = WaitFlags::SIZE_U32;
            wait
        })
    };
    let wait = |value, timeout| waitv(&expecting(value), WaitvFlags::empty(), timeout, ClockId::Monotonic);
    match wait(1, None) {
        Err(Errno::NOSYS) => return skip("the kernel has no futex_waitv(2)"),
        result => fails("waiting for other values", result, Errno::AGAIN)?,
    }
    let past = Timespec { tv_sec: 0, tv_nsec: 1 };
    fails("waiting until a time that has passed", wait(0, Some(&past)), Errno::TIMEDOUT)?;
    let waiting = child(|| equal("word that was woken", wait(0, None)?, 1))?;
    until_asleep_in(waiting.pid(), libc::SYS_futex_waitv)?;
    equal("woken when one waits", wake(words[1], SHARED, 1)?, 1)?;
    waiting.succeeds()
}

/// The head of a robust list and its only entry, as `<linux/futex.h>` has them.
#[repr(C)]
struct RobustList {
    first: *const Entry,
    offset: isize,
    pending: *const Entry,
    entry: Entry,
}

#[repr(C)]
struct Entry {
    next: *const Entry,
}

/// Makes `word` the only lock that the kernel gives up when this process dies.
fn give_up_at_death(word: &AtomicU32) -> Result<(), Errno> {
    let list: *mut RobustList = Box::into_raw(Box::new(RobustList {
        first: std::ptr::null(),
        offset: 0,
        pending: std::ptr::null(),
        entry: Entry { next: std::ptr::null() },
    }));
    // SAFETY: the list was just made and is never freed; a circle is what the kernel asks for.
    unsafe {
        let entry = &raw const (*list).entry;
        (*list).first = entry;
        (*list).entry.next = list.cast();
        (*list).offset = (word.as_ptr() as isize).wrapping_sub(entry as isize);
    }
    let head = std::mem::offset_of!(RobustList, entry);
    // SAFETY: the list is valid for as long as the process lives.
    unsafe { sys::call(libc::SYS_set_robust_list, [list as usize, head]) }.map(drop)
}

fn robust_list() -> Checked {
    let word = shared_word()?;
    let owner = child(|| {
        give_up_at_death(word)?;
        word.store(getpid().as_raw_pid().unsigned_abs(), SeqCst);
        // Dies with the lock as soon as somebody has asked for it.
        until(|| Ok(word.load(SeqCst) & WAITERS != 0))?;
        Ok(())
    })?;
    until(|| Ok(word.load(SeqCst) == owner.pid().as_raw_pid().unsigned_abs()))?;
    let locked = word.fetch_or(WAITERS, SeqCst) | WAITERS;
    match futex::wait(word, SHARED, locked, None) {
        Ok(()) | Err(Errno::AGAIN) => {}
        Err(error) => Err(error)?,
    }
    let left = word.load(SeqCst);
    let flags = (left & OWNER_DIED != 0, left & WAITERS != 0);
    equal("FUTEX_OWNER_DIED and FUTEX_WAITERS", flags, (true, true))?;
    equal("owner of the lock after its death", left & !(OWNER_DIED | WAITERS), 0)?;
    owner.succeeds()?;
    // SAFETY: the empty pointer is never followed: the size is refused.
    let wrong_size = unsafe { sys::call(libc::SYS_set_robust_list, [0, 1]) };
    fails("set_robust_list(2) of a wrong size", wrong_size, Errno::INVAL)
}

fn priority_lock() -> Checked {
    let word = shared_word()?;
    let owned_by =
        |pid: rustix::process::Pid| word.load(SeqCst) & !WAITERS == pid.as_raw_pid().unsigned_abs();
    lock_pi(word, SHARED, None)?;
    holds("the lock is this process's", owned_by(getpid()))?;
    fails("locking it again", lock_pi(word, SHARED, None), Errno::DEADLK)?;
    child(|| {
        fails("unlocking another's lock", unlock_pi(word, SHARED), Errno::PERM)?;
        fails("FUTEX_TRYLOCK_PI of another's lock", trylock_pi(word, SHARED), Errno::AGAIN)?;
        let past = Timespec { tv_sec: 0, tv_nsec: 1 };
        fails("locking until a time that has passed", lock_pi(word, SHARED, Some(&past)), Errno::TIMEDOUT)
    })?
    .succeeds()?;
    // A word without the traces of that waiter.
    unlock_pi(word, SHARED)?;
    lock_pi(word, SHARED, None)?;
    let other = child(|| {
        lock_pi(word, SHARED, None)?;
        holds("the lock is the child's", owned_by(getpid()))?;
        Ok(unlock_pi(word, SHARED)?)
    })?;
    until(|| Ok(word.load(SeqCst) & WAITERS != 0))?;
    unlock_pi(word, SHARED)?;
    other.succeeds()?;
    equal("word of the free lock", word.load(SeqCst), 0)?;
    holds("FUTEX_TRYLOCK_PI of a free lock", trylock_pi(word, SHARED)?)
}

fn refusals() -> Checked {
    let word = AtomicU32::new(0);
    let address = word.as_ptr() as usize;
    // SAFETY: the kernel only reads the word, and only where it may.
    let call = |address: usize, operation: i32| unsafe {
        sys::call(libc::SYS_futex, [address, operation as usize, 1, 0, 0, 0])
    };
    fails("an unaligned word", call(address + 1, libc::FUTEX_WAIT), Errno::INVAL)?;
    fails("a word at address 16", call(16, libc::FUTEX_WAIT), Errno::FAULT)?;
    fails("an unknown operation", call(address, 99), Errno::NOSYS)?;
    fails("FUTEX_WAKE_BITSET without bits", call(address, libc::FUTEX_WAKE_BITSET), Errno::INVAL)
}
