//! Where packages come from: the archive and the release that this host's apt uses.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use host::Task;

use crate::error::Error;

/// A suite and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sources {
    /// Such as `bookworm`.
    pub(super) suite: String,
    /// Lines of sources.list(5).
    pub(super) lines: Vec<String>,
}

/// Origins whose packages make a whole system; what a user has added to them stays out.
const ORIGINS: [&str; 2] = ["Debian", "Ubuntu"];

/// One list that apt has fetched, as `apt-get indextargets` prints it with [`FORMAT`].
#[derive(Debug, Clone, Copy)]
struct Index<'a> {
    codename: &'a str,
    release: &'a str,
    component: &'a str,
    uri: &'a str,
}

const FORMAT: &str = "$(ORIGIN)|$(CODENAME)|$(RELEASE)|$(COMPONENT)|$(REPO_URI)";

/// The sources of this suite, or of the host's own release.
pub(super) fn sources(suite: Option<&str>, interrupt: &AtomicBool) -> Result<Sources, Error> {
    let arguments = ["indextargets", "--format", FORMAT, "Created-By: Packages"];
    let done = Task::new("apt-get", &arguments, interrupt).within(Path::new("/")).run(&mut || {})?;
    if !done.success {
        let reason = done.complaint.lines().next().unwrap_or_default().to_owned();
        return Err(Error::Command { action: "apt-get indextargets".to_owned(), reason });
    }
    of_host(&done.output, suite).ok_or(kernel::Error::EmptyLists { locator: "debian".to_owned() }.into())
}

/// Options of mmdebstrap for the proxies of the host's apt.
pub(super) fn proxies(interrupt: &AtomicBool) -> Result<Vec<String>, Error> {
    let done = Task::new("apt-config", &["dump"], interrupt).within(Path::new("/")).run(&mut || {})?;
    Ok(done.output.lines().filter(|line| is_proxy(line)).map(|line| format!("--aptopt={line}")).collect())
}

/// Whether a line of `apt-config dump` names a proxy: `Acquire::http::Proxy "http://cache:3142";`.
fn is_proxy(line: &str) -> bool {
    let name = line.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    name.starts_with("acquire::") && name.ends_with("::proxy")
}

fn of_host(output: &str, suite: Option<&str>) -> Option<Sources> {
    let indexes: Vec<Index<'_>> = output.lines().filter_map(Index::parse).collect();
    // Of several releases, such as stable and a pinned testing, the first is the host's.
    let own =
        *indexes.iter().find(|index| index.codename == index.release && !index.release.contains('-'))?;
    let suite = suite.unwrap_or(own.release);
    let is_hosts = suite == own.release;
    // The host's own has its updates too, such as bookworm-security, which are in an archive of their own.
    let belongs = |index: &&Index<'_>| match is_hosts {
        true => index.release.split('-').next() == Some(suite),
        false => index.uri == own.uri && index.release == own.release,
    };
    let line = |index: &Index<'_>| {
        let release = if is_hosts { index.release } else { suite };
        format!("deb {} {release} {}", index.uri, index.component)
    };
    let mut lines: Vec<String> = indexes.iter().filter(belongs).map(line).collect();
    lines.dedup();
    Some(Sources { suite: suite.to_owned(), lines })
}

impl<'a> Index<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let fields: Vec<&str> = line.split('|').collect();
        let [origin, codename, release, component, uri] = fields[..] else { return None };
        ORIGINS.contains(&origin).then_some(Self { codename, release, component, uri })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOKWORM: &str = "\
Debian|bookworm|bookworm|main|http://deb.debian.org/debian/
Debian|bookworm|bookworm|contrib|http://deb.debian.org/debian/
Debian|bookworm-updates|bookworm-updates|main|http://deb.debian.org/debian/
Debian|bookworm-security|bookworm-security|main|http://deb.debian.org/debian-security/
Docker|bookworm|bookworm|stable|https://download.docker.com/linux/debian/
";

    #[test]
    fn the_archive_is_the_hosts_without_what_others_add() {
        let found = of_host(BOOKWORM, None).unwrap();
        assert_eq!(found.suite, "bookworm");
        assert_eq!(
            found.lines,
            [
                "deb http://deb.debian.org/debian/ bookworm main",
                "deb http://deb.debian.org/debian/ bookworm contrib",
                "deb http://deb.debian.org/debian/ bookworm-updates main",
                "deb http://deb.debian.org/debian-security/ bookworm-security main",
            ]
        );
        assert_eq!(of_host(BOOKWORM, Some("bookworm")).unwrap(), found);
    }

    #[test]
    fn another_suite_is_looked_for_in_the_same_archive() {
        let found = of_host(BOOKWORM, Some("trixie")).unwrap();
        assert_eq!(found.suite, "trixie");
        assert_eq!(
            found.lines,
            [
                "deb http://deb.debian.org/debian/ trixie main",
                "deb http://deb.debian.org/debian/ trixie contrib"
            ]
        );
    }

    #[test]
    fn without_lists_there_is_no_archive() {
        for output in ["", "Docker|bookworm|bookworm|stable|https://x/\n", "Debian|\n"] {
            assert_eq!(of_host(output, None), None);
        }
    }

    #[test]
    fn proxies_are_those_of_apt() {
        assert!(is_proxy(r#"Acquire::http::Proxy "http://cache:3142";"#));
        assert!(is_proxy(r#"acquire::https::proxy "DIRECT";"#));
        assert!(!is_proxy(r#"Acquire::http::Timeout "3";"#) && !is_proxy(r#"APT::Proxy "x";"#));
    }
}
