//! Threads that wait for each other.

use std::collections::HashMap;

use super::Wait;

/// Threads that wait for each other and for nobody else: none of them ever goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// Each waits for the next one, and the last for the first.
    pub circle: Vec<Wait>,
    /// Others that wait for those.
    pub behind: Vec<Wait>,
}

/// The deadlocks among threads that wait. A thread goes on if any of its targets does; those that do not wait go on.
pub(super) fn deadlocks(waits: Vec<Wait>) -> Vec<Deadlock> {
    let mut stuck: HashMap<i32, Wait> = waits.into_iter().map(|wait| (wait.thread, wait)).collect();
    loop {
        let others: Vec<i32> =
            stuck.values().filter(|wait| goes_on(wait, &stuck)).map(|wait| wait.thread).collect();
        if others.is_empty() {
            break;
        }
        others.iter().for_each(|thread| drop(stuck.remove(thread)));
    }
    let mut found = Vec::new();
    while let Some(circle) = circle(&stuck) {
        let circle: Vec<_> = circle.iter().filter_map(|thread| stuck.remove(thread)).collect();
        let behind = behind(&circle, &mut stuck);
        found.push(Deadlock { circle, behind });
    }
    found
}

/// Whether a target of a thread does not wait. One without targets waits for somebody who is not known.
fn goes_on(wait: &Wait, stuck: &HashMap<i32, Wait>) -> bool {
    wait.targets.is_empty() || wait.targets.iter().any(|target| !stuck.contains_key(target))
}

/// Follows first targets until one comes again.
fn circle(stuck: &HashMap<i32, Wait>) -> Option<Vec<i32>> {
    let mut path = vec![*stuck.keys().min()?];
    loop {
        let next = *stuck.get(path.last()?)?.targets.iter().find(|target| stuck.contains_key(target))?;
        if let Some(begin) = path.iter().position(|&thread| thread == next) {
            return Some(path.split_off(begin));
        }
        path.push(next);
    }
}

/// Takes away those that wait for a circle, or for one that does.
fn behind(circle: &[Wait], stuck: &mut HashMap<i32, Wait>) -> Vec<Wait> {
    let mut behind: Vec<Wait> = Vec::new();
    loop {
        let is_known = |target: &i32| circle.iter().chain(&behind).any(|wait| wait.thread == *target);
        let waits = |wait: &&Wait| wait.targets.iter().any(is_known);
        let Some(next) = stuck.values().filter(waits).map(|wait| wait.thread).min() else { return behind };
        behind.extend(stuck.remove(&next));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::waits::Reason;

    fn wait(thread: i32, targets: &[i32]) -> Wait {
        let (comm, reason) = (String::new(), Reason::Mutex(0));
        Wait { process: thread, thread, comm, reason, targets: targets.to_vec(), switches: 0 }
    }

    fn threads(waits: &[Wait]) -> Vec<i32> {
        waits.iter().map(|wait| wait.thread).collect()
    }

    #[test]
    fn a_circle_is_a_deadlock_and_others_are_behind_it() {
        let waits =
            vec![wait(1, &[2]), wait(2, &[3]), wait(3, &[1]), wait(4, &[2]), wait(5, &[4]), wait(6, &[7])];
        let found = deadlocks(waits);
        assert_eq!(found.len(), 1);
        assert_eq!(threads(&found[0].circle), [1, 2, 3]);
        assert_eq!(threads(&found[0].behind), [4, 5]);
    }

    #[test]
    fn one_that_has_another_way_goes_on() {
        let waits = vec![wait(1, &[2]), wait(2, &[1, 9])];
        assert_eq!(deadlocks(waits), [], "9 runs and may end the wait of 2");
        assert_eq!(deadlocks(vec![wait(1, &[])]), []);
    }

    #[test]
    fn a_thread_may_wait_for_itself() {
        assert_eq!(threads(&deadlocks(vec![wait(1, &[1])])[0].circle), [1]);
    }

    proptest! {
        #[test]
        fn none_of_those_that_are_found_waits_for_one_that_runs(
            edges in proptest::collection::vec((0..12_i32, proptest::collection::vec(0..16_i32, 0..4)), 0..12)
        ) {
            let mut waits: Vec<Wait> = edges.iter().map(|(thread, targets)| wait(*thread, targets)).collect();
            waits.sort_by_key(|wait| wait.thread);
            waits.dedup_by_key(|wait| wait.thread);
            let found = deadlocks(waits);
            let stuck: Vec<i32> =
                found.iter().flat_map(|found| threads(&found.circle).into_iter().chain(threads(&found.behind))).collect();
            for deadlock in &found {
                for wait in deadlock.circle.iter().chain(&deadlock.behind) {
                    prop_assert!(wait.targets.iter().all(|target| stuck.contains(target)));
                }
                for (at, wait) in deadlock.circle.iter().enumerate() {
                    let next = &deadlock.circle[(at + 1) % deadlock.circle.len()];
                    prop_assert!(wait.targets.contains(&next.thread));
                }
            }
        }
    }
}
