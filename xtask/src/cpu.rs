//! CPU time of other programs, which says how much they did however busy the host was.

use std::time::Duration;

use anyhow::{Context, Result};

/// CPU time, in user and kernel mode, of all children that were waited for, and of theirs.
pub(crate) fn of_children() -> Result<Duration> {
    let path = "/proc/self/stat";
    let text = std::fs::read_to_string(path).context(path)?;
    let ticks = ticks_of_children(&text).with_context(|| format!("{path} has another form: {text}"))?;
    Ok(Duration::from_secs(ticks) / TICKS_PER_SECOND)
}

/// The unit of the kernel's figures, USER_HZ, is the same on all machines that kiln runs on.
const TICKS_PER_SECOND: u32 = 100;

/// `cutime` and `cstime` of proc_pid_stat(5), the fields 16 and 17.
fn ticks_of_children(stat: &str) -> Option<u64> {
    // The name of the program may hold anything; the third field follows its last parenthesis.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(16 - 3);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_children_follow_a_name_with_anything_in_it() {
        let stat = "7 (a) (b c) S 1 2 3 4 5 6 7 8 9 10 110 120 130 140 20 0";
        assert_eq!(ticks_of_children(stat), Some(130 + 140));
        assert_eq!(ticks_of_children("7 (a) S 1 2"), None);
    }
}
