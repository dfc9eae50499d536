//! The root of a plan's machine, in which its programs run.

use std::path::Path;
use std::sync::Arc;

use kernel::{Kernel, Presence};
use machine::Engine;
use protocol::Work;
use protocol::root::SHARED;
use root::{Files, Root};

use super::Plan;

/// Where programs begin: in kiln's own directory if the root shows it, else in the usual one.
pub(crate) fn directory(root: &Root) -> String {
    let here = || std::env::current_dir().ok()?.into_os_string().into_string().ok();
    let is_hidden = |path: &String| SHARED.iter().any(|place| Path::new(path).starts_with(place));
    match root.files {
        Files::Image(_) => String::new(),
        Files::Host(_) => here().filter(|path| !is_hidden(path)).unwrap_or_default(),
    }
}

impl Plan {
    /// Gives the machine a root, in which programs run; or says what the kernel lacks for it, and skips them.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn give_root(
        &mut self,
        kernel: &Kernel,
        engine: Engine,
        root: &Arc<Root>,
    ) -> Result<Option<String>, machine::Error> {
        let names = machine::root::modules(root, engine);
        let presence = |name: &&str| kernel.modules.presence(name);
        if let Some(name) = names.iter().find(|name| presence(name) == Presence::Absent) {
            let why = format!("the kernel has no module {name}, which --root {} needs", root.locator);
            let programs = self.items.iter_mut().filter(|item| matches!(item.work, Work::Program(_)));
            programs.for_each(|item| item.skip = item.skip.take().or_else(|| Some(why.clone())));
            return Ok(Some(why));
        }
        let loadable: Vec<&str> =
            names.into_iter().filter(|name| presence(name) == Presence::Loadable).collect();
        let modules = kernel.modules.closure(&loadable)?;
        // The agent waits for all disks, also that of the root, before it mounts it.
        self.payload.load_at_boot(modules.clone());
        self.payload.root(machine::root::mount(root, engine), modules);
        self.root = Some(Arc::clone(root));
        Ok(None)
    }

    /// Has the user's own program begin in this directory.
    pub fn begin_in(&mut self, directory: &str) {
        for item in &mut self.items {
            if let Work::Program(command) = &mut item.work {
                command.directory = directory.to_string();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Fixed, fixture};
    use crate::user_program::UserProgram;
    use machine::Accel;
    use root::{Filesystem, Image, Medium};

    fn root() -> Arc<Root> {
        Arc::new(Root {
            locator: "debian".into(),
            provenance: "Debian".into(),
            identity: "1".into(),
            files: Files::Image(Image {
                path: "/image".into(),
                filesystem: Filesystem::Erofs,
                size: 2 << 20,
                medium: Medium::Disk,
                lease: None,
            }),
        })
    }

    #[test]
    fn a_program_comes_alone_and_finds_the_rest_in_the_root() {
        let user = UserProgram { path: Path::new("/bin/sh"), arguments: &[], needs: &[] };
        let fixed = Fixed { has_root: true, ..Fixed::default() };
        let mut plan = Plan::for_program(&fixture::kernel(), user, fixed).unwrap();
        let own = std::fs::metadata("/bin/sh").unwrap().len();
        assert_eq!(plan.payload.size(), own);
        plan.give_root(&fixture::kernel(), Engine::Qemu(Accel::Tcg), &root()).unwrap();
        assert!(plan.root.is_some() && plan.items[0].skip.is_none());
    }
}
