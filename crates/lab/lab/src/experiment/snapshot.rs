//! A machine is put back to where it was.

use std::sync::{Arc, MutexGuard, PoisonError};

use hardware::Device;
use hardware::disk::Content;
use script::{Answer, ErrorName, Trouble};

use super::disks::Disks;
use super::guest::Guest;
use super::pump::hear;
use super::transcript::Commands;

/// Longest name of a snapshot.
const NAME_MAX: usize = 64;

/// What belongs to the state of a machine and is not in its program.
#[derive(Debug)]
pub(super) struct Snapshot {
    conversation: machine::Snapshot,
    disks: Disks,
    commands: Commands,
}

impl Guest {
    /// Keeps the state of the machine under a name.
    pub(super) fn save_snapshot(&self, name: &str) -> Result<Answer, Trouble> {
        check(name)?;
        if let Some(why) = self.cannot_be_restored() {
            return Err(refused(why));
        }
        let (name_in_machine, disks, transcript) =
            (name.to_string(), Arc::clone(&self.disks), Arc::clone(&self.transcript));
        let saved = self.work(move |machine| {
            machine.while_held(|machine| {
                hear(machine, &transcript);
                let conversation = machine.save_snapshot(&name_in_machine)?;
                let disks = disks.copy().map_err(|error| error.to_string())?;
                Ok(Snapshot { conversation, disks, commands: transcript.lock().commands.clone() })
            })
        })?;
        self.snapshots().insert(name.to_string(), Arc::new(saved.map_err(refused)?));
        Ok(Answer::Done)
    }

    /// Puts the machine back into the state that is kept under a name.
    pub(super) fn load_snapshot(&self, name: &str) -> Result<Answer, Trouble> {
        let found = self.snapshots().get(name).cloned();
        let snapshot = found.ok_or_else(|| refused(format!("the machine has no snapshot {name:?}")))?;
        let (name, disks, transcript) =
            (name.to_string(), Arc::clone(&self.disks), Arc::clone(&self.transcript));
        let restored = self.work(move |machine| {
            machine.while_held(|machine| {
                hear(machine, &transcript);
                disks.put_back(&snapshot.disks).map_err(|error| error.to_string())?;
                machine.load_snapshot(&name, &snapshot.conversation)?;
                transcript.put_back(&snapshot.commands);
                Ok(())
            })
        })?;
        restored.map(|()| Answer::Done).map_err(refused)
    }

    /// A machine that is started again is another program, which keeps none.
    pub(super) fn forget_snapshots(&self) {
        self.snapshots().clear();
    }

    fn snapshots(&self) -> MutexGuard<'_, std::collections::BTreeMap<String, Arc<Snapshot>>> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What of the machine is neither in its program nor on its empty disks.
    fn cannot_be_restored(&self) -> Option<String> {
        if self.spec.disk_mib > 0 {
            return Some("the disk that the experiment needs cannot be put back: use disks =".to_string());
        }
        let lasts = |device: &&Device| matches!(device, Device::Disk(disk) if !disk.readonly && !matches!(disk.content, Content::Empty(_)));
        let found = self.spec.hardware.devices.iter().find(lasts)?;
        Some(format!("{found} cannot be put back: only empty disks can, and those that are not written to"))
    }
}

fn check(name: &str) -> Result<(), Trouble> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_fine) {
        return Ok(());
    }
    Err(refused(format!("{name:?} is no name of a snapshot: use up to {NAME_MAX} letters, digits, - and _")))
}

fn refused(why: String) -> Trouble {
    Trouble::new(ErrorName::Refused, why)
}
