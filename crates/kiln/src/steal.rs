//! `kiln steal`: how much of a CPU a workload really gets.

use std::time::Duration;

use anyhow::Result;
use machine::instruments;
use protocol::Need;
use protocol::steal::{Load, StealReport, StealRequest};

use crate::cli::Steal;
use crate::failure::WrongUsage;
use crate::instruments::{Call, Json, run};
use crate::order::Order;

/// What a pass takes besides its duration: the load starts, the trace is read.
const AROUND: Duration = Duration::from_secs(20);

/// Measures and gives the exit code.
pub(crate) fn steal(args: &Steal) -> Result<u8> {
    run(
        Call {
            order: order(args)?,
            validate: |report: &StealReport| Ok(report.validate()?),
            complete: |_, _| Ok(()),
            progress: report::steal::progress,
            text: Box::new(report::steal::text),
            files: Vec::new(),
            json: args.json.then_some(report::json_line as Json<_>),
            live: false,
        },
        &args.place,
    )
}

/// What is asked.
pub(crate) fn order(args: &Steal) -> Result<Order> {
    let request = args.request();
    request.validate().map_err(|error| WrongUsage(error.to_string()))?;
    Ok(Order {
        instrument: &instruments::STEAL,
        request: serde_json::to_string(&request)?,
        duration: duration(&request),
        others: Vec::new(),
        needs: needs(&request),
    })
}

/// How long it takes at most.
fn duration(request: &StealRequest) -> Duration {
    let sides = u32::try_from(request.setups().count()).unwrap_or(u32::MAX);
    let passes = sides.saturating_mul(request.passes() + u32::from(request.trace));
    (Duration::from_millis(request.duration_ms) + AROUND).saturating_mul(passes)
}

/// A second CPU for everything but the victim, and what the load is made of. What is missing skips.
fn needs(request: &StealRequest) -> Vec<Need<String>> {
    let cpus = Need::Cpus(request.cpu.map_or(2, |cpu| cpu.saturating_add(1).max(2)));
    let veth = request.load.filter(|load| Load::is_network(*load)).map(|_| Need::Module("veth".to_owned()));
    let program = request.command.first().map(|name| Need::Tool(name.clone()));
    [cpus].into_iter().chain(veth).chain(program).collect()
}
