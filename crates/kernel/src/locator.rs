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
    /// An image, a built tree or an unpacked package; a leading `~/` is kept as typed, see [`Locator::path`].
    Path(PathBuf),
    /// The kernel that runs here.
    Host,
}

impl Locator {
    /// The path that was named, if one was, with a leading `~/` replaced by the home directory.
    pub fn path(&self) -> Option<PathBuf> {
        let Self::Path(path) = self else { return None };
        let below_home = path.strip_prefix("~").ok().zip(std::env::home_dir());
        Some(below_home.map_or_else(|| path.clone(), |(rest, home)| home.join(rest)))
    }
}

impl FromStr for Locator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        const RESERVED: [&str; 3] = ["git", "deb-source", "uml"];
        if let Some(name) = text.strip_prefix("deb:") {
            let known = is_package_name(name).then(|| Self::Deb(name.to_owned()));
            return known.ok_or_else(|| Error::PackageName { text: name.to_owned() });
        }
        let scheme = text.split_once(':').and_then(|(scheme, _)| RESERVED.into_iter().find(|r| *r == scheme));
        match (scheme, text) {
            (Some(scheme), _) => Err(Error::Reserved { locator: text.to_owned(), scheme }),
            (None, "") => Err(Error::EmptyLocator),
            (None, "host") => Ok(Self::Host),
            (None, path) => Ok(Self::Path(path.into())),
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deb(name) => write!(f, "deb:{name}"),
            Self::Path(path) => path.display().fmt(f),
            Self::Host => f.write_str("host"),
        }
    }
}

/// Debian's rule for names, which also keeps options and patterns away from apt's command line.
pub(crate) fn is_package_name(text: &str) -> bool {
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
        assert_eq!(Locator::Host.path(), None);
    }

    #[test]
    fn what_is_reserved_says_so() {
        for text in ["git:~/linux@v6.12", "deb-source:linux", "uml:./linux"] {
            let error = text.parse::<Locator>().unwrap_err();
            assert!(error.to_string().contains("not available in this version"), "{error}");
            assert!(error.is_usage());
        }
    }

    #[test]
    fn nothing_and_tricks_are_refused() {
        for text in ["", "deb:", "deb:-o=x", "deb:a b", "deb:../x", "deb:a*", "deb:x-", "deb:A", "deb:a_1"] {
            assert!(text.parse::<Locator>().unwrap_err().is_usage(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_is_written_back(text: String) {
            if let Ok(locator) = text.parse::<Locator>() {
                prop_assert_eq!(locator.to_string(), text);
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
