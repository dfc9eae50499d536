//! `vm`: patterns in new memory, written and verified.

use harness::check::{Checked, equal, fail, pass};
use rustix::mm::MapFlags;

use crate::Worker;
use crate::kit::memory::{Memory, whole_pages};
use crate::stressor::{Class, Setting, Stressor, choice, flag, size};
use harness::random::{Random, mix};

const BYTES: Setting = size("bytes", "what is mapped", 65536..=16 << 30, 64 << 20);
const METHOD: Setting = choice(
    "method",
    "the pattern",
    &[
        "all",
        "checkerboard",
        "flip",
        "galpat-0",
        "galpat-1",
        "gray",
        "inc-nybble",
        "incdec",
        "modulo-x",
        "move-inv",
        "rand-set",
        "ror",
        "swap",
        "walk-0a",
        "walk-0d",
        "walk-1a",
        "walk-1d",
        "write64",
        "zero-one",
    ],
);
const POPULATE: Setting = flag("populate", "map with MAP_POPULATE");
const KEEP: Setting = flag("keep", "keep the mapping instead of making it anew for each operation");

pub(super) const STRESSOR: Stressor = Stressor {
    name: "vm",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "new anonymous memory, filled with patterns that find wrong bits and wrong addresses",
    operation: "one pattern in all of the mapping",
    verifies: "each word holds what the pattern left there",
    options: &[BYTES, METHOD, KEEP, POPULATE],
    body,
    ..Stressor::PLAIN
};

/// Words between two looks at the time: 4 MiB.
const PIECE: usize = 512 << 10;

type Method = fn(&mut [u64], &mut Random) -> Checked;

const METHODS: &[(&str, Method)] = &[
    ("checkerboard", checkerboard),
    ("flip", flip),
    ("galpat-0", |words, random| galloping(words, random, 0)),
    ("galpat-1", |words, random| galloping(words, random, u64::MAX)),
    ("gray", |words, random| {
        let start = random.next_u64();
        pattern(words, |at| (start ^ at) ^ ((start ^ at) >> 1))
    }),
    ("inc-nybble", nybbles),
    ("incdec", incdec),
    ("modulo-x", modulo),
    ("move-inv", moving_inversions),
    ("rand-set", |words, random| {
        let value = random.next_u64();
        pattern(words, |_| value)
    }),
    ("ror", rotate),
    ("swap", swap),
    ("walk-0a", |words, _| walking_address(words, u64::MAX)),
    ("walk-0d", |words, _| (0..8).try_for_each(|byte| pattern(words, |at| !(1 << (8 * byte + at % 8))))),
    ("walk-1a", |words, _| walking_address(words, 0)),
    ("walk-1d", |words, _| (0..8).try_for_each(|byte| pattern(words, |at| 1 << (8 * byte + at % 8)))),
    ("write64", |words, random| {
        let seed = random.next_u64();
        pattern(words, |at| mix(at ^ seed))
    }),
    ("zero-one", |words, _| {
        pattern(words, |_| 0)?;
        pattern(words, |_| u64::MAX)
    }),
];

/// Writes what `value` gives for each place.
fn write(words: &mut [u64], value: impl Fn(u64) -> u64) {
    words.iter_mut().zip(0..).for_each(|(word, at)| *word = std::hint::black_box(value(at)));
}

/// Verifies that each word is what `value` gives for its place.
fn verify(words: &[u64], value: impl Fn(u64) -> u64) -> Checked {
    match words.iter().zip(0..).find(|&(&word, at)| word != value(at)) {
        None => {
            pass();
            Ok(())
        }
        Some((word, at)) => fail(&format!("word {at} is {word:#018x}, expected {:#018x}", value(at))),
    }
}

fn pattern(words: &mut [u64], value: impl Fn(u64) -> u64) -> Checked {
    write(words, &value);
    verify(words, value)
}

fn checkerboard(words: &mut [u64], _: &mut Random) -> Checked {
    const SQUARES: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let board = |at: u64| if at.is_multiple_of(2) { SQUARES } else { !SQUARES };
    pattern(words, board)?;
    words.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| pair.swap(0, 1));
    verify(words, |at| !board(at))
}

fn flip(words: &mut [u64], random: &mut Random) -> Checked {
    let seed = random.next_u64();
    write(words, |at| mix(at ^ seed));
    for bit in 0..8 {
        words.iter_mut().for_each(|word| *word ^= 0x0101_0101_0101_0101 << bit);
    }
    verify(words, |at| !mix(at ^ seed))
}

/// Toggles single bits at random in a uniform background, and counts them.
fn galloping(words: &mut [u64], random: &mut Random, background: u64) -> Checked {
    words.fill(background);
    let mut toggled = 0_u64;
    for _ in 0..words.len() / 64 {
        let (at, bit) = (random.below(words.len()), 1 << random.below(64));
        if words[at] & bit == background & bit {
            words[at] ^= bit;
            toggled += 1;
        }
    }
    let found = words.iter().map(|word| u64::from((word ^ background).count_ones())).sum::<u64>();
    equal("toggled bits", found, toggled)
}

/// Sixteen increments of each half byte lead back.
fn nybbles(words: &mut [u64], random: &mut Random) -> Checked {
    const LOW: u64 = 0x1111_1111_1111_1111;
    let seed = random.next_u64();
    write(words, |at| mix(at ^ seed));
    for _ in 0..16 {
        words.iter_mut().for_each(|word| {
            let (high, rest) = (*word & LOW << 3, *word & !(LOW << 3));
            *word = (rest + LOW) ^ high;
        });
    }
    verify(words, |at| mix(at ^ seed))
}

fn incdec(words: &mut [u64], random: &mut Random) -> Checked {
    let (seed, step) = (random.next_u64(), random.next_u64());
    write(words, |at| mix(at ^ seed));
    words.iter_mut().for_each(|word| *word = std::hint::black_box(word.wrapping_add(step)));
    words.iter_mut().rev().for_each(|word| *word = std::hint::black_box(word.wrapping_sub(step)));
    verify(words, |at| mix(at ^ seed))
}

/// Every 23rd word has a value, and all others its inverse: those of memtest86.
fn modulo(words: &mut [u64], random: &mut Random) -> Checked {
    let value = random.next_u64();
    pattern(words, |at| if at % 23 == 7 { value } else { !value })
}

/// Upwards each word is verified and inverted, then downwards.
fn moving_inversions(words: &mut [u64], random: &mut Random) -> Checked {
    let seed = random.next_u64();
    write(words, |at| mix(at ^ seed));
    let mut wrong = 0_usize;
    for (at, word) in (0..).zip(words.iter_mut()) {
        wrong += usize::from(*word != mix(at ^ seed));
        *word = !*word;
    }
    for (at, word) in words.iter_mut().enumerate().rev() {
        wrong += usize::from(*word != !mix(at as u64 ^ seed));
        *word = !*word;
    }
    equal("wrong words", wrong, 0)
}

fn rotate(words: &mut [u64], random: &mut Random) -> Checked {
    let seed = random.next_u64();
    write(words, |at| mix(at ^ seed));
    for _ in 0..8 {
        words.iter_mut().for_each(|word| *word = std::hint::black_box(word.rotate_right(8)));
    }
    verify(words, |at| mix(at ^ seed))
}

/// Swaps pages at random and back again.
fn swap(words: &mut [u64], random: &mut Random) -> Checked {
    let seed = random.next_u64();
    write(words, |at| mix(at ^ seed));
    let pages = words.as_chunks_mut::<512>().0;
    let pairs: Vec<_> =
        (0..pages.len()).map(|_| (random.below(pages.len()), random.below(pages.len()))).collect();
    pairs.iter().chain(pairs.iter().rev()).for_each(|&(a, b)| pages.swap(a, b));
    verify(words, |at| mix(at ^ seed))
}

/// Words whose numbers are powers of two are the inverse of the background: wrong address lines show.
fn walking_address(words: &mut [u64], background: u64) -> Checked {
    words.fill(background);
    let size = words.len();
    let places = || (0..usize::BITS).map(|bit| 1_usize << bit).take_while(|&place| place < size);
    for place in places() {
        words[place] = !background;
        let changed = places().filter(|&other| words[other] != background).count();
        equal("words that one address changed", changed, 1)?;
        words[place] = background;
    }
    verify(words, |_| background)
}

fn body(worker: &Worker) -> Checked {
    let size = whole_pages(worker.size(&BYTES));
    let populate = if worker.is_on(&POPULATE) { MapFlags::POPULATE } else { MapFlags::empty() };
    let flags = MapFlags::PRIVATE | populate;
    let methods = worker.methods(&METHOD, METHODS);
    let (mut next, mut random, mut memory) = (methods.iter().cycle(), worker.random(), None);
    worker.repeat(|| {
        let Some((_, method)) = next.next() else { return Ok(()) };
        let mut current = match memory.take() {
            Some(kept) => kept,
            None => Memory::anonymous(size, flags)?,
        };
        for piece in current.words().chunks_mut(PIECE) {
            method(piece, &mut random)?;
            if worker.is_over() {
                break;
            }
        }
        memory = worker.is_on(&KEEP).then_some(current);
        Ok(())
    })
}
