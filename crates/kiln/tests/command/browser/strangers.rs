//! Who may not ask, as browsers know them.

use std::io::{Read, Write};
use std::net::TcpListener;

use judge::Outcome;

use crate::support::Place;
use crate::support::serving::Served;
use crate::support::written::{document, run, session, sessions_of};

/// A token as `--token-file` takes it.
const TOKEN: &str = "0123456789abcdefghij";

fn place() -> Place {
    let place = Place::new();
    let failed = run("pipe/full", Outcome::Fail, "is 0");
    session(&sessions_of(&place), "2026-11-20T10-07-31Z-4711", &document(&["pipe/full"]), &[failed]);
    place
}

/// The address of a page of another site, which is empty; the thread ends with the test.
fn other_site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let page = "<!DOCTYPE html><title>another</title>";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length";
            let _ = write!(stream, "{head}: {}\r\n\r\n{page}", page.len());
        }
    });
    address
}

#[test]
#[ignore = "needs Chromium"]
fn a_token_is_entered_once_and_stays_out_of_addresses() {
    let place = place();
    let token = place.file("token", TOKEN);
    let served = Served::start(&place, &["--token-file", &token.display().to_string()]);
    let browser = super::browser();
    let (tab, stranger) = (browser.tab().expect("a tab"), browser.tab().expect("a tab"));
    let says = |text: &str| format!("document.body.textContent.includes('{text}')");
    for path in ["/", "/runs", "/live", "/style.css", "/?kiln-token=wrong"] {
        // The browser may show a page of its own for what is refused.
        let _ = tab.open(&served.address(path));
        let refused = tab.answers().into_iter().all(|(_, status)| status == 401);
        assert!(refused, "{path}: {:?}", tab.answers());
    }
    tab.open(&served.address(&format!("/runs?kiln-token={TOKEN}"))).expect("it is served");
    tab.wait(&says("pipe/full")).expect("it is shown");
    assert_eq!(tab.evaluate("location.search + document.cookie").expect("a text"), "");
    tab.open(&served.address("/problems")).expect("the cookie is enough");
    tab.wait("document.getElementById('live').textContent === 'live'").expect("for events, too");
    stranger.open(&served.address("/")).expect("it says why");
    stranger.wait(&says("kiln wants its token")).expect("others have no cookie");
}

#[test]
#[ignore = "needs Chromium"]
fn pages_of_other_sites_get_nothing() {
    const ASK: &str = "(async address => {
        const got = [];
        await fetch(address + '/runs', { mode: 'no-cors', credentials: 'include' }).then(answer => got.push(answer.type));
        await fetch(address + '/runs.csv').catch(() => got.push('refused'));
        for (const [name, attribute, path] of [['img', 'src', '/'], ['script', 'src', '/page.js'], ['iframe', 'src', '/']]) {
            const element = document.createElement(name);
            element[attribute] = address + path;
            const done = new Promise(resolve => { element.onload = element.onerror = resolve; });
            document.body.append(element);
            got.push((await done).type);
        }
        return [...got, document.querySelector('iframe').contentDocument];
    })";
    let place = place();
    let (served, browser) = (Served::start(&place, &[]), super::browser());
    let tab = browser.tab().expect("a tab");
    tab.open(&other_site()).expect("it is there");
    let address = served.address("");
    let got = tab.evaluate(&format!("{ASK}('{address}')")).expect("it tries");
    // What is opaque has no content for who asked, and a frame loads a page of the browser that says so.
    assert_eq!(got, serde_json::json!(["opaque", "refused", "error", "error", "load", null]));
    let answers: Vec<(String, u64)> =
        tab.answers().into_iter().filter(|(asked, _)| asked.starts_with(&address)).collect();
    assert!(answers.len() >= 2 && answers.iter().all(|(_, status)| *status == 403), "{answers:?}");
    tab.evaluate(&format!("location.href = '{address}/runs'")).expect("a link");
    tab.wait("document.body?.textContent.includes('pipe/full')").expect("links are followed");
}
