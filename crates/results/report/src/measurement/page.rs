//! Figures of a kernel in a page.

use maud::{Markup, html};
use measure::Measurement;
use measure::quantile::median;

use crate::figures::{figure, unit};
use crate::html::text;

/// A row for each operation that could be measured: the median of its boots.
#[must_use]
pub fn metrics(measurement: &Measurement) -> Markup {
    let measured = measurement.metrics.iter().filter_map(|metric| {
        let medians: Vec<f64> = metric.values.iter().map(|value| value.median).collect();
        Some((metric, median(&medians)?))
    });
    html! {
        div.wide {
            table class="metrics sortable searchable" {
                thead {
                    tr {
                        th scope="col" { "metric" }
                        th scope="col" class="figure" { "median" }
                        th scope="col" { "unit" }
                        th scope="col" class="figure" { "boots" }
                        th scope="col" class="spared" { "what it is" }
                    }
                }
                tbody {
                    @for (metric, median) in measured {
                        tr {
                            th scope="row" { (text(&metric.name)) }
                            td.figure data-v=(median) { (figure(median, &metric.unit)) }
                            td { (text(unit(&metric.unit))) }
                            td.figure { (metric.values.len()) }
                            td.spared { (text(&metric.about)) }
                        }
                        "\n"
                    }
                }
            }
        }
    }
}
