//! What can be said about a bisection.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use kernel::Locator;
use protocol::Need;

use super::{BuildOptions, Cluster, MachineOptions, OUTPUT, UserSpaceOptions};
use crate::units;

/// Where the help lists what is walked.
const AXIS: &str = "Search space";

/// Where the help lists what is asked of each kernel.
const QUESTION: &str = "Question";

/// Where the help lists how it is searched.
const SEARCH: &str = "Search";

/// `kiln bisect`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question").args(["case", "exec", "instrument", "exp", "metric", "boot", "builds", "log"]).required(true).multiple(true))]
#[command(group = ArgGroup::new("what").args(["range", "series"]).required(true))]
pub(crate) struct Bisect {
    /// The good end, two dots, and the bad end: deb:FIRST..deb:LAST for packages, git:TREE@FIRST..LAST for commits; or one
    /// kernel, with --params or --config-good
    #[arg(value_name = "FIRST..LAST")]
    pub(crate) range: Option<String>,
    /// Kernel parameters: 'good: quiet' 'bad: preempt=full nohz=off'
    #[arg(long, value_name = "PARAMETERS", num_args = 2, requires = "range", conflicts_with = "config_good", help_heading = AXIS)]
    pub(crate) params: Vec<String>,
    /// Options: configurations of the good end, as for --config of kiln build
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires_all = ["range", "config_bad"], help_heading = AXIS)]
    pub(crate) config_good: Vec<String>,
    /// Configurations of the bad end
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "config_good", help_heading = AXIS)]
    pub(crate) config_bad: Vec<String>,
    /// Patches: an mbox, a patch, or a folder of patches; or a message id of their series, or a link to it
    #[arg(long, value_name = "FILE|MESSAGE-ID", requires = "base", help_heading = AXIS)]
    pub(crate) series: Option<PathBuf>,
    /// The commit that the patches apply to: git:TREE@REVISION
    #[arg(long, value_name = "COMMIT", requires = "series", help_heading = AXIS)]
    pub(crate) base: Option<Locator>,
    /// Only commits that touch this path of the tree; may be given more than once
    #[arg(long, value_name = "PATH", requires = "range", help_heading = AXIS)]
    pub(crate) path: Vec<String>,
    /// Treat a merge as one change, without the commits that it merges
    #[arg(long, requires = "range", help_heading = AXIS)]
    pub(crate) first_parent: bool,
    /// The first end is bad and the last one good: search for the fix
    #[arg(long, help_heading = AXIS)]
    pub(crate) fixed: bool,

    /// Does this case accuse the kernel?
    #[arg(long, value_name = "CASE", conflicts_with_all = ["exec", "metric", "boot", "builds"], help_heading = QUESTION)]
    pub(crate) case: Option<String>,
    /// The suite of the case, as for kiln run
    #[arg(long, value_name = "SUITE", default_value = bisect::problem::ALL_CASES, requires = "case", conflicts_with_all = ["exec", "exp", "metric", "boot", "builds"], help_heading = QUESTION)]
    pub(crate) suite: String,
    /// Does this program of the host fail? Exit status 125 means "cannot be tested"; arguments come after --
    #[arg(long, value_name = "PATH", conflicts_with_all = ["metric", "boot", "builds"], help_heading = QUESTION)]
    pub(crate) exec: Option<PathBuf>,
    /// Arguments for the program
    #[arg(last = true, requires = "exec", conflicts_with_all = ["case", "exp", "metric", "boot", "builds"], value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// What the program needs, such as disk=512M,cpus=2,module=kvm,program=fio; may be given more than once
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "exec", conflicts_with_all = ["case", "exp", "metric", "boot", "builds"], help_heading = QUESTION)]
    pub(crate) need: Vec<Need<String>>,
    /// Does this instrument put the kernel at fault? Its command line, without kiln: 'latency --interval 100us p99 > 200us'
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["case", "exec", "exp", "metric", "boot", "builds"], help_heading = QUESTION)]
    pub(crate) instrument: Option<String>,
    /// Does this experiment fail? Its name, or its folder, as for kiln exp run
    #[arg(long, value_name = "NAME", conflicts_with_all = ["case", "exec", "boot", "builds", "log", "case_timeout", "root"], help_heading = QUESTION)]
    pub(crate) exp: Option<String>,
    /// With --exp: run the short form
    #[arg(long, requires = "exp", conflicts_with_all = ["case", "exec", "boot", "builds", "log"], help_heading = QUESTION)]
    pub(crate) short: bool,
    /// Is this operation of kiln measure closer to its cost at the bad end? With --exp: is this metric of the experiment closer to its value there?
    #[arg(long, value_name = "NAME", conflicts_with_all = ["boot", "builds", "log"], help_heading = QUESTION)]
    pub(crate) metric: Option<String>,
    /// With --metric: is it worse than at the good end by this much, such as 1%?
    #[arg(long, value_name = "PERCENT", requires = "metric", conflicts_with_all = ["case", "exec", "boot", "builds", "log"], value_parser = units::percent, help_heading = QUESTION)]
    pub(crate) worse_by: Option<f64>,
    /// With --metric: measure time instead of counting instructions; an experiment says itself which of its metrics are timed
    #[arg(long, requires = "metric", conflicts_with_all = ["case", "exec", "exp", "boot", "builds", "log"], help_heading = QUESTION)]
    pub(crate) timed: bool,
    /// Does the kernel fail to come up?
    #[arg(long, conflicts_with = "builds", help_heading = QUESTION)]
    pub(crate) boot: bool,
    /// Does it fail to build? With --make KCFLAGS=-Werror a warning is a failure
    #[arg(long = "build", conflicts_with = "log", help_heading = QUESTION)]
    pub(crate) builds: bool,
    /// Does the log of the boot, and of the case or program if one is given, contain this text?
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new(), help_heading = QUESTION)]
    pub(crate) log: Option<String>,
    /// Count any failure, even if it differs from the failure at the bad end
    #[arg(long, help_heading = QUESTION)]
    pub(crate) any_failure: bool,
    /// Time limit of the case instead of its own, such as 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = QUESTION)]
    pub(crate) case_timeout: Option<Duration>,

    /// Confidence that the search must reach
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = units::confidence, help_heading = SEARCH)]
    pub(crate) confidence: f64,
    /// Runs at the bad end before kiln concludes that it does not fail
    #[arg(long, value_name = "COUNT", default_value = "60", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = SEARCH)]
    pub(crate) tries: u32,
    /// Tests in parallel [default: one for each CPU of the host, at most 4]
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=4), help_heading = SEARCH)]
    pub(crate) jobs: Option<u8>,
    /// Run the case or the program on the nodes of a cluster: tests that are made in parallel are one array of jobs
    #[arg(long, value_enum, value_name = "CLUSTER", help_heading = SEARCH)]
    #[arg(conflicts_with_all = ["exp", "metric", "builds", "log", "fresh"])]
    pub(crate) on: Option<Cluster>,
    /// Start again: do not resume an earlier call of the same command, and do not reuse Runs of earlier sessions
    #[arg(long, help_heading = SEARCH)]
    pub(crate) fresh: bool,

    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Also write the report to this HTML file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
    /// Also write the draft of a mail to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) mail: Option<PathBuf>,
    /// Where to make the folder with the results [default: $XDG_STATE_HOME/kiln/bisections]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) user_space: UserSpaceOptions,
}
