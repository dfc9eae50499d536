//! What the jobs of an array run: a script of a shell, followed by a request for each of them, which no shell reads.
//!
//! Slurm takes the script to the node, so that nothing else has to be shared for a job to begin.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use lab::RunRequest;
use lab::request::Version;
use serde::{Deserialize, Serialize};

use crate::answer::Refusal;
use crate::error::Error;

/// Largest script, in bytes: Slurm takes no larger one unless it is told to (`max_script_size` of slurm.conf(5)).
const SCRIPT_MAX: u64 = 4 << 20;

/// How a line begins that is a request.
const REQUEST: u8 = b'{';

/// What a job is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobRequest {
    /// Its version.
    pub(crate) version: Version<1>,
    /// The folder of its submission.
    pub(crate) folder: PathBuf,
    /// What it runs.
    pub(crate) run: RunRequest,
}

/// The script for some requests, which the program `kiln` carries out.
pub(crate) fn script(kiln: &Path, requests: &[JobRequest]) -> io::Result<String> {
    let quoted = |text: &str| shlex::try_quote(text).map(String::from).map_err(io::Error::other);
    let refused = format!("{} is not there: kiln must be installed at the same path", kiln.display());
    let refusal = serde_json::to_string(&Refusal { refused })?;
    let folder = requests.first().map(|request| request.folder.to_string_lossy()).unwrap_or_default();
    let mut script = format!(
        r#"#!/bin/sh
# Sessions of kiln. Below the last line for the shell there is a request for each job of the array.
kiln={kiln}
folder={folder}
job="$folder/$SLURM_ARRAY_TASK_ID"
mkdir -p "$folder" || exit
[ -x "$kiln" ] || {{ echo {refusal} > "$job.part"; mv "$job.part" "$job.jsonl"; exit; }}
exec "$kiln" slurm-job "$0" > "$job.log" 2>&1
"#,
        kiln = quoted(&kiln.to_string_lossy())?,
        folder = quoted(&folder)?,
        refusal = quoted(&refusal)?,
    );
    for request in requests {
        script += &serde_json::to_string(request)?;
        script.push('\n');
    }
    if script.len() as u64 > SCRIPT_MAX {
        let text = format!("the requests take more than {} MiB: ask for fewer kernels", SCRIPT_MAX >> 20);
        return Err(io::Error::other(text));
    }
    Ok(script)
}

/// The request of the job that has this place in the array.
pub(crate) fn request(path: &Path, index: usize) -> Result<JobRequest, Error> {
    let wrong = |why: String| Error::Script { path: path.to_owned(), why };
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let lines = BufReader::new(file.take(SCRIPT_MAX)).split(b'\n').map_while(Result::ok);
    let line = lines.filter(|line| line.first() == Some(&REQUEST)).nth(index);
    let line = line.ok_or_else(|| wrong(format!("has no request {index}")))?;
    serde_json::from_slice(&line).map_err(|error| wrong(format!("is not from this kiln: {error}")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use lab::request::{KernelRequest, Selection};

    use super::*;

    fn requests(folder: &Path, count: usize) -> Vec<JobRequest> {
        let kernels =
            (0..count).map(|number| format!("deb:6.1.0-{number}-amd64").parse().expect("a locator"));
        let run =
            |kernel| RunRequest::new(KernelRequest::named(kernel), Selection::whole("it's a \"suite\""));
        let of = |run| JobRequest { version: Version, folder: folder.to_owned(), run };
        kernels.map(run).map(of).collect()
    }

    #[test]
    fn a_job_finds_its_request() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("script");
        let asked = requests(folder.path(), 3);
        std::fs::write(&path, script(Path::new("/opt/kiln"), &asked).expect("a script")).expect("written");
        assert_eq!(request(&path, 2).expect("it has three"), asked[2]);
        let error = request(&path, 3).expect_err("it has three").to_string();
        assert!(error.ends_with("script: has no request 3"), "{error}");
        std::fs::write(&path, "{\"version\": 2}\n").expect("written");
        let error = request(&path, 0).expect_err("it is of the future").to_string();
        assert!(error.contains("is not from this kiln: the request is of version 2"), "{error}");
    }

    #[test]
    fn the_shell_calls_kiln_or_says_that_it_is_not_there() {
        let root = tempfile::tempdir().expect("a directory");
        let (folder, path) = (root.path().join("it's here"), root.path().join("script"));
        let run = |kiln: &Path| {
            let text = script(kiln, &requests(&folder, 8)).expect("a script");
            std::fs::write(&path, text).expect("written");
            let done = Command::new("sh").arg(&path).env("SLURM_ARRAY_TASK_ID", "7").status();
            assert!(done.expect("there is a shell").success());
        };
        run(Path::new("/bin/echo"));
        let log = std::fs::read_to_string(folder.join("7.log")).expect("written");
        assert_eq!(log, format!("slurm-job {}\n", path.display()));
        run(Path::new("/no such/kiln"));
        let answer = std::fs::read_to_string(folder.join("7.jsonl")).expect("written");
        let expected =
            "{\"refused\":\"/no such/kiln is not there: kiln must be installed at the same path\"}\n";
        assert_eq!(answer, expected);
    }

    #[test]
    fn what_slurm_does_not_take_is_refused() {
        let many = requests(Path::new("/x"), 10_000);
        let error = script(Path::new("/opt/kiln"), &many).expect_err("it is too long").to_string();
        assert_eq!(error, "the requests take more than 4 MiB: ask for fewer kernels");
    }
}
