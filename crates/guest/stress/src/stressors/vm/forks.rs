//! `mmapfork`, `vm-segv`: mappings that children share, and accesses that they must not make.

use harness::check::{Checked, equal};
use harness::memory::Area;
use rustix::mm::{Advice, MprotectFlags, mprotect};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::content;
use crate::kit::helper::helper;
use crate::kit::memory::{Memory, whole_pages};
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "what children inherit", 65536..=64 << 20, 4 << 20);

pub(super) const MMAPFORK: Stressor = Stressor {
    name: "mmapfork",
    classes: &[Class::Vm, Class::Scheduler, Class::Os],
    about: "fork(2) with mappings that are copied on write, shared, wiped and left out: madvise(2)",
    operation: "a child that verifies and overwrites all four kinds",
    verifies: "what child and parent see before and after the child's writes",
    options: &[BYTES],
    body: mmapfork,
    ..Stressor::PLAIN
};

pub(super) const VM_SEGV: Stressor = Stressor {
    name: "vm-segv",
    classes: &[Class::Vm, Class::Os],
    about: "children that write where they must not",
    operation: "a child for each of three wrong accesses",
    verifies: "SIGSEGV ends each child, and the parent's memory is as before",
    body: wrong_accesses,
    ..Stressor::PLAIN
};

fn mmapfork(worker: &Worker) -> Checked {
    let (size, mut random) = (whole_pages(worker.size(&BYTES)), worker.random());
    let (mut copied, mut shared) = (Memory::private(size)?, Memory::shared(size)?);
    let (mut wiped, left_out) = (Memory::private(size)?, Memory::private(size)?);
    wiped.area().advise(Advice::LinuxWipeOnFork)?;
    left_out.area().advise(Advice::LinuxDontFork)?;
    worker.repeat(|| {
        let seed = random.next_u64();
        [&mut copied, &mut shared, &mut wiped].into_iter().for_each(|memory| content::fill(memory, seed, 0));
        helper(|| {
            content::verify("memory that is copied on write", &copied, seed, 0)?;
            content::verify("shared memory", &shared, seed, 0)?;
            equal("bytes of wiped memory that are not 0", content::nonzero(&wiped), 0)?;
            let there = left_out.area().protect(MprotectFlags::READ);
            equal("mprotect(2) of memory that is left out", there, Err(rustix::io::Errno::NOMEM))?;
            content::fill(&mut copied, !seed, 0);
            content::fill(&mut shared, !seed, 0);
            content::verify("the child's copy", &copied, !seed, 0)
        })?
        .succeeds()?;
        content::verify("the parent's copy", &copied, seed, 0)?;
        content::verify("what the child wrote to shared memory", &shared, !seed, 0)?;
        content::verify("memory that was wiped in the child", &wiped, seed, 0)
    })
}

fn wrong_accesses(worker: &Worker) -> Checked {
    let page = page_size();
    let mut memory = Memory::private(3 * page)?;
    memory.fill(7);
    let area = memory.area();
    // SAFETY: pages of the mapping; what reads them stays away from the second.
    unsafe {
        mprotect(area.page(0).cast(), page, MprotectFlags::READ)?;
        mprotect(area.page(1).cast(), page, MprotectFlags::empty())?;
    }
    type Access = fn(Area);
    let wrong: [(&str, Access); 3] = [
        ("a write to a page that can only be read", |area| area.set(0, 1)),
        ("a read of a page without access", |area| _ = std::hint::black_box(area.get(1))),
        ("a write to the page at address 0", |_| {
            let nowhere = Area { start: std::ptr::null_mut(), length: 1 };
            nowhere.set(0, 1);
        }),
    ];
    worker.repeat(|| {
        for (what, access) in wrong {
            let child = helper(|| {
                access(area);
                Ok(())
            })?;
            equal(what, child.wait()?.terminating_signal(), Some(libc::SIGSEGV))?;
        }
        equal("the parent's memory", (area.get(0), area.get(2)), (7, 7))
    })
}
