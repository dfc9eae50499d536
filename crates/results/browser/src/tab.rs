//! A page that the browser shows.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::chromium::Browser;
use crate::connection::{Event, SLICE, SLICES, word};
use crate::{Error, Key, incident};

/// Columns of pixels of a page on a desk.
pub const WIDE: u32 = 1280;

/// Columns to which 1280 shrink where somebody enlarges by four: success criterion 1.4.10 of WCAG 2.2.
pub const NARROW: u32 = 320;

/// What of the browser tells what happens in a tab.
const DOMAINS: [&str; 4] = ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"];

/// How a page is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns of pixels.
    pub width: u32,
    /// The user prefers dark pages.
    pub is_dark: bool,
    /// It is printed.
    pub is_printed: bool,
}

/// A tab.
#[derive(Debug)]
pub struct Tab<'a> {
    browser: &'a Browser,
    context: String,
    session: String,
}

impl Browser {
    /// A tab of somebody else: it shares no cookie with others.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn tab(&self) -> Result<Tab<'_>, Error> {
        let made = self.call("", "Target.createBrowserContext", &json!({"disposeOnDetach": true}))?;
        Tab::new(self, word(&made, "browserContextId"))
    }
}

impl<'a> Tab<'a> {
    /// A tab that shares cookies with all others of `context`.
    fn new(browser: &'a Browser, context: String) -> Result<Self, Error> {
        let page = json!({"url": "about:blank", "browserContextId": context});
        let target = word(&browser.call("", "Target.createTarget", &page)?, "targetId");
        let attached =
            browser.call("", "Target.attachToTarget", &json!({"targetId": target, "flatten": true}))?;
        let tab = Self { browser, context, session: word(&attached, "sessionId") };
        DOMAINS.iter().try_for_each(|domain| tab.call(domain, &json!({})).map(drop))?;
        tab.call("Page.setLifecycleEventsEnabled", &json!({"enabled": true}))?;
        Ok(tab)
    }

    /// Another tab of the same user.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn another(&self) -> Result<Self, Error> {
        Self::new(self.browser, self.context.clone())
    }

    /// Puts it before all others.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn show(&self) -> Result<(), Error> {
        self.call("Page.bringToFront", &json!({})).map(drop)
    }

    /// Shows this address, and waits until the page is complete.
    ///
    /// # Errors
    ///
    /// When there is nothing to show.
    pub fn open(&self, address: &str) -> Result<(), Error> {
        let shown = self.call("Page.navigate", &json!({"url": address}))?;
        if let Some(why) = shown["errorText"].as_str() {
            return Err(Error::Refused { method: format!("open {address}"), why: why.to_owned() });
        }
        let loader = word(&shown, "loaderId");
        let is_complete = || {
            let mut events = self.events().into_iter();
            let is_load = |params: &Value| params["loaderId"] == *loader && params["name"] == "load";
            events.any(|event| event.method == "Page.lifecycleEvent" && is_load(&event.params))
        };
        self.until(address, || Ok(is_complete()))
    }

    /// What a script gives, in a promise or not.
    ///
    /// # Errors
    ///
    /// When it throws something.
    pub fn evaluate(&self, script: &str) -> Result<Value, Error> {
        let asked = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let given = self.call("Runtime.evaluate", &asked)?;
        if let Some(thrown) = given.get("exceptionDetails") {
            return Err(Error::Script(thrown.to_string()));
        }
        Ok(given["result"]["value"].clone())
    }

    /// Waits until a script gives what counts as true.
    ///
    /// # Errors
    ///
    /// When it never does.
    pub fn wait(&self, script: &str) -> Result<(), Error> {
        let script = format!("Boolean({script})");
        self.until(&script, || match self.evaluate(&script) {
            Ok(value) => Ok(value == true),
            // The page is just being left.
            Err(Error::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        })
    }

    /// Presses a key, and releases it.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn press(&self, key: Key) -> Result<(), Error> {
        key.events().iter().try_for_each(|event| self.call("Input.dispatchKeyEvent", event).map(drop))
    }

    /// Types a text where the focus is.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        self.call("Input.insertText", &json!({"text": text})).map(drop)
    }

    /// Looks at pages so from now on.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn look(&self, look: Look) -> Result<(), Error> {
        let size = json!({"width": look.width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let scheme = if look.is_dark { "dark" } else { "light" };
        let medium = if look.is_printed { "print" } else { "" };
        let features = [json!({"name": "prefers-color-scheme", "value": scheme})];
        let media = json!({"media": medium, "features": features});
        self.call("Emulation.setEmulatedMedia", &media).map(drop)
    }

    /// Lets pages that are opened from now on run their scripts, or not.
    ///
    /// # Errors
    ///
    /// When the browser does not answer.
    pub fn allow_scripts(&self, is_allowed: bool) -> Result<(), Error> {
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": !is_allowed})).map(drop)
    }

    /// Writes a picture of the whole page.
    ///
    /// # Errors
    ///
    /// When there is none, or the file cannot be written.
    pub fn picture(&self, path: &Path) -> Result<(), Error> {
        let taken =
            self.call("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}))?;
        std::fs::write(path, decoded(&taken["data"])).map_err(Error::from)
    }

    /// The page on paper, as PDF whose outline has the headings.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn print(&self) -> Result<Vec<u8>, Error> {
        let options = json!({"generateTaggedPDF": true, "generateDocumentOutline": true});
        Ok(decoded(&self.call("Page.printToPDF", &options)?["data"]))
    }

    /// What happened that no page may do, since the last call.
    #[must_use]
    pub fn incidents(&self) -> Vec<String> {
        let events = self.events();
        self.browser.forget(&self.session);
        incident::incidents(&events)
    }

    /// The addresses that were answered since the last call of [`Self::incidents`], with the statuses.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, u64)> {
        let events = self.events();
        let answers = events.iter().filter(|event| event.method == "Network.responseReceived");
        let answer = |response: &Value| (word(response, "url"), response["status"].as_u64().unwrap_or(0));
        answers.map(|event| answer(&event.params["response"])).collect()
    }

    /// All that has happened so far: it comes before the answer to any call.
    fn events(&self) -> Vec<Event> {
        let _ = self.call("Page.getFrameTree", &json!({}));
        self.browser.events(&self.session)
    }

    pub(crate) fn call(&self, method: &str, params: &Value) -> Result<Value, Error> {
        self.browser.call(&self.session, method, params)
    }

    fn until(&self, what: &str, mut look: impl FnMut() -> Result<bool, Error>) -> Result<(), Error> {
        for _ in 0..SLICES {
            if look()? {
                return Ok(());
            }
            std::thread::sleep(SLICE);
        }
        Err(Error::Late(what.to_owned()))
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        let _ = self.call("Page.close", &json!({}));
        self.browser.forget(&self.session);
    }
}

fn decoded(data: &Value) -> Vec<u8> {
    STANDARD.decode(data.as_str().unwrap_or_default()).unwrap_or_default()
}
