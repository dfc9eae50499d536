//! The root of a plan's machine, in which its programs run.

use std::sync::Arc;

use kernel::{Kernel, Presence};
use protocol::Work;
use root::Root;

use super::Plan;
use super::needs::DISK_MODULES;

/// What puts memory over the image.
const OVERLAY: &str = "overlay";

impl Plan {
    /// Gives the machine a root, in which programs run; or says what the kernel lacks for it, and skips them.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn give_root(&mut self, kernel: &Kernel, root: &Arc<Root>) -> Result<Option<String>, machine::Error> {
        let filesystem = root.filesystem.name();
        let names = [DISK_MODULES, &[filesystem, OVERLAY]].concat();
        let presence = |name: &&str| kernel.modules.presence(name);
        if let Some(name) = names.iter().find(|name| presence(name) == Presence::Absent) {
            let why = format!("the kernel has no module {name}, which a root needs");
            let programs = self.items.iter_mut().filter(|item| matches!(item.work, Work::Program(_)));
            programs.for_each(|item| item.skip = item.skip.take().or_else(|| Some(why.clone())));
            return Ok(Some(why));
        }
        let loadable: Vec<&str> =
            names.into_iter().filter(|name| presence(name) == Presence::Loadable).collect();
        let modules = kernel.modules.closure(&loadable)?;
        self.payload.root(filesystem, root.filesystem.options(), modules);
        self.root = Some(Arc::clone(root));
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Fixed, fixture};
    use crate::user_program::UserProgram;
    use root::Filesystem;
    use std::path::Path;

    fn root() -> Arc<Root> {
        Arc::new(Root {
            locator: "debian".into(),
            provenance: "Debian".into(),
            identity: "1".into(),
            image: "/image".into(),
            filesystem: Filesystem::Erofs,
            lease: None,
        })
    }

    #[test]
    fn a_program_comes_alone_and_finds_the_rest_in_the_root() {
        let user = UserProgram { path: Path::new("/bin/sh"), arguments: &[], needs: &[] };
        let fixed = Fixed { has_root: true, ..Fixed::default() };
        let mut plan = Plan::for_program(&fixture::kernel(), user, fixed).unwrap();
        let own = std::fs::metadata("/bin/sh").unwrap().len();
        assert_eq!(plan.payload.size(), own);
        plan.give_root(&fixture::kernel(), &root()).unwrap();
        assert!(plan.root.is_some() && plan.items[0].skip.is_none());
    }
}
