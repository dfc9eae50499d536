use super::*;

/// How a mail is carried.
const BASE64: &str =
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: base64\n";

impl Place {
    /// A base, and three patches on a branch that `format-patch` makes mails of; main stands at the base.
    fn with_series() -> Self {
        let place = Self::new();
        write(&place.tree().join("b"), "b\n");
        place.commit("a", "1\n2\n3\n", "base");
        place.git(&["checkout", "--quiet", "-b", "topic"]);
        place.commit("a", "1\ntwo\n3\n", "mm: first\n\nWhy it is so.");
        place.git(&["config", "user.name", "Åsa Öberg"]);
        place.commit_by_asa("b", "é\n", "mm: zweite Änderung");
        place.commit("a", "1\ntwo\nthree\n", "[media] third");
        place.git(&["checkout", "--quiet", "main"]);
        place
    }

    fn commit_by_asa(&self, path: &str, content: &str, subject: &str) {
        write(&self.tree().join(path), content);
        self.git(&["add", "--all"]);
        let author = "--author=Åsa Öberg <asa@example.org>";
        let date = "--date=Wed, 1 Jan 2025 10:00:00 +0130";
        self.git(&["commit", "--quiet", author, date, "--message", subject]);
    }

    /// What git makes of the branch.
    fn mails(&self, options: &[&str]) -> String {
        let all = [&["format-patch", "--stdout"], options, &["main..topic"]].concat();
        self.git(&all) + "\n"
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.beside(name);
        write(&path, content);
        path
    }

    /// Applies what makes the whole series, and checks that it did.
    fn applies_all(&self, mail: &Path) -> Vec<Change> {
        let changes = self.apply("main", mail).unwrap();
        let subjects: Vec<&str> = changes.iter().map(|change| change.subject.as_str()).collect();
        assert_eq!(subjects, ["mm: first", "mm: zweite Änderung", "third"]);
        let tree = |commit: &str| self.change_tree(commit);
        assert_eq!(tree(&changes[2].commit), self.git(&["rev-parse", "topic^{tree}"]));
        changes
    }

    fn change_tree(&self, commit: &str) -> String {
        self.with(|context| {
            let repository = crate::git::Repository::open(&self.tree(), context).unwrap();
            repository.describe(commit, context).unwrap().0
        })
    }

    fn series_refusal(&self, mail: &Path) -> String {
        let error = self.apply("main", mail).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    }
}

/// The mails of a box.
fn split(mails: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in mails.split_inclusive('\n') {
        if line.starts_with("From ") {
            found.push(String::new());
        }
        found.last_mut().unwrap().push_str(line);
    }
    found
}

/// A patch that adds a file.
fn adding(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    )
}

#[test]
fn a_series_becomes_commits_of_its_authors() {
    let place = Place::with_series();
    let mbox = place.file("mbox", place.mails(&["--cover-letter", "--thread"]));
    let changes = place.applies_all(&mbox);
    assert_eq!(changes[1].author, "Åsa Öberg <asa@example.org>");
    assert_eq!(changes[1].date, "2025-01-01T10:00:00+01:30");
    assert_eq!((&changes[0].files, &changes[1].files), (&vec!["a".to_owned()], &vec!["b".to_owned()]));
    let walk = place.walk("main", &changes[2].commit, &Limits::default()).unwrap();
    assert_eq!(walk.commits, changes.iter().map(|change| change.commit.clone()).collect::<Vec<_>>());
    assert_eq!(place.content(&changes[0].commit, "a"), "1\ntwo\n3\n");
    assert_eq!(place.applies_all(&mbox), changes);
}

#[test]
fn what_a_mail_says_below_its_subject_is_kept() {
    let place = Place::with_series();
    let changes = place.applies_all(&place.file("mbox", place.mails(&[])));
    let message = place.with(|context| {
        let repository = crate::git::Repository::open(&place.tree(), context).unwrap();
        repository.must(&["log", "-1", "--format=%B", &changes[0].commit], context).unwrap()
    });
    assert_eq!(message.trim_end(), "mm: first\n\nWhy it is so.");
}

#[test]
fn mails_that_came_in_another_order_are_sorted() {
    let place = Place::with_series();
    let ordered = place.applies_all(&place.file("mbox", place.mails(&["--cover-letter"])));
    let mut mails = split(&place.mails(&["--cover-letter"]));
    assert_eq!(mails.len(), 4);
    mails.reverse();
    assert_eq!(place.applies_all(&place.file("reversed", mails.concat())), ordered);
}

#[test]
fn answers_are_left_out() {
    let place = Place::with_series();
    let mut mails = split(&place.mails(&[]));
    let quote = mails[0].replace("[PATCH", "Re: [PATCH").replace("\n+", "\n> +").replace("\n@@", "\n> @@");
    let other_way = mails[0].replace("[PATCH", "Re: [PATCH");
    mails.insert(1, quote.replace("\ndiff", "\n> diff"));
    mails.insert(2, other_way);
    place.applies_all(&place.file("mbox", mails.concat()));
}

#[test]
fn every_way_to_carry_a_mail_is_read() {
    let place = Place::with_series();
    let plain = place.mails(&[]);
    let wanted = place.applies_all(&place.file("mbox", &plain));
    let crlf = plain.replace('\n', "\r\n");
    assert_eq!(place.applies_all(&place.file("crlf", crlf)), wanted);
    let encoded = |encode: &dyn Fn(&str) -> (&'static str, String)| {
        let mails = split(&plain);
        let recode = |mail: &String| {
            let (head, body) = mail.split_once("\n\n").unwrap();
            let dropped = ["MIME-Version", "Content-T"];
            let is_kept = |line: &&str| !dropped.iter().any(|name| line.starts_with(name));
            let head: Vec<&str> = head.lines().filter(is_kept).collect();
            let (headers, body) = encode(body);
            format!("{}\n{headers}\n{body}\n\n", head.join("\n"))
        };
        mails.iter().map(recode).collect::<String>()
    };
    let base64 = encoded(&|body| (BASE64, base64(body.as_bytes())));
    assert!(!base64.contains("diff --git"));
    assert_eq!(place.applies_all(&place.file("base64", base64)), wanted);
    let quoted = encoded(&|body| {
        let headers = "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n";
        let byte = |&byte: &u8| match byte {
            b'\n' => "\n".to_owned(),
            b' '..=b'<' | b'>'..=b'~' => char::from(byte).to_string(),
            other => format!("={other:02X}"),
        };
        (headers, body.as_bytes().iter().map(byte).collect())
    });
    assert!(quoted.contains("=C3"));
    assert_eq!(place.applies_all(&place.file("quoted", quoted)), wanted);
}

/// RFC 4648, in lines.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let quantum = |chunk: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        let digit =
            |at: usize| if at > chunk.len() { '=' } else { char::from(DIGITS[bits >> (18 - 6 * at) & 63]) };
        (0..4).map(digit).collect::<String>()
    };
    let digits: String = bytes.chunks(3).map(quantum).collect();
    digits.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line) + "\n").collect()
}

#[test]
fn a_folder_of_patches_and_a_single_patch_are_read() {
    let place = Place::with_series();
    let folder = place.beside("patches");
    place.git(&["format-patch", "--quiet", "--cover-letter", "-o", "../patches", "main..topic"]);
    write(&folder.join("notes.txt"), "diff --git a/x b/x\n");
    let changes = place.applies_all(&folder);
    assert_eq!(changes, place.applies_all(&place.file("mbox", place.mails(&[]))));
    let first = folder.join("0001-mm-first.patch");
    assert_eq!(place.apply("main", &first).unwrap(), changes[..1]);
}

#[test]
fn a_plain_patch_is_named_by_its_file() {
    let place = Place::with_series();
    let diff = place.git(&["diff", "main", "topic"]) + "\n";
    let changes = place.apply("main", &place.file("fix-it.diff", format!("Some words.\n\n{diff}"))).unwrap();
    assert_eq!((changes.len(), changes[0].subject.as_str()), (1, "fix-it"));
    assert_eq!(changes[0].author, "unknown <unknown>");
    assert_eq!(place.change_tree(&changes[0].commit), place.git(&["rev-parse", "topic^{tree}"]));
}

#[test]
fn a_patch_that_was_made_on_something_else_is_merged() {
    let place = Place::with_series();
    let mbox = place.file("mbox", place.mails(&[]));
    // What stands beside the change differs, so that it does not apply as it is.
    let other = place.commit("a", "one\n2\n3\n", "other");
    let text = place.series_refusal(&mbox);
    assert!(text.contains("patch 1 of 3 (\"mm: first\") does not apply: a:1; is main its base?\n"), "{text}");
    let removed = format!("expects `1`, which {} (\"other\") removed", &other[..12]);
    assert!(text.contains("kiln: the hunk `@@ -1,3 +1,3 @@` ") && text.ends_with(&removed), "{text}");
    write(&place.tree().join("long"), (0..20).map(|line| format!("{line}\n")).collect::<String>());
    place.commit("x", "", "long");
    let long = |from: &str, to: &str| {
        let content = fs::read_to_string(place.tree().join("long")).unwrap().replace(from, to);
        place.commit("long", &content, "change");
    };
    place.git(&["checkout", "--quiet", "-b", "patch"]);
    long("10\n", "ten\n");
    let patch =
        place.file("ten.patch", place.git(&["format-patch", "--stdout", "--full-index", "-1"]) + "\n");
    place.git(&["checkout", "--quiet", "main"]);
    long("12\n", "twelve\n");
    let made = place.apply("main", &patch).unwrap();
    let content = place.content(&made[0].commit, "long");
    assert!(content.contains("\nten\n11\ntwelve\n"), "{content}");
    assert_ne!(other, made[0].commit);
}

#[test]
fn the_first_patch_that_does_not_apply_is_named() {
    let place = Place::with_series();
    let mails = split(&place.mails(&[]));
    let text = place.series_refusal(&place.file("mbox", [mails[1].as_str(), &mails[2]].concat()));
    assert!(text.contains("patch 2 of 2 (\"third\") does not apply: a:1"), "{text}");
    let missing =
        adding("b").replace("new file mode 100644\n", "").replace("/dev/null", "a/c").replace('b', "c");
    let text =
        place.series_refusal(&place.file("no.diff", missing.replace("@@ -0,0 +1 @@\n", "@@ -1 +1 @@\n-y\n")));
    assert!(text.contains("patch 1 of 1 (\"no\") does not apply:"), "{text}");
    let torn = place.file("torn.diff", adding("new").replace("+1 @@", "+1,5 @@"));
    assert!(place.series_refusal(&torn).contains("corrupt patch"), "{}", place.series_refusal(&torn));
}

#[test]
fn paths_outside_of_the_tree_are_refused() {
    let place = Place::with_series();
    for path in ["../outside", "dir/../../outside", ".git/hooks/pre-commit", "sub/.GIT/config"] {
        let text = place.series_refusal(&place.file("evil.diff", adding(path)));
        assert!(text.contains("does not apply: invalid path"), "{text}");
        assert!(text.ends_with("; patches may not write outside the tree or into .git"), "{text}");
    }
    let changing = "diff --git a/../e b/../e\n--- a/../e\n+++ b/../e\n@@ -1 +1 @@\n-x\n+y\n";
    let text = place.series_refusal(&place.file("outside.diff", changing));
    assert!(
        text.ends_with("../e: does not exist in index; patches may not write outside the tree or into .git"),
        "{text}"
    );
    let link = "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/\n\\ No newline at end of file\n";
    let text = place.series_refusal(&place.file("link.diff", link.to_owned() + &adding("link/outside")));
    assert!(text.contains("beyond a symbolic link"), "{text}");
    assert!(!place.beside("outside").exists());
}

#[test]
fn what_holds_no_patch_or_too_many_is_reported() {
    let place = Place::with_series();
    let cover = split(&place.mails(&["--cover-letter"])).swap_remove(0);
    for (name, content) in
        [("cover", cover.as_str()), ("empty", ""), ("words", "some words\n"), ("nul", "\0\0")]
    {
        let text = place.series_refusal(&place.file(name, content));
        assert!(text.contains("no patch in it"), "{text}");
    }
    fs::create_dir(place.beside("folder")).unwrap();
    assert!(place.series_refusal(&place.beside("folder")).contains("no patch in it"));
    assert!(place.series_refusal(&place.beside("nowhere")).contains("no such file"));
    let one = |number: usize| {
        let patch = adding(&number.to_string());
        format!("From x Mon Sep 17 00:00:00 2001\nSubject: [PATCH {number}/1001] x\n\n{patch}\n")
    };
    let many = place.file("many", (1..=1001).map(one).collect::<String>());
    assert!(place.series_refusal(&many).contains("more than 1000 patches"));
    let large = fs::File::create(place.beside("large")).unwrap();
    large.set_len((256 << 20) + 1).unwrap();
    assert!(place.series_refusal(&place.beside("large")).contains("larger than 268435456 bytes"));
    let mut other = split(&place.mails(&[]));
    other.push(other[0].replace("PATCH 1/3] mm: first", "PATCH 1/4] fs: other"));
    assert!(place.series_refusal(&place.file("two", other.concat())).contains("2 series in it"));
}

#[test]
fn mails_that_want_to_confuse_git_still_become_commits() {
    let place = Place::with_series();
    let mail = |head: &str, path: &str| format!("{head}\n\nbody\0with NUL\n---\n{}--\n2.0\n\n", adding(path));
    let long = "x".repeat(300_000);
    for head in [
        "From: .,;<>\nSubject: [PATCH]\nDate: yesterday",
        "From: =?UTF-8?Q?a=0Ab=1Bc?= <x@y>\nSubject: =?UTF-8?Q?new=0Aline=1B?=\nDate: Mon, 99 Foo 1",
        "Subject: no author",
        &format!("From: {long} <{long}@x>\nSubject: {long}\nDate: {long}"),
        "From: x <x@y>\nSubject: before the epoch\nDate: Wed, 1 Jan 1930 10:00:00 +0000",
    ] {
        let changes = place.apply("main", &place.file("odd.eml", mail(head, "new"))).unwrap();
        assert_eq!((changes.len(), changes[0].files[0].as_str()), (1, "new"));
        assert!(!changes[0].subject.is_empty());
    }
    let good = mail("From x Mon Sep 17 00:00:00 2001\nSubject: good", "new");
    let odd = mail("From x Mon Sep 17 00:00:00 2001\nSubject: =?UTF-8?Q?=00?=", "other");
    let changes = place.apply("main", &place.file("mbox", good + &odd)).unwrap();
    assert_eq!((changes.len(), changes[1].subject.as_str()), (2, "no subject"));
}
