//! How often events happen in each repetition: calls of functions whose entries the host named.
//!
//! The code that QEMU makes counts them by itself, all the time. Here is what there was when the time-stamp counter was
//! read.

use std::ops::Range;

use protocol::profile::{EVENTS_MAX, Entry, REPETITIONS_MAX};

/// How often each event has happened.
pub type Counts = [u64; EVENTS_MAX];

/// Counts events.
#[derive(Debug)]
pub struct Events {
    /// In the order of their addresses.
    entries: Vec<Entry>,
    state: State,
    /// What there was when the time-stamp counter was read first and last in a repetition.
    first: Counts,
    last: Counts,
    /// Of each repetition of the job so far.
    repetitions: Vec<Counts>,
}

/// Where in a repetition it is.
#[derive(Debug, Clone, Copy)]
enum State {
    /// In none.
    Idle,
    /// The mark has been seen: the repetition begins when the time-stamp counter is read.
    Armed,
    /// It was read once.
    Begun,
    /// It was read again.
    Read,
}

impl Events {
    /// Reads the entries, without those of events that have no number here.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let (entries, _) = bytes.as_chunks();
        let known = |entry: &Entry| (entry.event as usize) < EVENTS_MAX;
        let mut entries: Vec<Entry> = entries.iter().map(Entry::from_bytes).filter(known).collect();
        entries.sort_unstable();
        let none = [0; EVENTS_MAX];
        Self { entries, state: State::Idle, first: none, last: none, repetitions: Vec::new() }
    }

    /// The entries at these addresses.
    #[must_use]
    pub fn within(&self, addresses: Range<u64>) -> &[Entry] {
        let before = |end: u64| self.entries.partition_point(|entry| entry.address < end);
        self.entries.get(before(addresses.start)..before(addresses.end)).unwrap_or_default()
    }

    /// A repetition begins.
    pub fn begin(&mut self) {
        self.state = State::Armed;
    }

    /// User space reads the time-stamp counter.
    pub fn time_stamp(&mut self, counts: &Counts) {
        match self.state {
            State::Idle => {}
            State::Armed => (self.state, self.first) = (State::Begun, *counts),
            State::Begun | State::Read => (self.state, self.last) = (State::Read, *counts),
        }
    }

    /// A repetition has ended.
    pub fn end(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Idle);
        if matches!(state, State::Read) && self.repetitions.len() < REPETITIONS_MAX {
            let happened = |event: usize| self.last[event].wrapping_sub(self.first[event]);
            self.repetitions.push(std::array::from_fn(happened));
        }
    }

    /// The job is over; gives what happened in its repetitions, the first ones if there are too many.
    pub fn job_done(&mut self) -> Vec<Counts> {
        self.state = State::Idle;
        std::mem::take(&mut self.repetitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(entries: &[(u64, u32)]) -> Events {
        let bytes: Vec<u8> =
            entries.iter().flat_map(|&(address, event)| Entry { address, event }.to_bytes()).collect();
        Events::new(&bytes)
    }

    fn counts(first: u64) -> Counts {
        let mut counts = [0; EVENTS_MAX];
        counts[0] = first;
        counts
    }

    #[test]
    fn entries_are_found_by_their_addresses() {
        let events = events(&[(30, 1), (10, 0), (20, 1), (15, 64)]);
        let found = |addresses| events.within(addresses).iter().map(|it| it.address).collect::<Vec<_>>();
        assert_eq!(found(0..100), [10, 20, 30]);
        assert_eq!(found(10..20), [10]);
        assert_eq!(found(11..20), []);
        assert_eq!(Events::new(&[1; Entry::SIZE - 1]).within(0..u64::MAX), []);
    }

    #[test]
    fn what_happens_between_the_first_and_the_last_look_at_the_clock_counts() {
        let mut events = events(&[]);
        events.time_stamp(&counts(1));
        events.begin();
        [2, 5, 9].iter().for_each(|&now| events.time_stamp(&counts(now)));
        events.end();
        events.time_stamp(&counts(20));
        events.end();
        assert_eq!(events.job_done(), [counts(7)]);
        assert!(events.job_done().is_empty());
    }

    #[test]
    fn a_repetition_whose_clock_was_read_once_is_none() {
        let mut events = events(&[]);
        events.begin();
        events.time_stamp(&counts(1));
        events.end();
        assert!(events.job_done().is_empty());
    }

    #[test]
    fn only_the_first_repetitions_are_listed() {
        let mut events = events(&[]);
        for now in 0..1000 {
            events.begin();
            events.time_stamp(&counts(now));
            events.time_stamp(&counts(2 * now));
            events.end();
        }
        let all = events.job_done();
        assert_eq!((all.len(), all[3][0]), (REPETITIONS_MAX, 3));
    }
}
