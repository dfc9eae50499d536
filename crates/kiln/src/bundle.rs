//! `kiln bundle`: a Run as one file that reproduces it elsewhere.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result};
use lab::Request;
use lab::bundle::{self, File, FileKind};
use lab::request::{BundleRequest, ExperimentRequest, Version};
use ledger::Recalled;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::cli::Bundle;
use crate::exp::run::prepared_again;
use crate::listeners::print;
use crate::replay::{alone, recalled};
use crate::signals;
use crate::terminal::Progress;

/// Writes the archive and gives the exit code.
pub(crate) fn bundle(args: &Bundle) -> Result<u8> {
    let request = args.request()?;
    let recalled = recalled(&request.kept)?;
    let mut progress = Progress::new();
    let size = pack(&recalled, &request.output, &mut |text| progress.show(text))?.div_ceil(1 << 20);
    drop(progress);
    if let Some(note) = recalled.again.copy_note() {
        print(&format!("note: {note}\n"))?;
    }
    let call = match &recalled.request {
        Request::Experiment(_) => format!("kiln replay {}", report::safe(&folder(&request.output))),
        _ => "sh run.sh".to_string(),
    };
    print(&format!("{} ({size} MiB): unpack it and call {call}\n", request.output.display()))?;
    Ok(0)
}

impl Bundle {
    /// What is asked; the archive does not move with the folder where a session began.
    fn request(&self) -> Result<BundleRequest> {
        let output = std::path::absolute(&self.output).context("--output")?;
        Ok(BundleRequest { version: Version, kept: self.kept.request(), output })
    }
}

/// Writes the archive to an absolute path and gives its size in bytes.
pub(crate) fn pack(recalled: &Recalled, output: &Path, progress: &mut dyn FnMut(&str)) -> Result<u64> {
    progress("collecting");
    let files = match &recalled.request {
        Request::Experiment(request) => of_experiment(recalled, request)?,
        _ => alone(recalled)?.bundle(recalled.evidence()?)?,
    };
    progress("packing");
    let archive = archive(&files, &folder(output)).context("packing")?;
    let is_plain = output.extension() == Some(OsStr::new("tar"));
    let bytes = match is_plain {
        true => archive,
        false => compress_to_vec(archive.as_slice(), CompressionLevel::Fastest),
    };
    host::write_atomically(output, &bytes).with_context(|| output.display().to_string())?;
    Ok(bytes.len() as u64)
}

/// The folder of its session, complete.
fn of_experiment(recalled: &Recalled, request: &ExperimentRequest) -> Result<Vec<File>> {
    let _hold = recalled.hold()?;
    let interrupt = signals::interrupt_flag().context("signals")?;
    let (experiment, _) = prepared_again(request, &recalled.again, &interrupt)?;
    let (name, kernels): (String, Vec<_>) = (experiment.name(), experiment.kernels().collect());
    let parts = bundle::experiment::Parts {
        run: &recalled.run,
        session: recalled.again.session(),
        folder: recalled.folder(),
        request,
        name: &name,
        experiment: experiment.folder(),
        kernels: &kernels,
    };
    let (mut files, session) = bundle::experiment::files(parts)?;
    files.push(recalled.document(&session)?);
    Ok(files)
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
        let (path, mut header) = (Path::new(folder).join(&file.name), tar::Header::new_gnu());
        header.set_mtime(time);
        header.set_mode(if file.kind == FileKind::Program { 0o755 } else { 0o644 });
        if file.kind == FileKind::Link {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            builder.append_link(&mut header, path, OsStr::from_bytes(&file.content))?;
        } else {
            header.set_size(file.content.len() as u64);
            builder.append_data(&mut header, path, file.content.as_slice())?;
        }
    }
    builder.into_inner()
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
}
