//! What a kernel says about its machine at any time, and which has nothing to do with what runs.

use console::message;

/// How such lines begin, and why they say nothing about a case.
const BEGINNINGS: &[(&str, &str)] = &[
    ("tsc: ", "the clock is measured a second after the boot, by a delayed work"),
    ("clocksource: ", "the kernel changes to a better clock, or mistrusts one since the host was busy"),
    ("sched_clock: ", "the same for the scheduler's clock"),
    ("random: crng ", "random numbers became ready, or were seeded again after a clone woke"),
    ("hrtimer: interrupt took ", "the host was busy"),
    ("perf: interrupt took too long", "the host was busy"),
];

/// Whether a line of the kernel log, or of the console, is of this kind.
#[must_use]
pub fn is_noise(line: &str) -> bool {
    let text = message(line);
    BEGINNINGS.iter().any(|(beginning, _)| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_noise_and_defects_are_not() {
        for line in [
            "tsc: Refined TSC clocksource calibration: 2499.998 MHz",
            "clocksource: tsc: mask: 0xffffffffffffffff max_cycles: 0x24092f11d63, max_idle_ns: 440795237461 ns",
            "clocksource: Switched to clocksource tsc",
            "random: crng init done",
            "[    1.234567] tsc: Refined TSC clocksource calibration: 2499.998 MHz",
            "<6>[    1.234567][    T1] clocksource: Switched to clocksource tsc",
        ] {
            assert!(is_noise(line), "{line}");
        }
        for line in ["WARNING: CPU: 0 PID: 1 at tsc: x", "random: it is broken", "", "EXT4-fs error"] {
            assert!(!is_noise(line), "{line}");
        }
    }
}
