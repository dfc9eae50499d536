//! The text by which a user names a kernel.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::Error;

/// What a user typed to name a kernel, checked for its form only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Locator {
    /// A package of Debian or Ubuntu; holds what stands after `deb:`.
    Deb(String),
    /// The source that Debian publishes as a package, to be built; holds what stands after `deb-source:`.
    DebSource(String),
    /// A commit of a git repository, to be built.
    Git {
        /// The repository or a checkout of it, as typed.
        tree: PathBuf,
        /// Whatever git takes for a commit; `HEAD` when nothing was said.
        revision: String,
    },
    /// Debian's package of User-Mode Linux.
    UmlDeb,
    /// What an earlier build left in the store; the beginning of its identity, in hexadecimal.
    Built(String),
    /// An image, a tree or an unpacked package; a leading `~/` is kept as typed, see [`Locator::path`].
    Path(PathBuf),
    /// The kernel that runs here.
    Host,
}

impl Locator {
    /// The path that was named, if one was, with a leading `~/` replaced by the home directory.
    pub fn path(&self) -> Option<PathBuf> {
        let (Self::Path(path) | Self::Git { tree: path, .. }) = self else { return None };
        let below_home = path.strip_prefix("~").ok().zip(std::env::home_dir());
        Some(below_home.map_or_else(|| path.clone(), |(rest, home)| home.join(rest)))
    }

    /// Whether it can only name source, which must be built first.
    pub fn is_source(&self) -> bool {
        matches!(self, Self::Git { .. } | Self::DebSource(_))
    }
}

impl FromStr for Locator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            Some(("deb", name)) => package(name, "deb:VERSION-FLAVOUR or deb:latest-FLAVOUR").map(Self::Deb),
            Some(("deb-source", name)) => package(name, "deb-source:6.12").map(Self::DebSource),
            Some(("git", rest)) => git(text, rest),
            Some(("uml", "deb")) => Ok(Self::UmlDeb),
            Some(("uml", _)) => Err(Error::UmlLocator { locator: text.to_owned() }),
            Some(("built", identity)) => built(text, identity),
            _ if text.is_empty() => Err(Error::EmptyLocator),
            _ if text == "host" => Ok(Self::Host),
            _ => Ok(Self::Path(text.into())),
        }
    }
}

fn package(name: &str, form: &'static str) -> Result<String, Error> {
    let known = is_package_name(name).then(|| name.to_owned());
    known.ok_or_else(|| Error::PackageName { text: name.to_owned(), form })
}

/// The first `@` ends the path: revisions such as `HEAD@{1}` hold more of them.
fn git(text: &str, rest: &str) -> Result<Locator, Error> {
    let (tree, revision) = rest.split_once('@').unwrap_or((rest, "HEAD"));
    // What begins with a dash is an option to git, and with a caret it is all but a commit.
    let fits = !tree.is_empty() && !revision.is_empty() && !revision.starts_with(['-', '^']);
    let locator = fits.then(|| Locator::Git { tree: tree.into(), revision: revision.to_owned() });
    locator.ok_or_else(|| Error::GitLocator { locator: text.to_owned() })
}

fn built(text: &str, identity: &str) -> Result<Locator, Error> {
    const SHORTEST: usize = 6;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let fits = (SHORTEST..=64).contains(&identity.len()) && identity.bytes().all(is_digit);
    let locator = fits.then(|| Locator::Built(identity.to_owned()));
    locator.ok_or_else(|| Error::BuiltLocator { locator: text.to_owned() })
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deb(name) => write!(f, "deb:{name}"),
            Self::DebSource(name) => write!(f, "deb-source:{name}"),
            Self::Git { tree, revision } => write!(f, "git:{}@{revision}", tree.display()),
            Self::UmlDeb => f.write_str("uml:deb"),
            Self::Built(identity) => write!(f, "built:{identity}"),
            Self::Path(path) => path.display().fmt(f),
            Self::Host => f.write_str("host"),
        }
    }
}

/// Debian's rule for names, which also keeps options and patterns away from apt's command line.
pub fn is_package_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
    text.len() <= 128
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(fits)
        && !text.ends_with(['-', '+'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_kind_is_read_and_written_back() {
        for (text, wanted) in [
            ("deb:6.1.0-56-cloud-amd64", Locator::Deb("6.1.0-56-cloud-amd64".into())),
            ("deb:latest", Locator::Deb("latest".into())),
            ("deb-source:6.12", Locator::DebSource("6.12".into())),
            ("git:~/linux@v6.12", Locator::Git { tree: "~/linux".into(), revision: "v6.12".into() }),
            ("git:.@HEAD@{1}", Locator::Git { tree: ".".into(), revision: "HEAD@{1}".into() }),
            ("uml:deb", Locator::UmlDeb),
            ("built:0123ab", Locator::Built("0123ab".into())),
            ("host", Locator::Host),
            ("./bzImage", Locator::Path("./bzImage".into())),
            ("~/linux", Locator::Path("~/linux".into())),
            ("./git:x", Locator::Path("./git:x".into())),
        ] {
            let locator: Locator = text.parse().unwrap();
            assert_eq!(locator, wanted);
            assert_eq!(locator.to_string(), text);
        }
    }

    #[test]
    fn a_home_directory_is_filled_in() {
        let home = std::env::home_dir().unwrap();
        assert_eq!("~/linux".parse::<Locator>().unwrap().path(), Some(home.join("linux")));
        assert_eq!("a/~/b".parse::<Locator>().unwrap().path(), Some("a/~/b".into()));
        assert_eq!("git:~/linux".parse::<Locator>().unwrap().path(), Some(home.join("linux")));
        assert_eq!(Locator::Host.path(), None);
    }

    #[test]
    fn a_git_tree_without_a_revision_means_its_head() {
        assert_eq!("git:linux".parse::<Locator>().unwrap().to_string(), "git:linux@HEAD");
    }

    #[test]
    fn nothing_and_tricks_are_refused() {
        for text in [
            "",
            "deb:",
            "deb:-o=x",
            "deb:a b",
            "deb:../x",
            "deb:a*",
            "deb:x-",
            "deb:A",
            "deb:a_1",
            "deb-source:",
            "git:",
            "git:@x",
            "git:x@",
            "git:x@-n",
            "uml:x",
            "built:",
            "built:xyz",
            "built:01",
        ] {
            assert!(text.parse::<Locator>().unwrap_err().is_usage(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_is_written_back(text: String) {
            if let Ok(locator) = text.parse::<Locator>() {
                prop_assert_eq!(locator.to_string().parse::<Locator>().unwrap(), locator);
            }
        }

        #[test]
        fn package_names_are_harmless(name in "\\PC{0,12}") {
            if let Ok(Locator::Deb(name)) = format!("deb:{name}").parse() {
                prop_assert!(!name.contains(['/', ' ', '=', '*', '_', ':']) && !name.starts_with('-'));
            }
        }
    }
}
