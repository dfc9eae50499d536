//! Files with reports that the user names.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::failure::WrongUsage;

/// Checks where reports go, before anything is fetched or built.
pub(crate) fn check<const N: usize>(files: [(&str, &Option<PathBuf>); N]) -> Result<()> {
    let wrong = files.iter().find_map(|(option, path)| {
        let path: &PathBuf = path.as_ref().filter(|path| !can_be_written(path))?;
        Some(format!("{option} {}: name a file that can be written", path.display()))
    });
    wrong.map_or(Ok(()), |text| Err(WrongUsage(text).into()))
}

fn can_be_written(path: &Path) -> bool {
    // The parent of a bare name is "".
    let folder = path.parent().map(|folder| Path::new(".").join(folder));
    path.as_os_str() != "-" && !path.is_dir() && folder.is_some_and(|folder| folder.is_dir())
}

/// Writes a report.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let shown = || path.display().to_string();
    let mut file = BufWriter::new(File::create(path).with_context(shown)?);
    content(&mut file).and_then(|()| file.flush()).with_context(shown)
}
