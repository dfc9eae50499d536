//! What is printed of checks of patches, and the answer to their senders.

use check::{
    AlsoBuilt, Analysis, Built, CaseChange, Change, Commit, CostChange, Culprit, NewFinding, Seen,
    SeriesCheck, Tests, Verdict, verdict,
};
use judge::Outcome;
use kbuild::analysis::{Finding, Tool};
use kbuild::diagnostics::Severity;
use lab::request::Version;
use proptest::prelude::*;
use report::check::{Answer, b4, html, json, mail, text};
use series::{Mail, Person, Reply};

fn commit(digit: char, subject: &str, build: Built) -> Commit {
    let hash = digit.to_string().repeat(40);
    Commit { hash, subject: subject.to_owned(), author: Some("Åsa <asa@example.org>".to_owned()), build }
}

fn built(warnings: &[&str]) -> Built {
    let new_warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
    Built::Kernel { locator: "built:0123456789ab".to_owned(), new_warnings }
}

fn seen(outcome: Option<Outcome>, reason: &str) -> Seen {
    let evidence = if reason.is_empty() {
        Vec::new()
    } else {
        vec![format!("kernel: {reason} \u{1b}[31m{}", "long ".repeat(40))]
    };
    Seen { outcome, reason: reason.to_owned(), evidence }
}

fn finding(tool: Tool, severity: Severity, rule: Option<&str>, line: u32, text: &str) -> Finding {
    Finding {
        rule: rule.map(str::to_owned),
        file: Some("fs/pipe.c".to_owned()),
        line: Some(line),
        column: Some(5),
        code: "a = b;".to_owned(),
        ..Finding::new(tool, severity, text)
    }
}

fn analysis() -> Analysis {
    let warning = |tool, rule, line, text| finding(tool, Severity::Warning, rule, line, text);
    let mut sparse = warning(Tool::Sparse, None, 12, "incorrect type in assignment (different base types)");
    sparse.notes = vec!["expected restricted __be32".to_owned(), "got int \u{1b}[31m".to_owned()];
    let style = warning(Tool::Checkpatch, Some("SPACING"), 9, "space prohibited before semicolon");
    let freed = finding(
        Tool::Coccinelle,
        Severity::Error,
        Some("free/kfree"),
        16,
        "reference preceded by free on line 14",
    );
    Analysis {
        repository: "/linux/.git".into(),
        tools: [Tool::Sparse, Tool::Coccinelle, Tool::Checkpatch].map(|tool| (tool, String::new())).to_vec(),
        missing: vec![Tool::Clang],
        files: 2,
        new: vec![
            NewFinding { finding: style, patch: Some(1) },
            NewFinding { finding: sparse, patch: Some(2) },
            NewFinding { finding: freed, patch: None },
        ],
        fixed: vec![warning(Tool::Sparse, None, 99, "dereference of noderef expression")],
        outstanding: vec![warning(
            Tool::Sparse,
            None,
            70,
            "symbol 'f' was not declared. Should it be static?",
        )],
        left_out: vec![
            "coccinelle cannot read all of api/odd and 1 more: No OCaml compiler found!".to_owned(),
        ],
    }
}

fn also() -> AlsoBuilt {
    let error = Built::Failed { cause: "drivers/x.c:7:1: error: expected ‘)’".to_owned() };
    AlsoBuilt {
        configurations: vec!["allmodconfig".to_owned()],
        base: commit('0', "Linux 6.12", built(&[])),
        patches: vec![
            commit('1', "docs: a word", error),
            commit('2', "pipe", built(&[])),
            commit('3', "sys", built(&[])),
        ],
    }
}

/// A check in which everything is found that can be.
pub(crate) fn rich() -> SeriesCheck {
    let by = |number| Some(Culprit::Patches { numbers: vec![number], confidence: 0.9967 });
    let change = |case: &str, change, before, after, culprit| CaseChange {
        case: case.to_owned(),
        is_boot: false,
        change,
        before,
        after,
        culprit,
    };
    let pass = || seen(Some(Outcome::Pass), "");
    let changes = vec![
        change("pipe/broken", Change::Worse, pass(), seen(Some(Outcome::Crash), "BUG in pipe_write"), by(2)),
        change("fs/link", Change::Different, pass(), seen(Some(Outcome::Skip), "needs CONFIG_X"), None),
        change(
            "net/now-and-then",
            Change::Undecided,
            pass(),
            seen(Some(Outcome::Hang), "no answer"),
            Some(Culprit::NotRepeated { why: "nothing to search for".to_owned() }),
        ),
        change(
            "boot",
            Change::Better,
            seen(Some(Outcome::Hang), "it does not come up"),
            seen(None, ""),
            None,
        ),
    ];
    let tests = Tests {
        suite: "smoke".to_owned(),
        machine: "QEMU with TCG, 1 CPU, 1024 MiB".to_owned(),
        sessions: ["one".to_owned(), "two".to_owned()],
        cases: 97,
        failed_before: 2,
        changes,
    };
    let functions =
        vec![("__x64_sys_getppid".to_owned(), Some(120), Some(1121)), ("gone".to_owned(), Some(5), None)];
    let costs = vec![CostChange {
        operation: "syscall/getppid".to_owned(),
        change: Change::Worse,
        before: 300.0,
        after: 1301.0,
        functions,
        culprit: by(3),
    }];
    let warning = "fs/pipe.c:12:5: warning: unused variable ‘x’ [-Wunused-variable]";
    let mut check = SeriesCheck {
        version: Version,
        tree: "~/linux".to_owned(),
        base: commit('0', "Linux 6.12", built(&[])),
        patches: vec![
            commit('1', "docs: a word", built(&[])),
            commit(
                '2',
                "pipe: return another error, with a subject that does not fit into a line of a mail",
                built(&[warning]),
            ),
            commit(
                '3',
                "sys: be slow",
                Built::Failed { cause: "kernel/sys.c:1:1: error: expected ‘;’".to_owned() },
            ),
        ],
        also: vec![also()],
        analysis: Some(analysis()),
        tests: Some(tests),
        costs,
        operations: 253,
        slight: 12,
        verdict: Verdict::Same,
        unchecked: Vec::new(),
        notes: vec!["base 0000, as the series says".to_owned()],
        reproduce: vec!["kiln run built:0123456789ab".to_owned(), "kiln run built:fedcba987654".to_owned()],
    };
    check.verdict = verdict(&check);
    check
}

/// One in which nothing changed.
fn plain() -> SeriesCheck {
    let mut check = rich();
    check.patches.truncate(1);
    check.costs.clear();
    check.also.clear();
    check.analysis = Some(Analysis { tools: analysis().tools, files: 1, ..Analysis::default() });
    check.tests.iter_mut().for_each(|tests| tests.changes.clear());
    check.verdict = verdict(&check);
    check
}

fn answer() -> Answer {
    let raw = "From: \"Öberg, Åsa\" <asa@example.org>\nTo: list@example.net\nCc: evil <x\u{7}@y>, M <m@example.net>\nMessage-ID: <1@x>\n\
        References: <0@x>\nSubject: [PATCH 0/3] größer\n\nx\n";
    let command = [
        "check",
        "1@x",
        "--tree",
        ".",
        "--base",
        &"0".repeat(40),
        "--config",
        "tiny,debug",
        "--case",
        "fs/*",
    ];
    Answer {
        reply: Reply::to(&Mail::read(raw.as_bytes(), 1).remove(0)),
        sender: Some(Person { name: "M. Aintainer".to_owned(), address: "m@example.net".to_owned() }),
        command: command.map(str::to_owned).to_vec(),
    }
}

fn in_text(check: &SeriesCheck, width: Option<usize>) -> String {
    let mut out = Vec::new();
    text(check, width, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn as_mail(check: &SeriesCheck, answer: &Answer) -> String {
    let mut out = Vec::new();
    mail(check, answer, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_check_is_printed_with_all_that_was_found() {
    insta::assert_snapshot!("check-text", in_text(&rich(), None));
    insta::assert_snapshot!("check-same", in_text(&plain(), Some(80)));
}

#[test]
fn the_answer_has_the_verdict_first_and_short_lines() {
    let worse = as_mail(&rich(), &answer());
    insta::assert_snapshot!("check-mail", worse);
    assert!(!worse.contains("Tested-by") && !worse.contains("~/linux") && !worse.contains('\u{1b}'));
    let same = as_mail(&plain(), &answer());
    assert!(same.ends_with("\nTested-by: M. Aintainer <m@example.net>\n"), "{same}");
    let mut unasked = plain();
    unasked.tests = None;
    assert!(!as_mail(&unasked, &answer()).contains("Tested-by"), "nothing ran");
}

#[test]
fn what_analysers_find_is_for_a_person_to_judge() {
    let mut check = plain();
    check.analysis = Some(analysis());
    check.verdict = verdict(&check);
    let text = in_text(&check, None);
    let expected = "different: 1 new finding of sparse in patch 2 of 1; 1 new finding of coccinelle\n";
    assert!(text.starts_with(expected), "{text}");
    let mail = as_mail(&check, &answer());
    assert!(mail.contains("free/kfree]") && !mail.contains("Tested-by"), "{mail}");
    check.analysis.iter_mut().for_each(|analysis| analysis.new.truncate(1));
    assert_eq!(verdict(&check), Verdict::Same, "style alone changes nothing");
}

#[test]
fn programs_get_the_sentence_and_the_whole_document() {
    let mut out = Vec::new();
    json(&rich(), &mut out).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert!(
        read["summary"].as_str().unwrap().starts_with("worse: patch 2 of 3 adds 1 new warning; "),
        "{read}"
    );
    assert_eq!(serde_json::from_slice::<SeriesCheck>(&out).unwrap(), rich());
}

#[test]
fn the_page_has_all_that_was_found_and_nothing_that_runs() {
    let mut check = rich();
    check.patches[0].subject = "<script>alert(1)</script> \u{1b}[31m".to_owned();
    check.unchecked.push("operations: no".to_owned());
    let mut out = Vec::new();
    html(&check, "kiln check x.mbx", &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    for text in [
        "<h1>worse: patch 2 of 3 adds 1 new warning; ",
        "&lt;script&gt;",
        "<span class=\"verdict worse\">worse</span>: pipe/broken",
        "__x64_sys_getppid",
        "not checked: operations",
        "by patch 3 of 3",
        "reference preceded by free on line 14",
        "<summary>1 as before</summary>",
        "clang is not installed",
        "kiln run built:0123456789ab",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    assert!(!page.contains("<script>alert") && !page.contains('\u{1b}'), "{page}");
}

#[test]
fn b4_gets_a_column_for_each_stage() {
    let written = |results: &[b4::CheckResult]| {
        let mut out = Vec::new();
        b4::json(results, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    insta::assert_snapshot!("check-b4", written(&b4::results(&rich(), false)));
    let patch = written(&b4::results(&rich(), true));
    assert!(patch.contains("\"status\": \"fail\"") && patch.contains("3/3 does not build"), "{patch}");
    assert!(
        patch.contains("0 new findings") && !patch.contains("fs/pipe.c") && !patch.contains("kiln cases"),
        "{patch}"
    );
    let same = written(&b4::results(&plain(), false));
    assert!(same.matches("\"status\": \"pass\"").count() == 4 && !same.contains("details"), "{same}");
    assert!(written(&b4::not_checked("offline")).contains("\"status\": \"warn\""));
}

proptest! {
    #[test]
    fn no_line_is_long_and_no_header_is_forged(subject in ".{0,120}", reason in ".{0,300}", case in ".{0,80}") {
        let mut check = rich();
        check.patches[0].subject.clone_from(&subject);
        let changes = &mut check.tests.as_mut().unwrap().changes;
        changes[0].case = case;
        changes[0].after.reason.clone_from(&reason);
        changes[0].after.evidence.push(reason);
        let mut answer = answer();
        answer.reply.subject = format!("Re: {subject}");
        let written = as_mail(&check, &answer);
        let (headers, body) = written.split_once("\n\n").unwrap();
        let names = headers.lines().filter(|line| !line.starts_with(' ')).map(|line| line.split(':').next().unwrap());
        let expected = ["From", "To", "Cc", "Subject", "In-Reply-To", "References", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"];
        prop_assert_eq!(names.collect::<Vec<_>>(), expected);
        for line in body.lines() {
            prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= 72, "{line}");
            prop_assert!(!line.contains(char::is_control), "{line}");
        }
    }
}
