//! `kiln report` as Markdown, and posted to a server of this host.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use judge::{Outcome, Run};
use serde_json::{Value, json};

use crate::support::web::{Answer, Web};
use crate::support::{Call, Place, text};

/// The session of all tests.
const SESSION: &str = "2026-11-20T10-07-31Z-4711";

/// A place with a session in which a case failed, with hostile words.
fn place() -> Place {
    let place = Place::new();
    let folder = place.path().join("state/kiln/runs").join(SESSION);
    std::fs::create_dir_all(folder.join("cases/pipe")).expect("writable");
    let session = json!({
        "started": "2026-11-20T10:07:31Z", "kiln": "0.1.0", "locator": "deb:6.1.0-56-cloud-amd64", "kernel": "deb:6.1.0-56-cloud-amd64",
        "provenance": "Debian 6.1.147-1", "release": "6.1.0-56-cloud-amd64", "identity": "x", "machine": "QEMU with TCG, 1 CPU, 1024 MiB",
        "suite": "smoke", "cases": ["pipe/full", "pipe/size"], "command": ["run", "deb:6.1.0-56-cloud-amd64"], "took_seconds": 2.5,
    });
    std::fs::write(folder.join("session.json"), session.to_string()).expect("writable");
    let failed = Run {
        case: "pipe/full".to_owned(),
        about: "a full pipe blocks its writer".to_owned(),
        outcome: Outcome::Fail,
        reason: "<script>alert(1)</script> [a](http://x.org)".to_owned(),
        output: "```\n# no heading\n".to_owned(),
        ..Run::unstarted()
    };
    let passed = Run { case: "pipe/size".to_owned(), outcome: Outcome::Pass, ..Run::unstarted() };
    for run in [failed, passed] {
        let document = serde_json::to_vec(&run).expect("JSON");
        std::fs::write(folder.join("cases").join(&run.case).with_extension("json"), document)
            .expect("writable");
    }
    place
}

fn posted(place: &Place, subject: &str, address: &str, more: &[&str]) -> Call {
    place.kiln([&["report", subject, "--post", address], more].concat())
}

/// What a server says of a post.
fn made(status: u16, data: &Value) -> Answer {
    Answer::json(status, &json!({ "code": status, "data": data }))
}

fn refused(status: u16, why: &str) -> Answer {
    Answer::json(status, &json!({ "code": status, "error_msg": why }))
}

/// A file with the token of an account.
fn token(place: &Place) -> PathBuf {
    place.file("token", "0000-account\n")
}

/// What was asked, in order.
fn calls(web: &Web) -> Vec<String> {
    web.asked().into_iter().map(|asked| asked.what).collect()
}

#[test]
fn markdown_says_the_same_and_nothing_of_a_guest_is_interpreted() {
    let place = place();
    let output = place.path().join("report.md");
    place.kiln(["report", SESSION, "-o", text(&output)]).run().expect(0);
    let file = std::fs::read_to_string(&output).expect("written");
    let title = "# smoke on deb:6.1.0-56-cloud-amd64 (6.1.0-56-cloud-amd64): 1 fail, 1 pass\n";
    assert!(file.starts_with(title), "{file}");
    assert!(file.contains("\n&lt;script&gt;alert(1)&lt;/script&gt; \\[a\\](http\\://x.org)\n"), "{file}");
    assert!(file.contains("\n````\n```\n# no heading\n````\n"), "{file}");
    assert!(file.contains(&format!("\nkiln replay {SESSION}/pipe/full\n")), "{file}");
    assert!(file.contains("\n| `pipe/size` | pass |"), "{file}");
    let printed = place.kiln(["report", SESSION, "--format", "markdown"]).run().expect(0).stdout;
    assert_eq!(printed, file);
    let one = place
        .kiln(["report", &format!("{SESSION}/pipe/size"), "--format", "markdown"])
        .run()
        .expect(0)
        .stdout;
    assert!(one.contains(": 1 pass\n") && !one.contains("pipe/full"), "{one}");
    let mail = place.kiln(["report", SESSION, "--format", "markdown", "--wrap", "72"]).run().expect(0).stdout;
    assert!(mail.lines().all(|line| line.len() <= 72 || line.starts_with("# ")), "{mail}");
    assert!(mail.contains("\ncase       outcome"), "{mail}");
}

#[test]
fn what_cannot_be_asked_is_one_clear_message() {
    let place = place();
    let page = place.path().join("compared");
    std::fs::create_dir(&page).expect("writable");
    std::fs::write(page.join("report.html"), "<!DOCTYPE html>kept").expect("writable");
    let token = token(&place);
    let empty = place.file("empty", "\n");
    for (arguments, message) in [
        (&[SESSION, "--format", "html", "--wrap", "72"][..], "--wrap is for Markdown"),
        (&[SESSION, "--format", "html", "--post", "https://x.org"], "--post sends Markdown"),
        (&[SESSION, "--public", "--format", "markdown"], "--post <ADDRESS>"),
        (&[SESSION, "--post", "http://x.org"], "only this host is spoken to without TLS"),
        (&[SESSION, "--post", "x.org/blog"], "write https://HOST"),
        (&[SESSION, "--post", "https://x.org", "--public", "--token-file", text(&token)], "name the blog"),
        (&[SESSION, "--post", "https://x.org/b", "--public"], "--token-file"),
        (&[SESSION, "--post", "https://x.org/b", "--token-file", text(&empty)], "no token of an account"),
        (&[text(&page), "--format", "markdown"], "it has only its page"),
        (&["2001", "--post", "https://x.org"], "no session \"2001\""),
    ] {
        let done = place.kiln([&["report"], arguments].concat()).run().expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn a_draft_is_made_once_and_then_updated() {
    let place = place();
    let web = Web::new(vec![
        made(201, &json!({"id": "1a2b", "token": "secret"})),
        made(200, &json!({"id": "1a2b"})),
        refused(404, "Post not found."),
        made(201, &json!({"id": "3c4d", "token": "other"})),
    ]);
    let address = format!("{}/blog", web.origin());
    let call = || posted(&place, SESSION, &address, &[]).run().expect(0).stdout;
    assert!(call().contains(&format!(": draft at {}/1a2b\n", web.origin())));
    assert!(call().contains(&format!(": draft at {}/1a2b\n", web.origin())));
    assert_eq!(calls(&web), ["POST /api/posts", "POST /api/posts/1a2b"]);
    let asked = web.asked();
    let title = "smoke on deb:6.1.0-56-cloud-amd64 (6.1.0-56-cloud-amd64): 1 fail, 1 pass";
    assert_eq!((&asked[0].body["title"], &asked[0].body["token"]), (&title.into(), &Value::Null));
    assert!(asked[0].body["body"].as_str().expect("text").contains("## All cases"), "{asked:?}");
    assert_eq!(asked[1].body["token"], "secret");
    assert!(asked.iter().all(|asked| !asked.head.contains("authorization")), "{asked:?}");
    let known = std::fs::read_dir(place.path().join("state/kiln/posts/known")).expect("made");
    let known: Vec<PathBuf> = known.map(|entry| entry.expect("readable").path()).collect();
    let mode = std::fs::metadata(&known[0]).expect("there").permissions().mode() & 0o777;
    assert_eq!((known.len(), mode), (1, 0o600));
    // Somebody deleted it.
    assert!(call().contains(&format!(": draft at {}/3c4d\n", web.origin())));
    assert_eq!(calls(&web)[2..], ["POST /api/posts/1a2b", "POST /api/posts"]);
}

#[test]
fn a_draft_becomes_public_only_if_that_is_asked_for() {
    let place = place();
    let web = Web::new(vec![
        made(201, &json!({"id": "1a2b", "token": null})),
        made(200, &json!({"id": "1a2b"})),
        made(200, &json!([{"code": 200, "post": {"id": "1a2b", "slug": "smoke-on"}}])),
        made(200, &json!({"id": "1a2b"})),
        made(201, &json!({"id": "5e6f", "slug": "pipe"})),
    ]);
    let (address, token) = (format!("{}/blog", web.origin()), token(&place));
    let call = |subject: &str, more: &[&str]| {
        let more = [&["--token-file", text(&token)], more].concat();
        posted(&place, subject, &address, &more).run().expect(0).stdout
    };
    assert!(call(SESSION, &[]).contains(&format!(": draft at {}/1a2b\n", web.origin())));
    let public = format!(": public at {}/blog/smoke-on\n", web.origin());
    assert!(call(SESSION, &["--public"]).contains(&public));
    assert!(call(SESSION, &[]).contains(&public), "it stays there");
    let one = format!("{SESSION}/pipe/full");
    assert!(call(&one, &["--public"]).contains(&format!(": public at {}/blog/pipe\n", web.origin())));
    let expected = [
        "POST /api/posts",
        "POST /api/posts/1a2b",
        "POST /api/collections/blog/collect",
        "POST /api/posts/1a2b",
        "POST /api/collections/blog/posts",
    ];
    assert_eq!(calls(&web), expected);
    let asked = web.asked();
    assert_eq!(asked[2].body, json!([{"id": "1a2b"}]));
    assert!(
        asked.iter().all(|asked| asked.head.contains("authorization: token 0000-account\n")),
        "{asked:?}"
    );
}

#[test]
fn what_cannot_be_taken_now_waits_in_its_order() {
    let place = place();
    let busy = Answer::Says(429, "Retry-After: 30\r\n", json!({"error_msg": "slow down"}).to_string());
    let web = Web::new(vec![
        busy,
        refused(500, "oops"),
        made(201, &json!({"id": "1a2b", "token": "x"})),
        made(201, &json!({"id": "3c4d", "token": "y"})),
    ]);
    let token = token(&place);
    let call = |subject: &str, code| {
        posted(&place, subject, &web.origin(), &["--token-file", text(&token)]).run().expect(code).stdout
    };
    let first = call(SESSION, 3);
    assert!(
        first.contains(": not sent, stays queued: it answers 429: slow down; it asks for 30 s\n"),
        "{first}"
    );
    let second = call(&format!("{SESSION}/pipe/full"), 3);
    assert_eq!(second.matches("stays queued: it answers 500: oops\n").count(), 2, "{second}");
    let listed = place.kiln(["mail"]).run().expect(0).stdout;
    assert_eq!(listed.matches("  queued   ").count(), 2, "{listed}");
    for entry in std::fs::read_dir(place.path().join("state/kiln/posts/queued")).expect("made") {
        let kept = std::fs::read_to_string(entry.expect("readable").path()).expect("UTF-8");
        assert!(!kept.contains("0000-account"), "{kept}");
    }
    let sent = place.kiln(["mail", "send"]).run().expect(0).stdout;
    assert_eq!(sent.matches(": draft at ").count(), 2, "{sent}");
    // The second was not tried before the first.
    let subjects: Vec<bool> =
        web.asked().iter().map(|asked| asked.body["body"].to_string().contains("pipe/size")).collect();
    assert_eq!(subjects, [true, true, true, false]);
    // No name has so long a part.
    for nowhere in ["http://127.0.0.1:1".to_owned(), format!("https://{}.invalid", "x".repeat(100))] {
        let offline = posted(&place, SESSION, &nowhere, &[]).run().expect(3).stdout;
        assert!(offline.contains(": not sent, stays queued: "), "{offline}");
        let name = offline.split(' ').next().expect("a name");
        place.kiln(["mail", "drop", name]).run().expect(0).says("removed");
    }
}

#[test]
fn a_waiting_draft_is_replaced_by_a_newer_one() {
    let place = place();
    let web = Web::new(vec![refused(503, ""), made(201, &json!({"id": "1a2b", "token": "x"}))]);
    posted(&place, SESSION, &web.origin(), &[]).run().expect(3);
    let newer = posted(&place, SESSION, &web.origin(), &["--wrap", "72"]).run().expect(0).stdout;
    assert_eq!(newer.lines().count(), 1, "{newer}");
    assert!(web.asked()[1].body["body"].as_str().expect("text").contains("\ncase       outcome"));
}

#[test]
fn a_refusal_is_told_and_the_next_call_tries_again() {
    let place = place();
    let led = Answer::Says(302, "Location: http://127.0.0.1:1/\r\n", String::new());
    let web = Web::new(vec![
        refused(401, "Invalid access token.\u{1b}[2J"),
        led,
        made(201, &json!({"id": "1a2b", "token": "x"})),
    ]);
    let call = |code| posted(&place, SESSION, &web.origin(), &[]).run().expect(code).stdout;
    let refused = call(3);
    assert!(refused.contains(": refused: it answers 401: Invalid access token.: name the file"), "{refused}");
    let led = call(3);
    assert!(led.contains(": refused: it answers 302, which leads elsewhere"), "{led}");
    assert!(call(0).contains(": draft at "));
}

#[test]
fn a_new_post_of_which_nobody_knows_is_not_made_again_by_itself() {
    let garbage = Answer::Says(200, "", "<html>welcome</html>".to_owned());
    for odd in [garbage, Answer::Huge, Answer::Silent] {
        let place = place();
        let web = Web::new(vec![odd.clone(), made(201, &json!({"id": "1a2b", "token": "x"}))]);
        let call = || {
            posted(&place, SESSION, &web.origin(), &[]).env("KILN_TIMEOUT_MUL", "0.1").run().expect(3).stdout
        };
        let unknown = call();
        assert!(unknown.contains(": may have been sent: "), "{odd:?}: {unknown}");
        let again = call();
        assert!(again.contains(": may have been posted: `kiln mail retry`"), "{odd:?}: {again}");
        assert_eq!(web.asked().len(), 1, "{odd:?}");
        let name = again.split(' ').next().expect("a name");
        let retried = place.kiln(["mail", "retry", name]).run().expect(0).stdout;
        assert!(retried.contains(": draft at "), "{odd:?}: {retried}");
    }
}
