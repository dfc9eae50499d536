//! Which conditions of the host make a sample doubtful.

use host::Conditions;

/// A limit beyond which something else had a part in what was timed.
struct Limit {
    what: &'static str,
    share: fn(&Conditions) -> f64,
    most: f64,
}

/// The limits, as shares of the time of a sample.
const LIMITS: &[Limit] = &[
    // A machine that waits for a CPU a tenth of the time may be slower by as much. Threads of kiln and of QEMU
    // themselves wait for each other for a few percent.
    Limit { what: "processes waited for a CPU", share: |conditions| conditions.cpu_pressure, most: 0.10 },
    // Machines have no disk of their own, but QEMU, its libraries and the template are read from one.
    Limit {
        what: "processes waited for block devices",
        share: |conditions| conditions.io_pressure,
        most: 0.10,
    },
    // Whoever waits for memory has pages reclaimed, which the machine then faults in again: rare, but slow.
    Limit { what: "processes waited for memory", share: |conditions| conditions.memory_pressure, most: 0.01 },
    // Time that a hypervisor gave to others is time in which the guest's clock went on.
    Limit { what: "a hypervisor took CPU time away", share: |conditions| conditions.steal, most: 0.02 },
];

/// Why a sample is disturbed; nothing if it is not.
///
/// The rule looks at the host and never at the figures: whoever leaves samples out by their results can prove
/// anything.
#[must_use]
pub fn disturbed(conditions: &Conditions) -> Option<String> {
    let over = LIMITS.iter().find(|limit| (limit.share)(conditions) > limit.most);
    let reason = over.map(|Limit { what, share, most }| {
        let percent = |share: f64| share * 100.0;
        format!("{what} {:.1} % of the time, more than {:.0} %", percent(share(conditions)), percent(*most))
    });
    // Caches and memory are shared with others, even where there are CPUs enough.
    reason.or_else(|| match conditions.other_guests {
        0 => None,
        1 => Some("another machine ran on this host".into()),
        others => Some(format!("{others} other machines ran on this host")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Conditions {
        Conditions {
            load: 9.0,
            cpu_pressure: 0.10,
            memory_pressure: 0.01,
            io_pressure: 0.10,
            steal: 0.02,
            frequency_mhz: Some(800),
            other_guests: 0,
        }
    }

    #[test]
    fn a_host_within_all_limits_does_not_disturb() {
        assert_eq!(disturbed(&quiet()), None);
    }

    #[test]
    fn each_limit_is_told_when_it_is_passed() {
        for (conditions, reason) in [
            (
                Conditions { cpu_pressure: 0.234, ..quiet() },
                "processes waited for a CPU 23.4 % of the time, more than 10 %",
            ),
            (
                Conditions { io_pressure: 0.101, ..quiet() },
                "processes waited for block devices 10.1 % of the time, more than 10 %",
            ),
            (
                Conditions { memory_pressure: 0.02, ..quiet() },
                "processes waited for memory 2.0 % of the time, more than 1 %",
            ),
            (
                Conditions { steal: 1.0, ..quiet() },
                "a hypervisor took CPU time away 100.0 % of the time, more than 2 %",
            ),
            (Conditions { other_guests: 1, ..quiet() }, "another machine ran on this host"),
            (Conditions { other_guests: 3, ..quiet() }, "3 other machines ran on this host"),
        ] {
            assert_eq!(disturbed(&conditions).as_deref(), Some(reason));
        }
    }
}
