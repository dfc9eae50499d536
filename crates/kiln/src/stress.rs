//! `kiln stress`: loads that verify what the kernel does.

use std::time::Duration;

use anyhow::{Context, Result};
use lab::stress_job::{Job, Mistake, parse};
use machine::{catalogue, instruments};
use protocol::Need;
use protocol::stress::{Mode, StressReport, StressRequest, Stressor};

use crate::cli::Stress;
use crate::failure::{WrongUsage, complain};
use crate::instruments::{Call, run};
use crate::listeners::standard_output;

/// How long a load lasts if nobody says it.
const TIMEOUT_MS: u64 = 10_000;

/// Loads, or lists what there is, and gives the exit code.
pub(crate) fn stress(args: &Stress) -> Result<u8> {
    if args.list {
        return list(args);
    }
    let request = request(args)?;
    let needs = needs(&request);
    let json = args.json;
    run(
        Call {
            instrument: &instruments::STRESS,
            request: serde_json::to_string(&request)?,
            duration: duration(&request),
            needs,
            progress: report::stress::progress,
            report: Box::new(move |report: &StressReport| {
                report.validate().map_err(anyhow::Error::msg)?;
                Ok(if json { report::stress::json(report)? } else { report::stress::text(report) })
            }),
        },
        &args.place,
    )
}

fn list(args: &Stress) -> Result<u8> {
    let all = &catalogue::stressors().stressors;
    let class = args.class.as_deref();
    let is_wanted =
        |stressor: &&Stressor| class.is_none_or(|class| stressor.classes.iter().any(|of| of.name() == class));
    let wanted: Vec<&Stressor> = all.iter().filter(is_wanted).collect();
    if let Some(class) = class.filter(|_| wanted.is_empty()) {
        return Err(WrongUsage(format!("there is no class {class}; `kiln stress --list` has all")).into());
    }
    standard_output(|out| {
        let text =
            if args.json { report::stress::list_json(&wanted)? } else { report::stress::list(&wanted) };
        out.write_all(text.as_bytes())
    })?;
    Ok(0)
}

/// What is asked, by the job file and the command line.
fn request(args: &Stress) -> Result<StressRequest> {
    let mut lines = Vec::new();
    if let Some(path) = &args.job {
        let file = path.display().to_string();
        lines = std::fs::read(path).with_context(|| file.clone())?;
        let Job { mistakes, .. } = parse(&lines, catalogue::stressors());
        refuse(&mistakes, |mistake| mistake.in_file(&file), args.skip_unknown)?;
        lines.push(b'\n');
    }
    lines.extend(args.job_lines().into_bytes());
    let Job { request, mistakes } = parse(&lines, catalogue::stressors());
    refuse(&mistakes, |mistake| mistake.text.clone(), args.skip_unknown)?;
    Ok(StressRequest { timeout_ms: request.timeout_ms.or(Some(TIMEOUT_MS)), ..request })
}

/// Refuses what is wrong, with each reason.
fn refuse(mistakes: &[Mistake], text: impl Fn(&Mistake) -> String, skips_unknown: bool) -> Result<()> {
    let is_wrong = |mistake: &&Mistake| !(skips_unknown && mistake.is_unknown_stressor);
    let wrong: Vec<&Mistake> = mistakes.iter().filter(is_wrong).collect();
    let Some((last, others)) = wrong.split_last() else { return Ok(()) };
    others.iter().for_each(|mistake| complain(&text(mistake)));
    Err(WrongUsage(text(last)).into())
}

/// Modules, disks and the like that stressors need. What is missing skips the stressor, and not the others.
fn needs(request: &StressRequest) -> Vec<Need<String>> {
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
