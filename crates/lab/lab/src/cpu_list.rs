//! Lists of CPUs, as cpuset(7) has them: `1,3,5-7`.

/// The numbers of a list, in its order; each must be below `limit`.
#[must_use]
pub fn read(text: &str, limit: u32) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last] = [first, last].map(|number| number.parse::<u32>().ok().filter(|cpu| *cpu < limit));
        let (first, last) = (first?, last?);
        if first > last {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order_and_what_is_there_twice() {
        assert_eq!(read("7,0,2-3,2", 1024), Some(vec![7, 0, 2, 3, 2]));
        for wrong in ["", ",", "1-", "-1", "3-1", "1024", "0-4294967295", "all", "1 ,2"] {
            assert_eq!(read(wrong, 1024), None, "{wrong}");
        }
    }
}
