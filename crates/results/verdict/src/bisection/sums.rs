//! Sums over the candidates that a state contains.

use super::order::Axis;
use super::posterior::Posterior;
use super::share::Share;

/// The sums of the state after each candidate.
pub(super) fn sums(axis: &Axis, posterior: &Posterior) -> Vec<Share> {
    match axis {
        Axis::Line(count) => {
            let mut share = Share::default();
            (0..*count)
                .map(|at| {
                    share.add(posterior.share(at), 1.0);
                    share
                })
                .collect()
        }
        Axis::Graph { contained, .. } => {
            let parts = parts(posterior, contained.len());
            contained.iter().map(|row| sum(row, &parts)).collect()
        }
    }
}

/// Candidates among 64 that count alike.
struct Part {
    word: usize,
    mask: u64,
    each: Share,
}

/// What is less probable cannot move a choice.
const NEGLIGIBLE: f64 = 1e-12;

/// The candidates that matter, in words of their bits: there are few where many count alike or few matter.
fn parts(posterior: &Posterior, count: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for at in 0..count {
        let each = posterior.share(at);
        if each.mass * (count as f64) < NEGLIGIBLE {
            continue;
        }
        let (word, bit) = (at / 64, 1 << (at % 64));
        match parts.iter_mut().rev().take_while(|part| part.word == word).find(|part| part.each == each) {
            Some(part) => part.mask |= bit,
            None => parts.push(Part { word, mask: bit, each }),
        }
    }
    parts
}

fn sum(row: &[u64], parts: &[Part]) -> Share {
    let mut share = Share::default();
    for part in parts.iter().take_while(|part| part.word < row.len()) {
        share.add(part.each, f64::from((row[part.word] & part.mask).count_ones()));
    }
    share
}
