//! What a session runs, besides the Kernel: with another content, its verdicts say nothing about this one.

use std::path::Path;
use std::time::SystemTime;

use kernel::PartsHash;
use machine::Payload;
use machine::program::Program;
use root::Files;

use super::{Error, Prepared};
use crate::plan::Plan;
use crate::request::RunRequest;
use crate::suites::Suite;
use crate::user_program::place;

/// The user's program as it is brought into the machines.
#[derive(Debug, Clone, Copy)]
pub struct ProgramFile<'a> {
    /// Its name, without a folder.
    pub name: &'a str,
    /// Its bytes.
    pub content: &'a [u8],
}

/// A hash over the user's program with its libraries, the files of the suite, or for kiln's own cases the agent, which
/// they are part of; and over the root.
pub(super) fn hash(request: &RunRequest, suite: Option<&Suite>, plan: &Plan) -> Result<String, Error> {
    let program = request.cases.program().and_then(|program| user_program(&program.path, &plan.payload));
    let mut hash = PartsHash::default();
    match (program, suite) {
        (Some((_, program)), _) => {
            hash.part("program");
            hash.part(&program.content);
            for library in &program.libraries {
                hash.part(machine::program::read(library)?);
            }
        }
        (None, Some(Suite::External(suite))) => {
            hash.part("suite");
            hash.part(suite.identity()?);
        }
        (None, _) => {
            hash.part("agent");
            hash.part(machine::AGENT);
        }
    }
    if let Some(root) = &plan.root {
        hash.part("root");
        hash.part(&root.identity);
        if let Files::Host(_) = root.files {
            // Nobody knows what has changed there.
            hash.part(format!("{:?}", SystemTime::now()));
        }
    }
    Ok(hash.finish())
}

/// The program in the payload, with its name.
fn user_program<'a>(path: &'a Path, payload: &'a Payload) -> Option<(&'a str, &'a Program)> {
    let name = path.file_name()?.to_str()?;
    Some((name, payload.program_at(&place(name))?))
}

impl Prepared {
    /// The user's program, as it was when it was read.
    #[must_use]
    pub fn program(&self) -> Option<ProgramFile<'_>> {
        let path = &self.request.cases.program()?.path;
        let (name, program) = user_program(path, &self.plans.first()?.payload)?;
        Some(ProgramFile { name, content: &program.content })
    }
}
