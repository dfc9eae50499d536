//! How CPUs and memory are arranged: sockets, cores and threads, NUMA nodes, room for more memory.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::size;
use crate::words::{Words, Writer, parts};

/// What sockets are called.
pub(crate) const NAME: &str = "topology";
/// What a NUMA node is called.
pub(crate) const NODE: &str = "node";
/// What memory that comes later is called.
pub(crate) const HOTPLUG: &str = "hotplug";

const KEYS: [&str; 3] = ["sockets", "cores", "threads"];
const NODE_KEYS: [&str; 3] = ["cpus", "memory", "distances"];
const HOTPLUG_KEYS: [&str; 2] = ["memory", "cpus"];

/// Distances of NUMA nodes: 10 is that of a node to itself, 255 means that there is no way.
const DISTANCES: std::ops::RangeInclusive<u8> = 10..=255;

/// Most CPUs of a machine.
const CPUS_MAX: u32 = 255;

/// How CPUs are arranged. Their product is the number of CPUs, as far as they say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topology {
    /// Sockets.
    pub sockets: Option<u32>,
    /// Cores of a socket.
    pub cores: Option<u32>,
    /// Threads of a core.
    pub threads: Option<u32>,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its CPUs: the first and the last.
    pub cpus: Option<(u32, u32)>,
    /// Its memory in bytes.
    pub memory: u64,
    /// The distances to all nodes, in their order.
    #[serde(default)]
    pub distances: Vec<u8>,
}

/// Room for what is plugged in while the machine runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hotplug {
    /// Bytes of memory beyond those that it begins with.
    pub memory: Option<u64>,
    /// CPUs beyond those that it begins with.
    pub cpus: Option<u32>,
}

impl Topology {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(NAME, &parts(text), &KEYS)?;
        let of = |key| words.read(key, "a number from 1 to 255", count);
        let topology = Self { sockets: of("sockets")?, cores: of("cores")?, threads: of("threads")? };
        if topology == Self::default() {
            return Err(Error::Missing { device: NAME, expected: "sockets=N, cores=N or threads=N" });
        }
        Ok(topology)
    }

    pub(crate) fn text(&self) -> String {
        let writer = Writer::new("").option("sockets", self.sockets).option("cores", self.cores);
        writer.option("threads", self.threads).finish().trim_start_matches(',').to_string()
    }

    /// CPUs of all sockets.
    pub(crate) fn cpus(&self) -> u32 {
        [self.sockets, self.cores, self.threads].into_iter().flatten().product()
    }

    /// What follows the number of CPUs.
    pub(crate) fn words(&self) -> String {
        let of =
            |key: &str, count: Option<u32>| count.map(|count| format!(",{key}={count}")).unwrap_or_default();
        of("sockets", self.sockets) + &of("cores", self.cores) + &of("threads", self.threads)
    }
}

impl Node {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(NODE, &parts(text), &NODE_KEYS)?;
        let memory = words.read("memory", "a size in MiB such as 512M", mebibytes)?;
        let distances =
            words.read("distances", "a number from 10 to 255 for each node, such as 10:20", distances)?;
        Ok(Self {
            cpus: words.read("cpus", "a CPU or a range such as 0-1", range)?,
            memory: memory.ok_or(Error::Missing { device: NODE, expected: "memory=SIZE" })?,
            distances: distances.unwrap_or_default(),
        })
    }

    pub(crate) fn text(&self) -> String {
        let cpus = self.cpus.map(|(first, last)| format!("{first}-{last}"));
        let distances: Vec<String> = self.distances.iter().map(u8::to_string).collect();
        let distances = (!distances.is_empty()).then(|| distances.join(":"));
        let writer = Writer::new("").option("cpus", cpus).option("memory", Some(size::text(self.memory)));
        writer.option("distances", distances).finish().trim_start_matches(',').to_string()
    }
}

/// A part of a machine's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// QEMU's name for it.
    pub id: String,
    /// Its size in MiB.
    pub mib: u64,
}

/// The memory of each node.
pub(crate) fn memories(nodes: &[&Node]) -> Vec<Memory> {
    let of = |(number, node): (usize, &&Node)| Memory { id: memory_id(number), mib: node.memory >> 20 };
    nodes.iter().enumerate().map(of).collect()
}

fn memory_id(node: usize) -> String {
    format!("node{node}")
}

/// QEMU's arguments for nodes, of which each has memory of its own.
pub(crate) fn nodes(nodes: &[&Node]) -> Vec<String> {
    let mut arguments = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let cpus = node.cpus.map(|(first, last)| format!(",cpus={first}-{last}")).unwrap_or_default();
        let memory = memory_id(number);
        arguments.extend(["-numa".to_string(), format!("node,nodeid={number},memdev={memory}{cpus}")]);
    }
    for (from, node) in nodes.iter().enumerate() {
        for (to, distance) in node.distances.iter().enumerate() {
            arguments.extend(["-numa".to_string(), format!("dist,src={from},dst={to},val={distance}")]);
        }
    }
    arguments
}

impl Hotplug {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(HOTPLUG, &parts(text), &HOTPLUG_KEYS)?;
        let hotplug = Self {
            memory: words.read("memory", "a size in MiB such as 4G", mebibytes)?,
            cpus: words.read("cpus", "a number from 1 to 255", count)?,
        };
        if hotplug == Self::default() {
            return Err(Error::Missing { device: HOTPLUG, expected: "memory=SIZE or cpus=COUNT" });
        }
        Ok(hotplug)
    }

    pub(crate) fn text(&self) -> String {
        let writer = Writer::new("").option("memory", self.memory.map(size::text)).option("cpus", self.cpus);
        writer.finish().trim_start_matches(',').to_string()
    }
}

fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| (1..=CPUS_MAX).contains(count))
}

fn mebibytes(text: &str) -> Option<u64> {
    size::bytes(text).filter(|bytes| bytes.is_multiple_of(1 << 20))
}

fn range(text: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.parse().ok().filter(|number| *number < CPUS_MAX);
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    (first <= last).then_some((first, last))
}

fn distances(text: &str) -> Option<Vec<u8>> {
    text.split(':').map(|part| part.parse().ok().filter(|distance| DISTANCES.contains(distance))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Topology::read("sockets=2,threads=2").unwrap().text(), "sockets=2,threads=2");
        assert_eq!(Topology::read("sockets=2,threads=2").unwrap().words(), ",sockets=2,threads=2");
        assert_eq!(
            Node::read("cpus=1,memory=512M,distances=10:20").unwrap().text(),
            "cpus=1-1,memory=512M,distances=10:20"
        );
        assert_eq!(Hotplug::read("memory=4G,cpus=2").unwrap().text(), "memory=4G,cpus=2");
        for wrong in
            ["cpus=1", "memory=1", "memory=512M,cpus=2-1", "memory=1G,distances=9", "memory=1G,distances=10:"]
        {
            assert!(Node::read(wrong).is_err(), "{wrong}");
        }
        assert!(
            Topology::read("").is_err() && Topology::read("sockets=0").is_err() && Hotplug::read("").is_err()
        );
    }

    #[test]
    fn nodes_have_memory_and_distances() {
        let [a, b] = ["cpus=0,memory=256M,distances=10:21", "cpus=1,memory=256M,distances=21:10"]
            .map(|text| Node::read(text).unwrap());
        let ids = memories(&[&a, &b]).into_iter().map(|memory| (memory.id, memory.mib));
        assert_eq!(ids.collect::<Vec<_>>(), [("node0".to_string(), 256), ("node1".to_string(), 256)]);
        let line = nodes(&[&a, &b]).join(" ");
        assert!(line.contains("-numa node,nodeid=1,memdev=node1,cpus=1-1"), "{line}");
        assert!(line.ends_with("-numa dist,src=1,dst=0,val=21 -numa dist,src=1,dst=1,val=10"), "{line}");
    }
}
