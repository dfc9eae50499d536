//! What this machine runs on.

use std::arch::x86_64::{__cpuid, CpuidResult};

/// The first leaf of the hypervisor.
const HYPERVISOR: u32 = 0x4000_0000;

/// What stands in `/proc/cpuinfo` of User-Mode Linux, whose CPUID is that of its host.
const UML: &str = "User Mode Linux";

/// The signature of the hypervisor, if there is one.
#[must_use]
pub fn hypervisor() -> Option<String> {
    if std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(UML)) {
        return Some(UML.to_owned());
    }
    let has_hypervisor = __cpuid(1).ecx >> 31 == 1;
    has_hypervisor.then(|| signature(__cpuid(HYPERVISOR)))
}

/// The twelve characters in EBX, ECX and EDX.
fn signature(leaf: CpuidResult) -> String {
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_read_as_the_hypervisor_wrote_it() {
        let leaf = |text: [&[u8; 4]; 3]| {
            let [ebx, ecx, edx] = text.map(|part| u32::from_le_bytes(*part));
            CpuidResult { eax: 0, ebx, ecx, edx }
        };
        assert_eq!(signature(leaf([b"KVMK", b"VMKV", b"M\0\0\0"])), "KVMKVMKVM");
        assert_eq!(signature(leaf([b"TCGT", b"CGTC", b"GTCG"])), "TCGTCGTCGTCG");
        assert_eq!(signature(leaf([b"\xff\0\0\0"; 3])).chars().next(), Some('\u{fffd}'));
    }
}
