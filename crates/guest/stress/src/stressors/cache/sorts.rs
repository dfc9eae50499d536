//! `qsort`, `heapsort`, `mergesort`, `shellsort`, `radixsort`, `nsort`: numbers and strings put into order.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::stressor::{Class, Setting, Stressor, choice, number};
use harness::random::Random;

const CLASSES: &[Class] = &[Class::CpuCache, Class::Cpu, Class::Memory];
const SIZE: Setting = number("size", "numbers to sort", 1024..=1 << 20, 65536);
const STRINGS: Setting = number("size", "strings of 8 bytes to sort", 1024..=1 << 20, 65536);
const FEW: Setting = number("size", "numbers to sort", 64..=8192, 512);
const METHOD: Setting = choice(
    "method",
    "the algorithm",
    &["all", "bubble", "cocktail", "comb", "gnome", "insertion", "selection"],
);

const SORT: Stressor = Stressor {
    classes: CLASSES,
    operation: "numbers sorted upwards, sorted downwards, and shuffled",
    verifies: "each is at least as large as the one before, and none was lost",
    options: &[SIZE],
    ..Stressor::PLAIN
};

pub(super) const QSORT: Stressor = Stressor {
    name: "qsort",
    about: "qsort(3) of libc with a function that compares",
    body: |worker| sort(worker, worker.size(&SIZE), quick),
    ..SORT
};

pub(super) const HEAPSORT: Stressor = Stressor {
    name: "heapsort",
    about: "sorting in a heap: accesses far apart",
    body: |worker| sort(worker, worker.size(&SIZE), heap),
    ..SORT
};

pub(super) const MERGESORT: Stressor = Stressor {
    name: "mergesort",
    about: "sorting by merging: streams of accesses",
    body: |worker| sort(worker, worker.size(&SIZE), |all| merge(all, &mut vec![0; all.len()])),
    ..SORT
};

pub(super) const SHELLSORT: Stressor = Stressor {
    name: "shellsort",
    about: "sorting at shrinking distances",
    body: |worker| sort(worker, worker.size(&SIZE), |all| gapped(all, &GAPS)),
    ..SORT
};

pub(super) const RADIXSORT: Stressor = Stressor {
    name: "radixsort",
    about: "sorting strings of 8 bytes byte by byte: scattered writes",
    operation: "strings sorted upwards",
    options: &[STRINGS],
    body: radix,
    ..SORT
};

pub(super) const NSORT: Stressor = Stressor {
    name: "nsort",
    about: "sorts with a quadratic number of steps: branches that are hard to predict",
    options: &[METHOD, FEW],
    body: |worker| {
        let methods = worker.methods(&METHOD, QUADRATIC);
        let mut next = methods.iter().cycle();
        sort(worker, worker.size(&FEW), |all| next.next().into_iter().for_each(|(_, sort)| sort(all)))
    },
    ..SORT
};

/// Ciura's distances, and larger ones by his factor of 2.25.
const GAPS: [usize; 16] =
    [510_774, 227_011, 100_894, 44_842, 19_930, 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1];

/// Puts numbers into order.
type Sort = fn(&mut [u32]);

const QUADRATIC: &[(&str, Sort)] = &[
    ("bubble", bubble),
    ("cocktail", cocktail),
    ("comb", comb),
    ("gnome", gnome),
    ("insertion", |all| gapped(all, &[1])),
    ("selection", selection),
];

fn sort(worker: &Worker, size: usize, mut sort: impl FnMut(&mut [u32])) -> Checked {
    let mut random = worker.random();
    let mut numbers: Vec<u32> = (0..size).map(|_| random.next_u64() as u32).collect();
    let sum = |all: &[u32]| all.iter().fold(0_u64, |sum, &number| sum + u64::from(number));
    let expected = sum(&numbers);
    worker.repeat(|| {
        sort(black_box(&mut numbers));
        holds("sorted upwards", numbers.is_sorted())?;
        numbers.iter_mut().for_each(|number| *number = !*number);
        sort(black_box(&mut numbers));
        holds("sorted downwards", numbers.is_sorted())?;
        numbers.iter_mut().for_each(|number| *number = !*number);
        equal("the sum of all", sum(&numbers), expected)?;
        random.shuffle(&mut numbers);
        Ok(())
    })
}

unsafe extern "C" fn compare(a: *const libc::c_void, b: *const libc::c_void) -> libc::c_int {
    // SAFETY: qsort(3) passes pointers to elements.
    let (a, b) = unsafe { (*a.cast::<u32>(), *b.cast::<u32>()) };
    a.cmp(&b) as libc::c_int
}

fn quick(all: &mut [u32]) {
    // SAFETY: the array has as many elements of that size.
    unsafe { libc::qsort(all.as_mut_ptr().cast(), all.len(), size_of::<u32>(), Some(compare)) };
}

fn heap(all: &mut [u32]) {
    (0..all.len() / 2).rev().for_each(|root| sift(all, root));
    for end in (1..all.len()).rev() {
        all.swap(0, end);
        sift(&mut all[..end], 0);
    }
}

/// Lets a number sink until none below it is larger.
fn sift(heap: &mut [u32], mut root: usize) {
    while let Some(&left) = heap.get(2 * root + 1) {
        let right = heap.get(2 * root + 2).is_some_and(|&right| right > left);
        let child = 2 * root + 1 + usize::from(right);
        if heap[root] >= heap[child] {
            break;
        }
        heap.swap(root, child);
        root = child;
    }
}

fn merge(all: &mut [u32], room: &mut [u32]) {
    if all.len() < 2 {
        return;
    }
    let middle = all.len() / 2;
    let (low, high) = room.split_at_mut(middle);
    merge(&mut all[..middle], low);
    merge(&mut all[middle..], high);
    room.copy_from_slice(all);
    let (mut low, mut high) = (room[..middle].iter().peekable(), room[middle..].iter().peekable());
    for place in all {
        let is_low = high.peek().is_none_or(|high| low.peek().is_some_and(|low| low <= high));
        let next = if is_low { low.next() } else { high.next() };
        next.into_iter().for_each(|&number| *place = number);
    }
}

/// Sorts by insertion at each of the distances.
fn gapped(all: &mut [u32], gaps: &[usize]) {
    for &gap in gaps {
        for start in gap..all.len() {
            let mut at = start;
            while at >= gap && all[at - gap] > all[at] {
                all.swap(at - gap, at);
                at -= gap;
            }
        }
    }
}

fn bubble(all: &mut [u32]) {
    for end in (1..all.len()).rev() {
        (0..end).for_each(|at| put_in_order(all, at, at + 1));
    }
}

fn cocktail(all: &mut [u32]) {
    let size = all.len();
    for start in 0..size / 2 {
        (start..size - 1 - start).for_each(|at| put_in_order(all, at, at + 1));
        (start..size - 1 - start).rev().for_each(|at| put_in_order(all, at, at + 1));
    }
}

fn comb(all: &mut [u32]) {
    let (mut gap, mut is_done) = (all.len(), false);
    while !is_done || gap > 1 {
        gap = (gap * 10 / 13).max(1);
        is_done = true;
        for at in 0..all.len().saturating_sub(gap) {
            is_done &= all[at] <= all[at + gap];
            put_in_order(all, at, at + gap);
        }
    }
}

fn gnome(all: &mut [u32]) {
    let mut at = 1;
    while at < all.len() {
        if at == 0 || all[at - 1] <= all[at] {
            at += 1;
        } else {
            all.swap(at - 1, at);
            at -= 1;
        }
    }
}

fn selection(all: &mut [u32]) {
    for start in 0..all.len() {
        let least = (start..all.len()).min_by_key(|&at| all[at]).unwrap_or(start);
        all.swap(start, least);
    }
}

fn put_in_order(all: &mut [u32], low: usize, high: usize) {
    if all[low] > all[high] {
        all.swap(low, high);
    }
}

fn radix(worker: &Worker) -> Checked {
    let mut random: Random = worker.random();
    let mut strings: Vec<[u8; 8]> =
        (0..worker.size(&STRINGS)).map(|_| random.next_u64().to_le_bytes()).collect();
    let mut room = vec![[0; 8]; strings.len()];
    let mix = |all: &[[u8; 8]]| all.iter().fold(0, |mixed, string| mixed ^ u64::from_le_bytes(*string));
    let expected = mix(&strings);
    worker.repeat(|| {
        for byte in (0..8).rev() {
            pass(&strings, &mut room, byte);
            std::mem::swap(&mut strings, &mut room);
        }
        holds("sorted", strings.is_sorted())?;
        equal("all strings together", mix(&strings), expected)?;
        random.shuffle(&mut strings);
        Ok(())
    })
}

/// Puts strings into the order of one byte, and leaves equal ones in their order.
fn pass(from: &[[u8; 8]], to: &mut [[u8; 8]], byte: usize) {
    let mut starts = [0; 257];
    from.iter().for_each(|string| starts[string[byte] as usize + 1] += 1);
    (0..256).for_each(|value| starts[value + 1] += starts[value]);
    for string in from {
        let place = &mut starts[string[byte] as usize];
        to[*place] = *string;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_sorts() {
        let mut random = Random::new(1);
        let mut all: Vec<(&str, Sort)> = QUADRATIC.to_vec();
        all.extend([("heap", heap as Sort), ("quick", quick), ("shell", |all| gapped(all, &GAPS))]);
        all.push(("merge", |all| merge(all, &mut vec![0; all.len()])));
        for (name, sort) in all {
            for size in [0, 1, 2, 3, 100] {
                let mut numbers: Vec<u32> = (0..size).map(|_| random.below(50) as u32).collect();
                let mut expected = numbers.clone();
                expected.sort_unstable();
                sort(&mut numbers);
                assert_eq!(numbers, expected, "{name}");
            }
        }
    }
}
