//! What can be done to a running machine from outside, beside what it does by itself.

use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::{POWER_OFF_PATIENCE, Provocation, Vmm};

impl Vmm {
    /// Executes a command of QEMU's monitor.
    ///
    /// # Errors
    ///
    /// QEMU's complaint, or why there is no such monitor.
    pub fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        self.driver.execute(command, arguments)
    }

    /// Stops all CPUs, or lets them go on.
    ///
    /// # Errors
    ///
    /// When the machine cannot be stopped.
    pub fn hold(&mut self, is_held: bool) -> Result<(), String> {
        self.driver.hold(is_held)
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
