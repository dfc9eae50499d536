//! How a machine has a root: as a disk, as memory, or as directories of this host.

use protocol::RootMount;
use protocol::root::{Mount, Source};
use root::{Files, Medium, Root};

use crate::engine::Engine;

/// Modules behind a disk of QEMU's.
pub const DISK_MODULES: [&str; 2] = ["virtio_pci", "virtio_blk"];

/// Modules behind an image that is memory of QEMU's, and where the kernel has it then.
const MEMORY_MODULES: [&str; 3] = ["virtio_pci", "virtio_pmem", "nd_pmem"];
const MEMORY: &str = "/dev/pmem0";

/// Modules behind directories of this host in QEMU: Documentation/filesystems/9p.rst.
const SHARE_MODULES: [&str; 3] = ["virtio_pci", "9pnet_virtio", "9p"];

/// What puts memory over the files.
const OVERLAY: &str = "overlay";

/// Where User-Mode Linux has the image: Documentation/virt/uml/user_mode_linux_howto_v2.rst.
const UML_DISK: &str = "/dev/ubdb";

/// By these names the kernel finds the directories of this host: all of it, and those that programs write to.
pub(crate) const TAG: &str = "kiln-root";

/// The name of the directory with this number.
pub(crate) fn tag_of(number: usize) -> String {
    format!("kiln-writable-{number}")
}

/// Of what a root asks of a kernel, the modules; built in, they need not be loaded.
#[must_use]
pub fn modules(root: &Root, engine: Engine) -> Vec<&'static str> {
    let below: &[&str] = match (&root.files, engine) {
        (Files::Image(image), Engine::Qemu(_)) => match image.medium {
            Medium::Disk => &DISK_MODULES,
            Medium::Memory => &MEMORY_MODULES,
        },
        (Files::Image(_), Engine::Uml) => &[],
        (Files::Host(_), Engine::Qemu(_)) => &SHARE_MODULES,
        (Files::Host(_), Engine::Uml) => &["hostfs"],
    };
    let filesystem = root.image().map(|image| image.filesystem.name());
    below.iter().copied().chain(filesystem).chain([OVERLAY]).collect()
}

/// What the agent mounts, after modules that are yet to be named.
#[must_use]
pub fn mount(root: &Root, engine: Engine) -> RootMount {
    let (lower, writable, late) = match &root.files {
        Files::Image(image) => {
            let source = match (engine, image.medium) {
                (Engine::Qemu(_), Medium::Disk) => Source::Disk,
                (Engine::Qemu(_), Medium::Memory) => Source::Name(MEMORY.to_string()),
                (Engine::Uml, _) => Source::Name(UML_DISK.to_string()),
            };
            let (filesystem, options) = (image.filesystem.name(), image.filesystem.options());
            let mount = Mount { source, filesystem: filesystem.to_string(), options: options.to_string() };
            (mount, Vec::new(), false)
        }
        Files::Host(host) => {
            let paths = host.writable.iter().map(|path| path.display().to_string()).enumerate();
            let writable = paths.map(|(number, path)| {
                let mount = share(engine, &path, &tag_of(number), "mmap");
                (path, mount)
            });
            (share(engine, "/", TAG, "loose"), writable.collect(), true)
        }
    };
    RootMount { modules: Vec::new(), lower, writable, late, services_ms: None }
}

/// A directory of this host. QEMU passes it on under a tag; what changes on this host meanwhile shows late with the cache
/// called `loose`.
fn share(engine: Engine, path: &str, tag: &str, cache: &str) -> Mount {
    let (source, filesystem, options) = match engine {
        Engine::Qemu(_) => {
            (tag, "9p", format!("trans=virtio,version=9p2000.L,msize={MESSAGE_MAX},cache={cache},noxattr"))
        }
        Engine::Uml => ("none", "hostfs", path.to_string()),
    };
    Mount { source: Source::Name(source.to_string()), filesystem: filesystem.to_string(), options }
}

/// The most that a message of 9p over virtio holds, in bytes: with less, each read is several.
const MESSAGE_MAX: u32 = 512_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::Accel;
    use root::{Filesystem, HostFiles, Image};

    fn image(medium: Medium) -> Root {
        let (path, filesystem) = ("/image".into(), Filesystem::Ext4);
        root(Files::Image(Image { path, filesystem, size: 0, medium, lease: None }))
    }

    fn root(files: Files) -> Root {
        Root { locator: "x".into(), provenance: "x".into(), identity: "1".into(), files }
    }

    #[test]
    fn a_template_holds_an_image_and_no_directory_of_this_host() {
        let image = image(Medium::Disk);
        let host = root(Files::Host(HostFiles { writable: vec!["/srv".into()] }));
        let qemu = Engine::Qemu(Accel::Tcg);
        assert_eq!(modules(&image, qemu), ["virtio_pci", "virtio_blk", "ext4", "overlay"]);
        assert_eq!(modules(&image, Engine::Uml), ["ext4", "overlay"]);
        let mounted = mount(&image, qemu);
        assert_eq!((mounted.lower.source, mounted.late), (Source::Disk, false));
        assert_eq!(mount(&image, Engine::Uml).lower.source, Source::Name("/dev/ubdb".into()));
        assert_eq!(modules(&host, qemu), ["virtio_pci", "9pnet_virtio", "9p", "overlay"]);
        let mounted = mount(&host, qemu);
        assert!(mounted.late && mounted.lower.options.contains("cache=loose"));
        let [(place, writable)] = &mounted.writable[..] else { panic!("{mounted:?}") };
        assert_eq!((place.as_str(), &writable.source), ("/srv", &Source::Name("kiln-writable-0".into())));
        let [(_, writable)] = &mount(&host, Engine::Uml).writable[..] else { panic!("one") };
        assert_eq!((writable.filesystem.as_str(), writable.options.as_str()), ("hostfs", "/srv"));
    }

    #[test]
    fn an_image_in_memory_is_no_disk() {
        let (image, qemu) = (image(Medium::Memory), Engine::Qemu(Accel::Tcg));
        assert_eq!(modules(&image, qemu), ["virtio_pci", "virtio_pmem", "nd_pmem", "ext4", "overlay"]);
        let mounted = mount(&image, qemu);
        assert_eq!((mounted.lower.source, mounted.late), (Source::Name("/dev/pmem0".into()), false));
    }
}
