//! Devices and kernel objects as files: sysfs(5).

use std::fs;

use harness::check::{Checked, equal, fails, holds};
use harness::child::unprivileged;
use rustix::fs::{Mode, OFlags, open, statfs};
use rustix::io::Errno;

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new("sysfs/attribute", "an attribute is read back as written; nonsense gives EINVAL", attribute)
        .needs(&[Need::Config("NET")])
        .cleanup(restore),
    Case::new(
        "sysfs/read-only",
        "attributes without a store function cannot be written, even by root",
        read_only,
    )
    .needs(&[Need::Config("NET")]),
    Case::new("sysfs/links", "/sys/class and /sys/dev lead to one device, whose links lead back", links),
];

const SYSFS: i64 = 0x6265_6572;
const MTU: &str = "/sys/class/net/lo/mtu";

fn attribute() -> Checked {
    equal("type of statfs", statfs("/sys")?.f_type, SYSFS)?;
    for value in ["1500\n", "65536\n"] {
        fs::write(MTU, value)?;
        equal("value", fs::read_to_string(MTU)?, value)?;
    }
    fails("a value that is no number", fs::write(MTU, "many"), Errno::INVAL)?;
    equal("value after the refused write", fs::read_to_string(MTU)?, "65536\n")?;
    unprivileged(|| fails("write by another user", fs::write(MTU, "1500"), Errno::ACCESS))?.succeeds()
}

fn restore() -> Checked {
    Ok(fs::write(MTU, "65536")?)
}

fn read_only() -> Checked {
    let index = "/sys/class/net/lo/ifindex";
    equal("index of the loopback interface", fs::read_to_string(index)?, "1\n")?;
    fails("open to write", open(index, OFlags::WRONLY, Mode::empty()), Errno::ACCESS)?;
    fails("make a file", fs::write("/sys/kernel/kiln", ""), Errno::ACCESS)?;
    fails("make a directory", fs::create_dir("/sys/kernel/kiln"), Errno::PERM)?;
    fails("remove a file", fs::remove_file(index), Errno::PERM)?;
    let action = "/sys/class/mem/null/uevent";
    let contents = fs::read_to_string(action)?;
    equal("uevent of the null device", contents, "MAJOR=1\nMINOR=3\nDEVNAME=null\nDEVMODE=0666\n")
}

fn links() -> Checked {
    let device = fs::canonicalize("/sys/class/mem/null")?;
    equal("device", device.to_string_lossy().as_ref(), "/sys/devices/virtual/mem/null")?;
    equal("the same by its number", fs::canonicalize("/sys/dev/char/1:3")?, device.clone())?;
    let subsystem = fs::canonicalize(device.join("subsystem"))?;
    equal("its subsystem", subsystem.to_string_lossy().as_ref(), "/sys/class/mem")?;
    let node = rustix::fs::stat("/dev/null")?.st_rdev;
    let number = format!("{}:{}\n", rustix::fs::major(node), rustix::fs::minor(node));
    equal("number of the node in /dev", fs::read_to_string(device.join("dev"))?, number)?;
    holds("it is an entry of its class", fs::exists("/sys/class/mem/null")?)
}
