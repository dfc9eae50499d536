//! What reading mails takes: a thread of 500 beside b4, and a public-inbox archive of 10,000.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::kiln::{PROGRAM, run};
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// The mails of the thread: a cover letter, patches, and answers to them.
const THREAD: usize = 500;
const PATCHES: usize = 20;

/// The mails of the archive, in threads of the same form.
const ARCHIVE: usize = 10_000;

/// Times and promises, in so many rounds.
pub(crate) fn measure(rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = Place::new()?;
    let thread = place.write("thread.mbx", &thread(0, THREAD))?;
    let archive = place.archive()?;
    let (out, id) = (place.path("ours.mbx"), format!("{}@example.org", mail_id(7, PATCHES)));
    let mut racers = [
        Racer::new("b4 am, 500 mails", || place.b4(&thread)),
        Racer::new("kiln series am, 500 mails", || place.kiln(&["am", text(&thread)?, "-o", text(&out)?]))
            .times(5),
        Racer::new("kiln series show, an archive of 10,000 mails", || place.kiln(&["show", text(&archive)?])),
        Racer::new("the same, the series of one mail", || place.kiln(&["show", "-m", text(&archive)?, &id])),
        Racer::new("git cat-file, the same archive", || place.floor(&archive)),
    ];
    race(&mut racers, rounds)?;
    let [b4, kiln, all, one, floor] = &racers;
    let promises = vec![
        Promise::ratio(kiln, b4, Some(0.1)),
        Promise::ratio(all, floor, None),
        Promise::ratio(one, floor, None),
        Promise::seconds(all, 5.0),
    ];
    Ok((table(&racers), promises))
}

/// Where the mails are, and a home for b4.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Result<Self> {
        Ok(Self { directory: tempfile::tempdir()? })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.path(name);
        std::fs::write(&path, content).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    fn kiln(&self, arguments: &[&str]) -> Result<()> {
        run(Command::new(PROGRAM).arg("series").args(arguments).env("HOME", self.directory.path()))
    }

    /// b4 wants a user, and a folder that is there.
    fn b4(&self, thread: &Path) -> Result<()> {
        let folder = self.path("theirs");
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new("b4");
        command.args(["am", "--no-cache", "-m", text(thread)?, "-o", text(&folder)?]);
        command.env("HOME", self.directory.path()).env("GIT_CONFIG_COUNT", "2");
        command.env("GIT_CONFIG_KEY_0", "user.name").env("GIT_CONFIG_VALUE_0", "M. Aintainer");
        command.env("GIT_CONFIG_KEY_1", "user.email").env("GIT_CONFIG_VALUE_1", "m@example.net");
        run(command.current_dir(self.directory.path()))
    }

    /// An archive in public-inbox's format, made by one `git fast-import`.
    fn archive(&self) -> Result<PathBuf> {
        let folder = self.path("list");
        let repository = folder.join("git/0.git");
        run(Command::new("git")
            .args(["init", "--quiet", "--bare", "--initial-branch=master"])
            .arg(&repository))?;
        let mut stream = String::new();
        for (number, mail) in (0..ARCHIVE / THREAD).flat_map(|thread| mails(thread, THREAD)).enumerate() {
            let _ = write!(
                stream,
                "commit refs/heads/master\ncommitter A <a@example.org> {number} +0000\ndata 0\nM 100644 inline m\ndata {}\n{mail}\n",
                mail.len()
            );
        }
        let mut import = Command::new("git")
            .args(["fast-import", "--quiet"])
            .current_dir(&repository)
            .stdin(Stdio::piped())
            .spawn()
            .context("git")?;
        import.stdin.take().context("it was piped")?.write_all(stream.as_bytes())?;
        ensure!(import.wait()?.success(), "git fast-import failed");
        Ok(folder)
    }

    /// The least that a reader of all mails can do.
    fn floor(&self, archive: &Path) -> Result<()> {
        let script = "git log --format=%H:m HEAD | git cat-file --batch --buffer";
        run(Command::new("sh").args(["-c", script]).current_dir(archive.join("git/0.git")))
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is text")
}

/// A thread as an mbox.
fn thread(number: usize, count: usize) -> String {
    mails(number, count)
        .fold(String::new(), |mbox, mail| mbox + "From mboxrd@z Thu Jan  1 00:00:00 1970\n" + &mail + "\n")
}

fn mail_id(thread: usize, number: usize) -> String {
    format!("{thread}.{number}")
}

/// A series of patches, and answers with a trailer each.
fn mails(thread: usize, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |number| {
        let id = mail_id(thread, number);
        let (parent, from, subject, body) = match number {
            0 => (None, "dev".to_owned(), format!("[PATCH 0/{PATCHES}] fs: series {thread}"), "Why.\n".to_owned()),
            1..=PATCHES => {
                let subject = format!("[PATCH {number}/{PATCHES}] fs: change {number} of {thread}");
                (Some(0), "dev".to_owned(), subject, patch(number))
            }
            _ => {
                let patch = 1 + number % PATCHES;
                let subject = format!("Re: [PATCH {patch}/{PATCHES}] fs: change {patch} of {thread}");
                let who = format!("reviewer-{}", number % 50);
                let body = format!("> what was said\n\nFine.\n\nReviewed-by: R. Viewer <{who}@example.org>\n");
                (Some(patch), who, subject, body)
            }
        };
        let parent = parent.map_or_else(String::new, |parent| {
            format!("In-Reply-To: <{}@example.org>\n", mail_id(thread, parent))
        });
        format!(
            "From: R. Viewer <{from}@example.org>\nMessage-ID: <{id}@example.org>\n{parent}Subject: {subject}\n\
             Date: Wed, 1 Jan 2025 {:02}:{:02}:{:02} +0000\n\n{body}",
            number / 3600,
            number / 60 % 60,
            number % 60
        )
    })
}

fn patch(number: usize) -> String {
    let lines: String = (0..100).map(|line| format!("+line {line} of {number}\n")).collect();
    format!(
        "Because of {number}.\n\nSigned-off-by: A. Developer <dev@example.org>\n---\n f{number} | 100 ++++\n\n\
         diff --git a/f{number} b/f{number}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/f{number}\n\
         @@ -0,0 +1,100 @@\n{lines}-- \n2.39.5\n"
    )
}
