//! Debian's order of versions, to take the newest in the store without asking dpkg.

use std::cmp::Ordering;

/// Compares two versions as `dpkg --compare-versions` does.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (split(left), split(right));
    left.0.cmp(&right.0).then_with(|| part(left.1, right.1)).then_with(|| part(left.2, right.2))
}

/// Epoch, upstream version and revision.
fn split(version: &str) -> (u64, &str, &str) {
    let (epoch, rest) = version.split_once(':').unwrap_or(("0", version));
    let (upstream, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
    (epoch.parse().unwrap_or(0), upstream, revision)
}

/// Text and numbers in turn: text by a peculiar order of letters, numbers by value.
fn part<'a>(mut left: &'a str, mut right: &'a str) -> Ordering {
    while !left.is_empty() || !right.is_empty() {
        let (texts, numbers): ([&'a str; 2], [&'a str; 2]);
        (texts, [left, right]) = cut([left, right], |c| c.is_ascii_digit());
        (numbers, [left, right]) = cut([left, right], |c| !c.is_ascii_digit());
        let order = text(texts[0], texts[1]).then_with(|| number(numbers[0], numbers[1]));
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// Cuts both before the first character of a kind.
fn cut(both: [&str; 2], is_next: fn(char) -> bool) -> ([&str; 2], [&str; 2]) {
    let [left, right] = both.map(|text| text.split_at(text.find(is_next).unwrap_or(text.len())));
    ([left.0, right.0], [left.1, right.1])
}

fn text(left: &str, right: &str) -> Ordering {
    let length = left.chars().count().max(right.chars().count());
    let ranks = |text: &str| -> Vec<u32> {
        text.chars().map(rank).chain(std::iter::repeat(END)).take(length).collect()
    };
    ranks(left).cmp(&ranks(right))
}

const END: u32 = 1;

/// A tilde comes even before the end, then letters, then the rest.
fn rank(character: char) -> u32 {
    match character {
        '~' => 0,
        letter if letter.is_ascii_alphabetic() => u32::from(letter),
        other => 0x100 + u32::from(other),
    }
}

/// By value without a limit on the digits.
fn number(left: &str, right: &str) -> Ordering {
    let [left, right] = [left, right].map(|digits| digits.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn kernels_of_debian_in_their_order() {
        let order =
            ["5.10.1-1", "6.1.99-1", "6.1.176-1", "6.1.192-1", "6.1.192-2", "6.12~rc1-1", "6.12-1~bpo12+1"];
        for pair in order.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare("6.12-1", "6.12-1~bpo12+1"), Ordering::Greater);
        assert_eq!(compare("1:1-1", "6.1-1"), Ordering::Greater);
        assert_eq!(compare("1.01", "1.1"), Ordering::Equal);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn agrees_with_dpkg(left in "[0-2](:)?[0-9][0-9a-b.+~]{0,6}(-[0-9a-b.+~]{1,4})?", right in "[0-2][0-9a-b.+~]{0,6}(-[0-9a-b.+~]{1,4})?") {
            let says = |operator: &str| {
                Command::new("dpkg").args(["--compare-versions", &left, operator, &right]).status().unwrap().success()
            };
            let wanted = if says("lt") { Ordering::Less } else if says("eq") { Ordering::Equal } else { Ordering::Greater };
            prop_assert_eq!(compare(&left, &right), wanted);
        }

        #[test]
        fn any_text_has_its_place(left: String, right: String) {
            prop_assert_eq!(compare(&left, &right), compare(&right, &left).reverse());
            prop_assert_eq!(compare(&left, &left), Ordering::Equal);
        }
    }
}
