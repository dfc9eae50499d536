//! What is different between two recordings.

use serde_json::{Value, json};
use viewer::Differences;
use viewer::differences::{Equality, Longer, Order};

use super::patterns;
use crate::figures::count;
use crate::safe::safe_line;
use crate::table::Table;
use crate::times::{nanoseconds, spread_json};
use crate::words::counted;

/// Threads whose order is described.
const ORDERS_MAX: usize = 20;

/// What is different, for people.
#[must_use]
pub fn text(differences: &Differences) -> String {
    let [one, other] = differences.events.map(count);
    let equality = match differences.equality {
        Equality::Exact => "the same, to the nanosecond",
        Equality::Content => "the same at other times",
        Equality::Order => "the same in each thread, with other fields or on other CPUs",
        Equality::None => "different",
    };
    let mut text = format!("{one} events and {other}: {equality}\n");
    text += &counts(differences).text();
    if !differences.orders.is_empty() {
        text += "\n";
        differences.orders.iter().take(ORDERS_MAX).for_each(|order| text += &(order_line(order) + "\n"));
        let more = differences.orders.len().saturating_sub(ORDERS_MAX);
        if more > 0 {
            text += &format!("... {}\n", counted(more, "more thread"));
        }
    }
    text + &patterns::differences(&differences.patterns).text() + &latencies(differences).text()
}

fn counts(differences: &Differences) -> Table<5> {
    let rows = differences.counts.iter().map(|row| {
        let [one, other] = row.counts;
        let sign = if other > one { "+" } else { "-" };
        let what = match row.counts {
            [0, _] => "new",
            [_, 0] => "gone",
            _ => "",
        };
        let difference = format!("{sign}{}", count(one.abs_diff(other)));
        let name = format!("{} {}", safe_line(&row.comm), safe_line(&row.name));
        (one.abs_diff(other), [count(one), count(other), difference, what.to_owned(), name])
    });
    Table::sorted(["FIRST", "SECOND", "DIFFERENCE", "", "THREAD AND EVENT"], 2, rows)
}

fn order_line(order: &Order) -> String {
    let [one, other] =
        order.then.each_ref().map(|then| then.as_deref().map_or_else(|| "ends".to_owned(), safe_line));
    let moved = if order.is_moved { "; all its events are there in another order" } else { "" };
    let equal = counted(order.equal, "event");
    format!("{}: {equal} alike, then {one} and {other}{moved}", safe_line(&order.comm))
}

fn latencies(differences: &Differences) -> Table<8> {
    let rows = differences.latencies.iter().map(|longer| {
        let by = longer.by();
        let sign = if by > 0 { "+" } else { "-" };
        let by = u64::try_from(by.unsigned_abs()).unwrap_or(u64::MAX);
        let [[total, p50, number], [other_total, other_p50, other_number]] = figures(longer);
        let name = format!("{} {}", longer.kind.name(), safe_line(&longer.name));
        (
            by,
            [
                format!("{sign}{}", nanoseconds(by)),
                total,
                other_total,
                p50,
                other_p50,
                number,
                other_number,
                name,
            ],
        )
    });
    Table::sorted(["LONGER", "TOTAL", "SECOND", "P50", "SECOND", "COUNT", "SECOND", "OF"], 1, rows)
}

/// All together, the median, and how many, in both; empty where there is none.
fn figures(longer: &Longer) -> [[String; 3]; 2] {
    longer.latencies.each_ref().map(|latency| {
        let times = latency.as_ref().map(|latency| &latency.times);
        let figures = times
            .map(|times| [nanoseconds(times.total), nanoseconds(times.quantile(0.5)), count(times.count)]);
        figures.unwrap_or_default()
    })
}

/// The same for programs.
#[must_use]
pub fn json(differences: &Differences) -> Value {
    let equality = match differences.equality {
        Equality::Exact => "exact",
        Equality::Content => "content",
        Equality::Order => "order",
        Equality::None => "none",
    };
    let counts = differences.counts.iter();
    let counts = counts.map(|row| json!({ "comm": row.comm, "name": row.name, "counts": row.counts }));
    let orders = differences.orders.iter().map(|order| {
        json!({ "comm": order.comm, "equal": order.equal, "then": order.then, "is_moved": order.is_moved })
    });
    let latencies = differences.latencies.iter().map(|longer| {
        let [one, other] = longer.latencies.each_ref().map(|it| it.as_ref().map(|it| spread_json(&it.times)));
        json!({ "kind": longer.kind.name(), "name": *longer.name, "took": [one, other] })
    });
    json!({
        "equality": equality,
        "events": differences.events,
        "counts": counts.collect::<Vec<_>>(),
        "orders": orders.collect::<Vec<_>>(),
        "patterns": patterns::differences_json(&differences.patterns),
        "latencies": latencies.collect::<Vec<_>>(),
    })
}
