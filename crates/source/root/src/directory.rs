//! A directory of the user's becomes an image, which machines share: made once for as long as nothing in it changes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use host::Task;
use kernel::{Context, Lock, PartsHash};

use crate::error::Error;
use crate::{Root, image, kept};

/// Gigabytes on a slow disk.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Where programs are in a root.
const PROGRAMS: [&str; 3] = ["bin", "usr/bin", "sbin"];

/// The root out of this directory: from the store, or made.
pub(crate) fn find(directory: &Path, typed: &str, context: &mut Context<'_>) -> Result<Root, Error> {
    if !PROGRAMS.iter().any(|name| directory.join(name).is_dir()) {
        return Err(Error::NotARoot { path: typed.into() });
    }
    context.progress(&format!("reading {typed}"));
    let identity = fingerprint(directory)?;
    if let Some(root) = kept::open(&identity, typed, context) {
        return Ok(root);
    }
    if host::find_program(image::MKFS).is_none() {
        let locator = typed.to_owned();
        return Err(Error::Missing { locator, program: image::MKFS, package: "erofs-utils" });
    }
    let lock = context.store.roots().lock(&mut context.caller())?;
    // Another kiln may have made it while this one waited.
    if let Some(root) = kept::open(&identity, typed, context) {
        return Ok(root);
    }
    make(directory, typed, &identity, &lock, context)?;
    let lost = || Error::Command { action: format!("making {typed}"), reason: "it is not whole".to_owned() };
    kept::open(&identity, typed, context).ok_or_else(lost)
}

fn make(
    directory: &Path,
    typed: &str,
    identity: &str,
    lock: &Lock,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    let shelf = context.store.roots();
    let workshop = shelf.workshop(lock)?;
    let entry = workshop.path().join("entry");
    fs::create_dir(&entry).map_err(Error::io("make", &entry))?;
    context.progress(&format!("making an image of {typed}"));
    let owner: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &image::OWNED_BY_ROOT };
    let paths = [kept::image_of(&entry), directory.to_owned()].map(|path| path.display().to_string());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let arguments = [&image::OPTIONS, owner, &paths].concat();
    let task = Task::new(image::MKFS, &arguments, context.interrupt).limit(LIMIT);
    let done = task.run(&mut || {})?;
    if !done.success {
        let reason = done.complaint.lines().next().unwrap_or_default().to_owned();
        return Err(Error::Command { action: format!("{} of {typed}", image::MKFS), reason });
    }
    kept::Record::write(&entry, format!("directory {typed}"))?;
    Ok(shelf.publish(lock, &entry, &shelf.entry(identity))?)
}

/// Changes with every file: its name, its kind, size, owner, mode and times.
fn fingerprint(directory: &Path) -> Result<String, Error> {
    let mut hash = PartsHash::default();
    hash.part(kept::FORMAT.to_le_bytes());
    // Ordinary users' files are others' in the image.
    hash.part([u8::from(rustix::process::geteuid().is_root())]);
    let mut open = vec![directory.to_owned()];
    while let Some(place) = open.pop() {
        for (name, found) in entries(&place).map_err(Error::io("read", &place))? {
            hash.part(name.as_encoded_bytes());
            let numbers = [found.ino(), found.size(), u64::from(found.mode()), found.rdev()];
            numbers.iter().for_each(|number| hash.part(number.to_le_bytes()));
            [found.uid(), found.gid()].iter().for_each(|number| hash.part(number.to_le_bytes()));
            let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
            times.iter().for_each(|number| hash.part(number.to_le_bytes()));
            if found.is_dir() {
                open.push(place.join(name));
            }
        }
        hash.part(b"end");
    }
    Ok(hash.finish())
}

/// What is in one directory, in the order of the names.
fn entries(directory: &Path) -> io::Result<Vec<(std::ffi::OsString, fs::Metadata)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        found.push((entry.file_name(), entry.metadata()?));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::write;

    #[test]
    fn a_fingerprint_changes_with_what_is_in_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(&root.join("usr/bin/one"), "1");
        let first = fingerprint(root).unwrap();
        assert_eq!(fingerprint(root).unwrap(), first);
        write(&root.join("usr/bin/two"), "2");
        let second = fingerprint(root).unwrap();
        fs::rename(root.join("usr/bin/two"), root.join("usr/two")).unwrap();
        let third = fingerprint(root).unwrap();
        assert!(first != second && second != third && first != third);
    }
}
