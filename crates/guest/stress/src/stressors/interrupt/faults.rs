//! `sigsegv`, `sigfpe`, `sigtrap`, `sigill`, `sigbus`: signals for what an instruction did.

use std::arch::asm;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use harness::check::{Checked, equal};
use harness::sys::handle;
use rustix::mm::MprotectFlags;
use rustix::param::page_size;

use crate::Worker;
use crate::kit::file;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Stressor};

const FAULT: Stressor =
    Stressor { classes: &[Class::Interrupt, Class::Os], operation: "one fault, handled", ..Stressor::PLAIN };

pub(super) const SIGSEGV: Stressor = Stressor {
    name: "sigsegv",
    about: "writes to memory that can only be read, and reads of what is not there",
    verifies: "the signal's address and reason: SEGV_ACCERR or SEGV_MAPERR",
    body: segv,
    ..FAULT
};

pub(super) const SIGFPE: Stressor = Stressor {
    name: "sigfpe",
    about: "divisions by zero and quotients that do not fit",
    verifies: "the signal's reason: FPE_INTDIV",
    body: fpe,
    ..FAULT
};

pub(super) const SIGTRAP: Stressor = Stressor {
    name: "sigtrap",
    about: "breakpoints: INT3",
    verifies: "the signal comes for each breakpoint",
    body: trap,
    ..FAULT
};

pub(super) const SIGILL: Stressor = Stressor {
    name: "sigill",
    about: "an instruction that does not exist: UD2",
    verifies: "the signal's address and reason: ILL_ILLOPN",
    body: ill,
    ..FAULT
};

pub(super) const SIGBUS: Stressor = Stressor {
    name: "sigbus",
    about: "reads behind the end of a mapped file",
    verifies: "the signal's address and reason: BUS_ADRERR",
    body: bus,
    ..FAULT
};

/// The last signal, its reason and its address; where the handler lets the program go on.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static CODE: AtomicI32 = AtomicI32::new(0);
static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static CONTINUE: AtomicUsize = AtomicUsize::new(0);

/// Notes the signal, and goes on at the place that was set.
extern "C" fn skip_over(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    SIGNAL.store(signal, Ordering::Relaxed);
    // SAFETY: the kernel passes both, and signals of faults have an address.
    unsafe {
        CODE.store((*info).si_code, Ordering::Relaxed);
        ADDRESS.store((*info).si_addr().addr(), Ordering::Relaxed);
        let context = context.cast::<libc::ucontext_t>();
        let place = CONTINUE.load(Ordering::Relaxed);
        if place != 0 {
            (*context).uc_mcontext.gregs[libc::REG_RIP as usize] = place as i64;
        }
    }
}

/// Signal, reason and address of the last fault.
fn seen() -> (i32, i32, usize) {
    let (signal, code) = (SIGNAL.swap(0, Ordering::Relaxed), CODE.swap(0, Ordering::Relaxed));
    (signal, code, ADDRESS.swap(0, Ordering::Relaxed))
}

/// Runs one instruction that faults; the handler goes on behind it. Gives the address of the instruction.
macro_rules! faulting {
    ($instruction:literal $(, $name:ident = $value:expr)*) => {{
        let at: usize;
        // SAFETY: the handler goes on behind the instruction, which changes no memory and only what is named.
        unsafe {
            asm!(
                "lea {at}, [rip + 2f]",
                "mov [{place}], {at}",
                "lea {at}, [rip + 3f]",
                "3:",
                $instruction,
                "2:",
                at = out(reg) at,
                place = in(reg) CONTINUE.as_ptr(),
                $($name = in(reg) $value,)*
                out("rax") _,
                out("rdx") _,
            );
        }
        CONTINUE.store(0, Ordering::Relaxed);
        at
    }};
}

fn segv(worker: &Worker) -> Checked {
    const NO_MAPPING: i32 = 1;
    const NO_ACCESS: i32 = 2;
    handle(libc::SIGSEGV, skip_over, libc::SA_NODEFER)?;
    let memory = Memory::private(page_size())?;
    memory.area().protect(MprotectFlags::READ)?;
    let place = memory.area().start.addr();
    worker.repeat(|| {
        faulting!("mov byte ptr [{target}], 1", target = place);
        equal("a write to what can only be read", seen(), (libc::SIGSEGV, NO_ACCESS, place))?;
        faulting!("mov al, byte ptr [{target}]", target = 8_usize);
        equal("a read of what is not there", seen(), (libc::SIGSEGV, NO_MAPPING, 8))
    })
}

fn fpe(worker: &Worker) -> Checked {
    const DIVIDED: i32 = 1;
    handle(libc::SIGFPE, skip_over, libc::SA_NODEFER)?;
    worker.repeat(|| {
        let at = faulting!("div {divisor:e}", divisor = 0_u32);
        equal("a division by zero", seen(), (libc::SIGFPE, DIVIDED, at))?;
        let at = faulting!("mov edx, 7; div {divisor:e}", divisor = 3_u32);
        let (signal, code, place) = seen();
        equal("a quotient that does not fit", (signal, code), (libc::SIGFPE, DIVIDED))?;
        equal("where the instruction before it is", place > at, true)
    })
}

fn trap(worker: &Worker) -> Checked {
    handle(libc::SIGTRAP, skip_over, libc::SA_NODEFER)?;
    worker.repeat(|| {
        // The program goes on behind a breakpoint by itself.
        // SAFETY: the handler only notes the signal.
        unsafe { asm!("int3") };
        let (signal, code, _) = seen();
        equal("signal and reason", (signal, code), (libc::SIGTRAP, libc::SI_KERNEL))
    })
}

fn ill(worker: &Worker) -> Checked {
    const NO_OPERAND: i32 = 2;
    handle(libc::SIGILL, skip_over, libc::SA_NODEFER)?;
    worker.repeat(|| {
        let at = faulting!("ud2");
        equal("signal, reason and address", seen(), (libc::SIGILL, NO_OPERAND, at))
    })
}

fn bus(worker: &Worker) -> Checked {
    const NO_ADDRESS: i32 = 2;
    handle(libc::SIGBUS, skip_over, libc::SA_NODEFER)?;
    let file = file::create("short")?;
    file.set_len(1)?;
    let memory = Memory::of(&file, 2 * page_size())?;
    let place = memory.area().page(1).addr();
    worker.repeat(|| {
        faulting!("mov al, byte ptr [{target}]", target = place);
        equal("a read behind the end", seen(), (libc::SIGBUS, NO_ADDRESS, place))
    })
}
