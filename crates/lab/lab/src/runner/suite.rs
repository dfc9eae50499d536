//! All cases in one machine, one after the other, as long as it lives.

use super::GivenUp;
use super::course::{Course, Repeats};
use super::news::Teller;
use super::supply::boot_one;
use super::work::{Fresh, Site};
use crate::event::Event;
use crate::plan::Item;
use crate::source::Source;

/// Runs `items` in their order; the next machine is booted only for one that needs it.
pub(super) fn run(
    source: &dyn Source,
    items: &[&Item],
    site: &Site<'_>,
    teller: &mut Teller<'_>,
) -> Result<(), GivenUp> {
    // A machine in which others have run does not tell whether a case fails each time.
    let repeats = match site.options.repeats {
        Repeats::OnFailure(_) => Repeats::OnFailure(0),
        repeats => repeats,
    };
    let mut machine = None;
    for (index, item) in items.iter().enumerate() {
        let mut course = Course::new(repeats);
        while course.order(1) > 0 || !course.is_complete() {
            let mut fresh = match machine.take() {
                Some(fresh) => fresh,
                None => boot_one(source, items.len() - index, site, &mut |news| teller.tell(news))?,
            };
            let ran = site.run(&mut fresh, item, &mut |news| teller.tell(news));
            let Some((run, is_fit)) = ran else { return Err(GivenUp::Told) };
            machine = is_fit.then_some(fresh);
            for run in course.take(run) {
                teller.hear(&Event::Repeated(Box::new(run.clone())));
            }
        }
        course.conclude().into_iter().for_each(|run| teller.finish(run));
    }
    if let Some(Fresh { machine, .. }) = machine {
        machine.stop();
    }
    Ok(())
}
