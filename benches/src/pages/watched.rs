//! What a session pays for being watched. Times of two sessions differ by more than that, so it is the CPU time of the
//! server beside what the host has.

use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use browser::{Browser, Error};

use super::server::Server;
use crate::kiln::{PROGRAM, run};
use crate::ledger::Place;
use crate::promise::Promise;

/// Percent of the CPU time of the host that a server may take while a session runs.
const PERCENT: f64 = 1.0;

/// What the server takes by itself, and with a browser that shows the overview all the time.
pub(super) fn measure(server: &Server, place: &Place, locator: &str) -> Result<Vec<Promise>> {
    let alone = share(server, place, locator)?;
    let mut promises =
        vec![Promise::plain("a session that a server watches: % of CPU", alone, Some(PERCENT))];
    match Browser::start() {
        // The round before has said so.
        Err(Error::Missing { .. }) => {}
        browser => {
            let browser = browser?;
            let tab = browser.tab()?;
            tab.open(&server.address("/"))?;
            let shown = share(server, place, locator)?;
            promises.push(Promise::plain("the same, with the overview in a browser: % of CPU", shown, None));
        }
    }
    Ok(promises)
}

/// Percent of all CPUs that the server takes while the smoke suite runs.
fn share(server: &Server, place: &Place, locator: &str) -> Result<f64> {
    let cpus = std::thread::available_parallelism()?.get();
    let (before, begin) = (server.cpu_seconds()?, Instant::now());
    run(Command::new(PROGRAM).args(["run", locator, "--results"]).arg(place.folder()))?;
    let (took, elapsed) = (server.cpu_seconds()? - before, begin.elapsed().as_secs_f64());
    Ok(100.0 * took / (elapsed * cpus as f64))
}
