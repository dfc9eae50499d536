//! What is read of a kernel in memory, and that it ends whatever is there.

mod lists;
mod machine;

use introspect::{Kernel, NoVariable, Sleepers};
use machine::{BASE, CPU, DIRECT, INIT_TASK, MUTEX, Machine, OF_CPU, TASK, look};
use proptest::prelude::*;

#[test]
fn a_task_is_found_with_its_calls_and_the_lock_that_it_waits_for() {
    let mut machine = Machine::new();
    let mut kernel = Kernel::find(&mut machine, Machine::tables()).expect("it is there");
    let tasks = kernel.tasks(&[CPU]).expect("there are tasks");
    assert_eq!(tasks.len(), 1);
    let lines = [
        "cat (7) D",
        "  holds &small->lock (0xffffffff81001100)",
        "  schedule+0x80/0x100",
        "  __mutex_lock+0x20/0x200",
        "  read_it+0x10/0x40 [small]",
    ];
    assert_eq!(tasks[0].lines(), lines);
    let lock = kernel.lock(BASE + TASK, &tasks[0].calls).expect("it sleeps");
    assert_eq!((lock.kind.as_str(), lock.waiters, lock.is_read), ("mutex", Some(1), false));
    assert_eq!((lock.address, lock.owner), (Some(BASE + MUTEX), Some(BASE + INIT_TASK)));
    let sleepers = Sleepers::find(&mut machine, Machine::tables()).expect("it is there");
    assert_eq!(sleepers.look(&mut machine).first().map(|sleeper| sleeper.task), Some(BASE + TASK));
}

#[test]
fn data_is_named_by_what_it_belongs_to() {
    let mut machine = Machine::new();
    let mut kernel = Kernel::find(&mut machine, Machine::tables()).expect("it is there");
    let mut named = |at: u64| kernel.data(at).unwrap_or_default();
    assert_eq!(named(BASE + MUTEX + 8), "a_mutex+0x8");
    assert_eq!(named(BASE + TASK + 76), "on_cpu of cat (7)");
    let counts = BASE + MUTEX + 0x40;
    assert_eq!(named(counts + OF_CPU + 8), "counts+0x8 of CPU 0");
    assert_eq!(named(DIRECT + 0x1030), "an object of files+0x30");
    assert_eq!(named(DIRECT + 0x2030), "");
    assert_eq!(kernel.variable("a_mutex"), Ok(BASE + MUTEX..counts));
    assert_eq!(kernel.variable("counts"), Err(NoVariable::OfEachCpu("counts".to_owned())));
    assert_eq!(kernel.variable("count"), Err(NoVariable::Unknown("count".to_owned())));
}

proptest! {
    #[test]
    fn any_kernel_is_read(changes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut machine = Machine::new();
        machine.change(&changes);
        look(&mut machine);
    }

    /// Pointers of a kernel to other places of it, which random bytes seldom are.
    #[test]
    fn any_pointers_are_followed(changes in prop::collection::vec((0..0x1_0000_u32, 0..0x1_0000_u64), 0..16)) {
        let mut machine = Machine::new();
        for (place, to) in changes {
            let [a, b, c, _] = (place + 0x1_0000).to_le_bytes();
            machine.change(&[&[a, b, c, 8][..], &(BASE + to).to_le_bytes()].concat());
        }
        look(&mut machine);
    }
}
