//! Lab scripts, which anybody may write, and the journals of their runs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use script::check::check_source;
use script::journal::replay;
use script::{Metadata, Source};

fuzz_target!(|text: &str| {
    let source = Source::new("experiment.star", text);
    if let Ok(metadata) = Metadata::read(source.clone()) {
        let json = serde_json::to_vec(&metadata);
        let again = json.and_then(|json| serde_json::from_slice::<Metadata>(&json));
        assert_eq!(again.ok(), Some(metadata));
    }
    for problem in check_source(source) {
        assert!(!problem.text.contains("kiln misread"), "{problem}");
        assert!(problem.to_string().len() < 64 * 1024);
    }
    let replay = replay(text.as_bytes(), "a");
    assert!(replay.verdict.is_some() || replay.rest.is_empty());
});
