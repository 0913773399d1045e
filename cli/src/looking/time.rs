//! Lengths of time, as people read them.

use std::time::Duration;

/// The two greatest units: `4m 12s`, `1day 2h`, `26s`; below a second, `350ms`.
pub(crate) fn short(length: Duration) -> String {
    let whole = match length.as_secs() {
        0 => Duration::from_millis(u64::from(length.subsec_millis())),
        secs => Duration::from_secs(secs),
    };
    let long = humantime::format_duration(whole).to_string();
    long.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_told_in_its_greatest_units() {
        for (length, told) in [
            (Duration::ZERO, "0s"),
            (Duration::from_micros(350_999), "350ms"),
            (Duration::from_millis(26_999), "26s"),
            (Duration::from_secs(252), "4m 12s"),
            (Duration::from_secs(3600), "1h"),
            (Duration::from_secs(3601), "1h 1s"),
            (Duration::from_secs(93_784), "1day 2h"),
        ] {
            assert_eq!(short(length), told);
        }
    }
}
