//! The image of a kernel, as it is mapped: code, data, symbols.

use crate::memory::{Look, Memory};

/// Where x86-64 maps the kernel: `__START_KERNEL_map` of Documentation/arch/x86/x86_64/mm.rst, and the modules behind it.
const BEGIN: u64 = 0xffff_ffff_8000_0000;
const END: u64 = 0xffff_ffff_c000_0000;

/// The largest image that is read.
const SIZE_MAX: u64 = 256 << 20;

/// The image: what is not mapped is zero.
pub(crate) struct Image {
    /// Where it begins.
    pub(crate) begin: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Image {
    /// Reads what is mapped; nothing if that is too little or too much for a kernel.
    pub(crate) fn read(memory: &mut Memory<'_>) -> Option<Self> {
        let parts = parts(memory);
        let begin = parts.first()?.0;
        let end = parts.last().map(|(address, length)| address + length)?;
        let size = Some(end - begin).filter(|size| *size <= SIZE_MAX)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        for (address, length) in parts {
            let at = usize::try_from(address - begin).ok()?;
            memory.read(address, &mut bytes[at..at + usize::try_from(length).ok()?])?;
        }
        Some(Self { begin, bytes })
    }

    /// What is at an address, if it is in the image.
    pub(crate) fn at(&self, address: u64, length: usize) -> Option<&[u8]> {
        let begin = usize::try_from(address.checked_sub(self.begin)?).ok()?;
        self.bytes.get(begin..begin.checked_add(length)?)
    }
}

/// What is mapped of the region, in its order.
fn parts(memory: &mut Memory<'_>) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let mut address = BEGIN;
    while address < END {
        let left = END - address;
        let length = match memory.look(address) {
            Look::Mapped { length, .. } => {
                parts.push((address, length.min(left)));
                length
            }
            Look::Hole { length } => length,
        };
        address += length.min(left);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::Bytes;

    #[test]
    fn what_is_mapped_is_the_image_with_holes_of_zeros() {
        let mut machine = Bytes(vec![0; 8 << 20]);
        for (table, index, entry) in [
            (0x1000, 511, 0x2003),
            (0x2000, 510, 0x3003),
            (0x3000, 8, 0x20_0083),
            (0x3000, 9, 0x4003),
            (0x4000, 1, 0x5003),
        ] {
            machine.set(table + 8 * index, entry);
        }
        machine.set(0x20_0000, 17);
        machine.set(0x5000, 18);
        let image = Image::read(&mut Memory::new(&mut machine, 0x1000, 4)).expect("it is mapped");
        assert_eq!((image.begin, image.bytes.len()), (BEGIN + 8 * (2 << 20), (2 << 20) + 2 * 4096));
        let second = image.begin + (2 << 20) + 4096;
        let first = |address: u64| image.at(address, 8).map(|bytes| bytes[0]);
        assert_eq!([first(image.begin), first(second - 8), first(second)], [Some(17), Some(0), Some(18)]);
        assert_eq!(first(image.begin - 1), None);
        assert!(Image::read(&mut Memory::new(&mut machine, 0x2000, 4)).is_none());
    }
}
