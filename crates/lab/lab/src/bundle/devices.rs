//! What is behind the devices of a bundle's machine: files beside its script, and empty ones that the script makes.

use hardware::{Backing, Hardware};
use machine::qemu::files::device;

use super::{Error, File, read};

/// The files, by the names by which QEMU finds them.
///
/// # Errors
///
/// When one cannot be read, machines write to it, or there is a TPM.
pub(super) fn files(hardware: &Hardware) -> Result<Vec<File>, Error> {
    let content = |(name, backing): (String, Backing)| match backing {
        Backing::Read(path) | Backing::Copy(path) => {
            Some(read(&path).map(|content| File::new(&name, content)))
        }
        Backing::Write(path) | Backing::New(path) => {
            Some(Err(Error::WrittenFile { path: path.display().to_string() }))
        }
        Backing::Empty(_) | Backing::Content(_) | Backing::Segment(_) | Backing::Lab(_) | Backing::Tpm => {
            None
        }
    };
    if hardware.backings().concat().contains(&Backing::Tpm) {
        return Err(Error::Tpm);
    }
    named(hardware).filter_map(content).collect()
}

/// The lines of the script that make them in its working directory. The machine may write to a copy.
pub(super) fn commands(hardware: &Hardware) -> String {
    let command = |(name, backing): (String, Backing)| match backing {
        Backing::Empty(bytes) => Some(format!(
            "dd if=/dev/null of={name} bs=1 seek={bytes} 2>/dev/null || fail 'no room for a disk'\n"
        )),
        Backing::Read(_) | Backing::Copy(_) => {
            Some(format!("cp -- \"$here/{name}\" {name} || fail 'no room for {name}'\n"))
        }
        Backing::Write(_)
        | Backing::New(_)
        | Backing::Content(_)
        | Backing::Segment(_)
        | Backing::Lab(_)
        | Backing::Tpm => None,
    };
    named(hardware).filter_map(command).collect()
}

/// What is behind all devices, with the names of the files.
fn named(hardware: &Hardware) -> impl Iterator<Item = (String, Backing)> {
    let devices = hardware.backings().into_iter().enumerate();
    devices.flat_map(|(number, backings)| {
        let files = backings.into_iter().filter(Backing::is_file).enumerate();
        files.map(move |(file, backing)| (device(number, file), backing))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_holds_images_and_makes_empty_disks() {
        let image = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(image.path(), "content").unwrap();
        let of = |text: &str| Hardware::new(vec![text.parse().unwrap()]).unwrap();
        let hardware = of(&format!("disk,image={}", image.path().display()));
        assert_eq!(files(&hardware).unwrap(), [File::new("device0-0", "content")]);
        assert_eq!(
            commands(&hardware),
            "cp -- \"$here/device0-0\" device0-0 || fail 'no room for device0-0'\n"
        );
        assert_eq!(files(&of("disk,1G")).unwrap(), []);
        assert!(commands(&of("disk,1G")).starts_with("dd if=/dev/null of=device0-0 bs=1 seek=1073741824 "));
        assert!(matches!(files(&of("tpm")), Err(Error::Tpm)));
        assert!(matches!(files(&of("disk,file=/x")), Err(Error::WrittenFile { path }) if path == "/x"));
    }
}
