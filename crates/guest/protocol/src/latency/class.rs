//! The classes of a histogram: as narrow as three significant digits ask for, up to the largest number.
//!
//! They are those of an HDR histogram: each number below 2,048 has a class of its own, and each further doubling of
//! the numbers has 1,024 classes of equal width. So a class is never wider than a thousandth of its numbers, and
//! finding it takes a shift. A class is known by its index, which is below [`COUNT`].

/// Numbers of up to so many bits have a class each.
const EXACT_BITS: u32 = 11;

/// Binary logarithm of the number of classes of each further doubling.
const DOUBLING_BITS: u32 = EXACT_BITS - 1;

/// How many classes there are.
pub const COUNT: usize = ((u64::BITS - EXACT_BITS + 2) as usize) << DOUBLING_BITS;

/// The class of a number.
#[must_use]
#[inline]
pub const fn of(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(EXACT_BITS);
    ((shift as usize) << DOUBLING_BITS) + (value >> shift) as usize
}

/// The smallest number of a class.
#[must_use]
pub const fn lowest(class: usize) -> u64 {
    let shift = shift(class);
    ((class - (shift << DOUBLING_BITS)) as u64) << shift
}

/// The largest number of a class.
#[must_use]
pub const fn highest(class: usize) -> u64 {
    lowest(class) + (width(class) - 1)
}

/// How many numbers a class has.
#[must_use]
pub const fn width(class: usize) -> u64 {
    1 << shift(class)
}

/// How many low bits the numbers of a class do not tell apart.
const fn shift(class: usize) -> usize {
    (class >> DOUBLING_BITS).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_classes_leave_no_number_out() {
        assert_eq!((lowest(0), of(0)), (0, 0));
        assert_eq!((highest(COUNT - 1), of(u64::MAX)), (u64::MAX, COUNT - 1));
        for class in 1..COUNT {
            assert_eq!(lowest(class), highest(class - 1) + 1, "class {class}");
        }
    }

    proptest! {
        #[test]
        fn each_number_is_in_its_class(value: u64, shift in 0..64_u32) {
            let value = value >> shift;
            let class = of(value);
            prop_assert!((lowest(class)..=highest(class)).contains(&value));
        }

        #[test]
        fn three_digits_are_kept(value in 2048_u64..) {
            prop_assert!(width(of(value)) - 1 <= value / 1000);
        }
    }
}
