//! `kiln observe tasks`: those of a kernel, in a dump of its machine's memory.

use anyhow::Result;
use introspect::{Dump, Kernel, WrongDump, lines};

use crate::cli::Tasks;
use crate::failure::WrongUsage;
use crate::listeners::print;

/// Shows the tasks, and gives the exit code.
pub(super) fn tasks(args: &Tasks) -> Result<u8> {
    let wrong = |error: WrongDump| WrongUsage(format!("{}: {error}", args.dump.display()));
    let mut dump = Dump::open(&args.dump).map_err(wrong)?;
    let (tables, cpus) = (dump.tables, dump.cpus.clone());
    let found = Kernel::find(&mut dump, tables)
        .and_then(|mut kernel| kernel.tasks(&cpus))
        .map_err(|missing| WrongUsage(format!("{}: {missing}", args.dump.display())))?;
    if args.json {
        print(&report::json_line(&found)?)?;
        return Ok(0);
    }
    let lines = match args.all {
        true => found.iter().flat_map(|task| [task.lines(), vec![String::new()]].concat()).collect(),
        false => lines(&found),
    };
    let lines = lines.iter().map(|line| report::safe::safe(line) + "\n");
    print(&lines.collect::<String>())?;
    Ok(0)
}
