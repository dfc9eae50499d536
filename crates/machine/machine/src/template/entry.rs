//! Templates in the store: the next run of the same machine needs no boot.
//!
//! They are not forced to the disk, so none is taken that was made before the host started: what a power cut
//! left half written would look like a defect of the kernel.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernel::{Lock, PartsHash, Shelf, Store};
use serde::{Deserialize, Serialize};

use super::{About, Body, Template};
use crate::error::Error;
use crate::memory::{self, Memory};
use crate::vmm::launch::inherited;
use crate::vmm::{Frames, Frozen};

/// Templates that are kept, each of some 100 MiB or more; those that nobody used for longest go.
const KEPT: usize = 16;

/// Longest text about a template, and longest table of symbols, in bytes.
const ABOUT_MAX: u64 = 16 << 20;
const SYMBOLS_MAX: u64 = 64 << 20;

/// The file with a part of the memory.
fn memory_name(part: usize) -> String {
    format!("memory{part}")
}

/// How long another may be at work in the store, and how often is looked whether it still is.
const LOCK_WAIT: Duration = Duration::from_secs(3);
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// The file with the symbols of the kernel.
const SYMBOLS: &str = "symbols";

/// Where templates are kept, and under which name this one is.
#[derive(Debug, Clone)]
pub struct TemplateEntry {
    store: Store,
    identity: String,
}

/// The document beside memory and state.
#[derive(Serialize, Deserialize)]
struct Document {
    about: About,
    frames: Frames,
    state_size: u64,
}

impl TemplateEntry {
    /// The place of the template for a machine of this description. Its name covers all that it is made of: kernel,
    /// machine, what it boots from, the program that runs it and the boot of the host.
    pub(crate) fn new(store: Store, description: &[String], program: &Path, initramfs: &[u8]) -> Self {
        let mut hash = PartsHash::default();
        description.iter().for_each(|part| hash.part(part));
        hash.part(initramfs);
        hash.part(fingerprint(program));
        hash.part(host_boot());
        Self { store, identity: hash.finish() }
    }

    /// The same for another boot of that machine; number 0 is the usual one.
    #[must_use]
    pub fn of_boot(self, number: u32) -> Self {
        if number == 0 {
            return self;
        }
        let mut hash = PartsHash::default();
        hash.part(&self.identity);
        hash.part(number.to_string());
        Self { identity: hash.finish(), ..self }
    }

    fn entry(&self) -> PathBuf {
        self.store.templates().entry(&self.identity)
    }

    /// The template, if it is kept and whole.
    pub(crate) fn find(&self, body: Body) -> Option<Template> {
        let entry = self.entry();
        // What is open stays, also if it is removed now: the lease only tells that it is in use.
        let _lease = Store::lease(&entry).ok()?;
        let open = |name: &str| File::options().read(true).write(true).open(entry.join(name)).ok();
        let sizes = body.spec.memory_sizes();
        let memory = (0..sizes.len()).map(|part| open(&memory_name(part))).collect::<Option<_>>();
        let (memory, state) = (Memory::of(memory?), open("state")?);
        let text = File::open(entry.join("template.json")).ok()?;
        let document: Document = serde_json::from_reader(io::Read::take(text, ABOUT_MAX)).ok()?;
        if state.metadata().ok()?.len() != document.state_size || !memory.is_of(&sizes) {
            return None;
        }
        let frozen = Frozen { state, frames: document.frames };
        Some(Template::new(body, memory, frozen, document.about))
    }

    /// The text of the kernel's symbols, if it is kept with the template.
    #[must_use]
    pub fn symbols(&self) -> Option<String> {
        let (mut text, file) = (String::new(), File::open(self.entry().join(SYMBOLS)).ok()?);
        file.take(SYMBOLS_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Keeps the text of the kernel's symbols with a template that is kept, unless it is there.
    ///
    /// # Errors
    ///
    /// When there is no such template, or the store cannot be written.
    pub fn keep_symbols(&self, text: &str) -> Result<(), Error> {
        let entry = self.entry();
        let kept = || -> io::Result<()> {
            let _lease = Store::lease(&entry)?;
            let path = entry.join(SYMBOLS);
            if path.exists() { Ok(()) } else { host::write_atomically(&path, text.as_bytes()) }
        };
        kept().map_err(|source| Error::host("keeping symbols", source))
    }

    /// Keeps a template, unless another kiln is at work in the store for long; stops when `is_given_up` is set.
    ///
    /// # Errors
    ///
    /// When the store cannot be written; then nothing is left of it.
    pub fn keep(&self, template: &Template, is_given_up: &AtomicBool) -> Result<(), Error> {
        let shelf = self.store.templates();
        let Some(lock) = lock_soon(&shelf, is_given_up)? else { return Ok(()) };
        let workshop = shelf.workshop(&lock)?;
        let prepared = workshop.path().join("template");
        template.write(&prepared, is_given_up).map_err(|source| Error::host("keeping a template", source))?;
        shelf.place(&lock, &prepared, &self.entry())?;
        shelf.keep_newest(&lock, KEPT)?;
        Ok(())
    }
}

/// The lock of a shelf, unless another holds it for much longer than it takes to keep a template: one that boots
/// several machines at once keeps them at the same time.
fn lock_soon(shelf: &Shelf, is_given_up: &AtomicBool) -> Result<Option<Lock>, kernel::Error> {
    let start = Instant::now();
    loop {
        let lock = shelf.try_lock()?;
        if lock.is_some() || is_given_up.load(Ordering::Relaxed) || start.elapsed() > LOCK_WAIT {
            return Ok(lock);
        }
        std::thread::sleep(LOCK_INTERVAL);
    }
}

impl Template {
    fn write(&self, directory: &Path, is_given_up: &AtomicBool) -> io::Result<()> {
        std::fs::create_dir(directory)?;
        for (part, file) in self.memory.files().iter().enumerate() {
            memory::copy(file, &File::create_new(directory.join(memory_name(part)))?, is_given_up)?;
        }
        let mut state = File::open(inherited(self.frozen.state.as_raw_fd()))?;
        let state_size = io::copy(&mut state, &mut File::create_new(directory.join("state"))?)?;
        let document = Document { about: self.about.clone(), frames: self.frozen.frames, state_size };
        serde_json::to_writer(File::create_new(directory.join("template.json"))?, &document)?;
        Ok(())
    }
}

/// What changes when a file is replaced.
pub(crate) fn fingerprint(path: &Path) -> String {
    let facts = path
        .metadata()
        .map(|found| (found.dev(), found.ino(), found.size(), found.mtime_nsec(), found.mtime()));
    format!("{} {facts:?}", path.display())
}

/// The boot of the host: random(4).
fn host_boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_that_keep_at_the_same_time_keep_both() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Store::new(directory.path().into()).templates();
        let never = AtomicBool::new(false);
        let held = lock_soon(&shelf, &never).unwrap().expect("nobody else is there");
        assert!(lock_soon(&shelf, &AtomicBool::new(true)).unwrap().is_none());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| lock_soon(&shelf, &never).unwrap().is_some());
            drop(held);
            assert!(waits.join().unwrap());
        });
    }

    #[test]
    fn another_machine_has_another_template() {
        let entry = |description: &[&str], program: &str, initramfs: &[u8]| {
            let description: Vec<String> = description.iter().map(ToString::to_string).collect();
            TemplateEntry::new(Store::new("/".into()), &description, Path::new(program), initramfs).entry()
        };
        let one = entry(&["identity", "qemu -cpu max"], "/bin/sh", b"agent");
        assert_eq!(entry(&["identity", "qemu -cpu max"], "/bin/sh", b"agent"), one);
        assert_ne!(entry(&["another", "qemu -cpu max"], "/bin/sh", b"agent"), one);
        assert_ne!(entry(&["identity", "qemu -cpu max,-erms"], "/bin/sh", b"agent"), one);
        assert_ne!(entry(&["identity", "qemu -cpu max"], "/bin/cat", b"agent"), one);
        assert_ne!(entry(&["identity", "qemu -cpu max"], "/bin/sh", b"another"), one);
        let entry = TemplateEntry::new(Store::new("/".into()), &[], Path::new("/bin/sh"), b"");
        let of = |number| entry.clone().of_boot(number).entry();
        assert!(of(0) == entry.entry() && of(1) != of(0) && of(1) == of(1) && of(2) != of(1));
    }
}
