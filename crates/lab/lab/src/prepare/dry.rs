//! What would be done, without doing it.

use std::path::PathBuf;
use std::slice::from_ref;

use machine::{Built, Spec};

use super::Prepared;
use crate::plan::Plan;
use crate::request::machine::describe;

/// What a run would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRun {
    /// Where the Kernel comes from, for people.
    pub provenance: String,
    /// Its image.
    pub image: PathBuf,
    /// One machine for each shape that cases need.
    pub machines: Vec<DryMachine>,
}

/// A machine that would boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryMachine {
    /// The machine, for people.
    pub machine: String,
    /// Bytes of its initramfs.
    pub initramfs: usize,
    /// Its cases, each with the reason if it would be skipped.
    pub cases: Vec<(String, Option<String>)>,
    /// The command that starts it.
    pub command_line: String,
}

impl Prepared {
    /// What [`Prepared::run`] would do.
    ///
    /// # Errors
    ///
    /// When the host or what the user asked for does not allow it.
    pub fn dry_run(&self) -> Result<DryRun, machine::Error> {
        let machines = self.plans.iter().zip(&self.specs).map(|(plan, spec)| self.dry_machine(plan, spec));
        Ok(DryRun {
            provenance: self.kernel.provenance.clone(),
            image: self.kernel.image.clone(),
            machines: machines.collect::<Result<_, _>>()?,
        })
    }

    fn dry_machine(&self, plan: &Plan, spec: &Spec) -> Result<DryMachine, machine::Error> {
        let built = Built::new(spec, &self.kernel)?;
        Ok(DryMachine {
            machine: describe(from_ref(spec)),
            initramfs: built.initramfs_size(),
            cases: plan.items.iter().map(|item| (item.name.clone(), item.skip.clone())).collect(),
            command_line: built.command_line(),
        })
    }
}
