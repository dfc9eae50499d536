//! The rounds of a race whose sections are aligned.

use harness::check::Checked;
use protocol::race::{Spread, Strategy};

use crate::barrier::{Over, Wait};
use crate::controller::{Controller, Learnt};
use crate::counter::Counter;
use crate::outcome::Outcome;
use crate::pair;
use crate::race::{Judgement, Race};
use crate::round::Round;
use crate::setting::Setting;
use crate::side::{Meeting, Side};
use crate::statistics;
use crate::tally::increment;
use crate::whereabouts::Doing;

/// The share of its time after which sampling ends in any case, in 1/1000.
const HURRY: u64 = 250;

/// Runs a race.
///
/// # Errors
///
/// Those of set-ups and judgement.
pub(crate) fn run<A, B: Send>(race: Race<A, B>, setting: &Setting) -> Checked {
    let Race { mut setup_a, mut a, mut setup_b, mut b, mut judge } = race;
    let (meeting, outcome) = (Meeting::default(), Outcome::new());
    let is_ordered = setup_b.is_some();
    let wait = Wait::new(setting.tally.over(), setting.one_cpu);
    let [mut side_a, mut side_b] = meeting.sides(wait, setting.clock, setting.tally.sides());
    let mut leader = Leader::new(setting);
    let rounds_of_a = || {
        while leader.counter.goes_on() {
            if let Some(setup) = &mut setup_a {
                side_a.whereabouts.set(Doing::Setup);
                setup()?;
            }
            if is_ordered {
                side_a.meet()?;
            }
            leader.plan(&meeting);
            let of_a = side_a.perform(&mut *a)?;
            side_a.meet()?;
            side_a.whereabouts.set(Doing::Judging);
            let judgement = outcome.judge(&mut judge, &of_a)?;
            side_a.whereabouts.set(Doing::Waiting);
            leader.learn(&meeting.round(), judgement);
        }
        Ok(())
    };
    let rounds_of_b = || loop {
        if let Some(setup) = &mut setup_b {
            side_b.meet()?;
            side_b.whereabouts.set(Doing::Setup);
            setup()?;
        }
        perform_b(&mut side_b, &mut *b, &outcome)?;
    };
    pair::run(setting.tally, rounds_of_a, rounds_of_b)
}

fn perform_b<B>(side: &mut Side, section: &mut dyn FnMut() -> B, outcome: &Outcome<B>) -> Result<(), Over> {
    let of_b = side.perform(section)?;
    outcome.put(of_b);
    side.meet()
}

/// What thread A does besides its section: it chooses the delays, and learns and counts.
struct Leader<'a> {
    setting: &'a Setting<'a>,
    counter: Counter<'a>,
    controller: Controller,
}

impl<'a> Leader<'a> {
    fn new(setting: &'a Setting<'a>) -> Self {
        let controller =
            Controller::new(setting.plan.strategy, setting.plan.seed, setting.clock, setting.one_cpu);
        Self { setting, counter: Counter::begin(setting), controller }
    }

    /// Plans a round. Plain rounds begin as soon as both threads are there.
    fn plan(&mut self, meeting: &Meeting) {
        let lead = if self.is_plain() { 0 } else { self.controller.lead.ticks() };
        meeting.plan(self.controller.delay(), lead);
    }

    fn is_plain(&self) -> bool {
        self.setting.plan.strategy == Strategy::Plain
    }

    /// Learns from a round, and counts it.
    fn learn(&mut self, round: &Round, judgement: Judgement) {
        let delay = self.setting.clock.ns(round.starts());
        self.counter.count(judgement, Some(delay));
        if self.is_plain() {
            return;
        }
        let tally = self.setting.tally;
        match self.controller.observe(round, judgement, self.counter.used() > HURRY) {
            Learnt::Disturbed => _ = increment(&tally.disturbed),
            Learnt::Sampled => _ = increment(&tally.sampling),
            Learnt::Known { settled } => {
                increment(&tally.sampling);
                self.publish(settled);
            }
            Learnt::Tried => tally.coverage.visit(delay),
        }
    }

    /// Puts what is known of the sections into the tally.
    fn publish(&self, settled: bool) {
        let (Some(lengths), Some((from, to))) = (self.controller.lengths(), self.controller.range()) else {
            return;
        };
        let ns = |ticks: i64| self.setting.clock.ns(ticks);
        let spread =
            |it: statistics::Spread| Spread { median_ns: ns(it.median), deviation_ns: ns(it.deviation) };
        let all = [lengths.a, lengths.b, lengths.starts, lengths.ends].map(spread);
        self.setting.tally.know(all, settled);
        self.setting.tally.coverage.begin(ns(from), ns(to));
    }
}
