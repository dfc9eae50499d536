//! Which Kernel is booted when.

use crate::statistics::Random;

/// The order of the boots, without end, of Kernels from 0 to `kernels`: blocks of all of them in random order and back
/// again, ABBA or BAAB where there are two.
///
/// What drifts evenly, such as a host that warms up, meets all Kernels of a block alike; what comes and goes with a
/// period cannot fall in step with an order that is drawn. After half a block all have the same number of boots as
/// well.
pub fn order(kernels: usize, seed: u64) -> impl Iterator<Item = usize> {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || {
        let mut half: Vec<usize> = (0..kernels).collect();
        random.shuffle(&mut half);
        let back = half.clone();
        half.into_iter().chain(back.into_iter().rev())
    })
    .take_while(move |_| kernels > 0)
    .flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_kernels_alternate_in_blocks_of_abba_or_baab() {
        let boots: Vec<usize> = order(2, 1).take(400).collect();
        let forward = boots.chunks(4).filter(|block| *block == [0, 1, 1, 0]).count();
        assert!(boots.chunks(4).all(|block| block == [0, 1, 1, 0] || block == [1, 0, 0, 1]));
        assert!((30..=70).contains(&forward), "{forward} of 100");
    }

    #[test]
    fn no_kernel_is_never_booted() {
        assert_eq!(order(0, 1).next(), None);
    }

    proptest! {
        #[test]
        fn every_half_of_a_block_has_every_kernel_and_a_drift_meets_all_alike(kernels in 1..9_usize, seed: u64) {
            let boots: Vec<usize> = order(kernels, seed).take(6 * kernels).collect();
            for half in boots.chunks(kernels) {
                let mut sorted = half.to_vec();
                sorted.sort_unstable();
                prop_assert!(sorted.into_iter().eq(0..kernels));
            }
            let times = |kernel| (0..boots.len()).filter(|&time| boots[time] == kernel).sum::<usize>();
            prop_assert!((1..kernels).all(|kernel| times(kernel) == times(0)));
        }

        #[test]
        fn a_seed_gives_the_same_order_again(kernels in 1..9_usize, seed: u64) {
            prop_assert!(order(kernels, seed).take(100).eq(order(kernels, seed).take(100)));
        }
    }
}
