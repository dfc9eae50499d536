//! How processes use the page cache.

use aya::Pod;
use bpf::{Object, Watch, programs};
use protocol::Report;
use protocol::probe::{Found, Missing, PageCache};

use super::{Tool, largest, name};

/// `struct numbers` of `bpf/page_cache.bpf.c`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Numbers {
    accessed: u64,
    added: u64,
    dirtied: u64,
    buffers_dirtied: u64,
    comm: [u8; 16],
}

// SAFETY: numbers and bytes, without anything between them.
unsafe impl Pod for Numbers {}

/// What is counted: the program that does it, and where, of which kernels have one.
const COUNTED: [(&str, &str, &[&str]); 4] = [
    ("accessed", "accessed_now", &["kprobe:folio_mark_accessed", "kprobe:mark_page_accessed"]),
    ("added", "added_now", &["filemap:mm_filemap_add_to_page_cache"]),
    ("dirtied", "dirtied_now", &["writeback:writeback_dirty_folio", "writeback:writeback_dirty_page"]),
    ("buffers-dirtied", "buffers_dirtied_now", &["kprobe:mark_buffer_dirty"]),
];

pub(super) struct Cachetop {
    object: Object,
    missing: Vec<Missing>,
}

impl Cachetop {
    pub(super) fn begin(watch: &Watch) -> Result<Self, Report> {
        let mut object = Object::load(programs::PAGE_CACHE, watch, &[])?;
        let mut missing = Vec::new();
        for (what, program, events) in COUNTED {
            if let Err(report) = attach_any(&mut object, program, events) {
                missing.push(Missing { what: what.to_owned(), why: report.text });
            }
        }
        Ok(Self { object, missing })
    }
}

/// Attaches a program to the first of some events that this kernel has.
///
/// # Errors
///
/// Why it cannot be attached to the last of them.
fn attach_any(object: &mut Object, program: &str, events: &[&str]) -> Result<(), Report> {
    let mut last = Ok(());
    for event in events {
        last = object.attach_to(program, event);
        if last.is_ok() {
            break;
        }
    }
    last
}

impl Tool for Cachetop {
    fn found(&mut self) -> Result<Found, Report> {
        let process = |(pid, all): (u32, Vec<Numbers>)| {
            let sum = |of: fn(&Numbers) -> u64| all.iter().map(of).sum();
            let named = all.iter().find(|one| one.comm[0] != 0);
            PageCache {
                pid,
                name: named.map(|one| name(&one.comm)).unwrap_or_default(),
                accessed: sum(|one| one.accessed),
                added: sum(|one| one.added),
                dirtied: sum(|one| one.dirtied),
                buffers_dirtied: sum(|one| one.buffers_dirtied),
            }
        };
        let rows = self.object.elements("processes")?.into_iter().map(process).collect();
        let used = |row: &PageCache| {
            let used = [row.accessed, row.added, row.dirtied, row.buffers_dirtied];
            (used.iter().fold(0, |sum: u64, one| sum.saturating_add(*one)), row.pid)
        };
        Ok(Found::PageCache(largest(rows, used)))
    }

    fn missing(&self) -> Vec<Missing> {
        self.missing.clone()
    }

    fn lost(&self) -> Result<u64, Report> {
        self.object.lost()
    }
}
