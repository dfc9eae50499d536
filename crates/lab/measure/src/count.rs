//! Counts instructions on several boots of several Kernels, as many at once as the host has CPUs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use kernel::{Kernel, Store};
use machine::Spec;

use crate::context::Context;
use crate::event::Progress;
use crate::exact::{BootTake, Counted};
use crate::gathered::measurement;
use crate::table::SymbolTable;
use crate::{Failure, Job, Measurement, Profiling, Subject, procedure};
use machine::TimeoutScale;

/// A Kernel that is going to be measured.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// What it is, as far as that is known before the boot.
    pub subject: Subject,
    /// The Kernel.
    pub kernel: &'a Kernel,
    /// Its machine.
    pub spec: Spec,
    /// What is measured.
    pub jobs: Vec<Job>,
    /// The seed of its first boot; each later boot has the next one. Boots of one machine with one seed are one boot.
    pub first_seed: u64,
}

/// How it is counted.
#[derive(Debug, Clone, Copy)]
pub struct Counting {
    /// Boots of each Kernel.
    pub boots: u32,
    /// What QEMU's plugin counts beside in the first of them; in the others it counts events.
    pub profiling: Profiling,
}

/// The seed of the first boot, unless others had it before.
pub const FIRST_SEED: u64 = 1;

/// Boots of a Kernel, unless somebody wants more.
pub const BOOTS: u32 = 3;

/// Boots of a Kernel at most, unless somebody wants more. A Kernel that is compared with itself has seeds so far apart.
pub const BOOTS_MAX: u32 = 8;

/// A boot of a candidate, and what came of it.
type Done = (usize, u32, Result<BootTake, Failure>);

/// Counts.
///
/// # Errors
///
/// When one of them cannot be measured, or `interrupt` is set.
pub fn count(
    candidates: &[Candidate<'_>],
    store: &Store,
    how: Counting,
    interrupt: &AtomicBool,
    emit: &mut dyn FnMut(Progress),
) -> Result<Vec<Measurement>, Failure> {
    let todo = (0..how.boots).flat_map(|boot| (0..candidates.len()).map(move |candidate| (candidate, boot)));
    let todo = Mutex::new(todo);
    let is_over = AtomicBool::new(false);
    let procedure = procedure()?;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let tables: Vec<SymbolTable> = candidates.iter().map(|_| SymbolTable::default()).collect();
    let (sender, receiver) = channel();
    let mut takes: Vec<Vec<(u32, BootTake)>> = candidates.iter().map(|_| Vec::new()).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let sender = sender.clone();
            let next = || todo.lock().map(|mut todo| todo.next()).ok().flatten();
            let work = Work { candidates, tables: &tables, store, how, is_over: &is_over, interrupt };
            scope.spawn(move || {
                while let Some((candidate, boot)) = next().filter(|_| !work.is_over.load(Ordering::Relaxed)) {
                    work.boot(candidate, boot, &sender);
                }
            });
        }
        drop(sender);
        let mut failure = None;
        for news in receiver {
            match news {
                News::Progress(progress) => emit(progress),
                News::Done((candidate, boot, Ok(take))) => takes[candidate].push((boot, take)),
                News::Done((_, _, Err(error))) => {
                    is_over.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(()), Err)
    })?;
    Ok(candidates
        .iter()
        .zip(takes.into_iter().zip(tables))
        .map(|(candidate, (takes, table))| {
            let Candidate { subject, jobs, first_seed, .. } = candidate;
            measurement(subject, jobs, *first_seed, takes, (&table.into_symbols(), &procedure))
        })
        .collect())
}

enum News {
    Progress(Progress),
    Done(Done),
}

/// What all threads know.
#[derive(Clone, Copy)]
struct Work<'a> {
    candidates: &'a [Candidate<'a>],
    /// The symbols of each.
    tables: &'a [SymbolTable],
    store: &'a Store,
    how: Counting,
    is_over: &'a AtomicBool,
    interrupt: &'a AtomicBool,
}

impl Work<'_> {
    fn boot(&self, candidate: usize, boot: u32, sender: &Sender<News>) {
        let Candidate { subject, kernel, spec, jobs, first_seed } = &self.candidates[candidate];
        let (label, boots, store, table) =
            (&subject.label, self.how.boots, self.store, &self.tables[candidate]);
        let counted = Counted {
            label,
            kernel,
            spec,
            jobs,
            store,
            table,
            boots,
            first_seed: *first_seed,
            recording: None,
        };
        // Whoever listens has gone only when this thread is of no use any more.
        let emit = |progress| drop(sender.send(News::Progress(progress)));
        let timeouts = TimeoutScale::new(spec.engine);
        let context = Context { timeouts, interrupt: self.interrupt, emit: &emit };
        let profiling = if boot == 0 { self.how.profiling } else { Profiling::Events };
        let take = counted.boot(boot, profiling, &context);
        drop(sender.send(News::Done((candidate, boot, take))));
    }
}
