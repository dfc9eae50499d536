//! What is printed of bisections.

use std::path::Path;

use bisect::{AxisRequest, BisectRequest, Bisection, Conclusion, Question};
use lab::experiment::ExperimentChoice;
use lab::request::words::call;
use lab::request::{ProgramRequest, Selection};
use proptest::prelude::*;
use report::bisection::{Private, html, json, mail, text};
use script::Mode;
use unicode_width::UnicodeWidthStr;

use crate::bisections::{
    HASH, absence, all, commit, contradiction, empty, fixed, metric, one_of_two, poisoned, suspects, together,
};
use crate::compare::{between, open_elements, written};

/// The command line of the examples.
const COMMAND: &str = "kiln bisect ~/linux v6.1 v6.2 --case fs/overlay-rename";

fn printed(bisection: &Bisection, width: usize) -> String {
    written(|out| text(bisection, Some(width), false, out))
}

fn page(bisection: &Bisection) -> String {
    written(|out| html(bisection, COMMAND, out))
}

/// Nothing of anybody's, but for what is always someone's.
fn private() -> Private {
    let axis = AxisRequest::Commits {
        tree: "~/linux".into(),
        first: "v6.1".into(),
        last: "v6.2".into(),
        paths: Vec::new(),
        first_parent: false,
    };
    Private::of(&BisectRequest::new(axis, Question::Boot))
}

fn draft(bisection: &Bisection) -> String {
    written(|out| mail(bisection, None, &private(), out))
}

#[test]
fn a_commit_is_named_with_its_proof_and_both_sides() {
    insta::assert_snapshot!("commit-text", printed(&commit(), 100));
    insta::assert_snapshot!("commit-text-narrow", printed(&commit(), 50));
    let bundle = Path::new("results/overlay-rename.tar.gz");
    insta::assert_snapshot!("commit-mail", written(|out| mail(&commit(), Some(bundle), &private(), out)));
}

#[test]
fn a_fix_is_shown_with_its_rate() {
    insta::assert_snapshot!("fixed-text", printed(&fixed(), 100));
    insta::assert_snapshot!("fixed-mail", draft(&fixed()));
}

#[test]
fn a_metric_is_shown_with_its_change() {
    insta::assert_snapshot!("metric-text", printed(&metric(), 100));
    insta::assert_snapshot!("metric-mail", draft(&metric()));
}

#[test]
fn several_that_only_together_do_it_are_all_named() {
    insta::assert_snapshot!("together-text", printed(&together(), 100));
    insta::assert_snapshot!("together-mail", draft(&together()));
}

/// All words of a text in one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_enough_but_not_needed_is_said_with_what_to_do() {
    for (fixed, word) in [(false, "broken"), (true, "fixed")] {
        let expected = format!(
            "it is {word} without aaa=1 as well: another parameter is sufficient too; \
             leave aaa=1 out of both ends and bisect again"
        );
        let bisection = one_of_two(fixed);
        for text in [printed(&bisection, 60), draft(&bisection), page(&bisection)] {
            assert!(unwrapped(&text).contains(&expected), "{text}");
        }
    }
    let (mut alone, mut untried) = (one_of_two(false), one_of_two(false));
    alone.proof[0].holds = false;
    untried.proof[1].untried = Some("it does not boot".into());
    let commits = Bisection { kind: bisect::Kind::Commits, ..one_of_two(false) };
    for bisection in [alone, untried, commits, together()] {
        assert!(!printed(&bisection, 200).contains("sufficient"));
    }
}

#[test]
fn a_check_that_fails_changes_the_headline_and_takes_the_probability_away() {
    let sure = printed(&absence(false), 200);
    assert!(!sure.contains("in doubt") && sure.contains("probability"), "{sure}");
    let text = printed(&one_of_two(false), 200);
    assert!(text.starts_with("in doubt: the parameter that breaks it is aaa=1\n"), "{text}");
    assert!(!text.contains("probability"), "{text}");
    let mut alone = one_of_two(false);
    (alone.proof[0].tested, alone.proof[0].holds) = (Some(bisect::Checked::Alone), false);
    for text in [printed(&alone, 200), draft(&alone)] {
        let expected =
            "no parameter or set of them breaks it each time; the most probable does not suffice: aaa=1";
        assert!(unwrapped(&text).contains(expected), "{text}");
    }
}

#[test]
fn a_removal_is_worded_without_a_double_no() {
    insta::assert_snapshot!("absence-text", printed(&absence(false), 100));
    let broken = draft(&absence(false));
    assert!(broken.starts_with("Subject: fs/overlay-rename fails without ddd=1\n"), "{broken}");
    let fixed = absence(true);
    assert!(draft(&fixed).starts_with("Subject: fs/overlay-rename fails with ddd=1\n"));
    assert!(printed(&fixed, 80).starts_with("removing the parameter ddd=1 fixes it\n"));
    for text in [printed(&fixed, 80), draft(&fixed)] {
        assert!(!text.contains("no ddd=1"), "{text}");
    }

    let mut needless = absence(false);
    needless.proof[1].holds = false;
    let expected = "it is broken with ddd=1 as well: another parameter is sufficient too; \
                keep ddd=1 at both ends and bisect again";
    assert!(unwrapped(&printed(&needless, 80)).contains(expected));

    let mut several = absence(false);
    let Conclusion::Culprits { numbers, candidates, .. } = &mut several.conclusion else { unreachable!() };
    numbers.insert(0, 0);
    candidates.insert(0, bisect::Candidate { name: "aaa=1".into(), ..bisect::Candidate::default() });
    let expected = "2 parameters break it only together: aaa=1 and the removal of ddd=1\n";
    assert!(printed(&several, 80).starts_with(expected));
}

#[test]
fn suspects_and_contradictions_are_results() {
    insta::assert_snapshot!("suspects-text", printed(&suspects(), 100));
    insta::assert_snapshot!("suspects-mail", draft(&suspects()));
    insta::assert_snapshot!("contradiction-text", printed(&contradiction(), 100));
    insta::assert_snapshot!("nothing-text", printed(&empty(), 100));
}

/// The lines about how sure it is.
fn proof(bisection: &Bisection, width: usize) -> String {
    between(&printed(bisection, width), "\nproof", "\n\n").to_owned()
}

#[test]
fn the_result_of_a_check_is_shown_at_any_width() {
    for (bisection, results) in [(metric(), ["holds", "could not be run"]), (fixed(), ["holds"; 2])] {
        for width in 50..120 {
            let checks = proof(&bisection, width).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(checks.matches(" holds").count(), 2, "{width}: {checks}");
            assert!(results.iter().all(|result| checks.contains(result)), "{width}: {checks}");
            assert!(!checks.contains('…'), "{width}: {checks}");
        }
    }
    insta::assert_snapshot!("metric-proof-narrow", proof(&metric(), 60));
}

#[test]
fn functions_and_how_sure_it_is_are_two_paragraphs() {
    let draft = draft(&metric());
    assert!(draft.contains("\n       +76  account (new)\n\nConfidence: "), "{draft}");
}

#[test]
fn a_mail_does_not_point_to_a_log_of_this_host() {
    let mut bisection = commit();
    let lines = ["the build failed: dir.c:7: error", "kiln: the whole log is in /srv/ada/log"];
    bisection.last.state.evidence.lines = lines.map(str::to_owned).into();
    bisection.conclusion = contradiction().conclusion;
    for text in [printed(&bisection, 80), page(&bisection)] {
        assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    }
    let draft = draft(&bisection);
    assert!(draft.contains(lines[0]) && !draft.contains("/srv/ada"), "{draft}");
}

/// What stands behind `Subject:` for a commit of this title and a question about this case.
fn subject(case: &str, title: &str) -> String {
    let mut bisection = commit();
    bisection.question = bisect::Question::Case(case.into());
    let Conclusion::Culprits { candidates, .. } = &mut bisection.conclusion else { unreachable!() };
    candidates[0].title = title.into();
    draft(&bisection).lines().next().unwrap().trim_start_matches("Subject: ").to_owned()
}

#[test]
fn a_subject_is_cut_where_the_least_is_lost() {
    let long = "ovl: do not copy up twice ".repeat(9);
    let at = "since 6b1c2d3e4f5a";
    let expected = format!("[REGRESSION] fs/overlay-rename fails {at} (\"ovl: do not co...\")");
    assert_eq!((subject("fs/overlay-rename", &long), expected.width()), (expected, 77));
    assert_eq!(subject("a/b", "ovl: a"), format!("[REGRESSION] a/b fails {at} (\"ovl: a\")"));
    let case = |columns| "c".repeat(columns);
    let whole = format!("[REGRESSION] {} fails {at} (\"ovl: a\")", case(26));
    assert_eq!((subject(&case(26), "ovl: a"), whole.width()), (whole, 75));
    // Too little would be left of a title to tell anything.
    assert_eq!(subject(&case(28), &long), format!("[REGRESSION] {} fails {at}", case(28)));
    assert!(subject(&case(900), &long).ends_with(&format!("... {at}")));
}

#[test]
fn only_a_commit_that_broke_something_is_reported_as_a_regression() {
    let line = format!("\n#regzbot introduced: {HASH}\n");
    assert!(draft(&commit()).ends_with(&line));
    assert!(draft(&commit()).contains("\nCc: regressions@lists.linux.dev\n"));
    let turned = Bisection { fixed: true, ..commit() };
    for bisection in [turned, fixed(), metric(), together(), contradiction()] {
        let draft = draft(&bisection);
        assert!(!draft.contains("regzbot") && !draft.contains("regressions@"), "{draft}");
    }
    assert!(!draft(&suspects()).contains("regzbot"));
}

#[test]
fn documents_for_programs() {
    for bisection in all() {
        let document = written(|out| json(&bisection, out));
        assert_eq!(serde_json::from_str::<Bisection>(&document).unwrap(), bisection);
        let value: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert!(value["verdict"].as_str().is_some_and(|verdict| !verdict.is_empty()));
    }
    let document = written(|out| json(&suspects(), out));
    assert!(document.starts_with("{\n  \"verdict\": \"the first bad commit is one of these 3"), "{document}");
}

#[test]
fn parts_of_a_page() {
    let page = page(&commit()).replace("><", ">\n<");
    insta::assert_snapshot!("bisection-html", between(&page, "<header>", "</main>"));
}

#[test]
fn changes_of_a_package_are_sorted_by_relevance() {
    let page = page(&fixed()).replace("><", ">\n<");
    let closest = between(&page, "<th scope=\"row\">changes</th>", "</tbody>");
    assert_eq!(closest.matches("<li>").count(), 2);
    let all = between(&page, "<details>", "</details>");
    assert_eq!(all.matches("<li>").count(), 1_204);
    assert!(
        all.contains("<summary>All changes: 1,204 since 6.1.174-1 (stable 6.1.175 to 6.1.176)</summary>")
    );
    let booted = Bisection { question: bisect::Question::Boot, ..fixed() };
    let text = printed(&booted, 200);
    let line = "\nchanges    1,204 since 6.1.174-1 (stable 6.1.175 to 6.1.176); the HTML report and --json list them\n\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn pages_are_well_formed_and_stand_alone() {
    for bisection in all().into_iter().chain(all().into_iter().map(|it| poisoned(it, "<b>\"'&\n<!--"))) {
        let page = page(&bisection);
        assert_eq!(open_elements(&page), [""; 0]);
        assert!(!page.contains("<b>") && !page.contains("<!--"));
    }
}

#[test]
fn what_is_next_to_certain_reads_the_same_everywhere() {
    let mut bisection = commit();
    bisection.probabilities[6] = 0.999_95;
    let page = page(&bisection);
    assert!(page.contains("<title>6b1c2d3e4f5a: bad, probability more than 99.99 %</title>"), "{page}");
}

#[test]
fn the_version_of_a_package_is_called_one() {
    let text = printed(&fixed(), 100);
    assert!(text.contains("\nversion    6.1.176-1\n") && !text.contains("\ntitle "), "{text}");
    assert!(draft(&fixed()).contains("\n  version    6.1.176-1\n"));
}

#[test]
fn runs_of_earlier_sessions_are_counted() {
    let line = "84 runs in total, including ends and proof, 9 of them from earlier sessions\n";
    assert!(printed(&commit(), 100).contains(line));
}

#[test]
fn a_long_axis_has_a_chart_of_bounded_size() {
    let mut bisection = commit();
    bisection.candidates = (0..20_000).map(|number| format!("{number:040x}")).collect();
    bisection.probabilities = vec![1.0 / 20_000.0; 20_000];
    let page = page(&bisection);
    assert!(page.matches("<circle").count() <= 120 && page.len() < 200_000, "{}", page.len());
}

#[test]
fn of_many_suspects_the_first_are_described() {
    let mut bisection = suspects();
    let Conclusion::Suspects { candidates, .. } = &mut bisection.conclusion else { unreachable!() };
    *candidates = candidates.iter().cycle().take(5_000).cloned().collect();
    for text in [printed(&bisection, 80), draft(&bisection), page(&bisection)] {
        assert!(text.contains("not listed: 4984 commits"), "{text}");
        assert_eq!(text.matches("title  ").count() + text.matches(">title<").count(), 16);
    }
}

#[test]
fn colours_change_nothing_else() {
    for bisection in all() {
        let coloured = written(|out| text(&bisection, Some(80), true, out));
        assert_eq!(report::safe(&coloured), printed(&bisection, 80));
    }
}

/// Everything but commands, which are going to be pasted.
#[test]
fn lines_are_no_wider_than_the_terminal() {
    for bisection in all().into_iter().chain(all().into_iter().map(|it| poisoned(it, &"é世x ".repeat(900))))
    {
        for width in [40, 80] {
            let bisection = Bisection { reproduce: Vec::new(), ..bisection.clone() };
            let text = printed(&bisection, width);
            assert_eq!(text.lines().find(|line| line.width() > width), None);
        }
    }
}

/// The headers of a draft, unfolded.
fn headers(draft: &str) -> Vec<String> {
    let (head, _) = draft.split_once("\n\n").unwrap();
    head.replace("\n ", " ").lines().map(str::to_owned).collect()
}

const NAMES: [&str; 6] = ["Subject", "To", "Cc", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"];

proptest! {
    #[test]
    fn names_stay_names(evil in "[a-z<>\"'&@,:;\\\\ \r\n\t\u{1b}\u{9b}\u{202e}\u{7}\\[\\]#-]{1,40}", which in 0..10_usize) {
        let evil = format!("\nBcc: all@example.org\n\n<i>{evil}</i>");
        let bisection = poisoned(all().swap_remove(which), &evil);
        let (page, draft) = (page(&bisection), draft(&bisection));
        let document = written(|out| json(&bisection, out));
        for text in [&printed(&bisection, 80), &page, &draft, &document] {
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{}", text);
        }
        prop_assert!(!page.contains("<i>"));
        let headers = headers(&draft);
        let names: Vec<&str> = headers.iter().map(|line| line.split_once(": ").unwrap().0).collect();
        prop_assert!(names.iter().all(|name| NAMES.contains(name)), "{:?}", names);
        let longest = draft.lines().take(headers.len()).map(str::len).max();
        prop_assert!(longest < Some(998), "{:?}", longest);
    }
}

/// Requests that name a path, each somewhere else.
fn naming(path: &str) -> Vec<BisectRequest> {
    let request = |tree: &str| {
        let axis = AxisRequest::Series { mail: tree.into(), tree: "./linux".into(), revision: "v6.1".into() };
        BisectRequest::new(axis, Question::Build)
    };
    let plain = || request("./mail");
    let (mut built, mut set, mut made, mut run, mut passed) = (plain(), plain(), plain(), plain(), plain());
    built.build.configurations = vec!["boot".into(), path.into()];
    made.build.variables = vec![format!("CC={path}")];
    set.machine.append = vec![format!("quiet init={path}")];
    let program = |path: &str, argument: &str| {
        let (path, arguments) = (path.into(), vec![argument.to_owned()]);
        Some(Selection::Program(ProgramRequest { path, arguments, needs: Vec::new() }))
    };
    run.cases = program(path, "-x");
    passed.cases = program("./it.sh", path);
    let mut suite = plain();
    suite.cases = Some(Selection::Suite { suite: path.into(), patterns: Vec::new() });
    let mut asked = plain();
    asked.question = Question::Experiment(experiment(path));
    vec![request(path), built, set, made, run, passed, suite, asked]
}

fn experiment(folder: &str) -> ExperimentChoice {
    ExperimentChoice { name: "dock".to_owned(), folder: folder.into(), mode: Mode::Full }
}

/// A bisection that speaks of a path wherever it can.
fn speaking_of(path: &str, bisection: Bisection) -> Bisection {
    let mut bisection = poisoned(bisection, &format!("{path}: no such file in -I{path}, boot,{path}"));
    bisection.reproduce = vec![call(&["run", &format!("git:{path}@v6"), "--config"].map(str::to_owned))];
    bisection.notes.push(format!("{}{path}", "long ".repeat(20)));
    bisection.question = Question::Program(path.to_owned());
    bisection
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn no_path_of_the_user_is_in_the_draft(parts in proptest::collection::vec("[a-zA-Z0-9 _.,:@'$-]{1,12}", 1..5), of in 0..8_usize) {
        let path = format!("/srv-ada/{}/end", parts.join("/"));
        let private = Private::of(&naming(&path)[of]);
        let asked = Bisection { question: Question::Experiment(experiment(&path)), ..fixed() };
        for bisection in all().into_iter().map(|bisection| speaking_of(&path, bisection)).chain([asked]) {
            let draft = written(|out| mail(&bisection, None, &private, out));
            prop_assert!(!draft.contains("srv-ada"), "{path:?} in {draft}");
        }
    }
}
