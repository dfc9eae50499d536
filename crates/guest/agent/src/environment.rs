//! What programs expect of a machine besides mounts: a host name, a loopback device, users.

use std::path::Path;

use harness::check::describe;
use harness::loopback::{route_multicast_to_loopback, set_loopback};
use rustix::io::Errno;
use rustix::system::{sethostname, uname};

/// The name of every machine: uname(2).
const HOST: &str = "kiln";

/// Files without which libraries and tests do not find users, groups and addresses: passwd(5), group(5), hosts(5),
/// nsswitch.conf(5), protocols(5), services(5).
pub(crate) const FILES: &[(&str, &str)] = &[
    ("/etc/hostname", "kiln\n"),
    ("/etc/hosts", "127.0.0.1 localhost kiln\n::1 localhost ip6-localhost ip6-loopback\n"),
    ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nprotocols: files\nservices: files\n"),
    (
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\n\
         daemon:x:1:1:daemon:/:/bin/false\n\
         bin:x:2:2:bin:/:/bin/false\n\
         nobody:x:65534:65534:nobody:/:/bin/false\n",
    ),
    (
        "/etc/group",
        "root:x:0:\n\
         daemon:x:1:\n\
         bin:x:2:\n\
         sys:x:3:\n\
         tty:x:5:\n\
         disk:x:6:\n\
         users:x:100:\n\
         nogroup:x:65534:\n",
    ),
    (
        "/etc/protocols",
        "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\nipv6-icmp 58 IPv6-ICMP\nsctp 132 SCTP\n",
    ),
    ("/etc/services", "echo 7/tcp\necho 7/udp\ndiscard 9/tcp\ndiscard 9/udp\nssh 22/tcp\nhttp 80/tcp\n"),
];

/// Prepares it and gives what went wrong.
pub(crate) fn prepare() -> Vec<String> {
    let files = FILES
        .iter()
        .map(|&(path, text)| write_absent(path, text).map_err(|error| format!("{path}: {error}")));
    let host = sethostname(HOST.as_bytes()).map_err(|error| format!("sethostname: {}", describe(error)));
    let loopback = loopback_up().map_err(|error| format!("lo: {}", describe(error)));
    files.chain([host, loopback]).filter_map(Result::err).collect()
}

/// What a suite or a root brings is not replaced.
fn write_absent(path: &str, text: &str) -> std::io::Result<()> {
    if Path::new(path).exists() { Ok(()) } else { std::fs::write(path, text) }
}

/// Lists the modules in these files, which are loaded, where modprobe(8) and suites look for what there is.
pub(crate) fn list_modules(files: &[String]) -> std::io::Result<()> {
    let names = files.iter().filter_map(|file| Path::new(file).file_name()?.to_str());
    let text: String = names.map(|name| format!("kernel/{name}:\n")).collect();
    let folder = Path::new("/lib/modules").join(uname().release().to_string_lossy().as_ref());
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("modules.dep"), text)
}

/// A kernel without IPv4 has no such device.
fn loopback_up() -> Result<(), Errno> {
    match set_loopback(true).and_then(|()| route_multicast_to_loopback()) {
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::AFNOSUPPORT | Errno::NOSYS | Errno::NODEV) => Ok(()),
        other => other,
    }
}
