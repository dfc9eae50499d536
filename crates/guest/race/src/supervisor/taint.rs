//! What the kernel says of itself: `/proc/sys/kernel/tainted`.

/// Flags that report a defect: a bad page (B), an oops (D), a warning (W) and a soft lockup (L).
const DEFECTS: u64 = 1 << 5 | 1 << 7 | 1 << 9 | 1 << 14;

/// The flags for defects that are set; none where this cannot be known.
pub(super) fn now() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/tainted").unwrap_or_default();
    text.trim().parse::<u64>().unwrap_or(0) & DEFECTS
}

/// Whether the kernel has reported a defect of another kind since.
pub(super) fn has_grown_since(before: u64) -> bool {
    now() & !before != 0
}
