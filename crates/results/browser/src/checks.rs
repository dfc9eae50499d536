//! What every page promises: <https://www.w3.org/TR/WCAG22/>, level AA, and that nothing in it is more than text.
//!
//! * [`axe`]: what a program can judge of accessibility; [`keyboard`]: what only a person with a keyboard could

mod axe;
mod keyboard;

use std::path::Path;

use serde_json::Value;

use crate::{Error, Look, NARROW, Tab, WIDE};

/// Ways to look at a page, by the names of their pictures.
const LOOKS: [(&str, u32, bool); 4] =
    [("light", WIDE, false), ("dark", WIDE, true), ("narrow", NARROW, false), ("narrow-dark", NARROW, true)];

/// A page that is judged.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// What its pictures are called.
    pub name: &'a str,
    /// Where it is.
    pub address: &'a str,
    /// What it says, with and without scripts.
    pub says: &'a [&'a str],
}

/// What is wrong with a page, with its name. Pictures of it are kept in a folder.
///
/// # Errors
///
/// When nothing can be said of it.
pub fn faults(tab: &Tab<'_>, page: Expected<'_>, pictures: &Path) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    for (name, width, is_dark) in LOOKS {
        tab.look(Look { width, is_dark, is_printed: false })?;
        tab.open(page.address)?;
        tab.picture(&pictures.join(format!("{}-{name}.png", page.name)))?;
        let found = looked_at(tab, page, is_dark)?;
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    tab.look(Look { width: WIDE, is_dark: false, is_printed: false })?;
    tab.open(page.address)?;
    faults.extend(listed(tab, include_str!("checks/markup.js"))?);
    faults.extend(keyboard::faults(tab)?);
    faults.extend(on_paper(tab)?);
    faults.extend(without_scripts(tab, page)?);
    faults.extend(tab.incidents());
    Ok(faults.into_iter().map(|fault| format!("{}: {fault}", page.name)).collect())
}

fn looked_at(tab: &Tab<'_>, page: Expected<'_>, is_dark: bool) -> Result<Vec<String>, Error> {
    let mut faults = missing(tab, page)?;
    let brightness = tab.evaluate(include_str!("checks/brightness.js"))?;
    if (brightness.as_f64().unwrap_or(f64::NAN) < 0.5) != is_dark {
        faults.push(format!("the brightness of its background is {brightness}"));
    }
    faults.extend(listed(tab, include_str!("checks/reflow.js"))?);
    tab.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")?;
    faults.extend(axe::faults(tab)?);
    Ok(faults)
}

/// What the page should say and does not.
fn missing(tab: &Tab<'_>, page: Expected<'_>) -> Result<Vec<String>, Error> {
    let text = tab.evaluate("document.body.textContent")?;
    let text = text.as_str().unwrap_or_default();
    let silent = page.says.iter().filter(|words| !text.contains(**words));
    Ok(silent.map(|words| format!("it does not say {words:?}")).collect())
}

/// A page on paper has its headings, and nothing that can only be clicked.
fn on_paper(tab: &Tab<'_>) -> Result<Vec<String>, Error> {
    tab.look(Look { width: WIDE, is_dark: false, is_printed: true })?;
    let mut faults = listed(tab, include_str!("checks/paper.js"))?;
    let pdf = tab.print()?;
    let has = |word: &[u8]| pdf.windows(word.len()).any(|part| part == word);
    if !pdf.starts_with(b"%PDF-") || !has(b"/Outlines") || !has(b"/Title") {
        faults.push("on paper it has no headings".to_owned());
    }
    tab.look(Look { width: WIDE, is_dark: false, is_printed: false })?;
    Ok(faults)
}

/// Scripts make a page better; without one all of it is there.
fn without_scripts(tab: &Tab<'_>, page: Expected<'_>) -> Result<Vec<String>, Error> {
    tab.allow_scripts(false)?;
    let faults = tab.open(page.address).and_then(|()| {
        let mut faults = missing(tab, page)?;
        faults.extend(listed(tab, include_str!("checks/plain.js"))?);
        Ok(faults)
    });
    tab.allow_scripts(true)?;
    Ok(faults?.into_iter().map(|fault| format!("without scripts: {fault}")).collect())
}

/// What a script lists.
fn listed(tab: &Tab<'_>, script: &str) -> Result<Vec<String>, Error> {
    let found = tab.evaluate(script)?;
    let all = found.as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
