//! A whole segment, with plain sockets in place of machines.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use etherparse::PacketBuilder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use segment::{Cause, Direction, Impairment, Mac, Probability, Segment, SegmentError, Settings, Statistics};

/// Longer than the busiest host needs. What does not come is not waited for: [`Machine::is_quiet`] asks the switch.
const LIMIT: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// The end of a machine.
struct Machine(OwnedFd);

impl Machine {
    fn send(&self, frame: &[u8]) {
        send(&self.0, frame, SendFlags::empty()).unwrap();
    }

    fn receive(&self) -> Vec<u8> {
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        assert_eq!(poll(&mut polled, Some(&LIMIT)), Ok(1), "no frame came");
        let mut bytes = [0; 2000];
        let (_, length) = recv(&self.0, &mut bytes[..], RecvFlags::DONTWAIT).unwrap();
        bytes[..length].to_vec()
    }

    /// All that is there already.
    fn drain(&self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        let mut bytes = [0; 2000];
        while let Ok((_, length)) = recv(&self.0, &mut bytes[..], RecvFlags::DONTWAIT) {
            all.push(bytes[..length].to_vec());
        }
        all
    }
}

fn settings() -> Settings {
    let mut settings = Settings::new("lan", 42);
    for name in ["a", "b", "c"] {
        settings.add(name).unwrap();
    }
    settings
}

fn three(settings: &Settings) -> (Segment, [Machine; 3]) {
    let segment = Segment::new(settings).unwrap();
    let machines = ["a", "b", "c"].map(|name| Machine(segment.attach(name).unwrap()));
    (segment, machines)
}

fn frame(to: Mac, from: u16, text: &[u8]) -> Vec<u8> {
    [&to.0[..], &Mac::of_machine(from).0, &[0x88, 0xb5], text].concat()
}

/// The counters as soon as the switch has taken so many frames from `station`.
fn taken(segment: &Segment, station: &str, frames: u64) -> Statistics {
    let start = Instant::now();
    loop {
        let statistics = segment.statistics().unwrap();
        if statistics.of(station).unwrap().received.frames >= frames {
            return statistics;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{statistics:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn frames_find_their_machines() {
    let (segment, [a, b, c]) = three(&settings());
    let to_all = frame(Mac::BROADCAST, 0, b"all");
    a.send(&to_all);
    assert_eq!((b.receive(), c.receive()), (to_all.clone(), to_all));
    let other = Mac([2, 1, 1, 1, 1, 1]);
    let mut learn = frame(Mac::of_machine(0), 1, b"learn");
    learn[6..12].copy_from_slice(&other.0);
    b.send(&learn);
    assert_eq!(a.receive(), learn);
    let to_other = frame(other, 0, b"other");
    a.send(&to_other);
    assert_eq!(b.receive(), to_other);
    taken(&segment, "a", 2);
    assert!(c.drain().is_empty() && a.drain().is_empty());
}

#[test]
fn a_cut_holds_until_it_heals() {
    let (segment, [a, b, _c]) = three(&settings());
    let to_b = frame(Mac::of_machine(1), 0, b"x");
    segment.cut("b").unwrap();
    a.send(&to_b);
    b.send(&frame(Mac::of_machine(0), 1, b"y"));
    taken(&segment, "a", 1);
    taken(&segment, "b", 1);
    assert!(b.drain().is_empty() && a.drain().is_empty());
    segment.heal("b").unwrap();
    segment.cut_between("b", "a").unwrap();
    a.send(&to_b);
    assert_eq!(b.receive(), to_b);
    b.send(&frame(Mac::of_machine(0), 1, b"z"));
    let statistics = taken(&segment, "b", 2);
    assert_eq!(["a", "b"].map(|name| statistics.of(name).unwrap().dropped(Cause::Cut)), [1, 2]);
    segment.heal_between("b", "a").unwrap();
    b.send(&frame(Mac::of_machine(0), 1, b"back"));
    assert!(a.receive().ends_with(b"back"));
}

/// Which of 200 frames arrive with this seed, and in which form.
fn arrived(seed: u64) -> Vec<Vec<u8>> {
    let (segment, [a, b, _c]) = three(&Settings { seed, ..settings() });
    let chance = |value| Probability::new(value).unwrap();
    let impairment = Impairment {
        loss: chance(0.3),
        duplicate: chance(0.1),
        corrupt: chance(0.1),
        ..Impairment::default()
    };
    segment.impair(Direction::Between { from: "a", to: "b" }, impairment).unwrap();
    let mut arrived = Vec::new();
    for number in 1..=200u64 {
        a.send(&frame(Mac::of_machine(1), 0, &number.to_be_bytes()));
        taken(&segment, "a", number);
        arrived.extend(b.drain());
    }
    arrived
}

#[test]
fn the_same_seed_gives_the_same_fates() {
    let first = arrived(7);
    assert!((100..200).contains(&first.len()), "{}", first.len());
    assert_eq!(first, arrived(7));
    assert_ne!(first, arrived(8));
}

#[test]
fn a_delay_holds_frames_and_jitter_keeps_all() {
    let (segment, [a, b, _c]) = three(&settings());
    let ms = Duration::from_millis;
    let impairment = Impairment { delay: ms(30), jitter: ms(20), ..Impairment::default() };
    segment.impair(Direction::To("b"), impairment).unwrap();
    let start = Instant::now();
    let sent: Vec<Vec<u8>> = (0..20u8).map(|number| frame(Mac::of_machine(1), 0, &[number])).collect();
    sent.iter().for_each(|frame| a.send(frame));
    let mut got: Vec<Vec<u8>> = sent.iter().map(|_| b.receive()).collect();
    assert!(start.elapsed() >= ms(10));
    got.sort();
    assert_eq!(got, sent);
}

#[test]
fn a_new_machine_takes_the_place_of_the_old_one() {
    let (segment, [a, b, _c]) = three(&settings());
    let again = Machine(segment.attach("b").unwrap());
    let to_b = frame(Mac::of_machine(1), 0, b"x");
    a.send(&to_b);
    assert_eq!(again.receive(), to_b);
    assert!(b.drain().is_empty());
    segment.detach("b").unwrap();
    a.send(&to_b);
    let statistics = taken(&segment, "a", 2);
    let b = statistics.of("b").unwrap();
    assert_eq!((b.is_attached, b.dropped(Cause::Detached)), (false, 1));
    assert!(matches!(segment.attach("d"), Err(SegmentError::Station { station, .. }) if station == "d"));
}

#[test]
fn a_flood_leaves_others_their_part() {
    let (segment, [a, b, c]) = three(&settings());
    // Until there is no room in the socket and in the queue, for nobody takes anything.
    let flood = frame(Mac::of_machine(2), 0, &[0; 1400]);
    let is_congested = |statistics: &Statistics| statistics.of("c").unwrap().dropped(Cause::Congestion) > 0;
    let is_full = |batch: u64| {
        (0..100).for_each(|_| a.send(&flood));
        is_congested(&taken(&segment, "a", 100 * batch))
    };
    assert!((1..1000u64).any(is_full));
    let other = frame(Mac::of_machine(2), 1, b"other");
    b.send(&other);
    taken(&segment, "b", 1);
    while c.receive() != other {}
}

/// A file that is read while it is written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Kinds of the blocks of a capture, and its bytes as text.
fn blocks(bytes: &[u8]) -> (Vec<u32>, String) {
    let mut kinds = Vec::new();
    let mut rest = bytes;
    while let Some((head, _)) = rest.split_first_chunk::<8>() {
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        kinds.push(word(0));
        rest = &rest[word(4) as usize..];
    }
    assert!(rest.is_empty());
    (kinds, String::from_utf8_lossy(bytes).into_owned())
}

#[test]
fn captures_have_frames_where_they_come_and_go() {
    let (segment, [a, b, c]) = three(&settings());
    assert!(matches!(segment.stop_capture(), Err(SegmentError::Capturing(..))));
    let file = Shared::default();
    segment.start_capture(Box::new(file.clone()), 1 << 20).unwrap();
    assert!(segment.start_capture(Box::new(std::io::sink()), 1).is_err());
    a.send(&frame(Mac::BROADCAST, 0, b"hello all"));
    b.receive();
    c.receive();
    a.send(&frame(Mac::of_machine(1), 2, b"forged"));
    taken(&segment, "a", 2);
    let captured = segment.stop_capture().unwrap();
    a.send(&frame(Mac::of_machine(1), 0, b"later"));
    b.receive();
    assert_eq!((captured.frames, captured.left_out), (4, 0));
    let written = file.0.lock().unwrap().clone();
    assert_eq!(written.len() as u64, captured.bytes);
    let (kinds, text) = blocks(&written);
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 1, 6, 6, 6, 6]);
    assert!(text.matches("hello all").count() == 3 && text.contains("dropped: forged"));
    let (kinds, text) = blocks(&segment.recorded().unwrap());
    assert_eq!(kinds.len(), 10);
    assert!(text.contains("later"));
}

/// A datagram from a machine without an address, or with one.
fn datagram(from: (u16, [u8; 4]), to: (Mac, [u8; 4]), ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(Mac::of_machine(from.0).0, to.0.0)
        .ipv4(from.1, to.1, 64)
        .udp(ports.0, ports.1);
    builder.write_to_vec(&mut frame, payload).unwrap();
    frame
}

/// A message of a DHCP client, with these options.
fn message(machine: u16, options: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 240];
    message[..8].copy_from_slice(&[1, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef]);
    message[28..34].copy_from_slice(&Mac::of_machine(machine).0);
    message[236..].copy_from_slice(&[99, 130, 83, 99]);
    message.extend(options);
    datagram((machine, [0; 4]), (Mac::BROADCAST, [255; 4]), (68, 67), &message)
}

#[test]
fn a_machine_gets_its_address_and_finds_the_others() {
    let (_segment, [a, b, _c]) = three(&settings());
    a.send(&message(0, &[53, 1, 1, 255]));
    let offer = a.receive();
    // Behind the headers of Ethernet, IPv4 and UDP.
    let (offer, address) = (&offer[42..], [10, 77, 0, 2]);
    assert_eq!((&offer[4..8], &offer[16..20]), (&[0xde, 0xad, 0xbe, 0xef][..], &address[..]));
    assert!(b.receive()[..6] == Mac::BROADCAST.0, "the others hear a broadcast");
    a.send(&message(0, &[53, 1, 3, 50, 4, 10, 77, 0, 2, 54, 4, 10, 77, 0, 1, 255]));
    let ack = a.receive();
    assert_eq!(ack[42 + 240..][..3], [53, 1, 5]);
    let query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01b\x04kiln\x04test\0\0\x01\0\x01";
    a.send(&datagram((0, address), (Mac::SWITCH, [10, 77, 0, 1]), (5555, 53), query));
    assert!(a.receive().ends_with(&[10, 77, 0, 3]));
}

#[test]
fn a_router_does_not_hear_what_the_switch_answers() {
    let router = Some(settings().stations[1].address);
    let (_segment, [a, b, c]) = three(&Settings { router, ..settings() });
    let discover = message(0, &[53, 1, 1, 255]);
    a.send(&discover);
    assert_eq!(c.receive(), discover);
    let next = frame(Mac::BROADCAST, 0, b"next");
    a.send(&next);
    assert_eq!(b.receive(), next);
}

/// Descriptors of this process that are sockets or eventfds, and its threads of segments.
fn leftovers() -> (usize, usize) {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let is_ours = |path: &std::path::Path| {
        std::fs::read_link(path).is_ok_and(|to| {
            ["socket:", "anon_inode:[event"].iter().any(|it| to.to_string_lossy().starts_with(it))
        })
    };
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let is_segment = |path: &std::path::Path| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "segment")
    };
    (
        links.filter(|entry| is_ours(&entry.path())).count(),
        threads.filter(|entry| is_segment(&entry.path())).count(),
    )
}

#[test]
fn nothing_is_left_of_a_segment() {
    // Other tests have segments too, so this one runs again, alone.
    if std::env::var_os("SEGMENT_ALONE").is_none() {
        let program = std::env::current_exe().unwrap();
        let mut command = std::process::Command::new(program);
        command.args(["--exact", "nothing_is_left_of_a_segment"]).env("SEGMENT_ALONE", "1");
        assert!(command.output().unwrap().status.success());
        return;
    }
    let before = leftovers();
    let (segment, [a, b, c]) = three(&settings());
    a.send(&frame(Mac::BROADCAST, 0, b"x"));
    b.receive();
    assert_eq!(leftovers(), (before.0 + 7, before.1 + 1));
    drop(segment);
    assert!(send(&a.0, b"x", SendFlags::NOSIGNAL).is_err());
    drop([a, b, c]);
    // A thread that was joined may be seen for a moment.
    let start = Instant::now();
    while leftovers() != before {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?} {before:?}", leftovers());
        std::thread::sleep(Duration::from_millis(1));
    }
}
