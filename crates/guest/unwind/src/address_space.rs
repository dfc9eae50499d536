//! The code of a process: from registers to calls.

use std::ops::Range;
use std::sync::Arc;

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Unwinder};

use crate::code::Library;
use crate::image::{Image, images};
use crate::names::{Frame, Names};

/// Most calls that are followed: what recurses without end has crashed because of that.
const DEPTH_MAX: usize = 256;

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// The instruction pointer.
    pub rip: u64,
    /// The stack pointer.
    pub rsp: u64,
    /// The base pointer.
    pub rbp: u64,
}

/// The files with code that are mapped into a process, and how their functions return.
#[derive(Default)]
pub struct AddressSpace {
    images: Vec<Image>,
    unwinder: UnwinderX86_64<Arc<[u8]>>,
    /// What unwinding remembers from one stack to the next. A process that nobody looks at needs none.
    cache: Option<Box<CacheX86_64>>,
}

impl std::fmt::Debug for AddressSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddressSpace").field("images", &self.images).finish_non_exhaustive()
    }
}

impl Clone for AddressSpace {
    fn clone(&self) -> Self {
        Self { images: self.images.clone(), unwinder: self.unwinder.clone(), cache: None }
    }
}

/// The calls of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwound {
    /// The innermost first.
    pub calls: Vec<Call>,
    /// They end with the first one.
    pub is_whole: bool,
}

/// An instruction of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Where it is in memory.
    pub address: u64,
    /// The file that is mapped there, by its place among those of [`AddressSpace`].
    image: Option<usize>,
    /// Its address as the file counts, to look it up.
    pub file_address: u64,
}

impl AddressSpace {
    /// That of a process that lives.
    #[must_use]
    pub fn of_process(process: i32, library: &mut Library) -> Self {
        let mut this = Self::default();
        images(process, library).into_iter().for_each(|image| this.map(image));
        this
    }

    /// Maps a file in, over what was there.
    pub fn map(&mut self, image: Image) {
        self.unmap(&image.addresses);
        self.unwinder.add_module(image.module());
        self.images.push(image);
    }

    fn unmap(&mut self, addresses: &Range<u64>) {
        let overlaps =
            |image: &Image| image.addresses.start < addresses.end && addresses.start < image.addresses.end;
        for image in self.images.extract_if(.., |image| overlaps(image)) {
            self.unwinder.remove_module(image.addresses.start);
        }
    }

    /// The calls of a thread. `read` gives the word at an address of its stack.
    pub fn calls(&mut self, registers: Registers, read: &mut dyn FnMut(u64) -> Option<u64>) -> Unwound {
        let Registers { rip, rsp, rbp } = registers;
        let mut read = |address| read(address).ok_or(());
        let start = UnwindRegsX86_64::new(rip, rsp, rbp);
        let cache = self.cache.get_or_insert_default();
        let mut frames = self.unwinder.iter_frames(rip, start, cache, &mut read);
        let mut calls = Vec::new();
        while calls.len() < DEPTH_MAX {
            match frames.next() {
                Ok(Some(frame)) => calls.push(call(&self.images, frame)),
                ended => return Unwound { calls, is_whole: ended.is_ok() },
            }
        }
        Unwound { calls, is_whole: false }
    }

    /// The file of a call, until another one is mapped.
    #[must_use]
    pub fn image(&self, call: &Call) -> Option<&Image> {
        self.images.get(call.image?)
    }

    /// What is at the calls: inlined functions are frames of their own.
    pub fn frames(&self, calls: &[Call], names: &mut Names) -> Vec<Frame> {
        calls
            .iter()
            .flat_map(|call| names.frames(call.address, call.file_address, self.image(call)))
            .collect()
    }
}

/// A call returns to the instruction after it; that before says which function and line made it.
fn call(images: &[Image], frame: FrameAddress) -> Call {
    let (address, lookup) = (frame.address(), frame.address_for_lookup());
    let image = images.iter().position(|image| image.addresses.contains(&lookup));
    let bias = image.map_or(0, |at| images[at].bias);
    Call { address, image, file_address: lookup.wrapping_sub(bias) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::code::Library;

    #[test]
    fn what_is_mapped_over_another_file_takes_its_place() {
        let mut library = Library::default();
        let mut space = AddressSpace::of_process(std::process::id().cast_signed(), &mut library);
        let this = std::env::current_exe().expect("it runs");
        let code = library.read(File::open(&this).expect("it is there"), &this).expect("a program");
        let before = space.images.len();
        assert!(before > 1, "{space:?}");
        let here = 0x1000..0x9000;
        let image = |name: &str, addresses: Range<u64>| {
            Image::new(name, code.clone(), addresses, 0).expect("the file begins so")
        };
        space.map(image("first", here.clone()));
        space.map(image("second", 0x8000..0xa000));
        assert_eq!(space.images.len(), before + 1);
        assert_eq!(&*space.images.last().expect("one").name, "second");
    }

    #[test]
    fn registers_without_sense_are_one_call() {
        let mut space = AddressSpace::default();
        let registers = Registers { rip: 0x1234, rsp: u64::MAX - 3, rbp: 7 };
        let Unwound { calls, is_whole } = space.calls(registers, &mut |_| None);
        assert!(!is_whole);
        assert_eq!(calls, [Call { address: 0x1234, image: None, file_address: 0x1234 }]);
        assert_eq!(space.frames(&calls, &mut Names::default())[0].function, None);
    }
}
