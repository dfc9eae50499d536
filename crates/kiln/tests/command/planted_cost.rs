//! A known cost on the path of one system call is found and named, and nothing else is.
//!
//! Here the kernel plants it itself: a parameter has it probe a function, and record each call. Instructions that are
//! planted in source are counted in `bisect_built`, where kernels are built.

use verdict::{Comparison, Verdict};

use crate::support::{KERNEL, Place};

const PROBE: &str = "quiet kprobe_event=p,__x64_sys_getppid";

#[test]
fn a_planted_cost_is_found_measured_and_named_and_nothing_else_is() {
    let place = Place::new();
    let more = ["--metric", "syscall/*", "--boots", "1", "--why", "--json"];
    let call = place.kiln([&["compare", KERNEL, "--params", "quiet", PROBE], &more[..]].concat());
    let comparison: Comparison = call.run().expect(1).stated();
    let against = &comparison.others[0];
    assert!(against.rows.len() > 30, "{}", against.rows.len());
    // A kernel that sets up its probe boots more slowly.
    let found: Vec<_> = against
        .rows
        .iter()
        .filter(|row| row.verdict != Verdict::Same && row.metric != "boot/user-space")
        .collect();
    let [row] = found[..] else { panic!("{found:#?}") };
    assert_eq!((row.metric.as_str(), row.verdict), ("syscall/getppid", Verdict::Worse));
    let why = row.why.as_ref().expect("it was asked for");
    let probes = |name: &str| why.functions.iter().find(|function| function.function == name);
    for name in ["kprobe_ftrace_handler", "kprobe_trace_func"] {
        let function = probes(name).unwrap_or_else(|| panic!("no {name} in {why:?}"));
        assert!(function.base.is_none() && function.new.is_some_and(|count| count > 20), "{function:?}");
    }
    assert!(why.unexplained.abs() <= 20, "{why:?}");
    for missing in &against.missing {
        assert_eq!(missing.base, missing.new, "{missing:?}");
    }
}
