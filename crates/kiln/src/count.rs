//! `kiln count`: how often events of the kernel and the CPU happen.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use machine::instruments;
use protocol::Need;
use protocol::count::CountReport;

use crate::cli::Count;
use crate::failure::WrongUsage;
use crate::instruments::{Call, run};
use crate::order::Order;

/// A program in a machine that nobody gives a time gets so long.
const DURATION: Duration = Duration::from_secs(3600);

/// Counts and gives the exit code.
pub(crate) fn count(args: &Count) -> Result<u8> {
    run(
        Call {
            order: order(args)?,
            validate: |report: &CountReport| Ok(report.validate()?),
            complete: |_, _| Ok(()),
            progress: report::count::progress,
            text: Box::new(report::count::text),
            json: args.json,
        },
        &args.place,
    )
}

/// What is asked.
fn order(args: &Count) -> Result<Order> {
    let shipped = args.exec.as_deref().filter(|_| args.place.kernel.is_some()).map(shipped).transpose()?;
    let program = match &shipped {
        Some((name, _)) => Some(name.clone()),
        None => args.exec.as_ref().map(|path| path.display().to_string()),
    };
    let request = args.request(program);
    request.validate().map_err(|error| WrongUsage(error.to_string()))?;
    Ok(Order {
        instrument: &instruments::COUNT,
        request: serde_json::to_string(&request)?,
        duration: args.duration.unwrap_or(DURATION),
        others: Vec::new(),
        needs: shipped.map(|(_, need)| need).into_iter().collect(),
    })
}

/// What a program of this host is called in a machine, where its files come from.
fn shipped(path: &Path) -> Result<(String, Need<String>)> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // A word is looked for where programs are; a path begins here.
    let place = match path.components().count() {
        1 => path.to_owned(),
        _ => std::path::absolute(path)?,
    };
    Ok((name, Need::Tool(place.display().to_string())))
}
