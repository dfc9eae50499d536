//! What pages of the dashboard take at 100,000 Runs.
//!
//! * [`paint`]: how soon a browser shows them; [`watched`]: what a session pays for being watched
//! * [`server`]: the server

mod paint;
mod server;
mod watched;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use crate::ledger::Place;
use crate::promise::Promise;
use crate::race::{Racer, race, table};
use server::Server;

/// Seconds that a page may take, and its bytes over the wire.
const SECONDS: f64 = 0.3;
const BYTES: f64 = 200_000.0;

/// The pages, as a browser asks for them: what they show, and where.
const PAGES: [(&str, &str); 7] = [
    ("the overview", "/?"),
    ("the newest 1,000 Runs", "/runs?"),
    ("what failed on a kernel", "/runs?kernel=6.1.0-7-amd64&outcome=fail&"),
    ("a matrix of 20 kernels", "/matrix?suite=full&"),
    ("a kernel", "/kernel?kernel=6.1.0-7-amd64&"),
    ("a case over time", "/case?suite=full&case=area/case-7&"),
    ("the problems", "/problems?"),
];

/// Times, sizes and promises, in so many rounds.
pub(crate) fn measure(locator: &str, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = Place::filled(locator)?;
    let server = Server::start(place.folder())?;
    let largest = Mutex::new([0_usize; PAGES.len()]);
    // No page is the same as one that was made just now.
    let number = AtomicUsize::new(0);
    let ask = |at: usize, address: &str| -> Result<()> {
        let page = server.get(address, number.fetch_add(1, Ordering::Relaxed))?;
        let mut largest = largest.lock().map_err(|_| anyhow::anyhow!("a page was lost"))?;
        largest[at] = largest[at].max(page.len());
        Ok(())
    };
    let mut racers: Vec<Racer<'_>> = PAGES
        .iter()
        .enumerate()
        .map(|(at, &(name, address))| Racer::new(name, move || ask(at, address)))
        .collect();
    race(&mut racers, rounds)?;
    let mut promises: Vec<Promise> = racers.iter().map(|racer| Promise::seconds(racer, SECONDS)).collect();
    let sizes = *largest.lock().map_err(|_| anyhow::anyhow!("a page was lost"))?;
    promises.extend(PAGES.iter().zip(sizes).map(|((name, _), size)| {
        Promise::plain(&format!("{name}: bytes over the wire"), size as f64, Some(BYTES))
    }));
    promises.extend(paint::measure(&server, &PAGES)?);
    promises.extend(watched::measure(&server, &place, locator)?);
    Ok((table(&racers), promises))
}
