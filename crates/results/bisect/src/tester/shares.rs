//! Tests side by side, and the runs of one test shared out.

use std::sync::mpsc::channel;

use super::Tested;
use crate::answer::Answer;
use crate::error::Error;
use crate::event::Progress;

/// Runs of a test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// In which boot, or from which on.
    pub(super) boot: u32,
    /// How many.
    pub(super) times: u32,
    /// At a time.
    pub(super) jobs: usize,
}

/// Some of the runs of a test, made one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// How many are made before these, in other parts.
    pub(super) before: u32,
    /// How many.
    pub(super) times: u32,
}

/// Gets what happens, from any thread.
pub(super) type Tell<'t> = dyn Fn(Progress) + Sync + 't;

/// Does something with each of several, side by side; what is told meanwhile is emit in one place.
pub(super) fn side_by_side<T: Sync>(
    several: &[T],
    emit: &mut dyn FnMut(Progress),
    test: impl Fn(&T, &Tell<'_>) -> Result<Tested, Error> + Sync,
) -> Vec<Result<Tested, Error>> {
    let (sender, receiver) = channel();
    let test = &test;
    std::thread::scope(|scope| {
        let start = |one| {
            let sender = sender.clone();
            scope.spawn(move || test(one, &|progress| drop(sender.send(progress))))
        };
        let threads: Vec<_> = several.iter().map(start).collect();
        drop(sender);
        receiver.iter().for_each(&mut *emit);
        let gone = || Err(Error::Broken("a thread of kiln died".to_string()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| gone())).collect()
    })
}

/// Makes the runs of a test, up to `jobs` of them at a time: `make` makes a part of them.
pub(super) fn in_shares(
    share: Share,
    emit: &mut dyn FnMut(Progress),
    make: impl Fn(Part, &Tell<'_>) -> Result<Tested, Error> + Sync,
) -> Result<Tested, Error> {
    let parts = side_by_side(&parts(share), emit, |part, tell| make(*part, tell));
    let joined = parts.into_iter().reduce(|whole, part| Ok(joined(whole?, part?)));
    joined.unwrap_or_else(|| Err(Error::Broken("a test has no part".to_string())))
}

/// Runs for each of up to `jobs` that work side by side.
fn parts(Share { times, jobs, .. }: Share) -> Vec<Part> {
    let jobs = u32::try_from(jobs).unwrap_or(u32::MAX).min(times).max(1);
    let mut before = 0;
    let part = |job| {
        let part = Part { before, times: times / jobs + u32::from(job < times % jobs) };
        before += part.times;
        part
    };
    (0..jobs).map(part).collect()
}

/// What two that tested the same found together.
fn joined(mut whole: Tested, part: Tested) -> Tested {
    let is_better = bad_runs(&part.answer) > 0 && bad_runs(&whole.answer) == 0;
    whole.evidence.add(part.evidence, is_better);
    whole.answer = both(whole.answer, part.answer);
    whole.others.extend(part.others);
    whole.unknown.extend(part.unknown);
    whole.reused += part.reused;
    whole.preparation = whole.preparation.max(part.preparation);
    whole.boot = whole.boot.max(part.boot);
    whole.each = whole.each.max(part.each);
    whole
}

/// Both answers in one. A kernel that cannot be measured once cannot be compared; of runs, those count that there are.
fn both(whole: Answer, part: Answer) -> Answer {
    match (whole, part) {
        (Answer::Values(mut values), Answer::Values(more)) => {
            values.extend(more);
            Answer::Values(values)
        }
        (Answer::Runs { bad: a, good: b }, Answer::Runs { bad: c, good: d }) => {
            Answer::Runs { bad: a + c, good: b + d }
        }
        (runs @ Answer::Runs { .. }, not @ Answer::CannotTest(_))
        | (not @ Answer::CannotTest(_), runs @ Answer::Runs { .. }) => {
            if runs.count() > 0 {
                runs
            } else {
                not
            }
        }
        (not @ Answer::CannotTest(_), _) | (_, not) => not,
    }
}

fn bad_runs(answer: &Answer) -> u32 {
    if let Answer::Runs { bad, .. } = answer { *bad } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bisection::Evidence;

    fn part(answer: Answer, line: &str) -> Tested {
        Tested::at_once(answer, Evidence { lines: vec![line.to_string()], ..Evidence::default() })
    }

    #[test]
    fn runs_are_shared_out() {
        let parts = |times, jobs| {
            let parts = parts(Share { boot: 0, times, jobs });
            parts.iter().map(|part| (part.before, part.times)).collect::<Vec<_>>()
        };
        assert_eq!(parts(3, 2), [(0, 2), (2, 1)]);
        assert_eq!(parts(1, 4), [(0, 1)]);
        assert_eq!(parts(8, 4), [(0, 2), (2, 2), (4, 2), (6, 2)]);
        assert_eq!(parts(3, 0), [(0, 3)]);
    }

    #[test]
    fn parts_come_together() {
        let not = || Answer::CannotTest("it panics".to_string());
        let values = |values: &[f64]| Answer::Values(values.to_vec());
        let runs = |bad, good| Answer::Runs { bad, good };
        assert_eq!(both(values(&[1.0, 2.0]), values(&[3.0])), values(&[1.0, 2.0, 3.0]));
        assert_eq!((both(values(&[1.0]), not()), both(not(), values(&[1.0]))), (not(), not()));
        assert_eq!(both(runs(1, 2), runs(3, 4)), runs(4, 6));
        assert_eq!((both(runs(0, 1), not()), both(not(), runs(0, 0))), (runs(0, 1), not()));
    }

    #[test]
    fn the_part_that_shows_it_stands_for_all() {
        let runs = |bad, good| Answer::Runs { bad, good };
        let make = |made: Part, _: &Tell<'_>| match made.times {
            2 => Ok(part(runs(0, 2), "hidden")),
            _ => Ok(part(runs(1, 0), "shown")),
        };
        let whole =
            in_shares(Share { boot: 0, times: 3, jobs: 2 }, &mut |_| (), make).expect("both were made");
        assert_eq!((whole.answer, &whole.evidence.lines[..]), (runs(1, 2), &["shown".to_string()][..]));
        let fails = |_: Part, _: &Tell<'_>| Err(Error::Interrupted);
        assert!(matches!(
            in_shares(Share { boot: 0, times: 3, jobs: 2 }, &mut |_| (), fails),
            Err(Error::Interrupted)
        ));
    }
}
