//! From what a script writes to a machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hardware::nic::{Link, Mac};
use hardware::{Device, Disk, Hardware, Nic};
use machine::{Engine, Spec};
use protocol::Need;
use script::describe::MachineDescription;
use script::{ErrorName, Trouble};

use super::calling::Subject;
use super::guest::Parts;

use super::wire::{Plugs, Wire};
use crate::backend::{Backend, Waiting};
use crate::plan::{Plan, directory};
use crate::prepare::user_space;
use crate::request::MachineRequest;
use crate::userland;

/// What a machine is made with.
pub(super) struct Making<'a> {
    pub(super) backend: &'a dyn Backend,
    pub(super) waiting: Waiting<'a>,
    pub(super) subject: &'a Subject,
    /// What the user fixed about all machines.
    pub(super) machine: &'a MachineRequest,
    /// What the experiment needs, in each of its machines.
    pub(super) needs: &'a [Need<String>],
    /// The experiment's folder, and one for what is made of it.
    pub(super) folders: (&'a Path, &'a Path),
}

impl Making<'_> {
    /// A machine as a script describes it, with the number that it will have.
    pub(super) fn parts(
        mut self,
        wanted: &MachineDescription,
        number: u32,
        wires: &BTreeMap<u32, Arc<Wire>>,
    ) -> Result<Parts, Trouble> {
        let (nics, plugs) = self.interfaces(wanted, number, wires)?;
        let request = self.request(wanted, nics)?;
        let engine = request.engine(&self.subject.kernel).map_err(|error| missing(&error))?;
        let (spec, directory) = self.spec(&request, engine)?;
        Ok(Parts { spec, kernel: Arc::clone(&self.subject.kernel), directory, plugs })
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
            let compiled = compiled(&self.folders.0.join(&table.path), self.folders.1)?;
            devices.push(Device::Acpi(hardware::firmware::AcpiTable { table: compiled }));
        }
        let root = match &wanted.root {
            Some(text) => Some(
                text.parse()
                    .map_err(|error: root::Error| Trouble::new(ErrorName::Refused, error.to_string()))?,
            ),
            None => self.machine.root.clone(),
        };
        Ok(MachineRequest {
            memory_mib: wanted.memory.map(|bytes| bytes.div_ceil(1 << 20)).or(self.machine.memory_mib),
            cpus: wanted.cpus.or(self.machine.cpus),
            append: self.machine.append.iter().cloned().chain(wanted.append.clone()).collect(),
            hardware: Hardware::new(devices).map_err(refused)?,
            root,
            services: wanted.systemd.unwrap_or(self.machine.services),
            ..self.machine.clone()
        })
    }

    fn spec(&mut self, request: &MachineRequest, engine: Engine) -> Result<(Spec, String), Trouble> {
        let kernel = &self.subject.kernel;
        let fixed = request.fixed(engine, None).map_err(|error| missing(&error))?;
        let mut plan = Plan::nothing("experiment", fixed);
        let lacking = plan.give_devices(kernel, engine, &request.hardware).map_err(|error| broken(&error))?;
        lacking.map_or(Ok(()), |why| Err(Trouble::new(ErrorName::Missing, why)))?;
        let lacking = plan.give_needs(kernel, self.needs, fixed).map_err(|error| broken(&error))?;
        lacking.map_or(Ok(()), |why| Err(Trouble::new(ErrorName::Missing, why)))?;
        let root = user_space::of(request, self.backend, &mut self.waiting)
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
