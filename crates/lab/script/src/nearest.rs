//! The name that was probably meant.

/// The known name that is nearest to `name`, if one is near.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// What to say about an unknown name: the nearest one, or all that there are.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there is {}", listed(known)),
    }
}

/// Names in a row.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_found_and_a_far_one_is_not() {
        assert_eq!(nearest("mashine", ["machine", "segment"]), Some("machine"));
        assert_eq!(nearest("cpu", ["cpus", "root"]), Some("cpus"));
        assert_eq!(nearest("x", ["machine"]), None);
        assert_eq!(suggestion("zzzz", ["a", "b"]), "there is a, b");
        assert_eq!(suggestion("zzzz", []), "there is nothing");
    }
}
