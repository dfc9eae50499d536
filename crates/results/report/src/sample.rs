//! What `kiln sample` prints.
//!
//! * [`text()`]: functions by their share, for people; [`tree()`]: the calls, from the outermost on
//! * [`folded`]: a line for each way to a function, as flamegraph.pl and others read it
//! * [`flame()`]: the calls as a picture

mod flame;

use std::collections::BTreeSet;
use std::time::Duration;

pub use flame::flame;
use protocol::sample::{Function, Part, SampleReport};

use crate::figures::{count, grouped};
use crate::safe::safe_line;
use crate::table::Table;
use crate::words::{counted, span};

/// Functions below this share of all samples are not in the tree of calls, in percent.
const LEAST: f64 = 0.5;

/// Calls that are shown below each other.
const DEPTH: usize = 60;

/// Bytes of a line for each way.
const FOLDED_MAX: usize = 256 << 20;

/// What is known so far, in a line: `3.0 s: 2,991 samples`.
#[must_use]
pub fn progress(report: &SampleReport) -> String {
    format!("{}: {} samples", span(Duration::from_nanos(report.elapsed_ns)), count(report.samples))
}

/// The functions with their shares.
#[must_use]
pub fn text(report: &SampleReport) -> String {
    let mut out = head(report);
    if report.nodes.is_empty() {
        return out + &notes(report);
    }
    out += &parts(report);
    let (threads, functions): (Vec<Share<'_>>, Vec<Share<'_>>) =
        shares(report).into_iter().partition(|one| one.function.part == Part::Thread);
    if threads.len() > 1 {
        let rows = threads.iter().map(|one| {
            let [total, error] = percents(one.total, report.samples);
            (one.total, [total, error, safe_line(&one.function.name)])
        });
        out += &Table::sorted(["TOTAL", "±", "THREAD"], 1, rows).text();
    }
    let rows = functions.iter().map(|one| {
        let ([own, error], [total, _]) =
            (percents(one.own, report.samples), percents(one.total, report.samples));
        let (name, file) = (safe_line(&one.function.name), safe_line(file_name(one.function)));
        ((one.own, one.total), [own, error, total, name, file])
    });
    out += &Table::sorted(["SELF", "±", "TOTAL", "FUNCTION", "FILE"], 2, rows).text();
    out + &notes(report)
}

/// The calls that take most, from the outermost on, with their shares.
#[must_use]
pub fn tree(report: &SampleReport) -> String {
    let mut out = head(report) + "\n   TOTAL    SELF  CALLS\n";
    let totals = report.totals();
    let tree = Tree::new(report, &totals);
    let mut waiting: Vec<(usize, usize)> = tree.roots.iter().rev().map(|&root| (root, 0)).collect();
    while let Some((at, depth)) = waiting.pop() {
        let node = report.nodes[at];
        if share(totals[at], report.samples) < LEAST || depth > DEPTH {
            continue;
        }
        let [total, _] = percents(totals[at], report.samples);
        let [own, _] = percents(node.own, report.samples);
        let function = &report.functions[node.function as usize];
        let file = match function.part {
            Part::User | Part::Kernel => format!("  ({})", safe_line(file_name(function))),
            Part::Thread | Part::Omitted => String::new(),
        };
        out += &format!("{total:>8} {own:>7}  {:depth$}{}{file}\n", "", safe_line(&function.name));
        waiting.extend(tree.calls[at].iter().rev().map(|&call| (call, depth + 1)));
    }
    out + &notes(report)
}

/// A line for each way to a function: `sh;main;do_syscall_64 17`. A guest may have made up a report that is deeper than any
/// program: no line begins beyond [`FOLDED_MAX`] bytes.
#[must_use]
pub fn folded(report: &SampleReport) -> String {
    let tree = Tree::new(report, &report.totals());
    // The way to the node before, of which each node keeps what it has in common with it.
    let (mut way, mut out) = (String::new(), String::new());
    let mut waiting: Vec<(usize, Option<usize>)> =
        tree.roots.iter().rev().map(|&root| (root, None)).collect();
    while let Some((at, caller)) = waiting.pop().filter(|_| out.len() < FOLDED_MAX) {
        let node = report.nodes[at];
        way.truncate(caller.unwrap_or_default());
        if caller.is_some() {
            way.push(';');
        }
        // What separates names and numbers is in no name.
        way += &safe_line(&report.functions[node.function as usize].name).replace([';', '\n'], ":");
        if node.own > 0 {
            out += &format!("{way} {}\n", node.own);
        }
        waiting.extend(tree.calls[at].iter().rev().map(|&call| (call, Some(way.len()))));
    }
    out
}

fn head(report: &SampleReport) -> String {
    let request = &report.request;
    let every = match (request.event.is_time(), request.period) {
        (true, period) => format!("one each {} of CPU time", span_of(period)),
        (false, 1) => "one at each event".to_owned(),
        (false, period) => format!("one each {} events", count(period)),
    };
    let clock = if request.by_clock().is_some() { ", by the machine's clock" } else { "" };
    format!(
        "{}: {} samples of {} in {}, {every}{clock}\n",
        crate::count::what(&request.workload, report.status, report.signal),
        count(report.samples),
        request.event,
        span(Duration::from_nanos(report.elapsed_ns)),
    )
}

/// A period: shorter ones than [`span`] shows.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn span_of(nanoseconds: u64) -> String {
    format!("{} ms", grouped(nanoseconds as f64 / 1e6, 3))
}

/// How much of it the kernel is.
fn parts(report: &SampleReport) -> String {
    let own = |part: Part| {
        let of_part = |node: &&protocol::sample::Node| report.functions[node.function as usize].part == part;
        report.nodes.iter().filter(of_part).map(|node| node.own).sum::<u64>()
    };
    let [user, kernel] = [Part::User, Part::Kernel].map(|part| percents(own(part), report.samples).join(" "));
    format!("programs {user}, kernel {kernel}\n")
}

/// A function with its samples.
struct Share<'a> {
    function: &'a Function,
    own: u64,
    total: u64,
}

/// The functions that have samples. A sample counts once for each of them, however often the function is in its calls.
fn shares(report: &SampleReport) -> Vec<Share<'_>> {
    let of = |function| Share { function, own: 0, total: 0 };
    let mut shares: Vec<Share<'_>> = report.functions.iter().map(of).collect();
    let totals = report.totals();
    let tree = Tree::new(report, &totals);
    // The functions that have been entered and not been left on the way to here.
    let mut entered: BTreeSet<u32> = BTreeSet::new();
    let mut waiting: Vec<Step> = tree.roots.iter().map(|&root| Step::Enter(root)).collect();
    while let Some(step) = waiting.pop() {
        let at = match step {
            Step::Leave(function) => {
                entered.remove(&function);
                continue;
            }
            Step::Enter(at) => at,
        };
        let node = report.nodes[at];
        let share = &mut shares[node.function as usize];
        share.own += node.own;
        if entered.insert(node.function) {
            share.total += totals[at];
            waiting.push(Step::Leave(node.function));
        }
        waiting.extend(tree.calls[at].iter().map(|&call| Step::Enter(call)));
    }
    shares.retain(|share| share.total > 0);
    shares
}

enum Step {
    Enter(usize),
    Leave(u32),
}

/// Which nodes each node calls, those with the most samples first.
struct Tree {
    roots: Vec<usize>,
    calls: Vec<Vec<usize>>,
}

impl Tree {
    fn new(report: &SampleReport, totals: &[u64]) -> Self {
        let mut tree = Self { roots: Vec::new(), calls: vec![Vec::new(); report.nodes.len()] };
        for (at, node) in report.nodes.iter().enumerate() {
            match node.caller {
                Some(caller) => tree.calls[caller as usize].push(at),
                None => tree.roots.push(at),
            }
        }
        for calls in std::iter::once(&mut tree.roots).chain(&mut tree.calls) {
            calls.sort_by_key(|&at| std::cmp::Reverse(totals[at]));
        }
        tree
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(of: u64, all: u64) -> f64 {
    100.0 * of as f64 / all.max(1) as f64
}

/// A share in percent, and half of its interval of 95 %: Agresti and Coull, "Approximate is better than exact", 1998.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn percents(of: u64, all: u64) -> [String; 2] {
    let (n, near) = (all as f64 + 4.0, (of as f64 + 2.0) / (all as f64 + 4.0));
    let error = 196.0 * (near * (1.0 - near) / n).sqrt();
    [format!("{:.1} %", share(of, all)), format!("±{error:.1}")]
}

/// The last part of a path.
fn file_name(function: &Function) -> &str {
    function.file.rsplit('/').next().unwrap_or_default()
}

fn notes(report: &SampleReport) -> String {
    let of_all = |of: u64| format!("{} ({:.1} %)", count(of), share(of, report.samples));
    let notes = [
        (report.lost > 0).then(|| format!("{} records lost: the buffers were full", count(report.lost))),
        (report.throttled > 0).then(|| {
            let times = counted(usize::try_from(report.throttled).unwrap_or(usize::MAX), "time");
            format!("too many samples: the kernel took none for a moment, {times}")
        }),
        (report.cut > 0 && !report.nodes.is_empty()).then(|| {
            format!(
                "{} of the samples lack outer calls: a deeper stack than --stack {}, or code that does not say how it returns",
                of_all(report.cut), report.request.stack
            )
        }),
    ];
    let notes = notes.into_iter().flatten().chain(report.missing.iter().map(|why| safe_line(why)));
    let lines: String = notes.map(|note| note + "\n").collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::sample::{Node, SampleRequest};
    use protocol::workload::Workload;

    pub(super) fn report() -> SampleReport {
        let function = |name: &str, file: &str, part| Function {
            name: name.to_owned(),
            file: file.to_owned(),
            part,
            is_inlined: false,
        };
        SampleReport {
            request: SampleRequest {
                event: "cpu-clock".parse().expect("an event"),
                period: 1_003_009,
                stack: 8192,
                workload: Workload {
                    command: ["load", "\u{1b}[31m"].map(str::to_owned).to_vec(),
                    ..Workload::default()
                },
                instruction_ns: None,
            },
            elapsed_ns: 2_000_000_000,
            status: Some(0),
            signal: None,
            samples: 2000,
            lost: 3,
            throttled: 1,
            cut: 20,
            functions: vec![
                function("load", "", Part::Thread),
                function("main", "/usr/bin/load", Part::User),
                function("fib;<u64>", "/usr/bin/load", Part::User),
                function("do_syscall_64", "kernel", Part::Kernel),
                function("sh", "", Part::Thread),
                function("[rare]", "", Part::Omitted),
            ],
            nodes: [
                (None, 0, 0),
                (Some(0), 1, 200),
                (Some(1), 2, 700),
                (Some(2), 2, 500),
                (Some(1), 3, 590),
                (None, 4, 5),
                (Some(5), 5, 5),
            ]
            .map(Node::from)
            .to_vec(),
            missing: vec!["no functions of the kernel".to_owned()],
        }
    }

    #[test]
    fn a_report_is_a_page() {
        assert_eq!(report().validate(), Ok(()));
        insta::assert_snapshot!(text(&report()));
        assert_eq!(progress(&report()), "2.0 s: 2,000 samples");
    }

    #[test]
    fn calls_are_a_tree() {
        insta::assert_snapshot!(tree(&report()));
    }

    #[test]
    fn each_way_to_a_function_is_a_line() {
        let lines = [
            "load;main 200",
            "load;main;fib:<u64> 700",
            "load;main;fib:<u64>;fib:<u64> 500",
            "load;main;do_syscall_64 590",
            "sh 5",
            "sh;[rare] 5",
        ];
        assert_eq!(folded(&report()).lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn ways_without_end_have_an_end() {
        // Written out, they would take half a terabyte.
        let count = u32::try_from(protocol::sample::NODES_MAX).expect("small");
        let node = |at: u32| Node { caller: at.checked_sub(1), function: 0, own: 1 };
        let functions = vec![Function { name: "x".repeat(256), ..report().functions[0].clone() }];
        let nodes = (0..count).map(node).collect();
        let deep = SampleReport { samples: u64::from(count), functions, nodes, ..report() };
        assert_eq!(deep.validate(), Ok(()));
        assert!(folded(&deep).len() < 2 * FOLDED_MAX);
    }

    #[test]
    fn what_calls_itself_is_counted_once() {
        let report = report();
        let shares = shares(&report).into_iter().filter(|share| share.function.name.starts_with("fib"));
        assert_eq!(shares.map(|one| (one.own, one.total)).collect::<Vec<_>>(), [(1200, 1200)]);
    }

    #[test]
    fn a_report_without_samples_is_a_page_too() {
        let empty = SampleReport { samples: 0, nodes: Vec::new(), functions: Vec::new(), ..report() };
        assert!(text(&empty).contains("0 samples") && tree(&empty).contains("0 samples"));
        assert_eq!(folded(&empty), "");
    }
}
