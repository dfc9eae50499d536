//! Stops the CPUs of a machine, also while hazards are looked for in it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::plugin::Plugin;
use super::{Raw, Vmm};

/// Between two looks whether they have stopped.
const INTERVAL: Duration = Duration::from_millis(1);

impl Vmm {
    /// Stops all CPUs, one of which may have stopped where it has written to what is watched. One may stand still in the plugin until
    /// it has this answer.
    pub(super) fn stop_cpus(&mut self, answer: Option<u8>) -> Result<(), String> {
        self.hold_cpus(answer)?;
        self.sees_write();
        Ok(())
    }

    /// The same without a look at what was written.
    pub(super) fn hold_cpus(&mut self, answer: Option<u8>) -> Result<(), String> {
        let Self { hazards, driver, process, events, .. } = self;
        let Some(plugin) = &mut hazards.plugin else { return driver.hold(true) };
        let is_done = AtomicBool::new(false);
        let (held, others) = std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                answer.iter().for_each(|answer| plugin.tell_when_stopping(*answer, process.id));
                answer_all(plugin, events, &is_done)
            });
            let held = driver.hold(true);
            is_done.store(true, Ordering::Relaxed);
            (held, answering.join().unwrap_or_default())
        });
        others.into_iter().for_each(|raw| self.take(raw));
        held
    }
}

/// Lets CPUs go on that have passed a loop too often, until all have stopped: QEMU waits for those that stand still in the plugin. Gives
/// what else has come meanwhile.
fn answer_all(plugin: &mut Plugin, events: &mut Receiver<Raw>, is_done: &AtomicBool) -> Vec<Raw> {
    let mut others = Vec::new();
    while !is_done.load(Ordering::Relaxed) {
        plugin.answer();
        match events.recv_timeout(INTERVAL) {
            Ok(Raw::Hazard(bytes)) => plugin.feed(&bytes),
            Ok(raw) => others.push(raw),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    others
}
