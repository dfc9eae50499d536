//! `kiln stress`: loads that verify what the kernel does.
//!
//! * `job`: what is asked for, and the same as a job file

mod job;

use std::io;
use std::time::Duration;

use anyhow::Result;
use lab::stress_coverage::add_sources;
use machine::{catalogue, instruments};
use protocol::Need;
use protocol::stress::{Class, Mode, StressReport, StressRequest, Stressor};

use crate::cli::Stress;
use crate::failure::WrongUsage;
use crate::instruments::{Call, Json, run};
use crate::listeners::standard_output;
use crate::order::Order;

/// Loads, or lists what there is, and gives the exit code.
pub(crate) fn stress(args: &Stress) -> Result<u8> {
    if args.list {
        return list(args);
    }
    if args.dry_run || args.save_job.is_some() {
        return plan(args);
    }
    run(
        Call {
            order: order(args)?,
            validate: |report: &StressReport| report.validate().map_err(anyhow::Error::msg),
            complete: add_sources,
            progress: report::stress::progress,
            text: Box::new(report::stress::text),
            files: Vec::new(),
            json: args.json.then_some(report::json_line as Json<_>),
            live: false,
        },
        &args.place,
    )
}

/// Shows what would run, or saves it.
fn plan(args: &Stress) -> Result<u8> {
    let request = job::request(args)?;
    if let Some(path) = &args.save_job {
        job::save(&request, path)?;
    }
    if args.dry_run {
        job::show(&request, args.json)?;
    }
    Ok(0)
}

/// What is asked.
pub(crate) fn order(args: &Stress) -> Result<Order> {
    let request = job::request(args)?;
    if request.coverage && args.place.kernel().is_none() {
        let text = "coverage needs a machine with a kernel that records it: `kiln build TREE --config boot,cov` prints \
                    its name for --in";
        return Err(WrongUsage(text.to_string()).into());
    }
    Ok(Order {
        instrument: &instruments::STRESS,
        request: serde_json::to_string(&request)?,
        duration: duration(&request),
        others: Vec::new(),
        needs: needs(&request),
    })
}

fn list(args: &Stress) -> Result<u8> {
    let all = catalogue::stressors();
    let wanted: Vec<&Stressor> = match &args.class {
        Some(class) => all.of(named(class)?).collect(),
        None => all.stressors.iter().collect(),
    };
    standard_output(|out| {
        let json = || wanted.iter().map(report::json_line).collect::<io::Result<String>>();
        let text = if args.json { json()? } else { report::stress::list(&wanted) };
        out.write_all(text.as_bytes())
    })?;
    Ok(0)
}

fn named(class: &str) -> Result<Class> {
    let known = Class::ALL.into_iter().find(|known| known.name() == class);
    Ok(known.ok_or_else(|| WrongUsage(format!("there is no class {class}; `kiln stress --list` has all")))?)
}

/// What the machine gets for the stressors. What it cannot have skips the stressors that need it, and not the others.
pub(crate) fn needs(request: &StressRequest) -> Vec<Need<String>> {
    let known = |name: &str| catalogue::stressors().find(name);
    let all = request.instances.iter().filter_map(|instance| known(&instance.stressor));
    all.flat_map(|stressor| &stressor.needs).filter_map(provided).collect()
}

fn provided(need: &Need<String>) -> Option<Need<String>> {
    match need {
        Need::Module(name) | Need::OptionalModule(name) | Need::Filesystem(name) => {
            Some(Need::OptionalModule(name.clone()))
        }
        Need::Disk(_) | Need::Memory(_) | Need::Cpus(_) => Some(need.clone()),
        Need::Config(_) | Need::Device(_) | Need::Capability(_) | Need::Tool(_) => None,
    }
}

/// How long it takes at most.
fn duration(request: &StressRequest) -> Duration {
    let each = Duration::from_millis(request.timeout_ms.unwrap_or(job::TIMEOUT_MS) + request.grace_ms);
    match request.mode {
        Mode::Parallel => each,
        Mode::Sequential => each * u32::try_from(request.instances.len()).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use protocol::stress::Instance;

    use super::*;

    #[test]
    fn a_module_that_a_stressor_needs_skips_no_other_stressor() {
        let texts = |stressor: &str| {
            let instance = Instance { stressor: stressor.to_owned(), workers: 1, ..Instance::default() };
            needs(&StressRequest { instances: vec![instance], ..StressRequest::default() })
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(texts("loop"), ["optional-module=loop"]);
        assert_eq!(texts("swap"), ["optional-module=loop"]);
    }
}
