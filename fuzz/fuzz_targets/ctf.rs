//! A trace of a stranger: its metadata, a byte that is no text, and a stream.

#![no_main]

use ctf::Trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Err(why) = read(input) {
        panic!("{why}");
    }
});

fn read(input: &[u8]) -> std::io::Result<()> {
    let end = input.iter().position(|&byte| byte == u8::MAX).unwrap_or(input.len());
    let stream = input.get(end + 1..).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("metadata"), &input[..end])?;
    std::fs::write(folder.path().join("cpu0"), stream)?;
    let Ok(trace) = Trace::open(folder.path()) else { return Ok(()) };
    let mut events = trace.events(0);
    let mut read = 0;
    while let Ok(Some(event)) = events.next_event() {
        read += 1;
        event.fields().for_each(|(_, value)| drop(value.to_string()));
    }
    assert!(read <= stream.len(), "{read} events in {} bytes", stream.len());
    Ok(())
}
