//! How often something is done: "twice a week", "every other day", "monthly".

use super::calendar::{TimeUnit, weekday_named};
use crate::language::english::closed::number_word;

/// Returns how often a day something is done, if a text says so: 1/7 of "every week", "once a week" and "on Mondays".
pub(crate) fn times_a_day(text: &str) -> Option<f64> {
    let words: Vec<String> = crate::index::words(text).collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let each = |at: usize| matches!(word(at), "a" | "an" | "per" | "every" | "each");
    let mut weekday = None;
    let mut found = None;
    for at in 0..words.len() {
        let often = match word(at) {
            "daily" => Some(1.0),
            "weekly" => Some(1.0 / 7.0),
            "fortnightly" => Some(1.0 / 14.0),
            "monthly" => Some(1.0 / 30.0),
            "yearly" | "annually" => Some(1.0 / 365.0),
            // "Once a week", "three times a day".
            "once" | "twice" if each(at + 1) => {
                unit_in_days(word(at + 2)).map(|days| if word(at) == "once" { 1.0 } else { 2.0 } / days)
            }
            "times" if each(at + 1) => {
                let count = at.checked_sub(1).and_then(|before| number_of(word(before)));
                count.zip(unit_in_days(word(at + 2))).map(|(count, days)| count / days)
            }
            // "Every week", "every other day", "every two weeks", "the first Monday of every month".
            "every" | "each" if weekday_named(word(at + 1)).is_some() => {
                weekday = weekday.or(Some(1.0 / 7.0));
                None
            }
            "every" | "each" => match word(at + 1) {
                "other" | "second" => unit_in_days(word(at + 2)).map(|days| 0.5 / days),
                count if number_of(count).is_some_and(|count| count >= 1.0) => {
                    number_of(count).zip(unit_in_days(word(at + 2))).map(|(count, days)| 1.0 / (count * days))
                }
                unit => unit_in_days(unit).map(|days| 1.0 / days),
            },
            // "On Mondays".
            day if day.ends_with("days") && weekday_named(day.trim_end_matches('s')).is_some() => {
                weekday = weekday.or(Some(1.0 / 7.0));
                None
            }
            _ => None,
        };
        found = found.or(often);
    }
    found.or(weekday)
}

/// Length of a unit in days. What is done every morning is done every day.
#[expect(clippy::cast_precision_loss, reason = "at most the seconds of a year")]
fn unit_in_days(word: &str) -> Option<f64> {
    match word {
        "morning" | "noon" | "afternoon" | "evening" | "night" => Some(1.0),
        "fortnight" => Some(14.0),
        _ => Some(TimeUnit::from_word(word)?.approximate_seconds() as f64 / 86_400.0),
    }
}

fn number_of(word: &str) -> Option<f64> {
    word.parse().ok().or_else(|| number_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_frequency_is_the_same_in_other_words() {
        for (one, other) in [
            ("once a week", "as every week"),
            ("Weekly", "every Monday"),
            ("once a week", "on Mondays"),
            ("twice a day", "2 times a day"),
            ("every fortnight", "Every two weeks"),
            ("once a month, on the first Sunday", "The first Sunday of every month."),
            ("every other day", "every second day"),
        ] {
            assert!(times_a_day(one).is_some(), "{one}");
            assert_eq!(times_a_day(one), times_a_day(other), "{one}, {other}");
        }
        for text in ["on Monday", "every cup", "at the second time", "a week ago", ""] {
            assert_eq!(times_a_day(text), None, "{text}");
        }
    }
}
