//! A disk that is soon full.

use std::path::Path;

use super::{Call, Done};

/// A small file system.
#[derive(Clone, Copy)]
pub(crate) struct SmallRoom<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) mib: u32,
    /// A script that runs beside, and is given the folder.
    pub(crate) beside: &'a str,
}

/// Runs `call` with a small file system; what is in there afterwards is copied to `copy`. Nothing if only root could do
/// so.
pub(crate) fn in_small_room(call: Call, room: SmallRoom<'_>, copy: &Path) -> Option<Done> {
    let SmallRoom { folder, mib, beside } = room;
    if !rustix::process::geteuid().is_root() {
        return skip("only root makes a small file system");
    }
    std::fs::create_dir_all(folder).expect("writable");
    let (folder, copy) = (folder.display(), copy.display());
    let script = format!(
        "mount -t tmpfs -o size={mib}m none {folder} || exit 77; sh -c '{beside}' {folder} 2> /dev/null &
         \"$@\"; code=$?; kill $! 2> /dev/null; rm -f {folder}/zeroes; cp -a {folder} {copy}; exit $code"
    );
    let done = call.through(&["unshare", "-m", "sh", "-c", &script, "sh"]).run();
    if done.code == Some(77) {
        return skip("this root may not mount");
    }
    Some(done)
}

/// The rest of a test needs what this host lacks; where all must run, that is a failure.
fn skip<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("KILN_SKIP_NOTHING").is_none(), "{why}");
    // Where one looks at what tests say.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {why}\n").as_bytes());
    None
}
