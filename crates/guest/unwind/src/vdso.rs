//! The code that the kernel maps into every process, as a file that can be read like others: vdso(7).

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use procfs::process::{MMapPath, Process};
use rustix::fs::{MemfdFlags, memfd_create};

/// What /proc calls it.
pub(crate) const NAME: &str = "[vdso]";

/// A copy of it; all processes of 64 bits have the same.
pub(crate) fn file() -> Option<File> {
    static COPY: OnceLock<Option<File>> = OnceLock::new();
    COPY.get_or_init(copy).as_ref()?.try_clone().ok()
}

fn copy() -> Option<File> {
    let maps = Process::myself().and_then(|this| this.maps()).ok()?;
    let map = maps.into_iter().find(|map| map.pathname == MMapPath::Vdso)?;
    let mut bytes = vec![0; usize::try_from(map.address.1.checked_sub(map.address.0)?).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, map.address.0).ok()?;
    let mut copy = File::from(memfd_create("vdso", MemfdFlags::CLOEXEC).ok()?);
    copy.write_all(&bytes).ok()?;
    Some(copy)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Library;

    #[test]
    fn it_is_a_library() {
        let file = file().expect("every process has one");
        let code = Library::default().read(file, Path::new(NAME)).expect("it has code");
        assert!(code.sections.eh_frame.is_some());
    }
}
