//! From what a script writes to a machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hardware::nic::{Link, Mac};
use hardware::{Device, Disk, Hardware, Nic};
use machine::Spec;
use script::describe::MachineDescription;
use script::{ErrorName, Trouble};

use super::guest::Parts;
use super::hazards;
use super::setting::{Setting, Subject};
use super::wire::{Plugs, Wire};
use crate::backend::Waiting;
use crate::plan::{Plan, directory};
use crate::prepare::user_space;
use crate::request::MachineRequest;
use crate::userland;

/// What a machine is made with.
pub(super) struct Making<'a> {
    pub(super) setting: &'a Setting<'a>,
    pub(super) subject: &'a Subject,
    /// Where goes what is made of the experiment's files.
    pub(super) folder: &'a Path,
}

impl Making<'_> {
    /// A machine as a script describes it, with the number that it will have.
    pub(super) fn parts(
        &self,
        wanted: &MachineDescription,
        number: u32,
        wires: &BTreeMap<u32, Arc<Wire>>,
    ) -> Result<Parts, Trouble> {
        let (nics, plugs) = self.interfaces(wanted, number, wires)?;
        let request = self.request(wanted, nics)?;
        let (spec, directory) = self.spec(&request)?;
        Ok(Parts { request, spec, kernel: Arc::clone(&self.subject.kernel), directory, plugs })
    }

    fn interfaces(
        &self,
        wanted: &MachineDescription,
        number: u32,
        wires: &BTreeMap<u32, Arc<Wire>>,
    ) -> Result<(Vec<Device>, Plugs), Trouble> {
        let (mut devices, mut plugs) = (Vec::new(), Plugs::default());
        for (place, nic) in wanted.nics.iter().enumerate() {
            let wire = wires.get(&nic.segment);
            let wire =
                wire.ok_or_else(|| Trouble::new(ErrorName::Missing, "the segment of an interface is gone"))?;
            let (station, mut interface) = wire.station(number, nic.address.as_deref())?;
            // Clones of one template begin with the same addresses, and get their own when they wake.
            let mac = Mac::of_number(place);
            interface.found_by = mac.0;
            plugs.add(station.clone(), Arc::clone(wire), interface);
            devices.push(Device::Nic(Nic { mac: Some(mac), link: Link::Segment(station), ..Nic::default() }));
        }
        Ok((devices, plugs))
    }

    fn request(&self, wanted: &MachineDescription, nics: Vec<Device>) -> Result<MachineRequest, Trouble> {
        let fixed = &self.setting.machine;
        let refused = |error: hardware::Error| Trouble::new(ErrorName::Refused, error.to_string());
        let mut devices = Vec::new();
        for disk in &wanted.disks {
            devices.push(Device::Disk(Disk::read(disk).map_err(refused)?));
        }
        devices.extend(nics);
        for device in &wanted.devices {
            devices.push(device.parse().map_err(refused)?);
        }
        for table in &wanted.acpi {
            let compiled = compiled(&self.setting.folder.path().join(&table.path), self.folder)?;
            devices.push(Device::Acpi(hardware::firmware::AcpiTable { table: compiled }));
        }
        let root = match &wanted.root {
            Some(text) => Some(
                text.parse()
                    .map_err(|error: root::Error| Trouble::new(ErrorName::Refused, error.to_string()))?,
            ),
            None => fixed.root.clone(),
        };
        Ok(MachineRequest {
            memory_mib: wanted.memory.map(|bytes| bytes.div_ceil(1 << 20)).or(fixed.memory_mib),
            cpus: wanted.cpus.or(fixed.cpus),
            append: fixed.append.iter().cloned().chain(wanted.append.clone()).collect(),
            hardware: Hardware::new(devices).map_err(refused)?,
            root,
            hazards: hazards::conditions(&wanted.hazards)?,
            services: wanted.systemd.unwrap_or(fixed.services),
            ..fixed.clone()
        })
    }

    /// The machine that is asked for, and where programs begin in it.
    pub(super) fn spec(&self, request: &MachineRequest) -> Result<(Spec, String), Trouble> {
        let kernel = &self.subject.kernel;
        let engine = request.engine(kernel).map_err(|error| missing(&error))?;
        let fixed = request.fixed(engine, None).map_err(|error| missing(&error))?;
        let mut plan = Plan::nothing("experiment", fixed);
        let lacking = plan.give_devices(kernel, engine, &request.hardware).map_err(|error| broken(&error))?;
        lacking.map_or(Ok(()), |why| Err(Trouble::new(ErrorName::Missing, why)))?;
        let lacking = plan.give_needs(kernel, &self.setting.needs, fixed).map_err(|error| broken(&error))?;
        lacking.map_or(Ok(()), |why| Err(Trouble::new(ErrorName::Missing, why)))?;
        let mut waiting = Waiting { interrupt: self.setting.interrupt, progress: &mut |_| {} };
        let root = user_space::of(request, self.setting.backend, &mut waiting)
            .map_err(|error| Trouble::new(ErrorName::Missing, error.to_string()))?;
        let mut begin = String::new();
        match &root {
            Some(root) => {
                let lacking = plan.give_root(kernel, engine, root).map_err(|error| broken(&error))?;
                lacking.map_or(Ok(()), |why| Err(Trouble::new(ErrorName::Missing, why)))?;
                begin = directory(root);
            }
            None => drop(userland::ship(&mut plan.payload).map_err(|error| broken(&error))?),
        }
        Ok((request.spec(&plan, engine), begin))
    }
}

fn missing(error: &machine::Error) -> Trouble {
    Trouble::new(ErrorName::Missing, error.to_string())
}

fn broken(error: &machine::Error) -> Trouble {
    Trouble::broken(judge::Blame::Host, error.to_string())
}

/// An ACPI table out of its source: iasl(1).
fn compiled(source: &Path, folder: &Path) -> Result<PathBuf, Trouble> {
    let name = source.file_stem().unwrap_or_default();
    let target = folder.join(name).with_extension("aml");
    let output = Command::new(IASL).arg("-p").arg(&target).arg(source).output();
    let output = output.map_err(|error| {
        Trouble::new(ErrorName::Missing, format!("{IASL}: {error}: apt-get install acpica-tools"))
    })?;
    if output.status.success() {
        return Ok(target);
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error =
        said.lines().find(|line| line.contains("Error")).unwrap_or("it does not compile").trim().to_string();
    Err(Trouble::new(ErrorName::Refused, format!("{}: {error}", source.display())))
}

/// Compiles ACPI tables; Debian's package is `acpica-tools`.
const IASL: &str = "iasl";
