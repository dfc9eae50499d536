//! What is different between two recordings of the same work.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::rc::Rc;

use crate::latency::{Kind, Latency};
use crate::patterns;
use crate::work::{Sequence, Work, family};

/// What is different. It describes two recordings; whether their kernels differ is for statistics.
#[derive(Debug, Clone)]
pub struct Differences {
    /// How equal they are.
    pub equality: Equality,
    /// Events in each.
    pub events: [u64; 2],
    /// Events of which one has more than the other, the largest difference first.
    pub counts: Vec<Count>,
    /// Where threads of both begin to differ.
    pub orders: Vec<Order>,
    /// What one repeats more often than the other, the largest difference first.
    pub patterns: Vec<patterns::Difference>,
    /// What took longer or shorter in all, the largest difference first.
    pub latencies: Vec<Longer>,
}

/// How equal two recordings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equality {
    /// In everything, to the nanosecond.
    Exact,
    /// In everything but times.
    Content,
    /// In the order of the events of each thread.
    Order,
    /// In less.
    None,
}

/// How often an event was in threads of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// What the threads are called; of the kernel's own for each CPU, what is in front of the slash.
    pub comm: String,
    /// The event.
    pub name: String,
    /// In the first and in the second recording.
    pub counts: [u64; 2],
}

/// Where a thread begins to do something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// What it is called.
    pub comm: String,
    /// So many events are equal.
    pub equal: usize,
    /// What comes then in each; nothing at the end.
    pub then: [Option<String>; 2],
    /// The events are the same in another order.
    pub is_moved: bool,
}

/// What took longer or shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Longer {
    /// What it is.
    pub kind: Kind,
    /// What it is called.
    pub name: Rc<str>,
    /// In each recording; nothing where there was none.
    pub latencies: [Option<Latency>; 2],
}

impl Longer {
    /// By how many nanoseconds it took longer in the second one.
    #[must_use]
    pub fn by(&self) -> i128 {
        let [first, second] = self
            .latencies
            .each_ref()
            .map(|latency| latency.as_ref().map_or(0, |latency| i128::from(latency.times.total)));
        second - first
    }
}

impl Differences {
    /// Compares two recordings.
    #[must_use]
    pub fn new(first: &Work, second: &Work) -> Self {
        let counts = counts(first, second);
        let orders = orders(first, second);
        let is_equal = |one: &dyn Hasher, other: &dyn Hasher| one.finish() == other.finish();
        let equality = if is_equal(&first.exact, &second.exact) {
            Equality::Exact
        } else if is_equal(&first.content, &second.content) {
            Equality::Content
        } else if counts.is_empty() && orders.is_empty() {
            Equality::Order
        } else {
            Equality::None
        };
        Self {
            equality,
            events: [first.events, second.events],
            counts,
            orders,
            patterns: patterns::differences(first, second),
            latencies: latencies(first, second),
        }
    }
}

fn counts(first: &Work, second: &Work) -> Vec<Count> {
    let mut both: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for (place, work) in [first, second].into_iter().enumerate() {
        for sequence in &work.sequences {
            let mut of_thread = vec![0_u64; work.names.len()];
            sequence.events.iter().for_each(|event| of_thread[usize::from(*event)] += 1);
            for (name, count) in work.names.iter().zip(of_thread).filter(|(_, count)| *count > 0) {
                both.entry((family(&sequence.comm), name)).or_default()[place] += count;
            }
        }
    }
    let different = both.into_iter().filter(|(_, [one, other])| one != other);
    let mut counts: Vec<Count> = different
        .map(|((comm, name), counts)| Count { comm: comm.to_owned(), name: name.to_owned(), counts })
        .collect();
    counts.sort_by_key(|Count { counts: [one, other], .. }| std::cmp::Reverse(one.abs_diff(*other)));
    counts
}

fn orders(first: &Work, second: &Work) -> Vec<Order> {
    let both = [by_name(first), by_name(second)];
    let comms = both[0].keys().filter(|comm| both[1].contains_key(*comm));
    let pairs = comms.flat_map(|comm| both[0][comm].iter().zip(&both[1][comm]));
    pairs.filter_map(|(one, other)| order([first, second], [one, other])).collect()
}

/// Threads of the same name in the order in which they were seen. The kernel's own work for whoever comes.
fn by_name(work: &Work) -> BTreeMap<&str, Vec<&Sequence>> {
    let mut threads: BTreeMap<&str, Vec<&Sequence>> = BTreeMap::new();
    for sequence in work.sequences.iter().filter(|sequence| family(&sequence.comm) == sequence.comm) {
        threads.entry(&sequence.comm).or_default().push(sequence);
    }
    threads
}

fn order(works: [&Work; 2], [one, other]: [&Sequence; 2]) -> Option<Order> {
    let name = |place: usize, event: &u16| works[place].names[usize::from(*event)].as_str();
    let both = one.events.iter().zip(&other.events);
    let equal = both.take_while(|(one, other)| name(0, one) == name(1, other)).count();
    let then = [one, other].map(|sequence| sequence.events.get(equal));
    if then == [None, None] {
        return None;
    }
    let then = [0, 1].map(|place| then[place].map(|event| name(place, event).to_owned()));
    let sorted = |place: usize, sequence: &Sequence| {
        let mut names: Vec<&str> = sequence.events.iter().map(|event| name(place, event)).collect();
        names.sort_unstable();
        names
    };
    let is_moved = one.events.len() == other.events.len() && sorted(0, one) == sorted(1, other);
    Some(Order { comm: one.comm.clone(), equal, then, is_moved })
}

fn latencies(first: &Work, second: &Work) -> Vec<Longer> {
    let [one, other] = [first, second].map(|work| &work.latencies.rows);
    let names: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let mut longer: Vec<Longer> = names
        .into_iter()
        .map(|row| Longer {
            kind: row.0,
            name: Rc::clone(&row.1),
            latencies: [one.get(row).cloned(), other.get(row).cloned()],
        })
        .filter(|longer| longer.by() != 0)
        .collect();
    longer.sort_by_key(|longer| std::cmp::Reverse(longer.by().abs()));
    longer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Happened, It, on, viewed};

    fn compared(first: &[Happened], second: &[Happened]) -> Differences {
        Differences::new(&viewed(first, None), &viewed(second, None))
    }

    /// Thread 7 waits, and reads then.
    fn work(begin: u64, slow: u64) -> Vec<Happened> {
        vec![
            on(0, begin, 7).switch(1, 8),
            on(0, begin + 10, 8).wake(7),
            on(0, begin + 20, 8).switch(1, 7),
            on(0, begin + 30, 7).enter_read(),
            on(0, begin + 40 + slow, 7).exit_read(1),
        ]
    }

    #[test]
    fn the_same_work_at_another_time_is_the_same() {
        let found = compared(&work(1000, 0), &work(5000, 0));
        assert_eq!((found.equality, found.events), (Equality::Exact, [5, 5]));
        assert!(found.latencies.is_empty(), "{:?}", found.latencies);
    }

    #[test]
    fn what_only_takes_longer_is_found() {
        let found = compared(&work(0, 0), &work(0, 90));
        assert_eq!(found.equality, Equality::Content);
        assert!(found.counts.is_empty() && found.orders.is_empty());
        let longer: Vec<_> = found.latencies.iter().map(|one| (one.kind, &*one.name, one.by())).collect();
        assert_eq!(longer, [(Kind::Call, "read", 90)]);
    }

    #[test]
    fn other_fields_are_no_other_order() {
        let (first, mut second) = (work(0, 0), work(0, 0));
        second[4].fields = vec![("ret", It::Number(5))];
        assert_eq!(compared(&first, &second).equality, Equality::Order);
    }

    #[test]
    fn new_and_gone_events_and_another_order_are_found() {
        let (first, mut second) = (work(0, 0), work(0, 0));
        second[4] = on(0, 40, 7).wake(8);
        let found = compared(&first, &second);
        let count = |name: &str, counts| Count { comm: "seven".to_owned(), name: name.to_owned(), counts };
        assert_eq!(
            found.counts,
            [count("sched:sched_waking", [0, 1]), count("syscalls:sys_exit_read", [1, 0])]
        );
        let then = ["syscalls:sys_exit_read", "sched:sched_waking"].map(|name| Some(name.to_owned()));
        let order = Order { comm: "seven".to_owned(), equal: 2, then, is_moved: false };
        assert_eq!((found.equality, found.orders), (Equality::None, vec![order]));

        let mut third = work(0, 0);
        (third[3], third[4]) = (on(0, 30, 7).exit_read(1), on(0, 40, 7).enter_read());
        let found = compared(&first, &third);
        assert!(found.counts.is_empty() && found.orders[0].is_moved, "{found:?}");
    }

    #[test]
    fn threads_of_the_kernel_that_take_each_others_work_are_one() {
        assert_eq!(
            ["kworker/0:1", "kworker/u4:2-events", "bash"].map(family),
            ["kworker", "kworker", "bash"]
        );
    }
}
