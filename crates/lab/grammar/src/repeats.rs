//! What is repeated.

use crate::sequitur::Symbol;

/// Elements of what is reported; longer rules are taken apart.
pub const LENGTH_MAX: usize = 4096;

/// A part of a sequence that is there more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// Its elements. They are no repetition themselves.
    pub elements: Vec<u16>,
    /// How often it is there, without parts of other repeats.
    pub times: u64,
}

/// The parts that are repeated, which share nothing: rules as large as possible count, and then what these leave. This is how
/// hot data streams are found: T. M. Chilimbi, Efficient Representations and Abstractions for Quantifying and Exploiting Data
/// Reference Locality, PLDI 2001. A rule that is a repetition itself, such as that of a loop, counts for what it repeats.
#[must_use]
pub fn repeats(rules: &[Vec<Symbol>]) -> Vec<Repeat> {
    let order = order(rules);
    let lengths = lengths(rules, &order);
    let mut uses = vec![0_u64; rules.len()];
    let mut found = Vec::new();
    if let Some(whole) = uses.first_mut() {
        *whole = 1;
    }
    // Those that use a rule come before it.
    for &number in order.iter().rev() {
        let times = uses[number];
        if times == 0 {
            continue;
        }
        if number > 0 && lengths[number] <= LENGTH_MAX {
            let elements = expand(rules, number);
            let period = period(&elements);
            let within = (elements.len() / period) as u64;
            let elements = elements[..period].to_vec();
            found.push(Repeat { elements, times: times.saturating_mul(within) });
            continue;
        }
        for below in below(&rules[number]) {
            uses[below] = uses[below].saturating_add(times);
        }
    }
    found
}

/// The rules that are used in a rule.
fn below(rule: &[Symbol]) -> impl Iterator<Item = usize> {
    rule.iter().filter_map(|symbol| match symbol {
        Symbol::Rule(number) => Some(*number),
        Symbol::Terminal(_) => None,
    })
}

/// The rules that the first one uses, each behind those that it uses itself.
fn order(rules: &[Vec<Symbol>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_seen = vec![false; rules.len()];
    let mut open = vec![(0, false)];
    while let Some((number, is_done)) = open.pop() {
        if is_done {
            order.push(number);
        } else if !std::mem::replace(&mut is_seen[number], true) {
            open.push((number, true));
            open.extend(below(&rules[number]).filter(|below| !is_seen[*below]).map(|below| (below, false)));
        }
    }
    order
}

fn lengths(rules: &[Vec<Symbol>], order: &[usize]) -> Vec<usize> {
    let mut lengths = vec![0_usize; rules.len()];
    for &number in order {
        let length = |symbol: &Symbol| match symbol {
            Symbol::Terminal(_) => 1,
            Symbol::Rule(number) => lengths[*number],
        };
        lengths[number] = rules[number].iter().map(length).fold(0, usize::saturating_add);
    }
    lengths
}

/// The elements that a rule stands for.
fn expand(rules: &[Vec<Symbol>], number: usize) -> Vec<u16> {
    let mut elements = Vec::new();
    let mut open: Vec<Symbol> = rules[number].iter().rev().copied().collect();
    while let Some(symbol) = open.pop() {
        match symbol {
            Symbol::Terminal(element) => elements.push(element),
            Symbol::Rule(number) => open.extend(rules[number].iter().rev()),
        }
    }
    elements
}

/// The length of the shortest part whose repetition a sequence is.
fn period(elements: &[u16]) -> usize {
    let shortest = elements.len() - borders(elements).last().copied().unwrap_or_default();
    if elements.len().is_multiple_of(shortest.max(1)) { shortest.max(1) } else { elements.len() }
}

/// How often a part is in a sequence, from the front, so that no two share an element.
#[must_use]
pub fn occurrences<'a, T: PartialEq + 'a>(part: &[T], sequence: impl IntoIterator<Item = &'a T>) -> u64 {
    let borders = borders(part);
    let (mut equal, mut times) = (0, 0);
    for element in sequence {
        equal = extend(part, &borders, equal, element);
        if equal == part.len() && equal > 0 {
            (equal, times) = (0, times + 1);
        }
    }
    times
}

/// For each beginning of a sequence the longest part that it begins with and ends with: D. E. Knuth, J. H. Morris, V. R. Pratt,
/// Fast Pattern Matching in Strings, 1977.
fn borders<T: PartialEq>(elements: &[T]) -> Vec<usize> {
    let mut borders = vec![0_usize; elements.len()];
    for at in 1..elements.len() {
        borders[at] = extend(elements, &borders, borders[at - 1], &elements[at]);
    }
    borders
}

/// How much of a part is found with one more element.
fn extend<T: PartialEq>(part: &[T], borders: &[usize], mut equal: usize, element: &T) -> usize {
    while equal > 0 && part.get(equal) != Some(element) {
        equal = borders[equal - 1];
    }
    equal + usize::from(part.get(equal) == Some(element))
}

/// Where the rotation of a sequence begins that is the first in the order of words: all rotations of a loop have the same one.
#[must_use]
pub fn least_rotation(elements: &[u16]) -> usize {
    let length = elements.len();
    let (mut best, mut other, mut equal) = (0, 1, 0);
    while other < length && best < length && equal < length {
        let at = |begin: usize| elements[(begin + equal) % length];
        match at(best).cmp(&at(other)) {
            std::cmp::Ordering::Equal => {
                equal += 1;
                continue;
            }
            std::cmp::Ordering::Greater => best += equal + 1,
            std::cmp::Ordering::Less => other += equal + 1,
        }
        if best == other {
            other += 1;
        }
        equal = 0;
    }
    best.min(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Grammar;

    fn of(elements: &[u16]) -> Vec<Repeat> {
        let mut grammar = Grammar::default();
        elements.iter().for_each(|element| grammar.push(*element));
        repeats(&grammar.rules())
    }

    #[test]
    fn a_loop_is_what_it_repeats() {
        let found = of(&[1, 2, 3].repeat(1000));
        let rotated = |repeat: &Repeat| {
            let mut elements = repeat.elements.clone();
            elements.rotate_left(least_rotation(&repeat.elements));
            elements
        };
        assert!(found.iter().all(|repeat| rotated(repeat) == [1, 2, 3]), "{found:?}");
        let times: u64 = found.iter().map(|repeat| repeat.times).sum();
        assert!((990..=1000).contains(&times), "{found:?}");
    }

    #[test]
    fn what_is_there_once_is_no_repeat() {
        assert_eq!(of(&[1, 2, 3, 4]), []);
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[1, 2, 3, 9, 1, 2, 3]), [Repeat { elements: vec![1, 2, 3], times: 2 }]);
    }

    #[test]
    fn periods_are_found() {
        assert_eq!([&[1, 1, 1][..], &[1, 2, 1], &[1, 2, 1, 2], &[1], &[1, 2]].map(period), [1, 3, 2, 1, 2]);
    }

    #[test]
    fn occurrences_share_no_element() {
        let count = |part: &[u16], sequence: &[u16]| occurrences(part, sequence);
        assert_eq!(count(&[1, 1], &[1, 1, 1, 1, 1]), 2);
        assert_eq!(count(&[1, 2, 1], &[1, 2, 1, 2, 1, 2, 1]), 2);
        assert_eq!(count(&[1, 1, 2], &[1, 1, 1, 2, 1, 1, 2]), 2);
        assert_eq!([count(&[], &[1]), count(&[1], &[])], [0, 0]);
    }

    proptest! {
        #[test]
        fn occurrences_are_those_of_a_search(
            part in proptest::collection::vec(0_u16..2, 1..5),
            sequence in proptest::collection::vec(0_u16..2, 0..60),
        ) {
            let text = |elements: &[u16]| -> String { elements.iter().map(u16::to_string).collect() };
            let found = text(&sequence).matches(&text(&part)).count() as u64;
            prop_assert_eq!(occurrences(&part, &sequence), found);
        }

        #[test]
        fn repeats_share_nothing(elements in proptest::collection::vec(0_u16..4, 0..600)) {
            let covered: u64 = of(&elements).iter().map(|repeat| repeat.times * repeat.elements.len() as u64).sum();
            prop_assert!(covered <= elements.len() as u64);
        }

        #[test]
        fn rotations_have_one_least(elements in proptest::collection::vec(0_u16..3, 1..20), by in 0_usize..20) {
            let least = |elements: &[u16]| {
                let mut least = elements.to_vec();
                least.rotate_left(least_rotation(elements));
                least
            };
            let mut rotated = elements.clone();
            rotated.rotate_left(by % elements.len());
            prop_assert_eq!(least(&elements), least(&rotated));
            let all = (0..elements.len()).map(|by| { let mut one = elements.clone(); one.rotate_left(by); one });
            prop_assert_eq!(Some(least(&elements)), all.min());
        }
    }
}
