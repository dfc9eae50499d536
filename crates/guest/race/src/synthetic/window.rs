//! Races with windows of a few instructions.
//!
//! Each is there twice: below `free` its sections may be repeated in loops, below `setup` both threads wait in each round
//! until A has set up what they race for, as reproducers do that open, add or clone something anew.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};

use harness::check::Checked;

use super::{Synthetic, spin};
use crate::race::{Judgement, Race};
use crate::runner::Runner;

/// What surrounds a window, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Before and after the window of A.
    a: [u64; 2],
    /// Before and after what B does.
    b: [u64; 2],
}

/// A race, and whether each round has a set-up.
type Body = fn(&Runner, Shape, bool) -> Checked;

const FAR: Shape = Shape { a: [20_000, 1_000], b: [1_000, 3_000] };
const NEAR: Shape = Shape { a: [6_000, 1_000], b: [1_000, 2_000] };
const EQUAL: Shape = Shape { a: [10_000, 10_000], b: [10_000, 10_000] };

const RACES: [(&str, &str, Shape, Body); 8] = [
    ("flag-30ns", "A sets a flag for 30 ns, 20 µs after its start; B looks at it", FAR, flag_30_ns),
    ("flag-few", "A sets a flag for a few instructions, 20 µs after its start; B looks at it", FAR, flag_few),
    ("flag-equal", "the same 10 µs after the start of both", EQUAL, flag_few),
    ("double-fetch", "A loads a word twice, a few instructions apart; B changes it", NEAR, double_fetch),
    ("early-publication", "A stores that data is ready, and the data then; B loads both", NEAR, publication),
    ("stale-index", "A loads an index and then what it names, which B has freed", NEAR, stale_index),
    ("use-after-close", "A sees that a thing is open, and uses it; B closes it", NEAR, use_after_close),
    ("known-order", "a flag for a few instructions, where it is known who was late", FAR, known_order),
];

pub(super) fn all() -> impl Iterator<Item = Synthetic> {
    let lost = |runner: &Runner| lost_update(runner, NEAR);
    let lost = Synthetic::new("setup/lost-update", "both add one to a word".to_string(), lost);
    let both = RACES.into_iter().flat_map(|(name, about, shape, body)| {
        [("free", false), ("setup", true)].map(|(kind, has_setup)| {
            let run = move |runner: &Runner| body(runner, shape, has_setup);
            Synthetic::new(&format!("{kind}/{name}"), about.to_string(), run)
        })
    });
    both.chain([lost])
}

/// In a cache line of its own, and not in the one that is fetched with it.
#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

/// A few instructions that depend on each other: about 5 ns.
#[inline(always)]
fn few_instructions() {
    black_box(black_box(black_box(1_u64).wrapping_mul(3)).wrapping_mul(3));
}

/// Executes `window` with some time before and after it.
#[inline(always)]
fn within<R>(runner: &Runner, [before, after]: [u64; 2], window: impl FnOnce() -> R) -> R {
    let ticks = |ns| runner.clock().ticks(ns);
    spin(runner, ticks(before));
    let result = window();
    spin(runner, ticks(after));
    result
}

fn hit_if(hit: bool) -> Judgement {
    if hit { Judgement::Hit } else { Judgement::Miss }
}

/// Runs a race, with a set-up in each round if it shall have one.
fn run<A, B: Send>(runner: &Runner, race: Race<A, B>, has_setup: bool, reset: impl Fn()) -> Checked {
    if !has_setup {
        return runner.run(race);
    }
    runner.run(race.setup_a(|| {
        reset();
        Ok(())
    }))
}

fn flag_30_ns(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    let ticks = runner.clock().ticks(30);
    flag(runner, shape, has_setup, || spin(runner, ticks))
}

fn flag_few(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    flag(runner, shape, has_setup, few_instructions)
}

/// A flag that is set during `window`, and whether B has seen it.
fn flag(runner: &Runner, shape: Shape, has_setup: bool, window: impl Fn()) -> Checked {
    let [is_set, was_seen] = [const { Line(AtomicBool::new(false)) }; 2];
    let a = || {
        within(runner, shape.a, || {
            is_set.0.store(true, Release);
            window();
            is_set.0.store(false, Release);
        });
    };
    let b = || {
        within(runner, shape.b, || {
            if is_set.0.load(Acquire) {
                was_seen.0.store(true, Relaxed);
            }
        });
    };
    let race = Race::between(a, b).judge(|(), ()| Ok(hit_if(was_seen.0.swap(false, Relaxed))));
    run(runner, race, has_setup, || is_set.0.store(false, Relaxed))
}

fn double_fetch(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    let word = Line(AtomicU64::new(0));
    let a = || {
        within(runner, shape.a, || {
            let first = word.0.load(Acquire);
            few_instructions();
            word.0.load(Acquire) != first
        })
    };
    let b = || within(runner, shape.b, || word.0.store(word.0.load(Relaxed).wrapping_add(1), Release));
    let race = Race::between(a, b).judge(|&differs, ()| Ok(hit_if(differs)));
    run(runner, race, has_setup, || word.0.store(0, Relaxed))
}

fn publication(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    let [is_ready, data] = [const { Line(AtomicU64::new(0)) }; 2];
    let was_seen = Line(AtomicBool::new(false));
    let a = || {
        within(runner, shape.a, || {
            let number = data.0.load(Relaxed) + 1;
            is_ready.0.store(number, Release);
            few_instructions();
            data.0.store(number, Release);
        });
    };
    let b = || {
        within(runner, shape.b, || {
            let promised = is_ready.0.load(Acquire);
            if data.0.load(Acquire) < promised {
                was_seen.0.store(true, Relaxed);
            }
        });
    };
    let race = Race::between(a, b).judge(|(), ()| Ok(hit_if(was_seen.0.swap(false, Relaxed))));
    run(runner, race, has_setup, || {
        data.0.store(0, Relaxed);
        is_ready.0.store(0, Relaxed);
    })
}

fn stale_index(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    const FREED: u64 = 0;
    let index = Line(AtomicUsize::new(0));
    let things = [Line(AtomicU64::new(1)), Line(AtomicU64::new(FREED))];
    let a = || {
        within(runner, shape.a, || {
            let at = index.0.load(Acquire);
            few_instructions();
            things[at].0.load(Acquire) == FREED
        })
    };
    let b = || {
        within(runner, shape.b, || {
            let old = index.0.load(Relaxed);
            things[1 - old].0.store(1, Release);
            index.0.store(1 - old, Release);
            things[old].0.store(FREED, Release);
        });
    };
    let race = Race::between(a, b).judge(|&is_freed, ()| Ok(hit_if(is_freed)));
    run(runner, race, has_setup, || {
        things[0].0.store(1, Relaxed);
        index.0.store(0, Relaxed);
    })
}

/// A returns at once where it finds the thing closed, so that its length depends on the order.
fn use_after_close(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    let is_closed = Line(AtomicBool::new(false));
    let [before, after] = shape.a.map(|ns| runner.clock().ticks(ns));
    let a = || {
        spin(runner, before);
        if is_closed.0.load(Acquire) {
            return Judgement::Early;
        }
        few_instructions();
        if is_closed.0.load(Acquire) {
            return Judgement::Hit;
        }
        spin(runner, after);
        Judgement::Late
    };
    let b = || {
        within(runner, shape.b, || is_closed.0.store(true, Release));
        if !has_setup {
            is_closed.0.store(false, Release);
        }
    };
    let race = Race::between(a, b).judge(|&judgement, ()| Ok(judgement));
    run(runner, race, has_setup, || is_closed.0.store(false, Relaxed))
}

/// The flag, where the times tell whether B looked too early or too late.
fn known_order(runner: &Runner, shape: Shape, has_setup: bool) -> Checked {
    let is_set = Line(AtomicBool::new(false));
    let now = || runner.clock().now();
    let a = || {
        within(runner, shape.a, || {
            is_set.0.store(true, Release);
            few_instructions();
            is_set.0.store(false, Release);
            now()
        })
    };
    let b = || within(runner, shape.b, || (is_set.0.load(Acquire), now()));
    let judge = |of_a: &u64, &(was_seen, of_b): &(bool, u64)| {
        Ok(match (was_seen, of_b < *of_a) {
            (true, _) => Judgement::Hit,
            (false, true) => Judgement::Early,
            (false, false) => Judgement::Late,
        })
    };
    run(runner, Race::between(a, b).judge(judge), has_setup, || is_set.0.store(false, Relaxed))
}

/// Both add one to a word by a load and a store: one of the additions may be lost.
fn lost_update(runner: &Runner, shape: Shape) -> Checked {
    let word = Line(AtomicU64::new(0));
    let add = || {
        let old = word.0.load(Relaxed);
        few_instructions();
        word.0.store(old + 1, Relaxed);
    };
    let race = Race::between(|| within(runner, shape.a, add), || within(runner, shape.b, add))
        .judge(|(), ()| Ok(hit_if(word.0.load(Relaxed) != 2)));
    run(runner, race, true, || word.0.store(0, Relaxed))
}
