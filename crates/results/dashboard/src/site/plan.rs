//! Which pages a site has, and where.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::UNIX_EPOCH;

use ledger::{PAGE, Tallied, Tally};
use report::html::Page;
use verdict::problem::State;

use super::SiteError;
use crate::address;
use crate::frame::filed;
use crate::kept::{self, Kind};
use crate::pages::{self, Asked, Failure};
use crate::store::Store;

/// Sessions, kernels and conclusions of each kind that have a page: the newest.
pub(super) const SESSIONS_MAX: usize = 200;
const KERNELS_MAX: usize = 50;
pub(super) const CONCLUSIONS_MAX: usize = 50;

/// Most characters of the name of a file that was made from another name.
const NAME_MAX: usize = 100;

/// A page.
pub(super) struct Planned {
    /// Where a server has it.
    pub(super) address: String,
    /// Its file, by a path from the root of the site.
    pub(super) file: String,
    pub(super) content: Content,
}

/// How a page is made.
pub(super) enum Content {
    /// Each time.
    Page(Make<Page>),
    /// Whole, where this stamp is another one.
    Kept(String, Make<String>),
}

type Make<T> = Box<dyn FnOnce(&mut Store) -> Result<T, Failure>>;

/// All pages.
pub(super) fn all(store: &mut Store) -> Result<Vec<Planned>, SiteError> {
    let newest = store.tallies(Tallied::Newest(SESSIONS_MAX))?;
    let latest = store.tallies(Tallied::Latest(KERNELS_MAX))?;
    let mut planned = vec![
        page("/", "index.html", |store| pages::overview(store, &Asked::default())),
        page("/problems", "problems.html", |store| pages::problems(store, &Asked::default())),
        page("/conclusions", "conclusions.html", |store| pages::conclusions(store, &Asked::default())),
    ];
    let suites: BTreeSet<&str> = latest.iter().map(|tally| tally.suite.as_str()).collect();
    for suite in suites {
        let asked = Asked { suite: suite.to_owned(), ..Asked::default() };
        let file = file("matrix", suite);
        planned.push(page(&address::matrix(suite), &file, move |store| pages::matrix(store, &asked)));
    }
    let kernels: BTreeSet<&str> = latest.iter().map(Tally::kernel_name).collect();
    for kernel in kernels {
        let asked = Asked { kernel: kernel.to_owned(), ..Asked::default() };
        let file = file("kernel", kernel);
        planned.push(page(&address::kernel(kernel), &file, move |store| pages::kernel(store, &asked)));
    }
    for (problem, _) in store.problems()?.all.iter().filter(|(_, standing)| standing.state != State::Closed) {
        let id = problem.id.clone();
        let file = file("problem", &id);
        let address = address::problem(&id);
        planned.push(page(&address, &file, move |store| pages::problem(store, &id)));
    }
    planned.extend(newest.iter().filter_map(|tally| session(store, &tally.session)));
    planned.extend(Kind::ALL.into_iter().flat_map(|kind| conclusions(store, kind)));
    Ok(planned)
}

fn page(
    address: &str,
    file: &str,
    make: impl FnOnce(&mut Store) -> Result<Page, Failure> + 'static,
) -> Planned {
    Planned { address: address.to_owned(), file: file.to_owned(), content: Content::Page(Box::new(make)) }
}

/// The page of a session whose folder is still there.
fn session(store: &Store, name: &str) -> Option<Planned> {
    let past = store.session(name).filter(|past| past.session().is_ok())?;
    let stamp = stamp(&past.directory().join("events.jsonl"));
    let address = address::session(name);
    let (file, name) = (file("session", name), name.to_owned());
    let make = move |store: &mut Store| Ok(filed(&pages::session(store, &name)?));
    Some(Planned { address, file, content: Content::Kept(stamp, Box::new(make)) })
}

/// What has its page already.
fn conclusions(store: &Store, kind: Kind) -> Vec<Planned> {
    let root = store.folders().of(kind).to_owned();
    let ended = kept::all(kind, &root).into_iter().filter(|kept| kept.has_ended);
    let planned = ended.take(CONCLUSIONS_MAX).map(|kept| {
        let stamp = stamp(&root.join(&kept.name).join(PAGE));
        let (address, file) = (address::kept(kind, &kept.name), file(kind.name(), &kept.name));
        let gone = format!("{} is gone, or too large", kept.name);
        let make = move |_: &mut Store| kept.page().ok_or(Failure::Unknown(gone));
        Planned { address, file, content: Content::Kept(stamp, Box::new(make)) }
    });
    planned.collect()
}

/// When a file was last written to, and its length.
fn stamp(path: &Path) -> String {
    let Ok(found) = path.metadata() else { return String::new() };
    let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}:{}", modified.unwrap_or_default().as_nanos(), found.len())
}

/// The file of a page that is called so: names of others have a plain form, with a hash where they are not plain.
fn file(folder: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_name = |c: char| is_plain(c) || c == '.';
    if name.chars().all(is_name) && name.starts_with(is_plain) && name.len() <= NAME_MAX {
        return format!("{folder}/{name}.html");
    }
    let plain: String = name.chars().filter(|&c| is_plain(c)).take(NAME_MAX / 2).collect();
    format!("{folder}/{plain}-{}.html", &kernel::files::hash(name.as_bytes())[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_plain_names_and_none_has_two_pages() {
        assert_eq!(file("kernel", "6.1.0-47-amd64"), "kernel/6.1.0-47-amd64.html");
        let odd = [
            "../../etc/passwd",
            "..",
            "a/b",
            "a b",
            "",
            "\u{202e}x",
            &"x".repeat(300),
            ".git",
            "a.html/../b",
        ];
        let files: BTreeSet<String> = odd.iter().map(|name| file("kernel", name)).collect();
        assert_eq!(files.len(), odd.len());
        for file in files {
            assert!(
                file.starts_with("kernel/") && file.matches('/').count() == 1 && !file.contains(".."),
                "{file}"
            );
            assert!(file.len() < 100, "{file}");
        }
    }
}
