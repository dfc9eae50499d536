//! Listens to a machine all the time: one to which nobody listens stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use machine::{Event, Machine, Vmm};
use protocol::ToAgent;

use super::transcript::Transcript;

/// How long an order may lie before the thread sees it.
const INTERVAL: Duration = Duration::from_millis(4);

/// How often whoever waits for what takes long looks whether it is still wanted.
const CANCEL_INTERVAL: Duration = Duration::from_millis(100);

/// A machine that says nothing for so long is asked whether it is alive.
const PING_AFTER: Duration = Duration::from_secs(2);

/// What the thread does between two events.
type Work = Box<dyn FnOnce(&mut Vmm) + Send>;

enum Order {
    Work(Work),
    /// The machine goes: with its power, or by its own leave.
    End {
        powers_off: bool,
    },
    /// Somebody else listens to it from now on.
    HandOver,
}

/// A machine, and the thread that listens to it.
pub(super) struct Pump {
    orders: Sender<Order>,
    thread: Option<JoinHandle<Option<Vmm>>>,
}

impl std::fmt::Debug for Pump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump").finish_non_exhaustive()
    }
}

impl Pump {
    /// Listens to `machine`; what it says goes to `transcript`.
    pub(super) fn start(machine: Vmm, transcript: Arc<Transcript>) -> Self {
        let (orders, received) = channel();
        let thread = std::thread::spawn(move || listen(machine, &transcript, &received));
        Self { orders, thread: Some(thread) }
    }

    /// Sends the agent something.
    pub(super) fn send(&self, message: ToAgent) {
        self.order(Order::Work(Box::new(move |machine| machine.send(&message))));
    }

    /// Does something with the machine and gives what came of it; nothing if the thread is gone.
    pub(super) fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vmm) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = channel();
        // Whoever waits for the answer is still there.
        self.order(Order::Work(Box::new(move |machine| drop(sender.send(work(machine))))));
        answer.recv().ok()
    }

    /// The same with something that takes long: it learns by the flag that it is given up.
    pub(super) fn long_work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vmm, &AtomicBool) -> T + Send + 'static,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<T> {
        let is_given_up = Arc::new(AtomicBool::new(false));
        let (flag, (sender, answer)) = (Arc::clone(&is_given_up), channel());
        // Whoever waits for the answer is still there.
        self.order(Order::Work(Box::new(move |machine| drop(sender.send(work(machine, &flag))))));
        loop {
            match answer.recv_timeout(CANCEL_INTERVAL) {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => is_given_up.store(cancelled(), Ordering::Relaxed),
            }
        }
    }

    /// Takes the power away and waits until the machine is gone.
    pub(super) fn cut_power(self) {
        self.order(Order::End { powers_off: false });
    }

    /// Lets the machine power off and waits until it has.
    pub(super) fn power_off(self) {
        self.order(Order::End { powers_off: true });
    }

    /// Gives the machine out, which has been heard up to now; nothing if the thread is gone.
    pub(super) fn into_machine(mut self) -> Option<Vmm> {
        self.order(Order::HandOver);
        // A panic of the thread was reported when it happened.
        self.thread.take()?.join().ok()?
    }

    fn order(&self, order: Order) {
        // A thread that is gone has no machine to do it with.
        let _ = self.orders.send(order);
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.order(Order::End { powers_off: false });
        // A panic of the thread was reported when it happened.
        self.thread.take().map(JoinHandle::join);
    }
}

/// Takes in what the machine has said up to now.
pub(super) fn hear(machine: &mut Vmm, transcript: &Transcript) {
    loop {
        match machine.next(Instant::now()) {
            Event::Quiet => return,
            // A machine that has ended says so each time.
            end @ Event::Ended(_) => return transcript.take(end),
            event => transcript.take(event),
        }
    }
}

/// Listens until the machine has gone, or is handed over.
fn listen(mut machine: Vmm, transcript: &Transcript, orders: &Receiver<Order>) -> Option<Vmm> {
    let mut silence = Silence::begin(&mut machine);
    let mut is_over = false;
    loop {
        // A machine that is over says nothing, but what is known of it may be asked for.
        let order =
            if is_over { orders.recv().map_err(|_| TryRecvError::Disconnected) } else { orders.try_recv() };
        match order {
            Ok(Order::Work(work)) => {
                work(&mut machine);
                continue;
            }
            Ok(Order::End { powers_off: true }) => {
                Box::new(machine).stop();
                return None;
            }
            Ok(Order::End { powers_off: false }) | Err(TryRecvError::Disconnected) => {
                machine.cut_power();
                return None;
            }
            Ok(Order::HandOver) => {
                hear(&mut machine, transcript);
                return Some(machine);
            }
            Err(TryRecvError::Empty) => {}
        }
        match machine.next(Instant::now() + INTERVAL) {
            Event::Quiet => silence.look(&mut machine, transcript),
            event => {
                is_over = matches!(event, Event::Ended(_));
                silence = Silence::begin(&mut machine);
                transcript.silent_for(Duration::ZERO);
                transcript.take(event);
            }
        }
    }
}

/// For how long a machine has said nothing, without what it waited for a CPU.
struct Silence {
    since: Instant,
    waited: Duration,
    asked: Duration,
}

impl Silence {
    fn begin(machine: &mut Vmm) -> Self {
        Self { since: Instant::now(), waited: machine.waited(), asked: Duration::ZERO }
    }

    fn look(&mut self, machine: &mut Vmm, transcript: &Transcript) {
        let waited = machine.waited().saturating_sub(self.waited);
        let silence = self.since.elapsed().saturating_sub(waited);
        if silence >= self.asked + PING_AFTER {
            self.asked = silence;
            machine.send(&ToAgent::Ping { nonce: 0 });
            transcript.silent_for(silence);
        }
    }
}
