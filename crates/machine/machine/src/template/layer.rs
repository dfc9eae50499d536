//! A template made from another one: its clones find modules loaded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use protocol::{FromAgent, ToAgent};

use super::{About, Template};
use crate::error::{BootFailure, BootTrouble, Error};
use crate::hosted::launch::Origin;
use crate::hosted::own::Own;
use crate::hosted::{Hosted, INTERRUPT_INTERVAL};
use crate::{Event, Machine};

/// Most records of the kernel log that are kept.
const RECORDS_MAX: usize = 10_000;

/// A template whose clones find modules loaded.
#[derive(Debug)]
pub struct Layered {
    /// The template.
    pub template: Template,
    /// What the kernel logged while they were loaded.
    pub log: Vec<String>,
}

impl Template {
    /// Loads modules in a copy of this machine, in this order, by their paths in it. Those that cannot be loaded
    /// are left out: the case that needs them finds out itself.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A machine that does not survive it is the inner error.
    pub fn with_modules(
        &self,
        modules: &[String],
        interrupt: &AtomicBool,
    ) -> Result<Result<Layered, BootFailure>, Error> {
        let memory = self.memory.copy()?;
        let mut machine = self.start(Origin::Layer { memory: memory.descriptor()?, state: self.state()? })?;
        let own = Own::new(true)?;
        let loaded = self
            .wake(&mut machine, &own, interrupt)
            .and_then(|()| self.load(&mut machine, modules, interrupt))
            .and_then(|log| {
                let frozen = machine.freeze();
                Ok((frozen.map_err(|why| machine.failure(BootTrouble::Unclonable(why)))?, log))
            });
        Ok(loaded.map(|(frozen, log)| {
            let about = About { console: Vec::new(), ..self.about.clone() };
            Layered { template: Template { body: self.body.clone(), memory, frozen, about }, log }
        }))
    }

    /// Has the agent load them; gives what the kernel logged.
    fn load(
        &self,
        machine: &mut Hosted,
        modules: &[String],
        interrupt: &AtomicBool,
    ) -> Result<Vec<String>, BootFailure> {
        machine.tell(&ToAgent::Prepare { modules: modules.to_vec() });
        let start = Instant::now();
        let mut log = Vec::new();
        while !interrupt.load(Ordering::Relaxed) {
            match machine.next(Instant::now() + INTERRUPT_INTERVAL) {
                Event::Agent(FromAgent::Prepared) => return Ok(log),
                Event::Agent(FromAgent::Log(record)) if log.len() < RECORDS_MAX => log.push(record.text),
                Event::Ended(death) => {
                    return Err(machine.failure(BootTrouble::of(death, self.body.spec.engine)));
                }
                Event::Quiet if self.is_late(machine, start) => {
                    let why = "loading modules has no end".to_string();
                    return Err(machine.failure(BootTrouble::Machine(why)));
                }
                _ => {}
            }
        }
        Err(machine.failure(BootTrouble::Interrupted))
    }
}
