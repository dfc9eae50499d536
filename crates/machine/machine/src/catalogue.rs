//! The cases, operations and stressors that the programs for guests hold, as they said while kiln was built.

use std::sync::LazyLock;

use protocol::catalogue::{Cases, Operation};
use protocol::measure::decode;
use protocol::stress::Catalogue;

/// kiln's own cases and suites.
#[must_use]
pub fn cases() -> &'static Cases {
    static CASES: LazyLock<Cases> = LazyLock::new(|| {
        let none = Cases { suites: Vec::new(), cases: Vec::new() };
        decode(include_bytes!(env!("KILN_CASES"))).unwrap_or(none)
    });
    &CASES
}

/// The operations that are measured, in the order in which they are.
#[must_use]
pub fn operations() -> &'static [Operation] {
    static OPERATIONS: LazyLock<Vec<Operation>> =
        LazyLock::new(|| decode(include_bytes!(env!("KILN_OPERATIONS"))).unwrap_or_default());
    &OPERATIONS
}

/// The stressors of `stress`, by name.
#[must_use]
pub fn stressors() -> &'static Catalogue {
    static STRESSORS: LazyLock<Catalogue> = LazyLock::new(|| {
        let none = Catalogue { stressors: Vec::new() };
        serde_json::from_slice(include_bytes!(env!("KILN_STRESSORS"))).unwrap_or(none)
    });
    &STRESSORS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn assert_described(all: &[(&String, &String)]) {
        for (name, about) in all {
            let (area, what) = name.split_once('/').expect("area/what");
            let plain = |s: &str| {
                !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            };
            assert!(plain(area) && plain(what), "{name}");
            assert!((10..=110).contains(&about.len()), "{name}: {about}");
            assert!(!about.contains('\n') && !about.ends_with('.'), "{name}: {about}");
        }
        let names: BTreeSet<_> = all.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), all.len(), "no two have the same name");
    }

    #[test]
    fn each_case_says_in_one_line_what_it_verifies() {
        let all: Vec<_> = cases().cases.iter().map(|case| (&case.name, &case.about)).collect();
        assert!(all.len() >= 200, "{}", all.len());
        assert_described(&all);
    }

    #[test]
    fn each_operation_says_in_one_line_what_it_is() {
        let all: Vec<_> = operations().iter().map(|operation| (&operation.name, &operation.about)).collect();
        assert!(all.len() >= 110, "{}", all.len());
        assert_described(&all);
    }

    #[test]
    fn each_stressor_says_in_one_line_what_it_exercises_and_verifies() {
        let all = &stressors().stressors;
        assert!(all.len() >= 120, "{}", all.len());
        for stressor in all {
            for text in [&stressor.about, &stressor.operation, &stressor.verifies] {
                assert!(
                    !text.is_empty() && !text.contains('\n') && !text.ends_with('.'),
                    "{}: {text}",
                    stressor.name
                );
            }
            assert!(!stressor.classes.is_empty(), "{}", stressor.name);
        }
    }
}
