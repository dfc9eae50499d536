//! A program of this host that runs in a machine: where it is there, and what its functions are called.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use object::{Object, ObjectSegment, SegmentFlags, elf::PF_X};
use unwind::{AddressSpace, Code, Frame, Image, Library, Names, Registers};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A program, which may be anywhere.
#[derive(Debug)]
pub struct Program {
    name: String,
    code: Arc<Code>,
    segments: Vec<Segment>,
    names: Names,
}

/// A part of it that has code.
#[derive(Debug)]
struct Segment {
    address: u64,
    offset: u64,
    bytes: Vec<u8>,
}

/// A thread of a program: where it is, the code there, and its stack from its stack pointer on.
#[derive(Debug, Clone, Copy)]
pub struct Thread<'a> {
    /// Its registers.
    pub registers: Registers,
    /// An address of code, and what is there: as much as makes it known.
    pub code: (u64, &'a [u8]),
    /// Its stack.
    pub stack: &'a [u8],
}

impl Program {
    /// Reads a program; nothing if it has no code.
    #[must_use]
    pub fn open(path: &Path) -> Option<Self> {
        let bytes = std::fs::read(path).ok()?;
        let object = object::File::parse(&*bytes).ok()?;
        let segments = object.segments().filter_map(|segment| {
            let is_code =
                matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.contains(PF_X));
            let bytes = segment.data().ok().filter(|_| is_code)?.to_vec();
            Some(Segment { address: segment.address(), offset: segment.file_range().0, bytes })
        });
        let segments: Vec<Segment> = segments.collect();
        let code = Library::default().read(File::open(path).ok()?, path)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        (!segments.is_empty()).then(|| Self { name, code, segments, names: Names::default() })
    }

    /// The functions of a thread, the innermost first; nothing if it is not in this program.
    pub fn frames(&mut self, thread: Thread<'_>) -> Option<Vec<Frame>> {
        let Thread { registers, code: (address, code), stack } = thread;
        let image = self.segments.iter().find_map(|segment| {
            let bias = segment.bias(address, code)?;
            // Whole pages are mapped.
            let before = segment.offset % PAGE;
            let begin = bias.wrapping_add(segment.address).wrapping_sub(before);
            let end = begin.checked_add(before)?.checked_add(segment.bytes.len() as u64)?;
            Image::new(&self.name, Arc::clone(&self.code), begin..end, segment.offset - before)
        })?;
        let mut space = AddressSpace::default();
        space.map(image);
        let mut word = |at: u64| {
            let begin = usize::try_from(at.checked_sub(registers.rsp)?).ok()?;
            Some(u64::from_le_bytes(stack.get(begin..begin.checked_add(8)?)?.try_into().ok()?))
        };
        let calls = space.calls(registers, &mut word).calls;
        Some(space.frames(&calls, &mut self.names))
    }
}

impl Segment {
    /// What addresses in the machine are more than those of the file, if this code is in it.
    fn bias(&self, address: u64, code: &[u8]) -> Option<u64> {
        let own = |at: usize| self.address.wrapping_add(at as u64);
        let found = memmem::find_iter(&self.bytes, code).map(own);
        let mut biases = found.map(|own| address.wrapping_sub(own)).filter(|bias| bias.is_multiple_of(PAGE));
        // Code that is there twice may be either.
        biases.next().filter(|_| biases.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_wherever_it_is() {
        let this = std::env::current_exe().expect("it runs");
        let mut program = Program::open(&this).expect("a program");
        let here = a_program_is_found_wherever_it_is as fn() as usize as u64;
        // SAFETY: the beginning of this function, which is longer.
        let code = unsafe { std::slice::from_raw_parts(std::ptr::without_provenance(here as usize), 64) };
        for moved in [0, 0x7000_0000] {
            let address = here + moved;
            let registers = Registers { rip: address, rsp: 0x1000, rbp: 0 };
            let frames = program.frames(Thread { registers, code: (address, code), stack: &[] });
            let frames = frames.expect("it is in the program");
            let name = frames[0].function.as_deref().unwrap_or_default();
            assert!(name.contains("a_program_is_found_wherever_it_is"), "{frames:?}");
            assert_eq!(frames[0].address, address);
        }
        let registers = Registers { rip: 0x1000, rsp: 0, rbp: 0 };
        let nowhere = Thread { registers, code: (0x1000, &[0xcc; 64]), stack: &[] };
        assert_eq!(program.frames(nowhere), None);
        assert!(Program::open(Path::new("/proc/version")).is_none());
    }
}
