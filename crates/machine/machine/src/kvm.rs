//! Whether KVM works here: Documentation/virt/kvm/api.rst.
//!
//! `/dev/kvm` can exist and be of no use: on a nested or para-virtual host the module may emulate a
//! 64-bit guest one instruction at a time, and a stock kernel then hangs for practical purposes. So a
//! few million instructions are executed in 64-bit mode with a deadline.

use std::os::unix::thread::JoinHandleExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use kvm_bindings::{kvm_segment, kvm_userspace_memory_region};
use kvm_ioctls::{Kvm, VcpuExit, VcpuFd, VmFd};

use crate::remembered::{self, keep, recall};

/// A processor needs a few milliseconds for the loop, an emulator several seconds.
const DEADLINE: Duration = Duration::from_millis(800);

/// CPU time after which an unfinished loop is not the fault of a busy host.
const FAIR_SHARE: Duration = Duration::from_millis(200);

/// How often it is tried where it seems slow: a host that is a guest itself may have waited without a trace of that.
const TRIES: usize = 3;

const SLOW: &str =
    "/dev/kvm exists but emulates 64-bit code one instruction at a time; a kernel would hang on it";

/// Under which the answer is remembered, and what it is if all is well.
const NAME: &str = "kvm";
const WORKS: &str = "works";

/// The file whose age tells when it was said last that KVM does not work.
const SAID: &str = "kvm-said";

/// How long something that was said is no news.
const DAY: Duration = Duration::from_secs(24 * 3600);

const MEMORY: usize = 2 << 20;
const CODE_AT: usize = 0x1_0000;
const PORT: u16 = 0xf4;
const ANSWER: u8 = 0x2a;

const CODE: &[u8] = &[
    0x0f, 0x20, 0xd8, // mov %cr3, %rax
    0x0f, 0x22, 0xd8, // mov %rax, %cr3
    0xb9, 0x80, 0x96, 0x98, 0x00, // mov $10000000, %ecx
    0xff, 0xc9, // dec %ecx
    0x75, 0xfc, // jnz to the decrement
    0xb0, ANSWER, // mov $ANSWER, %al
    0xe6, 0xf4, // out %al, $PORT
    0xf4, // hlt
];

/// How the attempt ended.
enum Attempt {
    Works,
    Fails(String),
    Slow,
    /// The host was too busy to tell; ask again another time.
    Busy,
}

/// Whether KVM works, and if not why. The answer is remembered until the host boots again.
///
/// # Errors
///
/// Why it does not work.
pub fn verdict() -> Result<(), String> {
    open()?;
    if let Some(known) = remembered() {
        return known;
    }
    let mut was_busy = false;
    for _ in 0..TRIES {
        let answer = match attempt(open()?) {
            Attempt::Works => Ok(()),
            Attempt::Fails(why) => Err(why),
            Attempt::Slow => continue,
            Attempt::Busy => {
                was_busy = true;
                continue;
            }
        };
        remember(&answer);
        return answer;
    }
    if was_busy {
        return Err("the host is too busy to try /dev/kvm".to_string());
    }
    let answer = Err(SLOW.to_string());
    remember(&answer);
    answer
}

fn open() -> Result<Kvm, String> {
    Kvm::new().map_err(|error| match error.errno() {
        libc::ENOENT => "this host has no /dev/kvm".to_string(),
        libc::EACCES | libc::EPERM => "no permission for /dev/kvm: is the user in the group kvm?".to_string(),
        _ => format!("/dev/kvm: {error}"),
    })
}

fn attempt(kvm: Kvm) -> Attempt {
    // Before the thread: a signal without a handler would end kiln.
    take_interrupt_signal();
    let start = Instant::now();
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        // Nobody listens any more when the deadline is over.
        let _ = sender.send(execute(&kvm));
    });
    let finished = wait(&receiver, start + DEADLINE, &thread);
    match finished {
        Some(Ok(cpu_time)) if cpu_time < DEADLINE => Attempt::Works,
        Some(Ok(_)) => Attempt::Slow,
        Some(Err(Failure::Refused(why))) => Attempt::Fails(why),
        Some(Err(Failure::Interrupted(cpu_time))) if cpu_time < FAIR_SHARE => Attempt::Busy,
        Some(Err(Failure::Interrupted(_))) => Attempt::Slow,
        None => Attempt::Busy,
    }
}

/// The answer of the thread; after the deadline it is interrupted until it gives one.
fn wait<T>(receiver: &Receiver<T>, deadline: Instant, thread: &std::thread::JoinHandle<()>) -> Option<T> {
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(answer) => return Some(answer),
        Err(RecvTimeoutError::Disconnected) => return None,
        Err(RecvTimeoutError::Timeout) => {}
    }
    for _ in 0..10 {
        // SAFETY: the thread has not been joined, so its handle is valid; the signal has a handler.
        unsafe { libc::pthread_kill(thread.as_pthread_t(), interrupt_signal()) };
        if let Ok(answer) = receiver.recv_timeout(Duration::from_millis(10)) {
            return Some(answer);
        }
    }
    None
}

enum Failure {
    Refused(String),
    /// By the deadline, after this CPU time.
    Interrupted(Duration),
}

/// Runs the code; gives the CPU time it took.
fn execute(kvm: &Kvm) -> Result<Duration, Failure> {
    let refused = |error: kvm_ioctls::Error| Failure::Refused(format!("/dev/kvm refuses a machine: {error}"));
    let machine = kvm.create_vm().map_err(refused)?;
    let memory = GuestMemory::new().map_err(Failure::Refused)?;
    memory.attach(&machine).map_err(refused)?;
    let mut cpu = machine.create_vcpu(0).map_err(refused)?;
    enter_long_mode(&cpu).map_err(refused)?;
    match cpu.run() {
        Ok(VcpuExit::IoOut(PORT, [ANSWER])) => Ok(cpu_time()),
        Ok(other) => Err(Failure::Refused(format!("/dev/kvm executes code wrongly: {other:?}"))),
        Err(error) if error.errno() == libc::EINTR => Err(Failure::Interrupted(cpu_time())),
        Err(error) => Err(refused(error)),
    }
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn interrupt_signal() -> libc::c_int {
    libc::SIGRTMIN() + 4
}

/// Lets the signal interrupt `KVM_RUN` and do nothing else.
fn take_interrupt_signal() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: all zeroes is a valid sigaction, and the handler touches nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(interrupt_signal(), &raw const action, std::ptr::null_mut());
    }
}

/// The guest's memory: page tables that map it one to one, descriptors and the code.
struct GuestMemory(*mut u8);

impl GuestMemory {
    fn new() -> Result<Self, String> {
        use rustix::mm::{MapFlags, ProtFlags};
        // SAFETY: a new private mapping at an address that the kernel chooses.
        let memory = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                MEMORY,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let memory = Self(memory.map_err(|error| format!("mmap: {error}"))?.cast());
        // SAFETY: the mapping has MEMORY bytes and nobody else knows it yet.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory.0, MEMORY) };
        let words: [(usize, u64); 5] = [
            (0x1000, 0x2003),                // page map level 4: one entry, present and writable
            (0x2000, 0x3003),                // directory pointers
            (0x3000, 0x0083),                // directory: one page of 2 MiB
            (0x4008, 0x00af_9b00_0000_ffff), // code segment, 64 bits
            (0x4010, 0x00cf_9300_0000_ffff), // data segment
        ];
        for (at, word) in words {
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes[CODE_AT..CODE_AT + CODE.len()].copy_from_slice(CODE);
        Ok(memory)
    }

    fn attach(&self, machine: &VmFd) -> Result<(), kvm_ioctls::Error> {
        let region = kvm_userspace_memory_region {
            slot: 0,
            flags: 0,
            guest_phys_addr: 0,
            memory_size: MEMORY as u64,
            userspace_addr: self.0 as u64,
        };
        // SAFETY: the mapping outlives the machine, which is dropped before it.
        unsafe { machine.set_user_memory_region(region) }
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size; nothing refers to it any more.
        let unmapped = unsafe { rustix::mm::munmap(self.0.cast(), MEMORY) };
        debug_assert!(unmapped.is_ok(), "the mapping was ours");
    }
}

fn enter_long_mode(cpu: &VcpuFd) -> Result<(), kvm_ioctls::Error> {
    let code = kvm_segment {
        limit: 0xffff_ffff,
        selector: 8,
        type_: 11,
        present: 1,
        s: 1,
        l: 1,
        g: 1,
        ..kvm_segment::default()
    };
    let data = kvm_segment { selector: 16, type_: 3, l: 0, db: 1, ..code };
    let mut special = cpu.get_sregs()?;
    special.cs = code;
    (special.ds, special.es, special.ss, special.fs, special.gs) = (data, data, data, data, data);
    special.gdt.base = 0x4000;
    special.gdt.limit = 23;
    special.cr3 = 0x1000;
    special.cr4 = 0x20; // physical address extension
    special.cr0 = 0x8005_0033; // paging, alignment mask, write protect, numeric error, protection
    special.efer = 0x501; // long mode enabled and active, system calls
    cpu.set_sregs(&special)?;
    let mut registers = cpu.get_regs()?;
    registers.rip = CODE_AT as u64;
    registers.rflags = 2;
    cpu.set_regs(&registers)
}

/// The answer of this boot of the host, if it was asked before.
fn remembered() -> Option<Result<(), String>> {
    let answer = recall(NAME, &boot_id())?;
    Some(if answer == WORKS { Ok(()) } else { Err(answer) })
}

fn remember(answer: &Result<(), String>) {
    keep(NAME, &boot_id(), answer.as_ref().err().map_or(WORKS, String::as_str));
}

/// Whether nobody said today that KVM does not work here; from now on somebody has.
#[must_use]
pub fn is_news() -> bool {
    let said = remembered::file(SAID);
    let age = said.metadata().and_then(|file| file.modified()).ok().and_then(|time| time.elapsed().ok());
    let is_news = age.is_none_or(|age| age >= DAY);
    if is_news {
        remembered::write(SAID, b"");
    }
    is_news
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}
