//! `memthrash`: patterns of access that caches and prefetching do not like.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, choice, size};
use harness::random::Random;

const BYTES: Setting = size("bytes", "what is thrashed", 65536..=1 << 30, 16 << 20);
const METHOD: Setting = choice(
    "method",
    "the pattern of access",
    &[
        "all",
        "chunk1",
        "chunk8",
        "chunk64",
        "chunk256",
        "chunkpage",
        "copy128",
        "flip",
        "random",
        "spread",
        "swap64",
        "transpose",
    ],
);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "memthrash",
    classes: &[Class::Memory, Class::CpuCache],
    about: "random, strided and chunked writes all over a mapping",
    operation: "one pattern of access",
    verifies: "the content that the pattern leads to",
    options: &[BYTES, METHOD],
    body,
    ..Stressor::PLAIN
};

/// Accesses of the patterns that choose places at random.
const ACCESSES: usize = 65536;

/// Words between two looks at the time: 16 MiB.
const PIECE: usize = 2 << 20;

type Method = fn(&mut [u64], &mut Random) -> Checked;

const METHODS: &[(&str, Method)] = &[
    ("chunk1", |words, random| chunks(words, random, 1)),
    ("chunk8", |words, random| chunks(words, random, 8)),
    ("chunk64", |words, random| chunks(words, random, 64)),
    ("chunk256", |words, random| chunks(words, random, 256)),
    ("chunkpage", |words, random| chunks(words, random, 512)),
    ("copy128", copy),
    ("flip", flip),
    ("random", random_places),
    ("spread", spread),
    ("swap64", swap),
    ("transpose", transpose),
];

/// Fills chunks at random places, and reads each back at once.
fn chunks(words: &mut [u64], random: &mut Random, size: usize) -> Checked {
    let count = words.len() / size;
    for _ in 0..ACCESSES / size {
        let value = random.next_u64();
        let start = random.below(count) * size;
        words[start..start + size].fill(black_box(value));
        holds("a chunk", words[start..start + size].iter().all(|&word| word == value))?;
    }
    Ok(())
}

/// Copies a half over the other.
fn copy(words: &mut [u64], random: &mut Random) -> Checked {
    let (low, high) = words.split_at_mut(words.len() / 2);
    low.fill_with(|| random.next_u64());
    low.as_chunks::<2>()
        .0
        .iter()
        .zip(high.as_chunks_mut::<2>().0)
        .for_each(|(from, to)| *to = black_box(*from));
    holds("the copy", low == &high[..low.len()])
}

fn flip(words: &mut [u64], random: &mut Random) -> Checked {
    let value = random.next_u64();
    words.fill(value);
    words.iter_mut().for_each(|word| *word = black_box(!*word));
    holds("the inverse", words.iter().all(|&word| word == !value))
}

/// Adds at random places; the sum of all shows whether any was lost.
fn random_places(words: &mut [u64], random: &mut Random) -> Checked {
    words.fill(0);
    for _ in 0..ACCESSES {
        words[random.below(words.len())] += 1;
    }
    equal("additions", words.iter().sum::<u64>(), ACCESSES as u64)
}

/// Writes with a stride of a page and eight bytes.
fn spread(words: &mut [u64], random: &mut Random) -> Checked {
    let (value, stride) = (random.next_u64(), 513);
    words.fill(0);
    words.iter_mut().step_by(stride).for_each(|word| *word = black_box(value));
    let is_right = |(at, &word): (usize, &u64)| word == if at.is_multiple_of(stride) { value } else { 0 };
    holds("each written word, and no other", words.iter().enumerate().all(is_right))
}

/// Swaps lines of 64 bytes at random and back again.
fn swap(words: &mut [u64], random: &mut Random) -> Checked {
    let seed = random.next_u64() >> 1;
    words.iter_mut().zip(seed..).for_each(|(word, value)| *word = value);
    let lines = words.as_chunks_mut::<8>().0;
    let pairs: Vec<(usize, usize)> =
        (0..ACCESSES / 8).map(|_| (random.below(lines.len()), random.below(lines.len()))).collect();
    pairs.iter().chain(pairs.iter().rev()).for_each(|&(a, b)| lines.swap(a, b));
    holds("all lines are in their places", words.iter().zip(seed..).all(|(&word, value)| word == value))
}

/// Transposes a square of words twice.
fn transpose(words: &mut [u64], random: &mut Random) -> Checked {
    let side = words.len().isqrt();
    let square = &mut words[..side * side];
    let seed = random.next_u64() >> 1;
    square.iter_mut().zip(seed..).for_each(|(word, value)| *word = value);
    for _ in 0..2 {
        for row in 0..side {
            for column in row + 1..side {
                square.swap(row * side + column, column * side + row);
            }
        }
    }
    holds("the square is as before", square.iter().zip(seed..).all(|(&word, value)| word == value))
}

fn body(worker: &Worker) -> Checked {
    let mut memory = Memory::private(worker.size(&BYTES))?;
    let methods = worker.methods(&METHOD, METHODS);
    let (mut next, mut random) = (methods.iter().cycle(), worker.random());
    worker.repeat(|| {
        let Some((_, method)) = next.next() else { return Ok(()) };
        let mut pieces = memory.words().chunks_mut(PIECE);
        pieces.try_for_each(|piece| if worker.is_over() { Ok(()) } else { method(piece, &mut random) })
    })
}
