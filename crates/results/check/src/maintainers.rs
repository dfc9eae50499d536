//! Which selftests belong to the files that patches touch, by MAINTAINERS: <https://docs.kernel.org/process/maintainers.html>.
//!
//! A section names the files of a subsystem, and its selftests among them.

use std::collections::BTreeSet;

use globset::GlobBuilder;

/// The folder of all selftests.
pub(crate) const SELFTESTS: &str = "tools/testing/selftests/";

/// The file of a group.
const MAKEFILE: &str = "/Makefile";

/// The groups that the sections of these files name, and those of which a file is one. `selftests` are the files of all groups.
pub(crate) fn groups(maintainers: &str, files: &[String], selftests: &[String]) -> BTreeSet<String> {
    // A stranger's patches may bring names that a shell would obey.
    let is_plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "/_-.".contains(c));
    let makefile = |file: &'_ String| {
        let group = file.strip_prefix(SELFTESTS)?.strip_suffix(MAKEFILE)?;
        Some(group).filter(is_plain).map(str::to_owned)
    };
    let all: BTreeSet<String> = selftests.iter().filter_map(makefile).collect();
    let sections = sections(maintainers);
    let of_files = sections.iter().filter(|section| files.iter().any(|file| section.has(file)));
    let named = of_files.flat_map(|section| section.files.iter().copied());
    let own = files.iter().map(String::as_str);
    named.chain(own).filter_map(|path| group(path, &all)).collect()
}

/// The group of a path: the innermost folder around it that is one.
fn group(path: &str, all: &BTreeSet<String>) -> Option<String> {
    let folders = path.strip_prefix(SELFTESTS)?.trim_end_matches('/');
    let ends = folders.rmatch_indices('/').map(|(at, _)| at);
    let mut around = std::iter::once(folders.len()).chain(ends).map(|end| &folders[..end]);
    around.find(|folder| all.contains(*folder)).map(str::to_owned)
}

/// The files of a subsystem, as patterns.
#[derive(Debug, Default)]
struct Section<'m> {
    files: Vec<&'m str>,
    excluded: Vec<&'m str>,
}

impl Section<'_> {
    fn has(&self, file: &str) -> bool {
        let is_in = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, file));
        is_in(&self.files) && !is_in(&self.excluded)
    }
}

/// The sections that name selftests.
fn sections(maintainers: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section::default()];
    for line in maintainers.lines() {
        let Some(section) = sections.last_mut() else { break };
        match line.split_once(":\t") {
            Some(("F", pattern)) => section.files.push(pattern.trim()),
            Some(("X", pattern)) => section.excluded.push(pattern.trim()),
            Some((letter, _)) if letter.len() == 1 => {}
            _ if section.files.is_empty() => {}
            _ => sections.push(Section::default()),
        }
    }
    sections.retain(|section| section.files.iter().any(|file| file.starts_with(SELFTESTS)));
    sections
}

/// Whether a pattern is that of a file: a folder has all that is below it, and `*` no slash.
fn matches(pattern: &str, file: &str) -> bool {
    let plain = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let Some(rest) = file.strip_prefix(&pattern[..plain]) else { return false };
    if plain == pattern.len() {
        return rest.is_empty() || pattern.ends_with('/') || rest.starts_with('/');
    }
    let (pattern, below) = match pattern.strip_suffix('/') {
        Some(folder) => (folder, "/**"),
        None => (pattern, ""),
    };
    let glob = GlobBuilder::new(&format!("{pattern}{below}")).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAINTAINERS: &str = "\
List of maintainers
	F:	*Files* and directories wildcard patterns.

EPOLL
M:	A <a@x.org>
F:	fs/eventpoll.c
F:	include/*/eventpoll.h
F:	tools/testing/selftests/filesystems/epoll/

MEMORY MANAGEMENT
F:	mm/
F:	drivers/*/mm/
X:	mm/nommu*
F:	tools/testing/selftests/mm/

NETWORKING
F:	net
F:	tools/testing/selftests/net/tcp_ao/lib/

THE REST
F:	*
F:	*/
";

    fn groups_of(files: &[&str]) -> Vec<String> {
        let makefiles = ["filesystems", "filesystems/epoll", "mm", "net", "net/tcp_ao", "rest", "$(x)"];
        let makefiles: Vec<String> =
            makefiles.map(|group| format!("{SELFTESTS}{group}/Makefile")).into_iter().collect();
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        groups(MAINTAINERS, &files, &makefiles).into_iter().collect()
    }

    #[test]
    fn a_section_names_its_selftests() {
        assert_eq!(groups_of(&["fs/eventpoll.c"]), ["filesystems/epoll"]);
        assert_eq!(groups_of(&["include/linux/eventpoll.h"]), ["filesystems/epoll"]);
        assert_eq!(groups_of(&["mm/deep/below.c", "net/ipv4/tcp.c"]), ["mm", "net/tcp_ao"]);
        assert_eq!(groups_of(&["drivers/gpu/mm/a/b.c"]), ["mm"]);
    }

    #[test]
    fn a_selftest_belongs_to_its_own_group() {
        assert_eq!(groups_of(&["tools/testing/selftests/net/config"]), ["net"]);
        assert_eq!(groups_of(&["tools/testing/selftests/none/a.c"]), [""; 0]);
        assert_eq!(groups_of(&["tools/testing/selftests/$(x)/a.c"]), [""; 0]);
    }

    #[test]
    fn other_files_have_none() {
        assert_eq!(
            groups_of(&["mm/nommu.c", "fs/eventpoll.c.orig", "include/a/b/eventpoll.h", "network.c"]),
            [""; 0]
        );
        assert_eq!(groups("", &["a".to_owned()], &[]), BTreeSet::new());
        assert_eq!(
            groups("F:\t[\nF:\ttools/testing/selftests/x/\n", &["[".to_owned()], &[]),
            BTreeSet::new()
        );
    }
}
