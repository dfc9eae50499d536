//! The content of `.ko`, `.ko.gz`, `.ko.xz` and `.ko.zst` files.

use std::io::{self, Read};

use liblzma::read::XzDecoder;
use liblzma::stream::Stream;

/// What a decoder may use besides its result; the kernel's own build needs at most 2 MiB for xz and 8 for zstd.
const MEMORY: u64 = 256 << 20;

/// Decompresses by the first bytes, not by the name; other content is given back as it is.
pub(crate) fn decompress(content: Vec<u8>, limit: u64) -> Result<Vec<u8>, String> {
    let bytes = content.as_slice();
    let result = match bytes {
        [0x1f, 0x8b, ..] => bounded(flate2::read::MultiGzDecoder::new(bytes), limit),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => xz(bytes, limit),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd(bytes, limit),
        _ => return Ok(content),
    };
    result.map_err(|error| format!("cannot be decompressed: {error}"))
}

fn xz(bytes: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let stream = Stream::new_stream_decoder(MEMORY, 0).map_err(io::Error::other)?;
    bounded(XzDecoder::new_stream(bytes, stream), limit)
}

fn zstd(bytes: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(io::Error::other)?;
    bounded(decoder, limit)
}

fn bounded(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    reader.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::other(format!("more than {limit} bytes")));
    }
    Ok(content)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    pub(crate) fn xz(content: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    pub(crate) fn zstd(content: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn each_kind_is_bounded() {
        let content = vec![7; 5000];
        for packed in [gzip(&content), xz(&content), zstd(&content)] {
            assert!(packed.len() < content.len());
            assert_eq!(decompress(packed.clone(), 5000).unwrap(), content);
            let error = decompress(packed, 4999).unwrap_err();
            assert!(error.contains("more than 4999 bytes"), "{error}");
        }
        assert_eq!(decompress(content.clone(), 1).unwrap(), content, "what is not compressed is not touched");
    }

    #[test]
    fn a_cut_is_an_error() {
        let content: Vec<u8> = (0..5000u32).flat_map(u32::to_le_bytes).collect();
        for packed in [gzip(&content), xz(&content), zstd(&content)] {
            decompress(packed[..packed.len() / 2].to_vec(), 1 << 20).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(content: Vec<u8>) {
            for packed in [gzip(&content), xz(&content), zstd(&content)] {
                prop_assert_eq!(decompress(packed, 1 << 20).unwrap(), content.clone());
            }
        }

        #[test]
        fn damaged_files_never_panic(content: Vec<u8>, at: prop::sample::Index, byte: u8) {
            for mut packed in [gzip(&content), xz(&content), zstd(&content)] {
                let at = at.index(packed.len());
                packed[at] = byte;
                let _ = decompress(packed, 1 << 16);
            }
        }
    }
}
