//! Roots in the store: an image with the record of what is in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::store::{read_json, write_json};
use kernel::{Context, Store};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::image::pad;
use crate::{Files, Filesystem, Image, Medium, Root};

/// The image of an entry.
const IMAGE: &str = "image";
/// What is known of it.
const RECORD: &str = "root.json";
/// Changed when images are made in another way; older ones are then made anew.
pub(crate) const FORMAT: u32 = 2;

/// What is kept beside an image.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    provenance: String,
    size: u64,
    filesystem: Filesystem,
}

impl Record {
    /// Of an entry whose image has been made, and gets its last size now.
    pub(crate) fn write(entry: &Path, provenance: String) -> Result<(), Error> {
        let image = image_of(entry);
        let size = pad(&image)?;
        let filesystem = Filesystem::of(&image).map_err(Error::io("read", &image))?;
        let filesystem = filesystem.ok_or(Error::NotAnImage { path: image })?;
        let record = Self { format: FORMAT, provenance, size, filesystem };
        Ok(write_json(&entry.join(RECORD), &record)?)
    }
}

/// Where the image of an entry is, or will be.
pub(crate) fn image_of(entry: &Path) -> PathBuf {
    entry.join(IMAGE)
}

/// The root of this identity; nothing if it is not there, or not whole.
pub(crate) fn open(identity: &str, locator: &str, context: &Context<'_>) -> Option<Root> {
    let entry = context.store.roots().entry(identity);
    // Taken before anything is read, so that all of it stays. Some file systems cannot lock; nothing is pruned from those.
    let lease = match Store::lease(&entry) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        lease => lease.ok().map(Arc::new),
    };
    let record: Record = read_json(&entry.join(RECORD))?;
    let path = image_of(&entry);
    let is_whole = record.format == FORMAT && path.metadata().ok()?.len() == record.size;
    let Record { provenance, filesystem, size, .. } = record;
    // The kiln that made it may have been killed just behind: what it left nobody else would clear.
    let _ = context.store.roots().try_lock();
    is_whole.then(|| Root {
        locator: locator.to_owned(),
        provenance,
        identity: identity.to_owned(),
        files: Files::Image(Image { path, filesystem, size, medium: Medium::Disk, lease }),
    })
}

#[cfg(test)]
mod tests {
    use fixture::{NEVER, write};

    use super::*;

    #[test]
    fn what_a_kiln_left_that_was_killed_behind_a_root_is_cleared_with_its_next_use() {
        let place = tempfile::tempdir().expect("a directory");
        let store = Store::new(place.path().to_owned());
        let entry = store.roots().entry("abc");
        write(&image_of(&entry), "an image");
        let (provenance, filesystem, size) = ("a test".to_owned(), Filesystem::Erofs, 8);
        let record = Record { format: FORMAT, provenance, filesystem, size };
        write_json(&entry.join(RECORD), &record).expect("written");
        let left = store.roots().entry("tmp-dead");
        write(&left.join("sources.list"), "half");
        let context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
        assert_eq!(open("abc", "./abc", &context).expect("it is whole").provenance, "a test");
        assert!(!left.exists());
    }
}
