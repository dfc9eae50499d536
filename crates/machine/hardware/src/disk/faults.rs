//! How a disk misbehaves: the time that it takes, limits of its speed, errors, and a log of all that is written to it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::words::{Words, Writer};
use crate::{size, time};

/// Most requests in a second that a limit can allow: QEMU's own bound is far above.
const IOPS_MAX: u64 = 1_000_000_000;

/// Longest time of a request: kernels give up on one that takes much longer, and a boot makes many.
const LATENCY_MAX: Duration = Duration::from_secs(10);

/// What a disk does besides its work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Faults {
    /// The least time that a request takes. Those that are made at the same time take it at the same time.
    pub latency: Option<Duration>,
    /// Most requests in a second. One that follows another then waits for its share of it; one after a pause does not.
    pub iops: Option<u64>,
    /// Most bytes in a second.
    pub rate: Option<u64>,
    /// Requests of this kind fail with EIO.
    pub fail: Option<Failing>,
    /// Only those that touch the sector with this number, of 512 bytes, fail.
    pub sector: Option<u64>,
    /// Only the first of them does.
    pub once: bool,
    /// All writes are logged here, as the kernel's dm-log-writes does: Documentation/admin-guide/device-mapper/log-writes.rst.
    pub writes: Option<PathBuf>,
}

/// Requests that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failing {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Flushes of the write cache.
    Flush,
    /// Discards.
    Discard,
}

const ALL: [Failing; 4] = [Failing::Read, Failing::Write, Failing::Flush, Failing::Discard];

impl Faults {
    pub(super) fn read(words: &Words) -> Result<Self, Error> {
        let count = |text: &str| text.parse().ok().filter(|count| (1..=IOPS_MAX).contains(count));
        let latency = |text: &str| time::duration(text).filter(|latency| *latency <= LATENCY_MAX);
        Ok(Self {
            latency: words.read("latency", "a time from 1us to 10s, such as 5ms", latency)?,
            iops: words.read("iops", "requests in a second, at least 1", count)?,
            rate: words.read("rate", "bytes in a second, such as 10M", size::bytes)?,
            fail: words.one_of("fail", "read, write, flush or discard")?,
            sector: words.one_of("bad-sector", "the number of a sector")?,
            once: words.flag("once")?,
            writes: words.text("writes").map(PathBuf::from),
        })
    }

    pub(super) fn write(&self, writer: Writer) -> Writer {
        writer
            .option("latency", self.latency.map(time::text))
            .option("iops", self.iops)
            .option("rate", self.rate.map(size::text))
            .option("fail", self.fail)
            .option("bad-sector", self.sector)
            .flag("once", self.once)
            .option("writes", self.writes.as_ref().map(|path| path.display()))
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        // QEMU's quorum, which makes them wait, has no discards.
        if self.latency.is_some() && self.fail == Some(Failing::Discard) {
            return Err(Error::Conflict(
                "disk: with a latency, discards do nothing and cannot fail: leave out one of both"
                    .to_string(),
            ));
        }
        match (self.sector, self.fail) {
            (None, None) if self.once => {
                Err(Error::Conflict("disk: `once` is for a disk that fails: add fail=read".to_string()))
            }
            (Some(_), None | Some(Failing::Flush)) => Err(Error::Conflict(
                "disk: a sector can fail only to be read, written or discarded".to_string(),
            )),
            _ => Ok(()),
        }
    }
}

impl Failing {
    /// Its name here and in QEMU.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        }
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Failing {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        ALL.into_iter().find(|kind| kind.name() == text).ok_or(())
    }
}

#[cfg(test)]
pub(super) use tests::any_faults;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::disk) fn any_faults() -> impl Strategy<Value = Faults> {
        let fail = prop::option::of((prop::sample::select(ALL.to_vec()), prop::option::of(any::<u64>())));
        let latency = prop::option::of((1..=10_000_000_u64).prop_map(Duration::from_micros));
        let rates = (prop::option::of(1..=IOPS_MAX), prop::option::of(1..=1_u64 << 40));
        let writes = prop::option::of("/[a-z]{1,8}");
        (latency, rates, fail, any::<bool>(), writes).prop_map(
            |(latency, (iops, rate), fail, once, writes)| Faults {
                latency: latency.filter(|_| fail.is_none_or(|(fail, _)| fail != Failing::Discard)),
                iops,
                rate,
                fail: fail.map(|(fail, _)| fail),
                sector: fail.filter(|(fail, _)| *fail != Failing::Flush).and_then(|(_, sector)| sector),
                once: once && fail.is_some(),
                writes: writes.map(PathBuf::from),
            },
        )
    }

    #[test]
    fn a_disk_that_fails_once_fails_at_something() {
        let faults = Faults { once: true, ..Faults::default() };
        assert!(faults.check().is_err());
        assert_eq!(Faults { fail: Some(Failing::Flush), ..faults }.check(), Ok(()));
    }

    #[test]
    fn a_sector_fails_at_something() {
        let faults = Faults { sector: Some(7), ..Faults::default() };
        assert!(faults.check().is_err());
        assert!(Faults { fail: Some(Failing::Flush), ..faults.clone() }.check().is_err());
        assert_eq!(Faults { fail: Some(Failing::Read), ..faults }.check(), Ok(()));
    }
}
