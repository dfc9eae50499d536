//! Reports as a whole; the forms that kernels print are in `tests/corpus`.

use proptest::prelude::*;

use super::*;

fn titles(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    scan(&lines).into_iter().map(|report| report.title).collect()
}

const WARN: &str = "------------[ cut here ]------------
WARNING: CPU: 0 PID: 78 at kernel/foo.c:18 foo+0xf/0x16
Modules linked in:
RIP: 0010:foo+0xf/0x16
Call Trace:
 <TASK>
 bar+0x35/0x1000
 </TASK>
---[ end trace 0000000000000000 ]---";

const OOPS: &str = "BUG: kernel NULL pointer dereference, address: 0000000000000018
#PF: supervisor read access in kernel mode
Oops: 0000 [#1] PREEMPT SMP NOPTI
RIP: 0010:deref+0x5/0x10
Call Trace:
 <TASK>
 caller+0x76/0x1000
 </TASK>
---[ end trace 0000000000000000 ]---
RIP: 0010:deref+0x5/0x10
RAX: 0000000000000000 RBX: 0000000000000000 RCX: 0000000000000000
note: insmod[78] exited with irqs disabled";

const LOCKDEP: &str = "
============================================
WARNING: possible recursive locking detected
6.1.0 #1 Not tainted
--------------------------------------------
insmod/78 is trying to acquire lock:
ffffffffc0440000 (lock_a){+.+.}-{3:3}, at: twice+0x20/0x30

but task is already holding lock:
ffffffffc0440000 (lock_a){+.+.}-{3:3}, at: twice+0x10/0x30

stack backtrace:
 dump_stack_lvl+0x44/0x5c
 twice+0x20/0x30";

const PANIC: &str = "Kernel panic - not syncing: Fatal exception
Kernel Offset: 0x5a00000 from 0xffffffff81000000
---[ end Kernel panic - not syncing: Fatal exception ]---";

/// Messages that are no reports and no insides of reports.
const NOISE: [&str; 5] = [
    "tsc: Refined TSC clocksource calibration: 2299.979 MHz",
    "ACPI: PM: Preparing to enter system sleep state S5",
    "e1000: eth0 NIC Link is Up",
    "Warning: unable to open an initial console.",
    "",
];

#[test]
fn two_warnings_are_two_reports_and_the_same_again_is_one() {
    let other = WARN.replace("foo", "other");
    assert_eq!(titles(&format!("{WARN}\n{other}\n{WARN}")), ["WARNING in foo", "WARNING in other"]);
}

#[test]
fn the_panic_belongs_to_its_oops_and_so_does_all_that_follows() {
    let log = format!("booting\n{OOPS}\n{PANIC}\n{WARN}\nRebooting in 1 seconds..");
    let lines: Vec<&str> = log.lines().collect();
    let reports = scan(&lines);
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, Kind::Oops);
    assert_eq!(reports[0].title, "BUG: kernel NULL pointer dereference in deref");
    assert_eq!(reports[0].lines.len(), lines.len() - 1);
}

#[test]
fn a_panic_alone_is_a_report_and_the_next_boot_is_a_new_life() {
    let log =
        format!("Kernel panic - not syncing: sysrq triggered crash\n{WARN}\nLinux version 6.1.0\n{WARN}");
    assert_eq!(titles(&log), ["Kernel panic: sysrq triggered crash", "WARNING in foo"]);
}

#[test]
fn the_death_of_init_is_the_fault_of_an_oops_only_right_after_it() {
    let death = "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009";
    assert_eq!(titles(&format!("{OOPS}\n{death}")).len(), 1);
    let meanwhile = "usb 1-1: new device\n".repeat(40);
    assert_eq!(titles(&format!("{OOPS}\n{meanwhile}{death}")).len(), 2);
}

#[test]
fn unrelated_lines_end_a_report_and_are_not_in_it() {
    let log = format!("before\n{WARN}\nafter\nlast");
    let lines: Vec<&str> = log.lines().collect();
    let reports = scan(&lines);
    assert_eq!(reports[0].lines.join("\n"), WARN);
}

#[test]
fn lines_of_other_cpus_stay_inside() {
    let log = WARN.replace(" <TASK>", " <TASK>\ne1000: eth0 NIC Link is Up");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(scan(&lines)[0].lines.join("\n"), log);
}

#[test]
fn callers_do_not_matter() {
    let log: String = WARN.lines().map(|line| format!("[    1.500000][    T78] {line}\n")).collect();
    let lines: Vec<&str> = log.lines().collect();
    let reports = scan(&lines);
    assert_eq!(reports[0].lines.join("\n"), WARN);
    assert_eq!(reports[0].title, "WARNING in foo");
}

#[test]
fn what_is_kept_is_bounded() {
    let long = format!("{WARN}\n{}", " frame+0x1/0x2\n".repeat(1_000));
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(scan(&lines)[0].lines.len(), LINES_MAX);
    let wide = format!("BUG: {}", "é".repeat(10_000));
    let report = &scan(&[&wide])[0];
    assert!(report.lines[0].len() <= LINE_BYTES_MAX && report.title.len() <= 200);
    let flood: Vec<String> = (0..1_000).map(|n| format!("BUG: defect x{n}y")).collect();
    let flood: Vec<&str> = flood.iter().map(String::as_str).collect();
    assert_eq!(scan(&flood).len(), REPORTS_MAX);
}

#[test]
fn an_expected_report_says_one_of_the_texts_early() {
    let lines: Vec<&str> = WARN.lines().collect();
    let report = &scan(&lines)[0];
    assert!(is_expected(report, &["nothing", "WARNING in foo"]));
    assert!(is_expected(report, &["kernel/foo.c:18"]));
    assert!(!is_expected(report, &["", "  "]));
    assert!(!is_expected(report, &[]));
    assert!(!is_expected(report, &["Kernel panic"]));
}

#[test]
fn kinds_have_the_names_of_documents() {
    let name = serde_json::to_string(&Kind::HungTask).expect("a kind is a word");
    assert_eq!(name, "\"hung-task\"");
}

fn any_line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "BUG: ",
        "WARNING: ",
        "WARNING: CPU: 1 PID: 2 at ",
        "kernel BUG at ",
        "Kernel panic - not syncing: ",
        "Call Trace:",
        " </TASK>",
        "------------[ cut here ]------------",
        "==============================",
        "Oops: 0000 [#1]",
        "---[ end trace",
        "foo+0x1/0x2",
        " at: ",
        "BUG: KASAN: x in ",
        "UBSAN: a in b",
        "INFO: rcu",
        "detected stall",
        ", CPU#",
        "[T1]",
        "[",
        "]",
        "é",
        "\u{0}",
        " ",
        ": ",
        "+0x",
        "0x",
    ]);
    prop::collection::vec(prop_oneof![words.prop_map(str::to_owned), ".{0,12}"], 0..6)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_log_makes_it_panic_or_grow(log in prop::collection::vec(any_line(), 0..300)) {
        let lines: Vec<&str> = log.iter().map(String::as_str).collect();
        let reports = scan(&lines);
        prop_assert!(reports.len() <= REPORTS_MAX);
        for report in &reports {
            prop_assert!(!report.title.trim().is_empty());
            prop_assert!(!report.lines.is_empty() && report.lines.len() <= LINES_MAX);
            prop_assert!(report.lines.iter().all(|line| line.len() <= LINE_BYTES_MAX));
        }
        let total: usize = reports.iter().map(|report| report.lines.len()).sum();
        prop_assert!(total <= lines.len());
    }

    #[test]
    fn noise_hides_and_makes_no_report(
        noise in prop::collection::btree_map(0..60usize, prop::collection::vec(0..NOISE.len(), 0..4), 0..40),
        order in Just([WARN, OOPS, LOCKDEP].to_vec()).prop_shuffle(),
    ) {
        let expected: Vec<String> = order.iter().flat_map(|report| titles(report)).collect();
        let mut lines = Vec::new();
        for (at, line) in order.join("\n").lines().map(str::to_owned).enumerate() {
            lines.push(line);
            lines.extend(noise.get(&at).into_iter().flatten().map(|&which| NOISE[which].to_owned()));
        }
        prop_assert_eq!(titles(&lines.join("\n")), expected);
    }

    #[test]
    fn noise_alone_is_no_report(noise in prop::collection::vec(0..NOISE.len(), 0..100)) {
        let lines: Vec<&str> = noise.iter().map(|&which| NOISE[which]).collect();
        prop_assert_eq!(scan(&lines), []);
    }
}
