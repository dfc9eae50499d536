//! What a request means on this machine.

use std::collections::BTreeMap;

use harness::needs::{cpus, missing};
use protocol::stress::request::WORKERS_MAX;
use protocol::stress::{Domain, Instance, StressRequest};
use protocol::{Report, ReportKind};

use super::Refusal;
use crate::stressor::{Setting, Stressor};
use harness::random::mix;

/// Of the memory that is available, workers together take at most one part in this many unless a user gave sizes.
const SHARE_OF_MEMORY: u64 = 4;

/// Of a size at the end of its range, a worker takes at most this much, in bytes: an operation should not take much
/// longer than a look at the time may wait.
const EXTREME_MAX: u64 = 256 << 20;

/// An instance, ready to be started.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) stressor: &'static Stressor,
    /// Values of the stressor's options, in their order.
    pub(super) values: Vec<u64>,
    pub(super) workers: u32,
    /// Bogo operations of each worker.
    pub(super) limit: Option<u64>,
    pub(super) seed: u64,
    /// Why it cannot run here.
    pub(super) refused: Option<Report>,
}

impl Plan {
    /// How many workers it starts: none where it cannot run.
    pub(super) fn runs(&self) -> u32 {
        if self.refused.is_some() { 0 } else { self.workers }
    }

    /// The value of the option of this name.
    pub(super) fn value_of(&self, name: Option<&str>) -> Option<u64> {
        let place = self.stressor.options.iter().position(|option| Some(option.name) == name)?;
        self.values.get(place).copied()
    }

    /// Its options as a user would write them.
    pub(super) fn texts(&self) -> BTreeMap<String, String> {
        let options = self.stressor.options.iter().zip(&self.values);
        options.map(|(option, &value)| (option.name.to_string(), option.domain.text(value))).collect()
    }
}

/// The plans of all instances.
///
/// # Errors
///
/// When the request names something that is not there or asks for too much.
pub(super) fn plans(request: &StressRequest, stressors: &[&'static Stressor]) -> Result<Vec<Plan>, Refusal> {
    let wrong = |why: String| Err(Refusal::WrongRequest(why));
    request.validate().or_else(|why| wrong(why).map(drop))?;
    let counts = request.instances.iter().map(workers_of);
    let workers = counts.fold(0, u32::saturating_add);
    if workers > WORKERS_MAX {
        return wrong(format!("{workers} workers, at most {WORKERS_MAX}"));
    }
    let fair = available_memory() / SHARE_OF_MEMORY / u64::from(workers.max(1));
    let plan = |(number, instance): (u64, &Instance)| {
        let stressor = stressors.iter().find(|stressor| stressor.name == instance.stressor);
        let stressor = stressor.ok_or_else(|| format!("there is no stressor {:?}", instance.stressor))?;
        stressor.described().check(instance, total_memory())?;
        let workers = workers_of(instance);
        Ok(Plan {
            stressor,
            values: stressor.options.iter().map(|option| value(request, instance, option, fair)).collect(),
            workers,
            limit: instance.operations.map(|operations| operations.div_ceil(u64::from(workers.max(1)))),
            seed: mix(request.seed.wrapping_add(number)),
            refused: stressor.needs.iter().find_map(|&need| missing(need)).map(skip),
        })
    };
    (0..).zip(&request.instances).map(plan).collect::<Result<_, String>>().or_else(wrong)
}

fn skip(text: String) -> Report {
    Report { kind: ReportKind::Skip, text }
}

fn workers_of(instance: &Instance) -> u32 {
    if instance.workers == 0 { cpus() } else { instance.workers }
}

/// What the user gave, or an end of the range, or the default. Where nobody gave a size, no worker takes more than its
/// share of the memory.
fn value(request: &StressRequest, instance: &Instance, option: &Setting, fair: u64) -> u64 {
    let given = instance.options.get(option.name);
    let given = given.and_then(|text| option.domain.parse(text, total_memory()).ok());
    given.unwrap_or_else(|| {
        let (value, fair) = match request.extreme {
            Some(extreme) => (option.domain.extreme(extreme), fair.min(EXTREME_MAX)),
            None => (option.domain.default_value(), fair),
        };
        match option.domain {
            // Down to a power of two: stressors walk in such steps.
            Domain::Size { minimum, .. } if value > fair => (1 << fair.max(1).ilog2()).max(minimum),
            _ => value,
        }
    })
}

/// In bytes.
fn total_memory() -> u64 {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).saturating_mul(u64::from(system.mem_unit))
}

/// What can be had without swapping, in bytes: `MemAvailable` of proc_meminfo(5).
fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or_else(|| total_memory() / 2, |kib| kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stressor::{choice, number, size};
    use protocol::stress::Extreme;

    const OPTIONS: &[Setting] = &[
        size("bytes", "", 4096..=1 << 60, 1 << 20),
        number("pages", "", 1..=9, 4),
        choice("method", "", &["all", "inc"]),
    ];
    static STRESSOR: Stressor = Stressor { name: "vm", options: OPTIONS, ..Stressor::PLAIN };

    fn instance(options: &[(&str, &str)]) -> Instance {
        let options = options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Instance { stressor: "vm".to_string(), workers: 2, options, operations: Some(5) }
    }

    fn planned(request: &StressRequest) -> Result<Plan, String> {
        match plans(request, &[&STRESSOR]) {
            Ok(plans) => Ok(plans[0].clone()),
            Err(Refusal::WrongRequest(why)) => Err(why),
            Err(Refusal::Stopped(report)) => panic!("{report:?}"),
        }
    }

    #[test]
    fn options_are_given_or_have_their_defaults() {
        let of = |options| StressRequest { instances: vec![instance(options)], ..StressRequest::default() };
        let plan = planned(&of(&[("method", "inc"), ("pages", "9")])).expect("a plan");
        assert_eq!((plan.values, plan.workers, plan.limit), (vec![1 << 20, 9, 1], 2, Some(3)));
        assert_eq!(planned(&of(&[])).expect("a plan").values, [1 << 20, 4, 0]);
    }

    #[test]
    fn no_extreme_takes_all_memory() {
        let of = |extreme| StressRequest {
            instances: vec![instance(&[])],
            extreme: Some(extreme),
            ..StressRequest::default()
        };
        assert_eq!(planned(&of(Extreme::Minimize)).expect("a plan").values, [4096, 1, 0]);
        let most = planned(&of(Extreme::Maximize)).expect("a plan").values;
        assert_eq!(most[1..], [9, 0]);
        assert!(most[0] >= 4096 && most[0] <= EXTREME_MAX, "{}", most[0]);
    }

    #[test]
    fn a_wrong_request_says_what_is_wrong() {
        let wrong = |request: StressRequest| planned(&request).unwrap_err();
        let of = |instance| StressRequest { instances: vec![instance], ..StressRequest::default() };
        assert_eq!(wrong(StressRequest::default()), "it names no stressor");
        assert_eq!(
            wrong(of(Instance { stressor: "x".to_string(), ..Instance::default() })),
            "there is no stressor \"x\""
        );
        assert_eq!(wrong(of(instance(&[("pages", "10")]))), "vm: pages: \"10\" is not a number from 1 to 9");
        assert_eq!(
            wrong(of(instance(&[("sise", "1")]))),
            "vm has no option \"sise\"; it has bytes, pages, method"
        );
        assert_eq!(wrong(of(Instance { workers: 5000, ..instance(&[]) })), "5000 workers, at most 4096");
        let nice = StressRequest { nice: Some(20), ..of(instance(&[])) };
        assert_eq!(wrong(nice), "nice 20: use -20 to 19");
    }
}
