//! `physpage`, `numa`: where pages are in physical memory.

use harness::check::{Checked, at_least, equal, holds, skip};
use harness::sys::call;
use rustix::io::pread;
use rustix::param::page_size;

use crate::Worker;
use crate::kit::content;
use crate::kit::memory::{Memory, pages};
use crate::kit::support::supported;
use crate::stressor::{Class, Need, Setting, Stressor, number, size};

const PAGES: Setting = number("pages", "pages that are looked up", 1..=65536, 64);
const BYTES: Setting = size("bytes", "memory that is moved", 65536..=128 << 20, 4 << 20);

pub(super) const PHYSPAGE: Stressor = Stressor {
    name: "physpage",
    classes: &[Class::Vm, Class::Os],
    about: "where pages are, and how often they are mapped: proc_pid_pagemap(5), /proc/kpagecount",
    operation: "all pages looked up in both",
    verifies: "touched pages are present and others are not; with CAP_SYS_ADMIN no two have the same frame",
    options: &[PAGES],
    needs: &[Need::Config("PROC_PAGE_MONITOR")],
    body: physpage,
    ..Stressor::PLAIN
};

pub(super) const NUMA: Stressor = Stressor {
    name: "numa",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "memory policies and the nodes of pages: mbind(2), get_mempolicy(2), move_pages(2)",
    operation: "all pages moved to the next node, on one node where they are",
    verifies: "each page is on the node that it was moved to, with its content",
    options: &[BYTES],
    body: numa,
    ..Stressor::PLAIN
};

/// `MPOL_MF_MOVE` of <linux/mempolicy.h>: move what is elsewhere.
const MOVE: usize = 2;

const PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;

/// The entry of an address.
fn entry(pagemap: &std::fs::File, address: usize) -> Checked<u64> {
    let mut bytes = [0; 8];
    equal("bytes of an entry", pread(pagemap, &mut bytes, (address / page_size() * 8) as u64)?, 8)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn physpage(worker: &Worker) -> Checked {
    let count = worker.size(&PAGES);
    let pagemap = supported("/proc/self/pagemap", std::fs::File::open("/proc/self/pagemap"))?;
    let counts = std::fs::File::open("/proc/kpagecount").ok();
    worker.repeat(|| {
        let memory = Memory::private(2 * count * page_size())?;
        memory.area().without_huge_pages()?;
        (0..count).for_each(|at| memory.area().set(2 * at, 1));
        let mut frames = Vec::new();
        for at in 0..count {
            let entry_of = |number| entry(&pagemap, memory.area().page(number).addr());
            let (touched, other) = (entry_of(2 * at)?, entry_of(2 * at + 1)?);
            equal("present pages", (touched & PRESENT != 0, other & PRESENT != 0), (true, false))?;
            frames.push(touched & FRAME);
        }
        let Some(counts) = counts.as_ref().filter(|_| frames[0] != 0) else { return Ok(()) };
        let mut bytes = [0; 8];
        pread(counts, &mut bytes, frames[0] * 8)?;
        at_least("how often a page is mapped", u64::from_ne_bytes(bytes), 1)?;
        frames.sort_unstable();
        holds("no two pages have the same frame", frames.windows(2).all(|pair| pair[0] != pair[1]))
    })
}

/// Nodes for which a mask of a word has room.
const NODES: usize = 64;

/// The nodes with memory of `/sys/devices/system/node`.
fn nodes() -> Vec<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/node/has_memory").unwrap_or_default();
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().filter(|&node| node < NODES).collect()
}

fn numa(worker: &Worker) -> Checked {
    let nodes = nodes();
    if nodes.is_empty() {
        return skip("this kernel knows no nodes");
    }
    let (count, mut random) = (pages(worker.size(&BYTES)), worker.random());
    let mut memory = Memory::private(count * page_size())?;
    let seed = random.next_u64();
    content::fill(&mut memory, seed, 0);
    let mut next = nodes.iter().cycle();
    worker.repeat(|| {
        let node = next.next().copied().unwrap_or(0);
        let mask = 1_u64 << node;
        let (start, size) = (memory.area().start.addr(), memory.len());
        let mask_address = (&raw const mask).addr();
        // SAFETY: the policy concerns this mapping, and the mask has a word.
        let bound = unsafe {
            call(libc::SYS_mbind, [start, size, libc::MPOL_BIND as usize, mask_address, NODES + 1, MOVE])
        };
        supported("mbind(2)", bound)?;
        equal("nodes of all pages", on_nodes(&memory, count)?, vec![i32::try_from(node).unwrap_or(0)])?;
        content::verify("moved pages", &memory, seed, 0)
    })
}

/// The nodes that pages are on: move_pages(2) without any to move to.
fn on_nodes(memory: &Memory, count: usize) -> Checked<Vec<i32>> {
    let addresses: Vec<usize> = (0..count).map(|at| memory.area().page(at).addr()).collect();
    let mut status = vec![-1_i32; count];
    let (places, found) = (addresses.as_ptr().addr(), status.as_mut_ptr().addr());
    // SAFETY: as many addresses and places for their nodes as are named.
    unsafe { call(libc::SYS_move_pages, [0, count, places, 0, found, 0])? };
    status.sort_unstable();
    status.dedup();
    Ok(status)
}
