//! From a request to its report.

use std::time::Duration;

use bpf::Watch;
use harness::clock::in_nanoseconds;
use harness::instrument::Listener;
use harness::workload;
use protocol::Report;
use protocol::probe::{Found, ProbeReport, ProbeRequest};

use crate::tools;

/// How often what the kernel has found is taken out of its buffers.
const PERIOD: Duration = Duration::from_millis(50);

/// Lets a tool look as a request asks.
///
/// # Errors
///
/// `skip` if this kernel or user cannot do it, or there is no such program; `broken` if the host refuses.
pub fn probe(request: &ProbeRequest, listener: Listener<'_, ProbeReport>) -> Result<ProbeReport, Report> {
    let begin = |process| tools::begin(&request.tool, Watch::new(&request.workload, process)?);
    let look = |tool: &mut Box<dyn tools::Tool>, _| tool.look();
    let tell = |tool: &mut Box<dyn tools::Tool>, now| {
        // Without anybody who listens it goes on until its end.
        let found = tool.so_far();
        let _ = found
            .and_then(|found| report(request, tool.as_ref(), found, now))
            .map(|report| listener(&report));
    };
    let (mut tool, over) = workload::run(&request.workload, PERIOD, begin, look, tell)?;
    tool.end()?;
    let found = tool.found()?;
    let report = report(request, tool.as_ref(), found, over.elapsed)?;
    Ok(ProbeReport { status: over.status(), signal: over.signal(), ..report })
}

fn report(
    request: &ProbeRequest,
    tool: &dyn tools::Tool,
    found: Found,
    elapsed: Duration,
) -> Result<ProbeReport, Report> {
    Ok(ProbeReport {
        request: request.clone(),
        elapsed_ns: in_nanoseconds(elapsed),
        status: None,
        signal: None,
        found,
        missing: tool.missing(),
        lost: tool.lost()?,
    })
}
