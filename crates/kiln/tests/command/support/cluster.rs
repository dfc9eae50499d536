//! A cluster of Slurm's with two nodes, all of it on this host and below one folder. It ends with the test, however that ends.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use super::processes::Process;
use super::{Call, Place, processes, text, until};

/// A controller and two nodes. Nobody else can call them: without authentication they are on the loopback device only.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: PathBuf,
    /// By which the jobs and the daemons are known.
    mark: String,
    daemons: Vec<(&'static str, Child)>,
    /// A folder in whose place each node has an empty one.
    hidden: Option<PathBuf>,
}

/// The nodes.
pub(crate) const NODES: [&str; 2] = ["n1", "n2"];

const CONTROLLER: &str = "slurmctld";

impl Cluster {
    pub(crate) fn new(place: &Place) -> Self {
        Self::with(place, None)
    }

    /// One whose nodes do not share this folder.
    pub(crate) fn apart(place: &Place, hidden: PathBuf) -> Self {
        std::fs::create_dir_all(&hidden).expect("writable");
        Self::with(place, Some(hidden))
    }

    fn with(place: &Place, hidden: Option<PathBuf>) -> Self {
        let folder = place.path().join("cluster");
        for name in ["state", "spool"] {
            std::fs::create_dir_all(folder.join(name)).expect("writable");
        }
        std::fs::write(folder.join("slurm.conf"), configuration(&folder)).expect("writable");
        let mut cluster = Self { mark: folder.display().to_string(), folder, daemons: Vec::new(), hidden };
        cluster.start_controller();
        NODES.iter().for_each(|node| cluster.start_node(node));
        let is_idle = |states: &str| states.lines().filter(|state| *state == "idle").count() == NODES.len();
        until("the nodes are there", || {
            is_idle(&cluster.ask("sinfo", &["-h", "-N", "-o", "%T"])).then_some(())
        });
        cluster
    }

    /// A call that finds the cluster. Its jobs are not taken for programs that it started.
    pub(crate) fn give(&self, call: Call) -> Call {
        call.env("SLURM_CONF", self.folder.join("slurm.conf")).env(processes::MARK, &self.mark)
    }

    /// What a program of Slurm's prints.
    pub(crate) fn ask(&self, program: &str, words: &[&str]) -> String {
        let done =
            Command::new(program).args(words).env("SLURM_CONF", self.folder.join("slurm.conf")).output();
        String::from_utf8_lossy(&done.expect("scripts/setup proof installs it").stdout).into_owned()
    }

    /// The jobs of kiln's, each with its place in the array, the name of its submission, its state and its node.
    pub(crate) fn jobs(&self) -> Vec<String> {
        let shown = self.ask("squeue", &["-h", "--array", "--states=all", "-o", "%i %j %T %N"]);
        shown.lines().filter(|line| line.contains(" kiln-2")).map(str::to_owned).collect()
    }

    pub(crate) fn start_controller(&mut self) {
        self.start(CONTROLLER, &[&sbin(CONTROLLER), "-D"]);
    }

    /// The controller ends, and another takes over what it has saved.
    pub(crate) fn restart_controller(&mut self) {
        let (_, child) = self.daemons.iter().find(|(daemon, _)| *daemon == CONTROLLER).expect("it runs");
        processes::signal(child.id(), Signal::TERM);
        let ended = |cluster: &mut Self| {
            let mut all = cluster.daemons.iter_mut();
            all.find(|(daemon, _)| *daemon == CONTROLLER).and_then(|(_, child)| child.try_wait().ok()?)
        };
        until("the controller ends", || ended(self));
        self.daemons.retain(|(daemon, _)| *daemon != CONTROLLER);
        self.start_controller();
        until("the controller is back", || (!self.ask("sinfo", &["-h"]).is_empty()).then_some(()));
    }

    /// A PID namespace: whatever a node has begun ends with it.
    pub(crate) fn start_node(&mut self, node: &'static str) {
        let hidden = self.hidden.as_ref().map(|hidden| text(hidden).to_owned()).unwrap_or_default();
        let begin = "[ -z \"$0\" ] || mount -t tmpfs none \"$0\"; \"$@\"; exit $?";
        let unshare =
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", begin, &hidden];
        self.start(node, &[&unshare[..], &[&sbin("slurmd"), "-D", "-N", node]].concat());
    }

    /// A node loses its power, and the controller finds out.
    pub(crate) fn lose_node(&mut self, node: &'static str) {
        self.kill(node);
        let is_there = |process: &Process| processes::has_variable(process.id, "SLURMD_NODENAME", node);
        until("its jobs are gone", || (!processes::marked(&self.mark).iter().any(is_there)).then_some(()));
        self.ask("scontrol", &["update", &format!("nodename={node}"), "state=down", "reason=test"]);
        let on_node = || self.ask("squeue", &["-h", "-w", node, "-t", "RUNNING,COMPLETING"]);
        until("its jobs wait again", || on_node().is_empty().then_some(()));
        // Slurm would wait two minutes before it runs them again.
        for job in self.ask("squeue", &["-h", "--array", "-t", "PENDING", "-o", "%i"]).lines() {
            self.ask("scontrol", &["update", &format!("jobid={job}"), "starttime=now"]);
        }
    }

    fn start(&mut self, name: &'static str, words: &[&str]) {
        let log = std::fs::File::create(self.folder.join(format!("{name}.out"))).expect("writable");
        // A test that is killed drops nothing.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL"])
            .args(words)
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .env(processes::MARK, &self.mark);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a file")).stderr(log);
        self.daemons.push((name, command.spawn().expect("scripts/setup proof installs it")));
    }

    fn kill(&mut self, name: &str) {
        let at = self.daemons.iter().position(|(daemon, _)| *daemon == name).expect("it runs");
        let (_, mut child) = self.daemons.remove(at);
        child.kill().and_then(|()| child.wait()).expect("it is our child");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, child) in &mut self.daemons {
            let _ = child.kill();
            let _ = child.wait();
        }
        until("all of the cluster is gone", || processes::marked(&self.mark).is_empty().then_some(()));
    }
}

/// Where Debian has the daemons.
fn sbin(program: &str) -> String {
    format!("/usr/sbin/{program}")
}

/// Ports of this host that nobody uses.
fn ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

fn configuration(folder: &Path) -> String {
    let [controller, first, second] = ports();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux");
    let host = host.trim();
    let user = Command::new("id").arg("-un").output().expect("coreutils").stdout;
    let (user, folder) = (String::from_utf8_lossy(&user), folder.display());
    let user = user.trim();
    format!(
        "ClusterName=kiln
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_LLN
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ReturnToService=2
MinJobAge=3600
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=2 RealMemory=16000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=2 RealMemory=16000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"
    )
}
