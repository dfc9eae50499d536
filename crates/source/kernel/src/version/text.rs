//! What the names and version texts of kernels say.

use std::ops::RangeInclusive;

/// The flavour in a release or in the name of a package: `cloud` of `6.1.0-56-cloud-amd64`.
///
/// The architecture is left away where something stands before it: kiln's packages are all for one. What a build of
/// a git tree adds for its commit is no flavour.
pub fn flavour(release: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let is_version = |part: &&str| {
        let numbered = part.strip_prefix("rc").is_some_and(|rest| rest.starts_with(is_digit));
        let commit = part.strip_prefix('g').is_some_and(is_commit);
        numbered || commit || *part == "dirty" || part.starts_with(is_digit)
    };
    let parts: Vec<&str> = release.split('-').skip(1).skip_while(is_version).collect();
    let whole = parts.join("-");
    whole.strip_suffix("-amd64").unwrap_or(&whole).to_owned()
}

/// Whether this is the abbreviated name of a commit, as git-describe(1) gives it.
fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The series of stable kernels that a release belongs to: `6.1` of `6.1.0-56-amd64`; nothing of what has no such number.
pub fn series(release: &str) -> &str {
    let release = release.strip_prefix('v').unwrap_or(release);
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let major = digits(release);
    let minor = release[major..].strip_prefix('.').map_or(0, digits);
    if major > 0 && minor > 0 { &release[..major + 1 + minor] } else { "" }
}

/// The version of the package, if the version text of an image names one: `… Debian 6.1.192-2 (2026-11-16)`.
pub fn package_version(text: &str) -> Option<&str> {
    let (_, after) = text.split_once(" Debian ")?;
    after.split(' ').next().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// The day on which an image was built, from its version text, as `2026-11-16`.
pub fn date(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    // Debian puts the date of its changelog in parentheses; the build itself writes that of `date`.
    let in_parentheses = words.iter().rev().find_map(|word| word.strip_prefix('(')?.strip_suffix(')'));
    in_parentheses
        .filter(|day| is_day(day))
        .map(str::to_owned)
        .or_else(|| words.windows(5).rev().find_map(of_date))
}

/// From Linux's first year to the last that has four digits.
const YEARS: RangeInclusive<u16> = 1991..=9999;

fn is_day(text: &str) -> bool {
    let form =
        |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(form)
}

/// `Nov 16 10:20:30 UTC 2026`, with or without the time zone.
fn of_date(words: &[&str]) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let &[month, day, clock, zone, year] = words else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let day: u8 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year: u16 =
        [year, zone].iter().find_map(|word| word.parse().ok()).filter(|year| YEARS.contains(year))?;
    clock.contains(':').then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flavours() {
        for (release, wanted) in [
            ("6.1.0-56-amd64", "amd64"),
            ("6.1.0-56-cloud-amd64", "cloud"),
            ("6.12.117+deb12-rt-amd64", "rt"),
            ("6.1.0-0.deb11.5-amd64", "amd64"),
            ("6.12-rc3-amd64", "amd64"),
            ("6.8.0-31-generic", "generic"),
            ("6.8.0-1001-azure-fde", "azure-fde"),
            ("6.17.0-rc3-00012-gabcdef123456-dirty", ""),
            ("6.17.0-rc3-generic", "generic"),
            ("6.1.192", ""),
            ("", ""),
        ] {
            assert_eq!(flavour(release), wanted, "{release}");
        }
    }

    #[test]
    fn series_of_stable_kernels() {
        for (release, wanted) in [
            ("6.1.0-56-amd64", "6.1"),
            ("6.12.117+deb12-amd64", "6.12"),
            ("v6.17-rc3", "6.17"),
            ("2.6.14.1", "2.6"),
            ("6", ""),
            ("6.", ""),
            (".5", ""),
            ("./bzImage", ""),
            ("", ""),
        ] {
            assert_eq!(series(release), wanted, "{release}");
        }
    }

    #[test]
    fn versions_and_dates_of_builds() {
        let debian = "6.1.0-56-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)";
        assert_eq!(
            (package_version(debian), date(debian).as_deref()),
            (Some("6.1.192-2"), Some("2026-11-16"))
        );
        let ubuntu =
            "6.8.0-31-generic (buildd@lcy02) #31-Ubuntu SMP PREEMPT_DYNAMIC Sat Apr 20 00:40:06 UTC 2024";
        assert_eq!((package_version(ubuntu), date(ubuntu).as_deref()), (None, Some("2024-04-20")));
        let own = "6.12.0-rc1+ (me@here) #7 SMP Tue Oct  1 01:02:03 2024 x";
        assert_eq!(date(own).as_deref(), Some("2024-10-01"));
        for other in [
            "",
            "6.1 (someone) #1",
            "6.1 (a) #1 Mon Feb 99 0:0 UTC 2024",
            "6.1 (a) #1 Mon Feb 9 0:0 UTC 20240",
            "x (2026-1-1)",
            " Debian x",
        ] {
            assert_eq!((package_version(other), date(other)), (None, None), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String, end in "(Jan|Dec| |[0-9]{1,6}|:|\\(|é){0,9}") {
            let text = text + &end;
            flavour(&text);
            prop_assert!(text.contains(series(&text)));
            package_version(&text);
            prop_assert!(date(&text).is_none_or(|day| is_day(&day)));
        }
    }
}
