//! What goes into the initramfs besides the agent.

use kernel::Module;

use crate::error::Error;
use crate::initramfs::Archive;
use crate::program::Program;
use crate::{AGENT, program};

/// Modules and programs that the agent finds in its file system.
#[derive(Debug, Clone, Default)]
pub struct Payload {
    modules: Vec<Module>,
    programs: Vec<(Program, String)>,
    links: Vec<(String, String)>,
}

impl Payload {
    /// Ships a module.
    pub fn module(&mut self, module: Module) {
        if !self.modules.iter().any(|known| known.name == module.name) {
            self.modules.push(module);
        }
    }

    /// Ships a program as `place`, with the libraries it needs.
    pub fn program(&mut self, program: Program, place: &str) {
        self.programs.push((program, place.to_string()));
    }

    /// Makes a symbolic link.
    pub fn link(&mut self, place: &str, target: &str) {
        self.links.push((place.to_string(), target.to_string()));
    }

    /// Where the module called `name` is in the machine.
    #[must_use]
    pub fn module_path(name: &str) -> String {
        format!("/lib/modules/{name}.ko")
    }

    /// The initramfs.
    ///
    /// # Errors
    ///
    /// When a module or a program cannot be read.
    pub fn initramfs(&self) -> Result<Vec<u8>, Error> {
        let mut archive = Archive::default();
        archive.device("/dev/console", 5, 1);
        archive.file("/init", AGENT, 0o755);
        archive.link("/bin/kiln-report", "/init");
        for module in &self.modules {
            archive.file(&Self::module_path(&module.name), &module.read()?, 0o644);
        }
        for (program, place) in &self.programs {
            archive.file(place, &program.content, 0o755);
            for library in &program.libraries {
                archive.file(&library.display().to_string(), &program::read(library)?, 0o755);
            }
        }
        for (place, target) in &self.links {
            archive.link(place, target);
        }
        Ok(archive.finish())
    }
}
