//! Where a series of values changes.
//!
//! How different two groups of values are is their energy distance, with which D. S. Matteson and N. A. James divide a series: "A
//! nonparametric approach for multiple change point analysis of multivariate data", Journal of the American Statistical
//! Association 109 (2014), 334-345 (E-Divisive, here with the exponent 1). It needs no assumption on how values are
//! distributed. MongoDB watches its performance with it: D. Daly et al., "The use of change point detection to identify
//! software performance regressions in a continuous integration system", ICPE 2020.
//!
//! A regression that was fixed is a plateau between two changes, and no single cut shows it well. So a stretch is held against what lies
//! on both its sides: A. B. Olshen et al., "Circular binary segmentation for the analysis of array-based DNA copy number data",
//! Biostatistics 5 (2004), 557-572, which also looks at each change once more in the end.

use std::ops::Range;
use std::rc::Rc;

use super::random::Random;

/// Random orders of the values with which each change is compared; the smallest probability is one in one more.
const ORDERS: usize = 999;

/// Most values of a series: the distances between all pairs are kept.
const VALUES_MAX: usize = 1000;

/// Fewest values that are a group: one alone has no distance to others of its kind, so that a single session on a busy host would
/// look like the largest change in any order, and hide all others.
const GROUP_MIN: usize = 2;

/// Differences of sums that are no differences.
const ROUNDING: f64 = 1e-9;

/// Where a series changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first place after the change.
    pub at: usize,
    /// How often chance alone, in random orders of the same values, shows a change as large.
    pub p: f64,
}

/// The changes of a series that has one or more values at each place, in their order.
///
/// Where nothing changes, something is found with a probability of `error` at most: the values are then as probable in any order. A
/// change lies between two places, never within one. The stretch that differs most is looked for first, then those of its parts, until one
/// may be chance. Of more than 1,000 values nothing is said.
#[must_use]
pub fn change_points(places: &[Vec<f64>], error: f64, seed: u64) -> Vec<ChangePoint> {
    let count: usize = places.iter().map(Vec::len).sum();
    if count > VALUES_MAX || places.iter().flatten().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut random = Random::new(seed);
    let mut cuts = Vec::new();
    let mut parts = vec![Part::of(places, 0..places.len())];
    while let Some((number, stretch)) = most_different(&parts) {
        let differs_as_much = |random: &mut Random| {
            parts
                .iter()
                .filter_map(|part| part.shuffled(random).best_stretch())
                .any(|best| best.is_as_large(stretch.size))
        };
        if may_be_chance(error, &mut random, differs_as_much) {
            break;
        }
        let whole = parts.swap_remove(number).range;
        let ends = [whole.start, stretch.range.start, stretch.range.end, whole.end];
        let new = ends.windows(2).filter(|pair| pair[0] < pair[1]);
        parts.extend(new.map(|pair| Part::of(places, pair[0]..pair[1])));
        cuts.extend(ends[1..3].iter().copied().filter(|&cut| whole.start < cut && cut < whole.end));
    }
    cuts.sort_unstable();
    without_chance(places, cuts, error, &mut random)
}

/// The cuts that differ from chance when each is looked at between its neighbours: one end of a stretch may be none.
fn without_chance(
    places: &[Vec<f64>],
    mut cuts: Vec<usize>,
    error: f64,
    random: &mut Random,
) -> Vec<ChangePoint> {
    loop {
        let looked_at: Vec<ChangePoint> = (0..cuts.len())
            .map(|number| {
                let begin = number.checked_sub(1).map_or(0, |before| cuts[before]);
                let end = cuts.get(number + 1).copied().unwrap_or(places.len());
                let part = Part::of(places, begin..end);
                let size = part.size(cuts[number]..end);
                let differs_as_much = |random: &mut Random| {
                    part.shuffled(random).best_cut().is_some_and(|best| best.is_as_large(size))
                };
                ChangePoint { at: cuts[number], p: chance(random, differs_as_much) }
            })
            .collect();
        match looked_at.iter().max_by(|a, b| a.p.total_cmp(&b.p)) {
            Some(worst) if worst.p > error => cuts.retain(|&cut| cut != worst.at),
            _ => return looked_at,
        }
    }
}

/// How often random orders differ as much.
fn chance(random: &mut Random, differs_as_much: impl Fn(&mut Random) -> bool) -> f64 {
    probability((0..ORDERS).filter(|_| differs_as_much(random)).count())
}

/// Whether random orders differ as much more often than `error`: it takes few orders to see that they do.
fn may_be_chance(error: f64, random: &mut Random, differs_as_much: impl Fn(&mut Random) -> bool) -> bool {
    let mut as_large = 0;
    probability(0) > error
        || (0..ORDERS).any(|_| {
            as_large += usize::from(differs_as_much(random));
            probability(as_large) > error
        })
}

/// That of something that so many random orders show; the order that was observed is one more.
fn probability(as_large: usize) -> f64 {
    (as_large + 1) as f64 / (ORDERS + 1) as f64
}

/// The stretch of all parts that differs most, and the number of its part.
fn most_different(parts: &[Part]) -> Option<(usize, Stretch)> {
    let stretches =
        parts.iter().enumerate().filter_map(|(number, part)| Some((number, part.best_stretch()?)));
    let differs = |(_, stretch): &(usize, Stretch)| stretch.size > 0.0;
    stretches.filter(differs).max_by(|(_, a), (_, b)| a.size.total_cmp(&b.size))
}

/// Places that differ from the others of their part.
#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    range: Range<usize>,
    /// By how much: the scaled energy distance.
    size: f64,
}

impl Stretch {
    /// Whether it is of this size, or larger.
    fn is_as_large(&self, size: f64) -> bool {
        self.size >= size * (1.0 - ROUNDING)
    }
}

/// What lies between two changes.
struct Part {
    /// Its places.
    range: Range<usize>,
    /// Their values, one place after the other.
    values: Vec<f64>,
    /// How many of the values come before each place, and all of them in the end.
    begins: Vec<usize>,
    sums: Sums,
}

impl Part {
    fn of(places: &[Vec<f64>], range: Range<usize>) -> Self {
        let own = &places[range.clone()];
        let counts = own.iter().scan(0, |sum, values| {
            *sum += values.len();
            Some(*sum)
        });
        let begins = std::iter::once(0).chain(counts).collect();
        let values = own.concat();
        let sums = Sums::of(&values, Weights::all(values.len()));
        Self { range, begins, sums, values }
    }

    fn shuffled(&self, random: &mut Random) -> Self {
        let mut values = self.values.clone();
        random.shuffle(&mut values);
        let sums = Sums::of(&values, Rc::clone(&self.sums.weights));
        Self { range: self.range.clone(), begins: self.begins.clone(), sums, values }
    }

    /// How different these places are from the others of the part.
    fn size(&self, range: Range<usize>) -> f64 {
        let begin = |place: usize| self.begins[place - self.range.start];
        self.sums.size(begin(range.start)..begin(range.end))
    }

    /// The cut with the largest size.
    fn best_cut(&self) -> Option<Stretch> {
        largest((self.range.start + 1..self.range.end).map(|start| start..self.range.end), self)
    }

    /// The stretch with the largest size.
    fn best_stretch(&self) -> Option<Stretch> {
        // What begins with the part differs from the rest as the rest differs from it.
        let starts = self.range.start + 1..self.range.end;
        largest(starts.flat_map(|start| (start + 1..=self.range.end).map(move |end| start..end)), self)
    }
}

fn largest(ranges: impl Iterator<Item = Range<usize>>, part: &Part) -> Option<Stretch> {
    let mut sized = ranges.map(|range| (part.size(range.clone()), range));
    let first = sized.next()?;
    // `max_by` of whole stretches takes all random orders a sixth longer.
    let (size, range) = sized.fold(first, |best, next| if next.0 >= best.0 { next } else { best });
    Some(Stretch { range, size })
}

/// Sums of the distances between values.
struct Sums {
    count: usize,
    /// Of all pairs of one of the first so many with one of the first so many others: a square of `count` + 1.
    pairs: Vec<f64>,
    /// Of all pairs of two of the first so many.
    within: Vec<f64>,
    /// Of all pairs of one of the first so many with any value.
    with_any: Vec<f64>,
    /// What sums count for, by the number of values inside: the same for all orders.
    weights: Rc<[Weights]>,
}

impl Sums {
    fn of(values: &[f64], weights: Rc<[Weights]>) -> Self {
        let count = values.len();
        let width = count + 1;
        let mut pairs = vec![0.0; width * width];
        for row in 0..count {
            let mut sum = 0.0;
            for column in 0..count {
                sum += (values[row] - values[column]).abs();
                pairs[(row + 1) * width + column + 1] = pairs[row * width + column + 1] + sum;
            }
        }
        let within = (0..width).map(|first| pairs[first * width + first]).collect();
        let with_any = (0..width).map(|first| pairs[first * width + count]).collect();
        Self { count, pairs, within, with_any, weights }
    }

    /// How different these values are from the others.
    fn size(&self, inside: Range<usize>) -> f64 {
        let Range { start, end } = inside;
        // Each pair stands there in both orders.
        let both = self.within[end] - 2.0 * self.pairs[start * (self.count + 1) + end] + self.within[start];
        let any = self.with_any[end] - self.with_any[start];
        let weights = &self.weights[end - start];
        any * weights.any - both * weights.both - self.with_any[self.count] * weights.all
    }
}

/// What the sums of distances count for in the size of a group: equations 4 and 5 of Matteson and James, in which the pairs
/// across the border of the group are `any - both`, and those outside of it `all - 2 any + both`.
struct Weights {
    /// Of two values inside.
    both: f64,
    /// Of one inside with any.
    any: f64,
    /// Of any two.
    all: f64,
}

impl Weights {
    /// For groups of none to all of `count` values.
    fn all(count: usize) -> Rc<[Self]> {
        (0..=count).map(|inside| Self::of(inside, count)).collect()
    }

    fn of(inside: usize, count: usize) -> Self {
        let outside = count - inside;
        if inside < GROUP_MIN || outside < GROUP_MIN {
            return Self { both: 0.0, any: 0.0, all: 0.0 };
        }
        let (ins, outs, count) = (inside as f64, outside as f64, count as f64);
        let across = 2.0 / count;
        let within = outs / ((ins - 1.0) * count);
        let all = ins / ((outs - 1.0) * count);
        Self { both: across + within + all, any: across + 2.0 * all, all }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn single(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|&value| vec![value]).collect()
    }

    fn at(places: &[Vec<f64>]) -> Vec<usize> {
        change_points(places, 0.05, 7).iter().map(|change| change.at).collect()
    }

    #[test]
    fn a_step_and_its_end_are_found() {
        let noise = [0.1, -0.2, 0.0, 0.3, -0.1, 0.2, -0.3, 0.1];
        let level = |level: f64| noise.map(|noise| level + noise);
        assert_eq!(at(&single(&[level(10.0), level(12.0), level(10.0)].concat())), [8, 16]);
        assert_eq!(at(&single(&level(10.0))), Vec::<usize>::new());
    }

    #[test]
    fn one_value_far_away_hides_no_step() {
        let noise = [0.1, -0.2, 0.0, 0.3, -0.1, 0.2, -0.3, 0.15];
        let mut values: Vec<f64> =
            [100.0, 103.0].iter().flat_map(|level| noise.map(|it| level + it)).collect();
        values[3] = 150.0;
        assert_eq!(at(&single(&values)), [8]);
    }

    #[test]
    fn a_change_lies_between_places() {
        let places = [[1.0, 1.1, 0.9], [1.0, 0.9, 1.1], [5.0, 5.1, 4.9], [5.0, 5.1, 4.9]].map(Vec::from);
        assert_eq!(at(&places), [2]);
        assert!(change_points(&places, 0.05, 7)[0].p < 0.01);
    }

    #[test]
    fn too_few_values_show_nothing() {
        assert_eq!(at(&[]), Vec::<usize>::new());
        assert_eq!(at(&single(&[1.0])), Vec::<usize>::new());
        assert_eq!(at(&single(&[1.0, 9.0])), Vec::<usize>::new(), "both orders show it");
        assert_eq!(
            at(&single(&[1.0, 1.0, 1.0, 9.0, 9.0])),
            Vec::<usize>::new(),
            "2 of 10 orders show as much"
        );
        assert_eq!(at(&single(&[1.0; 9])), Vec::<usize>::new());
        assert_eq!(at(&[vec![f64::NAN], vec![1.0]]), Vec::<usize>::new());
    }

    /// The distance by its definition.
    fn by_definition(left: &[f64], right: &[f64]) -> f64 {
        let across: f64 = left.iter().flat_map(|x| right.iter().map(move |y| (x - y).abs())).sum();
        let within = |values: &[f64]| -> f64 {
            let all =
                values.iter().enumerate().flat_map(|(i, x)| values[..i].iter().map(move |y| (x - y).abs()));
            let pairs = values.len() * values.len().saturating_sub(1) / 2;
            if pairs == 0 { 0.0 } else { all.sum::<f64>() / pairs as f64 }
        };
        let product = (left.len() * right.len()) as f64;
        let energy = 2.0 * across / product - within(left) - within(right);
        energy * product / (left.len() + right.len()) as f64
    }

    proptest! {
        #[test]
        fn sums_give_what_the_definition_says(values in prop::collection::vec(-1e3_f64..1e3, 4..40), left: usize, length: usize) {
            let length = 2 + length % (values.len() - 3);
            let start = left % (values.len() - length + 1);
            let end = start + length;
            let fast = Sums::of(&values, Weights::all(values.len())).size(start..end);
            let slow = by_definition(&values[start..end], &[&values[..start], &values[end..]].concat());
            prop_assert!((fast - slow).abs() < 1e-6 * (1.0 + slow.abs()), "{} {}", fast, slow);
        }

        #[test]
        fn few_orders_tell_what_all_of_them_do(rate in 0.0_f64..0.2, error in 0.0_f64..0.2, seed: u64) {
            let differs = |random: &mut Random| random.uniform() < rate;
            let of_all = chance(&mut Random::new(seed), differs);
            prop_assert_eq!(may_be_chance(error, &mut Random::new(seed), differs), of_all > error);
        }

        #[test]
        fn changes_are_in_order_and_between_places(values in prop::collection::vec(prop::collection::vec(-9_f64..9.0, 0..3), 0..9), error in 0.0_f64..0.5) {
            let found = change_points(&values, error, 1);
            prop_assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
            prop_assert!(found.iter().all(|change| (1..values.len()).contains(&change.at) && change.p <= error));
        }
    }
}
