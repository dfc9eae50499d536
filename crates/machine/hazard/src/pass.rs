//! One pass of a loop.

use std::collections::HashSet;

use iced_x86::{
    Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
    UsedRegister,
};

/// What a pass reads and writes.
#[derive(Default)]
struct Pass {
    /// The variables that are read before they are written, and those that are written.
    read: HashSet<Place>,
    written: HashSet<Place>,
    /// Something is stored that is no variable of the loop.
    stores: bool,
    /// It looks at something that it does not write itself.
    looks: bool,
}

/// Where a variable of the loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Register(Register),
    /// On the stack.
    Slot(Register, u64),
}

impl Place {
    /// The variable of the loop that this is, if it is on the stack.
    fn of_memory(used: &UsedMemory) -> Option<Self> {
        let is_slot = matches!(used.base(), Register::RSP | Register::RBP) && used.index() == Register::None;
        is_slot.then(|| Self::Slot(used.base(), used.displacement()))
    }

    fn of_register(used: &UsedRegister) -> Self {
        Self::Register(used.register().full_register())
    }
}

/// Whether a loop waits.
pub(crate) fn waits(instructions: &[Instruction]) -> bool {
    let has = |wanted: &[Mnemonic]| instructions.iter().any(|it| wanted.contains(&it.mnemonic()));
    if has(&[Mnemonic::Rdtsc, Mnemonic::Rdtscp]) {
        return false;
    }
    let pass = Pass::of(instructions);
    let changes = pass.stores || pass.written.iter().any(|place| pass.read.contains(place));
    let counts = instructions.iter().any(|it| it.has_lock_prefix() && !may_fail(it));
    (pass.looks || has(&[Mnemonic::In])) && (has(&[Mnemonic::Pause]) || (!changes && !counts))
}

/// The variables that a pass writes.
pub(crate) fn written(instructions: &[Instruction]) -> HashSet<Place> {
    Pass::of(instructions).written
}

/// Whether a locked instruction tells by its result whether it got what it wanted; the others change memory each time.
fn may_fail(instruction: &Instruction) -> bool {
    let tries = [Mnemonic::Cmpxchg, Mnemonic::Cmpxchg8b, Mnemonic::Cmpxchg16b, Mnemonic::Xchg];
    let bits = [Mnemonic::Bts, Mnemonic::Btr, Mnemonic::Btc];
    tries.contains(&instruction.mnemonic()) || bits.contains(&instruction.mnemonic())
}

/// Whether an instruction looks at memory that is no variable of the loop.
pub(crate) fn looks(info: &InstructionInfo, variables: &HashSet<Place>) -> bool {
    let is_variable =
        |used: &UsedMemory| Place::of_memory(used).is_some_and(|slot| variables.contains(&slot));
    info.used_memory().iter().any(|used| reads(used.access()) && !is_variable(used))
}

/// Which of its operands is in memory.
pub(crate) fn memory_operand(instruction: &Instruction) -> Option<u32> {
    (0..instruction.op_count()).find(|number| instruction.op_kind(*number) == OpKind::Memory)
}

impl Pass {
    fn of(instructions: &[Instruction]) -> Self {
        let mut pass = Self::default();
        let mut info = InstructionInfoFactory::new();
        instructions.iter().for_each(|instruction| pass.execute(instruction, info.info(instruction)));
        // What comes later in a pass is before the beginning of the next one.
        pass.looks = instructions.iter().any(|instruction| looks(info.info(instruction), &pass.written));
        pass
    }

    fn execute(&mut self, instruction: &Instruction, info: &InstructionInfo) {
        let is_atomic = memory_operand(instruction).is_some()
            && (instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg);
        for used in info.used_registers() {
            // What an atomic instruction finds in memory is in its register after it, whatever was there before.
            let is_result = is_atomic && writes(used.access());
            let is_place = matches!(used.register(), Register::RSP | Register::RIP);
            if !is_result && !is_place {
                self.read(Place::of_register(used), used.access());
            }
        }
        for used in info.used_memory().iter().filter(|_| !is_atomic) {
            match Place::of_memory(used) {
                Some(slot) => self.read(slot, used.access()),
                None => self.stores |= writes(used.access()),
            }
        }
        let slots = info.used_memory().iter().filter(|used| !is_atomic && writes(used.access()));
        self.written.extend(slots.filter_map(Place::of_memory));
        let registers = info.used_registers().iter().filter(|used| writes(used.access()));
        self.written.extend(registers.map(Place::of_register));
    }

    fn read(&mut self, place: Place, access: OpAccess) {
        if reads(access) && !self.written.contains(&place) {
            self.read.insert(place);
        }
    }
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

pub(crate) fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}
