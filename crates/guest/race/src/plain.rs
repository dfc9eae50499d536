//! Two threads in loops, as plain reproducers of races are: nothing aligns their sections.

use harness::check::Checked;

use crate::barrier::{Over, Wait};
use crate::counter::Counter;
use crate::outcome::Outcome;
use crate::pair;
use crate::race::Race;
use crate::setting::Setting;
use crate::whereabouts::Doing;

/// Runs a race without set-ups. A round is one of A's; it is judged with what B returned last.
///
/// # Errors
///
/// Those of the judgement.
pub(crate) fn run<A, B: Send>(race: Race<A, B>, setting: &Setting) -> Checked {
    let Race { mut a, mut b, mut judge, .. } = race;
    let outcome = Outcome::new();
    let tally = setting.tally;
    let [of_a, of_b] = tally.sides();
    let rounds_of_a = || {
        Wait::new(tally.over(), setting.one_cpu).until(|| outcome.is_there())?;
        of_a.set(Doing::Section);
        let counter = Counter::begin(setting);
        while counter.goes_on() {
            let of_a = a();
            counter.count(outcome.judge(&mut judge, &of_a)?, None);
        }
        Ok(())
    };
    let rounds_of_b = || {
        of_b.set(Doing::Section);
        while !tally.is_over() {
            outcome.offer(b());
        }
        Err(Over.into())
    };
    pair::run(tally, rounds_of_a, rounds_of_b)
}
