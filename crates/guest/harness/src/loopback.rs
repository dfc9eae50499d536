//! The loopback device and sockets over it: netdevice(7), tcp(7).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, accept, bind, connect, getsockname, listen, socket};

use crate::sys::succeeded;

/// Brings `lo` up or down.
///
/// # Errors
///
/// As the manual page says.
pub fn set_loopback(up: bool) -> Result<(), Errno> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut request = interface_flags(&socket, libc::SIOCGIFFLAGS, interface(b"lo"))?;
    let (flags, up_flag) = (flags(&request), libc::IFF_UP as libc::c_short);
    request.ifr_ifru.ifru_flags = if up { flags | up_flag } else { flags & !up_flag };
    interface_flags(&socket, libc::SIOCSIFFLAGS, request).map(drop)
}

/// Sends multicast to `lo`, where there is no other device: programs that join a group without naming one find it.
///
/// # Errors
///
/// As netdevice(7) says; EEXIST where there is such a route.
pub fn route_multicast_to_loopback() -> Result<(), Errno> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // The kernel reads as much as an interface's name may have.
    let mut device = [0; libc::IFNAMSIZ];
    (device[0], device[1]) = (b'l' as libc::c_char, b'o' as libc::c_char);
    // SAFETY: all zeroes is a valid route.
    let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
    (route.rt_dst, route.rt_genmask) = (address([224, 0, 0, 0]), address([240, 0, 0, 0]));
    (route.rt_gateway, route.rt_flags, route.rt_dev) = (address([0; 4]), libc::RTF_UP, device.as_mut_ptr());
    // SAFETY: the request reads the route and the name that it points to.
    succeeded(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCADDRT, &raw const route) }).map(drop)
}

/// `struct sockaddr_in` in its general form.
#[must_use]
pub fn address(bytes: [u8; 4]) -> libc::sockaddr {
    let mut data = [0; 14];
    for (target, byte) in data[2..].iter_mut().zip(bytes) {
        *target = byte as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET as libc::sa_family_t, sa_data: data }
}

/// Whether `lo` is up.
///
/// # Errors
///
/// As the manual page says.
pub fn loopback_is_up() -> Result<bool, Errno> {
    is_up(b"lo")
}

/// Whether the interface called `name` is up.
///
/// # Errors
///
/// As the manual page says.
pub fn is_up(name: &[u8]) -> Result<bool, Errno> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let request = interface_flags(&socket, libc::SIOCGIFFLAGS, interface(name))?;
    Ok(libc::c_int::from(flags(&request)) & libc::IFF_UP != 0)
}

/// A request about the interface called `name`.
#[must_use]
pub fn interface(name: &[u8]) -> libc::ifreq {
    // SAFETY: all zeroes is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (target, letter) in request.ifr_name.iter_mut().zip(name) {
        *target = *letter as libc::c_char;
    }
    request
}

fn flags(request: &libc::ifreq) -> libc::c_short {
    // SAFETY: any bits are valid flags.
    unsafe { request.ifr_ifru.ifru_flags }
}

/// ioctl(2) SIOCGIFFLAGS or SIOCSIFFLAGS.
fn interface_flags(
    socket: &OwnedFd,
    what: libc::Ioctl,
    mut request: libc::ifreq,
) -> Result<libc::ifreq, Errno> {
    // SAFETY: both read a name and read or write flags.
    succeeded(unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) })?;
    Ok(request)
}

/// 127.0.0.1.
pub const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

/// A socket at a free port of `address`, and where that is.
///
/// # Errors
///
/// As the manual page says.
pub fn bound(address: IpAddr, kind: SocketType) -> Result<(OwnedFd, SocketAddr), Errno> {
    let socket = socket(family(address), kind, None)?;
    bind(&socket, &SocketAddr::new(address, 0))?;
    let address = getsockname(&socket)?.try_into()?;
    Ok((socket, address))
}

/// Both ends of a TCP connection: who connected and who accepted.
///
/// # Errors
///
/// As the manual page says.
pub fn connection(address: IpAddr) -> Result<(OwnedFd, OwnedFd), Errno> {
    let (listener, server) = bound(address, SocketType::STREAM)?;
    listen(&listener, 1)?;
    let client = socket(family(address), SocketType::STREAM, None)?;
    connect(&client, &server)?;
    Ok((client, accept(&listener)?))
}
