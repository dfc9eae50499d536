//! What an instrument looks at, here or in a machine.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use machine::instruments::Instrument;
use protocol::Need;
use protocol::need::OF_HOST;
use protocol::workload::Workload;
use serde::Serialize;

use crate::cli::{self, Place};
use crate::failure::WrongUsage;
use crate::order::Order;
use crate::units::milliseconds;

/// A program in a machine that nobody gives a time gets so long.
const DURATION: Duration = Duration::from_secs(3600);

/// An order for an instrument that looks at a workload; `request` makes its request.
pub(crate) fn order<T: Serialize>(
    instrument: &'static Instrument,
    args: &cli::Workload,
    place: &Place,
    request: impl FnOnce(Workload) -> Result<T>,
) -> Result<Order> {
    let shipped = args.exec.as_deref().filter(|_| place.kernel.is_some()).map(shipped).transpose()?;
    let program = match &shipped {
        Some((name, _)) => Some(name.clone()),
        None => args.exec.as_ref().map(|path| path.display().to_string()),
    };
    if args.pid.is_some() && place.kernel.is_some() {
        let why = "--pid is a process of this host: a machine has none before its program starts";
        return Err(WrongUsage(why.to_owned()).into());
    }
    let request = request(Workload {
        process: args.pid,
        command: program.into_iter().chain(args.arguments.iter().cloned()).collect(),
        everywhere: args.everywhere,
        duration_ms: args.duration.map(milliseconds),
    })?;
    Ok(Order {
        instrument,
        request: serde_json::to_string(&request)?,
        duration: args.duration.unwrap_or(DURATION),
        others: Vec::new(),
        needs: shipped.map(|(_, need)| need).into_iter().collect(),
    })
}

/// What a program is called in a machine, and how that gets it.
fn shipped(path: &Path) -> Result<(String, Need<String>)> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // A word is looked for where programs are; a path begins here.
    let program = match path.components().count() {
        1 => path.display().to_string(),
        _ => format!("{OF_HOST}{}", std::path::absolute(path)?.display()),
    };
    Ok((name, Need::Tool(program)))
}
