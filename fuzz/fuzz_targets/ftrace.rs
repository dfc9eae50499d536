//! What a kernel recorded: formats of events, a byte that is no text, and pages. What becomes of them is a trace.

#![no_main]

use ctf::{Metadata, Trace};
use ftrace::{Format, Layout};
use libfuzzer_sys::fuzz_target;
use transcode::Transcoder;

const CPUS: u32 = 4;

fuzz_target!(|input: &[u8]| {
    if let Err(why) = read_back(input) {
        panic!("{why}");
    }
});

fn read_back(input: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let end = input.iter().position(|&byte| byte == u8::MAX).unwrap_or(input.len());
    let (formats, pages) = (String::from_utf8_lossy(&input[..end]), &input[end..]);
    let place = tempfile::tempdir()?;
    let (folder, layout) = (place.path().join("trace"), Layout::default());
    let mut transcoder = Transcoder::create(&folder, &Metadata::default(), layout)?;
    for format in formats.split("name:").filter_map(|text| Format::parse(&format!("name:{text}")).ok()) {
        transcoder.event("fuzz", &format)?;
    }
    for (number, page) in (0..).zip(pages.get(1..).unwrap_or_default().chunks(layout.page)) {
        transcoder.page(number % CPUS, page)?;
    }
    let counts = transcoder.finish()?;
    let trace = Trace::open(&folder)?;
    let mut events = trace.events(0);
    let mut read = 0;
    while let Some(event) = events.next_event()? {
        read += 1;
        assert_eq!(event.fields().count(), event.class.fields.len());
    }
    assert_eq!((read, events.damage()), (counts.events, 0));
    Ok(())
}
