//! What stands below the help of each verb: examples, and what else a user asks.

/// Below the help of `kiln`.
pub(super) const KILN: &str = "\
Examples:
  kiln run deb:6.1.0-56-cloud-amd64        a stock Debian kernel through the smoke suite
  kiln run ~/linux --case 'fs/*'           a built tree, one area
  kiln run git:~/linux@HEAD --config boot  a commit, built first
  kiln kernels                             kernels that you can name
  kiln shell deb:latest-cloud              a shell in it
  kiln doctor                              what works on this host

Exit codes: 0 all well, 1 a case failed, or the kernel crashed or hung, 2 wrong usage, 3 broken: no verdict, \
4 nothing was run, 130 interrupted.";

/// Below the help of `kiln run`.
pub(super) const RUN: &str = "\
Examples:
  kiln run deb:latest-cloud
  kiln run ./bzImage --case 'fs/*' --format ktap
  kiln run ~/linux --append 'slub_debug=FZPU' --cpus 4 --memory 2G
  kiln run deb:6.1.0-56-cloud-amd64 --exec ./reproducer -- --loops 100
  kiln run ~/linux --exec ./reproducer --need 'fs=xfs,program=mkfs.xfs,disk=512M'
  kiln run ~/linux --kselftest timers
  kiln run deb:latest-cloud --suite /opt/ltp --case 'syscalls/*'
  kiln run deb:latest-cloud --suite ./tests --need module=loop,cpus=2
  kiln run ~/linux --case 'inet/*' --repeat 20
  kiln run ~/linux --golden deb:latest-cloud

A program that --exec runs reports with `kiln-report pass|fail|skip TEXT` or by its exit status: \
0 pass, 4 skip, 124 hang, 126 and 127 broken if its shell cannot run a command, 2 an expected failure if its \
output says XFAIL, anything else fail. kiln then exits with the program's own status, or with 3 if it is broken.
--need takes module=NAME, fs=TYPE, config=OPTION, device=PATH, disk=SIZE (empty, at /dev/vda), memory=SIZE, \
cpus=COUNT, capability=NUMBER and program=NAME, separated by commas. If one is missing, the case is skipped. \
optional-module=NAME is loaded where the kernel has it.
KILN_TIMEOUT_MUL=3 makes every time limit except --timeout three times as long.";

/// Below the help of `kiln build`.
pub(super) const BUILD: &str = "\
Examples:
  kiln build ~/linux --config boot                    the tree with its changes
  kiln build git:~/linux@v6.12 --config boot,debug    a commit; the checkout is not touched
  kiln build deb-source:6.1 --config tiny --arch um   Debian's source, as User-Mode Linux
  kiln run git:~/linux@HEAD~3 --config ./my.config    build and run in one

Configurations: tiny (boots and runs the cases), boot (with networking, ext4, namespaces, BPF, io_uring), \
debug (KASAN, lockdep, and the like), fault (fault injection, LKDTM), cov (KCOV, gcov), kunit (the \
kernel's own unit tests); targets of the tree's make such as defconfig; files: a whole .config, or \
fragments of your own. Later ones win. Builds are kept: the same source, configuration, compiler and \
variables are built once.";

/// Below the help of `kiln kunit`.
pub(super) const KUNIT: &str = "\
Examples:
  kiln kunit git:~/linux@HEAD                         all tests of configuration kunit, as UML
  kiln kunit ~/linux --suite 'list*,bitfields'        some suites
  kiln kunit ~/linux --config kunit,./more.config --arch x86_64
  kiln kunit built:3f2a9c41d07e --format ktap

Source is built with --config kunit and --arch um unless you say otherwise. Each test is a case, SUITE/TEST.";

/// Below the help of `kiln replay`.
pub(super) const REPLAY: &str = "\
Examples:
  kiln replay last                             the only failed case of the last failed session
  kiln replay last/pipe/full
  kiln replay last --shell                     a shell in its machine; kiln-case runs the case
  kiln replay 2026-11-20T10-07-31Z-4711/boot
  kiln replay ./results/2026-11-20T10-07-31Z-4711/cases/pipe/full.json
  kiln replay ./dock                           the unpacked bundle of an experiment

Kernel, machine, parameters and seed are those of the Run. kiln refuses a kernel that has changed. \
The exit code is that of the new Run.";

/// Below the help of `kiln bundle`.
pub(super) const BUNDLE: &str = "\
Examples:
  kiln bundle last -o bug.tar.zst              the only failed case of the last failed session
  kiln bundle last/pipe/full -o pipe.tar

The archive holds the kernel, the initramfs, one script, a README and the stored files of the Run. `sh run.sh` in the \
unpacked folder boots the kernel, runs the case, prints the same verdict and exits with the same code. The bundle of an \
experiment holds its session, its files and kernels that are no packages; `kiln replay FOLDER` runs it again.";

/// Below the help of `kiln bisect`.
pub(super) const BISECT: &str = "\
Examples:
  kiln bisect deb:6.1.0-47-cloud..deb:6.1.0-56-cloud --metric poll/epoll-wait-100   packages
  kiln bisect git:~/linux@v6.11..v6.12 --config boot --case inet/tcp                commits
  kiln bisect git:~/linux@v6.11..v6.12 --metric file/open-close --worse-by 1%       slower
  kiln bisect deb:latest-cloud --params 'good: ' 'bad: preempt=full nohz=off' --case time/sleep
  kiln bisect ~/linux --config-good a.config --config-bad b.config --boot           options
  kiln bisect --series topic.mbx --base git:~/linux@v6.12 --build                   patches
  kiln bisect deb:6.1.0-47-cloud..deb:6.1.0-56-cloud --fixed --exec ./reproducer    which change fixed it?
  kiln bisect git:~/linux@v6.11..v6.12 --exp ./lossy --short                        an experiment
  kiln bisect git:~/linux@v6.11..v6.12 --instrument 'latency p99 > 200us'           an instrument

kiln first verifies both ends. For an intermittent failure it searches with probabilities: the next test is the one that \
reveals most for its cost, and the search ends at --confidence. kiln then proves the change: it tests the state just \
before it, the state with it, and the last end with it reverted if the revert applies. Each test of a case or \
program is a session of kiln run that you can replay; the same command resumes an interrupted search, even after SIGKILL.
Exit codes: 0 found, 2 wrong usage or ends, 3 no verdict, such as several suspects, or one that a check contradicts, \
130 interrupted.";

/// Below the help of `kiln compare`.
pub(super) const COMPARE: &str = "\
Examples:
  kiln compare deb:6.1.0-47-cloud-amd64 deb:6.1.0-56-cloud-amd64
  kiln compare git:~/linux@HEAD~1 git:~/linux@HEAD --metric 'syscall/*' --why
  kiln compare deb:latest-cloud --params 'mitigations=auto' 'mitigations=off'
  kiln compare deb:latest-cloud --exec-a ./old --exec-b ./new -- --loops 100
  kiln compare deb:latest-cloud ~/linux --root debian:sqlite3 --exec ./job.sh
  kiln compare deb:6.1.0-47-cloud-amd64 deb:6.1.0-56-cloud-amd64 --timed --budget 20m --min-effect 2%

Without --timed, figures are exact: executed instructions of each operation, the same on any host under any load. \
Instructions are not time: they do not include caches, memory latency and contention. If those matter, for \
example after changes to data layout or locking, or with more CPUs, also compare with --timed.
kiln stores all figures and an HTML page with charts; the last line shows the folder.
Exit codes: 0 nothing is worse than --fail-on allows, 1 something is, or a kernel is at fault, 2 wrong usage, \
3 broken: no verdict, 130 interrupted.";

/// Below the help of `kiln measure`.
pub(super) const MEASURE: &str = "\
Examples:
  kiln measure deb:latest-cloud                      all operations of the suite micro, in instructions
  kiln measure ~/linux --metric 'process/*' --json
  kiln measure deb:latest-cloud --exec ./workload -- --loops 100
  kiln measure deb:latest-cloud --root debian:sqlite3 --exec ./job.sh
  kiln measure deb:latest-cloud --calibrate          how precise timed comparisons are on this host";

/// Below the help of `kiln latency`.
pub(super) const LATENCY: &str = "\
Examples:
  kiln latency --interval 100us --duration 5s                on this host
  kiln latency --policy other --cpu 0-1 --bucket 1us         as an ordinary user, on two CPUs
  kiln latency --break-above 200us                           what ran when a thread was late?
  kiln latency 'p99.9 > 200us'                               exit code 1 if it is
  kiln latency --with stress:vm                              beside all stressors of a class
  kiln latency --sweep governor=all,interval=1ms,10us        a table, with the power that it takes
  kiln latency --in deb:latest-rt-amd64 --cpus 2             in a machine with that kernel

Each sample counts: percentiles and the distribution are those of all samples. docs/instruments.md describes the figures. \
Exit codes: 0 measured, 1 the condition holds, a timer came too early, the load failed or the kernel is at fault in another way, 2 wrong usage, 3 broken, 4 the \
policy or a CPU cannot be had.";

/// Below the help of `kiln steal`.
pub(super) const STEAL: &str = "\
Examples:
  kiln steal --cpu 1                                         what does this machine take from a program that computes?
  kiln steal --cpu 1 --load net:udp,pps=200000,size=64       and when packets arrive?
  kiln steal --load net:udp --against xdp=drop --pairs 7     the whole stack, or a program that drops?
  kiln steal -- openssl speed -seconds 10 -bytes 16 aes-256-cbc
  kiln steal --load net:tcp-stream,2 --in deb:latest-cloud --json

The kernel handles interrupts and softirqs, such as received packets, in the task that happens to run, and most kernels charge that task \
for it. So user time and top do not tell what a program got. A softirq polls up to net.core.dev_weight (64) packets of a device \
at once, and goes on for up to net.core.netdev_budget packets or netdev_budget_usecs; softirqs repeat up to 10 times or for 2 ms. What \
is left then is work of the thread ksoftirqd, which everybody sees.

The victim runs twice: without tracing for the figures, then with tracing for the causes. docs/instruments.md describes them. \
Exit codes: 0 measured, 1 more was stolen than --max-steal allows or the kernel is at fault in another way, 2 wrong usage, 3 broken, or \
no verdict on the limit, 4 something that the load needs is missing.";

/// Below the help of `kiln stress`.
pub(super) const STRESS: &str = "\
Examples:
  kiln stress matrix=0,method=mult -t 30s                    a worker for each CPU, on this host
  kiln stress --class vm --all 1 --verify --in deb:latest-cloud
  kiln stress --seq 0 -t 1s --maximize                       all stressors, one after the other
  kiln stress --job vm --dry-run                             a job file: an example, or your own
  kiln stress vm=2,bytes=25% sock=1 --save-job both.job
  kiln stress --list --class network                         what there is, with options

A bogo operation is what the list says of a stressor: compare kernels by it, not stressors. \
Exit codes: 0 all was verified, 1 a verification failed or the kernel is at fault in another way, 2 wrong usage, \
3 broken, 4 nothing could be run.";

/// Below the help of `kiln trace`.
pub(super) const TRACE: &str = "\
Examples:
  kiln trace --exec ./slow -- 100                            all that the kernel does on this host meanwhile
  kiln trace --only --exec make -- -j5 check                 only what make and its children do
  kiln trace --events sched,irq,block --duration 5s
  kiln trace --events irq -e 'sched:sched_switch if next_prio < 100' --exec ./slow
  kiln trace --in deb:latest-cloud --case 'pipe/*'           in a machine, each case in a clone of its own
  kiln trace --exact --in K --case pipe/full -o before       the same each time, to the nanosecond
  kiln trace view --stats                                    the newest: events, threads, system calls, interrupts
  kiln trace view --filter 'comm == slow && name ~ sys_*'
  kiln trace view --latency                                  how long wakeups, calls, interrupts and requests took
  kiln trace view --html trace.html                          as a timeline in a browser
  kiln trace diff before after                               what is new, gone, longer or in another order
  kiln trace convert --perfetto -o trace.pftrace             for ui.perfetto.dev

Events are those of tracefs: ls /sys/kernel/tracing/events. The trace is in the Common Trace Format: babeltrace2 and Trace Compass \
read its folder, too. The exit code is that of the program. docs/tracing.md says more.";

/// Below the help of `kiln race`.
pub(super) const RACE: &str = "\
Examples:
  kiln race                                                  list all, with what each needs
  kiln race time/timerfd-settime                             on this host, for the time of the race
  kiln race fs/xfs-reflink-dio --in deb:6.1.0-47-amd64       in a machine with that kernel
  kiln run K --suite races                                   all of them, each in a clone of its own
  kiln bisect K1..K2 --suite races --case fs/xfs-reflink-dio

Exit codes: 0 the kernel survived, 1 the sections collided or the kernel is at fault in another way, 2 wrong usage, \
3 broken: no verdict, 4 something that the race needs is missing.";

/// Below the help of `kiln shell`.
pub(super) const SHELL: &str = "\
Examples:
  kiln shell deb:latest-cloud
  kiln shell ~/linux -c 'cat /proc/version'
  tar c ./tests | kiln shell ~/linux -c 'tar x; ./tests/all'

Ctrl-A x exits, Ctrl-A a sends Ctrl-A. With -c kiln passes on what is piped or redirected into it, up to 16 MiB, \
and exits with the command's own status.";

/// Below the help of `kiln kernels`.
pub(super) const KERNELS: &str = "\
Examples:
  kiln kernels                             all kernels that you can name here, oldest first
  kiln kernels '*cloud*' --state cached    those of a flavour, without network
  kiln kernels prune --keep 2G             make room

Offered kernels show the size of the download, others the size on disk.";

/// Below the help of `kiln kernels prune`.
pub(super) const PRUNE: &str = "\
kiln removes packages, builds, their work files and unpacked sources, the least recently used first, until the rest is \
no larger than --keep. It keeps what a running kiln uses. Everything can be fetched or built again.";

/// Below the help of `kiln exp`.
pub(super) const EXP: &str = "\
Examples:
  kiln exp                                             experiments in ./experiments and the data directories
  kiln exp new my-question                             a folder with a script that runs at once
  kiln exp check experiments/my-question               without booting anything
  kiln exp run my-question --kernel deb:latest-cloud
  kiln exp run ./lossy --kernel ~/linux --kernel deb:latest-cloud --short

docs/scripts.md describes the language. Exit codes are those of kiln run. Each run is a session: kiln replay repeats it, \
kiln bundle packs it for someone else.";

/// Below the help of `kiln check`.
pub(super) const CHECK: &str = "\
Examples:
  kiln check thread.mbx --tree ~/linux                 the latest revision, on the commit to which it belongs
  kiln check HEAD~3.. --tree ~/linux                   your own commits, before you send them
  kiln check 1-a@example.org --tree . --suite full     a series that is fetched, with all cases of kiln
  kiln check fix.patch --tree . --build-only --make W=1
  kiln check HEAD~3.. --build-only --analyse sparse,gcc,checkpatch
  kiln check --watch ~/Mail/linux --tree ~/linux       every series that arrives

Each patch is built on the one before, and static analysers compare the files that they touch. The kernels before the first and after the last run the same cases; where one became \
worse, kiln bisects for the patch. docs/checking.md describes it. Building patches runs code of their senders: without a \
network, and without your files, if this host allows namespaces. Exit codes: 0 if nothing became worse, 1 if something did, 2 \
when the usage was wrong, 3 if there is no verdict.";

/// Below the help of `kiln results`.
pub(super) const RESULTS: &str = "\
Examples:
  kiln results --outcome fail,crash,hang --since 7d      what went wrong this week
  kiln results --kernel 'deb:6.1.*' --case 'fs/*'        an area on all kernels of a series
  kiln results --limit 0 --json                          all that is known, for programs

The names in the column RUN are for kiln show, kiln replay and kiln bundle. When kiln removes the folder of a session to \
make room, its Runs stay in the list; of those that failed, these three find what shows it for longer.";

/// Below the help of `kiln export`.
pub(super) const EXPORT: &str = "\
Examples:
  kiln export --since 7d -o week.jsonl                   a week for another host: kiln import week.jsonl
  kiln export last --format junit -o junit.xml           the newest session with a failure, for a CI server
  kiln export --format parquet -o runs.parquet           all Runs, for pandas or DuckDB
  kiln export --kernel 'deb:6.1.*' --format kcidb --origin mylab -o kcidb.json
  kiln export --samples --format parquet -o samples.parquet    all that kiln measure and kiln compare measured

csv and parquet have a row for each Run, also of sessions whose folders kiln has removed. The others need the folders. \
docs/results.md describes the formats.";

/// Below the help of `kiln import`.
pub(super) const IMPORT: &str = "\
Examples:
  kiln import week.jsonl
  ssh lab7 kiln export --since 1d | kiln import -

The sessions are like those of this host for kiln results, show, problems and matrix, and say which host ran them. kiln never \
carries out their requests: kiln replay and kiln bundle refuse them. What is here already stays as it is.";

/// Below the help of `kiln store`.
pub(super) const STORE: &str = "\
Examples:
  kiln store               what each kind of results and caches takes
  kiln store verify        read the evidence of failures again, and check ledger.sqlite
  kiln store prune         keep to the budgets now, and remove what nobody wrote to for a month

Results are kept within budgets by themselves: docs/results.md. Kernels, builds, user spaces and booted machines are for \
kiln kernels prune.";

/// Below the help of `kiln show`.
pub(super) const SHOW: &str = "\
Examples:
  kiln show last                                         what failed in the newest session with a failure
  kiln show 2026-11-20T10-07-31Z-4711/pipe/full          a Run by its name
  kiln show last --json | jq .run.kernel_reports";

/// Below the help of `kiln problems`.
pub(super) const PROBLEMS: &str = "\
Examples:
  kiln problems                          what fails, once for each defect
  kiln problems --state verified         what later kernels no longer have
  kiln problems --bisect --budget 1h     what brought and fixed them, in an hour
  kiln problems show 3f06a7              all about one: its kernels, and how to bisect it
  kiln problems close 3f06a7             it is gone; it reopens when it returns

Failures are one problem if the kernel reported the same defect in the same function, or the same case failed for the same reason \
but for its numbers. docs/results.md explains the states.";

/// Below the help of `kiln matrix`.
pub(super) const MATRIX: &str = "\
Examples:
  kiln matrix 'deb:6.1.*' --flavour cloud              smoke on all cloud kernels of a series
  kiln matrix 'deb:6.1.*-cloud-amd64' --suite full -j2 --html matrix.html
  kiln matrix deb:6.1.0-56-amd64 --params '' 'slub_debug=FZP'
  kiln matrix nightly.star                             what a plan says: docs/results.md
  kiln matrix 'deb:6.1.*' --show                       what is known already, without running anything
  kiln matrix nightly.star --on slurm                  the same on the nodes of a cluster

What the ledger has of the same kernel, parameters, machine and cases is not run again. Rows that are alike are one line; those that \
differ between neighbouring kernels come first: docs/results.md. Exit codes: 0 all well, 1 a case fails, 3 something is uncertain or \
missing, 130 interrupted: the same command goes on.";

/// Below the help of `kiln watch`.
pub(super) const WATCH: &str = "\
Examples:
  kiln watch apt:linux-image --flavour cloud --mail me@example.org
  kiln watch 'deb:6.1.*' --suite full --run 'notify-send -- \"$(head -n 1)\"'
  kiln watch git:~/linux@origin/master --every 1h --config tiny --webhook https://chat.example.org/hooks/1f
  kiln watch 'deb:6.1.*' --once                          for cron: test what is new and end

kiln looks at apt's lists, and at a branch of the tree: somebody else runs apt-get update and git fetch. It tells what a kernel does \
that the one before it did not, and says nothing if nothing changed. docs/watching.md describes it and the service for systemd. Exit codes \
with --once: 0 nothing is worse, 1 something is, 3 a kernel was not tested or told; without it 130 when interrupted.";

/// Below the help of `kiln trend`.
pub(super) const TREND: &str = "\
Examples:
  kiln trend 'poll/epoll-wait*' 'deb:6.1.*'                      what was measured, and which kernel made a difference
  kiln trend 'poll/*' 'deb:6.1.*-cloud-amd64' --measure          first measure the kernels that are missing
  kiln trend 'syscall/*' --html trend.html --svg trend.svg       as charts
  kiln trend syscall/getppid git:~/linux@v6.12..HEAD --config tiny --measure   which commits of a branch

Counted figures step wherever kiln compare would say worse or better; sampled ones where chance hardly does: docs/comparing.md.";

/// Below the help of `kiln findings`.
pub(super) const FINDINGS: &str = "\
Examples:
  kiln findings --tree ~/linux            new, fixed and outstanding findings of each check
  kiln findings --tree ~/linux --json     with the numbers of each analyser, to be drawn

They are what the analysers of kiln check found in the files that patches touch: docs/checking.md.";

/// Below the help of `kiln b4-check`.
pub(super) const B4_CHECK: &str = "\
Examples, in the configuration of git:
  [b4]
      review-series-check-cmd = kiln b4-check --config tiny
      review-perpatch-check-cmd = kiln b4-check --patch --config tiny

It reads a mail of the series on standard input and prints what b4 shows, as JSON. The patches are those of b4's review branch, \
which B4_TRACKING_FILE names, else those of the thread of the mail. What could not be checked is a warning. Exit codes are \
those of kiln check, but 0 where something became worse: the output says it.";

/// Below the help of `kiln mail`.
pub(super) const MAIL: &str = "\
Examples:
  kiln mail send mail.txt              queue this mail, and send all that is queued
  kiln mail send                       send what could not be sent before, also posts of kiln report
  kiln mail                            list the outbox
  kiln mail retry 4f1c                 send once more what was refused, or may not have arrived
  kiln mail drop 4f1c                  remove it

How mail is sent is what git's sendemail configuration says: git-send-email(1). The same mail is never sent twice. \
docs/mail.md describes the outbox. Exit codes: 0, 2 when the usage was wrong, 3 when a mail was not sent.";

/// Below the help of `kiln series`.
pub(super) const SERIES: &str = "\
Examples:
  kiln series show thread.mbx                          revisions, patches, trailers and who gave them
  kiln series show -m ~/Mail/linux 1-a@example.org     the series of which this mail is a part
  kiln series diff thread.mbx v1 v2                    what changed, as git range-diff shows it
  kiln series am thread.mbx -o fix.mbx                 the latest revision, for git am
  kiln series am thread.mbx -v1 --cherry 2,4-5 -o -    three patches of v1, on standard output

docs/series.md describes what is taken from mails. Exit codes: 0, or 2 when a patch is missing or the usage was wrong.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use lab::Suite;
    use lab::suites::select::operations;

    use crate::cli::Cli;

    #[test]
    fn examples_name_cases_and_operations_that_there_are() {
        for verb in Cli::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Those of other suites are not kiln's.
            for line in help.lines().filter(|line| !line.contains("--suite") && !line.contains("--kselftest"))
            {
                let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('\'')).collect();
                for pair in words.windows(2) {
                    let pattern = [pair[1].to_string()];
                    match pair[0] {
                        "--case" => assert!(Suite::open("full", &pattern).is_ok(), "{line}"),
                        "--metric" => assert!(operations(&pattern).is_ok(), "{line}"),
                        _ => {}
                    }
                }
            }
        }
    }
}
