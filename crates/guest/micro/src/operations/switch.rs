//! From one process to another and back, both on one CPU.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use harness::check::{Checked, equal, holds};
use harness::child::{Child, child, shared_word};
use harness::sys::{block, call, fetch};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;
use rustix::process::{Signal, getpid, kill_process};
use rustix::thread::futex::{self, Flags};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("switch/pipe-ring-8", "one byte through eight processes and back, by pipes", by_ring),
    Operation::new("switch/futex", "to another process and back by two futexes", by_futex),
    Operation::new("switch/signal", "to another process and back by signals that are waited for", by_signal),
    Operation::new("switch/yield", "sched_yield(2) to another process and back, both SCHED_FIFO", by_yield),
];

/// Keeps this process and its children on one CPU.
fn on_one_cpu() -> Result<(), Errno> {
    let mut first = CpuSet::new();
    let cpu = rustix::thread::sched_getcpu();
    first.set(cpu);
    sched_setaffinity(None, &first)
}

fn by_ring(meter: &mut Meter) -> Checked {
    const PROCESSES: usize = 8;
    on_one_cpu()?;
    let mut ring = Vec::with_capacity(PROCESSES);
    let (mut from, ask) = pipe()?;
    for _ in 0..PROCESSES {
        let (next, to) = pipe()?;
        ring.push(pass_on(&from, &to)?);
        from = next;
    }
    let (mut byte, mut rounds) = ([0], 0_u8);
    meter.each(|| {
        rounds = rounds.wrapping_add(1);
        write(&ask, &byte)?;
        read(&from, &mut byte)
    })?;
    drop(ring);
    equal("processes that it came through", byte[0], rounds.wrapping_mul(PROCESSES as u8))
}

/// A child that takes a byte, adds one to it and passes it on.
fn pass_on(from: &OwnedFd, to: &OwnedFd) -> Result<Child, Errno> {
    child(|| {
        let mut byte = [0];
        while read(from, &mut byte)? == 1 {
            write(to, &[byte[0].wrapping_add(1)])?;
        }
        Ok(())
    })
}

const SHARED: Flags = Flags::empty();

/// Waits until `word` is not 0, and makes it 0.
fn take(word: &AtomicU32) -> Result<(), Errno> {
    while word.swap(0, SeqCst) == 0 {
        match futex::wait(word, SHARED, 0, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn give(word: &AtomicU32) -> Result<usize, Errno> {
    word.store(1, SeqCst);
    futex::wake(word, SHARED, 1)
}

fn by_futex(meter: &mut Meter) -> Checked {
    on_one_cpu()?;
    let [question, answer, answers] = [shared_word()?, shared_word()?, shared_word()?];
    let other = child(|| {
        loop {
            take(question)?;
            answers.fetch_add(1, SeqCst);
            give(answer)?;
        }
    })?;
    let mut questions = 0;
    meter.each(|| {
        questions += 1;
        give(question)?;
        take(answer)
    })?;
    drop(other);
    equal("answers", answers.load(SeqCst), questions)
}

fn by_signal(meter: &mut Meter) -> Checked {
    const SIGNAL: [libc::c_int; 1] = [libc::SIGUSR1];
    on_one_cpu()?;
    block(&SIGNAL)?;
    let (parent, answers) = (getpid(), shared_word()?);
    let other = child(|| {
        loop {
            fetch(&SIGNAL)?;
            answers.fetch_add(1, SeqCst);
            kill_process(parent, Signal::USR1)?;
        }
    })?;
    let mut questions = 0;
    meter.each(|| {
        questions += 1;
        other.kill(Signal::USR1)?;
        fetch(&SIGNAL)
    })?;
    drop(other);
    equal("answers", answers.load(SeqCst), questions)
}

fn give_way() -> Result<usize, Errno> {
    // SAFETY: the call takes nothing.
    unsafe { call(libc::SYS_sched_yield, []) }
}

fn by_yield(meter: &mut Meter) -> Checked {
    on_one_cpu()?;
    let parameters = libc::sched_param { sched_priority: 1 };
    let arguments = [0, libc::SCHED_FIFO as usize, (&raw const parameters).addr()];
    // SAFETY: the parameters are valid.
    unsafe { call(libc::SYS_sched_setscheduler, arguments)? };
    let turns = shared_word()?;
    let other = child(|| {
        loop {
            turns.fetch_add(1, SeqCst);
            give_way()?;
        }
    })?;
    let mut yields = 0;
    meter.each(|| {
        yields += 1;
        give_way()
    })?;
    drop(other);
    holds("the other had a turn each time", turns.load(SeqCst) >= yields)
}
