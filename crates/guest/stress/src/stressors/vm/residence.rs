//! `mincore`, `mlock`, `madvise`, `fault`, `hugepages`: which pages are in memory.

use harness::check::{Checked, at_least, equal, holds, skip};
use harness::sys::succeeded;
use rustix::io::Errno;
use rustix::mm::{Advice, madvise, mlock, munlock};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::memory::{Memory, pages};
use crate::kit::support::supported_unless;
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, flag, number, size};
use harness::random::Random;

const PAGES: Setting = number("pages", "pages of the mapping", 4..=65536, 256);
const LOCKED: Setting = number("pages", "pages of the mapping", 4..=1024, 16);
const BYTES: Setting = size("bytes", "what is mapped", 65536..=64 << 20, 4 << 20);
const HUGE: Setting = number("huge-pages", "huge pages of the mapping", 1..=16, 4);
const RANDOM: Setting = flag("random", "touch the pages in random order");

pub(super) const MINCORE: Stressor = Stressor {
    name: "mincore",
    classes: &[Class::Vm, Class::Os],
    about: "mincore(2) of a mapping of which some pages are touched",
    operation: "one call for all pages",
    verifies: "the touched pages are in memory, and no other",
    options: &[PAGES],
    body: mincore,
    ..Stressor::PLAIN
};

pub(super) const MLOCK: Stressor = Stressor {
    name: "mlock",
    classes: &[Class::Vm, Class::Os],
    about: "mlock(2) and munlock(2) of single pages",
    operation: "all pages locked and unlocked",
    verifies: "locked pages are in memory, and the kernel counts as many as were locked",
    options: &[LOCKED],
    body: lock,
    ..Stressor::PLAIN
};

pub(super) const MADVISE: Stressor = Stressor {
    name: "madvise",
    classes: &[Class::Vm, Class::Os],
    about: "random advice on pages of a shared mapping of a file, and of private memory",
    operation: "one advice on a random range of both",
    verifies: "advice does not change a file's content; private memory is 0 after MADV_DONTNEED",
    options: &[BYTES],
    body: advise,
    ..Stressor::PLAIN
};

pub(super) const FAULT: Stressor = Stressor {
    name: "fault",
    classes: &[Class::Vm, Class::Interrupt, Class::Os],
    about: "page faults in new memory",
    operation: "a mapping of which each page is touched once",
    verifies: "the kernel counts a minor fault for each page",
    options: &[PAGES, RANDOM],
    body: fault,
    ..Stressor::PLAIN
};

pub(super) const HUGEPAGES: Stressor = Stressor {
    name: "hugepages",
    classes: &[Class::Vm, Class::Memory],
    about: "transparent huge pages made, split and collapsed: madvise(2)",
    operation: "huge pages filled, split by MADV_DONTNEED of one page each, and filled up again",
    verifies: "content survives the split, and the pages that were given up are 0",
    options: &[HUGE],
    body: huge,
    ..Stressor::PLAIN
};

/// Which pages are in memory.
fn resident(memory: &Memory) -> Checked<Vec<bool>> {
    let mut pages = vec![0_u8; memory.len() / page_size()];
    // SAFETY: one byte for each page of the mapping.
    succeeded(unsafe { libc::mincore(memory.area().start.cast(), memory.len(), pages.as_mut_ptr()) })?;
    Ok(pages.into_iter().map(|page| page & 1 == 1).collect())
}

fn mincore(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&PAGES), worker.random());
    worker.repeat(|| {
        let memory = Memory::private(count * page_size())?;
        memory.area().without_huge_pages()?;
        let touched: Vec<bool> = (0..count).map(|_| random.below(2) == 0).collect();
        (0..count).filter(|&at| touched[at]).for_each(|at| memory.area().set(at, 1));
        equal("pages in memory", resident(&memory)?, touched)
    })
}

/// A field of proc_pid_status(5), in KiB.
fn status(name: &str) -> Checked<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    Ok(line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0))
}

fn lock(worker: &Worker) -> Checked {
    let (count, page) = (worker.size(&LOCKED), page_size());
    let memory = Memory::private(count * page)?;
    let place = |at: usize| memory.area().page(at).cast();
    worker.repeat(|| {
        for at in 0..count {
            // SAFETY: locking does not change the page.
            supported_unless("mlock(2)", unsafe { mlock(place(at), page) }, &[Errno::NOMEM, Errno::AGAIN])?;
        }
        holds("locked pages are in memory", resident(&memory)?.into_iter().all(|is_resident| is_resident))?;
        equal("locked memory in KiB", status("VmLck:")?, (count * page / 1024) as u64)?;
        for at in 0..count {
            // SAFETY: as above.
            unsafe { munlock(place(at), page)? };
        }
        equal("locked memory after munlock(2) in KiB", status("VmLck:")?, 0)
    })
}

/// Advice that leaves the content as it is; a kernel may lack some.
const HARMLESS: [Advice; 12] = [
    Advice::Normal,
    Advice::Random,
    Advice::Sequential,
    Advice::WillNeed,
    Advice::LinuxDontFork,
    Advice::LinuxDoFork,
    Advice::LinuxHugepage,
    Advice::LinuxNoHugepage,
    Advice::LinuxMergeable,
    Advice::LinuxUnmergeable,
    Advice::LinuxCold,
    Advice::LinuxPageOut,
];

fn advise(worker: &Worker) -> Checked {
    let (count, page, mut random) = (pages(worker.size(&BYTES)), page_size(), worker.random());
    let (file, seed) = (file::create("advised")?, random.next_u64());
    file::fill(&file, seed, 0, count * page)?;
    let shared = Memory::of(&file, count * page)?;
    let mut private = Memory::private(count * page)?;
    worker.repeat(|| {
        let (start, advice) = (random.below(count), *random.one_of(&HARMLESS));
        let size = (1 + random.below(count - start)) * page;
        // SAFETY: this advice changes no content.
        let done = unsafe { madvise(shared.area().page(start).cast(), size, advice) };
        if done != Err(Errno::INVAL) {
            done?;
        }
        content::verify("a page of the file", &shared[start * page..][..page], seed, (start * page) as u64)?;
        give_up(&mut private, start, size, &mut random)
    })
}

/// Fills a range of private memory, and gives it up.
fn give_up(private: &mut Memory, start: usize, size: usize, random: &mut Random) -> Checked {
    let range = start * page_size()..start * page_size() + size;
    private[range.clone()].fill(1);
    let lazily = random.below(2) == 0;
    if lazily {
        // SAFETY: the range is private, and nothing refers to it.
        unsafe { madvise(private.area().page(start).cast(), size, Advice::LinuxFree)? };
        holds("each byte is as it was or 0", private[range.clone()].iter().all(|&byte| byte <= 1))?;
    }
    // SAFETY: as above.
    unsafe { madvise(private.area().page(start).cast(), size, Advice::LinuxDontNeed)? };
    equal("bytes that are not 0", content::nonzero(&private[range]), 0)
}

/// Minor faults of this process: getrusage(2).
fn faults() -> i64 {
    // SAFETY: all zeroes is a valid value, and the kernel fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage.ru_minflt
    }
}

fn fault(worker: &Worker) -> Checked {
    let count = worker.size(&PAGES);
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = worker.random();
    worker.repeat(|| {
        if worker.is_on(&RANDOM) {
            random.shuffle(&mut order);
        }
        let memory = Memory::private(count * page_size())?;
        memory.area().without_huge_pages()?;
        let before = faults();
        order.iter().for_each(|&at| memory.area().set(at, 1));
        at_least("minor faults", faults() - before, i64::try_from(count).unwrap_or(0))
    })
}

fn huge(worker: &Worker) -> Checked {
    let text =
        std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").unwrap_or_default();
    let Ok(huge) = text.trim().parse::<usize>() else {
        return skip("this kernel has no transparent huge pages");
    };
    let (count, page, mut random) = (worker.size(&HUGE), page_size(), worker.random());
    worker.repeat(|| {
        let (mut memory, seed) = (Memory::private(count * huge)?, random.next_u64());
        supported_unless("MADV_HUGEPAGE", memory.area().advise(Advice::LinuxHugepage), &[Errno::INVAL])?;
        content::fill(&mut memory, seed, 0);
        let holes: Vec<usize> = (0..count).map(|at| at * huge + random.below(huge / page) * page).collect();
        for &hole in &holes {
            // SAFETY: a page of the mapping, to which nothing refers.
            unsafe { madvise(memory.area().start.add(hole).cast(), page, Advice::LinuxDontNeed)? };
        }
        for &hole in &holes {
            equal("bytes of a hole that are not 0", content::nonzero(&memory[hole..hole + page]), 0)?;
            content::fill(&mut memory[hole..hole + page], seed, hole as u64);
        }
        content::verify("huge pages after the split", &memory, seed, 0)
    })
}
