//! `stream`: the bandwidth of memory for long vectors.

use std::hint::black_box;

use harness::check::{Checked, holds};

use crate::Worker;
use crate::stressor::{Class, Figure, Setting, Stressor, size};
use harness::clock::monotonic;

const BYTES: Setting = size("bytes", "size of each of three vectors", 65536..=256 << 20, 16 << 20);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "stream",
    classes: &[Class::Memory, Class::CpuCache, Class::Cpu],
    about: "copy, scale, add and triad of long vectors of floating point numbers, as in McCalpin's benchmark",
    operation: "all four once",
    verifies: "all elements are what the four operations make of one",
    options: &[BYTES],
    rates: RATES,
    body,
    ..Stressor::PLAIN
};

/// In units of 1,000,000 bytes per second, read and written together.
const RATES: &[Figure] = &[
    Figure::new("copy", "MB/s"),
    Figure::new("scale", "MB/s"),
    Figure::new("add", "MB/s"),
    Figure::new("triad", "MB/s"),
];

/// Vectors that each operation reads and writes.
const MOVED: [u64; 4] = [2, 2, 3, 3];

const SCALAR: f64 = 0.41421;

fn body(worker: &Worker) -> Checked {
    let count = worker.size(&BYTES) / size_of::<f64>();
    let (mut a, mut b, mut c) = (vec![1.0; count], vec![2.0; count], vec![0.0; count]);
    let (mut expected_a, mut times, mut rounds) = (1.0_f64, [0_u64; 4], 0_u64);
    worker.repeat(|| {
        let starts: [u64; 5] = [
            monotonic(),
            timed(|| c.copy_from_slice(black_box(&a))),
            timed(|| b.iter_mut().zip(black_box(&c)).for_each(|(b, c)| *b = SCALAR * c)),
            timed(|| c.iter_mut().zip(&a).zip(black_box(&b)).for_each(|((c, a), b)| *c = a + b)),
            timed(|| a.iter_mut().zip(&b).zip(black_box(&c)).for_each(|((a, b), c)| *a = b + SCALAR * c)),
        ];
        times.iter_mut().zip(starts.windows(2)).for_each(|(time, pair)| *time += pair[1] - pair[0]);
        rounds += 1;
        let scaled = SCALAR * expected_a;
        expected_a = scaled + SCALAR * (expected_a + scaled);
        // The last ones are enough unless everything is to be verified.
        let first = if worker.verifies { 0 } else { count - 512 };
        holds("all elements", a[first..].iter().all(|&element| element == expected_a))
    })?;
    for ((figure, time), vectors) in RATES.iter().zip(times).zip(MOVED) {
        let bytes = rounds * vectors * (count * size_of::<f64>()) as u64;
        if time > 0 {
            worker.rate(figure, bytes as f64 * 1e3 / time as f64);
        }
    }
    Ok(())
}

/// Does something, and gives the time after it.
fn timed(something: impl FnOnce()) -> u64 {
    something();
    monotonic()
}
