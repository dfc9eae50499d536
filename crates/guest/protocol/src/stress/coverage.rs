//! Which code of the kernel a load reaches: Documentation/dev-tools/kcov.rst.
//!
//! A point is the begin of a basic block, where the compiler had the kernel record its address. The instrument reports
//! addresses; the host, which has the debugging information of the kernel, adds functions and lines.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Points of all instances together.
pub const POINTS_MAX: usize = 1 << 20;

/// What the workers of one instance, and the processes that they forked, reached in their system calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Coverage {
    /// Points in the image of the kernel in ascending order: the distance of each in bytes from the one before, that of the
    /// first from the symbol `_text`.
    pub points: Vec<u32>,
    /// Points outside of the image, in modules.
    pub in_modules: u32,
    /// A buffer of the kernel was full at times: points may be missing.
    pub overflowed: bool,
    /// What the points mean, once the host has added it.
    pub reached: Option<Reached>,
}

/// How much source that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reached {
    /// Functions, those that are inlined too.
    pub functions: u64,
    /// Lines at which a point is.
    pub lines: u64,
    /// Functions per second of CPU time.
    pub functions_per_cpu_second: Option<f64>,
    /// Lines per second of CPU time.
    pub lines_per_cpu_second: Option<f64>,
}

/// What was reached of the files of a kernel's source, by their paths.
pub type Sources = BTreeMap<String, Source>;

/// What was reached of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Source {
    /// Functions, those that are inlined too.
    pub functions: BTreeSet<String>,
    /// Lines at which a point is, from 1.
    pub lines: BTreeSet<u32>,
}

impl Reached {
    /// Those of `sources`, with this much CPU time in nanoseconds.
    #[must_use]
    pub fn of(sources: &Sources, cpu_ns: u64) -> Self {
        let (functions, lines) = count(sources);
        let per_second = |count: u64| (cpu_ns > 0).then(|| count as f64 * 1e9 / cpu_ns as f64);
        Self {
            functions,
            lines,
            functions_per_cpu_second: per_second(functions),
            lines_per_cpu_second: per_second(lines),
        }
    }
}

impl Coverage {
    /// With these points, as distances from `_text`.
    #[must_use]
    pub fn of(points: &BTreeSet<u32>) -> Self {
        let before = [0].into_iter().chain(points.iter().copied());
        let points = points.iter().zip(before).map(|(point, before)| point - before).collect();
        Self { points, ..Self::default() }
    }

    /// The points as distances from `_text`, those that can be.
    pub fn distances(&self) -> impl Iterator<Item = u32> {
        let add = |at: &mut u32, step: &u32| {
            *at = at.checked_add(*step)?;
            Some(*at)
        };
        self.points.iter().scan(0, add)
    }
}

/// Adds one to another.
pub fn unite(all: &mut Sources, more: Sources) {
    for (path, Source { functions, lines }) in more {
        let source = all.entry(path).or_default();
        source.functions.extend(functions);
        source.lines.extend(lines);
    }
}

/// Functions and lines of all files.
#[must_use]
pub fn count(sources: &Sources) -> (u64, u64) {
    let sum = |of: fn(&Source) -> usize| sources.values().map(of).sum::<usize>() as u64;
    (sum(|source| source.functions.len()), sum(|source| source.lines.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_union_counts_what_is_in_both_once() {
        let source = |function: &str, line| Source {
            functions: BTreeSet::from([function.to_string()]),
            lines: BTreeSet::from([line, 1]),
        };
        let mut all = Sources::from([("mm/mmap.c".to_string(), source("mmap", 7))]);
        unite(&mut all, Sources::from([("mm/mmap.c".to_string(), source("munmap", 7))]));
        unite(&mut all, Sources::from([("fs/open.c".to_string(), source("open", 9))]));
        assert_eq!(count(&all), (3, 4));
    }

    #[test]
    fn distances_that_cannot_be_end_the_list() {
        let coverage = Coverage { points: vec![1, u32::MAX, 1], ..Coverage::default() };
        assert_eq!(coverage.distances().collect::<Vec<_>>(), [1]);
    }

    proptest! {
        #[test]
        fn points_are_read_as_they_are_written(points: BTreeSet<u32>) {
            let read: BTreeSet<u32> = Coverage::of(&points).distances().collect();
            prop_assert_eq!(read, points);
        }
    }
}
