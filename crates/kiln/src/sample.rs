//! `kiln sample`: where programs and the kernel are, again and again.

use std::path::PathBuf;

use anyhow::Result;
use machine::instruments;
use protocol::sample::SampleReport;

use crate::cli::Sample;
use crate::failure::WrongUsage;
use crate::instruments::{Call, File, Json, run};
use crate::report_file::check;
use crate::workload;

/// Takes samples and gives the exit code.
pub(crate) fn sample(args: &Sample) -> Result<u8> {
    check([("--flame", &args.flame), ("--folded", &args.folded)])?;
    let place = args.place();
    let order = workload::order(&instruments::SAMPLE, &args.workload, &place, |workload| {
        Ok(args.request(workload, &place).map_err(WrongUsage)?)
    })?;
    let text = if args.tree { report::sample::tree } else { report::sample::text };
    let file = |path: &Option<PathBuf>, content| path.clone().map(|path| File { path, content });
    let files = [
        file(&args.flame, report::sample::flame as fn(&SampleReport) -> String),
        file(&args.folded, report::sample::folded),
    ];
    run(
        Call {
            order,
            validate: |report: &SampleReport| Ok(report.validate()?),
            complete: |_, _| Ok(()),
            progress: report::sample::progress,
            text: Box::new(text),
            files: files.into_iter().flatten().collect(),
            json: args.json.then_some(report::json_line as Json<_>),
            live: false,
        },
        &place,
    )
}
