//! What a script asks goes to a machine, a command or a segment of its step.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use judge::Blame;
use script::call::{Call, LabCall, Request, SegmentCall};
use script::describe::{MachineDescription, SegmentDescription};
use script::id::MachineId;
use script::{Answer, Bench, ErrorName, Trouble};

use super::calling::Calling;
use super::describe::Making;
use super::guest::Guest;
use super::kept::Kept;
use super::setting::Setting;
use super::wire::{Wire, of_segment};
use super::{inside, outside};

/// Where an experiment finds its machines: on this host.
pub struct Laboratory<'a> {
    setting: Setting<'a>,
    kept: Kept,
    inventory: Mutex<Inventory>,
}

/// What a step has.
#[derive(Debug, Default)]
struct Inventory {
    guests: BTreeMap<MachineId, Arc<Guest>>,
    wires: BTreeMap<u32, Arc<Wire>>,
    /// Machines by their commands, and the numbers of those there.
    jobs: BTreeMap<u32, (MachineId, u32)>,
    last: u32,
}

impl Inventory {
    fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }
}

impl std::fmt::Debug for Laboratory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Laboratory").field("folder", &self.setting.folder).finish_non_exhaustive()
    }
}

impl<'a> Laboratory<'a> {
    /// A laboratory without machines.
    #[must_use]
    pub fn new(setting: Setting<'a>) -> Self {
        let kept = Kept::new(setting.results.clone());
        Self { setting, kept, inventory: Mutex::default() }
    }

    /// The identities of the roots that its machines had, by their locators.
    #[must_use]
    pub fn roots(&self) -> BTreeMap<String, String> {
        self.kept.roots()
    }

    fn inventory(&self) -> MutexGuard<'_, Inventory> {
        self.inventory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_interrupted(&self) -> bool {
        self.setting.interrupt.load(Ordering::Relaxed)
    }

    fn cancelled(&self) -> bool {
        self.is_interrupted() || Instant::now() >= self.setting.deadline
    }

    fn guest(&self, machine: MachineId) -> Result<Arc<Guest>, Trouble> {
        let guest = self.inventory().guests.get(&machine).cloned();
        guest.ok_or_else(|| Trouble::broken(Blame::Kiln, "the machine of a call is not there"))
    }

    fn wire(&self, segment: u32) -> Result<Arc<Wire>, Trouble> {
        let wire = self.inventory().wires.get(&segment).cloned();
        wire.ok_or_else(|| Trouble::broken(Blame::Kiln, "the segment of a call is not there"))
    }

    fn perform(&self, call: &Call) -> Result<Answer, Trouble> {
        match call {
            Call::Lab(LabCall::Machine(wanted)) => self.machine(wanted),
            Call::Lab(LabCall::Segment(wanted)) => self.segment(wanted),
            Call::Lab(LabCall::Sleep { time }) => {
                let end = Instant::now() + *time;
                while Instant::now() < end && !self.cancelled() {
                    let left = end.saturating_duration_since(Instant::now());
                    std::thread::sleep(left.min(INTERVAL));
                }
                Ok(Answer::Done)
            }
            Call::Guest { machine, call } => {
                self.on(*machine, |guest, calling| inside::call(guest, call, calling))
            }
            Call::Machine { machine, call } => {
                self.on(*machine, |guest, calling| outside::call(guest, call, calling))
            }
            Call::Job { job, call } => {
                let found = self.inventory().jobs.get(job).copied();
                let (machine, number) = found
                    .ok_or_else(|| Trouble::broken(Blame::Kiln, "the command of a call is not there"))?;
                self.on(machine, |guest, calling| inside::of_job(guest, number, call, calling.cancelled))
            }
            Call::Segment { segment, call } => self.of_segment(*segment, call),
        }
    }

    /// Does something with a machine.
    fn on(
        &self,
        machine: MachineId,
        work: impl FnOnce(&Guest, &Calling<'_>) -> Result<Answer, Trouble>,
    ) -> Result<Answer, Trouble> {
        let guest = self.guest(machine)?;
        let subject = self.setting.subject(guest.subject())?;
        let cancelled = || self.cancelled();
        let calling = Calling { setting: &self.setting, subject, kept: &self.kept, cancelled: &cancelled };
        Ok(match work(&guest, &calling)? {
            Answer::Job(job) => Answer::Job(self.new_job(machine, job)),
            answer => answer,
        })
    }

    /// The number by which the script knows a command of a machine.
    fn new_job(&self, machine: MachineId, job: u32) -> u32 {
        let mut inventory = self.inventory();
        let number = inventory.number();
        inventory.jobs.insert(number, (machine, job));
        number
    }

    fn machine(&self, wanted: &MachineDescription) -> Result<Answer, Trouble> {
        let (number, wires) = {
            let mut inventory = self.inventory();
            (inventory.number(), inventory.wires.clone())
        };
        let subject = wanted.kernel.unwrap_or_default();
        let making = Making {
            setting: &self.setting,
            subject: self.setting.subject(subject)?,
            folder: &self.kept.folder,
        };
        let parts = making.parts(wanted, number, &wires)?;
        parts.spec.root.as_deref().map_or(Ok(()), |root| self.kept.add_root(root))?;
        let may_be_clone = wanted.clone.unwrap_or(true) && !self.setting.no_clones;
        let guest = Guest::start(parts, (subject, may_be_clone), self.setting.interrupt)?;
        self.inventory().guests.insert(number, Arc::new(guest));
        Ok(Answer::Machine(number))
    }

    fn segment(&self, wanted: &SegmentDescription) -> Result<Answer, Trouble> {
        // Others work meanwhile: a way out takes time.
        let number = self.inventory().number();
        let seed = wanted.seed.unwrap_or(self.setting.seed);
        let wire = Wire::new(number, seed, wanted)?;
        self.inventory().wires.insert(number, Arc::new(wire));
        Ok(Answer::Segment(number))
    }

    fn of_segment(&self, segment: u32, call: &SegmentCall) -> Result<Answer, Trouble> {
        let wire = self.wire(segment)?;
        match call {
            SegmentCall::Impair { sender, receiver, impairment } => {
                wire.impair((*sender, *receiver), impairment).map(|()| Answer::Done)
            }
            SegmentCall::Cut { a, b } => wire.cut(*a, *b).map(|()| Answer::Done),
            SegmentCall::Heal {} => wire.heal().map(|()| Answer::Done),
            SegmentCall::Statistics {} => wire.statistics().map(Answer::Plain),
            SegmentCall::Capture {} => {
                let recorded = wire.segment.recorded().map_err(|error| of_segment(&error))?;
                self.kept.keep("frames.pcapng", &recorded).map(|name| Answer::Text(name.into_bytes()))
            }
        }
    }
}

/// How often a script that sleeps looks whether it should stop.
const INTERVAL: Duration = Duration::from_millis(100);

impl Bench for Laboratory<'_> {
    fn call(&self, request: &Request) -> Result<Answer, Trouble> {
        (self.setting.on_call)(request);
        let answer = self.perform(&request.call);
        // Whatever came of it then: the user did it, not the kernel, and the next run asks again.
        if self.is_interrupted() {
            return Err(Trouble::broken(Blame::Host, "the experiment is interrupted"));
        }
        let reported = self.reports(&request.allow);
        // What a machine did not reach then says nothing about its kernel.
        self.check_wires()?;
        // What went wrong first is the cause, and reports of a kernel that died belong to that.
        let answer = answer?;
        reported.map(|()| answer)
    }

    fn end_step(&self, _step: &str) -> Result<(), Trouble> {
        let reported = self.reports(&[]).and_then(|()| self.check_wires());
        let ended = std::mem::take(&mut *self.inventory());
        self.inventory().last = ended.last;
        // Machines go before the segments that they are on.
        drop(ended.guests);
        reported
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled()
    }
}

impl Laboratory<'_> {
    /// Whether all segments are as they were made.
    fn check_wires(&self) -> Result<(), Trouble> {
        self.inventory().wires.values().try_for_each(|wire| wire.check())
    }

    /// A defect that a kernel has reported since this was asked last, unless the script expects one.
    fn reports(&self, allow: &[ErrorName]) -> Result<(), Trouble> {
        let guests: Vec<Arc<Guest>> = self.inventory().guests.values().cloned().collect();
        let reports: Vec<_> = guests.iter().flat_map(|guest| guest.new_reports()).collect();
        match reports.first() {
            Some(first) if !allow.contains(&ErrorName::Report) => {
                Err(Trouble::new(ErrorName::Report, first.title.clone()).with_evidence(first.lines.clone()))
            }
            _ => Ok(()),
        }
    }
}
