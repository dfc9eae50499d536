//! The Linux Test Project on three stock kernels, against the table of what is neither a pass nor a skip.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use judge::{Outcome, Run};
use lab::Event;

use crate::support::{BUILD, Done, Place, cache};

const LISTS: [&str; 6] = ["syscalls", "mm", "sched", "pty", "containers", "fs"];
const TABLE: &str = "../../docs/ltp.md";

/// A row of the table: a result that is known, and whose fault it is.
#[derive(Debug)]
struct Known {
    case: String,
    /// Releases; empty is all.
    kernels: Vec<String>,
    outcome: String,
    /// Not every time, as it depends on how fast the machine is.
    at_times: bool,
    whose: String,
    why: String,
}

impl Known {
    fn all() -> Vec<Self> {
        let page = std::fs::read_to_string(TABLE).expect("the page is part of the project");
        page.lines().filter(|line| line.starts_with("| `")).map(Self::read).collect()
    }

    fn read(row: &str) -> Self {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [case, kernels, outcome, whose, why] = cells[..] else { panic!("five cells: {row}") };
        let releases = |all: &str| all.split(", ").map(str::to_string).collect();
        Self {
            case: case.trim_matches('`').to_string(),
            kernels: if kernels == "all" { Vec::new() } else { releases(kernels) },
            outcome: outcome.trim_end_matches(", at times").to_string(),
            at_times: outcome.ends_with(", at times"),
            whose: whose.to_string(),
            why: why.to_string(),
        }
    }

    fn is_of(&self, kernel: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|release| kernel.ends_with(release))
    }
}

/// Where LTP is installed: built from its source once for all tests.
fn installed() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let source = source();
        let name = source.file_name().expect("a file").to_string_lossy().replace(".tar.xz", "");
        let prefix = cache().join(name);
        if !prefix.is_dir() {
            let part = prefix.with_extension("part");
            let _ = std::fs::remove_dir_all(&part);
            let build = Command::new("../../scripts/ltp").args([&source, &part]).status();
            assert!(build.is_ok_and(|status| status.success()), "scripts/ltp {}", source.display());
            std::fs::rename(&part, &prefix).expect("the same disk");
        }
        prefix
    })
}

/// The archive that `LTP_SOURCE` names, or the one beside the checkout.
fn source() -> PathBuf {
    if let Some(path) = std::env::var_os("LTP_SOURCE") {
        return path.into();
    }
    let beside = Path::new("../../../shared/ltp");
    let archives = std::fs::read_dir(beside).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = archives.filter(|path| path.to_string_lossy().ends_with(".tar.xz")).max();
    found.expect("LTP_SOURCE names the archive with LTP's source").canonicalize().expect("it is there")
}

/// Runs these cases of LTP in so many machines at once.
fn ltp(place: &Place, kernel: &str, cases: &[&str], jobs: &str) -> Done {
    let suite = installed().display().to_string();
    let cases = cases.iter().flat_map(|case| ["--case", case]);
    let arguments = ["run", kernel, "--suite", &suite, "--no-retry", "--jobs", jobs].into_iter().chain(cases);
    let done = place.kiln(arguments).env("LTP_RUNTIME_MUL", "0.1").run_within(2 * BUILD);
    // A row that is broken makes it 3, and one that fails 1.
    assert!(matches!(done.code, Some(0 | 1 | 3)), "{}", done.stderr);
    assert_eq!(done.session()["summary"]["not_run"], 0, "{}", done.stderr);
    done
}

/// Whether a case does not pass either if its machine has the host for itself, once in three times. Many tests of LTP fail
/// when a call takes more than a millisecond.
fn fails_alone(kernel: &str, case: &str) -> bool {
    (0..3).any(|_| !ltp(&Place::new(), kernel, &[case], "1").only_run().outcome.is_well())
}

/// Every result of a session is a pass, a skip or in the table, and what the table has without "at times" came.
fn agrees_with_the_table(kernel: &str) {
    let place = Place::new();
    let lists = LISTS.map(|list| format!("{list}/*"));
    // Most tests that run for long sleep or wait for each other: two machines for a CPU.
    let done = ltp(&place, kernel, &lists.each_ref().map(String::as_str), "4");

    // Else each case has a boot of its own, and all take five times as long.
    let notes: Vec<Event> =
        done.events().into_iter().filter(|event| matches!(event, Event::Note { .. })).collect();
    assert!(!notes.iter().any(|note| format!("{note:?}").contains("cannot be cloned")), "{notes:?}");
    let runs = done.finished();
    let passed = runs.iter().filter(|run| run.outcome == Outcome::Pass).count();
    assert!(passed > 1000, "{passed} of {} pass", runs.len());
    let known: Vec<Known> = Known::all().into_iter().filter(|known| known.is_of(kernel)).collect();
    let seen: BTreeMap<&str, &Run> =
        runs.iter().filter(|run| !run.outcome.is_well()).map(|run| (run.case.as_str(), run)).collect();
    let is_known =
        |run: &Run| known.iter().any(|known| known.case == run.case && known.outcome == run.outcome.name());
    let strange: Vec<String> = seen
        .values()
        .filter(|run| !is_known(run) && fails_alone(kernel, &run.case))
        .map(|run| format!("{} {}: {}", run.outcome.name(), run.case, run.reason))
        .collect();
    let gone: Vec<&str> = known
        .iter()
        .filter(|known| !known.at_times && !seen.contains_key(known.case.as_str()))
        .map(|known| known.case.as_str())
        .collect();
    assert!(strange.is_empty() && gone.is_empty(), "not in the table: {strange:#?}\nonly there: {gone:#?}");
}

#[test]
#[ignore = "takes minutes"]
fn ltp_on_debian_12_agrees_with_its_table() {
    agrees_with_the_table("deb:6.1.0-56-amd64");
}

#[test]
#[ignore = "takes minutes"]
fn ltp_on_the_cloud_kernel_agrees_with_its_table() {
    agrees_with_the_table("deb:6.1.0-56-cloud-amd64");
}

#[test]
#[ignore = "takes minutes"]
fn ltp_on_the_backported_kernel_agrees_with_its_table() {
    agrees_with_the_table("deb:6.12.117+deb12-amd64");
}

#[test]
fn the_table_explains_every_row_and_has_none_of_kilns() {
    let all = Known::all();
    assert!(!all.is_empty());
    let mut cases = BTreeSet::new();
    for known in &all {
        assert!(cases.insert((&known.case, &known.outcome)), "twice: {known:?}");
        assert!(["kernel", "test"].contains(&known.whose.as_str()), "{known:?}");
        assert!(!known.why.is_empty(), "{known:?}");
        assert!(known.case.split_once('/').is_some_and(|(list, _)| LISTS.contains(&list)), "{known:?}");
        assert!(Outcome::ALL.iter().any(|outcome| outcome.name() == known.outcome), "{known:?}");
    }
}
