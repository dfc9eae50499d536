//! What `kiln measure --calibrate` prints.

use compare::Calibrated;

/// How precise timed figures of this host are, in a line.
#[must_use]
pub fn calibrated(calibrated: &Calibrated) -> String {
    let Calibrated { kernel, comparisons, noise } = calibrated;
    let (floor, alarms, figures) = (noise.floor, noise.false_alarms * 100.0, noise.comparisons);
    format!(
        "{comparisons} comparisons of {kernel} with itself, {figures} figures: 95 % of the differences are below \
         {floor:.2} %, {alarms:.2} % are called better or worse\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use verdict::Noise;

    #[test]
    fn the_floor_and_the_false_alarms_are_told_in_percent() {
        let (measured, false_alarms) = (Timestamp::UNIX_EPOCH, 0.0125);
        let noise = Noise { measured, false_alarms, comparisons: 80, floor: 1.234 };
        let text = calibrated(&Calibrated { kernel: "host".to_string(), comparisons: 2, noise });
        assert_eq!(
            text,
            "2 comparisons of host with itself, 80 figures: 95 % of the differences are below 1.23 %, 1.25 % are \
             called better or worse\n"
        );
    }
}
