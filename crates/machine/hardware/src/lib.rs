//! What a machine has besides CPUs, memory and kiln's own ports: one typed description of it.
//!
//! * [`device`]: one thing that a machine has, and how users write it
//! * [`disk`], [`nic`], [`iommu`], [`slot`], [`serial`], [`tpm`]: those with options of their own
//! * [`part`]: those with none or few
//! * [`topology`]: sockets and NUMA nodes; [`firmware`]: what runs before the kernel
//! * [`backing`]: what of this host is behind a device; [`overlay`]: writes to an image that go elsewhere
//! * [`words`], [`size`], [`time`]: the form `NAME,KEY=VALUE`, and the units in it
//!
//! Nothing here starts or opens anything: a description becomes arguments of QEMU, needs of the kernel, and a list of what
//! has to be opened.

pub mod backing;
pub mod device;
pub mod disk;
pub mod error;
pub mod firmware;
pub mod hardware;
pub mod iommu;
pub mod nic;
pub mod overlay;
pub mod part;
pub mod serial;
pub mod size;
pub mod slot;
pub mod time;
pub mod topology;
pub mod tpm;
mod words;

pub use backing::{Backing, Place};
pub use device::Device;
pub use disk::Disk;
pub use error::Error;
pub use firmware::Firmware;
pub use hardware::{Arguments, Hardware};
pub use nic::Nic;
pub use topology::Topology;
