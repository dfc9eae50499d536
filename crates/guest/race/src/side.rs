//! The part of one thread in a round.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::*};

use harness::usage;

use crate::barrier::{Barrier, Over, Party, Wait};
use crate::clock::Clock;
use crate::round::{Interval, Round};
use crate::whereabouts::{Doing, Whereabouts};

/// Sections that take longer than this, in nanoseconds, are watched for involuntary context switches. In shorter ones a
/// switch shows as a gap, and asking for it would take long.
const LONG: u64 = 20_000;

/// What the threads know of each other.
#[derive(Debug, Default)]
pub(crate) struct Meeting {
    barrier: Barrier,
    delay: AtomicI64,
    lead: AtomicU64,
    posts: [Post; 2],
}

/// What a thread lets the other one know of the round.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Post {
    arrived: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    late: AtomicI64,
    is_missed: AtomicBool,
    is_preempted: AtomicBool,
}

/// A thread in its rounds.
#[derive(Debug)]
pub(crate) struct Side<'a> {
    meeting: &'a Meeting,
    post: &'a Post,
    party: Party<'a>,
    is_b: bool,
    clock: Clock,
    pub(crate) whereabouts: &'a Whereabouts,
    is_long: bool,
}

impl Meeting {
    /// Both sides of it.
    pub(crate) fn sides<'a>(
        &'a self,
        wait: Wait<'a>,
        clock: Clock,
        [a, b]: [&'a Whereabouts; 2],
    ) -> [Side<'a>; 2] {
        let [of_a, of_b] = self.barrier.parties(wait);
        [(of_a, a, false), (of_b, b, true)].map(|(party, whereabouts, is_b)| {
            let post = &self.posts[usize::from(is_b)];
            Side { meeting: self, post, party, is_b, clock, whereabouts, is_long: false }
        })
    }

    /// Sets the delay of the next round, and the lead with which it is planned. Side A does so before it begins.
    pub(crate) fn plan(&self, delay: i64, lead: u64) {
        self.delay.store(delay, Relaxed);
        self.lead.store(lead, Relaxed);
    }

    /// The round that has ended.
    pub(crate) fn round(&self) -> Round {
        let [a, b] = &self.posts;
        let interval =
            |post: &Post| Interval { start: post.start.load(Relaxed), end: post.end.load(Relaxed) };
        Round {
            delay: self.delay.load(Relaxed),
            a: interval(a),
            b: interval(b),
            late: a.late.load(Relaxed).max(b.late.load(Relaxed)),
            is_missed: a.is_missed.load(Relaxed) | b.is_missed.load(Relaxed),
            is_preempted: a.is_preempted.load(Relaxed) | b.is_preempted.load(Relaxed),
        }
    }
}

impl Side<'_> {
    /// Waits for the other side.
    pub(crate) fn meet(&mut self) -> Result<(), Over> {
        self.whereabouts.set(Doing::Waiting);
        self.party.meet()
    }

    /// Executes its section at the time that both sides agree on.
    pub(crate) fn perform<R>(&mut self, section: &mut dyn FnMut() -> R) -> Result<R, Over> {
        let switches = self.switches();
        let planned = self.agree()?;
        self.whereabouts.set(Doing::Section);
        let is_missed = self.clock.now() >= planned;
        self.party.wait.keenly_until(|| self.clock.now() >= planned);
        let start = self.clock.now();
        let outcome = section();
        let end = self.clock.now();
        self.whereabouts.set(Doing::Waiting);
        let is_preempted = self.switches() != switches;
        self.is_long = end.wrapping_sub(start) > self.clock.ticks(LONG);
        let post = self.post;
        post.start.store(start, Relaxed);
        post.end.store(end, Relaxed);
        post.late.store(start.wrapping_sub(planned) as i64, Relaxed);
        post.is_missed.store(is_missed, Relaxed);
        post.is_preempted.store(is_preempted, Relaxed);
        Ok(outcome)
    }

    /// When it is to begin: the lead and its delay after the arrival of the later side.
    fn agree(&mut self) -> Result<u64, Over> {
        self.post.arrived.store(self.clock.now(), Relaxed);
        self.meet()?;
        let [a, b] = self.meeting.posts.each_ref().map(|post| post.arrived.load(Relaxed));
        let delay = self.meeting.delay.load(Relaxed);
        let own = if self.is_b { delay.max(0) } else { delay.min(0) }.unsigned_abs();
        Ok(a.max(b).wrapping_add(self.meeting.lead.load(Relaxed)).wrapping_add(own))
    }

    /// Involuntary context switches of this thread, if its section is long.
    fn switches(&self) -> i64 {
        if !self.is_long {
            return 0;
        }
        usage::of_this_thread().ru_nivcsw
    }
}
