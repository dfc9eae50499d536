//! Loads what drives the machine's devices, and waits until its disks are there.

use std::path::Path;
use std::time::{Duration, Instant};

use harness::modules::load;
use protocol::devices::{DESCRIPTION, Devices};

/// How long disks may take to be found: usb-storage alone waits for one second first.
const DISKS_LIMIT: Duration = Duration::from_secs(20);

/// Between two looks for them.
const INTERVAL: Duration = Duration::from_millis(20);

/// Makes the devices of this machine usable; gives what went wrong.
pub(crate) fn prepare() -> Vec<String> {
    let Ok(description) = std::fs::read(DESCRIPTION) else { return Vec::new() };
    let Ok(devices) = Devices::decode(&description) else { return vec![format!("{DESCRIPTION} is damaged")] };
    let loaded = devices.modules.iter().map(|path| load(Path::new(path)));
    let mut trouble: Vec<String> = loaded.filter_map(|loaded| Some(loaded.err()?.0.text)).collect();
    let found = wait_for(devices.disks);
    if found < devices.disks {
        trouble.push(format!("the machine has {} disks, and the kernel found {found}", devices.disks));
    }
    trouble
}

/// Waits for so many disks; gives how many there are.
fn wait_for(disks: u32) -> u32 {
    let deadline = Instant::now() + DISKS_LIMIT;
    loop {
        let found = self::disks();
        if found >= disks || Instant::now() >= deadline {
            return found;
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Block devices that stand for hardware, not for a file or memory.
fn disks() -> u32 {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let count = entries.filter(|entry| entry.path().join("device").exists()).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}
