//! `kiln stress`: loads that verify what the kernel does.

use std::io;
use std::time::Duration;

use anyhow::{Context, Result};
use lab::stress_job::{Job, Mistake, parse};
use machine::{catalogue, instruments};
use protocol::Need;
use protocol::stress::{Class, Mode, StressReport, StressRequest, Stressor};

use crate::cli::Stress;
use crate::failure::{WrongUsage, complain};
use crate::instruments::{Call, run};
use crate::listeners::standard_output;
use crate::order::Order;

/// How long a load lasts if nobody says it.
const TIMEOUT_MS: u64 = 10_000;

/// Loads, or lists what there is, and gives the exit code.
pub(crate) fn stress(args: &Stress) -> Result<u8> {
    if args.list {
        return list(args);
    }
    run(
        Call {
            order: order(args)?,
            validate: |report: &StressReport| report.validate().map_err(anyhow::Error::msg),
            progress: report::stress::progress,
            text: Box::new(report::stress::text),
            json: args.json,
        },
        &args.place,
    )
}

/// What is asked.
pub(crate) fn order(args: &Stress) -> Result<Order> {
    let request = request(args)?;
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

/// What is asked, by the job file and the command line.
fn request(args: &Stress) -> Result<StressRequest> {
    let mut lines = job(args)?;
    let of_file = lines.iter().filter(|byte| **byte == b'\n').count();
    lines.extend(args.job_lines().into_bytes());
    let Job { request, mistakes } = parse(&lines, catalogue::stressors());
    let wrong: Vec<String> =
        mistakes.iter().filter_map(|mistake| complaint(mistake, args, mistake.line <= of_file)).collect();
    if let Some((last, others)) = wrong.split_last() {
        others.iter().for_each(|text| complain(text));
        return Err(WrongUsage(last.clone()).into());
    }
    Ok(StressRequest { timeout_ms: request.timeout_ms.or(Some(TIMEOUT_MS)), ..request })
}

/// The lines of the job file; nothing if there is none.
fn job(args: &Stress) -> Result<Vec<u8>> {
    let Some(path) = &args.job else { return Ok(Vec::new()) };
    let mut lines = std::fs::read(path).with_context(|| path.display().to_string())?;
    lines.push(b'\n');
    Ok(lines)
}

/// What is wrong, unless it is to be ignored.
fn complaint(mistake: &Mistake, args: &Stress, is_of_file: bool) -> Option<String> {
    match args.job.as_ref().filter(|_| is_of_file) {
        Some(_) if args.skip_unknown && mistake.is_unknown_stressor => None,
        Some(path) => Some(mistake.in_file(&path.display().to_string())),
        None => Some(mistake.text.clone()),
    }
}

/// Modules, disks and the like that stressors need. What is missing skips the stressor, and not the others.
pub(crate) fn needs(request: &StressRequest) -> Vec<Need<String>> {
    let known = |name: &str| catalogue::stressors().find(name);
    let all = request.instances.iter().filter_map(|instance| known(&instance.stressor));
    let provided = |need: &&Need<String>| matches!(need, Need::Disk(_) | Need::Memory(_) | Need::Cpus(_));
    all.flat_map(|stressor| &stressor.needs).filter(provided).cloned().collect()
}

/// How long it takes at most.
fn duration(request: &StressRequest) -> Duration {
    let each = Duration::from_millis(request.timeout_ms.unwrap_or(TIMEOUT_MS) + request.grace_ms);
    match request.mode {
        Mode::Parallel => each,
        Mode::Sequential => each * u32::try_from(request.instances.len()).unwrap_or(u32::MAX),
    }
}
