//! `funccall`: calls of functions with one to nine arguments of many types.

#![expect(clippy::too_many_arguments, reason = "that is what is exercised")]

use std::hint::black_box;

use harness::check::{Checked, equal};

use crate::Worker;
use crate::stressor::{Class, Setting, Stressor, choice};

const METHOD: Setting = choice(
    "method",
    "type of the arguments",
    &[
        "all", "bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "i128", "f32", "f64",
        "pair",
    ],
);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "funccall",
    classes: &[Class::Cpu],
    about: "calls of functions with one to nine arguments of fourteen types",
    operation: "900 calls with arguments of one type",
    verifies: "each argument arrived at its place",
    options: &[METHOD],
    body,
    ..Stressor::PLAIN
};

/// Calls functions with one to nine arguments of a type, a hundred times each. A function gives the sum of its arguments,
/// each times its place; what is expected is summed up without any call.
macro_rules! calls {
    ($type:ty, $make:expr, $add:expr, $zero:expr) => {
        || {
            #[inline(never)]
            fn weighted(sum: $type, argument: $type, place: u8) -> $type {
                (0..place).fold(sum, |sum, _| $add(sum, argument))
            }
            calls!(@function one $type, $zero; a);
            calls!(@function two $type, $zero; a b);
            calls!(@function three $type, $zero; a b c);
            calls!(@function four $type, $zero; a b c d);
            calls!(@function five $type, $zero; a b c d e);
            calls!(@function six $type, $zero; a b c d e f);
            calls!(@function seven $type, $zero; a b c d e f g);
            calls!(@function eight $type, $zero; a b c d e f g h);
            calls!(@function nine $type, $zero; a b c d e f g h i);
            let v: [$type; 9] = std::array::from_fn(|at| black_box($make(at as u8)));
            let expected = |count: usize| {
                v[..count].iter().zip(1..).fold($zero, |sum, (argument, place)| {
                    (0..place).fold(sum, |sum, _| $add(sum, *argument))
                })
            };
            for _ in 0..100 {
                equal("one", black_box(one)(v[0]), expected(1))?;
                equal("two", black_box(two)(v[0], v[1]), expected(2))?;
                equal("three", black_box(three)(v[0], v[1], v[2]), expected(3))?;
                equal("four", black_box(four)(v[0], v[1], v[2], v[3]), expected(4))?;
                equal("five", black_box(five)(v[0], v[1], v[2], v[3], v[4]), expected(5))?;
                equal("six", black_box(six)(v[0], v[1], v[2], v[3], v[4], v[5]), expected(6))?;
                equal("seven", black_box(seven)(v[0], v[1], v[2], v[3], v[4], v[5], v[6]), expected(7))?;
                equal("eight", black_box(eight)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]), expected(8))?;
                equal("nine", black_box(nine)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]), expected(9))?;
            }
            Ok(())
        }
    };
    (@function $name:ident $type:ty, $zero:expr; $($argument:ident)*) => {
        #[inline(never)]
        fn $name($($argument: $type),*) -> $type {
            let (mut sum, mut place) = ($zero, 0);
            $(place += 1; sum = weighted(sum, $argument, place);)*
            sum
        }
    };
}

type Pair = (u32, f64);

type Method = fn() -> Checked;

const METHODS: &[(&str, Method)] = &[
    ("bool", calls!(bool, |n: u8| n % 3 == 1, |a: bool, b: bool| a != b, false)),
    ("u8", calls!(u8, |n: u8| n.wrapping_mul(57), u8::wrapping_add, 0)),
    ("i8", calls!(i8, |n: u8| n.wrapping_mul(57) as i8, i8::wrapping_add, 0)),
    ("u16", calls!(u16, |n: u8| u16::from(n) * 6007, u16::wrapping_add, 0)),
    ("i16", calls!(i16, |n: u8| i16::from(n) * -3001, i16::wrapping_add, 0)),
    ("u32", calls!(u32, |n: u8| u32::from(n) * 40_000_003, u32::wrapping_add, 0)),
    ("i32", calls!(i32, |n: u8| i32::from(n) * -20_000_003, i32::wrapping_add, 0)),
    ("u64", calls!(u64, |n: u8| u64::from(n) << 55 | 7, u64::wrapping_add, 0)),
    ("i64", calls!(i64, |n: u8| i64::from(n) * -(1 << 50), i64::wrapping_add, 0)),
    ("u128", calls!(u128, |n: u8| u128::from(n) << 100 | 9, u128::wrapping_add, 0)),
    ("i128", calls!(i128, |n: u8| i128::from(n) * -(1 << 90), i128::wrapping_add, 0)),
    ("f32", calls!(f32, |n: u8| f32::from(n) / 4.0, |a: f32, b: f32| a + b, 0.0)),
    ("f64", calls!(f64, |n: u8| f64::from(n) / 8.0, |a: f64, b: f64| a + b, 0.0)),
    (
        "pair",
        calls!(
            Pair,
            |n: u8| (u32::from(n), f64::from(n)),
            |a: Pair, b: Pair| (a.0 + b.0, a.1 + b.1),
            (0, 0.0)
        ),
    ),
];

fn body(worker: &Worker) -> Checked {
    let methods = worker.methods(&METHOD, METHODS);
    let mut next = methods.iter().cycle();
    worker.repeat(|| next.next().map_or(Ok(()), |(_, method)| method()))
}
