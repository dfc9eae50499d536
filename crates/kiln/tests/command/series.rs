//! `kiln series`, beside b4, on threads that git has written.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::source::Source;
use crate::support::{Call, Place, text};

/// A tree with commits, and the mails about them.
struct Thread {
    place: Place,
    source: Source,
    mails: String,
}

const REVIEW: &str = "Reviewed-by: R. Viewer <r@example.com>";

/// Without a user, b4 ends in silence.
const B4_USER: [(&str, &str); 5] = [
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "user.name"),
    ("GIT_CONFIG_VALUE_0", "M. Aintainer"),
    ("GIT_CONFIG_KEY_1", "user.email"),
    ("GIT_CONFIG_VALUE_1", "m@example.net"),
];

impl Thread {
    /// Three commits on `main~3`.
    fn new() -> Self {
        let place = Place::new();
        let source = place.source();
        for number in 1..=3 {
            source.write("fs/main.c", format!("int main;\n/* größer: {number} */\n"));
            source.git(&["add", "--all"]);
            let message = format!(
                "fs: change {number}\n\nBecause of {number}.\n\nSigned-off-by: A. Developer <dev@example.org>"
            );
            source.git(&["commit", "--quiet", "--message", &message]);
        }
        Self { place, source, mails: String::new() }
    }

    /// Adds what git writes about the commits, as it would be sent.
    fn sends(mut self, more: &[&str]) -> Self {
        let fixed = ["format-patch", "--stdout", "--thread", "--base=main~3"];
        let written = self.source.git(&[&fixed, more, &["main~3..main"]].concat());
        // git gives the same commit the same message id.
        let again = format!(".git{}.dev@example.org", self.mails.len());
        let written = written.replace(".git.dev@example.org", &again);
        let _ = write!(self.mails, "{}\n\n", written.replace("*** SUBJECT HERE ***", "three changes"));
        self
    }

    /// Adds an answer to the newest mail with this subject.
    fn answers(mut self, subject: &str, from: &str, body: &str) -> Self {
        let parent = self.id(subject);
        let count = self.mails.matches("From mboxrd@z").count();
        let _ = write!(
            self.mails,
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: {from}\nSubject: Re: {subject}\nMessage-ID: <answer-{count}@example.com>\n\
             In-Reply-To: <{parent}>\nDate: Fri, 1 Jan 2027 10:00:{count:02} +0000\n\n> what was said\n\n{body}\n\n"
        );
        self
    }

    fn id(&self, subject: &str) -> String {
        let at = self.mails.rfind(&format!("\nSubject: {subject}")).expect(subject);
        let before = self.mails[..at].rfind("\nMessage-I").expect("each mail has one") + 1;
        let line = self.mails[before..].lines().next().expect("a line");
        line.split(['<', '>']).nth(1).expect("an id").to_owned()
    }

    fn mailbox(&self) -> PathBuf {
        self.place.file("thread.mbx", &self.mails)
    }

    fn series(&self, arguments: &[&str]) -> Call {
        let call = self.place.kiln(["series"].iter().chain(arguments));
        call.env("HOME", self.place.path()).from(text(&self.source.path))
    }

    fn am(&self, more: &[&str]) -> PathBuf {
        let out = self.place.path().join("ours.mbx");
        let mailbox = self.mailbox();
        let arguments = [&["am", text(&mailbox), "-o", text(&out)], more].concat();
        self.series(&arguments).run().expect(0);
        out
    }

    /// What b4 makes of the same mails.
    fn b4(&self, more: &[&str]) -> PathBuf {
        let folder = self.place.path().join("theirs");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("writable");
        let arguments =
            ["am", "--no-cache", "-m", text(&self.mailbox()), "-o", text(&folder)].map(str::to_owned);
        let done = Command::new("b4")
            .args(arguments)
            .args(more)
            .env("HOME", self.place.path())
            .envs(B4_USER)
            .current_dir(&self.source.path)
            .output()
            .expect("b4 is installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let files = fs::read_dir(&folder).expect("b4 made it").map(|entry| entry.expect("readable").path());
        files
            .into_iter()
            .find(|path| path.extension().is_some_and(|ending| ending == "mbx"))
            .expect("an mbox")
    }

    /// The tree and the messages after `git am`.
    fn applied(&self, mbox: &Path) -> (String, String) {
        self.source.git(&["checkout", "--quiet", "--detach", "main~3"]);
        self.source.git(&["am", "--quiet", text(mbox)]);
        let tree = self.source.git(&["rev-parse", "HEAD^{tree}"]);
        let log = self.source.git(&["log", "--reverse", "--format=%an <%ae> %ai%n%B", "main~3..HEAD"]);
        self.source.git(&["checkout", "--quiet", "main"]);
        (tree, log)
    }

    /// Both write the same commits.
    fn agrees(&self, more: &[&str]) -> String {
        let (ours, theirs) = (self.applied(&self.am(more)), self.applied(&self.b4(more)));
        assert_eq!(ours, theirs, "{more:?}\n{}", self.mails);
        ours.1
    }
}

#[test]
fn the_mbox_makes_the_commits_that_b4s_makes() {
    let plain = Thread::new().sends(&["--cover-letter"]);
    let log = plain.agrees(&[]);
    assert_eq!(plain.applied(&plain.am(&[])).0, plain.source.git(&["rev-parse", "main^{tree}"]));
    assert!(log.contains("A. Developer <dev@example.org>") && log.contains("Because of 3."), "{log}");
    Thread::new().sends(&[]).agrees(&[]);
    let linked = Thread::new().sends(&["--cover-letter", "--rfc", "-v4", "--from=Sender <s@example.org>"]);
    linked.source.git(&["config", "b4.linkmask", "https://example.com/r/%s"]);
    assert!(linked.agrees(&["--add-link"]).contains("Link: https://example.com/r/"));
    Thread::new().sends(&["--cover-letter"]).agrees(&["-P", "1-2"]);
}

#[test]
fn the_author_may_be_another_than_the_sender_whatever_the_letters() {
    let thread = Thread::new();
    let message = "fs: größer\n\nBecause of 3.\n\nSigned-off-by: Åsa Öberg <asa@example.org>";
    let author = "--author=Åsa Öberg <asa@example.org>";
    thread.source.git(&["commit", "--quiet", "--amend", author, "--message", message]);
    let thread = thread.sends(&["--from=Sender <s@example.org>"]);
    let log = thread.agrees(&[]);
    assert!(log.contains("Åsa Öberg <asa@example.org>") && log.contains("fs: größer"), "{log}");
    assert!(log.contains("A. Developer <dev@example.org>") && !log.contains("Sender"), "{log}");
}

#[test]
fn b4_drops_the_message_of_an_attached_patch_and_kiln_keeps_it() {
    let thread = Thread::new().sends(&["--cover-letter", "--attach"]);
    let (ours, theirs) = (thread.applied(&thread.am(&[])), thread.applied(&thread.b4(&[])));
    assert_eq!(ours.0, theirs.0);
    assert!(
        ours.1.contains("Because of 2.") && !theirs.1.contains("Because of 2."),
        "{} {}",
        ours.1,
        theirs.1
    );
}

#[test]
fn trailers_of_answers_are_those_that_b4_takes() {
    let viewer = "R. Viewer <r@example.com>";
    let thread = Thread::new()
        .sends(&["--cover-letter"])
        .answers("[PATCH 2/3] fs: change 2", viewer, REVIEW)
        .answers("[PATCH 2/3] fs: change 2", viewer, REVIEW)
        .answers("[PATCH 1/3] fs: change 1", "Else <e@example.com>", REVIEW)
        .answers(
            "[PATCH 1/3] fs: change 1",
            "r+kernel@mail.example.com",
            "Acked-by: R. Viewer <r@example.com> # fs",
        )
        .answers("[PATCH 3/3] fs: change 3", viewer, "Fixes: 0123456789ab (\"fs: first\")\nMore: text")
        .answers(
            "[PATCH 0/3] three changes",
            "T. Ester <t@example.com>",
            "Tested-by: T. Ester <t@example.com>",
        );
    let log = thread.agrees(&[]);
    assert_eq!(log.matches(REVIEW).count(), 1, "{log}");
    assert_eq!(log.matches("Acked-by: R. Viewer <r@example.com> # fs").count(), 1, "{log}");
    assert!(log.contains("Fixes: 0123456789ab"), "{log}");
    assert!(!log.contains("Tested-by") && !log.contains("More:"), "{log}");
    assert_eq!(thread.agrees(&["-S"]).matches(REVIEW).count(), 2);
    assert_eq!(thread.agrees(&["-t"]).matches("Tested-by").count(), 3);
    assert!(!thread.agrees(&["-T"]).contains(REVIEW));
    thread.source.git(&["config", "b4.linkmask", "https://example.com/r/%s"]);
    thread.source.git(&["config", "b4.trailer-order", "link*,tested*,Reviewed-by,*"]);
    let log = thread.agrees(&["-t", "--add-link"]);
    let places = ["Link: ", "Tested-by: ", "Reviewed-by: "]
        .map(|name| log[log.find("change 2").expect("one")..].find(name));
    assert!(places.is_sorted() && places[0].is_some(), "{log}");
    thread.source.git(&["config", "--unset", "b4.trailer-order"]);
    let shown = thread.series(&["show", text(&thread.mailbox())]).run().expect(0).stdout;
    assert!(
        shown.contains(
            "! Reviewed-by: R. Viewer <r@example.com>\n      the mail is from Else <e@example.com>"
        ),
        "{shown}"
    );
    let ignored = "Robot <robot@example.com>, R. Viewer <R@example.com>";
    thread.source.git(&["config", "b4.trailers-ignore-from", ignored]);
    let log = thread.agrees(&[]);
    assert!(!log.contains("R. Viewer") && log.contains("Fixes: 0123456789ab"), "{log}");
}

#[test]
fn b4_takes_a_trailer_of_anybody_whose_name_has_a_comma_and_kiln_does_not() {
    let thread = Thread::new()
        .sends(&["--cover-letter"])
        .answers("[PATCH 1/3] fs: change 1", "\"Stranger, A\" <a@example.com>", REVIEW)
        .answers("[PATCH 2/3] fs: change 2", "\"Viewer, R.\" <other@example.com>", REVIEW);
    let (ours, theirs) = (thread.applied(&thread.am(&[])), thread.applied(&thread.b4(&[])));
    assert_eq!(ours.1.matches(REVIEW).count(), 1, "the second is the same name: {}", ours.1);
    assert_eq!(theirs.1.matches(REVIEW).count(), 2, "{}", theirs.1);
}

#[test]
fn the_latest_revision_is_taken_with_what_was_given_for_the_same_patches() {
    let mut thread = Thread::new()
        .sends(&["--cover-letter"])
        .answers("[PATCH 1/3] fs: change 1", "R. Viewer <r@example.com>", REVIEW)
        .answers("[PATCH 3/3] fs: change 3", "R. Viewer <r@example.com>", REVIEW);
    thread.source.write("fs/main.c", "int main;\n/* other */\n");
    thread.source.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    let cover = thread.id("[PATCH 0/3]");
    thread = thread.sends(&["--cover-letter", "-v2", &format!("--in-reply-to={cover}")]);
    let log = thread.agrees(&[]);
    assert_eq!(log.matches(REVIEW).count(), 1, "the third patch has changed: {log}");
    assert_eq!(thread.applied(&thread.am(&[])).0, thread.source.git(&["rev-parse", "main^{tree}"]));
    let shown = thread.series(&["show", text(&thread.mailbox())]).run().expect(0).stdout;
    assert!(
        shown.contains("v1 (3 patches and a cover letter), v2 (3 patches and a cover letter)"),
        "{shown}"
    );
    assert!(
        shown.contains("(given for v1)") && shown.contains("given for a patch of v1 that has changed"),
        "{shown}"
    );
    assert_eq!(thread.agrees(&["-v1"]).matches(REVIEW).count(), 2);
    let mailbox = thread.mailbox();
    let changed = thread.series(&["diff", text(&mailbox)]).run().expect(0).stdout;
    assert!(
        changed.contains("   1: =    1: fs: change 1") && changed.contains("   3: !    3: fs: change 3"),
        "{changed}"
    );
    assert!(changed.contains("    -+/* größer: 3 */\n    ++/* other */"), "{changed}");
    assert_eq!(thread.series(&["diff", text(&mailbox), "v1", "v2"]).run().expect(0).stdout, changed);
    let none = thread.series(&["diff", text(&mailbox), "v1", "v3"]).run().expect(2);
    assert!(none.stderr.contains("no v3 in it"), "{}", none.stderr);
    let json = thread.series(&["show", "--json", text(&thread.mailbox())]).run().expect(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["revision"], &json["total"], &json["missing"]),
        (&2.into(), &3.into(), &Value::Array(vec![]))
    );
    assert_eq!(json["base_commit"], thread.source.git(&["rev-parse", "main~3"]));
}

#[test]
fn a_revision_of_some_patches_is_completed() {
    let mut thread = Thread::new().sends(&[]);
    thread.source.write("fs/main.c", "int main;\n/* other */\n");
    thread.source.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    let third = thread.id("[PATCH 3/3]");
    let whole =
        thread.source.git(&["format-patch", "--stdout", "-1", "--thread", &format!("--in-reply-to={third}")]);
    thread.mails += &whole.replace("Subject: [PATCH]", "Subject: [PATCH v2 3/3]");
    thread.mails += "\n\n";
    thread.agrees(&[]);
    assert_eq!(thread.applied(&thread.am(&[])).0, thread.source.git(&["rev-parse", "main^{tree}"]));
    let refused =
        thread.series(&["am", text(&thread.mailbox()), "--no-partial-reroll", "-o", "-"]).run().expect(2);
    assert!(refused.stderr.contains("2 patches are missing"), "{}", refused.stderr);
}

#[test]
fn what_git_writes_without_a_thread_is_one_series() {
    let thread = Thread::new();
    let folder = thread.place.path().join("outgoing");
    thread.source.git(&["format-patch", "--quiet", "--cover-letter", "-o", text(&folder), "main~3..main"]);
    let out = thread.place.path().join("ours.mbx");
    let am = |source: &Path| thread.series(&["am", text(source), "-o", text(&out)]).run().expect(0);
    am(&folder);
    assert_eq!(thread.applied(&out).0, thread.source.git(&["rev-parse", "main^{tree}"]));
    let diff = thread.source.git(&["diff", "main~3", "main"]) + "\n";
    let plain = thread.place.file("all-of-it.diff", diff);
    let shown = thread.series(&["show", text(&plain)]).run().expect(0).stdout;
    assert!(shown.contains("1/1 all-of-it"), "{shown}");
}

#[test]
fn a_series_that_is_not_whole_is_not_written() {
    let thread = Thread::new().sends(&["--cover-letter"]);
    let second = thread.mails.find("Subject: [PATCH 2/3]").expect("it is there");
    let start = thread.mails[..second].rfind("\nFrom ").expect("a mail") + 1;
    let end = second + thread.mails[second..].find("\nFrom ").expect("another mail") + 1;
    let mails = format!("{}{}", &thread.mails[..start], &thread.mails[end..]);
    let thread = Thread { mails, ..thread };
    let mailbox = thread.mailbox();
    let out = thread.place.path().join("out.mbx");
    let done = thread.series(&["am", text(&mailbox), "-o", text(&out)]).run().expect(2);
    assert!(done.stderr.contains("1 patch is missing: --allow-partial writes the others"), "{}", done.stderr);
    assert!(done.stderr.contains("2 of 3: missing") && done.stdout.is_empty() && !out.exists(), "{done:?}");
    let done = thread.series(&["am", text(&mailbox), "-o", text(&out), "--allow-partial"]).run().expect(0);
    assert!(done.stdout.contains("2 of 3 patches in") && out.exists(), "{}", done.stdout);
    thread.series(&["am", text(&mailbox), "-o", "-", "--cherry", "1,3"]).run().expect(0);
    thread.series(&["am", text(&mailbox), "-o", "-", "--cherry", "2"]).run().expect(2);
    let beyond = thread.series(&["am", text(&mailbox), "-o", "-", "--cherry", "4"]).run().expect(2);
    assert!(beyond.stderr.contains("patch 4 of 3"), "{}", beyond.stderr);
}

#[test]
fn wrong_input_is_one_clear_message() {
    let thread = Thread::new().sends(&[]);
    let (mailbox, empty) = (thread.mailbox(), thread.place.file("empty", ""));
    let hidden = thread.place.file("hidden", thread.mails.replace("Because of 2", "Because \u{202e}of 2"));
    let two = format!(
        "{}{}",
        thread.mails,
        Thread::new().sends(&["--subject-prefix=PATCH net", "-v3"]).mails.replace("dev@", "else@")
    );
    let two = thread.place.file("two", two);
    for (arguments, says) in [
        (&["show", "no-such-file"][..], "no-such-file: no such file"),
        (&["show", text(&empty)], "no patch in it"),
        (&["show", "/dev/zero"], "/dev/zero"),
        (&["show", text(&mailbox), "-v9"], "no v9 in it"),
        (&["show", "-m", text(&mailbox), "nobody@example.org"], "no mail has this message id"),
        (&["am", text(&two)], "2 series in it"),
        (&["am", text(&hidden), "-o", "-"], "U+202E"),
        (&["am", text(&mailbox), "-o", "/no/such/folder/x"], "cannot write"),
        (&["am", text(&mailbox), "--cherry", "x"], "give numbers of patches"),
        (&["am", text(&mailbox), "-s"], "git has no user.name and user.email"),
    ] {
        let done = thread.series(arguments).run();
        assert!(
            done.code.is_some_and(|code| code != 0) && done.stderr.contains(says),
            "{arguments:?}: {done:?}"
        );
        assert!(!done.stderr.contains('\u{1b}') && !done.stderr.contains("panicked"), "{}", done.stderr);
    }
    let third = thread.id("[PATCH 3/3]");
    for id in [third.clone(), format!("<{third}>"), format!("https://lore.kernel.org/all/{third}/")] {
        let shown = thread.series(&["show", "-m", text(&two), &id]).run().expect(0).stdout;
        assert!(shown.starts_with("[PATCH 0/3]") || shown.contains("fs: change 1"), "{shown}");
        assert!(!shown.contains("v3"), "{shown}");
    }
    let piped = thread.series(&["am", "-", "-o", "-"]).with_input(&mailbox).run().expect(0);
    assert_eq!(piped.stdout.matches("From git@z").count(), 3);
    thread.series(&["am", text(&hidden), "-o", "-", "--allow-unicode-control-chars"]).run().expect(0);
}

#[test]
fn the_base_is_found_in_a_tree() {
    let mut thread = Thread::new().sends(&["--cover-letter"]);
    let first = thread.source.git(&["rev-parse", "main~3"]);
    let tree = thread.source.path.clone();
    let shows = |thread: &Thread, more: &[&str]| {
        let mailbox = thread.mailbox();
        let arguments = [&["show", text(&mailbox)], more].concat();
        thread.series(&arguments).run().expect(0).stdout
    };
    let stated = shows(&thread, &["--tree", text(&tree)]);
    assert!(
        stated.contains(&format!("  base      {first} (")) && stated.contains("as the series says"),
        "{stated}"
    );
    thread.mails = thread.mails.replace(&format!("base-commit: {first}\n"), "");
    thread.source.write("fs/other.c", "int other;\n");
    thread.source.commit("fs: other");
    let guessed = shows(&thread, &["--guess-base"]);
    let words = format!("  base      {first} (");
    assert!(guessed.contains(&words) && guessed.contains("a guess: 1 of 1 files"), "{guessed}");
    let json = shows(&thread, &["--guess-base", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["base"]["commit"], &json["base"]["found"]), (&first.clone().into(), &1.into()));
    let mailbox = thread.mailbox();
    let written =
        thread.series(&["am", text(&mailbox), "-g", "-o", text(&thread.place.path().join("x.mbx"))]);
    let written = written.run().expect(0).stdout;
    assert!(written.contains("git checkout -b ") && written.contains(&first), "{written}");
    thread.mails = thread.mails.replace("\nindex ", "\nindex abcdef0");
    assert!(shows(&thread, &["-g"]).contains("  base      not found: "));
    let none = thread.series(&["show", text(&mailbox), "-g", "-b", "none"]).run().expect(2);
    assert!(none.stderr.contains("no commit none"), "{}", none.stderr);
}

/// Signs a mail of a file.
const SIGN: &str = r"
import sys, patatt
mail = open(sys.argv[1], 'rb').read()
key = b'nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A='
sys.stdout.buffer.write(patatt.sign_message(mail, 'ed25519', key, 'dev@example.org', 'default'))
";

/// The public key of the same.
const KEY: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

impl Thread {
    /// The mails, signed by patatt.
    fn signed(&self) -> String {
        let folder = self.place.path().join("split");
        fs::create_dir(&folder).expect("writable");
        self.source.git(&["mailsplit", &format!("-o{}", text(&folder)), text(&self.mailbox())]);
        let mut mails: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("git made it")
            .map(|entry| entry.expect("readable").path())
            .collect();
        mails.sort();
        mails.iter().fold(String::new(), |signed, mail| {
            let whole = fs::read_to_string(mail).expect("text");
            fs::write(mail, whole.split_once('\n').expect("git begins with From").1).expect("writable");
            let done = Command::new("/usr/bin/python3")
                .args(["-c", SIGN, text(mail)])
                .output()
                .expect("b4 needs it");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            let mail = String::from_utf8(done.stdout).expect("UTF-8");
            signed + "From mboxrd@z Thu Jan  1 00:00:00 1970\n" + &mail + "\n"
        })
    }
}

#[test]
fn patches_are_refused_whose_senders_nobody_vouches_for() {
    let thread = Thread::new().sends(&[]);
    let signed = thread.signed();
    let mailbox = thread.place.file("signed.mbx", &signed);
    let changed = thread.place.file("changed.mbx", signed.replacen("Because of 2", "Because of 4", 1));
    let shows = |mailbox: &Path| thread.series(&["show", text(mailbox)]).run().expect(0).stdout;
    let am = |mailbox: &Path, more: &[&str]| {
        thread.series(&[&["am", text(mailbox), "-o", "-"], more].concat()).run()
    };
    assert!(shows(&thread.mailbox()).contains("  signed    no\n"));
    assert!(shows(&mailbox).contains("  signed    unknown key: developer of dev@example.org"));
    let ring = thread.place.path().join(".local/share/patatt/public/ed25519/example.org/dev");
    fs::create_dir_all(&ring).expect("writable");
    fs::write(ring.join("default"), KEY).expect("writable");
    assert!(shows(&mailbox).contains("  signed    good: developer of dev@example.org (key default)\n"));
    let shown = shows(&changed);
    assert_eq!(shown.matches("      signed: good").count(), 2, "{shown}");
    assert_eq!(shown.matches("      signed: bad: developer of dev@example.org").count(), 1, "{shown}");
    assert_eq!(am(&mailbox, &["--require-attestation"]).expect(0).stderr, "");
    let refused = am(&changed, &["--require-attestation"]).expect(2);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("nobody vouches"), "{refused:?}");
    assert!(am(&changed, &[]).expect(0).stderr.contains("the sender of \"fs: change 2\""));
    for (policy, code, says) in
        [("hardfail", 2, "nobody"), ("check", 0, ""), ("off", 0, ""), ("x", 2, "give off")]
    {
        thread.source.git(&["config", "b4.attestation-policy", policy]);
        let done = am(&changed, &[]).expect(code);
        assert!(
            done.stderr.contains(says) && done.stderr.is_empty() == says.is_empty(),
            "{policy}: {done:?}"
        );
    }
}
