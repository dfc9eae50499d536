//! `cpu`: small computations, each verified in another way than it was made.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::stressor::{Class, Setting, Stressor, choice};
use harness::random::Random;

const METHOD: Setting = choice(
    "method",
    "what is computed",
    &[
        "all",
        "ackermann",
        "bitops",
        "collatz",
        "crc16",
        "crc32",
        "explog",
        "factorial",
        "fft",
        "fibonacci",
        "gcd",
        "gray",
        "hamming",
        "hanoi",
        "int64",
        "int128",
        "loop",
        "parity",
        "pi",
        "queens",
        "sieve",
        "sqrt",
        "trig",
        "zeta",
    ],
);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "cpu",
    classes: &[Class::Cpu],
    about: "small computations with integers and floating point numbers",
    operation: "one computation of one method",
    verifies: "the result is what theory or another way to it says",
    options: &[METHOD],
    body: |worker| {
        let methods = worker.methods(&METHOD, METHODS);
        let (mut random, mut next) = (worker.random(), methods.iter().cycle());
        worker.repeat(|| next.next().map_or(Ok(()), |(_, method)| method(&mut random)))
    },
    ..Stressor::PLAIN
};

type Method = fn(&mut Random) -> Checked;

const METHODS: &[(&str, Method)] = &[
    ("ackermann", |_| equal("A(2, 10)", ackermann(2, black_box(10)), 23)),
    ("bitops", bitops),
    ("collatz", |_| equal("steps from 837799", collatz(black_box(837_799)), 524)),
    ("crc16", |_| equal("CRC-16 of the digits", crc16(black_box(b"123456789")), 0x29b1)),
    ("crc32", |_| equal("CRC-32 of the digits", crc32(black_box(b"123456789")), 0xcbf4_3926)),
    ("explog", explog),
    ("factorial", |_| equal("20!", (1..=black_box(20_u64)).product::<u64>(), 2_432_902_008_176_640_000)),
    ("fft", fft),
    ("fibonacci", |_| equal("F(90)", fibonacci(black_box(90)), 2_880_067_194_370_816_120)),
    ("gcd", gcd),
    ("gray", gray),
    ("hamming", hamming),
    ("hanoi", |_| equal("moves of 12 discs", hanoi(black_box(12)), (1 << 12) - 1)),
    ("int64", int64),
    ("int128", int128),
    ("loop", |_| {
        equal("the sum", (0..black_box(10_000_u64)).fold(0, |sum, n| black_box(sum + n)), 49_995_000)
    }),
    ("parity", parity),
    ("pi", |_| holds("Machin's formula", (machin() - std::f64::consts::PI).abs() < 1e-14)),
    ("queens", |_| equal("ways to place 8 queens", queens(black_box(8), 0, 0, 0), 92)),
    ("sieve", |_| equal("primes below 10000", sieve(black_box(10_000)), 1229)),
    ("sqrt", sqrt),
    ("trig", trig),
    ("zeta", |_| holds("zeta(2)", (zeta2() - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-3)),
];

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn bitops(random: &mut Random) -> Checked {
    let number = random.next_u64();
    let (mut rest, mut ones, mut reversed) = (number, 0, 0);
    while rest != 0 {
        rest &= rest - 1;
        ones += 1;
    }
    for bit in 0..64 {
        reversed |= (number >> bit & 1) << (63 - bit);
    }
    equal("bits that are set", ones, number.count_ones())?;
    equal("bits in reverse", reversed, black_box(number).reverse_bits())
}

fn collatz(start: u64) -> u32 {
    let next = |n: &u64| if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
    let mut steps = 0;
    let mut number = start;
    while number != 1 {
        number = next(&number);
        steps += 1;
    }
    steps
}

/// CRC-16/CCITT-FALSE.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc, &byte| {
        let crc = crc ^ u16::from(byte) << 8;
        (0..8).fold(crc, |crc, _| crc << 1 ^ if crc >> 15 == 1 { 0x1021 } else { 0 })
    })
}

/// CRC-32 of ISO-HDLC.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// A number from 1 to 2 with random digits.
fn fraction(random: &mut Random) -> f64 {
    1.0 + (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn explog(random: &mut Random) -> Checked {
    let number = fraction(random);
    holds("exp(log(x)) is x", (black_box(number.ln()).exp() - number).abs() < 1e-14)
}

/// 64 points there and back again.
fn fft(random: &mut Random) -> Checked {
    let points: Vec<(f64, f64)> = (0..64).map(|_| (fraction(random), fraction(random))).collect();
    let back = transform(&transform(&points, -1.0), 1.0);
    let is_near = |(a, b): (&(f64, f64), &(f64, f64))| {
        (a.0 - b.0 / 64.0).abs() < 1e-12 && (a.1 - b.1 / 64.0).abs() < 1e-12
    };
    holds("the inverse gives the points back", points.iter().zip(&back).all(is_near))
}

/// The Fourier transform of a power of two of complex numbers, by Cooley and Tukey.
fn transform(points: &[(f64, f64)], sign: f64) -> Vec<(f64, f64)> {
    let size = points.len();
    if size <= 1 {
        return points.to_vec();
    }
    let part = |first| transform(&points.iter().copied().skip(first).step_by(2).collect::<Vec<_>>(), sign);
    let (even, odd) = (part(0), part(1));
    let mut result = vec![(0.0, 0.0); size];
    for (k, (even, odd)) in even.iter().zip(&odd).enumerate() {
        let (sin, cos) = (sign * std::f64::consts::TAU * k as f64 / size as f64).sin_cos();
        let turned = (odd.0 * cos - odd.1 * sin, odd.0 * sin + odd.1 * cos);
        result[k] = (even.0 + turned.0, even.1 + turned.1);
        result[k + size / 2] = (even.0 - turned.0, even.1 - turned.1);
    }
    result
}

fn fibonacci(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Euclid's algorithm against the one that only shifts and subtracts.
fn gcd(random: &mut Random) -> Checked {
    let (a, b) = (random.next_u64() | 1, random.next_u64() | 1);
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    let (mut u, mut v) = (a, b);
    while u != v {
        let (small, large) = (u.min(v), u.max(v));
        let rest = large - small;
        (u, v) = (small, rest >> rest.trailing_zeros());
    }
    equal("the greatest common divisor", x, u)
}

fn gray(random: &mut Random) -> Checked {
    let code = |n: u64| n ^ (n >> 1);
    let number = random.next_u64() >> 1;
    let decoded = (0..6).rev().fold(code(number), |code, step| code ^ (code >> (1 << (5 - step))));
    equal("the decoded number", decoded, number)?;
    equal("bits between neighbours", (code(number) ^ code(number + 1)).count_ones(), 1)
}

/// Four bits in seven: one wrong bit is corrected.
fn hamming(random: &mut Random) -> Checked {
    let data = random.below(16) as u8;
    let bit = |number: u8, place: u8| number >> (place - 1) & 1;
    let spread =
        [3, 5, 6, 7].into_iter().zip(0..4).fold(0, |code, (place, n)| code | (data >> n & 1) << (place - 1));
    let parity = |code: u8, check: u8| {
        (1..=7).filter(|place| place & check != 0).fold(0, |sum, place| sum ^ bit(code, place))
    };
    let code = [1, 2, 4].into_iter().fold(spread, |code, check| code | parity(spread, check) << (check - 1));
    let damaged = code ^ 1 << random.below(7);
    let wrong = [1, 2, 4].into_iter().fold(0, |place, check| place + parity(damaged, check) * check);
    equal("the corrected code", damaged ^ 1 << (wrong.max(1) - 1), code)
}

fn hanoi(discs: u32) -> u32 {
    if discs == 0 { 0 } else { hanoi(discs - 1) + 1 + hanoi(discs - 1) }
}

fn int64(random: &mut Random) -> Checked {
    let (a, b) = (random.next_u64(), random.next_u64() >> random.below(64) | 1);
    equal("quotient and remainder", (a / b).wrapping_mul(b).wrapping_add(a % b), a)?;
    equal(
        "(a + b)(a - b)",
        a.wrapping_add(b).wrapping_mul(a.wrapping_sub(b)),
        a.wrapping_mul(a).wrapping_sub(b.wrapping_mul(b)),
    )
}

/// A product of 64-bit numbers against the sum of its parts.
fn int128(random: &mut Random) -> Checked {
    let (a, b) = (random.next_u64(), random.next_u64());
    let halves = |n: u64| (u128::from(n >> 32), u128::from(n & 0xffff_ffff));
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    let product = u128::from(black_box(a)) * u128::from(black_box(b));
    equal("the product", product, ((a1 * b1) << 64) + ((a1 * b0 + a0 * b1) << 32) + a0 * b0)?;
    equal("the quotient", product / u128::from(a.max(1)), if a == 0 { 0 } else { b.into() })
}

fn parity(random: &mut Random) -> Checked {
    let number = random.next_u64();
    let folded = (0..6).rev().fold(number, |number, step| number ^ (number >> (1 << step))) & 1;
    equal("the parity", folded, u64::from(black_box(number).count_ones() & 1))
}

fn machin() -> f64 {
    16.0 * arctan_of_inverse(black_box(5.0)) - 4.0 * arctan_of_inverse(black_box(239.0))
}

fn arctan_of_inverse(x: f64) -> f64 {
    (0..30).map(|n| (1 - 2 * (n % 2)) as f64 / ((2 * n + 1) as f64 * x.powi(2 * n + 1))).sum()
}

/// Ways to place queens in the rest of a board, with columns and diagonals that are attacked.
fn queens(size: u32, columns: u32, left: u32, right: u32) -> u32 {
    if columns == (1 << size) - 1 {
        return 1;
    }
    let free = |place: &u32| place & (columns | left | right) == 0;
    let places = (0..size).map(|column| 1 << column).filter(free);
    places.map(|place| queens(size, columns | place, (left | place) << 1, (right | place) >> 1)).sum()
}

fn sieve(limit: usize) -> usize {
    let mut is_composite = vec![false; limit];
    let mut primes = 0;
    for number in 2..limit {
        if !is_composite[number] {
            primes += 1;
            (number * number..limit).step_by(number).for_each(|multiple| is_composite[multiple] = true);
        }
    }
    primes
}

fn sqrt(random: &mut Random) -> Checked {
    let number = random.next_u64() >> 12;
    let root = (number as f64).sqrt() as u64;
    holds("the root is the nearest below", root * root <= number && (root + 1) * (root + 1) > number)?;
    equal("the root of whole numbers", number.isqrt(), root)
}

fn trig(random: &mut Random) -> Checked {
    let angle = fraction(random) * std::f64::consts::TAU;
    let (sin, cos) = black_box(angle).sin_cos();
    holds("sin and cos are on the circle", (sin * sin + cos * cos - 1.0).abs() < 1e-14)?;
    holds("sin of twice the angle", ((2.0 * angle).sin() - 2.0 * sin * cos).abs() < 1e-13)
}

fn zeta2() -> f64 {
    (1..black_box(2000_u32)).map(|n| f64::from(n).powi(-2)).sum()
}
