//! `switch`, `context`, `futex`, `membarrier`, `pthread`: from one thread of execution to another.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use harness::check::{Checked, equal, fails, holds, skip};
use harness::child::shared_word;
use harness::clock::monotonic;
use harness::sys::{call, succeeded};
use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;
use rustix::thread::{MembarrierCommand, futex, membarrier, membarrier_query};
use rustix::time::Timespec;

use crate::Worker;
use crate::kit::helper::helper;
use crate::stressor::{Class, Figure, Need, Setting, Stressor, number};

const THREADS: Setting = number("threads", "threads at a time", 1..=256, 16);
const SWITCH_TIME: Figure = Figure::new("round-trip", "ns");

const SWITCHING: Stressor = Stressor { classes: &[Class::Scheduler, Class::Os], ..Stressor::PLAIN };

pub(super) const SWITCH: Stressor = Stressor {
    name: "switch",
    about: "a byte to another process and back: two context switches",
    operation: "a round trip",
    verifies: "the byte comes back counted up",
    rates: &[SWITCH_TIME],
    body: ping_pong,
    ..SWITCHING
};

pub(super) const CONTEXT: Stressor = Stressor {
    name: "context",
    classes: &[Class::Cpu, Class::Memory],
    about: "contexts of user space, each with a stack of its own: swapcontext(3)",
    operation: "three contexts entered in turn",
    verifies: "the order, and that each context keeps its own variables",
    body: contexts,
    ..SWITCHING
};

pub(super) const FUTEX: Stressor = Stressor {
    name: "futex",
    about: "two processes that wait for each other: futex(2)",
    operation: "a wait and a wake-up each way",
    verifies: "words change in turn; a wait for another value gives EAGAIN, and one in vain ETIMEDOUT",
    needs: &[Need::Config("FUTEX")],
    body: turns,
    ..SWITCHING
};

pub(super) const MEMBARRIER: Stressor = Stressor {
    name: "membarrier",
    classes: &[Class::Cpu, Class::Memory, Class::Scheduler],
    about: "barriers that one thread makes for all: membarrier(2)",
    operation: "a barrier of each kind, while another thread writes",
    verifies: "no thread sees the second of two words without the first",
    needs: &[Need::Config("MEMBARRIER")],
    body: barriers,
    ..SWITCHING
};

pub(super) const PTHREAD: Stressor = Stressor {
    name: "pthread",
    about: "threads made and joined: pthread_create(3)",
    operation: "a thread",
    verifies: "each thread has an id of its own in this process, and gives its result",
    options: &[THREADS],
    body: threads,
    ..SWITCHING
};

fn ping_pong(worker: &Worker) -> Checked {
    let ((there, to_other), (back, to_here)) = (pipe()?, pipe()?);
    let other = helper(|| {
        let mut byte = [0];
        while read(&there, &mut byte)? == 1 {
            write(&to_here, &[byte[0].wrapping_add(1)])?;
        }
        Ok(())
    })?;
    let (mut byte, begun, before) = ([0], monotonic(), worker.operations());
    worker.repeat(|| {
        let sent = byte[0];
        write(&to_other, &byte)?;
        equal("bytes that come back", read(&back, &mut byte)?, 1)?;
        equal("the byte that comes back", byte[0], sent.wrapping_add(1))
    })?;
    let trips = worker.operations() - before;
    if trips > 0 {
        worker.rate(&SWITCH_TIME, (monotonic() - begun) as f64 / trips as f64);
    }
    drop(other);
    Ok(())
}

/// What contexts share: a place to go back to, and what each has counted.
struct Contexts {
    all: [libc::ucontext_t; 3],
    main: libc::ucontext_t,
    order: Vec<usize>,
}

extern "C" fn enter(low: u32, high: u32, number: u32) {
    // A pointer in two halves: makecontext(3) takes numbers.
    let contexts =
        std::ptr::with_exposed_provenance_mut::<Contexts>((u64::from(high) << 32 | u64::from(low)) as usize);
    let (mut own, number) = (0_usize, number as usize);
    loop {
        // SAFETY: the structure outlives its contexts, and only one of them runs at a time.
        unsafe {
            (*contexts).order.push(number * 1000 + own);
            own = (own + 1) % 1000;
            let (this, next) = (&raw mut (*contexts).all[number], number + 1);
            let next = if next < 3 { &raw const (*contexts).all[next] } else { &raw const (*contexts).main };
            libc::swapcontext(this, next);
        }
    }
}

fn contexts(worker: &Worker) -> Checked {
    // SAFETY: all zeroes is a valid value until it is filled.
    let zero = || unsafe { std::mem::zeroed::<libc::ucontext_t>() };
    let mut contexts =
        Box::new(Contexts { all: [zero(), zero(), zero()], main: zero(), order: Vec::with_capacity(8) });
    let pointer = &raw mut *contexts;
    let address = pointer.expose_provenance() as u64;
    let mut stacks = vec![vec![0_u8; 65536]; 3];
    for (stack, number) in stacks.iter_mut().zip(0_u32..) {
        let context = &mut contexts.all[number as usize];
        // SAFETY: filled here, with a stack that outlives it.
        unsafe {
            succeeded(libc::getcontext(&raw mut *context))?;
            (context.uc_stack.ss_sp, context.uc_stack.ss_size) = (stack.as_mut_ptr().cast(), stack.len());
            let function = std::mem::transmute::<extern "C" fn(u32, u32, u32), extern "C" fn()>(enter);
            libc::makecontext(&raw mut *context, function, 3, address as u32, (address >> 32) as u32, number);
        }
    }
    let mut round = 0;
    worker.repeat(|| {
        // SAFETY: the contexts are ready, and come back to this one.
        let order = unsafe {
            (*pointer).order.clear();
            succeeded(libc::swapcontext(&raw mut (*pointer).main, &raw const (*pointer).all[0]))?;
            (*pointer).order.clone()
        };
        equal("order and counts", order, vec![round, 1000 + round, 2000 + round])?;
        round = (round + 1) % 1000;
        Ok(())
    })
}

fn turns(worker: &Worker) -> Checked {
    let word = shared_word()?;
    let flags = futex::Flags::empty();
    let wait = |unwanted| match futex::wait(word, flags, unwanted, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    };
    // Even numbers are for the other process, odd ones for this one.
    let other = helper(|| {
        loop {
            let number = word.load(Ordering::Acquire);
            if number % 2 == 0 {
                wait(number)?;
            } else {
                word.store(number.wrapping_add(1), Ordering::Release);
                futex::wake(word, flags, 1)?;
            }
        }
    })?;
    let short = Timespec { tv_sec: 0, tv_nsec: 1000 };
    let lonely = AtomicU32::new(5);
    worker.repeat(|| {
        let before = word.load(Ordering::Acquire);
        word.store(before.wrapping_add(1), Ordering::Release);
        futex::wake(word, flags, 1)?;
        while word.load(Ordering::Acquire) == before.wrapping_add(1) {
            wait(before.wrapping_add(1))?;
        }
        equal("the word", word.load(Ordering::Acquire), before.wrapping_add(2))?;
        fails("a wait for another value", futex::wait(&lonely, flags, 6, Some(&short)), Errno::AGAIN)?;
        fails("a wait in vain", futex::wait(&lonely, flags, 5, Some(&short)), Errno::TIMEDOUT)?;
        equal("wake-ups of nobody", futex::wake(&lonely, flags, 1)?, 0)
    })?;
    drop(other);
    Ok(())
}

fn barriers(worker: &Worker) -> Checked {
    let known = membarrier_query();
    let commands = [
        (None, MembarrierCommand::Global),
        (Some(MembarrierCommand::RegisterPrivateExpedited), MembarrierCommand::PrivateExpedited),
        (Some(MembarrierCommand::RegisterGlobalExpedited), MembarrierCommand::GlobalExpedited),
    ];
    let mut usable = Vec::new();
    for (register, command) in commands {
        if known.contains_command(command) {
            register.map_or(Ok(()), membarrier)?;
            usable.push(command);
        }
    }
    if usable.is_empty() {
        return skip("this kernel has no barriers");
    }
    let (first, second, ends) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while ends.load(Ordering::Relaxed) == 0 {
                number += 1;
                first.store(number, Ordering::Relaxed);
                // The compiler keeps the order; the processor's is up to the other thread's barrier.
                std::sync::atomic::compiler_fence(Ordering::SeqCst);
                second.store(number, Ordering::Relaxed);
            }
        });
        let result = worker.repeat(|| {
            for &command in &usable {
                let seen = second.load(Ordering::Relaxed);
                membarrier(command)?;
                holds("the first word is at least as new", first.load(Ordering::Relaxed) >= seen)?;
            }
            Ok(())
        });
        ends.store(1, Ordering::Relaxed);
        result
    })
}

fn threads(worker: &Worker) -> Checked {
    let count = worker.value(&THREADS);
    // SAFETY: only asks.
    let id = || unsafe { call(libc::SYS_gettid, []) };
    let own = id()?;
    while worker.goes_on() {
        let results = thread::scope(|scope| {
            let all: Vec<_> = (0..count)
                .filter_map(|number| {
                    thread::Builder::new().spawn_scoped(scope, move || (id(), number * number)).ok()
                })
                .collect();
            all.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        if results.is_empty() {
            return harness::check::broken("no more threads: RLIMIT_NPROC, or pids.max of the cgroup");
        }
        let mut ids = vec![own];
        for (result, number) in results.into_iter().zip(0..) {
            let Ok((id, square)) = result else {
                return harness::check::fail("a thread did not come to its end");
            };
            equal("the result of a thread", square, number * number)?;
            ids.push(id?);
            worker.count();
        }
        let total = ids.len();
        ids.sort_unstable();
        ids.dedup();
        equal("different ids", ids.len(), total)?;
    }
    Ok(())
}
