//! Files for a machine, and the initramfs that is made of them: a cpio archive in the `newc` form of
//! Documentation/driver-api/early-userspace/buffer-format.rst.

use std::collections::{BTreeMap, BTreeSet};

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_777;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// Files for a machine, in the order in which they are made.
#[derive(Debug, Clone, Default)]
pub struct Archive {
    entries: Vec<Entry>,
    /// Names of the entries, with their numbers.
    names: BTreeMap<String, usize>,
    /// Numbers of the entries of each part.
    parts: BTreeMap<String, BTreeSet<usize>>,
    /// Those of the part that is being made.
    open: BTreeSet<usize>,
}

/// One file, with its path from the root on.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// What a file is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Directory,
    File { permissions: u32, content: Vec<u8> },
    Link(String),
    Device { major: u32, minor: u32 },
}

impl Archive {
    /// A file; the directories above it are made. An entry of the same name is kept instead.
    pub fn file(&mut self, path: &str, content: impl Into<Vec<u8>>, permissions: u32) {
        self.add(path, Kind::File { permissions, content: content.into() });
    }

    /// A symbolic link to `target`.
    pub fn link(&mut self, path: &str, target: &str) {
        self.add(path, Kind::Link(target.to_string()));
    }

    /// A directory.
    pub fn directory(&mut self, path: &str) {
        self.add(path, Kind::Directory);
    }

    /// A character device.
    pub fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.add(path, Kind::Device { major, minor });
    }

    /// What was added since the last part is the part `name`, or more of it, with the directories above.
    pub fn close_part(&mut self, name: &str) {
        let entries = std::mem::take(&mut self.open);
        self.parts.entry(name.to_string()).or_default().extend(entries);
    }

    /// The parts, each with the numbers of its entries.
    pub(crate) fn parts(&self) -> &BTreeMap<String, BTreeSet<usize>> {
        &self.parts
    }

    /// All that it holds.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Bytes in all files.
    #[must_use]
    pub fn size(&self) -> usize {
        self.entries.iter().map(|entry| entry.kind.content().len()).sum()
    }

    /// The archive that the kernel unpacks: this one, and what `other` has besides.
    #[must_use]
    pub fn finish_with(&self, other: &Self) -> Vec<u8> {
        let mut cpio = Cpio::default();
        self.entries.iter().for_each(|entry| cpio.write(&entry.name, &entry.kind));
        let added = other.entries.iter().filter(|entry| !self.names.contains_key(&entry.name));
        added.for_each(|entry| cpio.write(&entry.name, &entry.kind));
        cpio.finish()
    }

    /// The archive that the kernel unpacks.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        self.finish_with(&Self::default())
    }

    fn add(&mut self, path: &str, kind: Kind) {
        let name = path.trim_matches('/');
        if let Some((above, _)) = name.rsplit_once('/') {
            self.directory(above);
        }
        let number = *self.names.entry(name.to_string()).or_insert(self.entries.len());
        if number == self.entries.len() {
            self.entries.push(Entry { name: name.to_string(), kind });
        }
        self.open.insert(number);
    }
}

impl Kind {
    fn content(&self) -> &[u8] {
        match self {
            Self::File { content, .. } => content,
            Self::Link(target) => target.as_bytes(),
            Self::Directory | Self::Device { .. } => &[],
        }
    }

    fn mode(&self) -> u32 {
        match self {
            Self::Directory => DIRECTORY,
            Self::File { permissions, .. } => FILE | permissions,
            Self::Link(_) => LINK,
            Self::Device { .. } => CHARACTER_DEVICE,
        }
    }
}

/// An archive in the form of the kernel.
#[derive(Default)]
struct Cpio {
    bytes: Vec<u8>,
    entries: u32,
}

impl Cpio {
    fn finish(mut self) -> Vec<u8> {
        self.write_entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn write(&mut self, name: &str, kind: &Kind) {
        let device = if let Kind::Device { major, minor } = *kind { (major, minor) } else { (0, 0) };
        self.write_entry(name, kind.mode(), device, kind.content());
    }

    fn write_entry(&mut self, name: &str, mode: u32, (major, minor): (u32, u32), content: &[u8]) {
        self.entries += 1;
        // Lengths have eight hexadecimal digits; no file that fits into a guest is longer.
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let fields = [
            self.entries,
            mode,
            0, // uid
            0, // gid
            1, // links
            0, // time
            length(content.len()),
            0, // device of the file
            0,
            major,
            minor,
            length(name.len() + 1),
            0, // check sum, unused in this form
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Names and contents of an archive, read as the kernel reads them.
    fn read(mut bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |index: usize| {
                let text = std::str::from_utf8(&bytes[6 + 8 * index..14 + 8 * index]).expect("digits");
                usize::from_str_radix(text, 16).expect("hexadecimal")
            };
            let (size, name_size) = (field(6), field(11));
            let name = String::from_utf8(bytes[110..110 + name_size - 1].to_vec()).expect("a name");
            let start = (110 + name_size).next_multiple_of(4);
            let content = bytes[start..start + size].to_vec();
            if name == "TRAILER!!!" {
                return found;
            }
            bytes = &bytes[(start + size).next_multiple_of(4)..];
            found.push((name, content));
        }
    }

    #[test]
    fn directories_come_before_what_is_in_them_and_only_once() {
        let mut archive = Archive::default();
        archive.file("/usr/bin/a", b"A", 0o755);
        archive.file("/usr/bin/b", b"B", 0o755);
        archive.file("/usr/bin/a", b"another", 0o755);
        let names: Vec<String> = read(&archive.finish()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["usr", "usr/bin", "usr/bin/a", "usr/bin/b"]);
    }

    #[test]
    fn what_is_added_replaces_nothing() {
        let (mut first, mut more) = (Archive::default(), Archive::default());
        first.file("/init", b"agent", 0o755);
        first.file("/bin/a", b"A", 0o755);
        more.file("/init", b"another", 0o755);
        more.file("/bin/b", b"B", 0o755);
        let all = read(&first.finish_with(&more));
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, all[0].1.as_slice()), (vec!["init", "bin", "bin/a", "bin/b"], &b"agent"[..]));
        assert_eq!(more.size(), "another".len() + "B".len());
    }

    proptest! {
        #[test]
        fn contents_come_back(files in proptest::collection::btree_map("[a-z]{1,20}", any::<Vec<u8>>(), 0..8)) {
            let mut archive = Archive::default();
            for (name, content) in &files {
                archive.file(name, content.clone(), 0o644);
            }
            prop_assert_eq!(read(&archive.finish()), files.into_iter().collect::<Vec<_>>());
        }
    }
}
