//! From a clone's start to its first answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::{FromAgent, ToAgent};

use super::Template;
use crate::error::{BootFailure, BootTrouble, Error};
use crate::vmm::own::Own;
use crate::vmm::{Booted, INTERRUPT_INTERVAL, Vmm};
use crate::{Event, Machine};

/// How much longer than the boot of its template a clone may take.
const SLOWNESS: u32 = 4;

/// Limits of that time.
const WAKE_MIN: Duration = Duration::from_secs(10);
pub(super) const WAKE_MAX: Duration = Duration::from_secs(120);

/// Most that a clone may say before its first answer and is heard later.
pub(super) const EARLY_MAX: usize = 10_000;

impl Template {
    /// Starts a clone and waits until its agent answers. Its random numbers are its own, or with
    /// `same_random_numbers` those of all such clones.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A clone that does not answer is the inner error.
    pub fn clone_machine(
        &self,
        same_random_numbers: bool,
        interrupt: &AtomicBool,
    ) -> Result<Result<Booted, BootFailure>, Error> {
        let start = Instant::now();
        let mut machine = self.start(None)?;
        let own = Own::new(!same_random_numbers)?;
        let release = self.about.release.clone();
        let woken = self.wake(&mut machine, &own, interrupt);
        Ok(woken.map(|()| Booted { machine, release, took: start.elapsed() }))
    }

    /// Waits until `machine` goes on and its agent answers.
    fn wake(&self, machine: &mut Vmm, own: &Own, interrupt: &AtomicBool) -> Result<(), BootFailure> {
        let start = Instant::now();
        let until = || Instant::now() + INTERRUPT_INTERVAL;
        while !machine.runs_by(until()).map_err(|why| machine.failure(not_started(&why)))? {
            if self.is_late(machine, start) {
                return Err(machine.failure(not_started("it does not end")));
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(machine.failure(BootTrouble::Interrupted));
            }
        }
        machine.send(&own.message());
        // Whoever does not answer this has not become a machine, whatever it would have been asked to do.
        machine.send(&ToAgent::Ping { nonce: 0 });
        let mut early = Vec::new();
        while !interrupt.load(Ordering::Relaxed) {
            match machine.next(until()) {
                Event::Agent(FromAgent::Pong { .. }) => {
                    machine.put_back(early);
                    return Ok(());
                }
                Event::Ended(death) => {
                    return Err(machine.failure(BootTrouble::of(death, self.body.spec.engine.port_option())));
                }
                Event::Quiet if self.is_late(machine, start) => {
                    return Err(machine.failure(not_started("its agent does not answer")));
                }
                Event::Quiet => {}
                event if early.len() < EARLY_MAX => early.push(event),
                _ => {}
            }
        }
        Err(machine.failure(BootTrouble::Interrupted))
    }

    /// Whether what a machine does since `start` takes too long beside the boot of its template; what it waited for
    /// the host does not count.
    pub(super) fn is_late(&self, machine: &mut Vmm, start: Instant) -> bool {
        machine.lived(start) >= (self.about.took * SLOWNESS).clamp(WAKE_MIN, WAKE_MAX)
    }
}

pub(super) fn not_started(why: &str) -> BootTrouble {
    BootTrouble::Machine(format!("a clone did not start: {why}"))
}
