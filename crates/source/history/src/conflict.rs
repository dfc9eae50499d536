//! Why a patch does not fit: the hunk that fails, and the commit that removed what it expects.

/// Longest line that is shown, in characters.
const SHOWN: usize = 60;

/// Digits of a commit that are shown.
const DIGITS: usize = 12;

/// What stands against a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The head of the hunk that fails: `@@ -118,7 +118,8 @@ function`.
    pub hunk: String,
    /// A line that the hunk expects and the file does not have.
    pub missing: String,
    /// The hash and the subject of the commit that removed it, if one did: of the tree, or of the series.
    pub removed_by: Option<(String, String)>,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.missing.trim().chars().take(SHOWN).collect();
        write!(f, "the hunk `{}` expects `{shown}`, which ", self.hunk)?;
        match &self.removed_by {
            Some((commit, subject)) => {
                write!(f, "{} (\"{subject}\") removed", commit.get(..DIGITS).unwrap_or(commit))
            }
            None => f.write_str("was never in this file"),
        }
    }
}
