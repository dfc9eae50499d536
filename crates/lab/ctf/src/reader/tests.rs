use std::fs::OpenOptions;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::class::{Field, Number, Shape, Stream as Kind};
use crate::writer::Writer;

const NUMBER: u16 = 7;
const TEXT: u16 = 8;
const MARK: u16 = 9;

const CONTEXT: [u8; 6] = [42, 0, 0, 0, 1, 2];

fn classes() -> Vec<Class> {
    let field = |name: &str, shape| Field { name: name.to_owned(), shape };
    let of = |id, stream, name: &str, fields| Class { id, stream, name: name.to_owned(), fields };
    vec![
        of(NUMBER, Kind::Kernel, "a:number", vec![field("value", Shape::Number(Number::unsigned(8)))]),
        of(TEXT, Kind::Kernel, "a:text", vec![field("text", Shape::String)]),
        of(MARK, Kind::Marks, "kiln:mark", vec![field("text", Shape::String)]),
    ]
}

fn writer(root: &TempDir) -> Writer {
    let metadata = Metadata { uuid: [3; 16], classes: classes(), ..Metadata::default() };
    Writer::create(&folder(root), &metadata).expect("a folder")
}

fn folder(root: &TempDir) -> std::path::PathBuf {
    root.path().join("trace")
}

/// Time, CPU and the first field of all events from a time on, and the damage.
fn read(root: &TempDir, from: u64) -> (Vec<(u64, u32, String)>, u64) {
    let trace = Trace::open(&folder(root)).expect("it is a trace");
    let mut events = trace.events(from);
    let mut found = Vec::new();
    while let Some(event) = events.next_event().expect("readable") {
        let value = event.fields().next().expect("it has one").1.to_string();
        found.push((event.time, event.cpu, value));
    }
    (found, events.damage())
}

/// A trace with a stream of numbers, whose times are given.
fn numbers(root: &TempDir, times: &[u64]) {
    let mut stream = writer(root).stream("cpu0", Kind::Kernel, 0).expect("a stream");
    for (value, time) in (0_u64..).zip(times) {
        stream.event(NUMBER, *time, &CONTEXT, &value.to_le_bytes()).expect("written");
    }
    stream.finish().expect("written");
}

fn change(root: &TempDir, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = folder(root).join(name);
    let mut bytes = std::fs::read(&path).expect("readable");
    change(&mut bytes);
    std::fs::write(&path, bytes).expect("written");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn events_come_back_in_the_order_of_their_times(
        steps in prop::collection::vec((0..3_u32, prop_oneof![0..1000_u64, Just(1 << 32), Just((1 << 32) - 1), Just(1 << 40)]), 0..60),
        lost in 0..5_u64,
    ) {
        let root = tempfile::tempdir().expect("a directory");
        let writer = writer(&root);
        let mut streams: Vec<_> =
            (0..3).map(|cpu| writer.stream(&format!("cpu{cpu}"), Kind::Kernel, cpu).expect("a stream")).collect();
        let (mut time, mut expected) = (0, Vec::new());
        for (value, (cpu, step)) in (0_u64..).zip(&steps) {
            time += step;
            let stream = &mut streams[*cpu as usize];
            stream.event(NUMBER, time, &CONTEXT, &value.to_le_bytes()).expect("written");
            if value % 7 == 0 {
                stream.lost(lost).expect("written");
            }
            expected.push((time, *cpu, value.to_string()));
        }
        streams.into_iter().for_each(|stream| stream.finish().expect("written"));
        expected.sort_by_key(|(time, cpu, _)| (*time, *cpu));
        prop_assert_eq!(read(&root, 0), (expected.clone(), 0));
        let middle = time / 2;
        expected.retain(|(time, _, _)| *time >= middle);
        prop_assert_eq!(read(&root, middle), (expected, 0));
        let trace = Trace::open(&folder(&root)).expect("it is a trace");
        prop_assert_eq!(trace.lost(), steps.len().div_ceil(7) as u64 * lost);
    }

    #[test]
    fn no_damage_makes_the_reader_panic_or_run_for_ever(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20), cut in 0..3000_usize, has_index in any::<bool>(),
    ) {
        let root = tempfile::tempdir().expect("a directory");
        numbers(&root, &(0..100).map(|time| time * 1_000_000_000).collect::<Vec<_>>());
        change(&root, "cpu0", |bytes| {
            bytes.truncate(bytes.len().saturating_sub(cut));
            for (at, with) in flips.iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let at = at.index(bytes.len());
                bytes[at] = *with;
            }
        });
        if !has_index {
            std::fs::remove_file(folder(&root).join("index/cpu0.idx")).expect("removed");
        }
        let (events, _) = read(&root, 0);
        prop_assert!(events.len() <= 3000);
    }
}

#[test]
fn marks_have_no_thread_and_kernel_events_have_one() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = writer(&root);
    let mut kernel = writer.stream("cpu1", Kind::Kernel, 1).expect("a stream");
    let mut marks = writer.stream("marks", Kind::Marks, 0).expect("a stream");
    kernel.event(TEXT, 5, &CONTEXT, b"hello\0").expect("written");
    marks.event(MARK, 4, &[], b"boot\0").expect("written");
    kernel.finish().expect("written");
    marks.finish().expect("written");
    let trace = Trace::open(&folder(&root)).expect("it is a trace");
    assert_eq!(trace.span(), Some((4, 5)));
    let mut events = trace.events(0);
    let mark = events.next_event().expect("readable").expect("there is one");
    assert_eq!((&*mark.class.name, mark.thread), ("kiln:mark", None));
    let event = events.next_event().expect("readable").expect("there is one");
    assert_eq!(
        (event.thread, event.field("text").and_then(|text| text.text()).as_deref()),
        (Some(42), Some("hello"))
    );
    assert!(event.field("value").is_none());
    assert!(events.next_event().expect("readable").is_none());
}

#[test]
fn a_trace_that_was_cut_off_is_read_up_to_its_last_whole_packet() {
    let root = tempfile::tempdir().expect("a directory");
    // 24 bytes an event: more than two packets.
    numbers(&root, &(0..30_000).collect::<Vec<_>>());
    let whole = read(&root, 0).0.len();
    change(&root, "cpu0", |bytes| bytes.truncate(bytes.len() - 1));
    let (cut, damage) = read(&root, 0);
    assert!(whole == 30_000 && cut.len() > 10_000 && cut.len() < whole, "{} of {whole}", cut.len());
    assert_eq!(damage, 0);
    assert_eq!(
        cut.last().map(|(time, _, value)| (*time, value.clone())),
        Some((cut.len() as u64 - 1, (cut.len() - 1).to_string()))
    );
}

#[test]
fn a_packet_that_is_damaged_is_passed_over_and_counted() {
    let root = tempfile::tempdir().expect("a directory");
    numbers(&root, &(0..30_000).collect::<Vec<_>>());
    // The class of the third event of the first packet.
    change(&root, "cpu0", |bytes| bytes[crate::packet::HEAD + 28 + 20] = 99);
    let (events, damage) = read(&root, 0);
    assert_eq!(
        (damage, events[..3].iter().map(|(time, _, _)| *time).collect::<Vec<_>>()),
        (1, vec![0, 1, 13102])
    );
}

#[test]
fn what_is_no_trace_is_refused() {
    let root = tempfile::tempdir().expect("a directory");
    let error = Trace::open(&folder(&root)).expect_err("there is none").to_string();
    assert!(error.ends_with("trace/metadata: No such file or directory (os error 2)"), "{error}");
    numbers(&root, &[1]);
    change(&root, "metadata", |bytes| bytes.extend(b"event {"));
    let error = Trace::open(&folder(&root)).expect_err("it is damaged").to_string();
    assert!(error.contains("metadata: line ") && error.contains("the text ends in the middle"), "{error}");
}

#[test]
fn an_event_that_no_reader_takes_is_lost() {
    let root = tempfile::tempdir().expect("a directory");
    let mut stream = writer(&root).stream("cpu0", Kind::Kernel, 0).expect("a stream");
    let mut text = vec![b'x'; crate::packet::PACKET_MAX];
    text.push(0);
    stream.event(TEXT, 1, &CONTEXT, &text).expect("passed over");
    stream.event(TEXT, 2, &CONTEXT, b"y\0").expect("written");
    stream.lost(3).expect("written");
    stream.finish().expect("written");
    assert_eq!(read(&root, 0), (vec![(2, 0, "\"y\"".to_owned())], 0));
    assert_eq!(Trace::open(&folder(&root)).expect("it is a trace").lost(), 4);
    let file = OpenOptions::new().write(true).open(folder(&root).join("cpu0")).expect("there");
    file.set_len(0).expect("cut");
    assert_eq!(Trace::open(&folder(&root)).expect("it is a trace").span(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn of_a_tail_what_is_recent_is_there_and_little_else(
        steps in prop::collection::vec((0..300_u64, 1..4_usize), 1..60),
        tail in 0..2000_u64,
    ) {
        let root = tempfile::tempdir().expect("a directory");
        let mut stream = writer(&root).stream("cpu0", Kind::Kernel, 0).expect("a stream").with_tail(Some(tail));
        let (mut time, mut packets) = (1, Vec::new());
        for (step, events) in &steps {
            time += step;
            packets.push((time, *events));
            for event in 0..*events {
                stream.event(NUMBER, time, &CONTEXT, &(event as u64).to_le_bytes()).expect("written");
            }
            stream.end_packet().expect("written");
        }
        stream.finish().expect("written");
        // A packet is kept or not as a whole.
        let kept = packets.iter().filter(|(end, _)| end + tail >= time);
        let expected: Vec<u64> = kept.flat_map(|(end, events)| vec![*end; *events]).collect();
        let times = |(events, damage): (Vec<(u64, u32, String)>, u64)| {
            assert_eq!(damage, 0);
            events.into_iter().map(|event| event.0).collect::<Vec<_>>()
        };
        prop_assert_eq!(&times(read(&root, 0)), &expected);
        let length = std::fs::metadata(folder(&root).join("cpu0")).expect("it is there").len();
        let index = folder(&root).join("index/cpu0.idx");
        let indexed = crate::index::parse(&std::fs::read(&index).expect("readable"), length);
        prop_assert!(indexed.is_some(), "the index is that of the file");
        std::fs::remove_file(index).expect("removed");
        prop_assert_eq!(&times(read(&root, 0)), &expected);
    }
}

#[test]
fn a_stream_with_a_tail_gives_space_back_before_it_ends() {
    use std::os::unix::fs::MetadataExt;
    let root = tempfile::tempdir().expect("a directory");
    let mut stream = writer(&root).stream("cpu0", Kind::Kernel, 0).expect("a stream").with_tail(Some(10));
    let text = [vec![b'x'; 200_000], vec![0]].concat();
    for time in 0..100 {
        stream.event(TEXT, time, &CONTEXT, &text).expect("written");
        stream.end_packet().expect("written");
    }
    let metadata = std::fs::metadata(folder(&root).join("cpu0")).expect("it is there");
    assert!(metadata.len() > 100 * 200_000, "nothing was moved yet: {}", metadata.len());
    // tmpfs and all usual file systems have holes.
    assert!(metadata.blocks() * 512 < 20 * 200_000, "{} blocks", metadata.blocks());
    stream.finish().expect("written");
    assert_eq!(read(&root, 0).0.len(), 11);
}

#[test]
fn a_copy_has_the_events_that_were_added_and_what_was_lost() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = writer(&root);
    let mut first = writer.stream("cpu0", Kind::Kernel, 0).expect("a stream");
    let mut second = writer.stream("cpu1", Kind::Kernel, 1).expect("a stream");
    let mut marks = writer.stream("kiln", Kind::Marks, 0).expect("a stream");
    marks.event(MARK, 5, &[], b"begin\0").expect("written");
    for time in 10..20_u64 {
        let stream = if time % 2 == 0 { &mut first } else { &mut second };
        stream.event(NUMBER, time, &CONTEXT, &time.to_le_bytes()).expect("written");
    }
    first.lost(3).expect("written");
    [first, second, marks].into_iter().for_each(|stream| stream.finish().expect("written"));

    let copied = tempfile::tempdir().expect("a directory");
    let trace = Trace::open(&folder(&root)).expect("a trace");
    let mut copy = crate::Copy::create(&folder(&copied), &trace).expect("a folder");
    let mut events = trace.events(0);
    while let Some(event) = events.next_event().expect("readable") {
        if event.time < 13 {
            copy.event(&event).expect("written");
        }
    }
    copy.finish(trace.lost()).expect("written");
    let (events, damage) = read(&copied, 0);
    let text = str::to_owned;
    let expected = [(5, 0, text("\"begin\"")), (10, 0, text("10")), (11, 1, text("11")), (12, 0, text("12"))];
    assert_eq!((events.as_slice(), damage), (&expected[..], 0));
    let copy = Trace::open(&folder(&copied)).expect("a trace");
    assert_eq!((copy.lost(), copy.metadata.uuid), (3, [3; 16]));
}
