//! What the functions of a typical repetition cost, and who called them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::job::Executed;
use super::symbolized::{Place, Symbolized};
use crate::{Detail, Function};

/// The name of code that no symbol names.
const UNKNOWN: &str = "[unknown]";

impl Symbolized {
    /// What a typical repetition of a job executed: see [`Job::typical`](super::Job::typical). Looking at the clock is
    /// not in it. Functions, and stacks as well if there are some, add up to the kernel's instructions.
    #[must_use]
    pub fn detail(&self, job: usize, wanted: Option<u64>) -> Option<Detail> {
        let job = self.profile.jobs.get(job)?;
        let variant = job.typical(wanted)?;
        let mut costs = Costs { code: self, functions: BTreeMap::new(), stacks: BTreeMap::new() };
        variant.blocks.iter().for_each(|executed| costs.add(executed));
        let attributed = costs.functions.values().map(|it| it.instructions).fold(0, u64::saturating_add);
        costs.add_instructions(0, None, variant.tally.kernel.saturating_sub(attributed));
        Some(Detail {
            user: variant.tally.user.saturating_sub(job.own_cost()),
            kernel: variant.tally.kernel,
            stacks: costs.folded(),
            functions: costs.in_order(),
        })
    }
}

#[derive(Default)]
struct Cost {
    instructions: u64,
    calls: u64,
}

struct Costs<'a> {
    code: &'a Symbolized,
    functions: BTreeMap<Place, Cost>,
    /// Instructions by the chain of calls and the function that they are in.
    stacks: BTreeMap<(u32, Place), u64>,
}

impl Costs<'_> {
    /// Adds the instructions of a block to their functions.
    fn add(&mut self, executed: &Executed) {
        let times = u64::from(executed.times);
        for run in self.code.block(executed.block) {
            self.add_instructions(executed.stack, run.place, run.instructions.saturating_mul(times));
            if run.is_call {
                let calls = &mut self.functions.entry(run.place).or_default().calls;
                *calls = calls.saturating_add(times);
            }
        }
    }

    fn add_instructions(&mut self, stack: u32, place: Place, count: u64) {
        if count == 0 {
            return;
        }
        let function = &mut self.functions.entry(place).or_default().instructions;
        *function = function.saturating_add(count);
        if !self.code.profile.stacks.is_empty() {
            let stack = self.stacks.entry((stack, place)).or_default();
            *stack = stack.saturating_add(count);
        }
    }

    fn name(&self, place: Place) -> &str {
        place.and_then(|place| self.code.symbols.get(place)).map_or(UNKNOWN, |symbol| symbol.name)
    }

    /// The functions of a chain of calls, from the outermost, and behind them `inner`: it was called if it is not the
    /// last of the chain, or it was jumped to from there. A call into the middle of the caller is none.
    fn path(&self, stack: u32, inner: Place) -> String {
        let entry = |number: u32| self.code.profile.stack(number);
        let chain = std::iter::successors(entry(stack), |stack| entry(stack.caller));
        let symbols = &self.code.symbols;
        let mut places: Vec<(Place, bool)> = chain.map(|stack| symbols.entered(stack.entry)).collect();
        places.reverse();
        places.push((inner, false));
        places.dedup_by(|(place, entered), (caller, _)| place == caller && !*entered);
        places.iter().map(|&(place, _)| self.name(place)).collect::<Vec<_>>().join(";")
    }

    fn folded(&self) -> Vec<(String, u64)> {
        let mut folded = BTreeMap::<String, u64>::new();
        for (&(stack, inner), &instructions) in &self.stacks {
            let sum = folded.entry(self.path(stack, inner)).or_default();
            *sum = sum.saturating_add(instructions);
        }
        folded.into_iter().collect()
    }

    /// One entry for each name, which several functions may share, and most instructions first.
    fn in_order(self) -> Vec<Function> {
        let mut by_name = BTreeMap::<&str, Function>::new();
        for (&place, &Cost { instructions, calls }) in &self.functions {
            let name = self.name(place);
            match by_name.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(Function { name: name.to_string(), instructions, calls });
                }
                Entry::Occupied(mut entry) => {
                    let same = entry.get_mut();
                    same.instructions = same.instructions.saturating_add(instructions);
                    same.calls = same.calls.saturating_add(calls);
                }
            }
        }
        let mut all: Vec<Function> = by_name.into_values().collect();
        all.sort_by_key(|function| std::cmp::Reverse(function.instructions));
        all
    }
}

#[cfg(test)]
mod tests {
    use protocol::measure::{EMPTY_REPETITIONS, WARM_UP};

    use super::super::file::{Block, Profile, Stack};
    use super::super::job::{Job, Tally, Variant};
    use super::super::symbols::Symbols;
    use super::*;

    const TEXT: &str = "ffffffff81000000 T entry\nffffffff81000010 T inner\nffffffff81000020 t same\n\
        ffffffff81000030 t same\n";

    /// A job with one repetition of 8 instructions in user space, 5 of which are for looking at the clock.
    fn job(kernel: u64, blocks: Vec<Executed>) -> Job {
        let tally = Tally { user: 8, kernel };
        let mut repetitions = vec![Tally { user: 5, kernel: 0 }; EMPTY_REPETITIONS + WARM_UP];
        repetitions.push(tally);
        Job { repetitions, dropped: 0, variants: vec![Variant { repetitions: 1, tally, blocks }] }
    }

    fn profile(blocks: &[(u64, &[u8])], executions: &[(u32, u32)], kernel: u64) -> Profile {
        let blocks =
            blocks.iter().map(|&(address, sizes)| Block { address, sizes: sizes.to_vec() }).collect();
        let executed = executions.iter().map(|&(block, times)| Executed { stack: 0, block, times });
        Profile {
            blocks,
            stacks: Vec::new(),
            jobs: vec![job(kernel, executed.collect())],
            counted: Vec::new(),
        }
    }

    fn detail(profile: Profile) -> Detail {
        Symbolized::new(profile, Symbols::parse(TEXT)).detail(0, None).unwrap()
    }

    fn functions(detail: &Detail) -> Vec<(&str, u64, u64)> {
        detail.functions.iter().map(|it| (it.name.as_str(), it.instructions, it.calls)).collect()
    }

    #[test]
    fn a_block_across_two_functions_is_split() {
        // Three instructions of `entry` from its middle, two of `inner`; and the whole of a jump into `inner`.
        let blocks: [(u64, &[u8]); 2] =
            [(0xffff_ffff_8100_0004, &[4, 4, 4, 2, 2]), (0xffff_ffff_8100_0012, &[2])];
        let detail = detail(profile(&blocks, &[(0, 10), (1, 3)], 53));
        assert_eq!(functions(&detail), [("entry", 30, 0), ("inner", 23, 10)]);
        assert_eq!((detail.user, detail.kernel), (3, 53));
    }

    #[test]
    fn functions_of_one_name_are_one_and_what_has_no_name_is_reported() {
        let blocks: [(u64, &[u8]); 3] =
            [(0xffff_ffff_8100_0020, &[1]), (0xffff_ffff_8100_0030, &[1]), (0xffff_ffff_8000_0000, &[1])];
        let detail = detail(profile(&blocks, &[(0, 2), (1, 3), (2, 1)], 10));
        assert_eq!(functions(&detail), [("[unknown]", 5, 0), ("same", 5, 5)]);
        assert!(detail.stacks.is_empty(), "nobody asked for them");
    }

    #[test]
    fn stacks_are_folded_from_the_outermost_function() {
        let blocks: [(u64, &[u8]); 2] = [(0xffff_ffff_8100_0000, &[4]), (0xffff_ffff_8100_0024, &[4])];
        let mut profile = profile(&blocks, &[(0, 2), (1, 3)], 6);
        let stack = |caller, entry, depth| Stack { caller, entry, depth };
        profile.stacks = vec![
            stack(0, 0xffff_ffff_8100_0000, 1),
            stack(1, 0xffff_ffff_8100_0010, 2),
            stack(2, 0xffff_ffff_8100_0014, 3),
        ];
        let executed = &mut profile.jobs[0].variants[0].blocks;
        executed[0].stack = 1;
        executed[1].stack = 3;
        let stacks = detail(profile).stacks;
        // `inner` called into its own middle, and jumped to `same`.
        let expected = [("[unknown]", 1), ("entry", 2), ("entry;inner;same", 3)];
        assert_eq!(stacks, expected.map(|(stack, count)| (stack.to_string(), count)));
    }

    #[test]
    fn a_job_that_is_not_there_has_no_detail() {
        let nothing = Symbolized::new(Profile::default(), Symbols::default());
        assert_eq!((nothing.detail(0, None), nothing.happened(0, 0)), (None, None));
    }
}
