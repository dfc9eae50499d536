//! The switch with a clock and an outlet of the tests.

use proptest::prelude::*;

use super::*;
use crate::impairment::{Impairment, Probability};

const MS: Duration = Duration::from_millis(1);

/// Remembers what was sent: to whom, when, and what.
#[derive(Default)]
struct Sent(Vec<(usize, Vec<u8>)>);

impl Outlet for Sent {
    fn is_attached(&self, port: usize) -> bool {
        port < 3
    }

    fn send(&mut self, to: usize, _from: usize, frame: &[u8]) -> Result<(), Cause> {
        assert!(self.is_attached(to));
        self.0.push((to, frame.to_vec()));
        Ok(())
    }
}

fn settings() -> Settings {
    let mut settings = Settings::new("lan", 42);
    for name in ["a", "b", "c"] {
        settings.add(name).unwrap();
    }
    settings
}

fn switch(settings: &Settings) -> Switch {
    Switch::new(settings, Duration::ZERO)
}

fn mac(number: u16) -> Mac {
    Mac::of_machine(number)
}

fn frame(to: Mac, from: Mac, text: &[u8]) -> Vec<u8> {
    // A type for experiments (IEEE 802).
    [&to.0[..], &from.0, &[0x88, 0xb5], text].concat()
}

fn receive(switch: &mut Switch, from: usize, frame: &[u8], at: Duration) -> Vec<(usize, Vec<u8>)> {
    let mut sent = Sent::default();
    switch.receive(from, frame, frame.len(), &mut Moment { at, outlet: &mut sent });
    sent.0
}

fn release(switch: &mut Switch, at: Duration) -> Vec<(usize, Vec<u8>)> {
    let mut sent = Sent::default();
    switch.release(usize::MAX, &mut Moment { at, outlet: &mut sent });
    sent.0
}

fn ports(sent: &[(usize, Vec<u8>)]) -> Vec<usize> {
    sent.iter().map(|(port, _)| *port).collect()
}

#[test]
fn known_addresses_have_one_port_and_others_all_but_their_own() {
    let mut switch = switch(&settings());
    let other = Mac([2, 9, 9, 9, 9, 9]);
    let mut send = |from, to, source| ports(&receive(&mut switch, from, &frame(to, source, b""), MS));
    assert_eq!(send(0, mac(1), mac(0)), [1]);
    assert_eq!(send(0, Mac::BROADCAST, mac(0)), [1, 2]);
    assert_eq!(send(1, other, mac(1)), [0, 2]);
    assert_eq!(send(2, mac(0), other), [0]);
    assert_eq!(send(1, other, mac(1)), [2]);
    assert_eq!(send(2, mac(2), other), [], "never back to where it came from");
}

#[test]
fn what_is_no_frame_is_dropped_and_counted() {
    let mut switch = switch(&settings());
    assert!(receive(&mut switch, 0, &[1; 13], MS).is_empty());
    assert!(receive(&mut switch, 0, &[], MS).is_empty());
    assert!(receive(&mut switch, 0, &frame(mac(1), mac(0), &[0; 1505]), MS).is_empty());
    assert_eq!(receive(&mut switch, 0, &frame(mac(1), mac(0), &[0; 1504]), MS).len(), 1);
    assert!(receive(&mut switch, 0, &frame(mac(1), mac(2), b"forged"), MS).is_empty());
    let statistics = switch.statistics(&Sent::default());
    let a = statistics.of("a").unwrap();
    assert_eq!((a.received.frames, a.dropped_in_all()), (5, 4));
    assert_eq!([Cause::Runt, Cause::Giant, Cause::Forged].map(|cause| a.dropped(cause)), [2, 1, 1]);
    assert_eq!(statistics.of("b").unwrap().sent, crate::Traffic { frames: 1, bytes: 1518 });
}

#[test]
fn forged_frames_pass_where_that_is_wanted() {
    let settings = Settings { forged: Forged::Forward, ..settings() };
    let mut switch = switch(&settings);
    assert_eq!(ports(&receive(&mut switch, 0, &frame(mac(1), mac(2), b""), MS)), [1]);
    assert_eq!(ports(&receive(&mut switch, 1, &frame(mac(2), mac(1), b""), MS)), [0]);
}

#[test]
fn delays_add_up_over_the_three_links() {
    let mut switch = switch(&settings());
    for (way, ms) in [(Way::From(0), 1), (Way::Between(0, 1), 10), (Way::To(1), 100)] {
        switch.link(way).unwrap().impair(Impairment { delay: ms * MS, ..Impairment::default() });
    }
    assert_eq!(receive(&mut switch, 0, &frame(mac(1), mac(0), b"x"), MS), []);
    // Each link begins when the frame was let go from the one before.
    for at in [2, 12] {
        assert_eq!(switch.next(), Some(at * MS));
        assert_eq!(release(&mut switch, at * MS), []);
    }
    assert_eq!(release(&mut switch, 111 * MS), []);
    assert_eq!(ports(&release(&mut switch, 112 * MS)), [1]);
    assert_eq!((switch.next(), switch.statistics(&Sent::default()).held_frames), (None, 0));
}

#[test]
fn a_cut_takes_what_is_on_the_way_and_heals() {
    let mut switch = switch(&settings());
    let to_b = frame(mac(1), mac(0), b"x");
    switch.link(Way::To(1)).unwrap().impair(Impairment { delay: 5 * MS, ..Impairment::default() });
    receive(&mut switch, 0, &to_b, MS);
    switch.link(Way::To(1)).unwrap().cut(true);
    assert_eq!(release(&mut switch, 9 * MS), []);
    receive(&mut switch, 0, &to_b, 10 * MS);
    switch.link(Way::To(1)).unwrap().cut(false);
    receive(&mut switch, 0, &to_b, 11 * MS);
    assert_eq!(release(&mut switch, 20 * MS).len(), 1);
    switch.link(Way::Between(0, 1)).unwrap().cut(true);
    assert_eq!(receive(&mut switch, 0, &to_b, 30 * MS), []);
    assert_eq!(ports(&receive(&mut switch, 1, &frame(mac(0), mac(1), b"back"), 31 * MS)), [0]);
    assert_eq!(switch.statistics(&Sent::default()).of("b").unwrap().dropped(Cause::Cut), 3);
}

#[test]
fn a_wrong_bit_and_a_copy() {
    let mut switch = switch(&settings());
    let impairment =
        Impairment { corrupt: Probability::ALWAYS, duplicate: Probability::ALWAYS, ..Impairment::default() };
    switch.link(Way::To(1)).unwrap().impair(impairment);
    let sent_frame = frame(mac(1), mac(0), b"some text");
    let sent = receive(&mut switch, 0, &sent_frame, MS);
    assert_eq!(ports(&sent), [1, 1]);
    let wrong: u32 = sent[0].1.iter().zip(&sent_frame).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!((wrong, &sent[0]), (1, &sent[1]));
    let effects = switch.statistics(&Sent::default()).of("b").unwrap().effects;
    assert_eq!((effects.duplicated, effects.corrupted, effects.reordered), (1, 1, 0));
}

#[test]
fn frames_overtake_those_that_are_delayed() {
    let mut switch = switch(&settings());
    let reorder = Probability::new(0.25).unwrap();
    switch.link(Way::To(1)).unwrap().impair(Impairment { delay: 5 * MS, reorder, ..Impairment::default() });
    let sent: Vec<Vec<u8>> = (0..20).map(|number| frame(mac(1), mac(0), &[number])).collect();
    let mut arrived: Vec<Vec<u8>> = Vec::new();
    for sent in &sent {
        arrived.extend(receive(&mut switch, 0, sent, MS).into_iter().map(|(_, frame)| frame));
    }
    let overtook = arrived.len() as u64;
    assert!((1..19).contains(&overtook), "{overtook}");
    assert_eq!(switch.statistics(&Sent::default()).of("b").unwrap().effects.reordered, overtook);
    arrived.extend(release(&mut switch, 6 * MS).into_iter().map(|(_, frame)| frame));
    assert_ne!(arrived, sent);
    arrived.sort();
    assert_eq!(arrived, sent);
}

/// Which of a hundred frames from a to b arrive, if c sends some in between.
fn arrived(noise: &[u8]) -> Vec<Vec<u8>> {
    let mut switch = switch(&settings());
    let loss = Probability::new(0.3).unwrap();
    for way in [Way::Between(0, 1), Way::Between(2, 1), Way::From(2)] {
        switch.link(way).unwrap().impair(Impairment { loss, ..Impairment::default() });
    }
    let mut arrived = Vec::new();
    for number in 0..100u8 {
        for byte in noise {
            receive(&mut switch, 2, &frame(mac(1), mac(2), &[*byte]), MS);
        }
        arrived.extend(receive(&mut switch, 0, &frame(mac(1), mac(0), &[number]), MS));
    }
    arrived.into_iter().map(|(_, frame)| frame).collect()
}

#[test]
fn what_others_do_changes_no_fate() {
    let quiet = arrived(&[]);
    assert!((50..90).contains(&quiet.len()), "{}", quiet.len());
    assert_eq!(quiet, arrived(&[1, 2, 3]));
}

proptest! {
    #[test]
    fn nothing_is_lost_without_a_reason(
        frames in prop::collection::vec((0usize..3, 0u16..4, prop::collection::vec(any::<u8>(), 0..80)), 0..60),
        chances in prop::array::uniform4(0.0..=1.0f64),
        ms in 0u32..50,
    ) {
        let mut switch = switch(&Settings { answers: false, ..settings() });
        let [loss, duplicate, reorder, corrupt] = chances.map(|chance| Probability::new(chance).unwrap());
        let delay = MS + ms * MS;
        let impairment = Impairment { delay, jitter: delay / 2, loss, duplicate, reorder, corrupt, ..Impairment::default() };
        // Behind the decision where frames go, so that there is one for each.
        (0..3).for_each(|port| switch.link(Way::To(port)).unwrap().impair(impairment.clone()));
        let (mut wanted, mut arrived) = (0u64, 0u64);
        for (number, (from, to, text)) in frames.iter().enumerate() {
            let at = number as u32 * MS;
            arrived += release(&mut switch, at).len() as u64;
            let to = if *to == 3 { Mac::BROADCAST } else { mac(*to) };
            wanted += if to == Mac::BROADCAST { 2 } else { u64::from(to != mac(*from as u16)) };
            arrived += receive(&mut switch, *from, &frame(to, mac(*from as u16), text), at).len() as u64;
        }
        arrived += release(&mut switch, Duration::from_secs(9)).len() as u64;
        let statistics = switch.statistics(&Sent::default());
        let sum = |of: &dyn Fn(&PortStatistics) -> u64| statistics.ports.iter().map(of).sum::<u64>();
        prop_assert_eq!(statistics.held_frames, 0);
        prop_assert_eq!(sum(&|port| port.sent.frames), arrived);
        prop_assert_eq!(wanted + sum(&|port| port.effects.duplicated), arrived + sum(&|port| port.dropped(Cause::Loss)));
    }

    #[test]
    fn any_bytes_are_forwarded_or_counted(bytes in prop::collection::vec(any::<u8>(), 0..1700), from in 0usize..3) {
        let mut switch = switch(&settings());
        let sent = receive(&mut switch, from, &bytes, MS);
        prop_assert!(sent.iter().all(|(port, frame)| *port != from || frame[6..12] == Mac::SWITCH.0));
    }
}
