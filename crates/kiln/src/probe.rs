//! `kiln probe`: tools and scripts that look into the kernel.

use std::path::Path;

use anyhow::Result;
use kernel::files::{self, Limit};
use machine::instruments;
use protocol::Need;
use protocol::probe::{ProbeReport, ProbeRequest, SCRIPT_MAX, Tool};

use crate::cli::{Probe, ProbeTool};
use crate::failure::WrongUsage;
use crate::instruments::{Call, Json, run};
use crate::workload;

/// Looks and gives the exit code.
pub(crate) fn probe(args: &Probe) -> Result<u8> {
    let tool = tool(args)?;
    let needs_bpftrace = matches!(tool, Tool::Bpftrace { .. }) && args.place.kernel.is_some();
    let mut order = workload::order(&instruments::PROBE, &args.workload, &args.place, |workload| {
        let request = ProbeRequest { tool, workload };
        request.validate().map_err(|error| WrongUsage(error.to_string()))?;
        Ok(request)
    })?;
    order.needs.extend(needs_bpftrace.then(|| Need::Tool("bpftrace".to_owned())));
    run(
        Call {
            order,
            validate: |report: &ProbeReport| Ok(report.validate()?),
            complete: |_, _| Ok(()),
            progress: report::probe::progress,
            text: Box::new(report::probe::text),
            files: Vec::new(),
            json: args.json.then_some(report::probe::json as Json<_>),
            live: args.live,
        },
        &args.place,
    )
}

fn tool(args: &Probe) -> Result<Tool> {
    let wrong = |text: &str| Err(WrongUsage(text.to_owned()).into());
    match args.tool {
        Some(ProbeTool::Funccount) if args.functions.is_empty() => {
            return wrong("--tool funccount counts --functions: name some");
        }
        Some(tool) if tool != ProbeTool::Funccount && !args.functions.is_empty() => {
            return wrong("--functions are for --tool funccount");
        }
        Some(tool) if tool != ProbeTool::Opensnoop && args.failed => {
            return wrong("--failed is for --tool opensnoop");
        }
        _ => {}
    }
    Ok(match (args.tool, &args.expression, &args.script) {
        (Some(ProbeTool::Cachetop), ..) => Tool::Cachetop,
        (Some(ProbeTool::Forks), ..) => Tool::Forks,
        (Some(ProbeTool::Funccount), ..) => Tool::Funccount { patterns: args.functions.clone() },
        (Some(ProbeTool::Klockstat), ..) => Tool::Klockstat,
        (Some(ProbeTool::Opensnoop), ..) => Tool::Opensnoop { failed: args.failed },
        (Some(ProbeTool::Slabratetop), ..) => Tool::Slabratetop,
        (None, Some(script), _) => Tool::Bpftrace { script: script.clone(), json: args.json },
        (None, None, Some(path)) => Tool::Bpftrace { script: read(path)?, json: args.json },
        (None, None, None) => return wrong("name a tool, or a script"),
    })
}

fn read(path: &Path) -> Result<String> {
    let limit = Limit { what: "a script of bpftrace", bytes: SCRIPT_MAX as u64 };
    let text = files::read(path, limit).map_err(|error| WrongUsage(error.to_string()))?;
    Ok(String::from_utf8(text).map_err(|_| WrongUsage(format!("{}: a script is text", path.display())))?)
}
