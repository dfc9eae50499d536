//! What a sweep changes: `governor=all,interval=1ms,100us,policy=fifo,other`.

use clap::ValueEnum;
use protocol::latency::Policy;
use protocol::sweep::Governors;

use super::scheduling::PolicyName;
use crate::units;

/// The values of each axis; none if it is left as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Axes {
    pub(crate) governors: Governors,
    pub(crate) intervals_ns: Vec<u64>,
    pub(crate) policies: Vec<Policy>,
}

/// Reads axes with their values, all separated by commas.
pub(crate) fn read(text: &str) -> Result<Axes, String> {
    let mut axes = Axes::default();
    let mut axis = "";
    for part in text.split(',') {
        let (name, value) = part.split_once('=').unwrap_or((axis, part));
        axis = name;
        axes.add(axis, value)?;
    }
    Ok(axes)
}

impl Axes {
    fn add(&mut self, axis: &str, value: &str) -> Result<(), String> {
        match axis {
            _ if value.is_empty() => Err(format!("{axis:?} has no value")),
            "governor" => self.add_governor(value),
            "interval" => {
                add(&mut self.intervals_ns, units::nanoseconds(units::fine_duration(value)?), value)
            }
            "policy" => add(&mut self.policies, policy(value)?, value),
            _ => Err(format!("{axis:?} is no axis: write governor=..., interval=... or policy=...")),
        }
    }

    fn add_governor(&mut self, value: &str) -> Result<(), String> {
        match (&mut self.governors, value) {
            (Governors::Unchanged, "all") => self.governors = Governors::All,
            (Governors::Unchanged, _) => self.governors = Governors::Named(vec![value.to_owned()]),
            (Governors::Named(names), _) if value != "all" => return add(names, value.to_owned(), value),
            _ => return Err("governor=all stands for every governor: name no others".to_owned()),
        }
        Ok(())
    }
}

fn add<T: PartialEq>(values: &mut Vec<T>, value: T, text: &str) -> Result<(), String> {
    if values.contains(&value) {
        return Err(format!("{text} is there twice"));
    }
    values.push(value);
    Ok(())
}

fn policy(text: &str) -> Result<Policy, String> {
    let name = PolicyName::from_str(text, false);
    name.map(Policy::from).map_err(|_| {
        let all = PolicyName::value_variants().iter().filter_map(PolicyName::to_possible_value);
        let all: Vec<String> = all.map(|value| value.get_name().to_owned()).collect();
        format!("{text:?} is no policy: write {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_all_values_up_to_the_next() {
        let axes = read("governor=all,interval=1ms,100us,10us,policy=fifo,other").expect("it is right");
        assert_eq!(axes.governors, Governors::All);
        assert_eq!(axes.intervals_ns, [1_000_000, 100_000, 10_000]);
        assert_eq!(axes.policies, [Policy::Fifo, Policy::Other]);
        let named = read("governor=performance,powersave").expect("it is right").governors;
        assert_eq!(named, Governors::Named(vec!["performance".to_owned(), "powersave".to_owned()]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            "",
            "fifo",
            "color=red",
            "interval=1ms,1ms",
            "policy=best",
            "interval=5",
            "governor=all,powersave",
        ]
        .map(|text| read(text).expect_err(text));
        let expected = [
            "\"\" has no value",
            "\"\" is no axis: write governor=..., interval=... or policy=...",
            "\"color\" is no axis: write governor=..., interval=... or policy=...",
            "1ms is there twice",
            "\"best\" is no policy: write fifo, rr, deadline, other, batch, idle",
            "\"5\" is not a time: write 500ns, 20us, 1ms or 1s",
            "governor=all stands for every governor: name no others",
        ];
        assert_eq!(wrong, expected);
    }

    #[test]
    fn a_text_that_breaks_off_is_read_without_panic() {
        let text = "governor=all,interval=1ms,µs,policy=fifo,";
        let read = (0..=text.len()).filter_map(|end| text.get(..end)).filter(|text| read(text).is_ok());
        assert_eq!(
            read.collect::<Vec<_>>(),
            ["governor=a", "governor=al", "governor=all", "governor=all,interval=1ms"]
        );
    }
}
