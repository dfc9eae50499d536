//! What is a hazard, as users write it: `lock-spin>1000`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hardware::time;
use kernel::Arch;
use protocol::hazard::{PASSES_MAX, PASSES_MIN};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::write::Variable;
use crate::accel::{Accel, AccelChoice};
use crate::engine::Engine;
use crate::error::Error as MachineError;

/// CPUs of a machine for which nothing else was said: one alone waits for no other.
const CPUS: u32 = 2;

/// The shortest and the longest sleep that can be the bound of a hazard.
const WAIT_MIN: Duration = Duration::from_millis(10);
const WAIT_MAX: Duration = Duration::from_secs(3600);

/// Characters of a wrong condition that are shown.
const SHOWN_MAX: usize = 80;

/// What is a hazard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Condition {
    /// A CPU passes a loop that waits more often than this.
    LockSpin(u64),
    /// A task sleeps for a lock of the kernel for longer than this.
    LockWait(Duration),
    /// Something writes to this.
    Write(Variable),
}

/// All that is a hazard in a machine; nothing where none is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conditions(pub Vec<Condition>);

/// A text that is no condition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no hazard: write lock-spin>1000, for {PASSES_MIN} to {PASSES_MAX} passes, lock-wait>100ms, for {} to {}, or \
     write:SYMBOL, perhaps with +OFFSET",
    time::text(WAIT_MIN),
    time::text(WAIT_MAX)
)]
pub struct WrongCondition {
    /// Its beginning.
    text: String,
}

impl FromStr for Condition {
    type Err = WrongCondition;

    fn from_str(text: &str) -> Result<Self, WrongCondition> {
        let condition = || {
            if let Some(variable) = text.trim().strip_prefix("write:") {
                return Variable::read(variable.trim()).map(Self::Write);
            }
            let (name, bound) = text.split_once('>')?;
            match name.trim() {
                "lock-spin" => passes(bound.trim()).map(Self::LockSpin),
                "lock-wait" => wait(bound.trim()).map(Self::LockWait),
                _ => None,
            }
        };
        condition().ok_or_else(|| WrongCondition { text: text.chars().take(SHOWN_MAX).collect() })
    }
}

fn passes(text: &str) -> Option<u64> {
    text.parse().ok().filter(|passes| (PASSES_MIN..=PASSES_MAX).contains(passes))
}

fn wait(text: &str) -> Option<Duration> {
    time::duration(text).filter(|time| (WAIT_MIN..=WAIT_MAX).contains(time))
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LockSpin(passes) => write!(f, "lock-spin>{passes}"),
            Self::LockWait(time) => write!(f, "lock-wait>{}", time::text(*time)),
            Self::Write(variable) => write!(f, "write:{variable}"),
        }
    }
}

impl TryFrom<String> for Condition {
    type Error = WrongCondition;

    fn try_from(text: String) -> Result<Self, WrongCondition> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

impl Conditions {
    /// Those of these texts.
    ///
    /// # Errors
    ///
    /// When one of them is none.
    pub fn read(texts: &[String]) -> Result<Self, WrongCondition> {
        texts.iter().map(|text| text.parse()).collect::<Result<_, _>>().map(Self)
    }

    /// Whether nothing is looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// More passes of a loop that waits are a hazard.
    #[must_use]
    pub fn lock_spin(&self) -> Option<u64> {
        let bound = |condition: &Condition| match condition {
            Condition::LockSpin(passes) => Some(*passes),
            Condition::LockWait(_) | Condition::Write(_) => None,
        };
        self.0.iter().filter_map(bound).min()
    }

    /// A longer sleep for a lock is a hazard.
    #[must_use]
    pub fn lock_wait(&self) -> Option<Duration> {
        let bound = |condition: &Condition| match condition {
            Condition::LockWait(time) => Some(*time),
            Condition::LockSpin(_) | Condition::Write(_) => None,
        };
        self.0.iter().filter_map(bound).min()
    }

    /// A write to one of these is a hazard.
    #[must_use]
    pub fn writes(&self) -> Vec<&Variable> {
        let variables = self.0.iter().filter_map(|condition| match condition {
            Condition::Write(variable) => Some(variable),
            Condition::LockSpin(_) | Condition::LockWait(_) => None,
        });
        variables.collect()
    }

    /// CPUs of a machine in which they are looked for, if its user asks for no number.
    #[must_use]
    pub fn cpus(&self) -> Option<u32> {
        (!self.is_empty()).then_some(CPUS)
    }

    /// What runs a machine of this architecture in which they are looked for.
    ///
    /// # Errors
    ///
    /// When the user asked for an accelerator that there is not, or with which they are not found.
    pub fn engine(&self, arch: Arch, choice: AccelChoice) -> Result<Engine, MachineError> {
        let are_executed = self.lock_spin().is_some();
        let choice = match (arch, choice) {
            (Arch::X86_64, AccelChoice::Auto) if are_executed => AccelChoice::Tcg,
            (_, choice) => choice,
        };
        match Engine::choose(arch, choice)? {
            Engine::Qemu(Accel::Kvm) if are_executed => Err(MachineError::NoSpins),
            Engine::Uml if !self.is_empty() => Err(MachineError::NoHazards),
            engine => Ok(engine),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_names_a_hazard_and_how_much_of_it_is_one() {
        assert_eq!("lock-spin>1000".parse(), Ok(Condition::LockSpin(1000)));
        assert_eq!(" lock-spin > 16 ".parse(), Ok(Condition::LockSpin(16)));
        assert_eq!("lock-wait>50ms".parse(), Ok(Condition::LockWait(Duration::from_millis(50))));
        assert_eq!(Condition::LockWait(Duration::from_millis(1500)).to_string(), "lock-wait>1500ms");
        let variable = Variable { symbol: "total_forks".to_owned(), offset: 16 };
        assert_eq!("write: total_forks + 0x10".parse(), Ok(Condition::Write(variable.clone())));
        assert_eq!(Condition::Write(variable).to_string(), "write:total_forks+0x10");
        let wrong = "lock-spin lock-spin<5 lock-spin>15 spin>1000 lock-spin>1e3 lock-spin>-1 >20 lock-wait>9ms lock-wait>100 \
                     lock-wait>2h lock-wait>7200s lock-wait>1.5s write: write:+8 write:a-b write:a+x write:a+99999999999";
        for wrong in wrong.split(' ') {
            let why = wrong.parse::<Condition>().expect_err("it is wrong").to_string();
            assert!(why.contains("write lock-spin>1000"), "{wrong}: {why}");
        }
        let long = "\u{1b}".repeat(10_000).parse::<Condition>().expect_err("it is wrong").to_string();
        assert!(long.len() < 1000 && !long.contains('\u{1b}'), "{long}");
    }

    #[test]
    fn the_lowest_bound_counts() {
        let conditions = Conditions::read(&["lock-spin>50", "lock-spin>20"].map(str::to_owned));
        let conditions = conditions.expect("they are right");
        assert_eq!((conditions.lock_spin(), conditions.cpus()), (Some(20), Some(2)));
        let json = serde_json::to_string(&conditions).expect("plain data");
        assert_eq!(json, r#"["lock-spin>50","lock-spin>20"]"#);
        assert_eq!(serde_json::from_str::<Conditions>(&json).expect("the same"), conditions);
        assert_eq!((Conditions::default().lock_spin(), Conditions::default().cpus()), (None, None));
    }

    #[test]
    fn hazards_are_found_where_qemu_executes() {
        let watched = Conditions(vec![Condition::LockSpin(20)]);
        assert_eq!(watched.engine(Arch::X86_64, AccelChoice::Auto).ok(), Some(Engine::Qemu(Accel::Tcg)));
        assert!(watched.engine(Arch::Um, AccelChoice::Auto).is_err_and(|error| error.is_usage()));
        assert_eq!(Conditions::default().engine(Arch::Um, AccelChoice::Auto).ok(), Some(Engine::Uml));
    }
}
