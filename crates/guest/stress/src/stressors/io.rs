//! Stressors that read and write files.

mod caches;
mod copies;
mod extents;
mod mixed;
mod queues;
mod sequential;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    caches::IOPRIO,
    caches::READAHEAD,
    caches::SYNC_FILE,
    copies::COPY_FILE,
    copies::SENDFILE,
    copies::SPLICE,
    copies::TEE,
    copies::VMSPLICE,
    extents::FALLOCATE,
    extents::FIEMAP,
    extents::REVIO,
    extents::SEEK,
    mixed::STRESSOR,
    queues::AIO,
    queues::IO_URING,
    sequential::STRESSOR,
];
