//! From the two ends of a range to locators.

use kernel::Locator;

use crate::failure::WrongUsage;

/// What stands between two ends.
const DOTS: &str = "..";

/// What was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Range {
    /// Two packages.
    Packages(Locator, Locator),
    /// Two commits of a tree.
    Commits {
        /// The tree, as it was typed.
        tree: std::path::PathBuf,
        /// The first end.
        first: String,
        /// The last end.
        last: String,
    },
    /// One kernel.
    One(Locator),
}

impl Range {
    /// Reads `deb:FIRST..deb:LAST`, where the second `deb:` may be left away, `git:TREE@FIRST..LAST`, or a locator.
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        if let Some(names) = text.strip_prefix("deb:") {
            let Some((first, last)) = names.split_once(DOTS) else { return Ok(Self::One(text.parse()?)) };
            let package = |name: &str| format!("deb:{}", name.strip_prefix("deb:").unwrap_or(name)).parse();
            return Ok(Self::Packages(package(first)?, package(last)?));
        }
        // A path may have dots in it, and a range follows the revision.
        let ends = text.strip_prefix("git:").and_then(|rest| rest.split_once('@'));
        let ends = ends.and_then(|(_, revisions)| revisions.split_once(DOTS));
        let Some((first, last)) = ends else { return Self::one(text) };
        let head = text.len() - (first.len() + DOTS.len() + last.len());
        let Locator::Git { tree, revision: first } = format!("{}{first}", &text[..head]).parse()? else {
            return Self::one(text);
        };
        Ok(Self::Commits { last: last_of(&tree, last)?, tree, first })
    }

    fn one(text: &str) -> anyhow::Result<Self> {
        if let Some((first, last)) = text.split_once("..deb:").or_else(|| text.split_once("..git:")) {
            let text = match first {
                "" => format!("{text}: the first end is missing: write FIRST..LAST"),
                _ => format!("{first} and {last}: both ends must be packages, or commits of one tree"),
            };
            return Err(WrongUsage(text).into());
        }
        Ok(Self::One(text.parse()?))
    }
}

/// The last end: a revision, or a locator of the same tree.
fn last_of(tree: &std::path::Path, text: &str) -> anyhow::Result<String> {
    // Three dots ask for something else in git, and the third must not become a part of a name.
    if text.starts_with('.') || text.starts_with('-') || text.is_empty() {
        return Err(WrongUsage(format!("{text:?} is not a revision: write git:TREE@FIRST..LAST")).into());
    }
    if !text.starts_with("git:") && !text.starts_with("deb:") {
        return Ok(text.to_owned());
    }
    match text.parse()? {
        Locator::Git { tree: other, revision } if other == tree => Ok(revision),
        other => {
            let text = format!(
                "{} and {other} are in different trees: name two commits of one tree",
                tree.display()
            );
            Err(WrongUsage(text).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits(text: &str) -> (String, String, String) {
        match Range::read(text).unwrap() {
            Range::Commits { tree, first, last } => (tree.display().to_string(), first, last),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn packages_and_commits_are_told_from_kernels() {
        let packages =
            Range::Packages("deb:6.1.0-47-cloud".parse().unwrap(), "deb:6.1.0-56-cloud".parse().unwrap());
        assert_eq!(Range::read("deb:6.1.0-47-cloud..deb:6.1.0-56-cloud").unwrap(), packages);
        assert_eq!(Range::read("deb:6.1.0-47-cloud..6.1.0-56-cloud").unwrap(), packages);
        let expected = ("~/linux".to_string(), "v6.11".to_string(), "v6.12".to_string());
        assert_eq!(commits("git:~/linux@v6.11..v6.12"), expected);
        assert_eq!(commits("git:~/linux@v6.11..git:~/linux@v6.12"), expected);
        assert_eq!(commits("git:../linux@HEAD~2..HEAD").0, "../linux");
        for text in ["../linux", "git:../linux@HEAD", "deb:latest", "host"] {
            assert_eq!(Range::read(text).unwrap(), Range::One(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_missing_end_is_told_from_a_folder_above() {
        let missing = Range::read("..deb:latest-cloud").unwrap_err().to_string();
        assert_eq!(missing, "..deb:latest-cloud: the first end is missing: write FIRST..LAST");
        let above = Range::read("../linux").unwrap();
        assert_eq!(above, Range::One("../linux".parse().unwrap()));
    }

    #[test]
    fn ends_that_do_not_belong_together_are_reported() {
        for text in
            ["git:a@x..git:b@y", "git:a@x..deb:y", "./a..deb:y", "git:a@x..", "git:a@x...y", "deb:a..B c"]
        {
            assert!(Range::read(text).is_err(), "{text}");
        }
    }
}
