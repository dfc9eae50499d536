//! The stack of a thread of another program, with inlined functions and lines of source where there is debug information.
//!
//! * [`threads`]: the stacks of all threads of a process

mod threads;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub use threads::{ThreadStack, stacks};
use unwind::{AddressSpace, Call, Library, Registers};
pub use unwind::{Frame, Names};

/// The memory of a process, and how its functions return.
#[derive(Debug)]
pub struct Unwinding {
    memory: File,
    space: AddressSpace,
}

impl Unwinding {
    /// Reads what is mapped into a process.
    ///
    /// # Errors
    ///
    /// When its memory may not be read.
    pub fn new(process: i32) -> io::Result<Self> {
        let memory = File::open(format!("/proc/{process}/mem"))?;
        Ok(Self { memory, space: AddressSpace::of_process(process, &mut Library::default()) })
    }

    /// The calls of a stopped thread, the innermost first.
    pub fn calls(&mut self, registers: &libc::user_regs_struct) -> Vec<Call> {
        let memory = &self.memory;
        let mut read = |address: u64| {
            let mut word = [0; 8];
            memory.read_exact_at(&mut word, address).ok().map(|()| u64::from_ne_bytes(word))
        };
        let registers = Registers { rip: registers.rip, rsp: registers.rsp, rbp: registers.rbp };
        self.space.calls(registers, &mut read).calls
    }

    /// What is at the calls: inlined functions are frames of their own.
    pub fn frames(&self, calls: &[Call], names: &mut Names) -> Vec<Frame> {
        self.space.frames(calls, names)
    }
}
