//! What no page may do, whatever is in it.

use serde_json::Value;

use crate::connection::{Event, word};

/// What is wrong with events, if anything is.
pub(crate) fn incidents(events: &[Event]) -> Vec<String> {
    let documents: Vec<&Value> = events
        .iter()
        .filter(|event| event.method == "Network.responseReceived" && event.params["type"] == "Document")
        .map(|event| &event.params["response"]["url"])
        .collect();
    // A page that says what is wrong has a status of its own, of which the browser makes an entry.
    let is_page = |event: &&Event| {
        event.params["entry"]["source"] == "network" && documents.contains(&&event.params["entry"]["url"])
    };
    events.iter().filter(|event| !is_page(event)).filter_map(incident).collect()
}

fn incident(event: &Event) -> Option<String> {
    let Event { method, params, .. } = event;
    match method.as_str() {
        "Page.javascriptDialogOpening" => Some(format!("a dialog opens: {}", params["message"])),
        "Page.windowOpen" => Some(format!("a window opens: {}", params["url"])),
        "Page.downloadWillBegin" => Some(format!("a download begins: {}", params["url"])),
        "Runtime.exceptionThrown" => Some(format!("a script throws {}", params["exceptionDetails"])),
        "Runtime.consoleAPICalled" => Some(format!("a script writes {} to the console", params["args"])),
        // A breach of the policy for contents is an entry, too.
        "Log.entryAdded" => Some(entry(&params["entry"])),
        "Network.webSocketCreated" => Some(format!("a socket is opened: {}", params["url"])),
        "Network.requestWillBeSent" => strange(params),
        _ => None,
    }
}

fn entry(entry: &Value) -> String {
    format!("{} {}: {} {}", word(entry, "source"), word(entry, "level"), entry["text"], entry["url"])
}

/// A request for something of another origin than that of its page.
fn strange(params: &Value) -> Option<String> {
    let (address, page) = (word(&params["request"], "url"), word(params, "documentURL"));
    (origin(&address) != origin(&page)).then(|| format!("{page} asks for {address}"))
}

/// The scheme, the host and the port of an address.
fn origin(address: &str) -> &str {
    let scheme = address.find("://").map_or(0, |at| at + 3);
    let end = address[scheme..].find(['/', '?', '#']).map_or(address.len(), |at| scheme + at);
    &address[..end]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_stay_with_the_origin_of_their_page() {
        let asked = |page: &str, address: &str| {
            let params = json!({"documentURL": page, "request": {"url": address}});
            let event =
                Event { session: String::new(), method: "Network.requestWillBeSent".to_owned(), params };
            incident(&event).is_some()
        };
        assert!(!asked("http://localhost:80/a?b", "http://localhost:80/style.css"));
        assert!(!asked("file:///a/b.html", "file:///a/b.html"));
        for other in ["http://localhost:81/", "https://localhost:80/", "http://localhost:80.evil/", "data:,x"]
        {
            assert!(asked("http://localhost:80/", other), "{other}");
        }
    }
}
