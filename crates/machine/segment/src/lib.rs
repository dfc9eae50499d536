//! An Ethernet between machines, through kiln's switch.
//!
//! A segment needs neither root nor a bridge of the host: each machine has one end of a pair of datagram sockets, the
//! switch the other, and one datagram is one frame. QEMU takes its end with [`netdev`].
//!
//! From what a user describes to what happens on the wire:
//!
//! * [`Settings`], [`Station`], [`Network`], [`Mac`]: who is on the segment, under which names and addresses
//! * [`Segment`]: the running switch; attaching machines, impairing and cutting their links, capturing
//! * [`Impairment`], [`Fate`]: what a link does to frames, and what becomes of the n-th
//! * [`Statistics`]: what was counted, and why frames were dropped
//! * [`Answers`]: what the switch itself answers: ARP, DHCP, DNS and echo requests
//! * `capture`: frames as pcapng, in a file and in a ring
//! * `switch`: forwarding, as a pure function of frames and times
//! * `port`, `worker`: the sockets, and the thread that serves them

mod answers;
mod capture;
mod error;
mod fate;
mod handle;
mod held;
mod impairment;
mod link;
mod mac;
mod port;
mod random;
mod settings;
mod statistics;
mod switch;
mod table;
mod worker;

pub use answers::Answers;
pub use capture::Captured;
pub use error::SegmentError;
pub use fate::Fate;
pub use handle::{Direction, Segment};
pub use impairment::{Impairment, ImpairmentError, Probability};
pub use mac::{Mac, MacError};
pub use port::netdev;
pub use settings::{Forged, Network, Settings, SettingsError, Station};
pub use statistics::{Cause, Effects, PortStatistics, Statistics, Traffic};
