//! What can be done to a running machine from outside, beside what it does by itself.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hardware::device::BALLOON;
use introspect::Task;
use serde_json::Value;

use super::{POWER_OFF_PATIENCE, Provocation, Vmm};

/// Why a clone has no balloon: `ram_block_discard_range()` of QEMU's softmmu/physmem.c.
const NO_BALLOON: &str = "what a balloon frees in a clone is lost to its template: give the machine a balloon from its start, \
                          and it boots";

impl Vmm {
    /// Executes a command of QEMU's monitor.
    ///
    /// # Errors
    ///
    /// QEMU's complaint, or why there is no such monitor, or why a clone cannot do it.
    pub fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        if self.is_clone && plugs_in_balloon(command, arguments) {
            return Err(NO_BALLOON.to_string());
        }
        self.driver.execute(command, arguments)
    }

    /// Stops all CPUs, or lets them go on.
    ///
    /// # Errors
    ///
    /// When the machine cannot be stopped.
    pub fn hold(&mut self, is_held: bool) -> Result<(), String> {
        if is_held { self.stop_cpus(None) } else { self.driver.hold(false) }
    }

    /// Injects a non-maskable interrupt.
    ///
    /// # Errors
    ///
    /// When the machine has none.
    pub fn interrupt(&mut self) -> Result<(), String> {
        let is_done = self.driver.provoke(Provocation::Nmi);
        is_done.then_some(()).ok_or_else(|| "the machine takes no NMI".to_string())
    }

    /// The state of its CPUs, in lines.
    #[must_use]
    pub fn registers(&mut self) -> Vec<String> {
        self.state()
    }

    /// The tasks of its kernel, read from its memory, for which it stands still.
    ///
    /// # Errors
    ///
    /// Why they are not known.
    pub fn tasks(&mut self) -> Result<Vec<Task>, String> {
        if !self.driver.shows_memory() {
            return self.driver.tasks(&self.process);
        }
        self.while_held(&AtomicBool::new(false), |machine| machine.driver.tasks(&machine.process))
    }

    /// What its tasks do, or why that is not known.
    pub(super) fn lines_of_tasks(&mut self) -> Vec<String> {
        let lines = match self.driver.shows_memory().then(|| self.tasks()) {
            Some(Ok(tasks)) => introspect::lines(&tasks),
            Some(Err(why)) => vec![format!("tasks: not known: {why}")],
            None => Vec::new(),
        };
        lines.iter().map(|line| console::printable(line.as_bytes())).collect()
    }

    /// Writes its memory into a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn dump(&mut self, path: &Path) -> Result<(), String> {
        self.driver.dump(path)
    }

    /// Ends it at once, as a power cut would, and waits until its program is gone.
    pub fn cut_power(mut self) {
        self.dumps = None;
        self.process.kill();
        let deadline = Instant::now() + POWER_OFF_PATIENCE;
        while self.wait_while_running(deadline) {
            self.queue.clear();
        }
    }
}

/// Whether a command of the monitor plugs in a balloon, also by the words of the human monitor.
fn plugs_in_balloon(command: &str, arguments: &Value) -> bool {
    ["device_add", "human-monitor-command"].contains(&command) && arguments.to_string().contains(BALLOON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_balloon_is_known_in_the_words_of_both_monitors() {
        let qmp = json!({ "driver": "virtio-balloon-pci-transitional", "id": "x" });
        assert!(plugs_in_balloon("device_add", &qmp));
        let human = json!({ "command-line": "device_add virtio-balloon-pci,id=x" });
        assert!(plugs_in_balloon("human-monitor-command", &human));
        assert!(!plugs_in_balloon("device_add", &json!({ "driver": "virtio-rng-pci" })));
        assert!(!plugs_in_balloon("device-list-properties", &json!({ "typename": "virtio-balloon-pci" })));
    }
}
