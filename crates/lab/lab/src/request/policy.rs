//! How cases are run: apart or together, side by side, once or often.

use std::collections::HashMap;
use std::thread::available_parallelism;
use std::time::Duration;

use ::machine::{Engine, Spec, TimeoutScale};
use kernel::Locator;
use serde::{Deserialize, Serialize};

use crate::options::{Boots, Isolation, Options, Repeats};

/// Runs of a failing case beside the first.
const RETRIES: u32 = 3;

/// Memory of a machine beside that of its guest, in MiB: QEMU and what it has translated.
const OVERHEAD_MIB: u64 = 128;

/// Runs of each boot at most, where each boot has a machine of its own: more boots say more, and find nodes that are free.
const RUNS_OF_BOOT: u32 = 100;

/// How cases are run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunPolicy {
    /// How far cases are kept apart.
    pub isolation: Isolation,
    /// Machines at a time; if it is not set, as many as the host has room for.
    pub jobs: Option<u16>,
    /// How often each case is run.
    pub repeat: Option<u32>,
    /// In how many boots; if it is not set, the more Runs, the more boots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boots: Option<u32>,
    /// The number of the first of these boots: another number is another boot of the same machine.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_boot: u32,
    /// The number of the first Run of each of these boots: another number is another Run.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_run: u32,
    /// Each case is run until it does not pass, at most as often as `repeat` says.
    pub until_fail: bool,
    /// A case that fails is not run again.
    pub no_retry: bool,
    /// How long a kernel may go on after a case with what it has put off.
    #[serde(with = "judge::json::optional_seconds", skip_serializing_if = "Option::is_none")]
    pub settle: Option<Duration>,
    /// What cases draw random numbers from.
    #[serde(with = "judge::json::optional_seed")]
    pub seed: Option<u64>,
    /// Only what the last session like this has left open is run.
    pub resume: bool,
    /// A good kernel: what fails there in the same way does not accuse the tested one.
    #[serde(with = "optional", skip_serializing_if = "Option::is_none")]
    pub golden: Option<Locator>,
}

/// How cases are run in some machines.
#[derive(Debug)]
pub struct Chosen {
    /// For the runner.
    pub options: Options,
    /// Where it is not what was asked for.
    pub note: Option<String>,
}

/// Machines at a time, and why they are fewer than was asked for.
struct Jobs {
    count: usize,
    note: Option<String>,
}

impl RunPolicy {
    /// One Run is made again, once.
    pub(crate) fn once(&self) -> Self {
        let (repeat, until_fail, no_retry) = (None, false, true);
        Self { repeat, until_fail, no_retry, resume: false, golden: None, ..self.clone() }
    }

    /// A hash over which Runs are made, and in which boots; not over how many machines there are at a time.
    #[must_use]
    pub fn hash(&self) -> String {
        let policy = Self { jobs: None, ..self.clone() };
        kernel::files::hash(serde_json::json!(policy).to_string().as_bytes())
    }

    /// The same in parts, each with a boot of its own. What is not repeated is one part.
    #[must_use]
    pub fn by_boots(&self) -> Vec<Self> {
        let Some(times) = self.repeat else { return vec![self.clone()] };
        let usual = || Boots::usual(times).max(times.div_ceil(RUNS_OF_BOOT));
        let boots = self.boots.unwrap_or_else(usual).clamp(1, times.max(1));
        let part = |number| Self {
            repeat: Some(times / boots + u32::from(number < times % boots)),
            boots: Some(1),
            first_boot: self.first_boot.saturating_add(number),
            ..self.clone()
        };
        (0..boots).map(part).collect()
    }

    /// How cases are run in machines like these.
    #[must_use]
    pub fn options(&self, engine: Engine, specs: &[Spec]) -> Chosen {
        let Jobs { count, note } = self.jobs(specs);
        let options = Options {
            timeouts: TimeoutScale::new(engine),
            isolation: self.isolation,
            jobs: count,
            repeats: self.repeats(),
            boots: Boots { first: self.first_boot, count: self.boots },
            seed: self.seed,
            settle: self.settle,
            durations: HashMap::new(),
            finished: Vec::new(),
            tracing: None,
        };
        Chosen { options, note }
    }

    fn repeats(&self) -> Repeats {
        match (self.until_fail, self.repeat) {
            (true, most) => Repeats::UntilFailure(most),
            (false, Some(times)) => Repeats::Times(times),
            (false, None) if self.no_retry => Repeats::OnFailure(0),
            (false, None) => Repeats::OnFailure(RETRIES),
        }
    }

    /// Machines at a time, within the memory of the host.
    fn jobs(&self, specs: &[Spec]) -> Jobs {
        let each = specs.iter().map(|spec| spec.memory_mib + OVERHEAD_MIB).max().unwrap_or(1);
        let cpus = specs.iter().map(|spec| spec.cpus as usize).max().unwrap_or(1).max(1);
        let available = ::host::available_memory_mib().unwrap_or(u64::MAX);
        let room = usize::try_from(available / each).unwrap_or(usize::MAX).max(1);
        if specs.iter().any(|spec| spec.hardware.is_exclusive()) {
            return one_at_a_time(self.jobs);
        }
        match self.jobs.map(usize::from) {
            Some(asked) if asked > room => {
                let note = format!(
                    "-j {asked}: {room} machines at a time: each may need {each} MiB and the host has \
                     {available} MiB left"
                );
                Jobs { count: room, note: Some(note) }
            }
            Some(asked) => Jobs { count: asked, note: None },
            None => {
                let parallel = available_parallelism().map_or(1, std::num::NonZero::get);
                Jobs { count: (parallel / cpus).clamp(1, room), note: None }
            }
        }
    }
}

/// Two machines must not write to the same file.
fn one_at_a_time(asked: Option<u16>) -> Jobs {
    let note = asked.filter(|asked| *asked > 1).map(|asked| {
        format!("-j {asked}: one machine at a time, because a disk of theirs is a file to which they write")
    });
    Jobs { count: 1, note }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A locator that may not be there.
mod optional {
    use kernel::Locator;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        locator: &Option<Locator>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match locator {
            Some(locator) => serializer.collect_str(locator),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Locator>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_boot_has_its_share_of_the_runs() {
        let parts = |repeat, boots| {
            let policy = RunPolicy { repeat, boots, first_boot: 7, ..RunPolicy::default() };
            let parts = policy.by_boots().into_iter();
            parts.map(|part| (part.repeat, part.boots, part.first_boot)).collect::<Vec<_>>()
        };
        assert_eq!(parts(None, None), [(None, None, 7)]);
        assert_eq!(parts(Some(1), None), [(Some(1), Some(1), 7)]);
        assert_eq!(parts(Some(5), Some(2)), [(Some(3), Some(1), 7), (Some(2), Some(1), 8)]);
        assert_eq!(parts(Some(2), Some(9)).len(), 2, "no boot without a run");
        assert_eq!((parts(Some(20), None).len(), parts(Some(10_000), None).len()), (5, 100));
    }

    #[test]
    fn failing_cases_are_repeated_unless_the_user_says_how_often() {
        let usual = RunPolicy::default();
        let often = |repeat, until_fail| RunPolicy { repeat, until_fail, ..RunPolicy::default() };
        assert_eq!(usual.repeats(), Repeats::OnFailure(3));
        assert_eq!(RunPolicy { no_retry: true, ..usual }.repeats(), Repeats::OnFailure(0));
        assert_eq!(often(Some(20), false).repeats(), Repeats::Times(20));
        assert_eq!(often(None, true).repeats(), Repeats::UntilFailure(None));
        assert_eq!(often(Some(9), true).repeats(), Repeats::UntilFailure(Some(9)));
    }
}
