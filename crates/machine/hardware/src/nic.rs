//! A network interface, and where its frames go.

use std::fmt;
use std::str::FromStr;

use protocol::Need;
use serde::{Deserialize, Serialize};

use crate::backing::{Backing, Place};
use crate::error::Error;
use crate::words::{Words, Writer, parts};

/// What it is called.
pub(crate) const NAME: &str = "nic";

const KEYS: [&str; 4] = ["model", "mac", "outside", "segment"];

/// The beginning of addresses that kiln gives: locally administered, QEMU's own prefix.
const PREFIX: [u8; 3] = [0x52, 0x54, 0x00];

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Nic {
    /// The card.
    pub model: Model,
    /// Its address; one by its number where there is none.
    pub mac: Option<Mac>,
    /// Where frames go.
    pub link: Link,
}

/// Where frames go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// Nowhere: no cable.
    #[default]
    None,
    /// To whatever this host reaches, by QEMU's user-mode network.
    Outside,
    /// To the segment of this name.
    Segment(String),
}

/// A card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// `virtio-net`.
    #[default]
    Virtio,
    /// Intel's 82540EM.
    E1000,
    /// Intel's 82574L.
    E1000e,
    /// Realtek's 8139.
    Rtl8139,
}

const MODELS: [Model; 4] = [Model::Virtio, Model::E1000, Model::E1000e, Model::Rtl8139];

/// An Ethernet address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mac(pub [u8; 6]);

impl Nic {
    /// Reads `model=e1000,mac=52:54:00:00:00:01,outside`.
    ///
    /// # Errors
    ///
    /// When no interface is like that.
    pub fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(NAME, &parts(text), &KEYS)?;
        let link = match (words.flag("outside")?, words.text("segment")) {
            (false, None) => Link::None,
            (true, None) => Link::Outside,
            (false, Some(segment)) => Link::Segment(segment),
            (true, Some(_)) => {
                return Err(Error::Conflict("nic: outside and segment exclude each other".to_string()));
            }
        };
        Ok(Self {
            model: words.one_of("model", "virtio, e1000, e1000e or rtl8139")?.unwrap_or_default(),
            mac: words.one_of("mac", "an address such as 52:54:00:12:34:56, not one of a group")?,
            link,
        })
    }

    /// The form that [`Nic::read`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let segment = if let Link::Segment(name) = &self.link { Some(name) } else { None };
        let writer = Writer::new("")
            .option("model", (self.model != Model::default()).then_some(self.model))
            .option("mac", self.mac)
            .flag("outside", self.link == Link::Outside)
            .option("segment", segment);
        writer.finish().trim_start_matches(',').to_string()
    }

    /// Modules behind it.
    pub(crate) fn needs(&self) -> Vec<Need<String>> {
        let names: &[&str] = match self.model {
            Model::Virtio => &["virtio_pci", "virtio_net"],
            Model::E1000 => &["e1000"],
            Model::E1000e => &["e1000e"],
            Model::Rtl8139 => &["8139cp"],
        };
        names.iter().map(|name| Need::Module((*name).to_string())).collect()
    }

    pub(crate) fn backings(&self) -> Vec<Backing> {
        match &self.link {
            Link::Segment(name) => vec![Backing::Segment(name.clone())],
            Link::None | Link::Outside => Vec::new(),
        }
    }

    /// The arguments of the interface with this number.
    pub(crate) fn arguments(&self, number: usize, places: &[Place], virtio: &str) -> Vec<String> {
        let id = format!("nic{number}");
        let net = match (&self.link, places) {
            (Link::Outside, _) => Some(format!("user,id={id}-net")),
            // A datagram is a frame.
            (Link::Segment(_), [Place::Descriptor(socket)]) => {
                Some(format!("dgram,id={id}-net,local.type=fd,local.str={socket}"))
            }
            (Link::None | Link::Segment(_), _) => None,
        };
        let mac = self.mac.unwrap_or_else(|| Mac::of_number(number));
        let model = match self.model {
            Model::Virtio => format!("virtio-net-pci{virtio}"),
            other => other.to_string(),
        };
        let netdev = net.as_ref().map(|_| format!(",netdev={id}-net")).unwrap_or_default();
        // Its ROM would only offer to boot.
        let device = format!("{model},id={id},mac={mac},romfile={netdev}");
        let net = net.map(|net| vec!["-netdev".to_string(), net]).unwrap_or_default();
        [net, vec!["-device".to_string(), device]].concat()
    }
}

impl Mac {
    /// The address of the interface with this number, where the user has chosen none.
    #[must_use]
    pub fn of_number(number: usize) -> Self {
        let [.., high, middle, low] = (number as u64 + 1).to_be_bytes();
        let [a, b, c] = PREFIX;
        Self([a, b, c, high, middle, low])
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not the address of an interface");
        let byte = |part: &str| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten();
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        let bytes: [u8; 6] = bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(wrong)?;
        // The lowest bit of the first byte is that of groups.
        if bytes[0] & 1 == 0 && bytes != [0; 6] { Ok(Self(bytes)) } else { Err(wrong()) }
    }
}

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> Self {
        mac.to_string()
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Virtio => "virtio",
            Self::E1000 => "e1000",
            Self::E1000e => "e1000e",
            Self::Rtl8139 => "rtl8139",
        })
    }
}

impl FromStr for Model {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        MODELS.into_iter().find(|model| model.to_string() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nic() -> impl Strategy<Value = Nic> {
        let mac = prop::option::of(
            any::<[u8; 6]>().prop_map(|[a, b, c, d, e, f]| Mac([a & 0xfe | 2, b, c, d, e, f])),
        );
        let link = prop_oneof![Just(Link::None), Just(Link::Outside), "[a-z]{1,8}".prop_map(Link::Segment)];
        (prop::sample::select(MODELS.to_vec()), mac, link).prop_map(|(model, mac, link)| Nic {
            model,
            mac,
            link,
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(nic in nic()) {
            prop_assert_eq!(Nic::read(&nic.text()), Ok(nic.clone()), "{}", nic.text());
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = Nic::read(&text);
        }
    }

    #[test]
    fn frames_go_where_the_link_says() {
        let line = |text: &str, places: &[Place]| Nic::read(text).unwrap().arguments(0, places, "").join(" ");
        assert_eq!(line("", &[]), "-device virtio-net-pci,id=nic0,mac=52:54:00:00:00:01,romfile=");
        assert_eq!(
            line("outside,model=e1000,mac=52:54:00:aa:bb:cc", &[]),
            "-netdev user,id=nic0-net -device e1000,id=nic0,mac=52:54:00:aa:bb:cc,romfile=,netdev=nic0-net"
        );
        let segment = line("segment=wire", &[Place::Descriptor(9)]);
        assert!(segment.starts_with("-netdev dgram,id=nic0-net,local.type=fd,local.str=9 "), "{segment}");
    }

    #[test]
    fn an_address_is_one_of_an_interface() {
        for wrong in [
            "mac=01:00:5e:00:00:01",
            "mac=00:00:00:00:00:00",
            "mac=1:2:3:4:5:6",
            "mac=x",
            "outside,segment=a",
        ] {
            assert!(Nic::read(wrong).is_err(), "{wrong}");
        }
    }
}
