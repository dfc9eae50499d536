//! The plugin in a real QEMU, with a machine that has nothing but a program of a few bytes in place of its BIOS.

use std::path::Path;
use std::process::Command;

use measure::profile::{Profile, Tally};
use protocol::measure::{EMPTY_REPETITIONS, MARK_BEGIN, MARK_END, MARK_JOB_DONE, WARM_UP};

/// Where a BIOS of 64 KiB begins, seen in protected mode.
const BIOS: u32 = 0xf_0000;
const BIOS_SIZE: usize = 64 << 10;

/// Where the processor begins in it.
const RESET: usize = 0xfff0;

/// Turns of the loop in each repetition, and repetitions.
const TURNS: u32 = 1000;
const REPETITIONS: usize = EMPTY_REPETITIONS + WARM_UP + 2;

/// `nopl mark(%eax)`.
fn mark(number: u32) -> Vec<u8> {
    [&[0x0f, 0x1f, 0x80][..], &number.to_le_bytes()].concat()
}

/// A program that repeats a loop between marks and ends QEMU.
fn program() -> Vec<u8> {
    const RDTSC: &[u8] = &[0x0f, 0x31];
    let body = [
        &mark(MARK_BEGIN)[..],
        RDTSC,
        &[0xb9], // mov $TURNS, %ecx
        &TURNS.to_le_bytes(),
        &[0x49, 0x75, 0xfd], // 1: dec %ecx; jnz 1b
        RDTSC,
        &mark(MARK_END),
    ]
    .concat();
    let back = u8::try_from(-(i32::try_from(body.len()).expect("short") + 3) & 0xff).expect("a byte");
    let code = [
        &[0xbe, u8::try_from(REPETITIONS).expect("few"), 0, 0, 0][..], // mov $REPETITIONS, %esi
        &body,
        &[0x4e, 0x75, back], // dec %esi; jnz to the mark
        &mark(MARK_JOB_DONE),
        &[0xe6, 0xf4],       // out %al, $0xf4: ends QEMU
        &[0xf4, 0xeb, 0xfd], // 1: hlt; jmp 1b
    ]
    .concat();
    // To protected mode: the pointer to the table of segments lies behind these 24 bytes, the table behind it, and
    // the program behind that.
    const POINTER: u8 = 24;
    const TABLE: u32 = POINTER as u32 + 8;
    const CODE: u32 = TABLE + 16;
    let start = [
        &[0xfa][..],                                       // cli
        &[0x2e, 0x66, 0x0f, 0x01, 0x16, POINTER, 0],       // lgdtl %cs:POINTER
        &[0x0f, 0x20, 0xc0, 0x0c, 0x01, 0x0f, 0x22, 0xc0], // mov %cr0, %eax; or $1, %al; mov %eax, %cr0
        &[0x66, 0xea],                                     // ljmpl $8, $CODE
        &(BIOS + CODE).to_le_bytes(),
        &[8, 0],
    ]
    .concat();
    assert_eq!(start.len(), usize::from(POINTER));
    let pointer = [&[15, 0][..], &(BIOS + TABLE).to_le_bytes(), &[0, 0]].concat();
    let table = [[0; 8], [0xff, 0xff, 0, 0, 0, 0x9a, 0xcf, 0]].concat();
    [start, pointer, table, code].concat()
}

fn bios() -> Vec<u8> {
    let mut bios = program();
    bios.resize(RESET, 0xf4);
    // jmp to the beginning: behind these three bytes it is RESET + 3.
    let back = u16::try_from(0x1_0000 - RESET - 3).expect("two bytes");
    bios.push(0xe9);
    bios.extend(back.to_le_bytes());
    bios.resize(BIOS_SIZE, 0xf4);
    bios
}

/// Runs QEMU with the plugin; gives what it wrote.
fn run(folder: &Path) -> Vec<u8> {
    let (bios_file, plugin, output) = (folder.join("bios"), folder.join("plugin.so"), folder.join("output"));
    std::fs::write(&bios_file, bios()).expect("written");
    std::fs::write(&plugin, machine::PLUGIN).expect("written");
    let plugin = format!("{},output={}", plugin.display(), output.display());
    let done = Command::new("timeout")
        .args(["60", "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none"])
        .args(["-machine", "q35,accel=tcg", "-icount", "shift=3,sleep=off", "-no-reboot"])
        .args(["-device", "isa-debug-exit,iobase=0xf4", "-plugin", &plugin, "-bios"])
        .arg(&bios_file)
        .output()
        .expect("timeout is part of coreutils");
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    // The device's status is odd; that of `timeout` for a program that did not end is even.
    assert_eq!(done.status.code().map(|code| code & 1), Some(1), "{:?}", done.status);
    std::fs::read(output).expect("the plugin makes it")
}

#[test]
fn a_loop_between_marks_is_counted_to_the_instruction() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::parse(&run(folder.path())).unwrap();
    // What follows the first `rdtsc`: the load, the loop, and the second `rdtsc`.
    let tally = Tally { user: 1 + 2 * u64::from(TURNS) + 1, kernel: 0 };
    assert_eq!(profile.jobs.len(), 1);
    assert_eq!(profile.jobs[0].repetitions, [tally; REPETITIONS]);
    assert_eq!(profile.jobs[0].variants.len(), 1);
    assert_eq!(profile.jobs[0].typical(None).map(|it| it.tally), Some(tally));
}
