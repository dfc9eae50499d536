//! `matrix`: operations on square matrices, in the order of memory and across it.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::stressor::{Class, Setting, Stressor, choice, flag, number};
use harness::random::Random;

const METHOD: Setting = choice(
    "method",
    "what is computed",
    &[
        "all",
        "add",
        "copy",
        "div",
        "frobenius",
        "hadamard",
        "identity",
        "mean",
        "mult",
        "negate",
        "prod",
        "square",
        "sub",
        "trans",
        "zero",
    ],
);
const SIZE: Setting = number("size", "rows and columns", 4..=8192, 128);
const YX: Setting = flag("yx", "walk down the columns instead of along the rows");

pub(super) const STRESSOR: Stressor = Stressor {
    name: "matrix",
    classes: &[Class::Cpu, Class::CpuCache, Class::Memory],
    about: "operations on square matrices of floating point numbers, walked in either order",
    operation: "one operation on whole matrices",
    verifies: "the inverse operation leads back, for products that they map a vector alike",
    options: &[METHOD, SIZE, YX],
    body,
    ..Stressor::PLAIN
};

/// Operands of small whole numbers, for which floating point is exact.
struct Matrices<'a> {
    worker: &'a Worker<'a>,
    size: usize,
    is_yx: bool,
    a: Vec<f64>,
    b: Vec<f64>,
    result: Vec<f64>,
}

/// What the scalar of `mult` and `div` is: a power of two, so that both are exact.
const SCALAR: f64 = 8.0;

/// How a result is computed, and how it is verified.
type Method = (fn(&mut Matrices<'_>), fn(&Matrices<'_>, &mut Random) -> Checked);

const METHODS: &[(&str, Method)] = &[
    (
        "add",
        (
            |m| m.each(|m, at| m.a[at] + m.b[at]),
            |m, random| m.holds(random, |m, at| m.result[at] - m.b[at] == m.a[at]),
        ),
    ),
    ("copy", (|m| m.each(|m, at| m.a[at]), |m, random| m.holds(random, |m, at| m.result[at] == m.a[at]))),
    (
        "div",
        (
            |m| m.each(|m, at| m.a[at] / SCALAR),
            |m, random| m.holds(random, |m, at| m.result[at] * SCALAR == m.a[at]),
        ),
    ),
    (
        "frobenius",
        (frobenius, |m, _| {
            equal("the inner product", m.result[0], m.a.iter().zip(&m.b).map(|(a, b)| a * b).sum::<f64>())
        }),
    ),
    (
        "hadamard",
        (
            |m| m.each(|m, at| m.a[at] * m.b[at]),
            |m, random| m.holds(random, |m, at| m.result[at] / m.b[at] == m.a[at]),
        ),
    ),
    ("identity", (identity, |m, _| equal("the sum", m.result.iter().sum::<f64>(), m.size as f64))),
    (
        "mean",
        (
            |m| m.each(|m, at| (m.a[at] + m.b[at]) / 2.0),
            |m, random| m.holds(random, |m, at| m.result[at] - m.a[at] == m.b[at] - m.result[at]),
        ),
    ),
    (
        "mult",
        (
            |m| m.each(|m, at| m.a[at] * SCALAR),
            |m, random| m.holds(random, |m, at| m.result[at] / SCALAR == m.a[at]),
        ),
    ),
    (
        "negate",
        (|m| m.each(|m, at| -m.a[at]), |m, random| m.holds(random, |m, at| m.result[at] + m.a[at] == 0.0)),
    ),
    ("prod", (|m| m.product(|m, at| m.b[at]), |m, random| m.maps_alike(&m.b, random))),
    ("square", (|m| m.product(|m, at| m.a[at]), |m, random| m.maps_alike(&m.a, random))),
    (
        "sub",
        (
            |m| m.each(|m, at| m.a[at] - m.b[at]),
            |m, random| m.holds(random, |m, at| m.result[at] + m.b[at] == m.a[at]),
        ),
    ),
    (
        "trans",
        (
            |m| m.each(|m, at| m.a[m.mirrored(at)]),
            |m, random| m.holds(random, |m, at| m.result[m.mirrored(at)] == m.a[at]),
        ),
    ),
    ("zero", (|m| m.each(|_, _| 0.0), |m, random| m.holds(random, |m, at| m.result[at] == 0.0))),
];

impl<'a> Matrices<'a> {
    fn new(worker: &'a Worker<'a>, random: &mut Random) -> Self {
        let (size, is_yx) = (worker.size(&SIZE), worker.is_on(&YX));
        let mut matrix = || (0..size * size).map(|_| (random.below(255) + 1) as f64).collect::<Vec<f64>>();
        Self { worker, size, is_yx, a: matrix(), b: matrix(), result: vec![0.0; size * size] }
    }

    /// Computes each element of the result, as long as there is time.
    fn each(&mut self, element: impl Fn(&Self, usize) -> f64) {
        let size = self.size;
        for outer in 0..size {
            if self.worker.is_over() {
                break;
            }
            for inner in 0..size {
                let at = if self.is_yx { inner * size + outer } else { outer * size + inner };
                self.result[at] = black_box(element(self, at));
            }
        }
    }

    /// The product of `a` and another matrix.
    fn product(&mut self, other: impl Fn(&Self, usize) -> f64) {
        let size = self.size;
        self.each(|m, at| {
            let (row, column) = (at / size, at % size);
            // One element takes long in large matrices.
            let is_over = m.worker.is_over();
            let factors = if is_over { 0..0 } else { 0..size };
            factors.map(|k| m.a[row * size + k] * other(m, k * size + column)).sum()
        });
    }

    fn mirrored(&self, at: usize) -> usize {
        at % self.size * self.size + at / self.size
    }

    /// Verifies a row's worth of elements.
    fn holds(&self, random: &mut Random, is_right: impl Fn(&Self, usize) -> bool) -> Checked {
        let at: Vec<usize> = (0..self.size).map(|_| random.below(self.size * self.size)).collect();
        holds("the inverse operation leads back", at.into_iter().all(|at| is_right(self, at)))
    }

    /// Freivalds' check: the product of `a` and `other` maps a vector as both do one after the other.
    fn maps_alike(&self, other: &[f64], random: &mut Random) -> Checked {
        let vector: Vec<f64> = (0..self.size).map(|_| random.below(2) as f64).collect();
        let two = map(&self.a, &map(other, &vector));
        holds("both map a vector alike", two == map(&self.result, &vector))
    }
}

fn map(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| row.iter().zip(vector).map(|(element, factor)| element * factor).sum();
    matrix.chunks(vector.len()).map(row).collect()
}

fn frobenius(m: &mut Matrices<'_>) {
    m.each(|m, at| m.a[at] * m.b[at]);
    m.result[0] = black_box(m.result.iter().sum());
}

fn identity(m: &mut Matrices<'_>) {
    m.each(|m, at| f64::from(at / m.size == at % m.size));
}

fn body(worker: &Worker) -> Checked {
    let mut random = worker.random();
    let mut matrices = Matrices::new(worker, &mut random);
    let methods = worker.methods(&METHOD, METHODS);
    let mut next = methods.iter().cycle();
    worker.repeat(|| {
        let Some((_, (compute, verify))) = next.next() else { return Ok(()) };
        compute(&mut matrices);
        // What the end of the time has cut off is not verified.
        if worker.is_over() { Ok(()) } else { verify(&matrices, &mut random) }
    })
}
