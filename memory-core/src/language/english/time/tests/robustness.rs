//! Arbitrary text.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// Words that begin, end and join time phrases.
const WORDS: [&str; 74] = [
    "yesterday",
    ",",
    "when",
    "after",
    "before",
    "since",
    "until",
    "by",
    "from",
    "to",
    "between",
    "and",
    "at",
    "on",
    "the",
    "in",
    "of",
    "half",
    "past",
    "a",
    "quarter",
    "ten",
    "twenty",
    "five",
    "seven",
    "noon",
    "midnight",
    "morning",
    "night",
    "this",
    "last",
    "next",
    "week",
    "month",
    "year",
    "days",
    "hours",
    "minutes",
    "ago",
    "now",
    "two",
    "12",
    "31",
    "2026",
    "1999",
    "15:30",
    "18:51:23",
    "99:99",
    "25.03.2026",
    "25/03",
    "2026-03-25",
    "2026-13-45",
    "may",
    "march",
    "february",
    "monday",
    "sun",
    "first",
    "thirty",
    "th",
    "every",
    "other",
    "session",
    "end",
    "am",
    "pm",
    "o'clock",
    "-",
    "–",
    "?",
    ".",
    "shortly",
    "weekend",
    "summer",
];

/// Parses a text in every tense and mode. The phrases must lie in the text, in order.
fn read(text: &str, now: &Zoned) -> Result<(), TestCaseError> {
    let session = TimeSpan::new(at("2026-05-20T10:00:00"), at("2026-05-20T10:05:00"));
    for tense in [Tense::Past, Tense::Present, Tense::Future] {
        for session in [None, Some(session)] {
            let phrases = time_phrases(text, now, session, tense);
            let mut end = 0;
            for phrase in &phrases {
                prop_assert!(phrase.range.start >= end && text.get(phrase.range.clone()).is_some());
                prop_assert!(!phrase.spans.is_empty());
                prop_assert!(phrase.spans.iter().all(|(span, _)| span.start <= span.end));
                prop_assert!(!phrase.bounds || phrase.spans.len() == 1);
                end = phrase.range.end;
            }
            let _ = without_bounds(text, &phrases);
        }
        for time in told_times(text, now, tense) {
            prop_assert!(text.get(time.range.clone()).is_some() && time.span.start <= time.span.end);
            let _ = (say_period(time.span, now), say_moment(time.span.start, now), say_clock_range(time.span, now));
        }
        if let Some(times) = whole_times_told(text, now, tense) {
            prop_assert!(!times.is_empty() && times.iter().all(|time| time.span.start <= time.span.end));
        }
    }
    let _ = (told_times_by_clause(text, now), tense_of(text), may_name_session(text));
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,120}") {
        read(&text, &now())?;
    }

    #[test]
    fn text_of_digits_and_marks_is_read(text in "[a-z0-9:,./ éß–'-]{0,80}") {
        read(&text, &now())?;
    }

    #[test]
    fn any_order_of_time_words_is_read(words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..24)) {
        read(&words.join(" "), &now())?;
    }

    #[test]
    fn any_moment_is_one_to_read_at(
        words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..8),
        seconds in -62_000_000_000_i64..253_000_000_000,
        micros in 0..40_000_000_i64,
    ) {
        let there = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(now().time_zone().clone());
        read(&words.join(" "), &there)?;
        let span = TimeSpan::new(Timestamp::from_micros(seconds.saturating_mul(1_000_000)), at("2026-05-20T10:00:00"));
        let _ = (say_period(span, &there), say_clock_range(span, &there), say_length(Duration::from_micros(micros.unsigned_abs())));
    }
}

#[test]
fn broken_times_are_read_without_a_panic() {
    for text in [
        "ß at 99:99 pm",
        "31 February 2023",
        "7:",
        "at 25:00",
        "999999 years ago",
        "in 999999 years",
        "9999.5 years ago",
        "between",
        "in the last",
        "…",
        "0 days ago",
        "Yesterday, when",
        ", when, after, before",
    ] {
        read(text, &now()).unwrap();
    }
}

#[test]
fn of_a_long_text_a_bounded_number_of_phrases_is_read() {
    for part in ["on May 7 ", "a ", "five to seven and ", "from 3 to 5 ", "Monday, ", "the cup on the table ", "1/1 "] {
        let text = part.repeat(8_192 / part.len());
        let phrases = time_phrases(&text, &now(), None, Tense::Past);
        assert!(phrases.len() <= 96, "{part}: {} phrases", phrases.len());
    }
}

/// Fuzz target.
#[test]
fn fuzz_time_words() {
    fuzzing::fuzz("time words", 1_500, |random| {
        let second = i64::try_from(random.number() % 315_000_000_000).unwrap() - 62_000_000_000;
        let there = jiff::Timestamp::from_second(second).unwrap().to_zoned(now().time_zone().clone());
        let text = random.words(&WORDS, 16);
        let when = if random.below(2) == 0 { there } else { now() };
        read(&text, &when).unwrap();
    });
}
