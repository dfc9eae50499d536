//! The state of a machine, memory and devices, kept and restored in the same QEMU: `snapshot-save` and `snapshot-load` of
//! qapi/migration.json.
//!
//! QEMU keeps it as internal snapshots of a qcow2 file that no device of the guest has, in memory.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use hardware::overlay;
use serde_json::{Value, json};

use super::monitor::{Monitor, ignore_shared};
use crate::vmm::launch::in_memory;

/// QEMU's name for the file with the snapshots.
const NODE: &str = "snapshots";

/// By this number QEMU knows its descriptor.
const DESCRIPTORS: u64 = 1;

/// QEMU's name for what it does for kiln.
const JOB: &str = "snapshot";

/// How long that may take; a fraction of a second for each 100 MiB that the guest uses on an idle host.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Between two looks whether it is done.
const INTERVAL: Duration = Duration::from_millis(5);

/// Keeps the state of a guest that is held; one of the same name is replaced.
pub(super) fn save(monitor: &mut Monitor, name: &str) -> Result<(), String> {
    if has_file(monitor)? {
        // There may be none of this name, which is no error.
        job(monitor, "snapshot-delete", json!({ "tag": name, "devices": [NODE] }))?;
    } else {
        add_file(monitor)?;
    }
    monitor.execute("migrate-set-capabilities", &ignore_shared(false))?;
    job(monitor, "snapshot-save", json!({ "tag": name, "vmstate": NODE, "devices": [NODE] }))
}

/// Puts a guest that is held back into that state.
pub(super) fn load(monitor: &mut Monitor, name: &str) -> Result<(), String> {
    job(monitor, "snapshot-load", json!({ "tag": name, "vmstate": NODE, "devices": [NODE] }))
}

fn has_file(monitor: &mut Monitor) -> Result<bool, String> {
    let nodes = monitor.execute("query-named-block-nodes", &json!({ "flat": true }))?;
    Ok(nodes.as_array().is_some_and(|nodes| nodes.iter().any(|node| node["node-name"] == NODE)))
}

fn add_file(monitor: &mut Monitor) -> Result<(), String> {
    let file = in_memory(NODE, &overlay::empty(0)).map_err(|error| error.to_string())?;
    monitor.execute_with(("add-fd", &json!({ "fdset-id": DESCRIPTORS })), file.as_fd())?;
    let file = json!({
        "driver": "file", "filename": format!("/dev/fdset/{DESCRIPTORS}"), "locking": "off"
    });
    let node = json!({ "driver": "qcow2", "node-name": NODE, "file": file });
    monitor.execute("blockdev-add", &node).map(drop)
}

/// Has QEMU do something in the background, and waits for its end.
fn job(monitor: &mut Monitor, command: &str, mut arguments: Value) -> Result<(), String> {
    arguments["job-id"] = json!(JOB);
    monitor.execute(command, &arguments)?;
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline {
        let jobs = monitor.execute("query-jobs", &json!({}))?;
        let own = jobs.as_array().and_then(|jobs| jobs.iter().find(|job| job["id"] == JOB));
        let Some(own) = own else { return Err(format!("QEMU has forgotten its {command}")) };
        if own["status"] == "concluded" {
            monitor.execute("job-dismiss", &json!({ "id": JOB }))?;
            return own["error"].as_str().map_or(Ok(()), |why| Err(why.to_string()));
        }
        std::thread::sleep(INTERVAL);
    }
    Err(format!("its {command} did not end within {} s", TIMEOUT.as_secs()))
}
