//! Looks for performance hazards, with kiln at the other end of a socket: see [`protocol::hazard`].

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::hazard::{BEGIN, Block, END, Hot, Message, SITES_MAX, Site, WAITS, WORKS};

use crate::spins::{Code, Spins, Step};

/// Most different pieces of code; what comes later is not looked at.
const CODES_MAX: usize = 1 << 20;

/// Times in a loop that the machine is stopped one after the other.
const STOPS: u64 = 8;

/// How long kiln may take for an answer. It reads the whole machine meanwhile.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What all CPUs share.
#[derive(Debug)]
pub struct Hazards {
    /// A loop that is passed more often is a hazard, if it waits.
    bound: u64,
    is_watching: AtomicBool,
    /// The CPUs stand still.
    is_held: AtomicBool,
    /// One CPU asks at a time.
    asking: Mutex<()>,
    gate: Mutex<()>,
    opened: Condvar,
    answer: Mutex<Option<u8>>,
    answered: Condvar,
    channel: UnixStream,
    codes: Mutex<HashSet<&'static Code>>,
    sites: Mutex<Sites>,
}

/// The loops that were passed too often.
#[derive(Debug, Default)]
struct Sites {
    numbers: HashMap<Vec<u64>, u32>,
    /// By number: how often, or nothing for one that does something.
    known: Vec<Option<Site>>,
}

impl Sites {
    /// The number of the loop with these blocks; nothing if there are too many.
    fn number(&mut self, pass: &[&Code]) -> Option<u32> {
        let addresses: Vec<u64> = pass.iter().map(|code| code.address).collect();
        if let Some(number) = self.numbers.get(&addresses) {
            return Some(*number);
        }
        let number = u32::try_from(self.numbers.len()).ok().filter(|_| self.numbers.len() < SITES_MAX)?;
        self.numbers.insert(addresses, number);
        Some(number)
    }

    /// Whether all CPUs are to stop in this loop. All locks of a kind wait in one loop: so it is looked at now and then for which, and for
    /// whom, each time more rarely.
    fn is_worth_a_stop(&self, number: u32) -> bool {
        match self.known.get(number as usize) {
            None => true,
            Some(None) => false,
            Some(Some(site)) => site.times < STOPS || (site.times + 1).is_power_of_two(),
        }
    }

    /// Whether a loop waits.
    fn learn(&mut self, number: u32, waits: bool) {
        if self.known.len() == number as usize {
            self.known.push(waits.then(|| Site { site: number, ..Site::default() }));
        }
    }

    /// Counts passes of a loop that waits.
    fn count(&mut self, number: u32, times: u64, passes: u64, longest: u64) {
        if let Some(Some(site)) = self.known.get_mut(number as usize) {
            site.times += times;
            site.passes += passes;
            site.longest = site.longest.max(longest);
        }
    }
}

impl Hazards {
    /// Hazards that are told over this socket.
    #[must_use]
    pub fn new(channel: UnixStream, bound: u64) -> Self {
        Self {
            bound,
            is_watching: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            asking: Mutex::default(),
            gate: Mutex::default(),
            opened: Condvar::new(),
            answer: Mutex::default(),
            answered: Condvar::new(),
            channel,
            codes: Mutex::default(),
            sites: Mutex::default(),
        }
    }

    /// The one piece of code that is like this; nothing if there are too many.
    pub fn code(&self, code: Code) -> Option<&'static Code> {
        let mut codes = lock(&self.codes);
        if let Some(known) = codes.get(&code) {
            return Some(known);
        }
        if codes.len() >= CODES_MAX {
            return None;
        }
        let code: &'static Code = Box::leak(Box::new(code));
        codes.insert(code);
        Some(code)
    }

    /// A CPU begins with a block.
    pub fn enter(&self, cpu: u32, spins: &mut Spins, code: &'static Code) {
        if !self.is_watching.load(Ordering::Relaxed) {
            return;
        }
        if self.is_held.load(Ordering::Relaxed) {
            self.stand_still();
        }
        match spins.enter(code) {
            Step::Pass(passes) if passes == self.bound => self.is_hot(cpu, spins),
            Step::Over(passes) if passes >= self.bound => self.was_hot(spins, passes),
            Step::Other | Step::Pass(_) | Step::Over(_) => {}
        }
    }

    /// Waits until the CPUs may go on.
    fn stand_still(&self) {
        let mut gate = lock(&self.gate);
        while self.is_held.load(Ordering::Relaxed) {
            gate = self.opened.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn hold(&self, is_held: bool) {
        let _gate = lock(&self.gate);
        self.is_held.store(is_held, Ordering::Relaxed);
        self.opened.notify_all();
    }

    /// A loop has been passed as often as is a hazard.
    fn is_hot(&self, cpu: u32, spins: &mut Spins) {
        let pass = spins.pass();
        // Others that want to ask stand still, too.
        let _asking = lock(&self.asking);
        let Some(number) = lock(&self.sites).number(&pass) else { return };
        spins.site = Some(number);
        if lock(&self.sites).is_worth_a_stop(number) {
            self.hold(true);
            let block = |code: &&Code| Block { address: code.address, code: code.bytes.to_vec() };
            let hot = Hot { site: number, cpu, blocks: pass.iter().map(block).collect() };
            let waits = self.ask(&Message::Hot(hot));
            lock(&self.sites).learn(number, waits);
            self.hold(false);
        }
        lock(&self.sites).count(number, 1, self.bound, self.bound);
    }

    /// Says something and waits for the answer: whether it waits. Without an answer it does not.
    fn ask(&self, message: &Message) -> bool {
        if !self.say(message) {
            return false;
        }
        let answer = lock(&self.answer);
        let (mut answer, _) = self
            .answered
            .wait_timeout_while(answer, TIMEOUT, |answer| answer.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        answer.take() == Some(WAITS)
    }

    fn say(&self, message: &Message) -> bool {
        message.to_bytes().is_some_and(|bytes| (&self.channel).write_all(&bytes).is_ok())
    }

    /// A loop that was passed too often is over.
    fn was_hot(&self, spins: &mut Spins, passes: u64) {
        if let Some(number) = spins.site.take() {
            lock(&self.sites).count(number, 0, passes - self.bound, passes);
        }
    }

    /// Does what kiln says, until it is gone.
    pub fn listen(&self) {
        let mut byte = [0];
        while (&self.channel).read_exact(&mut byte).is_ok() {
            match byte[0] {
                BEGIN => self.is_watching.store(true, Ordering::Relaxed),
                END => {
                    self.is_watching.store(false, Ordering::Relaxed);
                    let sites = lock(&self.sites).known.iter().copied().flatten().collect();
                    self.say(&Message::Sites(sites));
                }
                answer @ (WAITS | WORKS) => {
                    *lock(&self.answer) = Some(answer);
                    self.answered.notify_all();
                }
                _ => {}
            }
        }
        self.is_watching.store(false, Ordering::Relaxed);
        *lock(&self.answer) = Some(WORKS);
        self.answered.notify_all();
    }
}

/// What another thread leaves behind that panicked is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::hazard::Messages;

    use super::*;

    /// A plugin, and the other end of its socket.
    fn plugin(bound: u64) -> (Arc<Hazards>, UnixStream) {
        let (own, its) = UnixStream::pair().expect("sockets");
        let hazards = Arc::new(Hazards::new(own, bound));
        let listening = Arc::clone(&hazards);
        std::thread::spawn(move || listening.listen());
        (hazards, its)
    }

    fn message(socket: &mut UnixStream) -> Message {
        let mut messages = Messages::default();
        loop {
            let mut byte = [0];
            socket.read_exact(&mut byte).expect("it says something");
            messages.feed(&byte);
            if let Some(message) = messages.take().expect("a message") {
                return message;
            }
        }
    }

    fn begin(hazards: &Hazards, socket: &mut UnixStream) {
        socket.write_all(&[BEGIN]).expect("a socket");
        while !hazards.is_watching.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    }

    fn code(hazards: &Hazards, address: u64) -> &'static Code {
        let code = Code { address, instructions: 2, bytes: Box::from([0xf3, 0x90]) };
        hazards.code(code).expect("there is room")
    }

    /// Passes a loop so often, and goes on with other code.
    fn pass(hazards: &Hazards, address: u64, times: u64) {
        let mut spins = Spins::default();
        for _ in 0..=times {
            hazards.enter(1, &mut spins, code(hazards, address));
        }
        for other in 0..100 {
            hazards.enter(1, &mut spins, code(hazards, 0x9000 + other));
        }
    }

    #[test]
    fn a_loop_that_waits_is_told_again_and_counted_and_one_that_works_is_not() {
        let (hazards, mut socket) = plugin(10);
        pass(&hazards, 0x10, 100);
        begin(&hazards, &mut socket);
        let cpu = std::thread::spawn({
            let hazards = Arc::clone(&hazards);
            move || {
                pass(&hazards, 0x10, 9);
                pass(&hazards, 0x10, 20);
                pass(&hazards, 0x10, 30);
                pass(&hazards, 0x20, 1000);
                pass(&hazards, 0x20, 1000);
            }
        });
        for (site, address, answer) in [(0, 0x10, WAITS), (0, 0x10, WAITS), (1, 0x20, WORKS)] {
            let blocks = vec![Block { address, code: vec![0xf3, 0x90] }];
            assert_eq!(message(&mut socket), Message::Hot(Hot { site, cpu: 1, blocks }));
            assert!(hazards.is_held.load(Ordering::Relaxed));
            socket.write_all(&[answer]).expect("a socket");
        }
        cpu.join().expect("it goes on");
        socket.write_all(&[END]).expect("a socket");
        let site = Site { site: 0, times: 2, passes: 50, longest: 30 };
        assert_eq!(message(&mut socket), Message::Sites(vec![site]));
    }

    #[test]
    fn the_more_often_a_loop_waits_the_more_rarely_it_is_told() {
        let mut sites = Sites::default();
        let block = Code { address: 0x10, instructions: 1, bytes: Box::default() };
        let number = sites.number(&[&block]).expect("there is room");
        let mut stops = Vec::new();
        for time in 1..=100 {
            if sites.is_worth_a_stop(number) {
                stops.push(time);
                sites.learn(number, true);
            }
            sites.count(number, 1, 10, 10);
        }
        assert_eq!(stops, [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
    }

    #[test]
    fn other_cpus_stand_still_until_there_is_an_answer() {
        let (hazards, mut socket) = plugin(10);
        begin(&hazards, &mut socket);
        let start = |address| {
            let hazards = Arc::clone(&hazards);
            std::thread::spawn(move || pass(&hazards, address, 10))
        };
        let first = start(0x10);
        message(&mut socket);
        let others = [0x20, 0x30].map(start);
        assert!(!first.is_finished() && others.iter().all(|other| !other.is_finished()));
        socket.write_all(&[WORKS]).expect("a socket");
        for _ in 0..2 {
            message(&mut socket);
            socket.write_all(&[WORKS]).expect("a socket");
        }
        [first].into_iter().chain(others).for_each(|cpu| cpu.join().expect("it goes on"));
    }

    #[test]
    fn a_machine_goes_on_when_kiln_is_gone() {
        let (hazards, mut socket) = plugin(10);
        begin(&hazards, &mut socket);
        let cpu = std::thread::spawn({
            let hazards = Arc::clone(&hazards);
            move || pass(&hazards, 0x10, 10)
        });
        message(&mut socket);
        drop(socket);
        cpu.join().expect("it goes on");
        assert!(!hazards.is_watching.load(Ordering::Relaxed));
    }
}
