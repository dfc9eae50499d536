//! What has its page in a folder of its own: comparisons, bisections and checks.
//!
//! Such a page has a style and a script of its own, and may come from another host: in it a browser runs no script but
//! kiln's, and keeps it apart from all other pages: <https://www.w3.org/TR/CSP3/#directive-sandbox>.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bisect::Underway;
use jiff::Timestamp;
use kernel::files::{self, Limit};
use ledger::{Journal, PAGE, folders};
use report::html::SCRIPT;
use sha2::{Digest, Sha256};

/// Largest page.
const LIMIT: Limit = Limit { what: "a page", bytes: 32 << 20 };

/// Bytes of a page in which its title is looked for.
const HEAD_MAX: u64 = 16 << 10;

/// What stands for characters that mark text up; that of the ampersand is replaced last.
const ENTITIES: [(&str, &str); 4] = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];

/// Most characters of the name of a folder.
const NAME_MAX: usize = 100;

/// What is kept so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Comparison,
    Bisection,
    Check,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Comparison, Self::Bisection, Self::Check];

    /// Its name, which addresses begin with.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::Bisection => "bisection",
            Self::Check => "check",
        }
    }

    /// What stands above all of them.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Comparison => "Comparisons",
            Self::Bisection => "Bisections",
            Self::Check => "Checks",
        }
    }

    /// The kind of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A folder of a kind.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// When something was last made or removed in it.
    pub(crate) changed: Timestamp,
    /// Whether it came to its end: it has a page then.
    pub(crate) has_ended: bool,
    folder: PathBuf,
}

impl Kept {
    fn of(kind: Kind, folder: PathBuf) -> Option<Self> {
        let name = folder.file_name()?.to_str().filter(|name| is_name(name))?.to_owned();
        let changed = folder.metadata().ok()?.modified().ok()?.try_into().ok()?;
        let has_ended = folder.join(PAGE).is_file();
        // Measurements are kept beside comparisons.
        let is_of_kind = has_ended || kind != Kind::Comparison;
        is_of_kind.then_some(Self { kind, name, changed, has_ended, folder })
    }

    /// What its page says first; nothing of one that has none.
    pub(crate) fn title(&self) -> Option<String> {
        title(&self.folder.join(PAGE))
    }

    /// Its page; nothing if there is none.
    pub(crate) fn page(&self) -> Option<String> {
        let page = files::read(&self.folder.join(PAGE), LIMIT).ok()?;
        Some(String::from_utf8_lossy(&page).into_owned())
    }

    /// Whether a kiln works on it; only bisections say that.
    pub(crate) fn is_running(&self) -> bool {
        self.kind == Kind::Bisection && Journal::is_open(&self.folder)
    }

    /// How far a bisection is, or was when it was stopped.
    pub(crate) fn underway(&self) -> Option<Underway> {
        (self.kind == Kind::Bisection).then(|| Underway::read(&self.folder))?
    }
}

/// All of a kind below `root`, those that changed last first.
pub(crate) fn all(kind: Kind, root: &Path) -> Vec<Kept> {
    let mut all: Vec<Kept> = folders(root).into_iter().filter_map(|folder| Kept::of(kind, folder)).collect();
    all.sort_by_key(|kept| std::cmp::Reverse(kept.changed));
    all
}

/// The one of this name.
pub(crate) fn named(kind: Kind, root: &Path, name: &str) -> Option<Kept> {
    is_name(name).then(|| Kept::of(kind, root.join(name)))?
}

/// The title of a page; nothing if there is no page.
fn title(page: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(page).ok()?.take(HEAD_MAX).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let title = head.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let plain = |text: &str| ENTITIES.iter().fold(text.to_owned(), |text, (name, c)| text.replace(name, c));
    Some(title.map_or_else(|| "a page without a title".to_owned(), |(title, _)| plain(title)))
}

/// What a browser may do with such a page.
pub(crate) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
});

/// Whether a folder may be called so: `4f1c9a0e6b7d2c35`, `2026-11-20T10-07-31Z-4711`, and `2026-11-20T10-07-31Z-4711.2` of
/// the second session that a process begins in that second.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.len() <= NAME_MAX && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        assert!(is_name("2026-11-20T10-07-31Z-4711") && is_name("2026-11-20T10-07-31Z-4711.2"));
        let long = "a".repeat(NAME_MAX + 1);
        for wrong in ["", ".", "..", ".hidden", "a/b", "../../etc", "a\0", "/etc", "a b", &long] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn what_came_to_its_end_has_a_page() {
        let root = tempfile::tempdir().expect("a directory");
        for (name, page) in [("2026-1", true), ("2026-2", false), ("not a name", true)] {
            std::fs::create_dir(root.path().join(name)).expect("a folder");
            if page {
                std::fs::write(root.path().join(name).join(PAGE), "<title>a &amp;lt; b</title>")
                    .expect("writable");
            }
        }
        let names = |kind| {
            all(kind, root.path()).iter().map(|kept| (kept.name.clone(), kept.title())).collect::<Vec<_>>()
        };
        assert_eq!(names(Kind::Comparison), [("2026-1".to_owned(), Some("a &lt; b".to_owned()))]);
        assert_eq!(names(Kind::Bisection).len(), 2);
        let page = |name| named(Kind::Bisection, root.path(), name).and_then(|kept| kept.page());
        assert_eq!(page("2026-1").as_deref(), Some("<title>a &amp;lt; b</title>"));
        for none in ["2026-2", "not a name", "../2026-1", ".."] {
            assert_eq!(page(none), None, "{none}");
        }
    }

    #[test]
    fn only_scripts_of_kiln_run_in_a_kept_page() {
        assert!(POLICY.starts_with("sandbox allow-scripts; default-src 'none'"));
        assert_eq!(POLICY.matches("script-src 'sha256-").count(), 1);
        assert!(!POLICY.contains("script-src 'unsafe-inline'") && !POLICY.contains("allow-same-origin"));
    }
}
