//! Stressors between processes.

mod pipes;
mod queues;
mod segments;
mod semaphores;
mod waits;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    pipes::EVENTFD,
    pipes::FIFO,
    pipes::PIPE,
    queues::MQ,
    queues::MSG,
    segments::SHM_SYSV,
    semaphores::SEM,
    semaphores::SEM_SYSV,
    waits::EPOLL,
    waits::POLL,
    waits::SELECT,
];
