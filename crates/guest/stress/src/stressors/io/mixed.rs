//! `iomix`: one file in all ways at once, against a model of it in memory.

use std::fs::File;

use harness::check::{Checked, equal, holds};
use rustix::fs::{FallocateFlags, fallocate, fdatasync, ftruncate};
use rustix::io::{Errno, pread, pwrite};

use crate::Worker;
use crate::kit::file;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, size};
use harness::random::Random;

const BYTES: Setting = size("bytes", "largest size of the file", 65536..=64 << 20, 1 << 20);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "iomix",
    classes: &[Class::Io, Class::Filesystem, Class::Os],
    about: "random writes, mapped writes, truncations, holes and synchronisations of one file",
    operation: "one change or one read",
    verifies: "the file is what the same changes made of a model in memory",
    options: &[BYTES],
    body,
    ..Stressor::PLAIN
};

struct Mixed {
    file: File,
    model: Vec<u8>,
    most: usize,
    random: Random,
}

impl Mixed {
    /// A range below the largest size, of at most 64 KiB.
    fn range(&mut self) -> (usize, usize) {
        let size = 1 + self.random.below(65536.min(self.most));
        (self.random.below(self.most - size + 1), size)
    }

    fn grow(&mut self, size: usize) {
        self.model.resize(self.model.len().max(size), 0);
    }

    fn write(&mut self) -> Checked {
        let (at, size) = self.range();
        let mut bytes = vec![0; size];
        self.random.fill(&mut bytes);
        equal("bytes written", pwrite(&self.file, &bytes, at as u64)?, size)?;
        self.grow(at + size);
        self.model[at..at + size].copy_from_slice(&bytes);
        Ok(())
    }

    fn read(&mut self) -> Checked {
        let (at, size) = self.range();
        let mut bytes = vec![0; size];
        let read = pread(&self.file, &mut *bytes, at as u64)?;
        let expected = self.model.get(at..(at + size).min(self.model.len())).unwrap_or_default();
        equal("bytes read", read, expected.len())?;
        holds("what is read", bytes[..read] == *expected)
    }

    fn map(&mut self) -> Checked {
        if self.model.is_empty() {
            return Ok(());
        }
        let mut memory = Memory::of(&self.file, self.model.len())?;
        let at = self.random.below(memory.len());
        let value = self.random.next_u64() as u8;
        memory[at] = value;
        self.model[at] = value;
        holds("the mapping", memory[..] == self.model[..])
    }

    fn truncate(&mut self) -> Checked {
        let size = self.random.below(self.most + 1);
        ftruncate(&self.file, size as u64)?;
        self.model.resize(size, 0);
        equal("the size", self.file.metadata()?.len(), size as u64)
    }

    fn punch(&mut self) -> Checked {
        let (at, size) = self.range();
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, hole, at as u64, size as u64) {
            // Not every file system has holes.
            Err(Errno::OPNOTSUPP) => return Ok(()),
            done => done?,
        }
        let end = (at + size).min(self.model.len());
        self.model.get_mut(at..end).unwrap_or_default().fill(0);
        Ok(())
    }
}

fn body(worker: &Worker) -> Checked {
    let (file, most) = (file::create("mixed")?, worker.size(&BYTES));
    let mut mixed = Mixed { file, model: Vec::new(), most, random: worker.random() };
    worker.repeat(|| match mixed.random.below(16) {
        0..6 => mixed.write(),
        6..11 => mixed.read(),
        11 => mixed.map(),
        12 => mixed.truncate(),
        13 => mixed.punch(),
        14 => Ok(fdatasync(&mixed.file)?),
        _ => {
            let whole = std::fs::read("mixed")?;
            holds("the whole file", whole == mixed.model)
        }
    })
}
