//! What a kernel says of itself: its symbols (kernel/kallsyms.c) and its types (Documentation/bpf/btf.rst).

/// Of `struct orc_entry`: from where an entry counts, and what is in a frame.
pub(crate) const BY_STACK_POINTER: u8 = 5;
pub(crate) const END: u8 = 1;
pub(crate) const CALL: u8 = 2;

/// Kinds of types, and what has bit fields.
const NUMBER: u32 = 1 << 24;
const STRUCT: u32 = 4 << 24;
const FIELDS: u32 = 1 << 31;

/// A member: its name, its type, its first bit; of a bit field its width from bit 24 on.
type Member = (&'static str, u32, u32);

/// A number is type 1, the first structure type 2.
const STRUCTURES: &[(&str, u32, &[Member])] = &[
    ("thread_struct", 8, &[("sp", 1, 0)]),
    ("mod_arch_specific", 24, &[("num_orcs", 1, 0), ("orc_unwind_ip", 1, 8 * 8), ("orc_unwind", 1, 8 * 16)]),
    (
        "task_struct",
        0x100,
        &[
            ("tasks", 1, 0),
            ("thread_node", 1, 8 * 16),
            ("signal", 1, 8 * 32),
            ("pid", 1, 8 * 40),
            ("tgid", 1, 8 * 44),
            ("comm", 1, 8 * 48),
            ("__state", 1, 8 * 64),
            ("exit_state", 1, 8 * 68),
            ("flags", 1, 8 * 72),
            ("on_cpu", 1, 8 * 76),
            ("cpu", 1, 8 * 80),
            ("thread", 2, 8 * 88),
            ("stack", 1, 8 * 96),
            ("nvcsw", 1, 8 * 104),
            ("nivcsw", 1, 8 * 112),
            ("lockdep_depth", 1, 8 * 120),
            ("held_locks", 1, 8 * 128),
        ],
    ),
    ("signal_struct", 16, &[("thread_head", 1, 0)]),
    ("inactive_task_frame", 16, &[("bp", 1, 0), ("ret_addr", 1, 8 * 8)]),
    ("orc_entry", 6, &[("type", 1, (3 << 24) | 40)]),
    ("pt_regs", 32, &[("bp", 1, 0), ("cs", 1, 8 * 8), ("ip", 1, 8 * 16), ("sp", 1, 8 * 24)]),
    ("mutex", 32, &[("owner", 1, 0), ("wait_list", 1, 8 * 16)]),
    ("mutex_waiter", 24, &[("list", 1, 0), ("task", 1, 8 * 16)]),
    ("held_lock", 16, &[("instance", 1, 64 << 24), ("class_idx", 1, (13 << 24) | (8 * 8))]),
    ("lock_class", 16, &[("name", 1, 0)]),
    (
        "module",
        192,
        &[
            ("list", 1, 0),
            ("name", 1, 8 * 16),
            ("kallsyms", 1, 8 * 72),
            ("mem", 1, 8 * 80),
            ("arch", 3, 8 * 168),
        ],
    ),
    ("module_memory", 16, &[("base", 1, 0), ("size", 1, 8 * 8)]),
    ("mod_kallsyms", 24, &[("symtab", 1, 0), ("num_symtab", 1, 8 * 8), ("strtab", 1, 8 * 16)]),
    ("page", 64, &[("compound_head", 1, 8 * 8)]),
    ("slab", 64, &[("slab_cache", 1, 8 * 16)]),
    ("kmem_cache", 32, &[("list", 1, 0), ("name", 1, 8 * 16), ("size", 1, 8 * 24)]),
];

/// The types of a kernel.
pub(crate) fn types() -> Vec<u8> {
    let mut texts = vec![0];
    let mut text = |name: &str| {
        let at = texts.len() as u32;
        texts.extend(name.bytes().chain([0]));
        at
    };
    let mut words = vec![0, NUMBER, 8, 0];
    for (name, size, members) in STRUCTURES {
        let has_fields = members.iter().any(|(_, _, place)| place >> 24 != 0);
        let fields = if has_fields { FIELDS } else { 0 };
        words.extend([text(name), fields | STRUCT | members.len() as u32, *size]);
        members.iter().for_each(|(name, of, place)| words.extend([text(name), *of, *place]));
    }
    let length = 4 * words.len() as u32;
    let header = [0x0001_eb9f, 24, 0, length, length, texts.len() as u32];
    let words = header.into_iter().chain(words).flat_map(u32::to_le_bytes);
    words.chain(texts).collect()
}

/// A list of symbols, kind before name, as Linux has it until 6.3; each character is a token.
pub(crate) fn symbols(base: u64, all: &[(String, u64)]) -> Vec<u8> {
    let offsets = all.iter().flat_map(|(_, at)| (-1 - *at as i32).to_le_bytes());
    let (mut names, mut markers) = (Vec::new(), Vec::new());
    for (number, (name, _)) in all.iter().enumerate() {
        if number % 256 == 0 {
            markers.extend((names.len() as u32).to_le_bytes());
        }
        names.push(name.len() as u8);
        names.extend(name.bytes());
    }
    let tokens = (0..=255_u8).flat_map(|byte| if byte == 0 { vec![0] } else { vec![byte, 0] });
    let index = (0..256_u16).flat_map(|token| (2 * token).saturating_sub(1).to_le_bytes());
    let parts = [
        offsets.collect(),
        base.to_le_bytes().to_vec(),
        (all.len() as u64).to_le_bytes().to_vec(),
        names,
        markers,
        tokens.collect(),
        index.collect(),
    ];
    let mut bytes: Vec<u8> = Vec::new();
    for part in parts {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(part);
    }
    bytes
}
