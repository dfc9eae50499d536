//! What is executed, to the instruction.
//!
//! QEMU says when a block begins; `progress` is the number of all instructions that have begun since the machine's
//! start. A block may be left before its end:
//!
//! * by a fault: the instruction that made it has begun and is not executed, and begins once more later. The block that
//!   follows is where the kernel takes faults. Those places are learned where a block of user space is left in its
//!   middle, which nothing but a fault does, and known long before anything is recorded.
//! * by an instruction that talks to a device: QEMU gives it a block of its own, unseen, and goes on behind it
//! * by an instruction that changes the block's own code: it begins once more
//!
//! A fault may also come where a block ends: of its last instruction, or since there is no code yet where it leads.
//! In the kernel it is the former, but for a return to user space. In user space that instruction begins once more, or
//! it does not. QEMU 7.2 counts an instruction across two pages as the last one of a block although it ends before it.
//!
//! Two are not recognised, and the instruction counts as executed: a fault of the kernel of a kind that user space does not
//! make, such as that of an `rdmsr` that the kernel tries, and a fault of the last instruction of a block of user space
//! that does not begin once more, because a signal is made of it.

use protocol::profile::EXECUTIONS_MAX;

use crate::blocks::{Block, Blocks, Id};
use crate::executions::Executions;
use crate::job::{Job, Tally};
use crate::stacks::{End, Stacks};

/// Size of a page, in bytes.
const PAGE: u64 = 4096;

/// Counts.
#[derive(Debug, Default)]
pub struct Recorder {
    /// All blocks.
    pub blocks: Blocks,
    /// The job so far.
    pub job: Job,
    /// The block that is executed, and what `progress` was at its beginning.
    current: Id,
    start: u64,
    state: State,
    /// Since recording began; less than nothing at first, by what the current block did before.
    tally: Tally,
    /// The kernel's blocks that were executed since then, by the calls that led to them.
    executions: Executions,
    /// Who called whom, if that is told: without calls all is one chain.
    pub stacks: Stacks,
    /// Where on the stack the call or return at the end of the current block found its address.
    place: Option<u64>,
    /// The last instruction of a block of user space after which a fault came, if that may have been its own.
    suspect: Option<u64>,
}

/// Where in a repetition it is.
#[derive(Debug, Clone, Copy, Default)]
enum State {
    /// In none.
    #[default]
    Idle,
    /// The mark has been seen: recording begins when the time-stamp counter is read.
    Armed,
    /// Recording; with what there was when the counter was last read.
    Recording(Option<Tally>),
}

impl Recorder {
    /// A block begins.
    pub fn block(&mut self, id: Id, progress: u64) {
        let begun = progress.wrapping_sub(self.start);
        let before = std::mem::replace(&mut self.current, id);
        self.start = progress;
        let whole = begun == self.blocks.get(before).length();
        // Outside of repetitions only what is left in its middle has something to teach.
        if whole && matches!(self.state, State::Idle) {
            return;
        }
        if whole && !self.blocks.get(id).fault_entry && self.suspect.is_none() {
            self.count(before, begun, true);
        } else {
            let executed = self.settle(before, begun, id);
            self.count(before, executed, whole && executed == begun);
        }
        self.follow(before, id);
    }

    /// The current block's last instruction, a call or a return, writes or reads its address of return here.
    pub fn stack(&mut self, place: u64) {
        self.place = Some(place);
    }

    /// Follows a call or a return at the end of a block. An interrupt that comes just then is taken for what was called.
    fn follow(&mut self, before: Id, next: Id) {
        let place = self.place.take();
        let State::Recording(_) = self.state else { return };
        let (block, next) = (self.blocks.get(before), self.blocks.get(next));
        match (block.end, place) {
            _ if !block.is_kernel() && next.is_kernel() => self.stacks.enter(),
            (End::Call, Some(place)) => {
                self.stacks.call(place, block.instruction(block.length()), next.address);
            }
            (End::Return, Some(place)) => self.stacks.return_to(place, next.address),
            _ => {}
        }
    }

    /// How many of the instructions of a block that have begun were executed, as the block that follows tells.
    fn settle(&mut self, before: Id, begun: u64, next: Id) -> u64 {
        let (block, next) = (self.blocks.get(before), self.blocks.get(next));
        let (address, fault) = (next.address, next.fault_entry);
        let last = block.instruction(begun.saturating_sub(1));
        let goes_on = block.instruction(begun);
        let (user, leaves) = (!block.is_kernel(), block.end == End::Leave);
        if leaves && !next.is_kernel() && self.suspect.take() == Some(address) {
            self.tally.user = self.tally.user.wrapping_sub(1);
        }
        let ended = begun >= block.length() || (user && begun + 1 == block.length() && ends_page(goes_on));
        if ended {
            if fault && user {
                self.suspect = Some(last);
            }
            return begun.saturating_sub(u64::from(fault && !user && !leaves && block.length() > 0));
        }
        let learn = user && next.is_kernel() && !fault;
        if learn {
            self.blocks.add_fault_entry(address);
        }
        begun.saturating_sub(u64::from(fault || learn || address == last))
    }

    /// Counts so many instructions of a block.
    fn count(&mut self, id: Id, executed: u64, whole: bool) {
        let State::Recording(_) = self.state else { return };
        if !self.blocks.get(id).is_kernel() {
            self.tally.user = self.tally.user.wrapping_add(executed);
            return;
        }
        self.tally.kernel += executed;
        if executed == 0 {
            return;
        }
        let id = if whole { id } else { self.part(id, executed) };
        self.executions.add(self.stacks.current(), id, EXECUTIONS_MAX);
    }

    /// The first instructions of a block as a block of their own.
    fn part(&mut self, id: Id, executed: u64) -> Id {
        let Block { address, ref sizes, .. } = *self.blocks.get(id);
        let part: Box<[u8]> = sizes.iter().copied().take(usize::try_from(executed).unwrap_or(0)).collect();
        self.blocks.id(address, &part)
    }

    /// A repetition begins.
    pub fn begin(&mut self) {
        self.state = State::Armed;
    }

    /// User space reads the time-stamp counter.
    pub fn time_stamp(&mut self, progress: u64) {
        let begun = progress.wrapping_sub(self.start);
        match &mut self.state {
            State::Idle => {}
            State::Armed => {
                self.tally = Tally { user: 0u64.wrapping_sub(begun), kernel: 0 };
                (self.suspect, self.place) = (None, None);
                self.executions.clear();
                self.stacks.forget();
                self.state = State::Recording(None);
            }
            State::Recording(read) => {
                *read = Some(Tally { user: self.tally.user.wrapping_add(begun), ..self.tally });
            }
        }
    }

    /// A repetition has ended. What the kernel did since the counter was read, which only an interrupt makes it do, is
    /// among the blocks, so that they are of no use.
    pub fn end(&mut self) {
        let State::Recording(Some(tally)) = std::mem::take(&mut self.state) else { return };
        self.job.list(tally);
        if tally.kernel == self.tally.kernel {
            self.job.add(tally, || self.executions.sorted());
        } else {
            self.job.dropped += 1;
        }
    }

    /// The job is over.
    pub fn job_done(&mut self) -> Job {
        self.state = State::Idle;
        std::mem::take(&mut self.job)
    }
}

/// Whether an instruction that begins here may go beyond its page; none has more than 15 bytes.
fn ends_page(address: u64) -> bool {
    address % PAGE > PAGE - 15
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    const FAULT: u64 = 0xffff_ffff_8200_0000;

    /// A machine that executes blocks of instructions of one byte.
    #[derive(Default)]
    struct Machine {
        recorder: Recorder,
        progress: u64,
    }

    impl Machine {
        fn block(&mut self, address: u64, length: usize) -> Id {
            let id = self.recorder.blocks.id(address, &vec![1; length]);
            self.recorder.block(id, self.progress);
            id
        }

        /// A block of which so many instructions begin.
        fn part(&mut self, address: u64, length: usize, begun: u64) {
            self.block(address, length);
            self.progress += begun;
        }

        fn whole(&mut self, address: u64, length: usize) {
            self.part(address, length, length as u64);
        }

        /// The kernel takes a fault and goes back.
        fn fault(&mut self) {
            self.whole(FAULT, 2);
            let id = self.block(FAULT + 0x100, 1);
            self.recorder.blocks.known(id).unwrap().end = End::Leave;
            self.progress += 1;
        }

        /// One repetition, in which `body` is executed between blocks of two instructions each; what is counted.
        fn repetition(body: impl Fn(&mut Self)) -> Job {
            let mut machine = Self::default();
            machine.part(0x500, 5, 2);
            machine.fault();
            machine.recorder.begin();
            machine.part(0x100, 2, 1);
            machine.recorder.time_stamp(machine.progress);
            machine.progress += 1;
            body(&mut machine);
            machine.part(0x200, 2, 1);
            machine.recorder.time_stamp(machine.progress);
            machine.progress += 1;
            machine.recorder.end();
            machine.recorder.job_done()
        }

        fn tally(body: impl Fn(&mut Self)) -> (u64, u64) {
            let job = Self::repetition(body);
            assert_eq!((job.repetitions.len(), job.dropped), (1, 0));
            // Two are of the blocks around.
            (job.repetitions[0].user - 2, job.repetitions[0].kernel)
        }
    }

    #[test]
    fn whole_blocks_count_with_all_of_their_instructions() {
        let body = |machine: &mut Machine| {
            machine.whole(0x1000, 3);
            machine.whole(KERNEL, 5);
            machine.whole(KERNEL, 5);
        };
        assert_eq!(Machine::tally(body), (3, 10));
        let job = Machine::repetition(body);
        assert_eq!(
            job.variants[0].blocks.iter().map(|&(_, _, executions)| executions).collect::<Vec<_>>(),
            [2]
        );
    }

    #[test]
    fn an_instruction_that_faults_counts_when_it_succeeds() {
        let user = |machine: &mut Machine| {
            machine.part(0x1000, 5, 3);
            machine.fault();
            machine.whole(0x1002, 3);
        };
        assert_eq!(Machine::tally(user), (5, 3));
        let kernel = |machine: &mut Machine| {
            machine.part(KERNEL, 5, 3);
            machine.whole(FAULT, 2);
            machine.whole(KERNEL + 2, 3);
        };
        assert_eq!(Machine::tally(kernel), (0, 7));
    }

    #[test]
    fn a_fault_of_the_last_instruction_is_told_from_missing_code_behind_it() {
        let own = |machine: &mut Machine| {
            machine.whole(0x1000, 5);
            machine.fault();
            machine.whole(0x1004, 1);
        };
        assert_eq!(Machine::tally(own), (5, 3));
        let code = |machine: &mut Machine| {
            machine.whole(0x1000, 5);
            machine.fault();
            machine.whole(0x2000, 1);
        };
        assert_eq!(Machine::tally(code), (6, 3));
        let kernel = |machine: &mut Machine| {
            machine.whole(KERNEL, 5);
            machine.whole(FAULT, 2);
            machine.whole(KERNEL + 4, 1);
        };
        assert_eq!(Machine::tally(kernel), (0, 7));
        let after_return = |machine: &mut Machine| {
            machine.fault();
            machine.fault();
        };
        assert_eq!(Machine::tally(after_return), (0, 6));
    }

    #[test]
    fn missing_code_behind_the_end_of_a_page_is_no_fault_of_the_last_instruction() {
        let body = |machine: &mut Machine| {
            machine.part(0x1ff0, 10, 9);
            machine.fault();
            machine.whole(0x1ff9, 3);
        };
        assert_eq!(Machine::tally(body), (12, 3));
    }

    #[test]
    fn an_instruction_that_talks_to_a_device_counts_once() {
        let body = |machine: &mut Machine| {
            machine.part(KERNEL, 5, 3);
            machine.whole(KERNEL + 3, 2);
        };
        assert_eq!(Machine::tally(body), (0, 5));
    }

    #[test]
    fn an_instruction_that_begins_once_more_counts_once() {
        let body = |machine: &mut Machine| {
            machine.part(KERNEL, 5, 3);
            machine.whole(KERNEL + 2, 3);
        };
        assert_eq!(Machine::tally(body), (0, 5));
    }

    #[test]
    fn the_blocks_add_up_to_the_kernels_instructions() {
        let job = Machine::repetition(|machine| {
            machine.part(KERNEL, 5, 3);
            machine.whole(FAULT, 2);
            machine.part(KERNEL + 2, 3, 1);
            machine.whole(KERNEL + 3, 2);
        });
        // Two of the first part, the fault's, one and two.
        assert_eq!(job.variants[0].tally.kernel, 7);
        assert_eq!(job.variants[0].blocks.len(), 4);
    }

    #[test]
    fn what_an_interrupt_adds_behind_the_clock_drops_the_repetition() {
        let mut machine = Machine::default();
        machine.recorder.begin();
        for _ in 0..2 {
            machine.whole(0x100, 1);
            machine.recorder.time_stamp(machine.progress);
        }
        machine.whole(KERNEL, 5);
        machine.whole(0x100, 1);
        machine.recorder.end();
        let job = machine.recorder.job_done();
        assert_eq!((job.repetitions.len(), job.variants.len(), job.dropped), (1, 0, 1));
        assert_eq!(job.repetitions[0].kernel, 0);
    }

    #[test]
    fn nothing_is_recorded_without_its_marks() {
        let mut machine = Machine::default();
        machine.whole(KERNEL, 5);
        machine.recorder.time_stamp(machine.progress);
        machine.recorder.end();
        machine.recorder.begin();
        machine.recorder.end();
        assert!(machine.recorder.job_done().repetitions.is_empty());
    }
}
