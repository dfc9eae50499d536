//! A machine is put back to where it was.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::Console;
use protocol::{Decoder, Encoder};

use super::start::control_port;
use super::{Raw, Vmm, readers};

/// What a machine has written and nobody has read yet is there after this time.
const ON_THE_WAY: Duration = Duration::from_millis(100);

/// The end of a program whose monitor has closed is there after this time.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How far a machine was with the agent's conversation, and with its console, when its state was kept.
#[derive(Debug, Clone)]
pub struct Snapshot {
    console: Console,
    encoder: Encoder,
    decoder: Decoder,
}

impl Vmm {
    /// Keeps the state of a machine that is held, under a name; one of the same name is replaced.
    ///
    /// # Errors
    ///
    /// Why it cannot be kept: some devices have a state that QEMU does not write. It may also be given up.
    pub fn save_snapshot(&mut self, name: &str, is_given_up: &AtomicBool) -> Result<Snapshot, String> {
        self.driver.save_snapshot(name, is_given_up)?;
        let (console, decoder) = (self.console.clone(), self.decoder.clone());
        Ok(Snapshot { console, encoder: self.encoder, decoder })
    }

    /// Puts a machine that is held back into the state that is kept under a name.
    ///
    /// # Errors
    ///
    /// Why it cannot be restored, or that this is given up.
    pub fn load_snapshot(
        &mut self,
        name: &str,
        snapshot: &Snapshot,
        is_given_up: &AtomicBool,
    ) -> Result<(), String> {
        // What the guest has not read of its port would reach it now, and it would do what it was asked in a time that has
        // never been.
        let (control, its) = control_port().map_err(|error| error.to_string())?;
        let copy = control.try_clone().map_err(|error| error.to_string())?;
        self.driver.load_snapshot(name, its.as_fd(), is_given_up)?;
        self.control = control;
        self.open += 1;
        readers::read_port(copy, self.sender.clone(), Raw::Control);
        if self.is_clone {
            // It has a copy of its own of each page that was restored, and the file shows through no more.
            self.window = None;
        }
        (self.console, self.encoder) = (snapshot.console.clone(), snapshot.encoder);
        self.decoder = snapshot.decoder.clone();
        Ok(())
    }

    /// Does something while no CPU runs; all that the machine has written is among its events. One that was held stays so, and
    /// one that is given up, whose monitor may not answer.
    ///
    /// # Errors
    ///
    /// When it cannot be held, or the error of `work`.
    pub fn while_held<T, E: From<String>>(
        &mut self,
        is_given_up: &AtomicBool,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let was_held = self.driver.is_held();
        self.stop_cpus(None)?;
        while self.wait_while_running(Instant::now() + ON_THE_WAY) {}
        let done = work(self);
        if !was_held && !is_given_up.load(Ordering::Relaxed) {
            self.driver.hold(false)?;
        }
        done
    }

    /// Whether the program of the machine has ended, after something that it did not do.
    pub fn has_ended(&mut self) -> bool {
        let deadline = Instant::now() + LAST_WORDS;
        while self.wait_while_running(deadline) {}
        self.exit.is_some()
    }
}
