//! What can be started: kernels that are here, and kiln's own suites.

use std::io;
use std::sync::mpsc::SyncSender;

use kernel::catalogue::{Catalogue, Entry};
use machine::catalogue;
use top::{Input, Offer, OfferedKernel, OfferedSuite};

use super::Told;

/// Looks for it beside everything else: the store may be large.
pub(super) fn read(sender: SyncSender<Told>) -> io::Result<()> {
    std::thread::Builder::new().name("kernels".to_owned()).spawn(move || {
        let kernels = Catalogue::here(&lab::backend::store()).into_iter().rev().map(kernel).collect();
        let _ = sender.send(Ok(Input::Offer(Offer { kernels, suites: suites() })));
    })?;
    Ok(())
}

fn kernel(entry: Entry) -> OfferedKernel {
    let Entry { locator, version, state, .. } = entry;
    OfferedKernel { locator, about: format!("{version}, {}", state.name()) }
}

fn suites() -> Vec<OfferedSuite> {
    let known = catalogue::cases();
    let suite = |name: &String| {
        let cases = known.suite(name).map_or(0, |cases| cases.len());
        OfferedSuite { name: name.clone(), cases }
    };
    known.suites.iter().map(suite).collect()
}
