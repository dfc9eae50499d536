//! Anything in place of what QEMU's plugin writes: it is read or refused, and what is attributed is what was counted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use measure::profile::{Profile, Symbolized, Symbols};

const SYMBOLS: &str = "ffffffff81000000 T one\nffffffff81000010 t two\nffffffffc0000000 t three [module]\n";

fuzz_target!(|input: &[u8]| {
    match Profile::parse(input) {
        Ok(profile) => {
            let code = Symbolized::new(profile, Symbols::parse(SYMBOLS));
            for counted in &code.profile().counted {
                let happened = counted.happened(&[1, 2, 2], 2).unwrap_or_default();
                assert!(happened.iter().all(|it| it.min <= it.typical && it.typical <= it.max));
            }
            for (number, job) in code.profile().jobs.iter().enumerate() {
                let detail = code.detail(number, None);
                assert_eq!(detail.is_some(), job.typical(None).is_some());
                let Some(detail) = detail else { continue };
                let sum = detail.functions.iter().fold(0u64, |sum, it| sum.saturating_add(it.instructions));
                assert!(sum >= detail.kernel, "{sum} of {}", detail.kernel);
                assert!(detail.functions.len() <= 4);
                let stacks = detail.stacks.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
                assert!(detail.stacks.is_empty() || stacks == sum, "{stacks} of {sum}");
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
