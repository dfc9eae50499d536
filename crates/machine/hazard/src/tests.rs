use proptest::prelude::*;

use super::*;

/// Where the loops of these tests begin.
const BEGIN: u64 = 0xffff_ffff_8100_0000;

fn of(code: &[u8]) -> Loop {
    Loop::decode(&[Block { address: BEGIN, code: code.to_vec() }]).expect("it is code")
}

/// A CPU with these registers, which finds 0x7000 in all of its memory.
struct Fake(&'static [(&'static str, u64)]);

impl Cpu for Fake {
    fn register(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn memory(&mut self, _: u64) -> Option<u64> {
        Some(0x7000)
    }
}

#[test]
fn loops_that_wait_are_found() {
    for (what, code) in [
        // 1: pause; mov (%rbx),%eax; test %eax,%eax; sub $1,%edx; jne 1b
        ("an adaptive lock that is held", &b"\xf3\x90\x8b\x03\x85\xc0\x83\xea\x01\x75\xf5"[..]),
        // 1: pause; mov (%rbx),%eax; test; jne 2f; mov $1,%ecx; xor %eax,%eax; lock cmpxchg %ecx,(%rbx); 2: sub $1,%edx; jne 1b
        (
            "one that is tried",
            b"\xf3\x90\x8b\x03\x85\xc0\x75\x0b\xb9\x01\0\0\0\x31\xc0\xf0\x0f\xb1\x0b\x83\xea\x01\x75\xe8",
        ),
        // 1: mov (%rdi),%ax; cmp %cx,%ax; jne 1b
        ("a ticket lock", b"\x66\x8b\x07\x66\x39\xc8\x75\xf8"),
        // 1: mov 8(%rsi),%eax; test %eax,%eax; je 1b
        ("an MCS lock", b"\x8b\x46\x08\x85\xc0\x74\xf9"),
        // 1: mov $1,%eax; xchg %al,(%rdi); test %al,%al; jne 1b
        ("test and set", b"\xb8\x01\0\0\0\x86\x07\x84\xc0\x75\xf5"),
        // 1: lock btsl $0,(%rdi); jb 1b
        ("a lock in a bit", b"\xf0\x0f\xba\x2f\0\x72\xf9"),
        // 1: xor %eax,%eax; lock cmpxchg %ecx,(%rdi); jne 1b
        ("compare and swap", b"\x31\xc0\xf0\x0f\xb1\x0f\x75\xf8"),
        // 1: pause; mov (%rdi),%eax; test $1,%al; jne 1b
        ("a seqlock that is written", b"\xf3\x90\x8b\x07\xa8\x01\x75\xf8"),
        // 1: mov (%rdi),%eax; mov 8(%rdi),%rcx; cmp (%rdi),%eax; jne 1b
        ("a reader of a seqlock", b"\x8b\x07\x48\x8b\x4f\x08\x3b\x07\x75\xf6"),
        // 1: mov -8(%rbp),%rax; mov (%rax),%eax; mov %eax,-12(%rbp); cmpl $0,-12(%rbp); je 1b
        ("code without optimisation", b"\x48\x8b\x45\xf8\x8b\0\x89\x45\xf4\x83\x7d\xf4\0\x74\xf1"),
        // 1: in (%dx),%al; test $1,%al; je 1b
        ("a device", b"\xec\xa8\x01\x74\xfb"),
    ] {
        assert!(of(code).waits(), "{what}");
    }
}

#[test]
fn loops_that_work_are_told_from_them() {
    for (what, code) in [
        // 1: mov (%rsi),%al; add $1,%rsi; test %al,%al; jne 1b
        ("a string", &b"\x8a\x06\x48\x83\xc6\x01\x84\xc0\x75\xf6"[..]),
        // 1: rep movsb
        ("one instruction that copies", b"\xf3\xa4"),
        // 1: lock incl (%rdi); sub $1,%ecx; jne 1b
        ("an atomic counter", b"\xf0\xff\x07\x83\xe9\x01\x75\xf8"),
        // 1: lock incl (%rdi); cmpl $0,(%rsi); je 1b
        ("one that goes on until it is stopped", b"\xf0\xff\x07\x83\x3e\0\x74\xf8"),
        // 1: sub $1,%rax; jne 1b
        ("a delay", b"\x48\x83\xe8\x01\x75\xfa"),
        // 1: pause; rdtsc; sub %ebx,%eax; cmp %ecx,%eax; jb 1b
        ("a delay by the clock", b"\xf3\x90\x0f\x31\x29\xd8\x39\xc8\x72\xf6"),
        // 1: pause; sub $1,%ecx; jne 1b
        ("a delay by pauses", b"\xf3\x90\x83\xe9\x01\x75\xf9"),
        // 1: mov %eax,(%rdi); cmpl $0,(%rsi); je 1b
        ("stores", b"\x89\x07\x83\x3e\0\x74\xf9"),
        // 1: mov (%rax),%rax; test %rax,%rax; jne 1b
        ("a list", b"\x48\x8b\0\x48\x85\xc0\x75\xf8"),
        // 1: mov -4(%rbp),%eax; sub $1,%eax; mov %eax,-4(%rbp); test %eax,%eax; jne 1b
        ("a counter on the stack", b"\x8b\x45\xfc\x83\xe8\x01\x89\x45\xfc\x85\xc0\x75\xf3"),
    ] {
        assert!(!of(code).waits(), "{what}");
    }
}

#[test]
fn what_a_loop_looks_at_is_known_by_the_registers_of_its_cpu() {
    // 1: mov (%rbx),%rax; and $-8,%rax; cmp %rax,%r12; jne 2f; mov 0x34(%r12),%eax; test %eax,%eax; je 2f;
    // mov %gs:0x1fbc0,%rdx; mov (%rdx),%rdx; test $8,%dl; jne 2f; pause; jmp 1b; 2:
    let on_owner = b"\x48\x8b\x03\x48\x83\xe0\xf8\x49\x39\xc4\x75\x1e\x41\x8b\x44\x24\x34\x85\xc0\x74\x15\x65\x48\x8b\x14\x25\xc0\xfb\x01\
                     \0\x48\x8b\x12\xf6\xc2\x08\x75\x04\xf3\x90\xeb\xd6";
    let found = of(on_owner);
    assert!(found.waits());
    let registers = &[("RBX", 0x1000), ("R12", 0x2000), ("GS", 0x4000_0000), ("RDX", 5)];
    assert_eq!(found.looks_at(&mut Fake(registers)), [0x1000, 0x2034, 0x4001_fbc0, 0x7000]);
    assert_eq!(found.looks_at(&mut Fake(&[])), Vec::<u64>::new());
    // mov -8(%rbp),%rax; mov (%rax),%eax; mov %eax,-12(%rbp); cmpl $0,-12(%rbp); je 1b
    let unoptimised = b"\x48\x8b\x45\xf8\x8b\0\x89\x45\xf4\x83\x7d\xf4\0\x74\xf1";
    assert_eq!(of(unoptimised).looks_at(&mut Fake(&[("RBP", 0x900)])), [0x8f8, 0x7000]);
    // mov 0x1000(%rip),%eax; test %eax,%eax; je 1b
    let global = of(b"\x8b\x05\0\x10\0\0\x85\xc0\x74\xf6");
    assert_eq!(global.looks_at(&mut Fake(&[])), [BEGIN + 6 + 0x1000]);
}

#[test]
fn a_loop_is_shown_as_other_programs_show_it() {
    let code = |address, code: &[u8]| Block { address, code: code.to_vec() };
    let found = Loop::decode(&[code(BEGIN, b"\xf3\x90"), code(BEGIN + 2, b"\x8b\x07\xa8\x01\x75\xf8")]);
    let found = found.expect("it is code");
    let expected = [
        "ffffffff81000000: pause",
        "ffffffff81000002: mov (%rdi),%eax",
        "ffffffff81000004: test $1,%al",
        "ffffffff81000006: jne 0xffffffff81000000",
    ];
    assert_eq!(found.lines(), expected);
    assert_eq!((found.address(), found.code()), (BEGIN, &b"\xf3\x90"[..]));
    assert!(Loop::decode(&[code(0, b"\x06")]).is_none());
}

proptest! {
    #[test]
    fn any_bytes_are_a_loop_or_none(blocks in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..64)), 0..16)) {
        let blocks: Vec<Block> = blocks.into_iter().map(|(address, code)| Block { address, code }).collect();
        if let Some(found) = Loop::decode(&blocks) {
            let _ = (found.waits(), found.lines());
            found.looks_at(&mut Fake(&[("RAX", u64::MAX), ("RSP", u64::MAX)]));
        }
    }
}
