//! A machine that plays a scenario.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use machine::{Death, Event, Facts, Machine};
use protocol::{FromAgent, ToAgent, Work};

use super::words::agent;

/// What a machine does when it is told to run a case, given the number of the run.
pub(crate) type Scenario = fn(u32) -> Vec<Event>;

/// Nobody waits this long for others unless they never come.
const GATHERING: Duration = Duration::from_secs(20);

/// Many times what counts as a hang, and as the time of a case, where tests are impatient.
const STARVED: Duration = Duration::from_secs(1);

/// What the machines of a session saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) boots: usize,
    pub(crate) templates: usize,
    pub(crate) clones: usize,
    /// Clones that got files.
    pub(crate) unpacked: usize,
    pub(crate) powered_off: usize,
    pub(crate) examined: usize,
    pub(crate) sent: Vec<ToAgent>,
    /// Machines that are there.
    pub(crate) alive: usize,
    /// Machines that have been told to run a case and are there.
    pub(crate) at_work: usize,
    pub(crate) most_at_work: usize,
}

/// Where machines write down what they see.
#[derive(Debug, Default)]
pub(crate) struct Diary {
    seen: Mutex<Seen>,
    changed: Condvar,
}

/// How all machines of a source behave.
#[derive(Debug, Clone)]
pub(crate) struct Manner {
    pub(crate) scenarios: Vec<(String, Scenario)>,
    pub(crate) answers_pings: bool,
    /// A machine does nothing until so many are at work at once.
    pub(crate) gather: usize,
    /// They have no CPU of the host for all their life, and do nothing for [`STARVED`].
    pub(crate) starved: bool,
}

pub(crate) struct FakeMachine {
    manner: Manner,
    queue: VecDeque<Event>,
    ended: Cell<bool>,
    works: bool,
    start: Instant,
    diary: Arc<Diary>,
}

impl Diary {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no thread panicked")
    }

    /// One more is at work; waits for the others.
    fn begin(&self, gather: usize) {
        let mut seen = self.seen();
        seen.at_work += 1;
        seen.most_at_work = seen.most_at_work.max(seen.at_work);
        self.changed.notify_all();
        let alone = |seen: &mut Seen| seen.most_at_work < gather;
        drop(self.changed.wait_timeout_while(seen, GATHERING, alone).expect("no thread panicked"));
    }
}

impl FakeMachine {
    pub(crate) fn new(manner: &Manner, queue: VecDeque<Event>, diary: &Arc<Diary>) -> Self {
        diary.seen().alive += 1;
        let (manner, diary) = (manner.clone(), Arc::clone(diary));
        Self { manner, queue, ended: Cell::new(false), works: false, start: Instant::now(), diary }
    }
}

impl Drop for FakeMachine {
    fn drop(&mut self) {
        let mut seen = self.diary.seen();
        seen.alive -= 1;
        seen.at_work -= usize::from(self.works);
    }
}

impl Machine for FakeMachine {
    fn send(&mut self, message: &ToAgent) {
        assert!(!self.ended.get(), "a machine that ended was told {message:?}");
        self.diary.seen().sent.push(message.clone());
        match message {
            ToAgent::Run(request) => {
                let Work::Case(name) = &request.work else { panic!("only cases are planned") };
                let scenario = self.manner.scenarios.iter().find(|(known, _)| known == name);
                self.queue.extend(scenario.expect("every case has a scenario").1(request.run));
                if !std::mem::replace(&mut self.works, true) {
                    self.diary.begin(self.manner.gather);
                }
            }
            ToAgent::Ping { nonce } if self.manner.answers_pings => {
                self.queue.push_back(agent(FromAgent::Pong { nonce: *nonce }));
            }
            ToAgent::PowerOff => {
                self.diary.seen().powered_off += 1;
                self.queue.push_back(Event::Ended(Death::PoweredOff));
            }
            _ => {}
        }
    }

    fn next(&mut self, _deadline: Instant) -> Event {
        if self.manner.starved && self.start.elapsed() < STARVED {
            return Event::Quiet;
        }
        let event = self.queue.pop_front().unwrap_or(Event::Quiet);
        self.ended.set(matches!(event, Event::Ended(_)));
        event
    }

    fn examine(&mut self) -> Facts {
        self.diary.seen().examined += 1;
        Facts {
            state: vec!["RIP=0000000000000fff".to_string()],
            traces: vec!["Kernel panic - not syncing: NMI: Not continuing".to_string()],
            ..Facts::default()
        }
    }

    fn waited(&mut self) -> Duration {
        if self.manner.starved { self.start.elapsed() } else { Duration::ZERO }
    }

    fn stop(self: Box<Self>) {
        self.diary.seen().powered_off += 1;
    }
}
