//! What data of the kernel an address is in.

use crate::code::Code;
use crate::memory::{Memory, PAGE, list};
use crate::tasks::threads_of_all;

/// The most CPUs and caches of the slab allocator that are looked through, and bytes of the name of one.
const CPUS_MAX: u64 = 8192;
const CACHES_MAX: usize = 4096;
const NAME_MAX: usize = 64;

/// Where x86-64 maps all memory, and the descriptions of its pages, if the kernel does not choose another place at its boot:
/// Documentation/arch/x86/x86_64/mm.rst.
const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;
const PAGES: u64 = 0xffff_ea00_0000_0000;

/// The address of the first page of several: that of another one has it with this bit.
const TAIL: u64 = 1;

/// What is at an address, as its finder would call it: `jiffies`, `runqueues of CPU 1`, `on_cpu of cat (17)`, `an object of filp`.
pub(crate) fn place(code: &Code, memory: &mut Memory<'_>, address: u64) -> Option<String> {
    variable(code, address)
        .or_else(|| of_cpu(code, memory, address))
        .or_else(|| of_task(code, memory, address))
        .or_else(|| of_slab(code, memory, address))
}

/// A variable of the kernel.
fn variable(code: &Code, address: u64) -> Option<String> {
    let limit = |name: &str| code.symbols.address(name);
    let range = limit("_text")?..limit("_end")?;
    range.contains(&address).then(|| symbol(code, address)).flatten()
}

/// A symbol and what is behind its beginning.
fn symbol(code: &Code, address: u64) -> Option<String> {
    let (begin, name) = code.symbols.nearest(address)?;
    Some(behind(name, address - begin))
}

fn behind(name: &str, offset: u64) -> String {
    if offset == 0 { name.to_owned() } else { format!("{name}+{offset:#x}") }
}

/// A variable that each CPU has for itself, or what is allocated for it alone: Documentation/core-api/this_cpu_ops.rst.
fn of_cpu(code: &Code, memory: &mut Memory<'_>, address: u64) -> Option<String> {
    let symbols = &code.symbols;
    let (begin, end) = (symbols.address("__per_cpu_start")?, symbols.address("__per_cpu_end")?);
    let offsets = symbols.address("__per_cpu_offset")?;
    let count = u64::from(memory.half(symbols.address("nr_cpu_ids")?)?).min(CPUS_MAX);
    let unit = symbols.address("pcpu_unit_size").and_then(|at| memory.half(at)).unwrap_or(0);
    let behind = end..begin.checked_add(unit.into())?;
    (0..count).find_map(|cpu| {
        let own = address.wrapping_sub(memory.word(offsets.checked_add(8 * cpu)?)?);
        match own {
            own if (begin..end).contains(&own) => Some(format!("{} of CPU {cpu}", symbol(code, own)?)),
            own if behind.contains(&own) => Some(format!("memory of CPU {cpu}")),
            _ => None,
        }
    })
}

/// A member of a task.
fn of_task(code: &Code, memory: &mut Memory<'_>, address: u64) -> Option<String> {
    let size = code.types.size("task_struct")?;
    let tasks = threads_of_all(code, memory).ok()?;
    let (task, pid, name) =
        tasks.into_iter().find(|(task, ..)| (*task..task.saturating_add(size)).contains(&address))?;
    let offset = address - task;
    let member = code.types.member_at("task_struct", offset);
    let member = member.map_or(format!("{offset:#x}"), |(begin, member)| behind(&member, offset - begin));
    Some(format!("{member} of {name} ({pid})"))
}

/// An object of a cache of the slab allocator.
fn of_slab(code: &Code, memory: &mut Memory<'_>, address: u64) -> Option<String> {
    let cache_of = |member| code.types.offset("kmem_cache", &[member]);
    let variable = |memory: &mut Memory<'_>, name: &str, otherwise| {
        let found = code.symbols.address(name).and_then(|at| memory.word(at));
        found.unwrap_or(otherwise)
    };
    let direct = variable(memory, "page_offset_base", DIRECT_MAP);
    let pages = variable(memory, "vmemmap_base", PAGES);
    let size = code.types.size("page")?;
    let number = address.checked_sub(direct)? / PAGE;
    let mut page = pages.checked_add(number.checked_mul(size)?)?;
    let head = memory.word(page.checked_add(code.types.offset("page", &["compound_head"])?)?)?;
    if head & TAIL != 0 {
        page = head - TAIL;
    }
    let cache = memory.word(page.checked_add(code.types.offset("slab", &["slab_cache"])?)?)?;
    let entry = cache.checked_add(cache_of("list")?)?;
    let known = list(memory, code.symbols.address("slab_caches")?, CACHES_MAX);
    known.contains(&entry).then_some(())?;
    let name = memory.word(cache.checked_add(cache_of("name")?)?)?;
    let name = memory.text(name, NAME_MAX)?;
    let length = u64::from(memory.half(cache.checked_add(cache_of("size")?)?)?);
    let first = direct.checked_add(page.checked_sub(pages)?.checked_div(size)?.checked_mul(PAGE)?)?;
    let offset = address.checked_sub(first)?.checked_rem(length)?;
    Some(behind(&format!("an object of {name}"), offset))
}
