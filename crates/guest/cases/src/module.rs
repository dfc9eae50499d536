//! Kernel modules: finit_module(2), delete_module(2).

use std::fs::{self, File};

use harness::check::{Checked, equal, fails, holds, skip};
use harness::child::unprivileged;
use harness::modules::{file_of, listed};
use rustix::io::Errno;
use rustix::system::{delete_module, finit_module};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new(
        "module/load-unload",
        "finit_module(2) with a parameter, delete_module(2), EEXIST, ENOENT",
        load,
    )
    .needs(&[Need::Module("dummy"), Need::Config("MODULE_UNLOAD")])
    .cleanup(remove),
    Case::new(
        "module/in-use",
        "delete_module(2) of a module that another one uses gives EWOULDBLOCK",
        in_use,
    )
    .needs(&[Need::Module("macvtap"), Need::Config("MODULE_UNLOAD")]),
    Case::new(
        "module/refusals",
        "finit_module(2) gives ENOEXEC, EINVAL, EBADF and EPERM as it should",
        refusals,
    )
    .needs(&[Need::Config("MODULES")]),
];

fn load() -> Checked {
    let dummy = file_of("dummy")?;
    if listed("dummy")?.is_none() {
        return skip("the module dummy is built into the kernel");
    }
    fails("load it again", finit_module(&dummy, c"", 0), Errno::EXIST)?;
    delete_module(c"dummy", libc::O_NONBLOCK)?;
    holds("it is not in /proc/modules", listed("dummy")?.is_none())?;
    fails("its directory in sysfs", fs::metadata("/sys/module/dummy"), Errno::NOENT)?;
    fails("delete it again", delete_module(c"dummy", libc::O_NONBLOCK), Errno::NOENT)?;
    fails("a wrong parameter", finit_module(&dummy, c"numdummies=many", 0), Errno::INVAL)?;
    finit_module(&dummy, c"numdummies=2", 0)?;
    equal("state", fs::read_to_string("/sys/module/dummy/initstate")?.trim_end(), "live")?;
    holds("it is in /proc/modules", listed("dummy")?.is_some_and(|line| line.contains(" Live ")))?;
    holds("the parameter reached it", fs::exists("/sys/class/net/dummy1")?)
}

/// Its interfaces go with it; a case that needs it finds it loaded anew.
fn remove() -> Checked {
    match delete_module(c"dummy", libc::O_NONBLOCK) {
        Err(Errno::NOENT) => Ok(()),
        result => Ok(result?),
    }
}

fn in_use() -> Checked {
    let Some(line) = listed("macvlan")? else { return skip("macvlan is built into the kernel") };
    holds(&format!("'{line}' names its user"), line.contains("macvtap,"))?;
    fails("delete", delete_module(c"macvlan", libc::O_NONBLOCK), Errno::WOULDBLOCK)?;
    holds("its user is a holder in sysfs", fs::exists("/sys/module/macvlan/holders/macvtap")?)
}

fn refusals() -> Checked {
    fs::write("text.ko", "this is not an object file ".repeat(200))?;
    let text = File::open("text.ko")?;
    fails("a text", finit_module(&text, c"", 0), Errno::NOEXEC)?;
    fails("unknown flags", finit_module(&text, c"", 1 << 30), Errno::INVAL)?;
    fs::write("empty.ko", "")?;
    fails("an empty file", finit_module(File::open("empty.ko")?, c"", 0), Errno::INVAL)?;
    fails(
        "a file that is not open for reading",
        finit_module(File::create("empty.ko")?, c"", 0),
        Errno::BADF,
    )?;
    fails("no module", delete_module(c"no_such_module", libc::O_NONBLOCK), Errno::NOENT)?;
    unprivileged(|| {
        fails("load without CAP_SYS_MODULE", finit_module(&text, c"", 0), Errno::PERM)?;
        fails("delete without it", delete_module(c"loop", libc::O_NONBLOCK), Errno::PERM)
    })?
    .succeeds()
}
