//! From a plan to requests: one for each configuration and machine.

use hardware::Hardware;
use kernel::Locator;
use lab::request::{BuildOptions, MachineRequest, Selection};
use lab::suites::select::DEFAULT;
use script::matrix_plan::{MatrixPlan, PlannedMachine};

use crate::error::Error;
use crate::request::MatrixRequest;

/// Most CPUs of a machine.
const CPUS_MAX: u32 = 255;

/// What a plan asks of these kernels, with so many machines at a time.
///
/// # Errors
///
/// When it has a machine that there cannot be.
pub fn requests(
    plan: &MatrixPlan,
    kernels: &[Locator],
    jobs: Option<u16>,
) -> Result<Vec<MatrixRequest>, Error> {
    let configurations = or(&plan.configurations, String::new());
    let machines = or(&plan.machines, PlannedMachine::default());
    let mut requests = Vec::new();
    for configuration in &configurations {
        for planned in &machines {
            let several = [
                (configurations.len() > 1, described(configuration)),
                (machines.len() > 1, in_words(planned)),
            ];
            let setting = several.into_iter().filter(|(is_one_of_several, _)| *is_one_of_several);
            requests.push(MatrixRequest {
                setting: setting.map(|(_, text)| text).collect::<Vec<_>>().join("; "),
                kernels: kernels.to_vec(),
                build: BuildOptions { configurations: list(configuration), ..BuildOptions::default() },
                parameters: or(&plan.parameters, String::new()),
                cases: or(&plan.suites, DEFAULT.to_owned())
                    .into_iter()
                    .map(|suite| Selection::Suite { suite, patterns: plan.cases.clone() })
                    .collect(),
                machine: machine(planned)?,
                jobs,
            });
        }
    }
    Ok(requests)
}

/// The values of a dimension; without one it has its usual value.
fn or<T: Clone>(values: &[T], usual: T) -> Vec<T> {
    if values.is_empty() { vec![usual] } else { values.to_vec() }
}

fn list(configuration: &str) -> Vec<String> {
    configuration.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn described(configuration: &str) -> String {
    if configuration.is_empty() { "the usual configuration".to_owned() } else { configuration.to_owned() }
}

fn in_words(machine: &PlannedMachine) -> String {
    let PlannedMachine { cpus, memory, devices, append } = machine;
    let cpus = cpus.map(|cpus| if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") });
    let memory = memory.map(|memory| format!("{} MiB", memory >> 20));
    let parts: Vec<String> =
        cpus.into_iter().chain(memory).chain(devices.iter().chain(append).cloned()).collect();
    if parts.is_empty() { "the usual machine".to_owned() } else { parts.join(", ") }
}

fn machine(planned: &PlannedMachine) -> Result<MachineRequest, Error> {
    let refused = |text: String| Error::Plan(format!("machine(...) of the plan: {text}"));
    if planned.cpus.is_some_and(|cpus| !(1..=CPUS_MAX).contains(&cpus)) {
        return Err(refused(format!("cpus is a number from 1 to {CPUS_MAX}")));
    }
    if planned.memory.is_some_and(|memory| memory < 1 << 20) {
        return Err(refused("memory is a size such as \"512M\" or \"2G\"".to_owned()));
    }
    let devices =
        planned.devices.iter().map(|text| text.parse().map_err(|error| refused(format!("{text}: {error}"))));
    Ok(MachineRequest {
        memory_mib: planned.memory.map(|memory| memory >> 20),
        cpus: planned.cpus,
        append: planned.append.clone(),
        hardware: Hardware { devices: devices.collect::<Result<_, _>>()? },
        ..MachineRequest::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_configuration_meets_each_machine() {
        let small = PlannedMachine { cpus: Some(1), ..PlannedMachine::default() };
        let large =
            PlannedMachine { memory: Some(2 << 30), append: vec!["debug".to_owned()], ..small.clone() };
        let plan = MatrixPlan {
            configurations: vec![String::new(), "boot,debug".to_owned()],
            machines: vec![small, large],
            parameters: vec![String::new(), "slub_debug=FZP".to_owned()],
            suites: vec!["smoke".to_owned(), "full".to_owned()],
            ..MatrixPlan::default()
        };
        let kernels = ["host".parse().expect("a locator")];
        let all = requests(&plan, &kernels, Some(2)).expect("a plan");
        let settings: Vec<&str> = all.iter().map(|request| request.setting.as_str()).collect();
        let expected = [
            "the usual configuration; 1 CPU",
            "the usual configuration; 1 CPU, 2048 MiB, debug",
            "boot,debug; 1 CPU",
            "boot,debug; 1 CPU, 2048 MiB, debug",
        ];
        assert_eq!(settings, expected);
        assert_eq!(all[3].build.configurations, ["boot", "debug"]);
        assert_eq!(
            (all[3].machine.memory_mib, all[3].subjects().count(), all[3].cases.len()),
            (Some(2048), 2, 2)
        );
    }

    #[test]
    fn an_empty_plan_is_the_usual_and_impossible_machines_are_refused() {
        let all = requests(&MatrixPlan::default(), &[], None).expect("a plan");
        assert_eq!(
            (all.len(), all[0].setting.as_str(), &all[0].parameters[..]),
            (1, "", &[String::new()][..])
        );
        for machine in [
            PlannedMachine { cpus: Some(0), ..PlannedMachine::default() },
            PlannedMachine { cpus: Some(256), ..PlannedMachine::default() },
            PlannedMachine { memory: Some(17), ..PlannedMachine::default() },
            PlannedMachine { devices: vec!["flux".to_owned()], ..PlannedMachine::default() },
        ] {
            let plan = MatrixPlan { machines: vec![machine], ..MatrixPlan::default() };
            let error = requests(&plan, &[], None).unwrap_err();
            assert!(
                error.is_usage() && error.to_string().starts_with("machine(...) of the plan: "),
                "{error}"
            );
        }
    }
}
