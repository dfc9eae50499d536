//! How fast the probe is when nothing else runs.

use std::time::Duration;

use harness::clock::monotonic;
use harness::sys::time_stamp;
use protocol::steal::Calibration;

use crate::affinity::pin;
use crate::gaps::scaled;
use crate::probe::{Probe, sample};
use crate::speed::Speed;

/// For so long the time-stamp counter is compared with the clock.
const COMPARED: Duration = Duration::from_millis(20);

/// A window is shorter than the period of most ticks, so that many have none.
const WINDOW_NS: u64 = 1_000_000;

/// Windows at least and at most.
const WINDOWS: (u64, u64) = (50, 1000);

/// Units that are timed one by one.
const SAMPLES: usize = 10_001;

/// A gap is longer than this, and longer than so many units of work.
const GAP_NS: f64 = 1000.0;
const GAP_UNITS: u64 = 4;

/// Calibrates on this CPU, by the calling thread, before a measurement of so many milliseconds.
///
/// # Errors
///
/// When it cannot run there.
pub(crate) fn calibrate(cpu: u32, duration_ms: u64) -> Result<(Speed, Calibration), String> {
    pin(cpu).map_err(|error| format!("CPU {cpu}: {error}"))?;
    let tick_ns = tick_ns();
    let unit = sample(SAMPLES);
    let threshold = scaled(1, (GAP_NS / tick_ns).ceil()).max(unit * GAP_UNITS);
    let speed = Speed { tick_ns, unit, unit_ps: 0, threshold };
    let count = (duration_ms / 10).clamp(WINDOWS.0, WINDOWS.1);
    let windows: Vec<Window> = (0..count).map(|_| Window::take(&speed)).collect();
    let calibration = concluded(&windows, &speed);
    Ok((Speed { unit_ps: calibration.unit_ps, ..speed }, calibration))
}

fn tick_ns() -> f64 {
    let (ticks, begin) = (time_stamp(), monotonic());
    let end = begin + COMPARED.as_nanos() as u64;
    let mut now = begin;
    while now < end {
        now = monotonic();
    }
    (now - begin) as f64 / time_stamp().wrapping_sub(ticks).max(1) as f64
}

/// A window of the calibration.
#[derive(Debug, Clone, Copy)]
struct Window {
    units: u64,
    ticks: u64,
    gaps: u64,
    gap_ticks: u64,
}

impl Window {
    fn take(speed: &Speed) -> Self {
        let probe = Probe::default();
        let stretch = probe.work(speed.ticks(WINDOW_NS), speed);
        Self {
            units: stretch.units,
            ticks: stretch.ticks,
            gaps: probe.gaps.count(),
            gap_ticks: probe.gaps.sum(),
        }
    }

    /// Ticks of a unit, without the gaps.
    fn unit(&self) -> f64 {
        self.ticks.saturating_sub(self.gap_ticks) as f64 / self.units.max(1) as f64
    }
}

fn concluded(windows: &[Window], speed: &Speed) -> Calibration {
    let disturbed = windows.iter().filter(|window| window.gaps > 0).count();
    let is_all = disturbed == windows.len();
    let mut units: Vec<f64> =
        windows.iter().filter(|window| is_all || window.gaps == 0).map(Window::unit).collect();
    units.sort_by(f64::total_cmp);
    let at =
        |percent: usize| units.get(units.len().saturating_sub(1) * percent / 100).copied().unwrap_or(0.0);
    let sum = |of: fn(&Window) -> u64| windows.iter().map(of).sum::<u64>() as f64;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Calibration {
        windows: number(windows.len()),
        disturbed: number(disturbed),
        unit_ps: scaled(1, at(50) * speed.tick_ns * 1000.0),
        spread: (at(90) - at(10)) / at(50).max(f64::MIN_POSITIVE),
        stolen: sum(|window| window.gap_ticks) / sum(|window| window.ticks).max(1.0),
        threshold_ns: scaled(speed.threshold, speed.tick_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: Speed = Speed { tick_ns: 0.5, unit: 100, unit_ps: 0, threshold: 2000 };

    fn window(units: u64, gap_ticks: u64) -> Window {
        Window { units, ticks: 1_000_000, gaps: u64::from(gap_ticks > 0), gap_ticks }
    }

    #[test]
    fn only_windows_without_gaps_count() {
        let mut windows = vec![window(10_000, 0); 9];
        windows.push(window(5_000, 500_000));
        let calibration = concluded(&windows, &SPEED);
        assert_eq!((calibration.windows, calibration.disturbed), (10, 1));
        assert_eq!((calibration.unit_ps, calibration.threshold_ns), (50_000, 1000));
        assert!(calibration.spread.abs() < 1e-9 && (calibration.stolen - 0.05).abs() < 1e-9);
    }

    #[test]
    fn where_all_windows_are_interrupted_the_time_between_the_gaps_counts() {
        let calibration = concluded(&[window(5_000, 500_000); 3], &SPEED);
        assert_eq!((calibration.disturbed, calibration.unit_ps), (3, 50_000));
    }

    #[test]
    fn a_calibration_of_this_machine_has_a_unit_and_a_threshold_above_it() {
        let allowed = rustix::thread::sched_getaffinity(None).expect("it is known");
        let cpu = (0..1024).find(|cpu| allowed.is_set(*cpu as usize)).expect("this runs somewhere");
        let (speed, calibration) =
            std::thread::spawn(move || calibrate(cpu, 1)).join().expect("no panic").expect("it runs");
        assert!(speed.threshold >= GAP_UNITS * speed.unit && speed.tick_ns > 0.0, "{speed:?}");
        assert_eq!(u64::from(calibration.windows), WINDOWS.0);
        assert!(calibration.unit_ps > 0 && calibration.stolen < 1.0, "{calibration:?}");
    }
}
