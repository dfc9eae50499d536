//! Sizes and times as people write them.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use lab::cpu_list;
use protocol::latency::CPUS_MAX;

/// Reads `30s`, `5m`, `1h`, `250ms`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time: write 30s, 5m or 1h");
    let (number, unit) = split(text);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(wrong()),
    };
    // A year is longer than anyone waits, and far from every overflow.
    if !(0.001..=31_536_000.0).contains(&seconds) {
        return Err(wrong());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Reads a time of a machine: `500ns`, `20us`, `1.5ms`, `1s`, and `0`.
pub(crate) fn fine_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time: write 500ns, 20us, 1ms or 1s");
    let (number, unit) = split(text);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let nanoseconds = match unit {
        "ns" => number,
        "us" | "µs" => number * 1e3,
        "ms" => number * 1e6,
        "s" => number * 1e9,
        "" if number == 0.0 => 0.0,
        _ => return Err(wrong()),
    };
    // A day is longer than anyone lets a CPU wait.
    if !(0.0..=86_400e9).contains(&nanoseconds) {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its range was checked")]
    let nanoseconds = nanoseconds.round() as u64;
    Ok(Duration::from_nanos(nanoseconds))
}

/// A time in nanoseconds, at most as many as there can be.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A time in milliseconds, at most as many as there can be.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Numbers of CPUs, in the order in which they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cpus(pub(crate) Vec<u32>);

/// Reads a list of CPUs as cpuset(7) writes it, `0,2-3`, with each CPU once.
pub(crate) fn cpus(text: &str) -> Result<Cpus, String> {
    let all =
        cpu_list::read(text, CPUS_MAX).ok_or_else(|| format!("{text:?} is no list of CPUs: write 0,2-3"))?;
    match all.iter().enumerate().find(|(place, cpu)| all[..*place].contains(cpu)) {
        Some((_, cpu)) => Err(format!("{text:?}: CPU {cpu} is there twice")),
        None => Ok(Cpus(all)),
    }
}

/// Reads how long ago, `2w`, `7d`, `12h` or `30m`, or when, `2026-11-01`, `2026-11-01T22:00` or `2026-11-01T22:00:00Z`.
pub(crate) fn since(text: &str) -> Result<Timestamp, String> {
    let wrong = || format!("{text:?} is not a time: write 7d, 12h, or a date such as 2026-11-01");
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    if let Ok(date) = text.parse::<DateTime>() {
        return date.to_zoned(TimeZone::system()).map(|zoned| zoned.timestamp()).map_err(|_| wrong());
    }
    let (number, unit) = split(text);
    let minutes = match unit {
        "m" => 1.0,
        "h" => 60.0,
        "d" => 24.0 * 60.0,
        "w" => 7.0 * 24.0 * 60.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let back = SignedDuration::try_from_secs_f64(number * minutes * 60.0).map_err(|_| wrong())?;
    Timestamp::now().checked_sub(back).map_err(|_| wrong())
}

/// Reads a time that may be none: `0` besides what [`duration`] reads.
pub(crate) fn pause(text: &str) -> Result<Duration, String> {
    let is_none = split(text).0.parse() == Ok(0.0) && duration(&text.replacen('0', "1", 1)).is_ok();
    if is_none { Ok(Duration::ZERO) } else { duration(text) }
}

/// Reads `512M`, `2G`, `2GiB`; a bare number is MiB. Gives MiB.
pub(crate) fn mebibytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size: write 512M or 2G");
    let (number, unit) = split(text);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" | "M" | "m" => 1,
        "G" | "g" => 1024,
        "T" | "t" => 1024 * 1024,
        _ => return Err(wrong()),
    };
    number.checked_mul(factor).filter(|&mib| (1..=1 << 24).contains(&mib)).ok_or_else(wrong)
}

/// As [`mebibytes`], and `0` for nothing at all.
pub(crate) fn mebibytes_or_none(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { mebibytes(text) }
}

/// Reads `2%` or `0.5`, in percent; gives a fraction of 1.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    let inside = number.filter(|number| (0.0..=1000.0).contains(number));
    inside
        .map(|number| number / 100.0)
        .ok_or_else(|| format!("{text:?} is not a percentage: write 2% or 0.5%"))
}

/// Reads `99%`, in percent: more than a half and less than certainty; gives a fraction of 1.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let inside = percent(text).ok().filter(|share| (0.5..=0.9999).contains(share));
    inside.ok_or_else(|| format!("{text:?} is not a confidence: write 99%, from 50% to 99.99%"))
}

/// As [`percent`], and `never` for more than anything.
pub(crate) fn allowance(text: &str) -> Result<f64, String> {
    if text == "never" { Ok(f64::INFINITY) } else { percent(text) }
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// A pattern for names of suites, which becomes a kernel parameter.
pub(crate) fn pattern(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.*?[]".contains(&byte);
    match !text.is_empty() && text.bytes().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("write names of suites with * and ?, separated by commas".to_owned()),
    }
}

/// The name of an archive.
pub(crate) fn archive(text: &str) -> Result<PathBuf, String> {
    match [".tar.zst", ".tar"].iter().any(|end| text.ends_with(end)) {
        true => Ok(text.into()),
        false => Err("write a name that ends in .tar.zst or .tar".to_owned()),
    }
}

/// A folder that is there or can be made: nothing else has its name.
pub(crate) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.is_dir() || !path.exists() {
        true => Ok(path),
        false => Err("this is no directory"),
    })
}

/// A variable for make: a name, `=` and a value.
pub(crate) fn variable(text: &str) -> Result<String, String> {
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = text.split_once('=').map(|(name, _)| name).filter(|name| !name.is_empty() && plain(name));
    // These are kiln's own to say.
    match name {
        Some(
            "O" | "ARCH" | "SUBARCH" | "INSTALL_MOD_PATH" | "KBUILD_OUTPUT" | "KBUILD_EXTMOD" | "M"
            | "MAKEFLAGS" | "KCONFIG_CONFIG" | "KCONFIG_ALLCONFIG",
        ) => Err("kiln sets this variable itself".to_owned()),
        Some(_) => Ok(text.to_owned()),
        None => Err("write NAME=VALUE, such as LLVM=1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "s", "-1s", "1 s", "1d", "0", "1e99h", "inf", "nan"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_of_machines_are_read() {
        for (text, nanoseconds) in
            [("0", 0), ("500ns", 500), ("20us", 20_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000)]
        {
            assert_eq!(fine_duration(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
        for wrong in ["", "us", "20", "-1us", "1 us", "1m", "1e99s", "90000s"] {
            assert!(fine_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(cpus("0,2-3"), Ok(Cpus(vec![0, 2, 3])));
        assert_eq!(cpus("7"), Ok(Cpus(vec![7])));
        for wrong in ["", ",", "1-", "-1", "3-1", "0,0", "0-2,1", "1024", "0-4294967295", "all"] {
            assert!(cpus(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_is_so_long_ago_or_a_date() {
        for (text, seconds) in [("30m", 1800), ("12h", 43_200), ("7d", 604_800), ("0.5w", 302_400)] {
            let before = Timestamp::now();
            let then = since(text).unwrap();
            let back = SignedDuration::from_secs(seconds);
            assert!(before - back <= then && then <= Timestamp::now() - back, "{text}");
        }
        assert_eq!(since("2026-11-20T10:00:00Z").unwrap().as_second(), 1_795_168_800);
        let day = since("2026-11-20").unwrap();
        assert!((day.as_second() - 1_795_132_800).abs() <= 14 * 3600, "{day}");
        let evening = since("2026-11-20T22:00").unwrap();
        assert_eq!(evening.duration_since(day).as_hours(), 22);
        for wrong in ["", "d", "7", "7 d", "-7d", "1e99d", "2026-13-01", "yesterday"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pause_may_be_none() {
        assert_eq!(
            [pause("0"), pause("0s"), pause("2s")],
            [0, 0, 2].map(|seconds| Ok(Duration::from_secs(seconds)))
        );
        for wrong in ["", "0x", "-1s", "0 s"] {
            assert!(pause(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(mebibytes("512M"), Ok(512));
        assert_eq!(mebibytes("512"), Ok(512));
        assert_eq!(mebibytes("2G"), Ok(2048));
        assert_eq!(mebibytes("2GiB"), Ok(2048));
        for wrong in ["", "0", "1K", "x", "-1G", "99999999999999999999", "18446744073709551615T"] {
            assert!(mebibytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!((percent("2%"), percent("0.5")), (Ok(0.02), Ok(0.005)));
        for wrong in ["", "%", "-1%", "nan", "inf", "x%", "2%%"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(allowance("never"), Ok(f64::INFINITY));
        assert_eq!((mebibytes_or_none("0"), mebibytes_or_none("2G")), (Ok(0), Ok(2048)));
    }
}
