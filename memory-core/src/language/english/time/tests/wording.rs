//! Times and numbers in words.

use std::time::Duration;

use super::*;

#[test]
fn a_moment_is_told_from_now() {
    for (text, expected) in [
        ("2026-05-20T15:29:30", "at 15:29:30 (just now)"),
        ("2026-05-20T15:10:00", "at 15:10:00 (20 minutes ago)"),
        ("2026-05-20T09:00:00", "today at 09:00"),
        ("2026-05-19T09:00:00", "yesterday at 09:00"),
        ("2026-05-07T09:00:00", "on 7 May 2026 at 09:00"),
        ("2026-05-20T15:50:00", "at 15:50 (in 20 minutes)"),
        ("2026-05-20T18:40:00", "today at 18:40"),
        ("2026-05-21T09:00:00", "tomorrow at 09:00"),
        ("2026-05-29T09:00:00", "on Friday 29 May at 09:00"),
        ("2027-01-29T09:00:00", "on 29 January 2027 at 09:00"),
    ] {
        assert_eq!(say_moment(at(text), &now()), expected);
    }
}

#[test]
fn a_span_is_told_by_the_clock_with_the_seconds_it_has() {
    let span = |from: &str, to: &str| say_clock_range(TimeSpan::new(at(from), at(to)), &now());
    assert_eq!(span("2024-06-22T14:34:08", "2024-06-22T14:34:18"), "from 14:34:08 to 14:34:18 on 22 June 2024");
    assert_eq!(span("2024-06-22T14:30:00", "2024-06-22T14:40:00"), "from 14:30 to 14:40 on 22 June 2024");
    assert_eq!(
        span("2024-06-22T23:50:10", "2024-06-23T00:10:20"),
        "from 23:50:10 on 22 June 2024 to 00:10:20 on 23 June 2024"
    );
    assert_eq!(span("2026-05-20T09:00:05", "2026-05-20T09:00:25"), "from 09:00:05 to 09:00:25 today");
    assert_eq!(say_exact_moment(at("2024-06-22T14:34:08"), &now()), "at 14:34:08 on 22 June 2024");
    let minute = &whole_times("19:04 on 17 June 2024", &now(), Tense::Past).unwrap()[0];
    assert_eq!(say_clock_range(*minute, &now()), "at 19:04 on 17 June 2024");
}

#[test]
fn a_told_time_is_said_as_exactly_as_it_was_told() {
    let said = |text: &str, tense| say_period(whole_times(text, &now(), tense).unwrap()[0], &now());
    assert_eq!(said("tomorrow at ten", Tense::Future), "tomorrow at 10:00");
    assert_eq!(said("Friday", Tense::Future), "on Friday 22 May");
    assert_eq!(said("Friday evening", Tense::Future), "on Friday 22 May in the evening");
    assert_eq!(said("Friday from eight to ten", Tense::Future), "on Friday 22 May between 08:00 and 10:00");
    assert_eq!(said("Friday", Tense::Past), "on 15 May 2026");
    assert_eq!(said("in June 2025", Tense::Past), "in June 2025");
    assert_eq!(said("3 to 5 March 2026", Tense::Past), "between 3 March 2026 and 5 March 2026");
}

#[test]
fn a_length_is_told_in_its_two_largest_units() {
    for (seconds, expected) in [
        (0, "less than a second"),
        (1, "1 second"),
        (45, "45 seconds"),
        (90, "1 minute 30 seconds"),
        (1_803, "30 minutes"),
        (4_800, "1 hour 20 minutes"),
        (86_399, "1 day"),
        (97_200, "1 day 3 hours"),
    ] {
        assert_eq!(say_length(Duration::from_secs(seconds)), expected);
    }
}
