//! The instrument that measures how late the kernel wakes a thread.
//!
//! * [`measure`]: from a request to its report
//! * [`session`]: starts the measuring threads, reports once a second, stops them
//! * [`thread`]: a measuring thread; [`cycles`]: its loop
//! * [`shared`]: what all threads share; [`gate`]: where they wait for the start
//! * [`alarm`]: how it waits for a deadline; [`clock`]: the clock that it reads; [`timer`]: timer_create(2)
//! * [`recorder`]: what it knows, readable while it measures; [`histogram`] and [`maxima`] are its parts
//! * [`rest`]: keeps a real-time thread from taking a CPU for itself
//! * [`scheduling`]: policies and affinity; [`refusal`]: why the kernel grants none
//! * [`memory`]: locked, and touched before it is needed; [`usage`]: page faults and CPU time
//! * [`trace`]: what ran at the first late wake-up
//! * [`conditions`]: what the figures depend on
//! * [`load`]: what runs beside it
//! * [`power`]: what the machine takes meanwhile
//! * [`signals`]: how it ends early

mod alarm;
#[cfg(test)]
mod allocations;
mod clock;
mod conditions;
mod cycles;
mod gate;
mod histogram;
mod load;
mod maxima;
mod memory;
mod power;
mod recorder;
mod refusal;
mod rest;
mod scheduling;
mod session;
mod shared;
mod signals;
mod thread;
mod timer;
mod trace;
mod usage;

pub use session::measure;
