//! Which sequences of events are repeated in threads.

use std::collections::{BTreeMap, HashMap};

use grammar::{Grammar, least_rotation, occurrences, repeats};

use crate::rows::ROWS_MAX;
use crate::work::{Sequence, Work, family};

/// Nodes of a grammar; what comes later in a thread gets one of its own.
const GRAMMAR_MAX: usize = 1 << 20;

/// Patterns of each recording that are looked for in the other one.
const COMPARED_MAX: usize = 200;

/// Events that follow each other in a thread again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// What the threads are called; of the kernel's own for each CPU, what is in front of the slash.
    pub comm: String,
    /// The names of the events. Of a loop, one turn.
    pub events: Vec<String>,
    /// How often, apart from where it is a part of other patterns.
    pub times: u64,
}

/// How often a pattern is in two recordings, wherever it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What the threads are called.
    pub comm: String,
    /// The names of the events.
    pub events: Vec<String>,
    /// How often in the first and in the second recording.
    pub times: [u64; 2],
}

impl Pattern {
    /// Events that belong to it.
    #[must_use]
    pub fn covered(&self) -> u64 {
        self.times.saturating_mul(self.events.len() as u64)
    }
}

impl Difference {
    /// By how many events the recordings differ here.
    #[must_use]
    pub fn by(&self) -> u64 {
        self.times[0].abs_diff(self.times[1]).saturating_mul(self.events.len() as u64)
    }
}

/// Threads and elements, and how often they are there.
type Found<'a> = HashMap<(&'a str, Vec<u16>), u64>;

/// The patterns of a recording, those first to which most events belong.
#[must_use]
pub fn patterns(work: &Work) -> Vec<Pattern> {
    let mut found: Found<'_> = HashMap::new();
    work.sequences.iter().for_each(|sequence| find(sequence, &mut found));
    let name = |element: &u16| work.names[usize::from(*element)].clone();
    let mut patterns: Vec<Pattern> = rotated(found)
        .into_iter()
        .map(|((comm, elements), times)| Pattern {
            comm: comm.to_owned(),
            events: elements.iter().map(name).collect(),
            times,
        })
        .collect();
    patterns.sort_by(|one, other| {
        other
            .covered()
            .cmp(&one.covered())
            .then_with(|| (&one.comm, &one.events).cmp(&(&other.comm, &other.events)))
    });
    patterns
}

fn find<'a>(sequence: &'a Sequence, found: &mut Found<'a>) {
    let mut grammar = Grammar::default();
    let mut events = sequence.events.iter().peekable();
    while let Some(event) = events.next() {
        grammar.push(*event);
        if events.peek().is_some() && grammar.size() < GRAMMAR_MAX {
            continue;
        }
        for repeat in repeats(&std::mem::take(&mut grammar).rules()) {
            let key = (family(&sequence.comm), repeat.elements);
            if found.len() < ROWS_MAX || found.contains_key(&key) {
                *found.entry(key).or_default() += repeat.times;
            }
        }
    }
}

/// A loop may be found from any of its elements on: those are one pattern, from the element on that was found most.
fn rotated(found: Found<'_>) -> Found<'_> {
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let (mut first, mut merged) = (HashMap::new(), HashMap::new());
    for ((comm, elements), times) in found {
        let mut least = elements.clone();
        least.rotate_left(least_rotation(&elements));
        let elements: &Vec<u16> = first.entry((comm, least)).or_insert(elements);
        *merged.entry((comm, elements.clone())).or_default() += times;
    }
    merged
}

/// The patterns of two recordings of which one has more than the other, the largest difference first.
#[must_use]
pub fn differences(first: &Work, second: &Work) -> Vec<Difference> {
    let mut both: BTreeMap<(String, Vec<String>), [u64; 2]> = BTreeMap::new();
    for work in [first, second] {
        let patterns = patterns(work).into_iter().take(COMPARED_MAX);
        both.extend(patterns.map(|pattern| ((pattern.comm, pattern.events), [0; 2])));
    }
    for (place, work) in [first, second].into_iter().enumerate() {
        for ((comm, events), times) in &mut both {
            times[place] = count(work, comm, events);
        }
    }
    let mut differences: Vec<Difference> = both
        .into_iter()
        .map(|((comm, events), times)| Difference { comm, events, times })
        .filter(|difference| difference.by() > 0)
        .collect();
    differences.sort_by_key(|difference| std::cmp::Reverse(difference.by()));
    let mut shown: Vec<Difference> = Vec::new();
    for difference in differences {
        if !shown.iter().any(|larger| is_part(&difference, larger)) {
            shown.push(difference);
        }
    }
    shown
}

/// Whether a pattern is nothing but a part of a loop whose turns are another one.
fn is_part(difference: &Difference, turn: &Difference) -> bool {
    let events = turn.events.iter().cycle().take(difference.events.len() + turn.events.len() - 1);
    difference.comm == turn.comm && occurrences(&difference.events, events) > 0
}

/// How often events follow each other in threads of a name, without sharing any.
fn count(work: &Work, comm: &str, events: &[String]) -> u64 {
    let number = |event: &String| work.names.iter().position(|name| name == event)?.try_into().ok();
    let Some(part) = events.iter().map(number).collect::<Option<Vec<u16>>>() else { return 0 };
    let sequences = work.sequences.iter().filter(|sequence| family(&sequence.comm) == comm);
    sequences.map(|sequence| occurrences(&part, &sequence.events)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Happened, on, viewed};

    /// Thread 7 reads so many times; each time but some it is woken in between.
    fn reads(times: u64, lonely: u64) -> Vec<Happened> {
        let one = |turn: u64| {
            let at = |step: u64| on(0, 100 * turn + step, 7);
            let woken = (turn > lonely).then(|| at(10).wake(8));
            [Some(at(0).enter_read()), woken, Some(at(20).exit_read(1))].into_iter().flatten()
        };
        std::iter::once(on(0, 0, 8).wake(7)).chain((1..=times).flat_map(one)).collect()
    }

    const READ: [&str; 2] = ["syscalls:sys_enter_read", "syscalls:sys_exit_read"];
    const WOKEN: [&str; 3] = ["syscalls:sys_enter_read", "sched:sched_waking", "syscalls:sys_exit_read"];

    #[test]
    fn a_loop_is_one_pattern() {
        let work: Work = viewed(&reads(100, 0), None);
        let patterns = patterns(&work);
        assert_eq!((patterns[0].comm.as_str(), patterns[0].events.len()), ("seven", 3), "{patterns:?}");
        assert!((98..=100).contains(&patterns[0].times), "{patterns:?}");
        assert!(patterns.iter().map(Pattern::covered).sum::<u64>() <= work.events);
    }

    #[test]
    fn differences_are_counted_exactly() {
        let [first, second] = [reads(50, 0), reads(60, 20)].map(|events| viewed(&events, None));
        let found = differences(&first, &second);
        let times = |events: &[&str]| found.iter().find(|one| one.events == events).map(|one| one.times);
        assert_eq!((times(&READ), times(&WOKEN)), (Some([0, 20]), Some([50, 40])), "{found:?}");
        assert_eq!(differences(&first, &first), []);
    }
}
