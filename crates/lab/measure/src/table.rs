//! The symbols of a Kernel, which are the same in all of its boots: addresses are not randomised.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use machine::template::TemplateEntry;
use machine::{SHIFT, Template, Watch};
use protocol::measure::{Clock, Order};

use crate::Failure;
use crate::context::Context;
use crate::profile::Symbols;
use crate::take::Take;

/// They are read once, by whoever needs them first.
#[derive(Debug, Default)]
pub(super) struct SymbolTable(Mutex<Option<Table>>);

#[derive(Debug)]
struct Table {
    text: String,
    symbols: Arc<Symbols>,
}

impl SymbolTable {
    /// The symbols of the Kernel, named `label`, of which `template` is a boot that is kept as `entry`, or is going to be.
    pub(super) fn get(
        &self,
        label: &str,
        (template, entry): (&Template, &TemplateEntry),
        context: &Context<'_>,
    ) -> Result<Arc<Symbols>, Failure> {
        let mut known = self.lock();
        if let Some(table) = &*known {
            return Ok(Arc::clone(&table.symbols));
        }
        let text = entry.symbols().map_or_else(|| read(label, template, context), Ok)?;
        let symbols = Arc::new(Symbols::parse(&text));
        Ok(Arc::clone(&known.insert(Table { text, symbols }).symbols))
    }

    /// Keeps them with a boot that has been kept.
    pub(super) fn keep(&self, entry: &TemplateEntry) {
        if let Some(table) = &*self.lock() {
            // What cannot be kept costs the next session a clone, and nothing else.
            let _ = entry.keep_symbols(&table.text);
        }
    }

    /// The symbols, as far as anybody needed them.
    pub(super) fn into_symbols(self) -> Arc<Symbols> {
        let table = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        table.map(|table| table.symbols).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Table>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks a clone for them: to write them takes the guest as long as many jobs, and longer under the plugin.
fn read(label: &str, template: &Template, context: &Context<'_>) -> Result<String, Failure> {
    let order =
        Order { clock: Clock::Instructions { shift: SHIFT }, jobs: Vec::new(), symbols: true, trace: None };
    let cloned = template.measure(&order, Watch::No)?;
    let mut machine = cloned.map_err(|failure| Failure::of_boot(label, failure))?;
    let take = Take::from(&mut machine, 0, context.timeouts, context.interrupt, |_| ())?;
    if take.is_whole {
        return Ok(machine.symbols());
    }
    let why = format!("its symbols could not be read: {}", take.notes.join("; "));
    Err(Failure::Silent { kernel: label.to_string(), why })
}
