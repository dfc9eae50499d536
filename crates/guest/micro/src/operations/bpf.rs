//! Programs in the kernel: bpf(2).

use harness::bpf::{ANY, ARRAY, EXIT, HASH, Map, SOCKET_FILTER, counting, load, run, set};
use harness::check::{Checked, equal};
use protocol::Need;
use rustix::io::Errno;

use super::parts::{gives, nothing, rest};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_bpf("bpf/run", "BPF_PROG_TEST_RUN of a program of two instructions", run_short),
    on_bpf("bpf/run-map", "BPF_PROG_TEST_RUN of a program that counts in an array map", run_with_map),
    on_bpf("bpf/load-close", "BPF_PROG_LOAD of a program of two instructions and close(2)", load_close),
    on_bpf("bpf/map-create-close", "BPF_MAP_CREATE of an array of 16 elements and close(2)", create),
    on_bpf("bpf/map-lookup-array", "BPF_MAP_LOOKUP_ELEM in an array map", |meter| lookup(meter, ARRAY)),
    on_bpf("bpf/map-lookup-hash", "BPF_MAP_LOOKUP_ELEM in a hash map", |meter| lookup(meter, HASH)),
    on_bpf("bpf/map-update-hash", "BPF_MAP_UPDATE_ELEM of an element of a hash map", update),
    on_bpf(
        "bpf/map-add-delete",
        "BPF_MAP_UPDATE_ELEM of a new element of a hash map, BPF_MAP_DELETE_ELEM",
        add_delete,
    ),
];

const fn on_bpf(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("BPF_SYSCALL")])
}

const SHORT: [u64; 2] = [set(0, 7), EXIT];

fn run_short(meter: &mut Meter) -> Checked {
    let program = load(SOCKET_FILTER, &SHORT)?;
    gives(meter, "what the program returned", 7, || run(&program))
}

fn run_with_map(meter: &mut Meter) -> Checked {
    let map = Map::new(ARRAY, 1)?;
    let program = load(SOCKET_FILTER, &counting(&map))?;
    let mut runs = 0;
    meter.each(|| {
        runs += 1;
        run(&program)
    })?;
    equal("what the program counted", map.lookup(0)?, runs)
}

fn load_close(meter: &mut Meter) -> Checked {
    meter.around(
        nothing,
        |()| load(SOCKET_FILTER, &SHORT).map(drop),
        |(), ()| {
            rest();
            Ok(())
        },
    )?;
    equal("what the program returns", run(&load(SOCKET_FILTER, &SHORT)?)?, 7)
}

fn create(meter: &mut Meter) -> Checked {
    meter.around(
        nothing,
        |()| Map::new(ARRAY, 16).map(drop),
        |(), ()| {
            rest();
            Ok(())
        },
    )?;
    equal("a new element", Map::new(ARRAY, 16)?.lookup(15)?, 0)
}

/// `BPF_F_ZERO_SEED`: otherwise chance decides which elements share a bucket, and so what finding one costs.
const ZERO_SEED: u32 = 1 << 6;

/// A map of 16 elements with the squares of their keys.
fn squares(kind: u32) -> Result<Map, Errno> {
    let map = Map::with(kind, 32, if kind == HASH { ZERO_SEED } else { 0 })?;
    (0..16).try_for_each(|key| map.update(key, u64::from(key * key), ANY).map(drop))?;
    Ok(map)
}

fn lookup(meter: &mut Meter, kind: u32) -> Checked {
    let map = squares(kind)?;
    gives(meter, "the value", 49, || map.lookup(7))
}

fn update(meter: &mut Meter) -> Checked {
    let map = squares(HASH)?;
    meter.each(|| map.update(7, 4711, ANY))?;
    equal("the value", map.lookup(7)?, 4711)
}

fn add_delete(meter: &mut Meter) -> Checked {
    let map = squares(HASH)?;
    meter.each(|| {
        map.update(20, 400, ANY)?;
        map.delete(20)
    })?;
    equal("the deleted element", map.lookup(20), Err(Errno::NOENT))
}
