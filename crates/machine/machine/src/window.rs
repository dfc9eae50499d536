//! The window through which programs come into a clone: a file that all clones of a session map privately.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use protocol::window::{Entry, Extent, Kind, TABLE, WINDOW_SIZE, encode};

use crate::error::Error;
use crate::initramfs::{self, Archive};
use crate::payload::{COMMON, Wanted};
use crate::vmm::launch::in_memory;

/// What its file is called.
pub(crate) const NAME: &str = "window";

/// Contents begin at a multiple of this.
const ALIGNMENT: usize = 8;

/// Host's side of the window.
#[derive(Debug)]
pub(crate) struct Window {
    file: File,
    /// Entries of its table.
    count: usize,
    /// Of each part the numbers of its entries.
    parts: BTreeMap<String, BTreeSet<usize>>,
}

impl Window {
    /// One with nothing in it, which takes no room.
    pub(crate) fn empty() -> Result<Self, Error> {
        let file = File::from(in_memory(NAME, &[])?);
        file.set_len(WINDOW_SIZE as u64).map_err(failed)?;
        Ok(Self { file, count: 0, parts: BTreeMap::new() })
    }

    /// One that holds these files; nothing if they do not fit.
    pub(crate) fn holding(files: &Archive) -> Result<Option<Self>, Error> {
        let file = Self::empty()?.file;
        Self::filled(file, files)
    }

    /// The one in `file`, which holds these files from now on; nothing if they do not fit.
    pub(crate) fn filled(file: File, files: &Archive) -> Result<Option<Self>, Error> {
        let layout = Layout::of(files).map_err(|error| failed(std::io::Error::other(error)))?;
        if layout.extent.total > WINDOW_SIZE {
            return Ok(None);
        }
        let (count, parts) = (files.entries().len(), files.parts().clone());
        let window = Self { file, count, parts };
        let write =
            |bytes: &[u8], place: usize| window.file.write_all_at(bytes, place as u64).map_err(failed);
        write(&layout.extent.header(), 0)?;
        write(&layout.table, TABLE)?;
        layout.contents.into_iter().try_for_each(|(place, content)| write(content, place))?;
        Ok(Some(window))
    }

    /// The entries that are wanted, or all, as ranges: the first, and the one after the last.
    pub(crate) fn ranges(&self, wanted: Option<&Wanted>) -> Vec<(u32, u32)> {
        let Some(wanted) = wanted else { return ranges(0..self.count) };
        let common = wanted.common.then_some(COMMON);
        let names = wanted.parts.iter().map(String::as_str).chain(common);
        let numbers: BTreeSet<usize> =
            names.filter_map(|name| self.parts.get(name)).flatten().copied().collect();
        ranges(numbers)
    }

    /// For a machine.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd, Error> {
        self.file.try_clone().map(OwnedFd::from).map_err(failed)
    }
}

/// Ascending numbers as ranges.
fn ranges(numbers: impl IntoIterator<Item = usize>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    // No window has room for more.
    for number in numbers.into_iter().map_while(|number| u32::try_from(number).ok()) {
        match ranges.last_mut() {
            Some((_, end)) if *end == number => *end += 1,
            _ => ranges.push((number, number + 1)),
        }
    }
    ranges
}

fn failed(source: std::io::Error) -> Error {
    Error::host("the window for programs", source)
}

/// Where everything goes.
struct Layout<'a> {
    table: Vec<u8>,
    extent: Extent,
    contents: Vec<(usize, &'a [u8])>,
}

impl<'a> Layout<'a> {
    fn of(files: &'a Archive) -> Result<Self, String> {
        // How long the table is depends on the places that stand in it: none is longer than one with the largest.
        let (longest, ..) = Self::from(files, usize::MAX / 2)?;
        let begin = (TABLE + longest.len()).next_multiple_of(ALIGNMENT);
        let (table, contents, total) = Self::from(files, begin)?;
        Ok(Self { extent: Extent { table: table.len(), total }, table, contents })
    }

    /// The table where contents lie from `begin` on, these contents, and their end.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn from(files: &'a Archive, begin: usize) -> Result<(Vec<u8>, Vec<(usize, &'a [u8])>, usize), String> {
        let (mut entries, mut contents, mut end) = (Vec::new(), Vec::new(), begin);
        for file in files.entries() {
            let kind = match &file.kind {
                initramfs::Kind::Directory => Kind::Directory,
                initramfs::Kind::Link(target) => Kind::Link(target.clone()),
                initramfs::Kind::Device { .. } => {
                    return Err(format!("/{}: only an initramfs holds devices", file.name));
                }
                initramfs::Kind::File { permissions, content } => {
                    let start = end.next_multiple_of(ALIGNMENT);
                    end = start + content.len();
                    contents.push((start, content.as_slice()));
                    Kind::File {
                        permissions: *permissions,
                        start: start as u64,
                        length: content.len() as u64,
                    }
                }
            };
            entries.push(Entry { path: format!("/{}", file.name), kind });
        }
        Ok((encode(&entries).map_err(|error| error.to_string())?, contents, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use protocol::window::decode;

    /// What a guest sees.
    fn read(window: &Window) -> Vec<(String, Option<Vec<u8>>)> {
        let bytes = |place: usize, length: usize| {
            let mut bytes = vec![0; length];
            window.file.read_exact_at(&mut bytes, place as u64).unwrap();
            bytes
        };
        let extent = Extent::read(&bytes(0, TABLE)).unwrap();
        let table = decode(&bytes(TABLE, extent.table)).unwrap();
        let content = |entry: Entry| match entry.kind {
            Kind::File { start, length, .. } => {
                let (start, length) = (usize::try_from(start).unwrap(), usize::try_from(length).unwrap());
                assert!(start >= TABLE + extent.table && start + length <= extent.total);
                (entry.path, Some(bytes(start, length)))
            }
            _ => (entry.path, None),
        };
        table.into_iter().map(content).collect()
    }

    #[test]
    fn what_does_not_fit_is_no_window() {
        let mut files = Archive::default();
        files.file("/large", vec![1; WINDOW_SIZE], 0o644);
        assert!(Window::holding(&files).unwrap().is_none());
        assert_eq!(Window::holding(&Archive::default()).unwrap().unwrap().ranges(None), []);
    }

    #[test]
    fn parts_are_found_with_the_directories_above_them() {
        let mut files = Archive::default();
        for (path, part) in [("/lib/a", "a"), ("/lib/b", "b"), ("/bin/tool", "tool")] {
            files.file(path, "", 0o644);
            files.close_part(part);
        }
        files.file("/lib/libc", "", 0o644);
        files.close_part("tool");
        files.file("/usr/x", "", 0o644);
        files.close_part(COMMON);
        let window = Window::holding(&files).unwrap().unwrap();
        let ranges = |common, parts: &[&str]| {
            let parts = parts.iter().map(ToString::to_string).collect();
            window.ranges(Some(&Wanted { common, parts }))
        };
        // lib, a, b, bin, tool, libc, usr, x
        assert_eq!(ranges(false, &[]), []);
        assert_eq!(ranges(false, &["b"]), [(0, 1), (2, 3)]);
        assert_eq!(ranges(false, &["a", "tool", "of nobody"]), [(0, 2), (3, 6)]);
        assert_eq!(ranges(true, &[]), [(6, 8)]);
        assert_eq!(window.ranges(None), [(0, 8)]);
    }

    proptest! {
        #[test]
        fn files_come_through(contents in proptest::collection::btree_map("[a-z]{1,9}", any::<Vec<u8>>(), 0..20)) {
            let mut files = Archive::default();
            for (name, content) in &contents {
                files.file(&format!("/x/{name}"), content.clone(), 0o755);
            }
            let seen = read(&Window::holding(&files).unwrap().unwrap());
            let expected = contents.into_iter().map(|(name, content)| (format!("/x/{name}"), Some(content)));
            let directory = (!seen.is_empty()).then(|| ("/x".to_string(), None));
            prop_assert_eq!(seen, directory.into_iter().chain(expected).collect::<Vec<_>>());
        }
    }
}
