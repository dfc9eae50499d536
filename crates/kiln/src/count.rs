//! `kiln count`: how often events of the kernel and the CPU happen.

use anyhow::Result;
use machine::instruments;
use protocol::count::CountReport;

use crate::cli::Count;
use crate::failure::WrongUsage;
use crate::instruments::{Call, Json, run};
use crate::workload;

/// Counts and gives the exit code.
pub(crate) fn count(args: &Count) -> Result<u8> {
    let place = args.place();
    let order = workload::order(&instruments::COUNT, &args.workload, &place, |workload| {
        let request = args.request(workload, &place);
        request.validate().map_err(|error| WrongUsage(error.to_string()))?;
        Ok(request)
    })?;
    run(
        Call {
            order,
            validate: |report: &CountReport| Ok(report.validate()?),
            complete: |_, _| Ok(()),
            progress: report::count::progress,
            text: Box::new(report::count::text),
            files: Vec::new(),
            json: args.json.then_some(report::json_line as Json<_>),
            live: args.live,
        },
        &place,
    )
}
