//! The text by which a user names a root.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kernel::is_package_name;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What a user typed to name a root, checked for its form only. Paths begin with `~/` where they were typed so.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RootLocator {
    /// This host's own files.
    Host {
        /// Directories that programs write to, as they were typed.
        writable: Vec<PathBuf>,
    },
    /// A Debian with these packages besides the essential ones; the host's release where no suite is named.
    Debian {
        /// Such as `trixie`.
        suite: Option<String>,
        /// As they were typed, without repetitions.
        packages: Vec<String>,
    },
    /// A directory, or an image of a file system.
    Path(PathBuf),
}

/// Packages of one root.
const PACKAGES_MAX: usize = 1000;

/// Directories of one root that programs write to: each is a device of the machine.
const DIRECTORIES_MAX: usize = 8;

/// A path as it was typed, with a leading `~/` replaced by the home directory.
pub(crate) fn below_home(typed: &Path) -> PathBuf {
    let rest = typed.strip_prefix("~").ok().zip(std::env::home_dir());
    rest.map_or_else(|| typed.to_owned(), |(rest, home)| home.join(rest))
}

impl FromStr for RootLocator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (kind, list) = text.split_once(':').unwrap_or((text, ""));
        match kind.split_once('/').unwrap_or((kind, "")) {
            _ if text.is_empty() => Err(Error::EmptyLocator),
            ("host", "") => host(text, list),
            ("debian", suite) => debian(text, kind.contains('/').then_some(suite), list),
            _ => Ok(Self::Path(text.into())),
        }
    }
}

impl TryFrom<String> for RootLocator {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<RootLocator> for String {
    fn from(locator: RootLocator) -> Self {
        locator.to_string()
    }
}

fn host(text: &str, list: &str) -> Result<RootLocator, Error> {
    let mut writable: Vec<PathBuf> = Vec::new();
    for directory in list.split(',').filter(|_| !list.is_empty()).map(PathBuf::from) {
        if directory.as_os_str().is_empty() || writable.len() >= DIRECTORIES_MAX {
            return Err(Error::HostLocator { locator: text.to_owned() });
        }
        if !writable.contains(&directory) {
            writable.push(directory);
        }
    }
    Ok(RootLocator::Host { writable })
}

fn debian(text: &str, suite: Option<&str>, list: &str) -> Result<RootLocator, Error> {
    let wrong = |part: &str| Error::DebianLocator { locator: text.to_owned(), part: part.to_owned() };
    // Names of suites follow the rule of packages, and stand on the same command line.
    if let Some(suite) = suite.filter(|suite| !is_package_name(suite)) {
        return Err(wrong(suite));
    }
    let mut packages: Vec<String> = Vec::new();
    for name in list.split(',').filter(|_| !list.is_empty()) {
        if !is_package_name(name) || packages.len() >= PACKAGES_MAX {
            return Err(wrong(name));
        }
        if !packages.iter().any(|known| known == name) {
            packages.push(name.to_owned());
        }
    }
    Ok(RootLocator::Debian { suite: suite.map(str::to_owned), packages })
}

impl fmt::Display for RootLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Debian { suite, packages } => {
                f.write_str("debian")?;
                suite.iter().try_for_each(|suite| write!(f, "/{suite}"))?;
                if packages.is_empty() { Ok(()) } else { write!(f, ":{}", packages.join(",")) }
            }
            Self::Host { writable } => {
                f.write_str("host")?;
                let mut separators = [":"].into_iter().chain(std::iter::repeat(","));
                writable
                    .iter()
                    .zip(&mut separators)
                    .try_for_each(|(path, separator)| write!(f, "{separator}{}", path.display()))
            }
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn debian(suite: Option<&str>, packages: &[&str]) -> RootLocator {
        let packages = packages.iter().map(|&name| name.to_owned()).collect();
        RootLocator::Debian { suite: suite.map(str::to_owned), packages }
    }

    #[test]
    fn each_kind_is_read_and_written_back() {
        for (text, wanted) in [
            ("debian", debian(None, &[])),
            ("debian:fio,iproute2,libstdc++6", debian(None, &["fio", "iproute2", "libstdc++6"])),
            ("debian/trixie:fio", debian(Some("trixie"), &["fio"])),
            ("debian/bookworm-backports", debian(Some("bookworm-backports"), &[])),
            ("./debian", RootLocator::Path("./debian".into())),
            ("host", RootLocator::Host { writable: vec![] }),
            ("host:~/a,../b", RootLocator::Host { writable: vec!["~/a".into(), "../b".into()] }),
            ("./host", RootLocator::Path("./host".into())),
            ("~/rootfs.img", RootLocator::Path("~/rootfs.img".into())),
            ("/srv/a:b", RootLocator::Path("/srv/a:b".into())),
        ] {
            let locator: RootLocator = text.parse().unwrap();
            assert_eq!(locator, wanted, "{text}");
            assert_eq!(locator.to_string(), text);
        }
        assert_eq!("debian:".parse::<RootLocator>().unwrap().to_string(), "debian");
        assert_eq!("debian:a1,b1,a1".parse::<RootLocator>().unwrap().to_string(), "debian:a1,b1");
    }

    #[test]
    fn what_is_no_list_of_packages_is_refused() {
        for text in [
            "",
            "debian:-o",
            "debian:a,,b",
            "debian:a b",
            "debian/:x",
            "debian/-x:y",
            "debian:a;b",
            "debian/a/b:c",
            "host:a,",
            "host:,",
            "host:1,2,3,4,5,6,7,8,9",
        ] {
            assert!(text.parse::<RootLocator>().unwrap_err().is_usage(), "{text}");
        }
        let error = "debian:fio,Perf".parse::<RootLocator>().unwrap_err().to_string();
        assert!(error.contains("Perf"), "{error}");
    }

    proptest! {
        #[test]
        fn whatever_is_taken_is_written_back(text in "((debian|host)[/:])?\\PC{0,20}") {
            if let Ok(locator) = text.parse::<RootLocator>() {
                prop_assert_eq!(locator.to_string().parse::<RootLocator>().unwrap(), locator);
            }
        }
    }
}
