//! Where branches wait for each other. No clock is needed: if all that could come are waiting themselves, nobody comes.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The branches of one `parallel`.
#[derive(Debug)]
pub(crate) struct Group {
    state: Mutex<State>,
    changed: Condvar,
    size: u32,
}

#[derive(Debug, Default)]
struct State {
    /// Branches that have not ended.
    running: u32,
    /// Branches that wait.
    waiting: u32,
    /// How many are at each barrier, and how often it has opened.
    barriers: HashMap<String, (u32, u64)>,
    /// Nobody comes any more.
    stuck: bool,
}

impl Group {
    pub(crate) fn new(size: u32) -> Self {
        let state = State { running: size, ..State::default() };
        Self { state: Mutex::new(state), changed: Condvar::new(), size }
    }

    /// How many branches there are.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Waits until `wanted` branches are at this barrier. False if they will not come.
    pub(crate) fn wait(&self, name: &str, wanted: u32) -> bool {
        let mut state = self.lock();
        let (here, turn) = state.barriers.entry(name.to_owned()).or_default();
        *here += 1;
        let turn = *turn;
        if *here >= wanted {
            state.barriers.insert(name.to_owned(), (0, turn + 1));
            state.waiting = state.waiting.saturating_sub(wanted - 1);
            self.changed.notify_all();
            return true;
        }
        state.waiting += 1;
        self.look(&mut state);
        while !state.stuck && state.barriers.get(name).is_some_and(|(_, now)| *now == turn) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.barriers.get(name).is_some_and(|(_, now)| *now != turn)
    }

    /// A branch has ended.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.running = state.running.saturating_sub(1);
        self.look(&mut state);
    }

    fn look(&self, state: &mut State) {
        if state.waiting > 0 && state.waiting >= state.running {
            state.stuck = true;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_opens_when_all_are_there_and_again() {
        let group = Group::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        assert!(group.wait("a", 3));
                    }
                    group.end();
                });
            }
        });
    }

    #[test]
    fn who_waits_for_nobody_is_told() {
        let group = Group::new(2);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let opened = group.wait("a", 2);
                group.end();
                opened
            });
            group.end();
            assert!(!waiter.join().unwrap());
        });
        let group = Group::new(2);
        std::thread::scope(|scope| {
            let waiters = ["a", "b"].map(|name| {
                scope.spawn({
                    let group = &group;
                    move || group.wait(name, 2)
                })
            });
            for waiter in waiters {
                assert!(!waiter.join().unwrap());
            }
        });
    }
}
