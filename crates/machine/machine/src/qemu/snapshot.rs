//! The state of a machine, memory and devices, kept and restored in the same QEMU: `snapshot-save` and `snapshot-load` of
//! qapi/migration.json.
//!
//! QEMU keeps it as internal snapshots of a qcow2 file that no device of the guest has, in memory.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hardware::overlay;
use serde_json::{Value, json};

use super::monitor::{Limits, Monitor, ignore_shared};
use crate::vmm::launch::in_memory;

/// QEMU's name for the file with the snapshots.
const NODE: &str = "snapshots";

/// By this number QEMU knows its descriptor.
const DESCRIPTORS: u64 = 1;

/// QEMU's name for what it does for kiln.
const JOB: &str = "snapshot";

/// How long that may take; a fraction of a second for each 100 MiB that the guest uses on an idle host.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How long QEMU may take to end what it has been told to cancel, unless it stands still while it writes memory.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Between two looks whether it is done.
const INTERVAL: Duration = Duration::from_millis(5);

/// Keeps the state of a guest that is held; one of the same name is replaced.
pub(super) fn save(monitor: &mut Monitor, name: &str, is_given_up: &AtomicBool) -> Result<(), String> {
    if has_file(monitor)? {
        // There may be none of this name, which is no error.
        job(monitor, ("snapshot-delete", json!({ "tag": name, "devices": [NODE] })), is_given_up)?;
    } else {
        add_file(monitor)?;
    }
    monitor.execute("migrate-set-capabilities", &ignore_shared(false))?;
    let arguments = json!({ "tag": name, "vmstate": NODE, "devices": [NODE] });
    job(monitor, ("snapshot-save", arguments), is_given_up)
}

/// Puts a guest that is held back into that state.
pub(super) fn load(monitor: &mut Monitor, name: &str, is_given_up: &AtomicBool) -> Result<(), String> {
    let arguments = json!({ "tag": name, "vmstate": NODE, "devices": [NODE] });
    job(monitor, ("snapshot-load", arguments), is_given_up)
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

/// Has QEMU do something in the background, and waits for its end. What takes too long, or is not wanted any more, is cancelled.
fn job(
    monitor: &mut Monitor,
    (command, mut arguments): (&str, Value),
    is_given_up: &AtomicBool,
) -> Result<(), String> {
    arguments["job-id"] = json!(JOB);
    let limits = Limits { deadline: Instant::now() + TIMEOUT, is_given_up };
    // QEMU may answer only when all is done.
    let begun = monitor.execute_within((command, &arguments), &limits);
    let ended = begun.and_then(|_| end_of_job(monitor, &limits));
    if ended.is_err() && limits.reached().is_some() {
        cancel(monitor);
    }
    match ended {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(why),
        Err(why) => Err(format!("{command}: {why}")),
    }
}

/// Ends the job. A QEMU that does not even answer this ends with its machine.
fn cancel(monitor: &mut Monitor) {
    let limits = Limits { deadline: Instant::now() + CANCEL_TIMEOUT, is_given_up: &AtomicBool::new(false) };
    let cancelled = monitor.execute_within(("job-cancel", &json!({ "id": JOB })), &limits);
    let _ = cancelled.and_then(|_| end_of_job(monitor, &limits));
}

/// Waits for the end of the job; gives its error, if it has one. The error of this function says why it has not ended.
fn end_of_job(monitor: &mut Monitor, limits: &Limits<'_>) -> Result<Option<String>, String> {
    loop {
        let jobs = monitor.execute_within(("query-jobs", &json!({})), limits)?;
        let own = jobs.as_array().and_then(|jobs| jobs.iter().find(|job| job["id"] == JOB));
        let Some(own) = own else { return Err("QEMU has forgotten it".to_string()) };
        if own["status"] == "concluded" {
            monitor.execute("job-dismiss", &json!({ "id": JOB }))?;
            return Ok(own["error"].as_str().map(str::to_string));
        }
        if let Some(why) = limits.reached() {
            return Err(why.to_string());
        }
        std::thread::sleep(INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::sync_channel;
    use std::thread::JoinHandle;

    use super::*;

    /// A QEMU whose job ends by itself or when it is cancelled; gives the commands that it got.
    fn qemu(monitor: OwnedFd, ends_by_itself: bool) -> JoinHandle<Vec<String>> {
        let mut socket = UnixStream::from(monitor);
        std::thread::spawn(move || {
            let (mut commands, mut has_ended) = (Vec::new(), ends_by_itself);
            for line in BufReader::new(socket.try_clone().unwrap()).lines() {
                let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
                let command = request["execute"].as_str().unwrap().to_string();
                has_ended |= command == "job-cancel";
                let status = if has_ended { "concluded" } else { "running" };
                let answer = match command.as_str() {
                    "query-jobs" => json!([{ "id": JOB, "status": status }]),
                    _ => json!({}),
                };
                writeln!(socket, "{}", json!({ "return": answer, "id": request["id"] })).unwrap();
                commands.push(command);
                if commands.last().is_some_and(|last| last == "job-dismiss") {
                    break;
                }
            }
            commands
        })
    }

    fn commands_of_load(ends_by_itself: bool, is_given_up: bool) -> (Result<(), String>, Vec<String>) {
        let (mut monitor, its) = Monitor::new(sync_channel(1).0).unwrap();
        let qemu = qemu(its, ends_by_itself);
        let loaded = load(&mut monitor, "it", &AtomicBool::new(is_given_up));
        (loaded, qemu.join().unwrap())
    }

    #[test]
    fn a_job_is_waited_for_and_dismissed() {
        let (loaded, commands) = commands_of_load(true, false);
        assert_eq!(loaded, Ok(()));
        assert_eq!(commands, ["qmp_capabilities", "snapshot-load", "query-jobs", "job-dismiss"]);
    }

    #[test]
    fn a_job_that_is_not_wanted_any_more_is_cancelled_and_dismissed() {
        let (loaded, commands) = commands_of_load(false, true);
        assert_eq!(loaded, Err("snapshot-load: it is not wanted any more".to_string()));
        let after = ["query-jobs", "job-cancel", "query-jobs", "job-dismiss"];
        assert_eq!(commands, [&["qmp_capabilities", "snapshot-load"][..], &after].concat());
    }
}
