//! Programs of which it is known where they are.

use std::process::{Command, Stdio};

use protocol::ReportKind;
use protocol::sample::Part;
use protocol::workload::Workload;

use super::*;

fn request(event: &str, period: u64, script: &str) -> SampleRequest {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let workload = Workload { command, ..Workload::default() };
    SampleRequest {
        event: event.parse().expect("an event"),
        period,
        stack: 8192,
        workload,
        instruction_ns: None,
    }
}

/// The report; nothing where this user or kernel has no samples, which it says.
fn sampled(request: &SampleRequest) -> Option<SampleReport> {
    sampled_with(request, &mut |_| Ok(()))
}

fn sampled_with(request: &SampleRequest, listener: Listener<'_, SampleReport>) -> Option<SampleReport> {
    match sample(request, listener) {
        Ok(report) => {
            assert_eq!(report.validate(), Ok(()));
            Some(report)
        }
        Err(Report { kind, text }) => {
            assert_eq!(kind, ReportKind::Skip, "{text}");
            None
        }
    }
}

/// The names on the way to a node.
fn way(report: &SampleReport, mut at: usize) -> Vec<&str> {
    let mut names = Vec::new();
    loop {
        let node = report.nodes[at];
        names.insert(0, report.functions[node.function as usize].name.as_str());
        match node.caller {
            Some(caller) => at = caller as usize,
            None => return names,
        }
    }
}

#[test]
fn a_process_that_runs_is_looked_at_until_it_ends() {
    let script = "read line; i=0; while [ $i -lt 20 ]; do (exit 0); i=$((i+1)); done";
    let mut child = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take();
    let workload = Workload { process: Some(child.id()), ..Workload::default() };
    let request = SampleRequest { workload, ..request("forks", 1, "") };
    // It goes on when it is looked at.
    let report = sampled_with(&request, &mut |_| {
        drop(input.take());
        Ok(())
    });
    drop(input);
    child.wait().expect("it is ours");
    let Some(report) = report else { return };
    assert_eq!((report.samples, report.lost, report.status), (20, 0, None));
    let names = || report.functions.iter().map(|function| function.name.as_str());
    // Its code is known from before.
    assert!(
        names().any(|name| name == "sh") && !names().any(|name| name.starts_with("[unknown")),
        "{report:?}"
    );
}

#[test]
fn each_fork_is_a_sample_where_it_was_made() {
    let script = "i=0; while [ $i -lt 20 ]; do (exit 0); i=$((i+1)); done; exit 3";
    let Some(report) = sampled(&request("forks", 1, script)) else { return };
    assert_eq!((report.samples, report.lost, report.status), (20, 0, Some(3)));
    let leaves: Vec<_> = (0..report.nodes.len()).filter(|&at| report.nodes[at].own > 0).collect();
    for leaf in leaves {
        let way = way(&report, leaf);
        assert_eq!(way[0], "sh");
        let is_kernel = |name: &&str| name.contains("kernel_clone") || *name == "[kernel]";
        assert!(way.iter().any(is_kernel) || !report.missing.is_empty(), "{way:?}");
    }
}

#[test]
fn a_program_that_computes_is_where_it_computes() {
    let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let Some(report) = sampled(&request("cpu-clock", 1_000_000, script)) else { return };
    assert!(report.samples > 10 && report.lost == 0, "{report:?}");
    let user: u64 = report
        .nodes
        .iter()
        .filter(|node| report.functions[node.function as usize].part == Part::User)
        .map(|node| node.own)
        .sum();
    assert!(user > report.samples / 2, "{user} of {}", report.samples);
    let is_shell = |file: &str| file.ends_with("sh");
    assert!(report.functions.iter().any(|one| one.part == Part::User && is_shell(&one.file)), "{report:?}");
}

#[test]
fn each_program_is_a_thread_of_its_name() {
    let script = "sleep 0; expr 1 + 1 >/dev/null; exit 0";
    let Some(report) = sampled(&request("page-faults", 1, script)) else { return };
    let is_thread =
        |name: &str| report.functions.iter().any(|one| one.part == Part::Thread && one.name == name);
    assert!(is_thread("sh") && is_thread("sleep") && is_thread("expr"), "{:?}", report.functions);
}

#[test]
fn all_that_runs_can_be_sampled() {
    let everything = Workload { duration_ms: Some(100), ..Workload::default() };
    let request = SampleRequest { workload: everything, ..request("context-switches", 1, "") };
    let Some(report) = sampled(&request) else { return };
    assert!(report.samples > 0, "{report:?}");
}

#[test]
fn what_has_no_samples_is_named() {
    let stopped = sample(&request("no:such", 1, "exit 0"), &mut |_| Ok(())).expect_err("there is none");
    assert!(stopped.kind == ReportKind::Skip && stopped.text.starts_with("no:such: "), "{stopped:?}");
    let workload = Workload { command: vec!["/nowhere".to_owned()], ..Workload::default() };
    assert!(sampled(&SampleRequest { workload, ..request("page-faults", 1, "") }).is_none());
}
