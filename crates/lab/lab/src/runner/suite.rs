//! All cases in one machine, one after the other, as long as it lives.

use super::GivenUp;
use super::machine_provider::boot_one;
use super::news::Emitter;
use super::repetition::Repetition;
use super::work::{Context, Fresh};
use crate::event::Event;
use crate::options::Repeats;
use crate::plan::Item;
use crate::source::Source;

/// Runs `items` in their order; the next machine is booted only for one that needs it.
pub(super) fn run(
    source: &dyn Source,
    items: &[&Item],
    context: &Context<'_>,
    emitter: &mut Emitter<'_>,
) -> Result<(), GivenUp> {
    // A machine in which others have run does not tell whether a case fails each time.
    let repeats = match context.options.repeats {
        Repeats::OnFailure(_) => Repeats::OnFailure(0),
        repeats => repeats,
    };
    let mut machine = None;
    for (index, item) in items.iter().enumerate() {
        let mut repetition = Repetition::new(repeats);
        while !repetition.order(1).is_empty() || !repetition.is_complete() {
            let mut fresh = match machine.take() {
                Some(fresh) => fresh,
                None => boot_one(source, items.len() - index, context, &mut |news| emitter.emit(news))?,
            };
            let is_last = index + 1 == items.len();
            let ran = context.run(&mut fresh, item, is_last, &mut |news| emitter.emit(news));
            let Some((run, is_fit)) = ran else { return Err(GivenUp::Told) };
            machine = is_fit.then_some(fresh);
            for run in repetition.take(run) {
                emitter.on_event(&Event::Repeated(Box::new(run.clone())));
            }
        }
        repetition.conclude().into_iter().for_each(|run| emitter.finish(run));
    }
    if let Some(Fresh { machine, .. }) = machine {
        machine.stop();
    }
    Ok(())
}
