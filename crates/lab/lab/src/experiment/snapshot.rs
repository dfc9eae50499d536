//! A machine is put back to where it was.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hardware::Device;
use hardware::disk::Content;
use machine::{Spec, Vmm};

use super::disks::Disks;
use super::pump::hear;
use super::transcript::{History, Transcript};

/// Longest name of a snapshot.
const NAME_MAX: usize = 64;

/// The snapshots of a machine, by their names.
#[derive(Debug, Default)]
pub(super) struct Snapshots(Mutex<BTreeMap<String, Arc<Snapshot>>>);

/// What belongs to the state of a machine and is not in its program.
#[derive(Debug)]
pub(super) struct Snapshot {
    conversation: machine::Snapshot,
    disks: Disks,
    history: History,
}

/// What a machine is, beside its program.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) transcript: Arc<Transcript>,
    pub(super) disks: Arc<Disks>,
}

/// Why a state was not kept or not restored.
#[derive(Debug)]
pub(super) enum Failed {
    /// QEMU refuses.
    Refused(String),
    /// The host cannot do it.
    Host(String),
    /// The machine has ended.
    Ended,
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}

impl Failed {
    fn host(error: &std::io::Error) -> Self {
        Self::Host(error.to_string())
    }

    /// A machine that has ended refuses nothing.
    fn of(self, machine: &mut Vmm) -> Self {
        if machine.has_ended() { Self::Ended } else { self }
    }
}

impl Snapshots {
    pub(super) fn keep(&self, name: &str, snapshot: Snapshot) {
        self.lock().insert(name.to_string(), Arc::new(snapshot));
    }

    /// The one of this name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(super) fn get(&self, name: &str) -> Result<Arc<Snapshot>, String> {
        self.lock().get(name).cloned().ok_or_else(|| format!("the machine has no snapshot {name:?}"))
    }

    /// A machine that is started again is another program, which keeps none.
    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Snapshot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    /// Keeps the state of a machine under a name.
    pub(super) fn save(
        machine: &mut Vmm,
        (name, is_given_up): (&str, &AtomicBool),
        of: &Surroundings,
    ) -> Result<Self, Failed> {
        let saved = machine.while_held(is_given_up, |machine| {
            hear(machine, &of.transcript);
            let conversation = machine.save_snapshot(name, is_given_up)?;
            let disks = of.disks.copy().map_err(|error| Failed::host(&error))?;
            Ok(Self { conversation, disks, history: of.transcript.lock().history.clone() })
        });
        saved.map_err(|failed: Failed| failed.of(machine))
    }

    /// Puts the machine back into the state that is kept under a name. One that fails is neither here nor there.
    pub(super) fn load(
        &self,
        machine: &mut Vmm,
        (name, is_given_up): (&str, &AtomicBool),
        of: &Surroundings,
    ) -> Result<(), Failed> {
        let loaded = machine.while_held(is_given_up, |machine| {
            hear(machine, &of.transcript);
            machine.load_snapshot(name, &self.conversation, is_given_up)?;
            of.disks.put_back(&self.disks).map_err(|error| Failed::host(&error))?;
            of.transcript.put_back(&self.history);
            Ok(())
        });
        loaded.map_err(|failed: Failed| failed.of(machine))
    }
}

/// What of a machine is neither in its program nor on its empty disks.
pub(super) fn cannot_be_restored(spec: &Spec) -> Option<String> {
    if spec.disk_mib > 0 {
        return Some("the disk that the experiment needs cannot be put back: use disks =".to_string());
    }
    if let Some(why) = spec.hardware.unsaved() {
        return Some(why);
    }
    let lasts = |device: &&Device| match device {
        Device::Disk(disk) => {
            let is_written = !disk.readonly && !matches!(disk.content, Content::Empty(_));
            is_written || disk.faults.writes.is_some()
        }
        _ => false,
    };
    let found = spec.hardware.devices.iter().find(lasts)?;
    Some(format!(
        "{found} cannot be put back: only empty disks without a log can, and those that are not written to"
    ))
}

/// Whether a name can be that of a snapshot.
///
/// # Errors
///
/// Why not.
pub(super) fn check(name: &str) -> Result<(), String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_fine) {
        return Ok(());
    }
    Err(format!("{name:?} is no name of a snapshot: use up to {NAME_MAX} letters, digits, - and _"))
}
