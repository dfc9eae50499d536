//! Where in memory a loop looks.

use std::collections::HashMap;

use iced_x86::{Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpKind, Register, UsedRegister};

use crate::pass;

/// The CPU that is in the loop, and what it sees.
pub trait Cpu {
    /// A register by its name in capitals, such as `RAX`, or the base of a segment, such as `GS`.
    fn register(&self, name: &str) -> Option<u64>;

    /// Eight bytes of memory.
    fn memory(&mut self, address: u64) -> Option<u64>;
}

/// The registers in a pass, as far as they are known.
struct Values<'a> {
    cpu: &'a mut dyn Cpu,
    written: HashMap<Register, Option<u64>>,
}

/// The addresses at which a pass looks, each once, as far as they can be known.
pub(crate) fn looks(instructions: &[Instruction], cpu: &mut dyn Cpu) -> Vec<u64> {
    let mut values = Values { cpu, written: HashMap::new() };
    let mut info = InstructionInfoFactory::new();
    let variables = pass::written(instructions);
    let mut found = Vec::new();
    for instruction in instructions {
        let number = pass::memory_operand(instruction);
        let address = number.and_then(|number| values.address(instruction, number));
        let info = info.info(instruction);
        let looks = pass::looks(info, &variables);
        found.extend(address.filter(|address| looks && !found.contains(address)));
        values.execute(instruction, info.used_registers(), address);
    }
    found
}

impl Values<'_> {
    fn get(&self, register: Register) -> Option<u64> {
        let full = register.full_register();
        match self.written.get(&full) {
            Some(value) => *value,
            None => self.cpu.register(&format!("{full:?}")),
        }
    }

    fn address(&self, instruction: &Instruction, number: u32) -> Option<u64> {
        instruction.virtual_address(number, 0, |register, _, _| match register {
            Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
            register => self.get(register),
        })
    }

    /// What is in registers after an instruction: of those that only move something, that is known.
    fn execute(&mut self, instruction: &Instruction, registers: &[UsedRegister], address: Option<u64>) {
        let is_move = instruction.mnemonic() == Mnemonic::Mov;
        let value = match instruction.op1_kind() {
            OpKind::Memory => address
                .filter(|_| instruction.memory_size() == MemorySize::UInt64)
                .and_then(|address| self.cpu.memory(address)),
            OpKind::Register if instruction.op1_register().is_gpr64() => self.get(instruction.op1_register()),
            _ => None,
        };
        for register in registers.iter().filter(|register| pass::writes(register.access())) {
            self.written.insert(register.register().full_register(), value.filter(|_| is_move));
        }
    }
}
