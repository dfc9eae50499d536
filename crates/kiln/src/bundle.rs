//! `kiln bundle`: a Run as one file that reproduces it elsewhere.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use lab::bundle::{self, File, Parts};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::NamedTempFile;

use crate::cli::Bundle;
use crate::listeners::print;
use crate::recall::{Alone, Recalled, recall};
use crate::terminal::Progress;

/// Permissions of an archive, as of any file that a user makes.
const PERMISSIONS: u32 = 0o666;

/// Writes the archive and gives the exit code.
pub(crate) fn bundle(said: &Bundle) -> Result<u8> {
    let output = std::path::absolute(&said.output).context("--output")?;
    let recalled = recall(&said.kept)?;
    let mut progress = Progress::new();
    let size = pack(&recalled, &output, &mut |text| progress.show(text))?.div_ceil(1 << 20);
    drop(progress);
    print(&format!("{} ({size} MiB): unpack it and call sh run.sh\n", output.display()))?;
    Ok(0)
}

/// Writes the archive to an absolute path and gives its size in bytes.
pub(crate) fn pack(recalled: &Recalled, output: &Path, told: &mut dyn FnMut(&str)) -> Result<u64> {
    told("collecting");
    let files = files(recalled)?;
    told("packing");
    let archive = archive(&files, &folder(output)).context("packing")?;
    let is_plain = output.extension() == Some(OsStr::new("tar"));
    let bytes = match is_plain {
        true => archive,
        false => compress_to_vec(archive.as_slice(), CompressionLevel::Fastest),
    };
    write(output, &bytes).with_context(|| output.display().to_string())?;
    Ok(bytes.len() as u64)
}

fn files(recalled: &Recalled) -> Result<Vec<File>> {
    let Alone { kernel, spec, item, session } = recalled.prepare()?;
    let parts = Parts {
        run: recalled.before(),
        session: &session,
        kernel: &kernel,
        spec: &spec,
        item: &item,
        is_users: recalled.is_users(),
    };
    Ok(bundle::files(parts, evidence(recalled)?)?)
}

fn evidence(recalled: &Recalled) -> Result<Vec<File>> {
    let kept = recalled.wanted.past.evidence(&recalled.before().case).into_iter();
    let read = |(name, path): (&str, std::path::PathBuf)| {
        let content = std::fs::read(&path).with_context(|| path.display().to_string())?;
        Ok(File::new(name, content))
    };
    kept.map(read).collect()
}

/// The folder that the archive unpacks to: its own name.
fn folder(output: &Path) -> String {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let name = name.strip_suffix(".tar").unwrap_or(name).trim_start_matches(['.', '-']);
    if name.is_empty() { "bundle".to_string() } else { name.to_string() }
}

fn archive(files: &[File], folder: &str) -> io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    let time = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.content.len() as u64);
        header.set_mode(if file.is_program { 0o755 } else { 0o644 });
        header.set_mtime(time);
        builder.append_data(&mut header, Path::new(folder).join(&file.name), file.content.as_slice())?;
    }
    builder.into_inner()
}

/// Writes the file as a whole or not at all.
fn write(output: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let directory = output.parent().unwrap_or(Path::new("/"));
    // The umask of the user is heeded when the file is made.
    let permissions = std::fs::Permissions::from_mode(PERMISSIONS);
    let mut part: NamedTempFile =
        tempfile::Builder::new().prefix(".kiln-bundle-").permissions(permissions).tempfile_in(directory)?;
    part.write_all(bytes)?;
    part.persist(output)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_unpacks_to_a_folder_of_its_name() {
        for (output, expected) in [("/x/bug.tar.zst", "bug"), ("a.b.tar", "a.b"), ("/.tar", "bundle")] {
            assert_eq!(folder(Path::new(output)), expected);
        }
    }

    #[test]
    fn an_archive_that_cannot_be_written_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let output = directory.path().join("x.tar");
        std::fs::create_dir(&output).expect("in the way");
        assert!(write(&output, b"x").is_err());
        assert_eq!(std::fs::read_dir(&directory).expect("readable").count(), 1);
    }
}
