//! An empty qcow2 file: writes to an image go there, and the image stays as it is.
//!
//! The format is QEMU's docs/interop/qcow2.txt, version 2. What is behind the overlay is no part of it: QEMU is told.

/// Bits of a cluster: 64 KiB, QEMU's default.
const CLUSTER_BITS: u32 = 16;
const CLUSTER: u64 = 1 << CLUSTER_BITS;

/// Bytes that one entry of the first table covers: a table of the second level has a cluster of entries of 8 bytes.
const COVERED: u64 = CLUSTER / 8 * CLUSTER;

/// Clusters before the first table: the header, the table of reference counts and one block of them.
const BEFORE: u64 = 3;

/// An overlay over an image of so many bytes.
#[must_use]
pub fn empty(size: u64) -> Vec<u8> {
    let entries = size.div_ceil(COVERED);
    let clusters = BEFORE + (entries * 8).div_ceil(CLUSTER);
    let mut file = Vec::new();
    // Magic, version, no backing file named in here.
    file.extend(b"QFI\xfb");
    put32(&mut file, 2);
    put64(&mut file, 0);
    put32(&mut file, 0);
    put32(&mut file, CLUSTER_BITS);
    put64(&mut file, size);
    // Not encrypted; the first table.
    put32(&mut file, 0);
    put32(&mut file, u32::try_from(entries).unwrap_or(u32::MAX));
    put64(&mut file, BEFORE * CLUSTER);
    // The table of reference counts, its clusters; no snapshots.
    put64(&mut file, CLUSTER);
    put32(&mut file, 1);
    put32(&mut file, 0);
    put64(&mut file, 0);
    file.resize(CLUSTER as usize, 0);
    put64(&mut file, 2 * CLUSTER);
    file.resize(2 * CLUSTER as usize, 0);
    // Counts have 16 bits each.
    for _ in 0..clusters {
        file.extend(1_u16.to_be_bytes());
    }
    file.resize((clusters * CLUSTER) as usize, 0);
    file
}

fn put32(file: &mut Vec<u8>, value: u32) {
    file.extend(value.to_be_bytes());
}

fn put64(file: &mut Vec<u8>, value: u64) {
    file.extend(value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// `qemu-img` is no dependency of kiln's, so where it lacks only the form is looked at.
    #[test]
    fn qemu_finds_nothing_wrong_with_it() {
        for size in [512, 64 << 20, 3 << 40] {
            let content = empty(size);
            assert_eq!(content[..4], *b"QFI\xfb");
            assert_eq!(content.len() as u64 % CLUSTER, 0);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &content).unwrap();
            let check = Command::new("qemu-img").args(["check", "-f", "qcow2"]).arg(file.path()).output();
            if let Ok(check) = check {
                let text = String::from_utf8_lossy(&check.stdout).into_owned();
                assert!(check.status.success() && text.contains("No errors were found"), "{size}: {text}");
            }
        }
    }
}
