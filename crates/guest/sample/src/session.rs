//! From a request to its report.

use std::time::Duration;

use harness::clock::in_nanoseconds;
use harness::instrument::Listener;
use harness::perf::Record;
use harness::workload::{self, Over, threads};
use protocol::Report;
use protocol::sample::{SampleReport, SampleRequest};
use rustix::process::Pid;
use unwind::Image;

use crate::event::Events;
use crate::naming;
use crate::order::Order;
use crate::processes::Processes;
use crate::taken::{Taken, time_of};
use crate::tree::{Place, Tree};

/// How often the buffers are emptied, before a thousand samples a second have filled them.
const PERIOD: Duration = Duration::from_millis(50);

/// Takes samples as a request asks.
///
/// # Errors
///
/// `skip` if no samples can be taken here, or there is no such program; `broken` if the host refuses.
pub fn sample(request: &SampleRequest, listener: Listener<'_, SampleReport>) -> Result<SampleReport, Report> {
    let look = |session: &mut Session, _| {
        session.look();
        Ok(())
    };
    // Without anybody who listens it goes on until its end.
    let tell = |session: &mut Session, now| drop(listener(&session.report(now)));
    let begin = |process| Session::begin(request, process);
    let (session, over) = workload::run(&request.workload, PERIOD, begin, look, tell)?;
    Ok(session.end(&over))
}

/// What happened, in the order of time.
enum Happening {
    Recorded(Record),
    /// A file was mapped into a process.
    Mapped(u32, Image),
}

struct Session {
    request: SampleRequest,
    events: Events,
    order: Order<Happening>,
    processes: Processes,
    tree: Tree,
    samples: u64,
    lost: u64,
    throttled: u64,
    cut: u64,
}

impl Session {
    fn begin(request: &SampleRequest, process: Option<Pid>) -> Result<Self, Report> {
        let events = Events::open(request, process)?;
        let mut processes = Processes::default();
        if let Some((number, process)) = request.workload.process.zip(process) {
            // It may have ended when the first sample is read.
            processes.know(number, &threads(process)?);
        }
        Ok(Self {
            request: request.clone(),
            events,
            order: Order::default(),
            processes,
            tree: Tree::default(),
            samples: 0,
            lost: 0,
            throttled: 0,
            cut: 0,
        })
    }

    /// Reads the buffers.
    fn look(&mut self) {
        let Self { events, order, processes, .. } = self;
        for ring in &mut events.rings {
            ring.drain(&mut |bytes| {
                let Some(record) = Record::read(bytes) else { return };
                let time = time_of(bytes, &record);
                match record {
                    Record::Lost(lost) => self.lost = self.lost.saturating_add(lost),
                    Record::Throttled => self.throttled += 1,
                    Record::Map(mapping) => {
                        let image = processes.image(&mapping);
                        image
                            .into_iter()
                            .for_each(|image| order.push(time, Happening::Mapped(mapping.pid, image)));
                    }
                    record => order.push(time, Happening::Recorded(record)),
                }
            });
        }
        let certain = self.order.round();
        certain.into_iter().for_each(|happening| self.take(happening));
    }

    fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Mapped(pid, image) => self.processes.map(pid, image),
            Happening::Recorded(Record::Sample(bytes)) => {
                Taken::read(&bytes).into_iter().for_each(|taken| self.count(&taken));
            }
            Happening::Recorded(record) => self.processes.take(record),
        }
    }

    /// Counts a sample where it was taken.
    fn count(&mut self, taken: &Taken<'_>) {
        let (space, name) = self.processes.of_thread(taken.pid, taken.tid);
        let mut places = vec![Place::Thread(name.to_owned())];
        if let Some(registers) = taken.registers {
            let unwound = space.calls(registers, &mut |address| taken.word(address));
            let place = |call: &unwind::Call| match space.image(call) {
                Some(image) => Place::File(self.tree.file(image.name(), image.code()), call.file_address),
                None => Place::Unknown,
            };
            places.extend(unwound.calls.iter().rev().map(place));
            self.cut += u64::from(!unwound.is_whole && self.request.stack > 0);
        } else if taken.kernel.is_empty() {
            places.push(Place::Unknown);
        }
        places.extend(taken.kernel.iter().rev().copied().map(Place::Kernel));
        self.samples += 1;
        self.tree.add(places);
    }

    fn end(mut self, over: &Over) -> SampleReport {
        let rest = self.order.rest();
        rest.into_iter().for_each(|happening| self.take(happening));
        let named = naming::name(&self.tree);
        let user_only = self.events.is_user_only.then(|| {
            "nothing of the kernel: it needs CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less"
                .to_owned()
        });
        SampleReport {
            status: over.status(),
            signal: over.signal(),
            functions: named.functions,
            nodes: named.nodes,
            missing: named.missing.into_iter().chain(user_only).collect(),
            ..self.report(over.elapsed)
        }
    }

    /// What is known so far, without the tree.
    fn report(&self, elapsed: Duration) -> SampleReport {
        SampleReport {
            request: self.request.clone(),
            elapsed_ns: in_nanoseconds(elapsed),
            status: None,
            signal: None,
            samples: self.samples,
            lost: self.lost,
            throttled: self.throttled,
            cut: self.cut,
            functions: Vec::new(),
            nodes: Vec::new(),
            missing: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
