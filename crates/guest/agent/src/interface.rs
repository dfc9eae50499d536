//! Gives a network interface its addresses, without any program of the guest: netdevice(7), rtnetlink(7)'s older form.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsRawFd;

use harness::check::describe;
use harness::loopback::{self, interface};
use protocol::job::Interface;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket};

/// Makes it so; says what failed.
pub(crate) fn configure(wanted: &Interface) -> Result<(), String> {
    let name = name_of(wanted.found_by).ok_or_else(|| {
        let address = text(wanted.found_by);
        format!("the kernel shows no interface with the address {address}: does it have a driver for it?")
    })?;
    let failed = |what: &str| {
        let what = what.to_string();
        let name = name.clone();
        move |error: Errno| format!("{name}: {what}: {}", describe(error))
    };
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).map_err(failed("socket"))?;
    let requests = Requests { socket, name: &name };
    if wanted.mac != wanted.found_by {
        requests.hardware_address(wanted.mac).map_err(failed("setting its Ethernet address"))?;
    }
    if let Some((address, prefix)) = wanted.address {
        requests.address(libc::SIOCSIFADDR, address).map_err(failed("setting its address"))?;
        requests.address(libc::SIOCSIFNETMASK, mask(prefix)).map_err(failed("setting its network"))?;
    }
    requests.switch_on().map_err(failed("switching it on"))?;
    match wanted.gateway {
        Some(gateway) => requests.route_through(gateway).map_err(failed("setting the gateway")),
        None => Ok(()),
    }
}

/// The interface with this Ethernet address.
fn name_of(mac: [u8; 6]) -> Option<String> {
    let address = text(mac);
    let entries = fs::read_dir("/sys/class/net").ok()?.flatten();
    let has_it = |path: std::path::PathBuf| {
        fs::read_to_string(path.join("address")).is_ok_and(|found| found.trim() == address)
    };
    entries.into_iter().find(|entry| has_it(entry.path()))?.file_name().into_string().ok()
}

fn text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

fn mask(prefix: u8) -> [u8; 4] {
    u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or_default().to_be_bytes()
}

/// Requests about one interface.
struct Requests<'a> {
    socket: OwnedFd,
    name: &'a str,
}

impl Requests<'_> {
    fn request(&self) -> libc::ifreq {
        interface(self.name.as_bytes())
    }

    fn make(&self, number: libc::c_ulong, request: &mut libc::ifreq) -> Result<(), Errno> {
        // SAFETY: the requests of this module read and write an ifreq, which outlives the call.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), number as libc::Ioctl, &raw mut *request) } {
            0 => Ok(()),
            _ => Err(harness::child::last_error()),
        }
    }

    fn hardware_address(&self, mac: [u8; 6]) -> Result<(), Errno> {
        let mut request = self.request();
        let mut data = [0; 14];
        for (target, byte) in data.iter_mut().zip(mac) {
            *target = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_hwaddr = libc::sockaddr { sa_family: libc::ARPHRD_ETHER, sa_data: data };
        self.make(libc::SIOCSIFHWADDR, &mut request)
    }

    fn address(&self, number: libc::c_ulong, address: [u8; 4]) -> Result<(), Errno> {
        let mut request = self.request();
        request.ifr_ifru.ifru_addr = loopback::address(address);
        self.make(number, &mut request)
    }

    fn switch_on(&self) -> Result<(), Errno> {
        let mut request = self.request();
        self.make(libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: the kernel has just written the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
        self.make(libc::SIOCSIFFLAGS, &mut request)
    }

    fn route_through(&self, gateway: [u8; 4]) -> Result<(), Errno> {
        let Ok(device) = CString::new(self.name) else { return Err(Errno::INVAL) };
        // SAFETY: all zeroes is a valid route.
        let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
        (route.rt_dst, route.rt_genmask, route.rt_gateway) =
            (loopback::address([0; 4]), loopback::address([0; 4]), loopback::address(gateway));
        route.rt_flags = libc::RTF_UP | libc::RTF_GATEWAY;
        route.rt_dev = device.as_ptr().cast_mut();
        // SAFETY: the request reads the route and the name that it points to.
        match unsafe {
            libc::ioctl(self.socket.as_raw_fd(), libc::SIOCADDRT as libc::Ioctl, &raw const route)
        } {
            0 => Ok(()),
            _ => Err(harness::child::last_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_mask() {
        assert_eq!([mask(24), mask(0), mask(32)], [[255, 255, 255, 0], [0; 4], [255; 4]]);
        assert_eq!(text([0x52, 0x54, 0, 0, 0, 0xab]), "52:54:00:00:00:ab");
    }
}
