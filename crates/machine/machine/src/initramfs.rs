//! Writes an initramfs: a cpio archive in the `newc` form of
//! Documentation/driver-api/early-userspace/buffer-format.rst.

use std::collections::BTreeSet;

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_777;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// An archive that grows in memory.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    names: BTreeSet<String>,
}

/// What an entry is besides its name and content.
#[derive(Default)]
struct Kind {
    mode: u32,
    major: u32,
    minor: u32,
}

impl Archive {
    /// A file; the directories above it are made. An entry of the same name is kept instead.
    pub fn file(&mut self, path: &str, content: &[u8], permissions: u32) {
        self.add(path, &Kind { mode: FILE | permissions, ..Kind::default() }, content);
    }

    /// A symbolic link to `target`.
    pub fn link(&mut self, path: &str, target: &str) {
        self.add(path, &Kind { mode: LINK, ..Kind::default() }, target.as_bytes());
    }

    /// A directory.
    pub fn directory(&mut self, path: &str) {
        self.add(path, &Kind { mode: DIRECTORY, ..Kind::default() }, &[]);
    }

    /// A character device.
    pub fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.add(path, &Kind { mode: CHARACTER_DEVICE, major, minor }, &[]);
    }

    /// The finished archive.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.write("TRAILER!!!", &Kind::default(), &[]);
        self.bytes
    }

    fn add(&mut self, path: &str, kind: &Kind, content: &[u8]) {
        let name = path.trim_matches('/');
        if let Some((above, _)) = name.rsplit_once('/')
            && !self.names.contains(above)
        {
            self.directory(above);
        }
        if self.names.insert(name.to_string()) {
            self.write(name, kind, content);
        }
    }

    fn write(&mut self, name: &str, kind: &Kind, content: &[u8]) {
        self.entries += 1;
        // Lengths have eight hexadecimal digits; no file that fits into a guest is longer.
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let fields = [
            self.entries,
            kind.mode,
            0, // uid
            0, // gid
            1, // links
            0, // time
            length(content.len()),
            0, // device of the file
            0,
            kind.major,
            kind.minor,
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

    proptest! {
        #[test]
        fn contents_come_back(files in proptest::collection::btree_map("[a-z]{1,20}", any::<Vec<u8>>(), 0..8)) {
            let mut archive = Archive::default();
            for (name, content) in &files {
                archive.file(name, content, 0o644);
            }
            prop_assert_eq!(read(&archive.finish()), files.into_iter().collect::<Vec<_>>());
        }
    }
}
