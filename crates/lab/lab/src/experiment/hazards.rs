//! Where the machines of a script are stopped because they wait for too long.

use machine::{Conditions, Hazard};
use script::{Answer, ErrorName, Trouble};
use serde_json::Value;

/// Most bytes of JSON that are kept of the hazards of a machine: half of what a script may hold at once.
const BYTES_MAX: usize = 512 << 10;

/// Why a machine has no list of hazards.
const NOT_WATCHED: &str = "the machine is not watched: lab.machine(hazards = \"lock-spin>1000\") begins that";

/// The hazards of a machine, as far as they are kept: the first ones.
#[derive(Debug, Default)]
pub(super) struct Found {
    stops: Vec<Value>,
    bytes: usize,
    is_full: bool,
}

impl Found {
    /// Keeps one, and none after the first for which there is no room.
    pub(super) fn add(&mut self, hazard: &Hazard) {
        let stop = serde_json::to_value(hazard).unwrap_or_default();
        self.bytes += stop.to_string().len();
        self.is_full |= self.bytes > BYTES_MAX;
        if !self.is_full {
            self.stops.push(stop);
        }
    }

    /// Those that are kept of a machine in which these are looked for.
    pub(super) fn answer(&self, conditions: &Conditions) -> Result<Answer, Trouble> {
        if conditions.is_empty() {
            return Err(Trouble::new(ErrorName::Refused, NOT_WATCHED));
        }
        Ok(Answer::Plain(Value::from(self.stops.clone())))
    }
}

/// What is a hazard in a machine that a script describes.
pub(super) fn conditions(texts: &[String]) -> Result<Conditions, Trouble> {
    Conditions::read(texts).map_err(|wrong| Trouble::new(ErrorName::Refused, wrong.to_string()))
}

#[cfg(test)]
mod tests {
    use machine::hazards::Spin;

    use super::*;

    fn hazard(code: Vec<String>) -> Hazard {
        Hazard::LockSpin(Spin {
            site: 0,
            cpu: 1,
            address: 0x10,
            function: None,
            code,
            looks_at: Vec::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            missing: None,
            program: None,
        })
    }

    #[test]
    fn the_first_hazards_are_kept() {
        let mut found = Found::default();
        found.add(&hazard(Vec::new()));
        (0..1000).for_each(|_| found.add(&hazard(vec!["x".repeat(10_000)])));
        found.add(&hazard(Vec::new()));
        assert_eq!((&found.stops[0]["condition"], &found.stops[0]["cpu"]), (&"lock-spin".into(), &1.into()));
        let bytes = Value::from(found.stops.clone()).to_string().len();
        assert!(bytes > BYTES_MAX - 20_000 && bytes <= BYTES_MAX, "{bytes}");
        assert_eq!(found.stops[found.stops.len() - 1]["code"][0].as_str().map(str::len), Some(10_000));
    }

    #[test]
    fn what_is_no_condition_is_refused_as_by_the_command() {
        let refused = conditions(&["lock-spin>1".to_owned()]).expect_err("it is wrong");
        let by_command = "lock-spin>1".parse::<machine::Condition>().expect_err("it is wrong");
        assert_eq!((refused.name, refused.text), (ErrorName::Refused, by_command.to_string()));
        assert_eq!(conditions(&[]).map(|none| none.is_empty()).ok(), Some(true));
    }
}
