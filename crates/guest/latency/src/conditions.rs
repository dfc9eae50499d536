//! What the figures depend on besides the request.

use std::fs::File;
use std::io::Write;

use protocol::latency::{Grant, TEXT_MAX};
use protocol::results::cut;

/// How long the machine may take to leave an idle state, as long as it is held open.
const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

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
    fn nobody_is_asked_for_what_is_not_wanted() {
        let (grant, file) = limit_dma_latency(None);
        assert!(grant == Grant::NotWanted && file.is_none());
    }
}
