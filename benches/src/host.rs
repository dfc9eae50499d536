//! What it was measured on.

use machine::host::QemuProgram;

use crate::kiln::Plan;

/// The load of the last minute.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_string()
}

/// Whether others use the host so much that ratios say little: turns are fair, but a machine with two CPUs
/// and its kiln suffer more than one that is alone.
pub(crate) fn is_busy(load: &str) -> bool {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    load.parse::<f64>().is_ok_and(|load| load > cores as f64 / 2.0)
}

/// Host, QEMU, machine and kernel in a few lines.
pub(crate) fn describe(plan: &Plan, load_before: &str) -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let qemu =
        QemuProgram::find().map_or_else(|error| error.to_string(), |qemu| format!("QEMU {}", qemu.version));
    format!(
        "Measured on {model}, {cores} cores, load {load_before} before and {} after;\n{qemu}; {}; {}.",
        load(),
        plan.machine,
        plan.kernel
    )
}
