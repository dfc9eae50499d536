//! The built command from outside, with real kernels in real machines.
//!
//! * [`verdicts`]: what a user's own program can conclude, and how it reports
//! * [`needs`]: what a program asks for; [`environment`]: what it finds, and what the kernel does after it
//! * [`deaths`]: every way in which a guest dies; [`symbols`]: shown with lines of the source, and in crash(8)
//! * [`boots`]: kernels that do not come up
//! * [`clones`]: a clone for every case, how often cases are run, and where clones are from
//! * [`endings`]: what happens to QEMU, to kiln and to the results folder
//! * [`liars`]: programs that say what is not true, and that say too much
//! * [`suites`]: folders, LTP and kselftest; [`ltp`]: all of LTP, against its table
//! * [`room`]: what is kept stays within bounds
//! * [`formats`]: KTAP, JUnit and JSON of a real run; `cases` and `doctor`
//! * [`kernels`]: `kiln kernels` and its prune
//! * [`bundle`]: `kiln bundle`, and its script without kiln
//! * [`replay`]: `kiln replay`; [`results`]: `kiln results` and `kiln show`
//! * [`cluster`]: `kiln matrix --on slurm`
//! * [`shell`]: `kiln shell`; [`top`]: `kiln top`
//! * [`sources`]: kernels from other packages and from source; KUnit; [`configurations`]: those of `--config`
//! * [`survival`]: whatever is done to a case, to a machine or to kiln; [`killed`]: while it does something else
//! * [`instruments`]: on this host and in machines; [`stress_ng`]: beside a program of others
//! * [`experiments`]: what scripts do; [`experiment_sessions`]: what is kept of them, and handed over
//! * [`stopped_roots`], [`stopped_experiments`]: kiln ends while it makes a root or runs an experiment
//! * [`uml`]: kernels that are programs of the host; [`kvm`]: KVM in a machine that emulates it
//! * [`measured`]: figures that are kept and compared later
//! * [`measure`]: what operations cost, how that is told, and what happens to QEMU and kiln meanwhile
//! * [`compare`]: kernels, parameters and programs beside each other
//! * [`measured_roots`]: programs that are measured in a user space
//! * [`planted_cost`]: a kernel that is slower by a known amount
//! * [`bisect_packages`]: the first bad package
//! * [`bisect_settings`]: parameters and options that did it, alone and together, always and now and then
//! * [`bisect_built`]: commits and patches
//! * [`bisect_experiments`]: experiments that are asked
//! * [`bisect_stopped`]: a search that is stopped goes on
//! * [`bisect_bad_input`]: bisections that cannot be
//! * [`series`]: mails become patches for git; [`checks`], [`analysis`]: patches that are built, tested and compared
//! * [`mails`]: mail that goes out
//! * [`serve`]: `kiln serve` and many who ask; [`browser`]: its pages, and those of `kiln report`, in a browser
//! * [`posts`]: reports as Markdown, and on a server; [`reports`]: pages
//! * [`notes`]: what a build reports beside its result
//! * [`observe`]: what processes of this host do; [`hazards`]: where CPUs wait for too long
//! * [`bad_input`]: what a user can get wrong
//!
//! Nothing here waits for a fixed time: conditions are polled, and the deadlines are met only by a
//! failure. A failed test keeps its folder below `target/tmp`.

mod analysis;
mod archives;
mod bad_input;
mod bisect_bad_input;
mod bisect_built;
mod bisect_experiments;
mod bisect_packages;
mod bisect_settings;
mod bisect_stopped;
mod boots;
mod browser;
mod bundle;
mod checks;
mod clones;
mod cluster;
mod compare;
mod compare_experiments;
mod configurations;
mod count;
mod deaths;
mod devices;
mod endings;
mod environment;
mod exact_traces;
mod exchange;
mod experiment_sessions;
mod experiments;
mod formats;
mod hazards;
mod instruments;
mod kernels;
mod kexec;
mod killed;
mod kvm;
mod liars;
mod ltp;
mod mails;
mod matrix;
mod measure;
mod measured;
mod measured_roots;
mod needs;
mod notes;
mod observe;
mod planted_cost;
mod posts;
mod probe;
mod problems;
mod publishing;
mod replay;
mod reports;
mod results;
mod room;
mod roots;
mod sample;
mod series;
mod serve;
mod services;
mod shell;
mod shipped_experiments;
mod sources;
mod stopped_experiments;
mod stopped_roots;
mod stress_ng;
mod suites;
mod support;
mod survival;
mod symbols;
mod tasks;
mod top;
mod trace_views;
mod traced_experiments;
mod traces;
mod trend;
mod trend_built;
mod uml;
mod verdicts;
mod watch;
