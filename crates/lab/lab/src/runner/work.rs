//! One Run: a case on a machine.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use judge::Outcome;
use judge::boot::by_host_clock;
use judge::run::Run;
use machine::Machine;

use super::conclude::{conclude, skipped};
use super::news::News;
use super::traced::Traced;
use crate::event::Event;
use crate::observe::{Asked, RunEvent, observe};
use crate::options::Options;
use crate::plan::Item;
use crate::source::Up;

/// What all who work in a session share.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) interrupt: &'a AtomicBool,
    pub(super) options: &'a Options,
    /// The kernel parameters that the user asked for.
    pub(super) parameters: String,
    boots: AtomicU32,
    clones: AtomicU32,
    runs: AtomicU32,
}

/// A machine that is ready for work, and where it is from.
pub(super) struct Fresh {
    pub(super) machine: Box<dyn Machine>,
    pub(super) boot: u32,
    /// 0 for the booted machine itself.
    pub(super) clone: u32,
    /// When its program was started.
    began: Instant,
}

impl Fresh {
    /// A machine that has just become ready.
    pub(super) fn new(up: Up, boot: u32, clone: u32) -> Self {
        let now = Instant::now();
        Self { machine: up.machine, boot, clone, began: now.checked_sub(up.took).unwrap_or(now) }
    }
}

impl<'a> Context<'a> {
    pub(super) fn new(interrupt: &'a AtomicBool, options: &'a Options, parameters: String) -> Self {
        let (boots, clones, runs) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
        Self { interrupt, options, parameters, boots, clones, runs }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// A number for the next boot, from 1.
    pub(super) fn next_boot(&self) -> u32 {
        self.boots.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A number for the next clone, from 1.
    pub(super) fn next_clone(&self) -> u32 {
        self.clones.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Runs `item`, the last on this machine or not; gives the Run and whether something else may run on the machine afterwards. Nothing if the
    /// user interrupts it; the machine is then to be dropped, which ends it at once.
    pub(super) fn run(
        &self,
        fresh: &mut Fresh,
        item: &Item,
        is_last: bool,
        emit: &mut dyn FnMut(News),
    ) -> Option<(Run, bool)> {
        let (boot, clone) = (fresh.boot, fresh.clone);
        emit(News::Event(Event::Started { case: item.name.clone(), clone }));
        let mut hear = |heard: RunEvent<'_>| {
            emit(match heard {
                RunEvent::Console(line) => {
                    News::Event(Event::Console { boot, clone, line: line.to_string() })
                }
                RunEvent::Output(line) => {
                    News::Event(Event::Output { case: item.name.clone(), clone, line: line.to_string() })
                }
                RunEvent::Hazard(hazard) => News::Event(Event::Hazard {
                    case: item.name.clone(),
                    clone,
                    hazard: Box::new(hazard.clone()),
                }),
                RunEvent::Settling => News::Settling,
            });
        };
        // No earlier Run of this session had this number.
        let number = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let seed = self.options.seed.unwrap_or_else(random);
        if let Err(why) = fresh.machine.begin_hazards() {
            return Some((Run { clone, seed, boot, ..skipped(item, &why) }, true));
        }
        let tracing = self.options.tracing.as_ref();
        let traced = tracing.map(|tracing| Traced::start(&*fresh.machine, tracing, &item.name, clone));
        let trace = tracing.map(|tracing| &tracing.request);
        let asked = Asked { run: number, seed, item, settle: self.options.settle(is_last), trace };
        let seen = observe(&mut *fresh.machine, asked, self.options.timeouts, self.interrupt, &mut hear)?;
        let sites = fresh.machine.end_hazards();
        if !sites.is_empty() {
            emit(News::Event(Event::Waited { case: item.name.clone(), clone, sites }));
        }
        let spoiled = seen.spoiled;
        let (mut run, damaged) = conclude(item, boot, seen);
        if let Some(note) = traced.and_then(|traced| traced.finish(run.outcome)) {
            // Of what passed nobody sees the notes otherwise.
            if run.outcome == Outcome::Pass {
                emit(News::Event(Event::Note { text: format!("{}: {note}", item.name) }));
            }
            run.notes.push(note);
        }
        let run = by_host_clock(run, fresh.began.elapsed());
        Some((Run { clone, seed, ..run }, !spoiled && !damaged))
    }
}

/// A number that nobody could have guessed: each hasher of the standard library has keys of its own.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
