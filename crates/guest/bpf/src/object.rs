//! Programs in the kernel, and where they are attached.

use aya::maps::{HashMap, Map, MapData, MapError, PerCpuArray, PerCpuHashMap, RingBuf, StackTraceMap};
use aya::programs::Program;
use aya::{Ebpf, EbpfLoader, Pod};
use harness::bpf;
use harness::check::describe;
use harness::instrument::{broken, skip};
use harness::perf::{self, Attributes, Number, number};
use harness::rcu::Expedited;
use harness::sys::ioctl;
use protocol::Report;
use protocol::count::Event;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::process::Pid;

use crate::watch::Watch;

/// `PERF_EVENT_IOC_SET_BPF`.
const SET_BPF: u32 = 0x4004_2408;

/// `PERF_EVENT_IOC_ENABLE`.
const ENABLE: u32 = 0x2400;

/// Programs of a file in `bpf/`, in the kernel.
#[derive(Debug)]
pub struct Object {
    ebpf: Ebpf,
    attached: Vec<OwnedFd>,
}

impl Object {
    /// Has the kernel take programs that watch; `globals` are what else they want to know.
    ///
    /// # Errors
    ///
    /// `skip` if this kernel or user cannot, `broken` if it refuses them.
    pub fn load(code: &[u8], watch: &Watch, globals: &[(&str, u32)]) -> Result<Self, Report> {
        let mut loader = EbpfLoader::new();
        let everything = u32::from(watch.process.is_none());
        let own = [
            ("everything", &everything),
            ("new_task_pid", &watch.new_task_pid),
            ("new_task_flags", &watch.new_task_flags),
            ("freed_task_pid", &watch.freed_task_pid),
        ];
        for (name, value) in own.into_iter().chain(globals.iter().map(|(name, value)| (*name, value))) {
            loader.override_global(name, value, true);
        }
        let ebpf = loader.load(code).map_err(|error| why(&error))?;
        let mut object = Self { ebpf, attached: Vec::new() };
        if let Some(process) = watch.process {
            object.watch(process)?;
        }
        Ok(object)
    }

    fn watch(&mut self, process: Pid) -> Result<(), Report> {
        let number = process.as_raw_nonzero().get().unsigned_abs();
        self.attach_to("watch_child", "task:task_newtask")?;
        self.attach_to("forget_process", "sched:sched_process_free")?;
        let map = self.ebpf.map_mut("watched").ok_or_else(|| broken("no map of processes"))?;
        let mut watched: HashMap<_, u32, u8> = map.try_into().map_err(|error| of_map(&error))?;
        watched.insert(number, 1, 0).map_err(|error| of_map(&error))
    }

    /// Has a program run whenever an event of this name happens, such as `task:task_newtask` or `kprobe:vfs_read`.
    ///
    /// # Errors
    ///
    /// `skip` with the reason if this kernel or user cannot.
    pub fn attach_to(&mut self, program: &str, name: &str) -> Result<(), Report> {
        let event: Event = name.parse().map_err(|error| broken(format!("{error}")))?;
        let number = number(&event).map_err(|why| skip(format!("{name}: {why}")))?;
        self.attach(program, number)
    }

    /// Has a program run whenever this event happens.
    ///
    /// # Errors
    ///
    /// `skip` with the reason if this kernel or user cannot.
    pub fn attach(&mut self, program: &str, event: Number) -> Result<(), Report> {
        let program = self.loaded(program)?;
        let program = program.fd().map_err(|error| why(&error))?;
        let number = usize::try_from(program.as_fd().as_raw_fd()).map_err(|_| broken("no descriptor"))?;
        // Its program runs on all CPUs, although an event names one.
        let attributes = Attributes { sample_period: 1, ..event.attributes() };
        let descriptor = perf::open(attributes, None, Some(0)).map_err(|error| skip(event.refusal(error)))?;
        // SAFETY: both requests take a number.
        unsafe { ioctl(&descriptor, SET_BPF, number).and_then(|_| ioctl(&descriptor, ENABLE, 0)) }
            .map_err(|error| skip(format!("the kernel does not attach the program: {}", describe(error))))?;
        self.attached.push(descriptor);
        Ok(())
    }

    /// Has a program run whenever an event is raised, with the arguments of that.
    ///
    /// # Errors
    ///
    /// `skip` with the reason if this kernel or user cannot.
    pub fn attach_raw(&mut self, program: &str, event: &str) -> Result<(), Report> {
        match self.loaded(program)? {
            Program::RawTracePoint(raw) => raw.attach(event).map(drop).map_err(|error| why(&error)),
            _ => Err(broken(format!("{program} takes no raw tracepoint"))),
        }
    }

    /// A program that the kernel has verified.
    fn loaded(&mut self, name: &str) -> Result<&mut Program, Report> {
        let program =
            self.ebpf.program_mut(name).ok_or_else(|| broken(format!("there is no program {name}")))?;
        if program.fd().is_err() {
            let loaded = match program {
                Program::TracePoint(program) => program.load(),
                Program::KProbe(program) => program.load(),
                Program::RawTracePoint(program) => program.load(),
                _ => return Err(broken(format!("{name} is of a kind that is not used"))),
            };
            loaded.map_err(|error| why(&error))?;
        }
        Ok(program)
    }

    /// A buffer into which programs write.
    ///
    /// # Errors
    ///
    /// `broken` if there is none.
    pub fn ring(&mut self, name: &str) -> Result<RingBuf<MapData>, Report> {
        let map = self.ebpf.take_map(name).ok_or_else(|| broken(format!("there is no map {name}")))?;
        RingBuf::try_from(map).map_err(|error| of_map(&error))
    }

    /// The elements of a map that has one for each CPU: with the values of all CPUs.
    ///
    /// # Errors
    ///
    /// `broken` if it cannot be read.
    pub fn elements<K: Pod, V: Pod>(&self, name: &str) -> Result<Vec<(K, Vec<V>)>, Report> {
        let map: PerCpuHashMap<&MapData, K, V> =
            self.map(name)?.try_into().map_err(|error| of_map(&error))?;
        let element = |element: Result<(K, aya::maps::PerCpuValues<V>), MapError>| {
            let (key, values) = element.map_err(|error| of_map(&error))?;
            Ok((key, values.iter().copied().collect()))
        };
        map.iter().map(element).collect()
    }

    /// The addresses on a stack that programs have taken, the innermost first.
    ///
    /// # Errors
    ///
    /// `broken` if it cannot be read.
    pub fn stack(&self, name: &str, id: u32) -> Result<Vec<u64>, Report> {
        let map: StackTraceMap<&MapData> = self.map(name)?.try_into().map_err(|error| of_map(&error))?;
        let stack = map.get(&id, 0).map_err(|error| of_map(&error))?;
        Ok(stack.frames().iter().map(|frame| frame.ip).collect())
    }

    /// Gives programs the counter of a CPU, in an array of such.
    ///
    /// # Errors
    ///
    /// `broken` if there is no such array, or the kernel refuses the counter.
    pub fn set_counter(&self, name: &str, cpu: u32, counter: BorrowedFd<'_>) -> Result<(), Report> {
        let Map::PerfEventArray(array) = self.map(name)? else {
            return Err(broken(format!("{name} is no array of counters")));
        };
        let refused = |error| broken(format!("a counter for programs of BPF: {}", describe(error)));
        let array = array.fd().as_fd().try_clone_to_owned().map_err(|error| broken(error.to_string()))?;
        let counter = u64::from(counter.as_raw_fd().unsigned_abs());
        bpf::Map::from(array).update(cpu, counter, bpf::ANY).map(drop).map_err(refused)
    }

    /// Events for which there was no room.
    ///
    /// # Errors
    ///
    /// `broken` if that cannot be read.
    pub fn lost(&self) -> Result<u64, Report> {
        let map: PerCpuArray<&MapData, u64> = self.map("lost")?.try_into().map_err(|error| of_map(&error))?;
        Ok(map.get(&0, 0).map_err(|error| of_map(&error))?.iter().sum())
    }

    fn map(&self, name: &str) -> Result<&Map, Report> {
        self.ebpf.map(name).ok_or_else(|| broken(format!("there is no map {name}")))
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // For each probe the kernel waits until nobody can be in it.
        let _expedited = Expedited::in_machine();
        self.attached.clear();
    }
}

fn of_map(error: &MapError) -> Report {
    broken(format!("a map of BPF: {error}"))
}

/// Why programs cannot be loaded or attached: what a person can do about it comes first.
fn why(error: &(dyn std::error::Error + 'static)) -> Report {
    let mut chain = vec![error];
    while let Some(source) = chain.last().and_then(|error| error.source()) {
        chain.push(source);
    }
    let number = chain.iter().find_map(|error| error.downcast_ref::<std::io::Error>()?.raw_os_error());
    match number {
        Some(libc::EPERM) => {
            skip("it needs root, or CAP_BPF and CAP_PERFMON, and a kernel that is not locked down")
        }
        Some(libc::ENOENT) => skip("this kernel does not have its tracepoint"),
        Some(libc::ENOSYS) => skip("this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)"),
        _ => {
            let text: Vec<String> = chain.iter().map(ToString::to_string).collect();
            broken(format!("programs of BPF: {}", text.join(": ")))
        }
    }
}
