//! Which combination comes when.

/// The places of all combinations, in `rounds` rounds. Every other round goes backwards, so that what drifts steadily
/// concerns all combinations alike.
pub(crate) fn order(combinations: usize, rounds: u32) -> impl Iterator<Item = usize> {
    (0..rounds).flat_map(move |round| {
        (0..combinations).map(move |place| if round % 2 == 0 { place } else { combinations - 1 - place })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_all_combinations_and_every_other_goes_backwards() {
        assert_eq!(order(3, 3).collect::<Vec<_>>(), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        assert_eq!(order(1, 2).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(order(0, 2).count(), 0);
    }
}
