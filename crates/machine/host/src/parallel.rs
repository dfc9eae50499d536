//! The same work for each of many items, on all CPUs.

use std::panic::resume_unwind;
use std::thread::{available_parallelism, scope};

/// Threads at most: what reads files gains little from more.
const THREADS_MAX: usize = 16;

/// What `work` makes of each item, in their order. A panic in it is a panic here.
pub fn on_all_cpus<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let (share, work) = (items.len().div_ceil(threads).max(1), &work);
    scope(|scope| {
        let start = |part: &'_ [T]| part.iter().map(work).collect::<Vec<R>>();
        let threads: Vec<_> = items.chunks(share).map(|part| scope.spawn(move || start(part))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_worked_on_once_and_in_its_place() {
        for count in [0, 1, 2, 3, 100] {
            let items: Vec<u32> = (0..count).collect();
            assert_eq!(
                on_all_cpus(&items, |item| item * 2),
                items.iter().map(|item| item * 2).collect::<Vec<_>>()
            );
        }
    }
}
