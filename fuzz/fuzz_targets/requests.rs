//! What sessions, bisections and measurements keep of what they were asked, which others may have written.

#![no_main]

use bisect::BisectRequest;
use lab::request::{MeasureRequest, Request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(request) = serde_json::from_slice::<Request>(input) {
        assert!(!request.words().is_empty());
        let again = serde_json::to_vec(&request).and_then(|text| serde_json::from_slice::<Request>(&text));
        assert!(again.is_ok(), "{request:?}");
    }
    let _ = serde_json::from_slice::<BisectRequest>(input).map(|request| serde_json::to_vec(&request));
    let _ = serde_json::from_slice::<MeasureRequest>(input).map(|request| serde_json::to_vec(&request));
});
