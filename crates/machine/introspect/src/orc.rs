//! How to find the caller of each instruction: Documentation/arch/x86/orc-unwinder.rst, arch/x86/include/asm/orc_types.h.

use kernel::bytes::u16_at;

use crate::btf::{Member, Types};
use crate::memory::Memory;

/// Bytes of an entry.
const ENTRY: usize = 6;

/// From where an entry counts: the frame of the caller, a register, or what is where a register points.
const FRAME: u8 = 1;
const BP: u8 = 4;
const SP: u8 = 5;
const AT_BP: u8 = 8;
const AT_SP: u8 = 9;

/// The most entries that are read: a kernel has some hundred thousand.
const ENTRIES_MAX: usize = 4 << 20;

/// How an instruction's frame is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    sp: i16,
    bp: i16,
    sp_base: u8,
    bp_base: u8,
    kind: Kind,
}

/// What is in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nobody has called it.
    End,
    /// The address behind a call.
    Call,
    /// All registers: `struct pt_regs`.
    Registers,
    /// The registers that an interrupt saves.
    Interrupt,
}

/// Where bits of an entry are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    kind: Member,
    end: Option<Member>,
    registers_ip: u64,
    registers_sp: u64,
    registers_bp: u64,
    registers_cs: u64,
}

/// The rules for a part of the code, in the order of addresses.
#[derive(Debug, Default)]
pub(crate) struct Table {
    addresses: Vec<u64>,
    entries: Vec<u8>,
}

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) ip: u64,
    pub(crate) sp: u64,
    pub(crate) bp: u64,
    /// Whether it was interrupted there; it has called otherwise, and is at the instruction before.
    pub(crate) is_interrupted: bool,
}

/// Who called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Found(Place),
    /// It is the outermost call, or a program of user space.
    Nobody,
    Unknown,
}

impl Layout {
    /// As the kernel of these types has it.
    pub(crate) fn of(types: &Types) -> Option<Self> {
        let registers = |name: &str| types.offset("pt_regs", &[name]);
        Some(Self {
            kind: types.member("orc_entry", &["type"])?,
            end: types.member("orc_entry", &["end"]),
            registers_ip: registers("ip")?,
            registers_sp: registers("sp")?,
            registers_bp: registers("bp")?,
            registers_cs: registers("cs")?,
        })
    }

    fn rule(&self, entry: &[u8]) -> Option<Rule> {
        let field = |member: Member| {
            let begin = u32::try_from(member.bits.checked_sub(32)?).ok()?;
            let bits = u32::from(u16_at(entry, 4)?).checked_shr(begin)?;
            Some(bits & 1_u32.checked_shl(member.width)?.wrapping_sub(1))
        };
        // Until Linux 6.3 the end had a bit of its own.
        let kind = match (self.end, field(self.kind)?) {
            (Some(end), _) if field(end)? == 1 => Kind::End,
            (Some(_), 0) | (None, 2) => Kind::Call,
            (Some(_), 1) | (None, 3) => Kind::Registers,
            (Some(_), 2) | (None, 4) => Kind::Interrupt,
            (None, 1) => Kind::End,
            _ => return None,
        };
        let number = |at: u64| u16_at(entry, at).map(u16::cast_signed);
        let bases = *entry.get(4)?;
        Some(Rule { sp: number(0)?, bp: number(2)?, sp_base: bases & 15, bp_base: bases >> 4, kind })
    }
}

impl Table {
    /// Reads so many rules: relative addresses in one place, entries in another.
    pub(crate) fn read(memory: &mut Memory<'_>, addresses: u64, entries: u64, count: u64) -> Option<Self> {
        let count = usize::try_from(count).ok().filter(|count| *count <= ENTRIES_MAX)?;
        let relative = memory.bytes(addresses, 4 * count)?;
        let address = |(number, bytes): (usize, &[u8])| {
            let offset = i32::from_le_bytes(bytes.try_into().unwrap_or_default());
            addresses.wrapping_add(4 * number as u64).wrapping_add_signed(offset.into())
        };
        Some(Self {
            addresses: relative.chunks_exact(4).enumerate().map(address).collect(),
            entries: memory.bytes(entries, ENTRY * count)?,
        })
    }

    fn entry(&self, ip: u64) -> Option<&[u8]> {
        let at = self.addresses.partition_point(|address| *address <= ip).checked_sub(1)?;
        self.entries.get(ENTRY * at..ENTRY * (at + 1))
    }

    /// Who called from a place.
    pub(crate) fn caller(&self, layout: &Layout, memory: &mut Memory<'_>, place: Place) -> Caller {
        let ip = if place.is_interrupted { place.ip } else { place.ip.wrapping_sub(1) };
        let rule = self.entry(ip).and_then(|entry| layout.rule(entry));
        rule.and_then(|rule| rule.caller(layout, memory, place)).unwrap_or(Caller::Unknown)
    }
}

impl Rule {
    /// Who called; nothing if some memory is not there.
    fn caller(self, layout: &Layout, memory: &mut Memory<'_>, place: Place) -> Option<Caller> {
        if self.kind == Kind::End {
            return Some(Caller::Nobody);
        }
        let frame = self.frame(memory, place)?;
        let bp = self.frame_pointer(memory, frame, place.bp);
        let mut saved = |offset: u64| memory.word(frame.wrapping_add(offset));
        let is_interrupted = self.kind != Kind::Call;
        let (segment, ip, sp, bp) = match self.kind {
            Kind::End | Kind::Call => (0, saved(0_u64.wrapping_sub(8))?, frame, bp?),
            // Address, segment, flags, stack.
            Kind::Interrupt => (saved(8)?, saved(0)?, saved(24)?, bp?),
            Kind::Registers => (
                saved(layout.registers_cs)?,
                saved(layout.registers_ip)?,
                saved(layout.registers_sp)?,
                saved(layout.registers_bp)?,
            ),
        };
        let is_program = segment & 3 != 0;
        Some(if is_program { Caller::Nobody } else { Caller::Found(Place { ip, sp, bp, is_interrupted }) })
    }

    /// Where the frame of the caller is.
    fn frame(self, memory: &mut Memory<'_>, place: Place) -> Option<u64> {
        let by = |base: u64| base.wrapping_add_signed(self.sp.into());
        match self.sp_base {
            BP => Some(by(place.bp)),
            SP => Some(by(place.sp)),
            AT_BP => memory.word(by(place.bp)),
            AT_SP => memory.word(place.sp).map(by),
            _ => None,
        }
    }

    /// The frame pointer of the caller.
    fn frame_pointer(self, memory: &mut Memory<'_>, frame: u64, bp: u64) -> Option<u64> {
        match self.bp_base {
            FRAME => memory.word(frame.wrapping_add_signed(self.bp.into())),
            BP => memory.word(bp.wrapping_add_signed(self.bp.into())),
            _ => Some(bp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::Bytes;

    fn layout(has_end: bool) -> Layout {
        let field = |bits, width| Member { bits, width };
        Layout {
            kind: field(40, if has_end { 2 } else { 3 }),
            end: has_end.then(|| field(42, 1)),
            registers_ip: 16,
            registers_sp: 32,
            registers_bp: 8,
            registers_cs: 24,
        }
    }

    /// One rule for all addresses from 0x100 on.
    fn table(sp: i16, bases: u8, kind: u8) -> Table {
        let [low, high] = sp.to_le_bytes();
        Table { addresses: vec![0x100], entries: vec![low, high, 0xf0, 0xff, bases, kind] }
    }

    fn caller(table: &Table, layout: &Layout, is_interrupted: bool) -> Caller {
        let mut machine = Bytes(vec![0; 0x6000]);
        // One page for the tables, at the same addresses.
        for (table, entry) in [(0x1000, 0x2003), (0x2000, 0x3003), (0x3000, 0x4003)] {
            machine.set(table, entry);
        }
        machine.set(0x4000 + 8 * 5, 0x5003);
        for (at, word) in [(0x5008, 7), (0x5010, 0x180), (0x5018, 0x10), (0x5020, 0x5fff)] {
            machine.set(at, word);
        }
        let place = Place { ip: 0x100, sp: 0x5000, bp: 0x5018, is_interrupted };
        table.caller(layout, &mut Memory::new(&mut machine, 0x1000, 4), place)
    }

    #[test]
    fn a_caller_is_where_the_rule_says() {
        // By the stack pointer, 24 bytes on; the frame pointer is 16 bytes before.
        let found = caller(&table(24, 0x15, 2), &layout(false), true);
        assert_eq!(found, Caller::Found(Place { ip: 0x180, sp: 0x5018, bp: 7, is_interrupted: false }));
        assert_eq!(caller(&table(24, 0x15, 0), &layout(true), true), found, "the same until 6.3");
        assert_eq!(caller(&table(0, 0x14, 2), &layout(false), true), found, "by the frame pointer");
    }

    #[test]
    fn behind_a_call_the_rule_is_that_of_the_call() {
        assert_eq!(
            caller(&table(24, 0x15, 2), &layout(false), false),
            Caller::Unknown,
            "it is before the first"
        );
    }

    #[test]
    fn registers_that_were_saved_say_where_it_was_interrupted() {
        let found = caller(&table(0, 0x05, 3), &layout(false), true);
        assert_eq!(found, Caller::Found(Place { ip: 0x180, sp: 0x5fff, bp: 7, is_interrupted: true }));
        // At 0x5008 there would be address 7 with the segment of a program.
        assert_eq!(
            caller(&table(8, 0x05, 4), &layout(false), true),
            Caller::Found(Place { ip: 7, sp: 0x5fff, bp: 0x5018, is_interrupted: true })
        );
    }

    #[test]
    fn an_entry_whose_bits_are_elsewhere_is_no_rule() {
        for (bits, width) in [(0, 3), (u64::MAX, 3), (64, 3), (40, 0), (40, 200)] {
            let layout = Layout { kind: Member { bits, width }, ..layout(false) };
            assert_eq!(caller(&table(24, 0x15, 2), &layout, true), Caller::Unknown, "{bits} {width}");
        }
    }

    #[test]
    fn an_end_is_told_from_what_nobody_knows() {
        assert_eq!(caller(&table(0, 0x05, 1), &layout(false), true), Caller::Nobody);
        assert_eq!(caller(&table(0, 0x05, 4), &layout(true), true), Caller::Nobody);
        assert_eq!(caller(&table(0, 0x05, 0), &layout(false), true), Caller::Unknown);
        assert_eq!(caller(&table(0, 0x07, 2), &layout(false), true), Caller::Unknown, "by another register");
        assert_eq!(caller(&table(i16::MAX, 0x05, 2), &layout(false), true), Caller::Unknown, "no memory");
    }
}
