//! Three labels of kernels, whose order must be total, and what is read from names and version texts.

#![no_main]

use std::cmp::Ordering;

use kernel::version::{compare, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let all = String::from_utf8_lossy(input);
    let mut labels = all.splitn(3, '\n');
    let mut next = || labels.next().unwrap_or_default();
    let (a, b, c) = (next(), next(), next());
    assert_eq!(compare(a, b), compare(b, a).reverse());
    if compare(a, b) != Ordering::Greater && compare(b, c) != Ordering::Greater {
        assert_ne!(compare(a, c), Ordering::Greater);
    }
    text::flavour(a);
    text::package_version(b);
    assert!(text::date(c).is_none_or(|day| day.len() == 10));
});
