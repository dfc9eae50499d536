//! The name that was probably meant.

/// Longest name that is compared.
const LENGTH_MAX: usize = 80;

/// The nearest of some names, if it is near enough to be the same with a slip.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // In a name of three letters any slip makes another word.
    let limit = (name.len() / 4).min(3);
    if limit == 0 || name.len() > LENGTH_MAX {
        return None;
    }
    let near = names.filter_map(|other| Some((distance(name, other, limit)?, other)));
    near.min().map(|(_, other)| other)
}

/// How many letters must be changed, added, taken out or swapped with their neighbour; nothing beyond the limit.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let is_same = a[i - 1] == b[j - 1];
            let mut least = (above[j - 1] + usize::from(!is_same)).min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        if row.iter().min().is_some_and(|least| *least > limit) {
            return None;
        }
        (before, above) = (above, row);
    }
    above.last().copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["KASAN", "KCSAN", "KMSAN", "EXT4_FS", "DEBUG_INFO_DWARF5", "NET"];

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        let find = |name| nearest(name, NAMES.into_iter());
        assert_eq!(find("KASAM"), Some("KASAN"));
        assert_eq!(find("KSAAN"), Some("KASAN"));
        assert_eq!(find("EXT4FS"), Some("EXT4_FS"));
        assert_eq!(find("DEBUG_INFO_DWARF_5"), Some("DEBUG_INFO_DWARF5"));
    }

    #[test]
    fn another_word_finds_nothing() {
        for name in ["XFS_FS", "NTE", "", "DEBUG_VM", &"A".repeat(1000)] {
            assert_eq!(nearest(name, NAMES.into_iter()), None, "{name}");
        }
    }

    #[test]
    fn the_first_of_equally_near_names_wins_whatever_the_order() {
        assert_eq!(nearest("KXSAN", NAMES.into_iter()), Some("KASAN"));
        assert_eq!(nearest("KXSAN", NAMES.into_iter().rev()), Some("KASAN"));
    }
}
