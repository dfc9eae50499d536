//! A problem as a page.

use ledger::OnKernel;
use maud::{Markup, html};
use verdict::problem::{Series, State};

use super::{ShownProblem, judged};
use crate::html::{Page, command, facts, prose, section, short, text};
use crate::problems::state;

impl ShownProblem<'_> {
    /// The page about it, with what shows its Runs.
    #[must_use]
    pub fn page(&self, runs: &Markup) -> Page {
        let Self { problem, standing, .. } = *self;
        let signature = problem.signature.trim_end_matches([' ', ':']);
        let body = html! {
            header {
                h1 { (text(state(standing))) ": " (text(signature)) }
                (facts(&self.facts()))
                @if standing.state == State::Verified { (command(&self.close())) }
            }
            "\n"
            main {
                @for series in &standing.series { (self.life(series)) }
                (section("Kernels", &kernels(&problem.kernels)))
                (section("Runs that failed so", runs))
            }
        };
        Page { title: short(signature), body }
    }

    /// Where a series begins to have it, and where that ends.
    fn life(&self, series: &Series) -> Markup {
        let content = html! {
            @for (text, searched) in self.ends(series) {
                p { (prose(&text)) }
                @if let Some(searched) = searched {
                    @match (searched.said(), searched.bisection) {
                        (Some(said), Some(_)) => p { (prose(&said)) },
                        (Some(said), None) => (command(&said)),
                        (None, _) => {},
                    }
                }
            }
        };
        section(&short(&series.name()), &content)
    }
}

fn kernels(kernels: &[OnKernel]) -> Markup {
    html! {
        div.wide {
            table class="metrics sortable searchable" {
                thead { tr { th scope="col" { "kernel" } th scope="col" { "sessions" } } }
                tbody {
                    @for on in kernels.iter().rev() {
                        tr {
                            th scope="row" { (text(&on.release)) }
                            td class=(if on.failing > 0 { "bad" } else { "good" }) { (judged(on)) }
                        }
                        "\n"
                    }
                }
            }
        }
    }
}
