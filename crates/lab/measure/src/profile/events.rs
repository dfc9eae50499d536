//! What else is counted, by calls of functions.

/// Something that a kernel does, and the functions each call of which is one time that it does it.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// What a metric has behind its colon.
    pub name: &'static str,
    /// One line on what is counted.
    pub about: &'static str,
    /// No two of them are called for the same one. A kernel that has none of them says nothing about the event.
    functions: &'static [&'static str],
}

/// How often something happened in one repetition: in a typical one, and in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happened {
    /// In the one with the least.
    pub min: u64,
    /// In a typical one.
    pub typical: u64,
    /// In the one with the most.
    pub max: u64,
}

/// All events. The names are those of Linux 6.1 and 6.12 on x86-64.
pub const EVENTS: &[Event] = &[
    Event {
        name: "system-calls",
        about: "entries into the kernel by a system call",
        functions: &[
            "entry_SYSCALL_64",      // where the `syscall` instruction leads
            "entry_SYSENTER_compat", // where `sysenter` leads
            "entry_SYSCALL_compat",  // where `syscall` leads a 32-bit program
            "asm_int80_emulation",   // `int 0x80`
        ],
    },
    Event {
        name: "context-switches",
        about: "changes from one task to another",
        functions: &[
            "__switch_to_asm", // swaps the stacks; not called where a task goes on
        ],
    },
    Event {
        name: "page-faults",
        about: "page faults, of programs and of the kernel",
        functions: &[
            "asm_exc_page_fault", // where the exception leads
        ],
    },
    Event {
        name: "tlb-flushes",
        about: "flushes of the TLB, each whole one and each page",
        functions: &[
            "native_flush_tlb_one_user", // one page; ranges and pages of the kernel end here as well
            "native_flush_tlb_local",    // all but global pages
            "native_flush_tlb_global",   // all pages
        ],
    },
    Event {
        name: "allocations",
        about: "objects from the slab allocator, kmalloc included",
        functions: &[
            "kmem_cache_alloc", // each of these takes an object by itself
            "kmem_cache_alloc_lru",
            "kmem_cache_alloc_node",
            "__kmem_cache_alloc_node", // kmalloc of all kinds ends here
            "kmem_cache_alloc_bulk",   // several objects at once, which count as one
            "kmem_cache_alloc_noprof", // the same with the profiling of allocations, as 6.12 has it
            "kmem_cache_alloc_lru_noprof",
            "kmem_cache_alloc_node_noprof",
            "kmem_cache_alloc_bulk_noprof",
            "__kmalloc_noprof", // kmalloc of a size that the compiler does not know
            "__kmalloc_node_noprof",
            "__kmalloc_node_track_caller_noprof",
            "__kmalloc_cache_noprof", // kmalloc of a size that it knows
            "__kmalloc_cache_node_noprof",
        ],
    },
    Event {
        name: "page-allocations",
        about: "pages from the page allocator, those of the slab allocator included",
        functions: &[
            "__alloc_pages",        // all single allocations, of any order
            "__alloc_pages_bulk",   // several at once, which count as one
            "__alloc_pages_noprof", // the same two in 6.12
            "alloc_pages_bulk_noprof",
        ],
    },
    Event {
        name: "block-requests",
        about: "requests that a driver of a block device was given",
        functions: &[
            "blk_mq_start_request", // each driver that has a queue calls it for each request
        ],
    },
    Event {
        name: "packets",
        about: "packets given to a network device, loopback included",
        functions: &[
            "__dev_queue_xmit", // all ways to send lead here
        ],
    },
    Event {
        name: "interrupts",
        about: "interrupts of devices and timers",
        functions: &[
            "asm_common_interrupt",            // devices
            "asm_sysvec_apic_timer_interrupt", // the timer of the processor
            "asm_sysvec_reschedule_ipi",       // from another processor, or from itself
            "asm_sysvec_call_function",
            "asm_sysvec_call_function_single",
            "asm_sysvec_irq_work", // work that a context asked for that could not do it
            "asm_sysvec_spurious_apic_interrupt", // for nothing
            "asm_sysvec_error_interrupt", // the controller's own
        ],
    },
];

/// Which of [`EVENTS`] a call of this function is, by its place among them.
pub(super) fn event(function: &str) -> Option<usize> {
    EVENTS.iter().position(|event| event.functions.contains(&function))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn calls_of_functions_are_events() {
        let name = |function| event(function).map(|place| EVENTS[place].name);
        assert_eq!(name("entry_SYSCALL_64"), Some("system-calls"));
        assert_eq!(name("kmem_cache_alloc"), Some("allocations"));
        assert_eq!(name("__kmem_cache_alloc_node"), Some("allocations"));
        assert_eq!(name("kmem_cache_alloc [fake]"), None);
        assert_eq!(name("do_syscall_64"), None);
    }

    #[test]
    fn a_function_is_one_event_only() {
        let all: Vec<_> = EVENTS.iter().flat_map(|event| event.functions).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(EVENTS.iter().map(|event| event.name).collect::<BTreeSet<_>>().len(), EVENTS.len());
    }
}
