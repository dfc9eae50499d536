//! A file system in memory that only one program sees, and that ends with it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::Mode;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

/// Hides what is at `place` from the program: it finds an empty tmpfs there with a directory called
/// `directory` in it. To be called after [`contain()`](crate::contain()), which gives the right to do so.
///
/// Where this user may not mount, the program sees `place` as it is, without the directory.
///
/// # Errors
///
/// When a path holds a zero byte.
pub fn give_scratch(command: &mut Command, place: &Path, directory: &str) -> io::Result<()> {
    let inside = CString::new(place.join(directory).as_os_str().as_bytes())?;
    let place = CString::new(place.as_os_str().as_bytes())?;
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            // The program may be able to do without.
            let _ = mount_scratch(&place, &inside);
            Ok(())
        })
    };
    Ok(())
}

fn mount_scratch(place: &CString, inside: &CString) -> rustix::io::Result<()> {
    // SAFETY: the process has one thread, which shares no file system state with another.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)? };
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount_tmpfs(place, c"mode=0700,size=100%")?;
    rustix::fs::mkdir(inside, Mode::RWXU)
}

/// Nothing is set aside: memory is taken as it is written.
pub(crate) fn mount_tmpfs(place: &CStr, options: &CStr) -> rustix::io::Result<()> {
    mount(c"tmpfs", place, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_sees_it() {
        let outside = tempfile();
        let mut command = Command::new("sh");
        command.args(["-c", r#"ls "$0"; : > "$0/room/file"; ls "$0/room""#]).arg(&outside);
        crate::contain(&mut command);
        give_scratch(&mut command, &outside, "room").unwrap();
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "room\nfile\n");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "nothing is left of it");
        std::fs::remove_dir(outside).unwrap();
    }

    #[test]
    fn a_place_that_does_not_exist_changes_nothing() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 5"]);
        crate::contain(&mut command);
        give_scratch(&mut command, Path::new("/no/such/place"), "room").unwrap();
        assert_eq!(command.status().unwrap().code(), Some(5));
    }

    fn tempfile() -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("kiln-scratch-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        path
    }
}
