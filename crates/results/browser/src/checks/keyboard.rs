//! Whether everything that can be clicked can be reached without a mouse, in its order, and is seen then.

use super::listed;
use crate::{Error, Key, Tab};

/// Places beyond the fields and links of the page where the focus may rest: areas that scroll, and the window.
const MORE: u64 = 60;

/// What cannot be reached, or is not seen when it is.
pub(super) fn faults(tab: &Tab<'_>) -> Result<Vec<String>, Error> {
    let wanted = tab.evaluate(include_str!("keyboard/begin.js"))?.as_u64().unwrap_or(0);
    let mut faults = Vec::new();
    for _ in 0..wanted + MORE {
        if tab.evaluate("window.judged.left.size === 0")? == true {
            break;
        }
        tab.press(Key::Tab)?;
        faults.extend(listed(tab, include_str!("keyboard/step.js"))?);
    }
    faults.extend(listed(tab, include_str!("keyboard/end.js"))?);
    Ok(faults)
}
