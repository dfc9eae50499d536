//! Any file given as a kernel.

#![no_main]

use kernel::image;
use libfuzzer_sys::{Corpus, fuzz_target};

/// The sector in which a bzImage says what it is.
const HEADER: usize = 0x260;

fuzz_target!(|input: &[u8]| -> Corpus {
    look(input);
    // The same bytes behind the marks of a bzImage and of an ELF file, which chance would not find.
    let mut marked = input.to_vec();
    marked.resize(input.len().max(HEADER), 0);
    marked[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    marked[0x202..0x206].copy_from_slice(b"HdrS");
    look(&marked);
    look(&[b"\x7fELF\x02\x01\x01", input].concat());
    Corpus::Keep
});

fn look(bytes: &[u8]) {
    match image::recognise(bytes) {
        Ok(found) => {
            let release = found.release();
            assert!(release.is_none_or(|text| !text.contains('/') && !text.starts_with('.')));
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
        }
    }
}
