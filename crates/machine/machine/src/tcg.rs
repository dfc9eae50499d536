//! What QEMU does wrong with a guest whose instructions it translates: whether it keeps the guest's flags, and whether it keeps
//! [`breakpoints`] that are gone.
//!
//! Up to some version, `cmpxchg8b` and `cmpxchg16b` left in EFLAGS an operand of the instruction before, until the next one that
//! computes flags. An interrupt in between saves them, and on the way back the processor faults: kernels since 6.5 branch right behind
//! `cmpxchg16b` where they allocate memory, and died of a double fault. Such a QEMU gets a processor without the instruction, for which the
//! kernel has another way.

mod breakpoints;
mod question;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use host::contain;
use rustix::fs::{MemfdFlags, memfd_create};

pub use breakpoints::keeps_breakpoints;
use question::Question;

/// A busy host starts QEMU within this time.
const DEADLINE: Duration = Duration::from_secs(20);

/// How often it is looked whether QEMU has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// The firmware is the guest: bytes at the end of the first MiB, and where a processor begins.
const ROM: usize = 64 << 10;
const RESET: usize = ROM - 16;

/// A jump to the begin of the firmware.
const JUMP: &[u8] = &[0xea, 0x00, 0x00, 0x00, 0xf0];

/// Where QEMU hears how the guest ends: it exits with twice the byte and one.
const EXIT: &str = "isa-debug-exit,iobase=0xf4,iosize=0x01";
const KEEPS: i32 = 1;
const LOSES: i32 = 3;

const BEFORE: &[u8] = &[
    0xfa, // cli
    0x31, 0xc0, // xor %ax, %ax
    0x8e, 0xd8, // mov %ax, %ds
    0x8e, 0xd0, // mov %ax, %ss
    0xbc, 0x00, 0x70, // mov $0x7000, %sp
    0x66, 0x9c, // pushfl
    0x66, 0x9d, // popfl: the flags are known to QEMU as they are
    0xeb, 0x00, // jmp to the next: it begins another block of translated code
    0x66, 0xb9, 0xc2, 0xdf, 0xb7, 0x01, // mov $0x01b7dfc2, %ecx
    0x66, 0x01, 0xcb, // add %ecx, %ebx
];

/// What may lose them.
const EXCHANGE: &[u8] = &[0x0f, 0xc7, 0x0e, 0x00, 0x06]; // cmpxchg8b 0x600

const AFTER: &[u8] = &[
    0x66, 0x9c, // pushfl
    0x66, 0x58, // pop %eax
    0x66, 0xa9, 0x00, 0x00, 0xb7,
    0x01, // test $0x01b70000, %eax: what of the operand is no flag of a sum
    0x0f, 0x95, 0xc0, // setnz %al
    0xe6, 0xf4, // out %al, $0xf4
    0xf4, // hlt
];

static QUESTION: Question = Question::new("tcg");

/// Whether this QEMU keeps the flags of its guests. The answer is remembered as long as the program is the same; where it cannot be
/// found out, it is no.
#[must_use]
pub fn keeps_flags(program: &Path) -> bool {
    QUESTION.answer(program, || attempt(program, EXCHANGE))
}

/// Starts QEMU with the guest; nothing if it does not come to its end.
fn attempt(program: &Path, exchange: &[u8]) -> Option<bool> {
    let mut qemu = start(program, &rom(exchange)).ok()?;
    let begun = Instant::now();
    let status = loop {
        match qemu.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < DEADLINE => std::thread::sleep(PAUSE),
            _ => {
                // It is gone in either case.
                let _ = qemu.kill().and_then(|()| qemu.wait());
                return None;
            }
        }
    };
    match status.code() {
        Some(KEEPS) => Some(true),
        Some(LOSES) => Some(false),
        _ => None,
    }
}

fn start(program: &Path, rom: &[u8]) -> io::Result<Child> {
    let mut firmware = File::from(memfd_create("firmware", MemfdFlags::CLOEXEC)?);
    firmware.write_all(rom)?;
    let mut command = Command::new(program);
    command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-m", "2M"]);
    command.args(["-machine", "pc,accel=tcg", "-cpu", "max", "-device", EXIT, "-bios", "/dev/stdin"]);
    command.stdin(firmware).stdout(Stdio::null()).stderr(Stdio::null());
    contain(&mut command);
    command.spawn()
}

fn rom(exchange: &[u8]) -> Vec<u8> {
    let mut rom = [BEFORE, exchange, AFTER].concat();
    rom.resize(ROM, 0);
    rom[RESET..RESET + JUMP.len()].copy_from_slice(JUMP);
    rom
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::QemuProgram;

    #[test]
    fn a_guest_tells_whether_its_flags_are_kept() {
        let program = QemuProgram::locate().expect("installed for the tests");
        let no_operation = [0x90; EXCHANGE.len()];
        assert_eq!(attempt(&program, &no_operation), Some(true), "an addition leaves flags alone");
        let operand = [0x66, 0x51, 0xeb, 0x03, 0x90]; // pushl %ecx, and past the pushfl
        assert_eq!(attempt(&program, &operand), Some(false), "an operand is no flags");
        assert!(attempt(&program, EXCHANGE).is_some());
    }

    #[test]
    fn a_program_that_is_no_qemu_says_nothing() {
        assert_eq!(attempt(Path::new("/bin/true"), EXCHANGE), None);
        assert_eq!(attempt(Path::new("/no/such/program"), EXCHANGE), None);
        assert!(!keeps_flags(Path::new("/bin/true")));
    }
}
