//! Rides in User-Mode Linux: lets it switch the FPU state of hosts that have more of it than it knows of.
//!
//! UML switches the FPU state of its processes by ptrace(2), up to kernel 6.12 with a buffer of fixed size: 2,696
//! bytes, what AVX-512 needs. With AMX a host has 11,008. It gives as much as fits and refuses to take so little back
//! (`xstateregs_set` of arch/x86/kernel/fpu/regset.c), so that each process in the machine dies at its first switch.
//!
//! This library stands before glibc's `ptrace` and completes what UML hands back by what the process has already.
//! * [`state`]: the extended state as the CPU writes it

pub mod state;
#[cfg(not(test))]
mod trace;
