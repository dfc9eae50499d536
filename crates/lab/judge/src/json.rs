//! How numbers are written in JSON: durations in seconds, seeds as text, since a reader whose numbers are of floating point
//! would round them. What earlier versions wrote is read too.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For `#[serde(with = "judge::json::seconds")]` on a [`Duration`].
pub mod seconds {
    use super::*;

    /// Writes seconds.
    ///
    /// # Errors
    ///
    /// As the serializer's.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        duration.as_secs_f64().serialize(serializer)
    }

    /// Reads seconds.
    ///
    /// # Errors
    ///
    /// When it is no duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Seconds::deserialize(deserializer).map(Duration::from)
    }
}

/// A [`Duration`] that is written in seconds, for what is not a field by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "f64", try_from = "Written")]
pub struct Seconds(pub Duration);

/// A duration as it may be written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Seconds(f64),
    /// As earlier versions wrote it.
    Parts(Duration),
}

impl TryFrom<Written> for Seconds {
    type Error = std::time::TryFromFloatSecsError;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Seconds(seconds) => Duration::try_from_secs_f64(seconds).map(Self),
            // What cannot be written in seconds again is none either.
            Written::Parts(duration) => {
                Duration::try_from_secs_f64(duration.as_secs_f64()).map(|_| Self(duration))
            }
        }
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0.as_secs_f64()
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

/// For `#[serde(with = "judge::json::optional_seconds")]` on an `Option<Duration>`.
pub mod optional_seconds {
    use super::*;

    /// Writes seconds, or null.
    ///
    /// # Errors
    ///
    /// As the serializer's.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(Seconds).serialize(serializer)
    }

    /// Reads seconds, or null.
    ///
    /// # Errors
    ///
    /// When it is no duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Seconds>::deserialize(deserializer)?.map(Duration::from))
    }
}

/// For `#[serde(with = "judge::json::seed")]` on a seed.
pub mod seed {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    pub(super) enum Written {
        Text(String),
        /// As earlier versions wrote it.
        Number(u64),
    }

    /// Writes it as text.
    ///
    /// # Errors
    ///
    /// As the serializer's.
    pub fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(seed)
    }

    /// Reads a text or a number.
    ///
    /// # Errors
    ///
    /// When it is no seed.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        read(Written::deserialize(deserializer)?)
    }

    pub(super) fn read<E: serde::de::Error>(written: Written) -> Result<u64, E> {
        match written {
            Written::Text(text) => text.parse().map_err(E::custom),
            Written::Number(number) => Ok(number),
        }
    }
}

/// For `#[serde(default, with = "judge::json::optional_seed")]` on a seed that may not be there.
pub mod optional_seed {
    use super::*;

    /// Writes it as text, or null.
    ///
    /// # Errors
    ///
    /// As the serializer's.
    pub fn serialize<S: Serializer>(seed: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        seed.map(|seed| seed.to_string()).serialize(serializer)
    }

    /// Reads a text, a number, or null.
    ///
    /// # Errors
    ///
    /// When it is no seed.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        Option::<seed::Written>::deserialize(deserializer)?.map(seed::read).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        #[serde(with = "seconds")]
        took: Duration,
        #[serde(with = "optional_seconds")]
        limit: Option<Duration>,
        #[serde(with = "seed")]
        seed: u64,
        #[serde(default, with = "optional_seed")]
        own: Option<u64>,
    }

    #[test]
    fn durations_are_seconds_and_seeds_are_text() {
        let sample = Sample { took: Duration::from_millis(1500), limit: None, seed: u64::MAX, own: Some(7) };
        let json = serde_json::to_string(&sample).unwrap();
        assert_eq!(json, r#"{"took":1.5,"limit":null,"seed":"18446744073709551615","own":"7"}"#);
    }

    #[test]
    fn what_earlier_versions_wrote_is_read() {
        let json = r#"{"took":{"secs":1,"nanos":5},"limit":{"secs":2,"nanos":0},"seed":18446744073709551615,"own":7}"#;
        let limit = Some(Duration::from_secs(2));
        let expected = Sample { took: Duration::new(1, 5), limit, seed: u64::MAX, own: Some(7) };
        assert_eq!(serde_json::from_str::<Sample>(json).unwrap(), expected);
        let without = Sample { own: None, ..expected };
        for own in ["", r#","own":null"#] {
            let json = json.replace(r#","own":7"#, own);
            assert_eq!(serde_json::from_str::<Sample>(&json).unwrap(), without, "{json}");
        }
    }

    #[test]
    fn nonsense_is_an_error() {
        for took in ["-1", "1e300", "\"1\"", "null"] {
            let json = format!(r#"{{"took":{took},"limit":null,"seed":"1"}}"#);
            assert!(serde_json::from_str::<Sample>(&json).is_err(), "{took}");
        }
        assert!(serde_json::from_str::<Sample>(r#"{"took":1,"limit":null,"seed":"x"}"#).is_err());
    }

    proptest! {
        #[test]
        fn nanoseconds_of_eleven_days_survive(nanos in 0..10_u64.pow(15), seed: u64) {
            let took = Duration::from_nanos(nanos);
            let sample = Sample { took, limit: Some(took), seed, own: Some(seed) };
            let json = serde_json::to_string(&sample).unwrap();
            prop_assert_eq!(serde_json::from_str::<Sample>(&json).unwrap(), sample);
        }
    }
}
