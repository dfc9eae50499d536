//! Kernel modules that are built for the test kernel, with the headers of its package.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{KERNEL, Place, cache};

/// Debian splits the headers of a kernel into these packages.
const SUFFIX: &str = "-cloud-amd64";

impl Place {
    /// The module with this source.
    pub(crate) fn module(&self, name: &str, source: &str) -> PathBuf {
        let folder = self.path().join(format!("{name}-module"));
        std::fs::create_dir_all(&folder).expect("the folder is writable");
        std::fs::write(folder.join(format!("{name}.c")), source).expect("writable");
        std::fs::write(folder.join("Kbuild"), format!("obj-m := {name}.o\n")).expect("writable");
        let (headers, module) = (headers(), format!("M={}", folder.display()));
        does(Command::new("make").arg("-C").arg(headers).args([&module, "modules"]));
        folder.join(format!("{name}.ko"))
    }
}

/// The headers of [`KERNEL`], unpacked once, with all paths in them pointing there.
fn headers() -> PathBuf {
    let release = KERNEL.trim_start_matches("deb:");
    let version = release.trim_end_matches(SUFFIX);
    let root = cache().join("headers");
    let headers = root.join("usr/src").join(format!("linux-headers-{release}"));
    std::fs::create_dir_all(cache()).expect("the checkout is writable");
    let lock = std::fs::File::create(cache().join("headers.lock")).expect("the cache is writable");
    lock.lock().expect("it can be locked");
    if !headers.join("ready").is_file() {
        let kbuild = format!("linux-kbuild-{}", version.split('.').take(2).collect::<Vec<_>>().join("."));
        for package in [format!("linux-headers-{release}"), format!("linux-headers-{version}-common"), kbuild]
        {
            unpack(&package, &root);
        }
        redirect(&headers, &root);
        std::fs::write(headers.join("ready"), "").expect("writable");
    }
    headers
}

fn unpack(package: &str, root: &Path) {
    let folder = tempfile::tempdir_in(cache()).expect("the cache is writable");
    does(Command::new("apt-get").args(["download", "--", package]).current_dir(folder.path()));
    for entry in std::fs::read_dir(folder.path()).expect("it is ours").flatten() {
        does(Command::new("dpkg-deb").arg("-x").arg(entry.path()).arg(root));
    }
}

/// The package's makefile and links name absolute places.
fn redirect(headers: &Path, root: &Path) {
    let makefile = headers.join("Makefile");
    let text = std::fs::read_to_string(&makefile).expect("the package has it");
    std::fs::write(&makefile, text.replace("/usr/src/", &format!("{}/usr/src/", root.display())))
        .expect("writable");
}

fn does(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&said));
}
