//! `kiln latency`: how late the kernel wakes a thread.

use anyhow::Result;
use machine::instruments;
use protocol::Need;
use protocol::latency::LatencyReport;

use crate::cli::Latency;
use crate::failure::WrongUsage;
use crate::instruments::{Call, run};
use crate::order::Order;

/// Measures and gives the exit code.
pub(crate) fn latency(args: &Latency) -> Result<u8> {
    let bucket = args.bucket;
    run(
        Call {
            order: order(args)?,
            validate: |report: &LatencyReport| Ok(report.validate()?),
            progress: report::latency::progress,
            text: Box::new(move |report| report::latency::text(report, bucket)),
            json: args.json,
        },
        &args.place,
    )
}

/// What is asked.
pub(crate) fn order(args: &Latency) -> Result<Order> {
    let request = args.request().map_err(WrongUsage)?;
    request.validate().map_err(|error| WrongUsage(error.to_string()))?;
    let cpus = request.cpus.iter().max().map_or(1, |last| last + 1);
    Ok(Order {
        instrument: &instruments::LATENCY,
        request: serde_json::to_string(&request)?,
        duration: args.duration,
        needs: vec![Need::Cpus(cpus)],
    })
}
