//! The layers of QEMU between the file and the device: docs/system/images.rst, qapi/block-core.json.
//!
//! From below: the file, its format or the overlay, the log of writes, errors, the time of a request, limits of speed.

use serde_json::{Value, json};

use super::{Content, Disk};
use crate::backing::Place;

/// The arguments that make the layers of a disk; its device finds the uppermost under `NODE-top`.
pub(crate) fn arguments(disk: &Disk, node: &str, places: &[Place]) -> Vec<String> {
    let mut layers = Layers { disk, node, places: places.iter() };
    let mut arguments = layers.limits();
    let Some(base) = layers.base() else { return Vec::new() };
    let logged = layers.logged(base);
    let failing = layers.failing(logged);
    let late = layers.late(failing);
    let mut top = layers.limited(late);
    top["node-name"] = json!(format!("{node}-top"));
    arguments.extend(["-blockdev".to_string(), top.to_string()]);
    arguments
}

struct Layers<'a> {
    disk: &'a Disk,
    node: &'a str,
    places: std::slice::Iter<'a, Place>,
}

impl Layers<'_> {
    /// Limits are of a group, here of one.
    fn limits(&self) -> Vec<String> {
        let faults = &self.disk.faults;
        if faults.iops.is_none() && faults.rate.is_none() {
            return Vec::new();
        }
        let limit = |name: &str, value: Option<u64>| {
            value.map(|value| format!(",{name}={value}")).unwrap_or_default()
        };
        let (iops, rate) = (limit("x-iops-total", faults.iops), limit("x-bps-total", faults.rate));
        vec!["-object".to_string(), format!("throttle-group,id={}-limits{iops}{rate}", self.node)]
    }

    /// A file; others may have it open, too.
    fn file(place: &Place, readonly: bool) -> Value {
        json!({ "driver": "file", "filename": place.path(), "locking": "off", "read-only": readonly })
    }

    fn base(&mut self) -> Option<Value> {
        let content = self.places.next()?;
        let readonly = self.disk.readonly;
        let raw =
            |file: Value, readonly: bool| json!({ "driver": "raw", "file": file, "read-only": readonly });
        let has_overlay = matches!(self.disk.content, Content::Image(_)) && !readonly;
        if !has_overlay {
            return Some(raw(Self::file(content, readonly), readonly));
        }
        // Out of files there is no overlay, but a copy of the image.
        let Some(overlay) = self.places.next() else { return Some(raw(Self::file(content, false), false)) };
        let image = raw(Self::file(content, true), true);
        Some(json!({ "driver": "qcow2", "file": Self::file(overlay, false), "backing": image }))
    }

    fn logged(&mut self, below: Value) -> Value {
        let Some(log) = self.disk.faults.writes.as_ref().and_then(|_| self.places.next()) else {
            return below;
        };
        // Entries of the log are as long as the sectors of most disks.
        json!({ "driver": "blklogwrites", "file": below, "log": Self::file(log, false),
                "log-sector-size": self.disk.sector.unwrap_or(512) })
    }

    fn failing(&self, below: Value) -> Value {
        let Some(fail) = self.disk.faults.fail else { return below };
        // EIO is 5.
        let mut error =
            json!({ "event": "none", "iotype": fail.name(), "errno": 5, "once": self.disk.faults.once });
        if let Some(sector) = self.disk.faults.sector {
            error["sector"] = json!(sector);
        }
        json!({ "driver": "blkdebug", "image": below, "inject-error": [error] })
    }

    /// QEMU has no layer that waits. But a quorum answers when all of its children have answered, and an empty disk can take
    /// its time. It must have no vote: with a disk that fails at once, it makes a quorum of two, which fails late. So the
    /// layers below decide what is read, and whether a request succeeds.
    fn late(&self, below: Value) -> Value {
        let Some(latency) = self.disk.faults.latency else { return below };
        // Children of a quorum have the same size.
        let size = self.disk.content.size();
        let quorum = |votes: u32, children: [Value; 2]| {
            json!({ "driver": "quorum", "vote-threshold": votes, "children": children,
                    "read-only": self.disk.readonly })
        };
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        let waits = json!({ "driver": "null-co", "size": size, "latency-ns": nanoseconds });
        let empty = json!({ "driver": "null-co", "size": size });
        let fails = json!({ "driver": "blkdebug", "image": empty,
                            "inject-error": [{ "event": "none", "errno": 5 }] });
        quorum(1, [quorum(2, [waits, fails]), below])
    }

    fn limited(&self, below: Value) -> Value {
        if self.limits().is_empty() {
            return below;
        }
        json!({ "driver": "throttle", "throttle-group": format!("{}-limits", self.node), "file": below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, places: &[&str]) -> String {
        let places: Vec<Place> = places.iter().map(|path| Place::File((*path).to_string())).collect();
        arguments(&Disk::read(text).unwrap(), "disk0", &places).join(" ")
    }

    #[test]
    fn the_layers_stand_one_upon_the_other() {
        let plain = line("4G", &["/a"]);
        assert_eq!(
            plain,
            r#"-blockdev {"driver":"raw","file":{"driver":"file","filename":"/a","locking":"off","read-only":false},"node-name":"disk0-top","read-only":false}"#
        );
        let all = line(
            "image=/i,latency=5ms,iops=10,fail=read,bad-sector=2048,once,writes=/w",
            &["/a", "/o", "/w"],
        );
        let order = [
            "throttle-group,id=disk0-limits,x-iops-total=10",
            "throttle",
            r#""latency-ns":5000000"#,
            r#""vote-threshold":2"#,
            "blkdebug",
            "blklogwrites",
            "qcow2",
        ];
        let mut rest = all.as_str();
        for layer in order {
            rest = rest.split_once(layer).unwrap_or_else(|| panic!("{layer} in {all}")).1;
        }
        assert!(all.contains(r#""sector":2048"#) && all.contains(r#""iotype":"read""#), "{all}");
        assert!(all.contains(r#""once":true"#), "{all}");
    }

    /// The sizes of all children are the same, or QEMU refuses the quorum.
    #[test]
    fn a_disk_that_takes_its_time_is_as_large_as_before() {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(1000).unwrap();
        let path = image.path().display();
        for (text, size) in
            [("64M,latency=1ms".to_string(), 64 << 20), (format!("file={path},latency=1ms"), 1000)]
        {
            assert_eq!(line(&text, &["/a"]).matches(&format!(r#""size":{size}"#)).count(), 2, "{text}");
        }
        assert_eq!(line("64M,latency=1ms,readonly", &["/a"]).matches(r#""read-only":true"#).count(), 4);
    }

    #[test]
    fn out_of_files_an_image_is_a_copy() {
        let written = line("image=/i", &["image"]);
        assert!(written.contains(r#""driver":"raw""#) && !written.contains("qcow2"), "{written}");
    }
}
