//! A pass without tracing: each figure by itself.

use measure::Unit;
use protocol::steal::{Accounting, CpuTimes, Gaps, Pass, Side, StealReport, ThreadTime};

use super::{elapsed, line, percent};
use crate::columns::bar;
use crate::figures::{count, figure};
use crate::safe::safe_line;

/// Columns of the longest bar.
const BAR: u64 = 30;

/// A figure of a pass, with its name.
pub(super) type Figure = (&'static str, fn(&Pass) -> Option<f64>);

/// Threads that are shown.
const THREADS: usize = 5;

/// All about one pass.
pub(super) fn text(report: &StealReport, pass: &Pass) -> String {
    let mut out = line("measured", &measured(pass));
    if let Some((work, gaps)) = pass.stolen_by_work().zip(pass.stolen_by_gaps()) {
        let threshold = report.calibration.map_or(0, |calibration| calibration.threshold_ns);
        out += &line("work not done", &format!("{:>8}  against the calibration", percent(work)));
        let gaps = format!(
            "{:>8}  {}",
            percent(gaps),
            pass.work.as_ref().map_or_else(String::new, |it| longest(&it.gaps, threshold))
        );
        out += &line("gaps", &gaps);
    }
    out += &line("user time", &format!("{:>8}  charged by the kernel", percent(pass.user())));
    out += &line("system time", &format!("{:>8}  charged by the kernel", percent(pass.system())));
    out += &line(
        "not running",
        &format!("{:>8}  {}", percent(pass.off_cpu()), off_cpu(report.conditions.accounting, pass)),
    );
    out += &threads(pass);
    if let Some(times) = &pass.times {
        out += &line("/proc/stat", &cpu_times(times));
    }
    if let Some(load) = load(report, pass) {
        out += &line("load done", &load);
    }
    out += &histogram(pass);
    out + &conclusion(pass)
}

/// Several passes of a set-up, with the median of each figure.
pub(super) fn summary(side: &Side, passes: &[Pass]) -> String {
    let figures: [Figure; 5] = [
        ("work not done", Pass::stolen_by_work),
        ("gaps", Pass::stolen_by_gaps),
        ("user time", |pass| Some(pass.user())),
        ("system time", |pass| Some(pass.system())),
        ("not running", |pass| Some(pass.off_cpu())),
    ];
    let mut out = line("measured", &format!("{}, of each figure the median", passes_of(passes)));
    for (name, figure) in figures {
        let all: Vec<String> = passes.iter().filter_map(figure).map(percent).collect();
        if let Some(median) = side.median(figure) {
            out += &line(name, &format!("{:>8}  of {}", percent(median), all.join(", ")));
        }
    }
    out
}

fn passes_of(passes: &[Pass]) -> String {
    let time = passes.first().map(elapsed).unwrap_or_default();
    format!("{} passes of {time}", passes.len())
}

fn measured(pass: &Pass) -> String {
    let status = pass.status.map(|status| format!(", exit status {status}"));
    format!("{} without tracing{}", elapsed(pass), status.unwrap_or_default())
}

fn longest(gaps: &Gaps, threshold_ns: u64) -> String {
    let [threshold, longest] = [threshold_ns, gaps.longest_ns].map(time);
    format!("{} of more than {threshold}, the longest {longest}", count(gaps.count))
}

fn off_cpu(accounting: Accounting, pass: &Pass) -> String {
    let others = match accounting {
        Accounting::IrqTime => "other threads, interrupts and softirqs",
        Accounting::Tick | Accounting::VirtualGeneric | Accounting::Unknown => "other threads",
    };
    let usage = &pass.usage;
    format!("{others} had the CPU: preempted {}, waited {}", times(usage.involuntary), times(usage.voluntary))
}

fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} times", count(number)) }
}

/// Who had it, as far as it is worth a line.
fn threads(pass: &Pass) -> String {
    let shown = pass.threads.iter().take(THREADS).filter(|thread| pass.share(thread.ns) >= 0.0005);
    let text = |ThreadTime { name, ns, at_most }: &ThreadTime| {
        let bound = if *at_most { "(at most: it can run on other CPUs, too)" } else { "" };
        let text = format!("{:>8}  {} {bound}", percent(pass.share(*ns)), safe_line(name));
        line("  thread", text.trim_end())
    };
    shown.map(text).collect()
}

fn cpu_times(times: &CpuTimes) -> String {
    let CpuTimes { user_ms, system_ms, irq_ms, softirq_ms, steal_ms, idle_ms } = *times;
    let all = [user_ms, system_ms, irq_ms, softirq_ms, steal_ms, idle_ms];
    let sum = all.iter().fold(0_u64, |sum, ms| sum.saturating_add(*ms)).max(1) as f64;
    let names = ["user", "system", "irq", "softirq", "steal", "idle"];
    let texts = names.iter().zip(all).map(|(name, ms)| format!("{name} {}", percent(ms as f64 / sum)));
    texts.collect::<Vec<_>>().join(", ")
}

fn load(report: &StealReport, pass: &Pass) -> Option<String> {
    let (load, done) = report.request.load.zip(pass.load_count)?;
    let rate = u128::from(done) * 1_000_000_000 / u128::from(pass.elapsed_ns.max(1));
    let rate = count(u64::try_from(rate).unwrap_or(u64::MAX));
    let busy = pass.load_busy().map(|busy| format!("; it kept a CPU busy for {}", percent(busy)));
    Some(format!("{} {}, {rate} a second{}", count(done), load.unit(), busy.unwrap_or_default()))
}

/// A bar for each class from the first to the last that has gaps.
fn histogram(pass: &Pass) -> String {
    let classes = pass.work.as_ref().map_or(&[][..], |work| &work.gaps.histogram);
    let most = classes.iter().copied().max().unwrap_or(0);
    let (Some(first), Some(last)) =
        (classes.iter().position(|gaps| *gaps > 0), classes.iter().rposition(|gaps| *gaps > 0))
    else {
        return String::new();
    };
    let row = |class: usize| {
        let bound = match class + 1 == classes.len() {
            true => format!("from {}", time(1000 << class)),
            false => format!("below {}", time(2000 << class)),
        };
        let gaps = classes.get(class).copied().unwrap_or(0);
        let text = format!("{:>8}  {}", count(gaps), bar(gaps, most, BAR));
        line(&format!("  {bound}"), text.trim_end())
    };
    (first..=last).map(row).collect()
}

/// What the victim got, and by how much accounting is wrong.
fn conclusion(pass: &Pass) -> String {
    let Some((stolen, error)) = pass.stolen_by_gaps().zip(pass.accounting_error()) else {
        return String::new();
    };
    let user = pass.user();
    let points = format!("{:.1} points", error.abs() * 100.0);
    let error = match () {
        () if error.abs() < 0.0005 => "and so it was".to_owned(),
        () if error > 0.0 => format!("{points} too much"),
        () => format!("{points} too little"),
    };
    format!(
        "The victim got {} of the CPU. User time says {}: {error}.\n",
        percent(1.0 - stolen),
        percent(user)
    )
}

/// Nanoseconds with four digits that count.
pub(super) fn time(nanoseconds: u64) -> String {
    figure(nanoseconds as f64, &Unit::Nanoseconds)
}
