//! What the figures depend on besides the request.

use std::arch::x86_64::{__cpuid, CpuidResult};
use std::fs::File;
use std::io::Write;

use protocol::latency::{Grant, TEXT_MAX};
use protocol::results::cut;

/// How long the machine may take to leave an idle state, as long as it is held open.
const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The first leaf of the hypervisor.
const HYPERVISOR: u32 = 0x4000_0000;

/// What stands in `/proc/cpuinfo` of User-Mode Linux, whose CPUID is that of its host.
const UML: &str = "User Mode Linux";

/// The signature of the hypervisor, if there is one.
pub(crate) fn hypervisor() -> Option<String> {
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

/// What the kernel reads the time from.
pub(crate) fn clocksource() -> Option<String> {
    let text = std::fs::read_to_string(CLOCKSOURCE).ok()?;
    Some(cut(text.trim(), TEXT_MAX).to_owned())
}

/// A number in `/proc/sys/kernel`.
pub(crate) fn sysctl<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

/// Asks for a CPU latency. It is granted as long as the file is open.
pub(crate) fn limit_dma_latency(microseconds: Option<u32>) -> (Grant, Option<File>) {
    let Some(microseconds) = microseconds else { return (Grant::NotWanted, None) };
    let opened = File::options().write(true).open(DMA_LATENCY);
    match opened.and_then(|mut file| file.write_all(&microseconds.to_ne_bytes()).map(|()| file)) {
        Ok(file) => (Grant::Granted, Some(file)),
        Err(error) => (Grant::Refused(format!("{DMA_LATENCY}: {error}")), None),
    }
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

    #[test]
    fn nobody_is_asked_for_what_is_not_wanted() {
        let (grant, file) = limit_dma_latency(None);
        assert!(grant == Grant::NotWanted && file.is_none());
    }
}
