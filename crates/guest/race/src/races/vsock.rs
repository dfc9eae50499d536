//! Sockets between machines and their hosts: vsock(7).

use harness::check::Checked;
use protocol::Need;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::Known;
use super::parts::{Shared, or_skip, set_option, with_address};
use crate::race::Race;
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "net/vsock-transport",
    "SO_VM_SOCKETS_BUFFER_SIZE uses the transport of a socket that connect(2) exchanges",
    &["c518adafa39f"],
    transport,
)
.cve("2021-26708")
.needs(&[Need::Module("vsock")])];

/// `SO_VM_SOCKETS_BUFFER_SIZE` of <linux/vm_sockets.h>.
const BUFFER_SIZE: (i32, i32) = (libc::AF_VSOCK, 0);

fn transport(runner: &Runner) -> Checked {
    drop(or_skip("sockets of AF_VSOCK", open())?);
    let vsock = Shared::new();
    let [local, host] = [libc::VMADDR_CID_LOCAL, libc::VMADDR_CID_HOST].map(address);
    let create = || {
        let socket = open()?;
        // Nobody listens there: what matters is that the socket gets a transport, where there is one.
        let _ = with_address(libc::connect, socket.as_raw_fd(), &local);
        vsock.set(socket);
        Ok(())
    };
    let resize = || set_option(vsock.number(), BUFFER_SIZE, &4096_u64);
    let exchange = || with_address(libc::connect, vsock.number(), &host);
    runner.run(Race::between(resize, exchange).setup_a(create))
}

fn open() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::VSOCK, SocketType::STREAM, SocketFlags::NONBLOCK, None)
}

fn address(cid: u32) -> libc::sockaddr_vm {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_vm = unsafe { std::mem::zeroed() };
    address.svm_family = libc::AF_VSOCK as libc::sa_family_t;
    address.svm_cid = cid;
    // A port that nothing is known to use.
    address.svm_port = 0x6b69_6c6e;
    address
}
