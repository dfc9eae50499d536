use std::path::Path;
use std::time::Duration;

use console::{Death, message};
use proptest::prelude::*;
use protocol::{Report, ReportKind};

use super::*;
use crate::Exit;
use crate::case::Dialect;
use crate::exit::Speaker;
use crate::kernel_report::scan;
use crate::outcome::Blame;

/// The time that a case has.
const LIMIT: Duration = Duration::from_secs(60);

/// A Run as it is seen from beside the machine.
#[derive(Debug, Clone, Default)]
struct Scene<'a> {
    dialect: Dialect,
    counts: [u32; 4],
    reports: &'a [(ReportKind, &'a str)],
    output: &'a str,
    taint: u64,
    log: &'a [&'a str],
    expects: &'a [&'static str],
}

impl Scene<'_> {
    /// What kiln says, and its exit code.
    fn by_kiln(&self, ending: &Ending) -> (String, String) {
        let kind = |&(kind, text): &(ReportKind, &str)| Report { kind, text: text.to_string() };
        let reports: Vec<Report> = self.reports.iter().map(kind).collect();
        let judgement = judge(&Seen {
            starved: false,
            dialect: self.dialect,
            limit: LIMIT,
            output: self.output,
            expects: self.expects,
            ending,
            reports: &reports,
            log: self.log,
            lacking: &[],
            kernel_reports: &scan(self.log),
            console: &[],
        });
        let whose = judgement.blame.map(|blame| match blame {
            Blame::Case => "by the case: ".to_string(),
            other => format!("by {}: ", other.name()),
        });
        let why = format!("{}{}", whose.unwrap_or_default(), judgement.reason);
        let separator = if why.is_empty() { "" } else { ": " };
        let line = format!("{:<6}  x/y{separator}{why}", judgement.outcome.name());
        (line, judgement.outcome.exit_code().to_string())
    }

    /// What is said without kiln, and the exit code, when the agent's last line is `end` or, without one, the machine
    /// ended.
    fn standalone(&self, end: Option<&str>) -> (String, String) {
        let mut control = "hello 6.1\n".to_string();
        let mut say = |word: &str, text: &str| control += &format!("{word} {}\n", text.replace('\n', "\x1e"));
        self.log.iter().for_each(|line| say("log", line));
        say("output", self.output);
        if let Some(end) = end {
            for (kind, text) in self.reports {
                say(["pass", "fail", "skip", "broken"][*kind as usize], text);
            }
            say("counts", &self.counts.map(|count| count.to_string()).join(" "));
            say("taint", &self.taint.to_string());
            say("end", end);
        }
        let console = format!("[    1.0] kiln: the run begins\n{}\n", self.log.join("\n"));
        let about = About {
            name: "x/y".to_string(),
            dialect: self.dialect,
            is_users: false,
            limit: LIMIT,
            expects: self.expects.iter().map(ToString::to_string).collect(),
            lacking: Vec::new(),
            console_options: None,
        };
        let about = About::read(&about.write());
        let verdict = conclude(&about, &Stop::read(0, ""), &console, &control);
        (verdict.text.lines().next().unwrap_or_default().to_string(), verdict.exit().code.to_string())
    }

    fn is_judged_alike(&self, end: End, line: &str) {
        let [pass, fail, skip, broken] = self.counts;
        let counts = Counts { pass, fail, skip, broken };
        let ending = Ending::Finished { end, counts, new_taint: self.taint };
        assert_eq!(self.standalone(Some(line)), self.by_kiln(&ending), "{self:?}");
    }

    /// Its process exited with `code`.
    fn exits(&self, code: i32) {
        self.is_judged_alike(End::Exited(code), &format!("exited {code}"));
    }
}

const WARNING: &str = "WARNING: CPU: 0 PID: 1 at fs/x.c:12 foo+0x1/0x2 [mod]";

#[test]
fn a_case_of_kiln_is_judged_alike() {
    let scene = Scene::default;
    scene().exits(0);
    Scene { counts: [3, 0, 0, 0], ..scene() }.exits(0);
    Scene { counts: [3, 0, 0, 0], ..scene() }.exits(4);
    Scene { counts: [0, 0, 1, 0], reports: &[(ReportKind::Skip, "needs: a disk")], ..scene() }.exits(0);
    let failed = [(ReportKind::Pass, "p"), (ReportKind::Fail, "1 == 2"), (ReportKind::Fail, "later")];
    Scene { counts: [1, 2, 0, 0], reports: &failed, ..scene() }.exits(1);
    Scene { counts: [1, 2, 0, 0], ..scene() }.exits(1);
    Scene { counts: [1, 0, 0, 1], reports: &[(ReportKind::Broken, "set-up: x")], ..scene() }.exits(0);
    for taint in [1 << 9, 1 << 5 | 1 << 14, 1 << 0 | 1 << 12] {
        Scene { counts: [1, 0, 0, 0], taint, ..scene() }.exits(0);
    }
    Scene { counts: [1, 0, 0, 0], ..scene() }.is_judged_alike(End::Signalled(11), "signalled 11");
    let late = End::TimedOut { stacks: String::new(), killed: false };
    scene().is_judged_alike(late, "late stuck");
    scene().is_judged_alike(End::NotStarted("fork: x".into()), "not-started fork: x");
}

#[test]
fn what_the_kernel_reports_comes_first_unless_it_is_expected() {
    let reported = Scene { counts: [1, 1, 0, 0], log: &[WARNING], ..Scene::default() };
    reported.exits(1);
    Scene { counts: [1, 0, 0, 0], expects: &["WARNING in foo"], ..reported.clone() }.exits(0);
    let second =
        Scene { log: &[WARNING, "---[ end trace 0 ]---", "BUG: Bad page state in process x"], ..reported };
    Scene { counts: [1, 0, 0, 0], expects: &["WARNING in foo"], ..second }.exits(0);
}

#[test]
fn programs_and_suites_of_others_are_judged_alike() {
    let outputs = [
        "",
        "TAP version 13\n1..2\nok 1 a\n# not ok 2 inner\nnot ok 3 b # SKIP no\n",
        "1..0 # SKIP not today\n",
        "ok 2 - a name # XFAIL\n",
        "not ready\nno such device\n\n",
        "x.c:12: TPASS: good\nx.c:13: TFAIL: bad: EINVAL (22)\n",
        "x.c:12: TCONF: no such syscall\n",
        "old01    1  TBROK  :  open failed\n",
        "x.c:9: TBROK: Test killed! (timeout?)\n",
        "x.c:9: TWARN: left behind\nx.c:12: TPASS: good\n",
        "./x: line 3: frob: not found\n",
    ];
    for dialect in [Dialect::Program, Dialect::Kselftest, Dialect::Ltp] {
        for output in outputs {
            for code in [0, 1, 2, 3, 4, 32, 33, 8, 64, 124, 126, 127, 139] {
                Scene { dialect, output, ..Scene::default() }.exits(code);
            }
        }
    }
}

#[test]
fn a_machine_that_died_is_judged_alike() {
    let panic = "Kernel panic - not syncing: sysrq triggered crash";
    let init = "Attempted to kill init! exitcode=0x0000000b";
    let null = "BUG: kernel NULL pointer dereference, address: 0000000000000018";
    let deaths = [
        (vec![panic], Death::Panic("sysrq triggered crash".into())),
        (
            vec![null, "RIP: 0010:foo+0x1/0x2", "Kernel panic - not syncing: Fatal exception"],
            Death::Panic("Fatal exception".into()),
        ),
        (vec![], Death::Reset),
        (vec!["reboot: Restarting system"], Death::Restarted),
        (vec!["reboot: Power down"], Death::PoweredOff),
        (
            vec!["Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b"],
            Death::AgentDied(init.into()),
        ),
    ];
    for (log, death) in deaths {
        let scene = Scene { log: &log, ..Scene::default() };
        assert_eq!(scene.standalone(None), scene.by_kiln(&Ending::Died(death)), "{log:?}");
    }
}

#[test]
fn a_boot_that_fails_is_judged_by_how_its_machine_ended() {
    let about = About::read("name x/y\ndialect kiln\n");
    let first = |stop: Stop, console: &str| {
        let verdict = conclude(&about, &stop, console, "");
        (verdict.text.lines().next().unwrap_or_default().to_string(), verdict.exit().code)
    };
    let panic = "[ 1.0] Kernel panic - not syncing: VFS: Unable to mount root fs\n";
    let expected = "crash   boot: the kernel panicked: VFS: Unable to mount root fs".to_string();
    assert_eq!(first(Stop::Exited(0), panic), (expected, 1));
    assert_eq!(first(Stop::read(0, "silent 64"), "x\n").1, 1);
    assert_eq!(first(Stop::read(0, "silent 64"), "").1, 3);
    let quit = "broken  boot: by the machine: QEMU: exit status 1, see its message above".to_string();
    assert_eq!(first(Stop::Exited(1), ""), (quit, 3));
}

#[test]
fn the_exit_status_of_a_users_program_is_passed_on() {
    let about = About::read("name seven\ndialect program\nuser's yes\n");
    let control = "hello 6.1\noutput it's\x1e\ncounts 0 0 0 0\ntaint 0\nend exited 7\nend exited 0\n";
    let verdict = conclude(&about, &Stop::Exited(0), "", control);
    assert_eq!(verdict.text, "fail    seven: exit status 7\n        output  it's\n");
    assert_eq!(verdict.exit(), Exit { code: 7, of: Speaker::Program });
}

#[test]
fn each_log_of_the_corpus_is_judged_alike() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus is there").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("it is text");
        let (_, log) = text.split_once("\n\n").expect("a header and a log");
        let lines: Vec<&str> = log.lines().map(message).collect();
        Scene { counts: [1, 0, 0, 0], log: &lines, ..Scene::default() }.exits(0);
        let reason = scan(&lines).first().map_or(String::new(), |report| format!(": {}", report.title));
        let console = format!("kiln: the run begins\n{log}");
        let of_console = conclude(&About::read("name x/y\n"), &Stop::Silent(9), &console, "hello 6.1\n").text;
        let first = of_console.lines().next().unwrap_or_default();
        let is_titled = reason.is_empty() || first.ends_with(&reason) || first.starts_with("broken");
        assert!(is_titled, "{}: {first}, expected {reason}", entry.path().display());
        files += 1;
    }
    assert!(files > 60);
}

#[test]
fn a_boot_that_takes_too_long_names_what_the_script_obeys() {
    let verdict = conclude(&About::read(""), &Stop::read(137, "late 120"), "Linux version 6.1\n", "");
    let first = "hang    boot: the kernel did not reach user space within 120 s; KILN_TIMEOUT_MUL=3 gives it more time";
    assert_eq!(verdict.text.lines().next(), Some(first));
    assert_eq!(verdict.exit().code, 1);
}

#[test]
fn a_name_is_a_text_whatever_it_holds() {
    for name in ["it's \"quoted\" \\ \\n $(x) `x`", "} END { system(\"x\") }", "%s %n", " - ", "name x", "-v"]
    {
        let about = About { name: name.to_string(), ..About::read("") };
        let about = About::read(&about.write());
        let control = "hello 6.1\ncounts 1 0 0 0\nend exited 0\n";
        let verdict = conclude(&about, &Stop::Exited(0), "", control);
        assert_eq!(verdict.text, format!("pass    {name}\n"));
    }
}

#[test]
fn what_is_shown_of_a_guest_is_bounded_and_nothing_that_a_terminal_obeys() {
    let console = format!("\x1b[m\x1e\x07{}\n", "x".repeat(1 << 20)).repeat(9);
    let control = format!("hello 6.1\noutput \x1b[m{}\n", "y".repeat(1 << 20));
    for control in ["", &control] {
        let text = conclude(&About::read("name x\n"), &Stop::Silent(64), &console, control).text;
        assert!(text.len() < 60 * 4096, "{}", text.len());
        assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()));
    }
}

proptest! {
    #[test]
    fn what_is_true_of_a_case_survives_the_way(
        name in any::<String>(),
        (expects, lacking) in (prop::collection::vec(any::<String>(), 0..3), prop::collection::vec(any::<String>(), 0..3)),
        (dialect, is_users, limit_ms) in (0..4_usize, any::<bool>(), any::<u64>()),
        options in prop::option::of(prop::collection::vec("CONFIG_[A-Z0-9_]{1,9}", 0..3)),
    ) {
        let in_a_line = |text: &str| text.replace('\n', " ");
        let dialect =
            [Dialect::Kiln, Dialect::Program, Dialect::Kselftest, Dialect::Ltp][dialect];
        let limit = Duration::from_millis(limit_ms);
        let about = About { name, dialect, is_users, limit, expects, lacking, console_options: options };
        let mut expected = about.clone();
        expected.name = in_a_line(&expected.name);
        let texts = expected.expects.iter_mut().chain(&mut expected.lacking);
        texts.for_each(|text| *text = in_a_line(text));
        prop_assert_eq!(About::read(&about.write()), expected);
    }

    #[test]
    fn whatever_the_guest_wrote_is_judged(console: String, control: String, lines in "(hello|end|counts|exited|late| |\n|[0-9]){0,30}") {
        let about = About::read("name x\n");
        for control in [control, format!("hello x\n{lines}")] {
            let verdict = conclude(&about, &Stop::Exited(0), &console, &control);
            prop_assert!(!verdict.text.is_empty());
            prop_assert!(verdict.text.chars().all(|letter| matches!(letter, '\n' | '\t') || !letter.is_control()));
        }
    }
}
