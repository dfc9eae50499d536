//! `kiln series` with archives of Debian's public-inbox: its server on this host, and its repositories.

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use bisect::{Bisection, Conclusion};

use crate::support::source::Source;
use crate::support::{BUILD, Call, Done, Place, text};

/// A list with an archive, and a server for it.
struct List {
    place: Place,
    source: Source,
    address: String,
    server: Option<Child>,
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl List {
    /// A tree with two commits, and an archive without mails.
    fn new() -> Self {
        let place = Place::new();
        let source = place.source();
        for number in 1..=2 {
            source.write("fs/main.c", format!("int main_{number};\n"));
            source.commit(&format!("fs: change {number}"));
        }
        let list = Self { place, source, address: String::new(), server: None };
        let folder = list.folder();
        let folder = folder.to_str().expect("text");
        let url = "http://example.org/test";
        let arguments = ["-V2", "-j1", "--indexlevel", "full", "test", folder, url, "test@example.org"];
        list.inbox("public-inbox-init", &arguments, None);
        let settings = list.place.path().join(".public-inbox/config");
        let text = fs::read_to_string(&settings).expect("public-inbox-init wrote it");
        fs::write(&settings, text + "[publicinboxmda]\n\tspamcheck = none\n").expect("writable");
        list
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("test")
    }

    /// A program of public-inbox.
    fn inbox(&self, program: &str, arguments: &[&str], input: Option<&PathBuf>) {
        let input = input.map_or_else(Stdio::null, |path| fs::File::open(path).expect("readable").into());
        let done = Command::new(program)
            .args(arguments)
            .env("HOME", self.place.path())
            .env("ORIGINAL_RECIPIENT", "test@example.org")
            .stdin(input)
            .output()
            .expect("scripts/setup installs public-inbox");
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Sends the commits as a revision: the id of its cover letter.
    fn sends(&self, revision: u32) -> String {
        let number = format!("-v{revision}");
        let folder = self.place.path().join(&number);
        let arguments =
            ["format-patch", "--quiet", "--thread", "--cover-letter", &number, "-o", text(&folder), "main~2"];
        self.source.git(&arguments);
        let mut mails: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("git made it")
            .map(|entry| entry.expect("readable").path())
            .collect();
        mails.sort();
        let mut cover = String::new();
        for path in mails {
            let mail = fs::read_to_string(&path).expect("text");
            let (_, mail) = mail.split_once('\n').expect("git begins with From");
            let mail = mail.replace(".git.dev@example.org", &format!(".v{revision}.git.dev@example.org"));
            let mail = mail.replace("*** SUBJECT HERE ***", "two changes");
            if cover.is_empty() {
                let id = mail.split(['<', '>']).nth(1).expect("an id");
                cover = id.to_owned();
            }
            fs::write(&path, format!("To: test@example.org\n{mail}")).expect("writable");
            self.inbox("public-inbox-mda", &["--no-precheck"], Some(&path));
        }
        cover
    }

    /// Starts the server, which gets its socket as systemd would give it.
    fn serves(mut self) -> Self {
        self.inbox("public-inbox-index", &[text(&self.folder())], None);
        let listener = TcpListener::bind("127.0.0.1:0").expect("the host has loopback");
        self.address = listener.local_addr().expect("bound").to_string();
        let script = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec setpriv --pdeathsig KILL public-inbox-httpd -W0";
        let server = Command::new("sh")
            .args(["-c", script])
            .env("HOME", self.place.path())
            .stdin(OwnedFd::from(listener))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.server = Some(server.expect("sh is there"));
        self
    }

    /// Of git, for kiln and b4; without a user, b4 ends in silence.
    fn settings(&self) -> Vec<(String, String)> {
        let address = &self.address;
        let settings = [
            ("b4.midmask", format!("http://{address}/test/%s")),
            ("b4.searchmask", format!("http://{address}/test/?x=m&t=1&q=%s")),
            ("user.name", "M. Aintainer".to_owned()),
            ("user.email", "m@example.net".to_owned()),
        ];
        let count = [("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
        let pairs = settings.into_iter().enumerate().flat_map(|(at, (key, value))| {
            [(format!("GIT_CONFIG_KEY_{at}"), key.to_owned()), (format!("GIT_CONFIG_VALUE_{at}"), value)]
        });
        count.into_iter().chain(pairs).collect()
    }

    fn series(&self, arguments: &[&str]) -> Call {
        self.kiln(&[&["series"], arguments].concat())
    }

    fn kiln(&self, arguments: &[&str]) -> Call {
        let call = self.place.kiln(arguments);
        let call = call.env("HOME", self.place.path()).env("XDG_CACHE_HOME", self.place.path().join("cache"));
        self.settings().into_iter().fold(call, |call, (name, value)| call.env(&name, value))
    }

    fn shows(&self, arguments: &[&str]) -> String {
        self.series(&[&["show"], arguments].concat()).run().expect(0).stdout
    }

    fn refuses(&self, arguments: &[&str]) -> Done {
        self.series(&[&["show"], arguments].concat()).run().expect(2)
    }
}

#[test]
fn a_series_is_found_by_any_of_its_mails_with_all_its_revisions() {
    let list = List::new();
    let ids = [list.sends(1), list.sends(2)];
    let list = list.serves();
    let archive = list.folder();
    let expected = "revisions v1 (2 patches and a cover letter), v2 (2 patches and a cover letter)";
    for id in &ids {
        let link = format!("http://{}/test/{id}/T/#u", list.address);
        for source in [vec![id.as_str()], vec![&link], vec![id, "-m", text(&archive)]] {
            let shown = list.shows(&source);
            assert!(shown.starts_with("[PATCH v2 0/2] two changes\n") && shown.contains(expected), "{shown}");
        }
    }
    assert!(list.shows(&[text(&archive)]).contains(expected));
    assert!(list.shows(&[&ids[1], "-v1"]).starts_with("[PATCH 0/2] two changes"));
    let missing = list.refuses(&["none@example.org"]).stderr;
    assert!(missing.contains(&format!("none@example.org: {} does not have it", list.address)), "{missing}");
    let missing = list.refuses(&["none@example.org", "-m", text(&archive)]).stderr;
    assert!(missing.contains("no mail has this message id"), "{missing}");
}

#[test]
fn a_series_that_a_message_id_names_is_bisected() {
    let list = List::new();
    list.source.write("fs/main.c", "int broken;\n");
    list.source.commit("fs: break");
    let id = list.sends(1);
    let list = list.serves();
    let base = format!("git:{}@main~2", text(&list.source.path));
    let ask = ["bisect", "--series", &id, "--base", &base, "--config", "defconfig", "--build", "--json"];
    let found: Bisection = list.kiln(&ask).run_within(BUILD).expect(0).stated();
    let Conclusion::Culprits { candidates, .. } = &found.conclusion else { panic!("{found:#?}") };
    assert_eq!((candidates[0].title.as_str(), found.candidates.len()), ("fs: break", 2));
    let missing = [&ask[..2], &["none@example.org"], &ask[3..]].concat();
    let missing = list.kiln(&missing).run().expect(2).stderr;
    assert!(missing.contains("none@example.org: "), "{missing}");
}

#[test]
fn what_was_fetched_is_not_fetched_again_for_some_minutes() {
    let list = List::new();
    let id = list.sends(1);
    let mut list = list.serves();
    let first = list.shows(&[&id]);
    let mut server = list.server.take().expect("it was started");
    server.kill().and_then(|()| server.wait()).expect("it is a child of this test");
    assert_eq!(list.shows(&[&id]), first);
    let fails = list.series(&["show", &id, "--no-cache"]).run().expect(3).stderr;
    assert!(fails.contains("Connection refused") && fails.contains("check the network"), "{fails}");
    let fails = list.series(&["show", &id]).env("GIT_CONFIG_VALUE_0", "somewhere").run().expect(2).stderr;
    assert!(fails.contains("b4.midmask: somewhere: not a link with %s"), "{fails}");
}

#[test]
fn the_mbox_of_a_fetched_series_makes_the_commits_that_b4s_makes() {
    let list = List::new();
    let id = list.sends(1);
    list.sends(2);
    let list = list.serves();
    let (ours, theirs) = (list.place.path().join("ours.mbx"), list.place.path().join("theirs"));
    fs::create_dir(&theirs).expect("writable");
    list.series(&["am", &id, "-o", text(&ours)]).run().expect(0);
    let b4 = Command::new("b4")
        .args(["am", "--no-cache", "--check-newer-revisions", &id, "-o", text(&theirs)])
        .env("HOME", list.place.path())
        .envs(list.settings())
        .current_dir(&list.source.path)
        .output()
        .expect("scripts/setup installs b4");
    assert!(b4.status.success(), "{}", String::from_utf8_lossy(&b4.stderr));
    let found = fs::read_dir(&theirs).expect("there").map(|entry| entry.expect("readable").path());
    let theirs = found.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "mbx"));
    let applied = |mbox: &PathBuf| {
        list.source.git(&["checkout", "--quiet", "--detach", "main~2"]);
        list.source.git(&["am", "--quiet", text(mbox)]);
        list.source.git(&["log", "--format=%T %an <%ae> %ai%n%B", "main~2..HEAD"])
    };
    assert_eq!(applied(&ours), applied(&theirs.expect("b4 wrote an mbox")));
}
