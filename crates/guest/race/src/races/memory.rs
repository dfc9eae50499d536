//! Copies of memory: madvise(2), proc_pid_mem(5).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr::without_provenance_mut;

use harness::check::{Checked, skip};
use harness::memory::Area;
use protocol::Need;
use rustix::mm::{Advice, MapFlags, MprotectFlags, madvise};

use super::Known;
use super::parts::or_skip;
use crate::race::{Judgement, Race};
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "mm/huge-dirty-cow",
    "a forced write goes to the huge zero page while MADV_DONTNEED takes the copy away",
    &["a8f97366452e", "8310d48b125d"],
    huge_dirty_cow,
)
.cve("2017-1000405")
.needs(&[Need::Config("TRANSPARENT_HUGEPAGE")])];

/// The size of a huge page on x86-64.
const HUGE: usize = 2 << 20;

fn huge_dirty_cow(runner: &Runner) -> Checked {
    let (untouched, written) = (huge_zero_page()?, huge_zero_page()?);
    let memory = File::options().read(true).write(true).open("/proc/self/mem")?;
    let write = |area: Area, byte: u8| memory.write_at(&[byte], area.start.addr() as u64);
    if write(written, 1).is_err() {
        return skip("/proc/self/mem does not write to memory that is read-only");
    }
    let prepare = || {
        written.advise(Advice::LinuxDontNeed)?;
        let _ = written.get(0);
        Ok(())
    };
    let address = written.start.addr();
    let forget = move || {
        // SAFETY: no reference points into the area.
        let _ = unsafe { madvise(without_provenance_mut(address), HUGE, Advice::LinuxDontNeed) };
    };
    let judge = |_: &io::Result<usize>, (): &()| {
        if untouched.get(0) == 0 {
            return Ok(Judgement::Miss);
        }
        // Every process has this page.
        let _ = write(untouched, 0);
        Ok(Judgement::Hit)
    };
    runner.run(Race::between(|| write(written, 1), forget).setup_a(prepare).judge(judge))
}

/// Memory that is the huge zero page until it is written to, which only a forced write does.
fn huge_zero_page() -> Checked<Area> {
    let area = Area::new(2 * HUGE, MapFlags::PRIVATE)?;
    let page = Area { start: area.start.wrapping_add(area.start.align_offset(HUGE)), length: HUGE };
    or_skip("transparent huge pages", page.advise(Advice::LinuxHugepage))?;
    page.protect(MprotectFlags::READ)?;
    let _ = page.get(0);
    Ok(page)
}
