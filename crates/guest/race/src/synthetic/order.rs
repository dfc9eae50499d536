//! 24 pairs of sections that overlap only with the right delay, as the Linux Test Project's library is tested with.

use std::sync::atomic::{AtomicU32, Ordering::*};

use harness::check::Checked;

use super::{Synthetic, spin};
use crate::race::{Judgement, Race};
use crate::runner::Runner;

/// The time of a unit, in nanoseconds.
const UNIT: u64 = 100;

/// Before the critical section, in it, after it: in cube roots of units.
type Lengths = [u64; 3];

pub(crate) const PAIRS: [[Lengths; 2]; 24] = [
    // Aligned already.
    [[0, 0, 0], [0, 0, 0]],
    [[0, 1, 0], [0, 1, 0]],
    [[1, 1, 1], [1, 1, 1]],
    [[3, 1, 1], [3, 1, 1]],
    // Of the same length, at opposite ends.
    [[3, 1, 1], [1, 1, 3]],
    [[1, 1, 3], [3, 1, 1]],
    // Of different lengths.
    [[3, 1, 1], [1, 1, 2]],
    [[1, 1, 3], [2, 1, 1]],
    [[2, 1, 1], [1, 1, 3]],
    [[1, 1, 2], [3, 1, 1]],
    // At entry or exit.
    [[3, 1, 0], [0, 1, 3]],
    [[0, 1, 3], [3, 1, 0]],
    [[3, 1, 0], [0, 1, 2]],
    [[0, 1, 3], [2, 1, 0]],
    [[2, 1, 0], [0, 1, 3]],
    [[0, 1, 2], [3, 1, 0]],
    // One side is very short.
    [[3, 1, 1], [0, 1, 0]],
    [[1, 1, 3], [0, 1, 0]],
    [[0, 1, 0], [1, 1, 3]],
    [[0, 1, 0], [3, 1, 1]],
    [[3, 1, 1], [0, 0, 0]],
    [[1, 1, 3], [0, 0, 0]],
    [[0, 0, 0], [1, 1, 3]],
    [[0, 0, 0], [3, 1, 1]],
];

pub(super) fn all() -> impl Iterator<Item = Synthetic> {
    PAIRS.into_iter().map(|[a, b]| {
        let [of_a, of_b] = [a, b].map(|lengths| lengths.map(|length| length.to_string()).join("-"));
        let [units_a, units_b] = [a, b].map(|lengths| lengths.map(|length| length.pow(3) * UNIT));
        let about = format!("critical sections after {} and {} ns are to overlap", units_a[0], units_b[0]);
        Synthetic::new(&format!("order/{of_a}/{of_b}"), about, move |runner| race(runner, a, b))
    })
}

/// Both add one to a counter as they enter their critical sections and as they leave them: from what A sees it is known
/// which one came first.
fn race(runner: &Runner, a: Lengths, b: Lengths) -> Checked {
    let count = AtomicU32::new(0);
    let ticks = |lengths: Lengths| lengths.map(|length| runner.clock().ticks(length.pow(3) * UNIT));
    let section = |[before, inside, after]: [u64; 3]| {
        let count = &count;
        move || {
            spin(runner, before);
            let entered = count.fetch_add(1, Relaxed) + 1;
            spin(runner, inside);
            let left = count.fetch_add(1, Relaxed) + 1;
            spin(runner, after);
            (entered, left)
        }
    };
    let judge = |of_a: &(u32, u32), _: &(u32, u32)| {
        Ok(match of_a {
            (1, 2) => Judgement::Late,
            (3, 4) => Judgement::Early,
            _ => Judgement::Hit,
        })
    };
    let reset = || {
        count.store(0, Relaxed);
        Ok(())
    };
    runner.run(Race::between(section(ticks(a)), section(ticks(b))).setup_a(reset).judge(judge))
}
