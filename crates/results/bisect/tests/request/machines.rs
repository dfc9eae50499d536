//! Machines that play what a world says of them.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kernel::Kernel;
use lab::source::{BootEvent, Source, Up};
use machine::{BootFailure, BootTrouble, Death, Error, Event, Facts, Machine, Spec};
use protocol::{Counts, End, FromAgent, Report, ReportKind, ToAgent};

use crate::fake::{Does, World};

/// Boots machines of a Kernel.
pub(crate) struct FakeSource<'a> {
    pub(crate) world: &'a World,
    pub(crate) spec: &'a Spec,
    pub(crate) kernel: &'a Kernel,
}

/// A machine that knows what it does.
struct FakeMachine {
    failure: Option<&'static str>,
    queue: VecDeque<Event>,
}

impl Source for FakeSource<'_> {
    fn boot(
        &self,
        _interrupt: &AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Up, BootFailure>, Error> {
        let (image, parameters) = (&self.kernel.image, &self.spec.append);
        let before = self.world.run(image, parameters);
        on_event(BootEvent::Console("Linux version 6.1.0"));
        let unknown = World::unknown(parameters).join(" ");
        let named =
            format!("Unknown kernel command line parameters \"{unknown}\", will be passed to user space.");
        if !unknown.is_empty() {
            on_event(BootEvent::Console(&named));
        }
        let failure = match self.world.does(image, parameters) {
            Does::Passes | Does::Costs(_) | Does::CostsAndSeed(_) => None,
            Does::Fails(text) => Some(text),
            Does::FailsEach(each, text) => (before + 1).is_multiple_of(each).then_some(text),
            Does::Says(text) => {
                on_event(BootEvent::Console(text));
                None
            }
            Does::Panics => {
                let trouble = BootTrouble::Panic("Attempted to kill init!".into());
                return Ok(Err(BootFailure {
                    trouble,
                    console: Vec::new(),
                    facts: Box::default(),
                    dump: None,
                }));
            }
        };
        let machine = Box::new(FakeMachine { failure, queue: VecDeque::new() });
        Ok(Ok(Up { machine, release: "6.1.0".into(), took: Duration::from_millis(1) }))
    }
}

impl Machine for FakeMachine {
    fn send(&mut self, message: &ToAgent) {
        match message {
            ToAgent::Run(request) => self.play(request.run),
            ToAgent::Ping { nonce } => {
                self.queue.push_back(Event::Agent(FromAgent::Pong { nonce: *nonce }));
            }
            ToAgent::PowerOff => self.queue.push_back(Event::Ended(Death::PoweredOff)),
            _ => {}
        }
    }

    fn next(&mut self, _deadline: Instant) -> Event {
        self.queue.pop_front().unwrap_or(Event::Quiet)
    }

    fn examine(&mut self) -> Facts {
        Facts::default()
    }

    fn stop(self: Box<Self>) {}
}

impl FakeMachine {
    /// The case, with one check that holds, or does not.
    fn play(&mut self, run: u32) {
        let (end, counts) = match self.failure {
            Some(text) => {
                let report = Report { kind: ReportKind::Fail, text: text.into() };
                self.queue.push_back(Event::Agent(FromAgent::Report { run, report }));
                (End::Exited(1), Counts { fail: 1, ..Counts::default() })
            }
            None => (End::Exited(0), Counts { pass: 1, ..Counts::default() }),
        };
        self.queue.push_back(Event::Agent(FromAgent::Finished {
            run,
            end,
            counts,
            duration_us: 1000,
            taint_before: 0,
            taint_after: 0,
            leftovers: Vec::new(),
        }));
    }
}
