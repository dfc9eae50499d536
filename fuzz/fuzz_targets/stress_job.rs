//! Job files of `kiln stress`, and its command line, which is read as one.

#![no_main]

use lab::stress_job::write::write;
use lab::stress_job::{Job, parse};
use libfuzzer_sys::fuzz_target;
use machine::catalogue;

fuzz_target!(|input: &[u8]| {
    let Job { request, mistakes } = parse(input, catalogue::stressors());
    if mistakes.is_empty() {
        let again = parse(write(&request).as_bytes(), catalogue::stressors());
        assert_eq!(again, Job { request, mistakes });
    } else {
        assert!(mistakes.iter().all(|mistake| mistake.line > 0 && !mistake.text.is_empty()));
    }
});
