//! What `kiln stress` prints.

mod coverage;

use std::fmt::Write;
use std::time::Duration;

use protocol::ReportKind;
use protocol::stress::{
    Domain, InstanceReport, Mode, Rate, StressReport, StressRequest, Stressor, StressorOption,
};

use crate::columns::Columns;
use crate::figures::{count, number};
use crate::safe::safe_line;
use crate::words::{counted, span};

const TABLE: Columns<8> = Columns {
    head: ["stressor", "workers", "bogo ops", "real", "user", "system", "ops/s real", "ops/s CPU"],
    right: &[1, 2, 3, 4, 5, 6, 7],
    spared: &[],
};

/// A load as it stands, in a line: `3 stressors, 12,400 bogo operations`.
#[must_use]
pub fn progress(report: &StressReport) -> String {
    let operations = report.instances.iter().map(InstanceReport::operations).fold(0, u64::saturating_add);
    format!("{}, {} bogo operations", counted(report.instances.len(), "stressor"), count(operations))
}

/// All about a load: a table, then what is wrong, then the verdict.
#[must_use]
pub fn text(report: &StressReport) -> String {
    let ran: Vec<&InstanceReport> = report.instances.iter().filter(|it| !it.workers.is_empty()).collect();
    let rows: Vec<_> = ran.iter().map(|instance| row(instance)).collect();
    let mut out = table(&TABLE, &rows);
    out.push_str(&coverage::text(report));
    let mut line = |text: &str| {
        // Writing into a text cannot fail.
        let _ = writeln!(out, "{}", safe_line(text));
    };
    for instance in &ran {
        for rate in instance.mean_rates() {
            let Rate { name, unit, value, .. } = &rate;
            let missed = rate.missed().map(|asked| format!(", not {} as asked", number(asked)));
            let missed = missed.unwrap_or_default();
            line(&format!("{}: {name}: {} {unit}{missed}", instance.stressor, number(*value)));
        }
    }
    for zone in &report.thermal {
        let [before, highest] = [zone.before, zone.highest].map(|temperature| temperature / 1000);
        line(&format!("thermal zone {}: {before} °C before, at most {highest} °C", zone.kind));
    }
    if let Some(throttled) = report.throttled {
        line(&format!("cores throttled: {}", count(throttled)));
    }
    for instance in &report.instances {
        let outcome = instance.outcome();
        if outcome.kind != ReportKind::Pass {
            line(&format!("{:<7} {}", outcome.kind.name(), outcome.text));
        }
        for failure in instance.failures().skip(1) {
            line(&format!("{:<7} {}: {}", "", instance.stressor, failure.text));
        }
    }
    for leftover in &report.leftovers {
        line(&format!("left behind: {leftover}"));
    }
    line(&verdict(report));
    out
}

/// What a job file begins with that shows what would run: `# 2 stressors one after the other, 20.0 s in all`.
#[must_use]
pub fn heading(request: &StressRequest) -> String {
    let stressors = counted(request.instances.len(), "stressor");
    let each = Duration::from_millis(request.timeout_ms.unwrap_or(0));
    match request.mode {
        Mode::Parallel => format!("# {stressors} at the same time, {} in all\n", span(each)),
        Mode::Sequential => {
            let all = each.saturating_mul(u32::try_from(request.instances.len()).unwrap_or(u32::MAX));
            format!("# {stressors} one after the other, {} in all\n", span(all))
        }
    }
}

/// Stressors with their options.
#[must_use]
pub fn list(stressors: &[&Stressor]) -> String {
    let mut out = String::new();
    let width = stressors.iter().map(|stressor| stressor.name.len()).max().unwrap_or(0);
    for stressor in stressors {
        let classes: Vec<&str> = stressor.classes.iter().map(|class| class.name()).collect();
        let _ = writeln!(out, "{:<width$}  {} ({})", stressor.name, stressor.about, classes.join(", "));
        for StressorOption { name, about, domain } in &stressor.options {
            let _ = writeln!(out, "{:<width$}    {name}={}: {about}", "", values(domain));
        }
    }
    out
}

/// Rows below their head; nothing if there are none.
fn table<const N: usize>(columns: &Columns<N>, rows: &[[String; N]]) -> String {
    let widths = columns.widths(rows, None);
    let head = columns.head.map(str::to_owned);
    let lines = std::iter::once(&head).chain(rows).map(|row| columns.line(row, &widths) + "\n");
    if rows.is_empty() { String::new() } else { lines.collect() }
}

fn row(instance: &InstanceReport) -> [String; 8] {
    let sum = |of: fn(&protocol::stress::WorkerReport) -> u64| {
        span(Duration::from_nanos(instance.workers.iter().map(of).fold(0, u64::saturating_add)))
    };
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), number);
    [
        safe_line(&instance.stressor),
        instance.workers.len().to_string(),
        count(instance.operations()),
        span(Duration::from_nanos(instance.wall_ns())),
        sum(|worker| worker.user_ns),
        sum(|worker| worker.system_ns),
        rate(instance.per_second()),
        rate(instance.per_cpu_second()),
    ]
}

fn verdict(report: &StressReport) -> String {
    let of = |kind| report.instances.iter().filter(|it| it.outcome().kind == kind).count();
    let counts = [ReportKind::Pass, ReportKind::Fail, ReportKind::Broken, ReportKind::Skip]
        .map(|kind| (of(kind), kind.name()))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"));
    let all = counted(report.instances.len(), "stressor");
    let is_running = report.instances.iter().flat_map(|it| &it.workers).any(|worker| worker.end.is_none());
    let more = match () {
        () if report.interrupted => "; interrupted",
        () if is_running => "; not over yet",
        () => "",
    };
    format!("{all}: {}{more}", counts.collect::<Vec<_>>().join(", "))
}

fn values(domain: &Domain) -> String {
    match domain {
        Domain::Number { minimum, maximum, default } => format!("{minimum} to {maximum} [{default}]"),
        Domain::Size { minimum, maximum, default } => {
            let [minimum, maximum, default] = [*minimum, *maximum, *default].map(size);
            format!("{minimum} to {maximum}, or a share of the memory such as 25% [{default}]")
        }
        Domain::Choice(choices) => choices.join("|"),
        Domain::Flag => "(on)".to_owned(),
    }
}

/// A number of bytes with the largest unit in which it is whole.
fn size(bytes: u64) -> String {
    let units = [("G", 30), ("M", 20), ("k", 10)];
    let fits = |(_, shift): &(&str, u32)| bytes > 0 && bytes.trailing_zeros() >= *shift;
    units
        .into_iter()
        .find(fits)
        .map_or_else(|| bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::stress::{Class, WorkerReport};
    use protocol::{End, Report};

    fn worker(operations: u64, reports: &[(ReportKind, &str)]) -> WorkerReport {
        let report = |(kind, text): &(ReportKind, &str)| Report { kind: *kind, text: (*text).to_owned() };
        WorkerReport {
            operations,
            wall_ns: 2_000_000_000,
            user_ns: 1_500_000_000,
            system_ns: 250_000_000,
            end: Some(End::Exited(0)),
            reports: reports.iter().map(report).collect(),
            rates: vec![Rate {
                name: "read".into(),
                unit: "MB/s".into(),
                value: 1998.5,
                asked: Some(2500.0),
            }],
            ..WorkerReport::default()
        }
    }

    #[test]
    fn what_is_wrong_follows_the_table() {
        let instance = |stressor: &str, workers| InstanceReport {
            stressor: stressor.to_owned(),
            workers,
            ..InstanceReport::default()
        };
        let refused = Report { kind: ReportKind::Skip, text: "needs a\u{1b}[2J disk".into() };
        let report = StressReport {
            instances: vec![
                instance("memrate", vec![worker(1000, &[]), worker(2000, &[])]),
                instance("vm", vec![worker(5, &[(ReportKind::Fail, "bit 3"), (ReportKind::Fail, "bit 4")])]),
                InstanceReport { refused: Some(refused), ..instance("swap", Vec::new()) },
            ],
            ..StressReport::default()
        };
        insta::assert_snapshot!(text(&report));
        let mut running = report.clone();
        running.instances[0].workers[0].end = None;
        assert!(text(&running).ends_with("skip; not over yet\n"), "{}", text(&running));
        assert_eq!(progress(&report), "3 stressors, 3,005 bogo operations");
    }

    #[test]
    fn a_plan_says_how_long_it_takes() {
        let plan = |mode, instances| StressRequest {
            instances: vec![protocol::stress::Instance::default(); instances],
            mode,
            timeout_ms: Some(60_000),
            ..StressRequest::default()
        };
        assert_eq!(heading(&plan(Mode::Parallel, 1)), "# 1 stressor at the same time, 1 min 0 s in all\n");
        assert_eq!(
            heading(&plan(Mode::Sequential, 3)),
            "# 3 stressors one after the other, 3 min 0 s in all\n"
        );
    }

    #[test]
    fn the_list_has_all_options_with_their_values() {
        let option = |name: &str, domain| StressorOption {
            name: name.to_owned(),
            about: "what it sets".to_owned(),
            domain,
        };
        let stressor = Stressor {
            name: "vm".into(),
            classes: vec![Class::Vm, Class::Memory],
            about: "writes and verifies memory".into(),
            operation: "a page".into(),
            verifies: "all bits".into(),
            options: vec![
                option("bytes", Domain::Size { minimum: 4096, maximum: 1 << 30, default: 64 << 20 }),
                option("method", Domain::Choice(vec!["all".into(), "flip".into()])),
                option("hang", Domain::Number { minimum: 0, maximum: 9, default: 0 }),
                option("keep", Domain::Flag),
            ],
            rates: Vec::new(),
            needs: Vec::new(),
        };
        insta::assert_snapshot!(list(&[&stressor]));
    }
}
