//! Stressors of mappings, faults and reclaim.

mod files;
mod forks;
mod heap;
mod mmap;
mod others;
mod patterns;
mod physical;
mod places;
mod protects;
mod remaps;
mod residence;
mod swap;
mod sync;
mod userfault;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    files::MEMFD,
    files::SEAL,
    files::SECRETMEM,
    files::SHM,
    forks::MMAPFORK,
    forks::VM_SEGV,
    heap::BRK,
    heap::MUNMAP,
    heap::STACK,
    mmap::STRESSOR,
    others::MMAPMANY,
    others::RMAP,
    others::VM_RW,
    patterns::STRESSOR,
    physical::NUMA,
    physical::PHYSPAGE,
    places::MMAP_ADDR,
    places::MMAP_FIXED,
    protects::MPROTECT,
    protects::TLB_SHOOTDOWN,
    remaps::MREMAP,
    remaps::REMAP,
    residence::FAULT,
    residence::HUGEPAGES,
    residence::MADVISE,
    residence::MINCORE,
    residence::MLOCK,
    swap::STRESSOR,
    sync::MSYNC,
    sync::STACKMMAP,
    userfault::STRESSOR,
];
