//! A further serial port, whose other end is in the lab.

use serde::{Deserialize, Serialize};

use crate::backing::{Backing, Place};
use crate::error::Error;
use crate::slot::name;
use crate::words::{Words, Writer, parts};

/// What it is called.
pub(crate) const NAME: &str = "serial";

const KEYS: [&str; 3] = ["name", "port", "irq"];

/// Where the third port of a PC is, and its interrupt.
const PORT: u16 = 0x3e8;
const IRQ: u8 = 4;

/// Console and control port, which have the first numbers.
const OWN_PORTS: usize = 2;

/// A serial port besides console and control port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serial {
    /// By this name the lab reads and writes it.
    pub name: String,
    /// Its first I/O port.
    pub port: u16,
    /// Its interrupt.
    pub irq: u8,
}

impl Serial {
    /// Reads `name=dock,port=0x2c0,irq=10`.
    ///
    /// # Errors
    ///
    /// When there is none like that.
    pub fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(NAME, &parts(text), &KEYS)?;
        let port = |text: &str| {
            let number = u16::from_str_radix(text.strip_prefix("0x")?, 16).ok();
            number.filter(|number| number.is_multiple_of(8) && !taken(*number))
        };
        let irq = |text: &str| text.parse().ok().filter(|irq| (3..=15).contains(irq));
        let given = words.read("name", "a name of letters, digits and dashes", name)?;
        Ok(Self {
            name: given.ok_or(Error::Missing { device: NAME, expected: "name=NAME" })?,
            port: words
                .read("port", "a multiple of 8 such as 0x2c0, not that of another port", port)?
                .unwrap_or(PORT),
            irq: words.read("irq", "a number from 3 to 15", irq)?.unwrap_or(IRQ),
        })
    }

    /// The form that [`Serial::read`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let writer = Writer::new(&format!("name={}", self.name))
            .option("port", (self.port != PORT).then(|| format!("{:#x}", self.port)))
            .option("irq", (self.irq != IRQ).then_some(self.irq));
        writer.finish()
    }

    pub(crate) fn backings(&self) -> Vec<Backing> {
        vec![Backing::Lab(self.name.clone())]
    }

    /// The arguments of the port with this number. Out of files nobody is at the other end.
    pub(crate) fn arguments(&self, number: usize, places: &[Place]) -> Vec<String> {
        let Self { name, port, irq } = self;
        let chardev = match places {
            [Place::Descriptor(socket)] => format!("socket,id=serial-{name},fd={socket}"),
            _ => format!("null,id=serial-{name}"),
        };
        let index = OWN_PORTS + number;
        let device = format!("isa-serial,chardev=serial-{name},index={index},iobase={port:#x},irq={irq}");
        ["-chardev", &chardev, "-device", &device].map(str::to_string).to_vec()
    }
}

/// Whether console or control port are there.
fn taken(port: u16) -> bool {
    [0x3f8, 0x2f8].contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["name=dock", "name=dock,port=0x2c0,irq=10"] {
            assert_eq!(Serial::read(text).unwrap().text(), text);
        }
        for wrong in
            ["", "name=", "name=a,port=0x3f8", "name=a,port=0x2c1", "name=a,irq=16", "name=a,port=704"]
        {
            assert!(Serial::read(wrong).is_err(), "{wrong}");
        }
        let line = Serial::read("name=dock,port=0x2c0,irq=10")
            .unwrap()
            .arguments(1, &[Place::Descriptor(9)])
            .join(" ");
        assert_eq!(
            line,
            "-chardev socket,id=serial-dock,fd=9 -device isa-serial,chardev=serial-dock,index=3,iobase=0x2c0,irq=10"
        );
    }
}
