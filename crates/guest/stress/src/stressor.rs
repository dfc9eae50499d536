//! What a stressor is.

use harness::check::Checked;
use protocol::stress::catalogue;

pub use protocol::Need;
pub use protocol::stress::Class;

use crate::Worker;
pub use crate::setting::{Figure, Setting, choice, flag, number, size};

/// Something that loads a part of the kernel or of the machine, and verifies what it did there.
#[derive(Debug, Clone, Copy)]
pub struct Stressor {
    /// By which it is asked for.
    pub name: &'static str,
    /// What it belongs to, the main one first.
    pub classes: &'static [Class],
    /// What it exercises, in one line.
    pub about: &'static str,
    /// What one bogo operation is, in one line.
    pub operation: &'static str,
    /// What it verifies, in one line.
    pub verifies: &'static str,
    /// What can be set.
    pub options: &'static [Setting],
    /// Figures of its own that it reports.
    pub rates: &'static [Figure],
    /// Without these it is skipped.
    pub needs: &'static [Need],
    /// Works in a process and an empty directory of its own until the worker is to stop.
    pub body: fn(&Worker) -> Checked,
}

impl Stressor {
    /// What is left out of a stressor: it has no options, no figures and no needs.
    pub const PLAIN: Self = Self {
        name: "",
        classes: &[],
        about: "",
        operation: "",
        verifies: "",
        options: &[],
        rates: &[],
        needs: &[],
        body: |_| Ok(()),
    };

    /// The same for the host.
    #[must_use]
    pub fn described(&self) -> catalogue::Stressor {
        catalogue::Stressor {
            name: self.name.to_string(),
            classes: self.classes.to_vec(),
            about: self.about.to_string(),
            operation: self.operation.to_string(),
            verifies: self.verifies.to_string(),
            options: self.options.iter().map(Setting::described).collect(),
            rates: self.rates.iter().map(Figure::described).collect(),
            needs: self.needs.iter().map(Need::owned).collect(),
        }
    }
}
