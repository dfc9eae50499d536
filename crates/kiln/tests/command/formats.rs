//! KTAP, JUnit and JSON of a real run; `cases` and `doctor`.

use std::path::Path;

use quick_junit::{NonSuccessKind, TestCaseStatus};
use serde_json::Value;

use crate::support::{KERNEL, Place};

/// What KTAP of Documentation/dev-tools/ktap.rst says of each leaf; panics where a rule is broken.
fn leaves(lines: &mut std::iter::Peekable<std::str::Lines<'_>>, indent: usize) -> Vec<(String, bool)> {
    let prefix = " ".repeat(indent);
    let mut here = || {
        let line = lines.next_if(|line| line.starts_with(&prefix) && !line[indent..].starts_with("  "));
        line.map(|line| &line[indent..])
    };
    assert_eq!(here(), Some("KTAP version 1"));
    let plan = here().and_then(|line| line.strip_prefix("1..")).expect("a plan");
    let plan: usize = plan.parse().expect("a number");
    let (mut results, mut inside, mut found) = (0, None, Vec::new());
    while let Some(line) = lines.peek().filter(|line| line.starts_with(&prefix)) {
        let line = line[indent..].to_string();
        if line.starts_with("  ") {
            inside = Some(leaves(lines, indent + 2));
            continue;
        }
        lines.next();
        if line.starts_with("# ") {
            continue;
        }
        results += 1;
        let (ok, rest) = line.strip_prefix("not ").map_or((true, &*line), |rest| (false, rest));
        let name = rest.strip_prefix(&format!("ok {results} ")).unwrap_or_else(|| panic!("{line:?}"));
        let inner = inside.take().unwrap_or_else(|| vec![(name.to_string(), ok)]);
        assert_eq!(ok, inner.iter().all(|(_, ok)| *ok), "{line:?} is not the sum of {inner:?}");
        found.extend(inner);
    }
    assert_eq!(results, plan);
    found
}

#[test]
fn ktap_is_all_that_is_printed_and_keeps_the_rules() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--case", "pipe/*", "--format", "ktap"]).run().expect(0);
    let mut lines = done.stdout.lines().peekable();
    let leaves = leaves(&mut lines, 0);
    assert_eq!(lines.next(), None);
    assert!(leaves.len() >= 3 && leaves.iter().all(|(_, ok)| *ok), "{leaves:?}");
    assert!(done.stderr.is_empty(), "{}", done.stderr);
}

#[test]
fn junit_is_xml_with_a_test_case_for_each_run() {
    let place = Place::new();
    let program = place.script("bad", "echo '<&]]>'; kiln-report fail 'a < b'; exit 0");
    let done = place.exec(&program, &["--format", "junit"]).run().expect(1);
    let report = quick_junit::Report::deserialize_from_str(&done.stdout).expect("JUnit");
    let cases: Vec<_> = report.test_suites.iter().flat_map(|suite| &suite.test_cases).collect();
    assert_eq!(cases.len(), 1);
    let TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, message, .. } = &cases[0].status else {
        panic!("{:?}", cases[0].status)
    };
    assert_eq!((cases[0].name.as_str(), message.as_deref()), ("bad", Some("a < b")));
    assert!(done.stderr.is_empty(), "{}", done.stderr);
}

#[test]
fn json_is_one_event_a_line_and_what_is_recorded() {
    let place = Place::new();
    let program = place.script("quiet", "echo hello");
    let done = place.exec(&program, &["--format", "json"]).run().expect(0);
    let printed: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let recorded = done.recorded("events.jsonl");
    let recorded: Vec<Value> =
        recorded.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(printed, recorded);
    assert_eq!(
        (&printed[0]["event"], &printed[printed.len() - 1]["event"]),
        (&"planned".into(), &"ended".into())
    );
}

#[test]
fn cases_are_listed_without_a_machine() {
    let place = Place::new();
    let done = place.kiln(["cases", "--json"]).run().expect(0);
    let cases: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(cases.len() >= 60, "{}", cases.len());
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        assert!(name.contains('/') && case["about"].as_str().is_some_and(|text| !text.is_empty()), "{case}");
        assert!(
            case["needs"].is_array() && case["limit"].as_f64().is_some_and(|limit| limit > 0.0),
            "{case}"
        );
    }
    let table = place.kiln(["cases", "--case", "pipe/*"]).run().expect(0);
    assert!(table.stdout.lines().all(|line| line.starts_with("pipe/")), "{}", table.stdout);
    assert!(crate::support::sessions(&place.path().join("state")).is_empty());
}

#[test]
fn the_doctor_says_what_works_and_why_kvm_does_not() {
    let place = Place::new();
    let done =
        place.kiln(["doctor"]).run().expect(0).says("QEMU").says("KVM").says("UML        /usr/bin/linux.uml");
    let done = done.says("ok       sandbox");
    let kvm = done.stdout.lines().find(|line| line.contains("KVM")).expect("said");
    assert!(kvm.starts_with("ok") || kvm.contains("kiln uses TCG"), "{kvm}");
    let json = place.kiln(["doctor", "--json"]).run().expect(0);
    let findings: Vec<Value> =
        json.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(findings.len(), done.stdout.lines().count());
    assert_eq!((&findings[0]["what"], &findings[0]["good"]), (&"QEMU".into(), &true.into()));
}

#[test]
fn the_doctor_names_a_folder_that_this_user_may_not_write() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::TempDir::new().expect("a folder that others can reach");
    let allow = |path: &Path, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).expect("it is ours");
    };
    allow(place.path(), 0o755);
    let (kiln, closed) = (place.path().join("kiln"), place.path().join("closed"));
    std::fs::copy(env!("CARGO_BIN_EXE_kiln"), &kiln).expect("kiln was built");
    std::fs::create_dir(&closed).expect("writable");
    allow(&closed, 0o555);
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let prefix = if rustix::process::geteuid().is_root() { &nobody[..] } else { &["env"] };
    let mut command = std::process::Command::new(prefix[0]);
    command.args(&prefix[1..]).arg(&kiln).arg("doctor");
    command.env("XDG_STATE_HOME", closed.join("state")).env("XDG_CACHE_HOME", "/dev/null/cache");
    let output = command.output().expect("setpriv is part of every Debian");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for (what, variable) in [("cache", "XDG_CACHE_HOME"), ("results", "XDG_STATE_HOME")] {
        let line = text.lines().find(|line| line.starts_with(&format!("MISSING  {what} "))).expect(&text);
        let advice = format!("you may not write there; set {variable} to a folder of your own");
        assert!(line.ends_with(&advice), "{line}");
    }
    assert_eq!(output.status.code(), Some(3), "{text}");
}

#[test]
fn a_dry_run_shows_the_command_and_starts_nothing() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--case", "pipe/full", "--dry-run"]).run().expect(0);
    assert!(done.stdout.contains("\ncase       pipe/full\n"), "{}", done.stdout);
    let done = done.says("command    ").says("-append 'console=ttyS0");
    assert!(done.stderr.is_empty());
    let program = place.script("reads", "cat").display().to_string();
    let dry = || place.kiln(["run", KERNEL, "--exec", &program, "--dry-run"]);
    let text = place.file("text", "for the program");
    let note = "note       standard input is not passed to the program: use a script that provides it\n";
    assert!(dry().with_input(&text).run().expect(0).stdout.ends_with(note));
    assert!(!dry().run().expect(0).stdout.contains("standard input"));
    assert!(crate::support::sessions(&place.path().join("state")).is_empty());
}
