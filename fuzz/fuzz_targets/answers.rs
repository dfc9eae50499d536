//! Anything in place of what an instrument says: it is an answer or none.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::measure::{Answer, decode, encode};

fuzz_target!(|input: &[u8]| {
    if let Ok(answer) = decode::<Answer>(input) {
        assert_eq!(encode(&answer).and_then(|bytes| decode(&bytes)), Ok(answer));
    }
});
