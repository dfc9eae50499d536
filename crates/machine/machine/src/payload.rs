//! What a machine has besides the agent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use kernel::Module;
use protocol::RootMount;
use protocol::devices::{self, Devices};
use protocol::measure::{INSTRUMENT, MODULES};
use protocol::root::{DESCRIPTION, LAYER};
use protocol::waiting::CASE_COMMAND;

use crate::error::Error;
use crate::folder::{Entry, Folder};
use crate::initramfs::Archive;
use crate::program::Program;
use crate::{AGENT, MICRO, program};

/// The part of what a machine has that all cases get which get anything of it.
pub(crate) const COMMON: &str = "";

/// Modules and programs that the agent finds in its file system.
#[derive(Debug, Clone, Default)]
pub struct Payload {
    modules: Vec<Module>,
    tools: Vec<(Program, String)>,
    programs: Vec<(Program, String)>,
    folders: Vec<(Folder, String)>,
    libraries: BTreeSet<PathBuf>,
    files: Vec<(String, Vec<u8>)>,
    agent_files: Vec<(String, Vec<u8>)>,
    links: Vec<(String, String)>,
    root: Option<(RootMount, Vec<Module>)>,
    boot_modules: Vec<Module>,
    disks: u32,
    /// What the instrument of a machine that measures loads first, one path in a line.
    instrument: Option<String>,
}

/// What of a payload a case needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// All but modules and tools.
    pub common: bool,
    /// Modules and tools, by their places in the machine.
    pub parts: BTreeSet<String>,
}

impl Wanted {
    /// Whether it is nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.common && self.parts.is_empty()
    }
}

impl Payload {
    /// Ships a module.
    pub fn module(&mut self, module: Module) {
        if !self.modules.iter().any(|known| known.name == module.name) {
            self.modules.push(module);
        }
    }

    /// Ships a program that only some cases need as `place`, with the libraries it needs.
    pub fn tool(&mut self, program: Program, place: &str) {
        self.tools.push((program, place.to_string()));
    }

    /// Whether a program that only some cases need is shipped as `place`.
    #[must_use]
    pub fn has_tool(&self, place: &str) -> bool {
        self.tools.iter().any(|(_, other)| other == place)
    }

    /// Ships a program as `place`, with the libraries it needs.
    pub fn program(&mut self, program: Program, place: &str) {
        self.programs.push((program, place.to_string()));
    }

    /// The program that is shipped as `place`.
    #[must_use]
    pub fn program_at(&self, place: &str) -> Option<&Program> {
        self.programs.iter().find(|(_, other)| other == place).map(|(program, _)| program)
    }

    /// Ships a folder as `place`.
    pub fn folder(&mut self, folder: Folder, place: &str) {
        self.folders.push((folder, place.to_string()));
    }

    /// Ships a file of the host under its own path, links to it included.
    pub fn library(&mut self, path: PathBuf) {
        self.libraries.insert(path);
    }

    /// Makes a file with this content.
    pub fn file(&mut self, place: &str, content: impl Into<Vec<u8>>) {
        self.files.push((place.to_string(), content.into()));
    }

    /// Makes a file with this content for the agent, which does not look into a root.
    pub fn agent_file(&mut self, place: &str, content: impl Into<Vec<u8>>) {
        self.agent_files.push((place.to_string(), content.into()));
    }

    /// Makes a symbolic link; whatever else is shipped as `place` is kept instead.
    pub fn link(&mut self, place: &str, target: &str) {
        self.links.push((place.to_string(), target.to_string()));
    }

    /// Has the agent mount a root, in which programs run, after it has loaded these modules. All but modules is then
    /// shipped into that root.
    pub fn root(&mut self, mount: RootMount, modules: Vec<Module>) {
        let paths = modules.iter().map(|module| Self::module_path(&module.name)).collect();
        self.root = Some((RootMount { modules: paths, ..mount }, modules));
    }

    /// Has the agent start the services of the root, within this time.
    pub fn services(&mut self, limit: Duration) {
        if let Some((mount, _)) = &mut self.root {
            mount.services_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        }
    }

    /// Has the agent load modules before anything else, such as those that drive the machine's devices: each after those that
    /// it needs.
    pub fn load_at_boot(&mut self, modules: Vec<Module>) {
        for module in modules {
            if !self.boot_modules.iter().any(|known| known.name == module.name) {
                self.boot_modules.push(module);
            }
        }
    }

    /// Has the agent wait for so many disks.
    pub fn disks(&mut self, count: u32) {
        self.disks = count;
    }

    /// Ships the instrument of a machine that measures; it loads these modules first, by their paths in this order.
    pub fn instrument(&mut self, modules: &[String]) {
        self.instrument = Some(modules.join("\n"));
    }

    /// Where the module called `name` is in the machine.
    #[must_use]
    pub fn module_path(name: &str) -> String {
        format!("/lib/modules/{name}.ko")
    }

    /// About how many bytes of user space there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        let of_host = |path: &PathBuf| path.metadata().map_or(0, |found| found.len());
        let of_program = |program: &Program| {
            program.content.len() as u64 + program.libraries.iter().map(of_host).sum::<u64>()
        };
        let programs = self.programs.iter().chain(&self.tools);
        let programs: u64 = programs.map(|(program, _)| of_program(program)).sum();
        let folders: u64 = self.folders.iter().map(|(folder, _)| folder.size()).sum();
        let instrument = self.instrument.as_ref().map_or(0, |_| MICRO.len() as u64);
        programs + folders + instrument + self.libraries.iter().map(of_host).sum::<u64>()
    }

    /// Whether there is nothing besides the agent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
            && self.tools.is_empty()
            && self.programs.is_empty()
            && self.folders.is_empty()
            && self.libraries.is_empty()
            && self.files.is_empty()
            && self.agent_files.is_empty()
            && self.links.is_empty()
            && self.instrument.is_none()
    }

    /// The initramfs with the agent and all of this.
    ///
    /// # Errors
    ///
    /// When a module, a program or a file cannot be read.
    pub fn initramfs(&self) -> Result<Vec<u8>, Error> {
        Ok(self.boot()?.finish_with(&self.files()?))
    }

    /// What every machine boots from: the agent, and what it mounts a root with.
    ///
    /// # Errors
    ///
    /// When a module cannot be read.
    pub fn boot(&self) -> Result<Archive, Error> {
        let mut archive = agent();
        let of_root = self.root.iter().flat_map(|(_, modules)| modules);
        let mut shipped = BTreeSet::new();
        for module in self.boot_modules.iter().chain(of_root) {
            if shipped.insert(&module.name) {
                archive.file(&Self::module_path(&module.name), module.read()?, 0o644);
            }
        }
        if !self.boot_modules.is_empty() || self.disks > 0 {
            archive.file(devices::DESCRIPTION, encoded(self.devices_description().encode())?, 0o600);
        }
        let Some((mount, _)) = &self.root else { return Ok(archive) };
        archive.file(DESCRIPTION, encoded(mount.encode())?, 0o600);
        Ok(archive)
    }

    fn devices_description(&self) -> Devices {
        let modules = self.boot_modules.iter().map(|module| Self::module_path(&module.name));
        Devices { modules: modules.collect(), disks: self.disks }
    }

    fn with_libraries(&self, program: &Program, place: &str, archive: &mut Archive) -> Result<(), Error> {
        archive.file(&self.place(place), program.content.clone(), 0o755);
        for library in &program.libraries {
            archive.file(&self.place(&library.display().to_string()), program::read(library)?, 0o755);
        }
        Ok(())
    }

    /// Where the agent finds what is for this place.
    fn place(&self, path: &str) -> String {
        if self.root.is_some() { format!("{LAYER}{path}") } else { path.to_string() }
    }

    /// All of this as files, without the agent: each module and tool is a part, and so is the rest.
    ///
    /// # Errors
    ///
    /// When a module, a program or a file cannot be read.
    pub fn files(&self) -> Result<Archive, Error> {
        let mut archive = Archive::default();
        for module in &self.modules {
            let place = Self::module_path(&module.name);
            archive.file(&place, module.read()?, 0o644);
            archive.close_part(&place);
        }
        for (program, place) in &self.tools {
            self.with_libraries(program, place, &mut archive)?;
            archive.close_part(place);
        }
        for (program, place) in &self.programs {
            self.with_libraries(program, place, &mut archive)?;
        }
        for (folder, place) in &self.folders {
            ship(folder, &self.place(place), &mut archive)?;
        }
        for library in &self.libraries {
            archive.file(&self.place(&library.display().to_string()), program::read(library)?, 0o755);
        }
        for (place, content) in &self.files {
            archive.file(&self.place(place), content.clone(), 0o644);
        }
        for (place, content) in &self.agent_files {
            archive.file(place, content.clone(), 0o644);
        }
        if let Some(modules) = &self.instrument {
            archive.file(INSTRUMENT, MICRO, 0o755);
            archive.file(MODULES, modules.clone(), 0o644);
        }
        for (place, target) in &self.links {
            archive.link(&self.place(place), target);
        }
        archive.close_part(COMMON);
        Ok(archive)
    }
}

/// A description for the agent.
fn encoded<E: std::error::Error + Send + Sync + 'static>(
    description: Result<Vec<u8>, E>,
) -> Result<Vec<u8>, Error> {
    description.map_err(|error| Error::host("a description for the agent", std::io::Error::other(error)))
}

/// The agent, under its names.
fn agent() -> Archive {
    let mut archive = Archive::default();
    archive.device("/dev/console", 5, 1);
    archive.file("/init", AGENT, 0o755);
    // Modules come into machines that began without one, too.
    archive.directory("/lib/modules");
    archive.link("/bin/kiln-report", "/init");
    archive.link("/bin/kiln-checkpoint", "/init");
    archive.link(CASE_COMMAND, "/init");
    archive
}

fn ship(folder: &Folder, place: &str, archive: &mut Archive) -> Result<(), Error> {
    archive.directory(place);
    for (path, entry) in folder.entries() {
        let name = format!("{place}/{path}");
        match entry {
            Entry::Directory => archive.directory(&name),
            Entry::File { permissions, .. } => archive.file(&name, folder.read(path)?, *permissions),
            Entry::Link(target) => archive.link(&name, target),
        }
    }
    Ok(())
}
