use std::path::Path;
use std::process::Command;

use machine::Death;
use protocol::{Counts, End, Report, ReportKind};

use super::*;
use judge::kernel_report::scan;
use judge::{Dialect, Ending, Seen, judge};

/// What awk makes of `files` with these rules, and the file `code`; every awk that is here must make the same.
fn awk(rules: &str, options: &[&str], files: &[(&str, &str)]) -> (String, String) {
    let run = |words: &[&str]| {
        let folder = tempfile::tempdir().expect("a directory");
        let keep = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
        keep("rules.awk", rules);
        files.iter().for_each(|(name, text)| keep(name, text));
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(options)
            .args(["-f", "rules.awk"])
            .args(files.iter().map(|(name, _)| name));
        let output = command.current_dir(&folder).env("LC_ALL", "C").output().ok()?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {complaint}");
        let code = std::fs::read_to_string(folder.path().join("code")).unwrap_or_default();
        Some((String::from_utf8_lossy(&output.stdout).into_owned(), code.trim().to_string()))
    };
    let answers: Vec<_> = [&["awk"][..], &["busybox", "awk"]].into_iter().filter_map(run).collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    answers.into_iter().next().expect("every Unix has awk")
}

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
            limit: std::time::Duration::from_secs(60),
            output: self.output,
            expects: self.expects,
            ending,
            reports: &reports,
            kernel_reports: &scan(self.log),
            console: &[],
        });
        let whose = judgement.blame.map(|blame| match blame {
            judge::Blame::Case => "by the case: ".to_string(),
            other => format!("by {}: ", other.name()),
        });
        let why = format!("{}{}", whose.unwrap_or_default(), judgement.reason);
        let separator = if why.is_empty() { "" } else { ": " };
        let line = format!("{:<6}  x/y{separator}{why}", judgement.outcome.name());
        (line, judgement.outcome.exit_code().to_string())
    }

    /// What awk says, and its exit code, when the agent's last line is `end` or, without one, the machine ended.
    fn by_awk(&self, end: Option<&str>) -> (String, String) {
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
        let about = script::about("x/y", self.dialect, false, self.expects);
        let rules = [about, tables::write(), script::REPORTS.into(), script::VERDICT.into()].join("\n");
        let files = [("console.txt", console.as_str()), ("control.txt", control.as_str())];
        let (said, code) = awk(&rules, &["-v", "STATUS=0", "-v", "STOPPED="], &files);
        (said.lines().next().unwrap_or_default().to_string(), code)
    }

    fn is_judged_alike(&self, end: End, line: &str) {
        let [pass, fail, skip, broken] = self.counts;
        let counts = Counts { pass, fail, skip, broken };
        let ending = Ending::Finished { end, counts, new_taint: self.taint };
        assert_eq!(self.by_awk(Some(line)), self.by_kiln(&ending), "{self:?}");
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
        assert_eq!(scene.by_awk(None), scene.by_kiln(&Ending::Died(death)), "{log:?}");
    }
}

#[test]
fn the_first_report_of_each_log_of_the_corpus_has_the_same_title_in_awk() {
    let rules = format!(
        "{}{}{{ text[++count] = $0 }} END {{ if (scan(text, 1, count)) print CAUSE }}\n",
        tables::write(),
        script::REPORTS
    );
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/corpus");
    let (mut wrong, mut files) = (String::new(), 0);
    for entry in std::fs::read_dir(corpus).expect("the corpus is there").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("it is text");
        let (_, log) = text.split_once("\n\n").expect("a header and a log");
        let expected = scan(&log.lines().collect::<Vec<_>>()).first().map(|report| report.title.clone());
        let (found, _) = awk(&rules, &[], &[("log", log)]);
        files += 1;
        if found.trim_end() != expected.clone().unwrap_or_default() {
            wrong += &format!("{}: {expected:?}, in awk {found:?}\n", entry.path().display());
        }
    }
    assert!(files > 60);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_template_is_filled_and_what_is_put_in_is_not_looked_into() {
    let values = [("A", "@B@ a@b".to_string()), ("B", "x".to_string())];
    assert_eq!(script::fill("1@A@2@B@3@C@4 me@home", &values), "1@B@ a@b2x3@C@4 me@home");
}

#[test]
fn what_a_name_holds_stays_a_text_of_awk() {
    for name in ["it's \"quoted\" \\ \\n", "} END { system(\"x\") }"] {
        let about = script::about(name, Dialect::Program, true, &[]);
        let rules = format!("{about} END {{ print CASE }}");
        assert_eq!(awk(&rules, &[], &[("log", "")]).0.trim_end_matches('\n'), name);
    }
}
