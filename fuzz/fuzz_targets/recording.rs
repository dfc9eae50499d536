//! The memory of a guest that should be the ring of a recording: what it takes becomes a trace or an error.

#![no_main]

use std::os::unix::fs::FileExt;

use ctf::Trace;
use libfuzzer_sys::fuzz_target;
use transcode::{Recording, Ring};

/// A whole ring is longer than the longest input.
const SIZE: u64 = 64 << 10;

/// Blocks that are taken at most: a ring may be written again while it is read.
const TURNS: usize = 1 << 16;

fuzz_target!(|input: &[u8]| {
    if let Err(why) = take(input) {
        panic!("{why}");
    }
});

fn take(input: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let file = tempfile::tempfile()?;
    file.set_len(SIZE)?;
    file.write_all_at(&input[..input.len().min(SIZE as usize)], 0)?;
    let folder = place.path().join("trace");
    let Ok(mut ring) = Ring::new(file, 0, SIZE) else { return Ok(()) };
    let mut recording = Recording::new(&folder, None);
    let mut written = Ok(());
    for _ in 0..TURNS {
        let took = ring.take(|kind, bytes| {
            if written.is_ok() {
                written = recording.block(kind, bytes);
            }
        });
        if !matches!(took, Ok(true)) || written.is_err() {
            break;
        }
    }
    // A class that is there twice cannot be written, and no disk is full here.
    written?;
    let summary = recording.finish(None)?;
    if let Some(folder) = summary.folder {
        let trace = Trace::open(&folder)?;
        let mut events = trace.events(0);
        while events.next_event()?.is_some() {}
        assert_eq!(events.damage(), 0);
    }
    Ok(())
}
