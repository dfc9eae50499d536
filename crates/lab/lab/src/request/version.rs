//! The version of a request.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Written with a request; a request of a later version is refused, because what it asks is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Version<const CURRENT: u32>;

impl<const CURRENT: u32> Serialize for Version<CURRENT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CURRENT.serialize(serializer)
    }
}

impl<'de, const CURRENT: u32> Deserialize<'de> for Version<CURRENT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            version if version == CURRENT => Ok(Self),
            version => {
                let text =
                    format!("the request is of version {version}, and this kiln reads version {CURRENT}");
                Err(de::Error::custom(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_is_refused() {
        assert_eq!(serde_json::to_string(&Version::<3>).unwrap(), "3");
        assert_eq!(serde_json::from_str::<Version<3>>("3").unwrap(), Version);
        let error = serde_json::from_str::<Version<3>>("4").unwrap_err().to_string();
        assert_eq!(error, "the request is of version 4, and this kiln reads version 3");
    }
}
