//! What a machine that is held in a loop does there.

use ::hazard::{Cpu, Loop};
use introspect::{Kernel, Registers, Task};

use super::monitor::Monitor;
use super::processors::{Processor, processors};
use super::tasks::{Memory, Places};
use crate::hazards::{InProgram, Look, Spin};

/// Bytes of the stack of a program at most.
const STACK_MAX: usize = 64 << 10;

/// Fills in what is known of a CPU that waits by the memory of the machine.
pub(super) fn examine(
    monitor: &mut Monitor,
    process: u32,
    code: &Loop,
    spin: &mut Spin,
) -> Result<(), String> {
    let processors = processors(monitor).ok_or("QEMU does not show the registers")?;
    let processor = processors.get(spin.cpu as usize).ok_or("QEMU does not show that CPU")?;
    let cpus: Vec<Registers> = processors.iter().map(Processor::place).collect();
    let mut places = Places::open(process)?;
    let mut memory = Memory::new(monitor, &mut places);
    let mut kernel = Kernel::find(&mut memory, processor.tables()).map_err(|missing| missing.to_string())?;
    spin.function = kernel.function(spin.address);
    spin.calls = kernel.calls(processor.place());
    spin.program = is_in_program(spin.address).then(|| {
        let registers = processor.place();
        let stack = kernel.bytes(registers.sp, STACK_MAX);
        InProgram { registers, code: code.code().to_vec(), stack }
    });
    let looks = code.looks_at(&mut Seen { processor, kernel: &mut kernel });
    let look = |address| Look { address, name: kernel.data(address) };
    spin.looks_at = looks.into_iter().map(look).collect();
    let tasks = kernel.tasks(&cpus).map_err(|missing| missing.to_string())?;
    spin.tasks = tasks.into_iter().filter(says_something).collect();
    Ok(())
}

/// Programs have the lower half of all addresses.
fn is_in_program(address: u64) -> bool {
    address >> 63 == 0
}

/// Whether a task may be what is waited for.
fn says_something(task: &Task) -> bool {
    task.on_cpu.is_some() || !task.locks.is_empty()
}

/// What the CPU sees.
struct Seen<'a, 'm> {
    processor: &'a Processor,
    kernel: &'a mut Kernel<'m>,
}

impl Cpu for Seen<'_, '_> {
    fn register(&self, name: &str) -> Option<u64> {
        self.processor.register(name)
    }

    fn memory(&mut self, address: u64) -> Option<u64> {
        self.kernel.word(address)
    }
}
