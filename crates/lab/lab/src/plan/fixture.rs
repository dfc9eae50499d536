//! A Kernel for tests of plans.

use kernel::{Arch, Config, Kernel, Modules};

/// A lone image with its configuration.
pub(crate) fn kernel() -> Kernel {
    Kernel {
        locator: "bzImage".into(),
        image: "bzImage".into(),
        image_hash: String::new(),
        release: None,
        version_text: None,
        arch: Arch::X86_64,
        modules: Modules::unknown(),
        config: Some(Config::parse("CONFIG_XFS_FS=m\n")),
        system_map: None,
        provenance: String::new(),
        warnings: None,
        commit: None,
        lease: None,
    }
}
