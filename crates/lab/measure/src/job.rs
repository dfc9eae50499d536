//! What is measured.

use protocol::Work;

use crate::NotMeasured;

/// One thing that is measured.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// What it is, one line.
    pub about: String,
    /// What the instrument is asked.
    pub work: Work,
    /// Why it cannot be measured, as far as that is known before the boot.
    pub skip: Option<NotMeasured>,
}
