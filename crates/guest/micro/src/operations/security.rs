//! Rights and what restricts them: credentials(7), capabilities(7), seccomp(2), keyrings(7).

use harness::check::{Checked, equal, holds, skip};
use harness::keys::{add, keyctl, new_session};
use harness::seccomp::{install, on_getppid};
use harness::sys::call;
use protocol::Need;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::parts::gives;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("security/setresuid", "setresuid(2) of the effective user to another and back", set_user)
        .needs(&[Need::Config("MULTIUSER")]),
    Operation::new("security/setgroups", "setgroups(2) with two groups", set_groups)
        .needs(&[Need::Config("MULTIUSER")]),
    Operation::new("security/capget", "capget(2) of this process", capabilities),
    Operation::new(
        "security/seccomp-allowed",
        "getppid(2) with a filter that looks only at the number",
        allowed,
    )
    .needs(FILTERS),
    Operation::new(
        "security/seccomp-run",
        "getppid(2) with a filter that looks at an argument, too",
        filtered,
    )
    .needs(FILTERS),
    Operation::new("security/seccomp-refused", "getppid(2) with a filter that refuses it", refused)
        .needs(FILTERS),
    Operation::new("security/add-key", "add_key(2) over a key of the session", add_key).needs(KEYS),
    Operation::new("security/read-key", "keyctl(2) KEYCTL_READ of 8 bytes", read_key).needs(KEYS),
];

const FILTERS: &[Need] = &[Need::Config("SECCOMP_FILTER")];
const KEYS: &[Need] = &[Need::Config("KEYS")];

fn set_effective(user: usize) -> Result<usize, Errno> {
    // SAFETY: the call takes numbers; -1 keeps what there is.
    unsafe { call(libc::SYS_setresuid, [usize::MAX, user, usize::MAX]) }
}

fn set_user(meter: &mut Meter) -> Checked {
    if set_effective(1) == Err(Errno::INVAL) {
        return skip("this user namespace has no other user");
    }
    equal("the other user", geteuid().as_raw(), 1)?;
    meter.each(|| {
        set_effective(1)?;
        set_effective(0)
    })?;
    equal("the user", geteuid().as_raw(), 0)
}

fn set_groups(meter: &mut Meter) -> Checked {
    let groups = [1_u32, 2];
    // SAFETY: two groups.
    gives(meter, "the result", 0, || unsafe { call(libc::SYS_setgroups, [2, groups.as_ptr().addr()]) })?;
    equal("the groups", rustix::process::getgroups()?.len(), 2)
}

fn capabilities(meter: &mut Meter) -> Checked {
    /// `_LINUX_CAPABILITY_VERSION_3` of <linux/capability.h>, which has two times three words.
    const VERSION: u32 = 0x2008_0522;
    let (header, sets) = ([VERSION, 0], [0_u32; 6]);
    let arguments = [header.as_ptr().addr(), sets.as_ptr().addr()];
    // SAFETY: header and sets have the form that the version says.
    gives(meter, "the result", 0, || unsafe { call(libc::SYS_capget, arguments) })?;
    // SAFETY: the kernel has changed it behind the compiler's back.
    holds("root has capabilities", unsafe { sets.as_ptr().read_volatile() } != 0)
}

/// Measures getppid(2) with a filter in force.
fn with_filter(
    meter: &mut Meter,
    filter: &mut [libc::sock_filter],
    expected: Result<usize, Errno>,
) -> Checked {
    install(filter, 0)?;
    // SAFETY: the call has no arguments.
    gives(meter, "the answer", expected, || Ok(unsafe { call(libc::SYS_getppid, []) }))
}

/// The process that getppid(2) names.
fn parent() -> Result<usize, Errno> {
    // SAFETY: the call has no arguments.
    unsafe { call(libc::SYS_getppid, []) }
}

fn allowed(meter: &mut Meter) -> Checked {
    with_filter(meter, &mut on_getppid(libc::SECCOMP_RET_ALLOW), parent())
}

fn filtered(meter: &mut Meter) -> Checked {
    /// Where the first argument is in `struct seccomp_data`: seccomp(2).
    const ARGUMENT: u32 = 16;
    let [number, test, ..] = on_getppid(libc::SECCOMP_RET_ALLOW);
    let step = |code: u32, k| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let argument = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, ARGUMENT);
    let test = libc::sock_filter { jf: 0, ..test };
    let allow = step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW);
    with_filter(meter, &mut [number, test, argument, allow], parent())
}

fn refused(meter: &mut Meter) -> Checked {
    let action = libc::SECCOMP_RET_ERRNO | libc::EDOM.unsigned_abs();
    with_filter(meter, &mut on_getppid(action), Err(Errno::DOM))
}

/// A key in a keyring of this process.
fn new_key() -> Result<usize, Errno> {
    let keyring = new_session()?;
    add(c"user", c"kiln", b"measured", keyring)
}

fn add_key(meter: &mut Meter) -> Checked {
    let keyring = new_session()?;
    let add = || add(c"user", c"kiln", b"measured", keyring);
    let key = add()?;
    gives(meter, "the key", key, add)
}

fn read_key(meter: &mut Meter) -> Checked {
    let (key, mut payload) = (new_key()?, [0_u8; 8]);
    let buffer = [payload.as_mut_ptr().addr(), payload.len()];
    gives(meter, "bytes", 8, || keyctl(libc::KEYCTL_READ, key, buffer))?;
    keyctl(libc::KEYCTL_READ, key, buffer)?;
    equal("the payload", &payload, b"measured")
}
