//! The programs of Slurm.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::Task;
use host::task::{Failure, Finished};

use crate::error::{Error, plain};
use crate::queue::{FORMAT, Job, jobs};
use crate::resources::Resources;

/// How long a controller that is busy, or starts again, may take to answer.
const LIMIT: Duration = Duration::from_secs(2 * 60);

/// How long a file may take from a node, which may have to end another job first.
const FETCH_LIMIT: Duration = Duration::from_secs(30 * 60);

/// What a job asks for that only reads a file.
const SMALL: [&str; 4] = ["--ntasks=1", "--cpus-per-task=1", "--mem=64M", "--time=10"];

/// Lines of a complaint that are reported.
const LINES: usize = 2;

/// An array of jobs.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    pub(crate) name: &'a str,
    pub(crate) script: &'a Path,
    pub(crate) count: usize,
    pub(crate) resources: Resources,
}

/// What is asked of Slurm.
pub(crate) trait Slurm {
    /// Submits an array.
    fn submit(&self, array: &Array<'_>) -> Result<(), Error>;
    /// What became of the jobs of these submissions, as far as Slurm still knows.
    fn jobs(&self, names: &[&str]) -> Result<Vec<Job>, Error>;
    /// Copies a file of a node to this host.
    fn fetch(&self, node: &str, file: &Path, to: &Path) -> Result<(), Error>;
    /// Removes a file of a node.
    fn remove(&self, node: &str, file: &Path) -> Result<(), Error>;
}

/// Calls the programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client<'a> {
    pub(crate) interrupt: &'a AtomicBool,
}

impl Slurm for Client<'_> {
    /// The user's wish to stop has to wait, so that there is no doubt what was submitted.
    fn submit(&self, array: &Array<'_>) -> Result<(), Error> {
        let Array { name, script, count, resources } = array;
        let [cpus, memory, time] = &resources.options();
        let (name, last) = (format!("--job-name={name}"), format!("--array=0-{}", count.saturating_sub(1)));
        let script = script.to_string_lossy();
        let never = AtomicBool::new(false);
        let mut words = vec![&*name, &last, cpus, memory, time, "--nodes=1", "--ntasks=1", "--requeue"];
        // On a node that does not have the folder a job could not even begin with files for its output in it.
        words.extend(["--export=ALL", "--output=/dev/null", "--error=/dev/null", "--parsable", &script]);
        run("sbatch", &words, LIMIT, &never).map(drop)
    }

    fn jobs(&self, names: &[&str]) -> Result<Vec<Job>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let (names, format) = (format!("--name={}", names.join(",")), format!("--format={FORMAT}"));
        let words = ["--me", "--noheader", "--array", "--states=all", &*names, &format];
        Ok(jobs(&run("squeue", &words, LIMIT, self.interrupt)?.output))
    }

    fn fetch(&self, node: &str, file: &Path, to: &Path) -> Result<(), Error> {
        let (node, to, file) = (format!("--nodelist={node}"), to.to_string_lossy(), file.to_string_lossy());
        let copy = "to=$1; shift; exec srun --quiet --job-name=kiln-fetch \"$@\" > \"$to\"";
        let mut words = vec!["-c", copy, "sh", &*to, &node];
        words.extend(SMALL);
        words.extend(["cat", &*file]);
        let done = task("sh", &words, self.interrupt).limit(FETCH_LIMIT).run(&mut || {});
        succeeded("srun", done).map(drop)
    }

    fn remove(&self, node: &str, file: &Path) -> Result<(), Error> {
        let (node, file) = (format!("--nodelist={node}"), file.to_string_lossy());
        let mut words = vec!["--quiet", "--job-name=kiln-fetch", &*node];
        words.extend(SMALL);
        words.extend(["rm", &*file]);
        run("srun", &words, FETCH_LIMIT, self.interrupt).map(drop)
    }
}

fn run(
    program: &'static str,
    words: &[&str],
    limit: Duration,
    interrupt: &AtomicBool,
) -> Result<Finished, Error> {
    succeeded(program, task(program, words, interrupt).limit(limit).run(&mut || {}))
}

/// kiln may itself be in a job, in which srun would stay.
fn task<'a>(program: &str, words: &[&str], interrupt: &'a AtomicBool) -> Task<'a> {
    Task::new(program, words, interrupt).with(|command| {
        command.env_remove("SLURM_JOB_ID").env_remove("SLURM_JOBID");
    })
}

fn succeeded(program: &'static str, done: Result<Finished, Failure>) -> Result<Finished, Error> {
    let refused = |why| Err(Error::Slurm { program, why });
    match done {
        Ok(done) if done.success => Ok(done),
        Ok(done) => refused(complaint(&done.complaint)),
        Err(Failure::Interrupted { .. }) => Err(Error::Interrupted(Vec::new())),
        Err(Failure::Missing(_)) => {
            refused("is not installed: call kiln on a host that submits jobs to a cluster".to_owned())
        }
        Err(failure) => refused(failure.to_string()),
    }
}

/// The first lines of what a program complains, without its own name.
fn complaint(text: &str) -> String {
    let named = |line| plain(str::split_once(line, ": error: ").map_or(line, |(_, text)| text));
    let lines: Vec<String> = text.lines().map(named).filter(|line| !line.is_empty()).take(LINES).collect();
    if lines.is_empty() { "it gave no reason".to_owned() } else { lines.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_one_line() {
        let text = "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid\n\x07more\n";
        assert_eq!(complaint(text), "invalid partition specified: x; Batch job submission failed: Invalid");
        assert_eq!(complaint(" \n"), "it gave no reason");
        assert_eq!(complaint("a\x1b[2J\n"), "a[2J");
    }
}
