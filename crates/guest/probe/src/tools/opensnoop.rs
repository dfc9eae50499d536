//! Which files are opened.

use aya::maps::{MapData, RingBuf};
use bpf::{Object, Watch, programs};
use harness::check;
use harness::clock::monotonic;
use protocol::Report;
use protocol::probe::{Found, OPENS_MAX, Open};
use rustix::io::Errno;

use super::{Tool, name};

/// Bytes of `struct open` of `bpf/opens.bpf.c` before its path, and of its name.
const PATH: usize = 44;
const COMM: usize = 28;

/// The last ones, which are shown while there come more.
const SO_FAR: usize = 40;

pub(super) struct Opensnoop {
    object: Object,
    ring: RingBuf<MapData>,
    began_ns: u64,
    opens: Vec<Open>,
    omitted: u64,
}

impl Opensnoop {
    pub(super) fn begin(failed: bool, watch: &Watch) -> Result<Self, Report> {
        let mut object = Object::load(programs::OPENS, watch, &[("failed_only", failed.into())])?;
        let ring = object.ring("opens")?;
        let began_ns = monotonic();
        // First where a call ends: of what begins then, both is seen.
        object.attach_raw("open_ends", "sys_exit")?;
        object.attach_raw("open_begins", "sys_enter")?;
        Ok(Self { object, ring, began_ns, opens: Vec::new(), omitted: 0 })
    }
}

impl Tool for Opensnoop {
    fn look(&mut self) -> Result<(), Report> {
        while let Some(bytes) = self.ring.next() {
            let Some(open) = read(&bytes, self.began_ns) else { continue };
            if self.opens.len() < OPENS_MAX { self.opens.push(open) } else { self.omitted += 1 }
        }
        Ok(())
    }

    fn found(&mut self) -> Result<Found, Report> {
        // CPUs write in the order in which calls end.
        self.opens.sort_by_key(|open| open.time_ns);
        Ok(Found::Opens { opens: self.opens.clone(), omitted: self.omitted })
    }

    fn so_far(&mut self) -> Result<Found, Report> {
        let opens = self.opens[self.opens.len().saturating_sub(SO_FAR)..].to_vec();
        let omitted = self.omitted + (self.opens.len() - opens.len()) as u64;
        Ok(Found::Opens { opens, omitted })
    }

    fn lost(&self) -> Result<u64, Report> {
        self.object.lost()
    }
}

/// Reads a `struct open`.
fn read(bytes: &[u8], began_ns: u64) -> Option<Open> {
    let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let result = word(24)?.cast_signed();
    let error = (result < 0).then(|| check::name(Errno::from_raw_os_error(result.wrapping_neg())));
    Some(Open {
        time_ns: long(0)?.saturating_sub(began_ns),
        elapsed_ns: long(8)?,
        pid: word(16)?,
        tid: word(20)?,
        result,
        error,
        name: name(bytes.get(COMM..PATH)?),
        path: name(bytes.get(PATH..)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_is_read_as_the_kernel_writes_it() {
        let mut bytes = [1500_u64.to_ne_bytes(), 20_u64.to_ne_bytes()].concat();
        bytes.extend([7_u32, 8, (-2_i32).cast_unsigned()].into_iter().flat_map(u32::to_ne_bytes));
        bytes.extend(b"cat\0\0\0\0\0\0\0\0\0\0\0\0\0/etc/passwd\0old");
        let open = Open {
            time_ns: 500,
            elapsed_ns: 20,
            pid: 7,
            tid: 8,
            name: "cat".to_owned(),
            result: -2,
            error: Some("ENOENT".to_owned()),
            path: "/etc/passwd".to_owned(),
        };
        assert_eq!(read(&bytes, 1000), Some(open));
        for length in 0..PATH {
            assert_eq!(read(&bytes[..length], 0), None);
        }
    }
}
