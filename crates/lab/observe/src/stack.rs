//! The stack of a thread of another program, with inlined functions and lines of source where there is debug information.
//!
//! * [`image`]: the files that are mapped into a process
//! * [`names`]: what is at an address of such a file
//! * [`threads`]: the stacks of all threads of a process

mod image;
mod names;
mod threads;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Unwinder};

use image::Image;
pub use names::{Frame, Names};
pub use threads::{ThreadStack, stacks};

/// Most calls that are followed: what recurses without end has crashed because of that.
const DEPTH_MAX: usize = 256;

/// The memory of a process, and how its functions return.
pub struct Unwinding {
    memory: File,
    images: Vec<Image>,
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
}

impl std::fmt::Debug for Unwinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinding").field("images", &self.images).finish_non_exhaustive()
    }
}

/// An instruction of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Where it is in memory.
    pub address: u64,
    /// The file that is mapped there, by its place among those of [`Unwinding`].
    image: Option<usize>,
    /// Its address as the file counts, to look it up.
    file_address: u64,
}

impl Unwinding {
    /// Reads what is mapped into a process.
    ///
    /// # Errors
    ///
    /// When its memory may not be read.
    pub fn new(process: i32) -> io::Result<Self> {
        let memory = File::open(format!("/proc/{process}/mem"))?;
        let mut unwinder = UnwinderX86_64::new();
        let images = image::images(process);
        images.iter().filter_map(Image::module).for_each(|module| unwinder.add_module(module));
        Ok(Self { memory, images, unwinder, cache: CacheX86_64::new() })
    }

    /// The calls of a stopped thread, the innermost first.
    pub fn calls(&mut self, registers: &libc::user_regs_struct) -> Vec<Call> {
        let memory = &self.memory;
        let mut read = |address: u64| {
            let mut word = [0; 8];
            memory.read_exact_at(&mut word, address).map(|()| u64::from_ne_bytes(word)).map_err(drop)
        };
        let start = UnwindRegsX86_64::new(registers.rip, registers.rsp, registers.rbp);
        let mut frames = self.unwinder.iter_frames(registers.rip, start, &mut self.cache, &mut read);
        let mut calls = Vec::new();
        while calls.len() < DEPTH_MAX
            && let Ok(Some(frame)) = frames.next()
        {
            calls.push(call(&self.images, frame));
        }
        calls
    }

    /// What is at the calls: inlined functions are frames of their own.
    pub fn frames(&self, calls: &[Call], names: &mut Names) -> Vec<Frame> {
        let frames = |call: &Call| {
            names.frames(call.address, call.file_address, call.image.map(|at| &self.images[at]))
        };
        calls.iter().flat_map(frames).collect()
    }
}

/// A call returns to the instruction after it; that before says which function and line made it.
fn call(images: &[Image], frame: FrameAddress) -> Call {
    let (address, lookup) = (frame.address(), frame.address_for_lookup());
    let image = images.iter().position(|image| image.addresses.contains(&lookup));
    let bias = image.map_or(0, |at| images[at].bias);
    Call { address, image, file_address: lookup.wrapping_sub(bias) }
}
