//! Kernel modules: finit_module(2). Its counterpart delete_module(2) waits for RCU while the CPU is idle, so that what it
//! costs cannot be told by counting.

use harness::check::{Checked, holds};
use harness::modules::{file_of, listed};
use protocol::Need;
use rustix::system::{delete_module, finit_module};

use super::parts::long_rest;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[Operation::new(
    "module/load",
    "finit_module(2) of the module dummy, which makes no interface; its signature is checked",
    load,
)
.needs(&[Need::Module("dummy"), Need::Config("MODULE_UNLOAD")])];

fn load(meter: &mut Meter) -> Checked {
    let dummy = file_of("dummy")?;
    meter.around(
        unload,
        |()| finit_module(&dummy, c"numdummies=0", 0),
        |(), ()| {
            holds("it is in /proc/modules", listed("dummy")?.is_some_and(|line| line.contains(" Live ")))
        },
    )?;
    unload()
}

fn unload() -> Checked {
    if listed("dummy")?.is_some() {
        delete_module(c"dummy", libc::O_NONBLOCK)?;
        long_rest();
    }
    Ok(())
}
