//! Times of questions.

use jiff::civil::date;
use jiff::tz::TimeZone;

use super::*;
use crate::Timestamp;

/// Returns the first phrase that bounds a question at `now`, as `begin..end` in the zone.
fn bound_at(question: &str, now: &Zoned) -> Option<String> {
    let phrases = time_phrases(question, now, None, Tense::Past);
    let phrase = phrases.iter().find(|phrase| phrase.bounds)?;
    let span = phrase.spans[0].0;
    let zone = now.time_zone();
    Some(format!("{}..{}", written(span.start, zone), written(span.end, zone)))
}

fn bound(question: &str) -> Option<String> {
    bound_at(question, &now())
}

#[test]
fn relative_words_become_bounds() {
    for (question, expected) in [
        ("What happened today?", "05-20 00:00..05-21 00:00"),
        ("What did you hear yesterday?", "05-19 00:00..05-20 00:00"),
        ("Who came the day before yesterday?", "05-18 00:00..05-19 00:00"),
        ("Who was the first guest of the day?", "05-20 00:00..05-21 00:00"),
        ("What was the last loud noise of the morning?", "05-20 05:00..05-20 12:00"),
        ("What was the first sound in the morning?", "05-20 05:00..05-20 12:00"),
        ("Who was the last guest of the evening?", "05-19 17:00..05-20 00:00"),
        ("Who came yesterday evening?", "05-19 17:00..05-20 00:00"),
        ("Who came yesterday in the morning?", "05-19 05:00..05-19 12:00"),
        ("What did I say this morning?", "05-20 05:00..05-20 12:00"),
        ("What was on TV last night?", "05-19 18:00..05-20 05:00"),
        ("What is planned for tonight?", "05-20 17:00..05-21 05:00"),
        ("What happened ten minutes ago?", "05-20 15:15..05-20 15:25"),
        ("Who was here an hour ago?", "05-20 14:00..05-20 15:00"),
        ("Who was here half an hour ago?", "05-20 14:30..05-20 15:30"),
        ("Who was here about 2 hours ago?", "05-20 12:30..05-20 14:30"),
        ("Who was here twenty five minutes ago?", "05-20 14:52..05-20 15:17"),
        ("Who was here a couple of minutes ago?", "05-20 15:27..05-20 15:29"),
        ("What was said two days ago?", "05-18 00:00..05-19 00:00"),
        ("What was said just now?", "05-20 15:28..05-20 15:30"),
        ("What was said in the last hour?", "05-20 14:30..05-20 15:30"),
        ("What was said over the past 20 minutes?", "05-20 15:10..05-20 15:30"),
        ("What was said in the last days?", "05-16 15:30..05-20 15:30"),
        ("Who came on Monday?", "05-18 00:00..05-19 00:00"),
        ("Who came last Wednesday?", "05-13 00:00..05-14 00:00"),
        ("Who came on Wednesday?", "05-20 00:00..05-21 00:00"),
        ("Who came on Monday morning?", "05-18 05:00..05-18 12:00"),
        ("Who came this week?", "05-18 00:00..05-25 00:00"),
        ("Who came last week?", "05-11 00:00..05-18 00:00"),
        ("Who came last weekend?", "05-16 00:00..05-18 00:00"),
        ("Who came at 3 pm?", "05-20 14:50..05-20 15:10"),
        ("Who came at 11:30 today?", "05-20 11:20..05-20 11:40"),
        ("Who came at 8 pm?", "05-19 19:50..05-19 20:10"),
        ("Who came yesterday at 8 a.m.?", "05-19 07:50..05-19 08:10"),
        ("Who came between 1 and 2 pm?", "05-20 13:00..05-20 14:00"),
        ("Who came between 11 and 1 pm?", "05-20 11:00..05-20 13:00"),
        ("Who came from 9:15 to 10:45?", "05-20 09:15..05-20 10:46"),
        ("Who came before 9 am?", "05-20 00:00..05-20 09:00"),
        ("Who came yesterday after 6 pm?", "05-19 18:00..05-20 00:00"),
    ] {
        assert_eq!(bound(question).as_deref(), Some(expected), "{question}");
    }
}

#[test]
fn what_is_no_time_is_left_alone() {
    for question in [
        "What did the march look like?",
        "May I see the kitchen?",
        "What was the last word?",
        "Who is in the morning room?",
        "How many of the 2000 people came?",
        "What is at the end of the corridor?",
        "Where were 3 of them?",
    ] {
        assert_eq!(time_phrases(question, &now(), None, Tense::Past), [], "{question}");
    }
}

#[test]
fn a_date_lifts_what_is_near_it_and_bounds_nothing() {
    for question in ["on 7 May 2023", "on May 7th, 2023", "on the 7th of May 2023", "on 2023-05-07", "7 may, 2023"] {
        let phrases = time_phrases(&format!("What happened {question}?"), &now(), None, Tense::Past);
        assert_eq!(phrases.len(), 1, "{question}");
        assert!(!phrases[0].bounds);
        let day = Timestamp::parse("2023-05-07T12:00:00+02:00").unwrap();
        let week = Timestamp::parse("2023-05-14T12:00:00+02:00").unwrap();
        let weight = |at| {
            phrases[0].spans.iter().filter(|(span, _)| span.contains(at)).map(|(_, weight)| *weight).fold(0.0, f32::max)
        };
        assert!((weight(day) - 1.0).abs() < 1e-6 && (weight(week) - 0.5).abs() < 1e-6, "{question}");
    }
}

#[test]
fn a_month_without_a_year_may_be_that_of_any_year_behind() {
    let phrases = time_phrases("Where did we go in June?", &now(), None, Tense::Past);
    let june = |year: i16| Timestamp::parse(&format!("{year}-06-15T12:00:00Z")).unwrap();
    for year in [2015, 2023, 2025] {
        assert!(phrases[0].spans.iter().any(|(span, _)| span.contains(june(year))), "{year}");
    }
    let phrases = time_phrases("Where did we go in June 2023?", &now(), None, Tense::Past);
    assert_eq!(phrases[0].spans.len(), 1);
    assert_eq!(time_phrases("What happened in summer 2022?", &now(), None, Tense::Past)[0].spans.len(), 1);
    assert_eq!(time_phrases("What happened in 2022?", &now(), None, Tense::Past)[0].spans.len(), 1);
}

#[test]
fn a_named_date_with_an_hour_is_exact() {
    assert_eq!(bound("Who came on 7 May 2026 at 8 am?").as_deref(), Some("05-07 07:50..05-07 08:10"));
}

#[test]
fn the_week_before_a_date_is_told_by_the_date() {
    let phrases = time_phrases("What did she do last week before 23 January, 2023?", &now(), None, Tense::Past);
    assert_eq!(phrases.len(), 1);
    assert!(!phrases[0].bounds);
}

#[test]
fn long_spans_exclude_nothing() {
    for question in ["Where did we go last summer?", "What did he do two years ago?", "Who came last month?"] {
        let phrases = time_phrases(question, &now(), None, Tense::Past);
        assert!(phrases.len() == 1 && !phrases[0].bounds, "{question}");
    }
}

#[test]
fn the_session_is_measured_from_its_begin_and_its_end() {
    let start = Timestamp::parse("2026-05-20T10:00:00+02:00").unwrap();
    let session = TimeSpan::new(start, start.saturating_add(std::time::Duration::from_secs(240)));
    for (question, expected) in [
        ("What was heard about two minutes into the session?", (102, 138)),
        ("What was seen 90 seconds into the video?", (75, 105)),
        ("What was heard near the end of the session?", (192, 240)),
        ("What was shown at the beginning of the recording?", (0, 48)),
        ("What was shown in the middle of the clip?", (90, 150)),
        ("What was shown near the end?", (192, 240)),
        ("What was shown halfway through the video?", (90, 150)),
        ("What was heard in the first minute?", (0, 60)),
        ("What was heard in the first two minutes of the session?", (0, 120)),
        ("What was heard during the last 30 seconds of the recording?", (210, 240)),
        ("What was heard 5 seconds into the session?", (0, 20)),
    ] {
        let phrases = time_phrases(question, &now(), Some(session), Tense::Past);
        let span = phrases.first().unwrap_or_else(|| panic!("{question}")).spans[0].0;
        let seconds = |at: Timestamp| (at.as_micros() - start.as_micros()) / 1_000_000;
        assert_eq!((seconds(span.start), seconds(span.end)), expected, "{question}");
    }
    assert_eq!(time_phrases("What was heard near the end of the session?", &now(), None, Tense::Past), []);
    // How something came out, and not when.
    assert_eq!(time_phrases("What did the sign say in the end?", &now(), Some(session), Tense::Past), []);
}

#[test]
fn a_day_on_which_the_clocks_change_has_its_own_length() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let spring = date(2026, 3, 29).at(15, 0, 0, 0).to_zoned(zone.clone()).unwrap();
    let autumn = date(2026, 10, 25).at(15, 0, 0, 0).to_zoned(zone).unwrap();
    let hours = |now: &Zoned| {
        let span = time_phrases("What happened today?", now, None, Tense::Past)[0].spans[0].0;
        span.end.since(span.start).as_secs_f64() / 3600.0
    };
    assert_eq!(hours(&spring).round() as i64, 23);
    assert_eq!(hours(&autumn).round() as i64, 25);
    // "An hour ago" is an hour of real time, even if the clocks changed meanwhile.
    let after = date(2026, 3, 29).at(3, 10, 0, 0).to_zoned(TimeZone::get("Europe/Berlin").unwrap()).unwrap();
    assert_eq!(bound_at("Who was here an hour ago?", &after).as_deref(), Some("03-29 00:40..03-29 01:40"));
    // Half past two does not exist on that day. It becomes the same distance after the gap.
    assert_eq!(bound_at("Who was here at 2:30 today?", &spring).as_deref(), Some("03-29 03:20..03-29 03:40"));
}

#[test]
fn the_question_without_its_bounds_keeps_the_rest() {
    let question = "What did Anna say yesterday evening about the mug on 7 May 2023?";
    let phrases = time_phrases(question, &now(), None, Tense::Past);
    assert_eq!(without_bounds(question, &phrases), "What did Anna say   about the mug on 7 May 2023?");
}

/// Returns the first phrase of a question in the question's own tense, to the second.
fn span(question: &str) -> Option<String> {
    let phrases = time_phrases(question, &now(), None, tense_of(question));
    phrases.first().map(|phrase| to_the_second(phrase.spans[0].0))
}

#[test]
fn seconds_and_minutes_on_a_clock_are_exact() {
    for (question, expected) in [
        ("What fell between 14:02:11 and 14:02:49 on 9 May 2026?", "2026-05-09 14:02:11..2026-05-09 14:02:49"),
        ("What was lifted from 08:15:03 to 08:15:07 on 4 April 2025?", "2025-04-04 08:15:03..2025-04-04 08:15:07"),
        ("Where was the jar at 11:07 on 9 May 2026?", "2026-05-09 11:07:00..2026-05-09 11:07:59"),
        ("Where was the jar at 11:05 on 9 May 2026?", "2026-05-09 11:05:00..2026-05-09 11:05:59"),
        ("Where was the jar at 11:07:30 on 9 May 2026?", "2026-05-09 11:07:30..2026-05-09 11:07:30"),
        ("What was baked between 10:58 and 11:14 on 2026-05-09?", "2026-05-09 10:58:00..2026-05-09 11:14:59"),
        ("What was baked from 23:50 on 8 May 2026 to 00:10 on 9 May 2026?", "2026-05-08 23:50:00..2026-05-09 00:10:59"),
        ("Who came at 15.20 on 09.05.2026?", "2026-05-09 15:10:00..2026-05-09 15:30:00"),
    ] {
        let phrases = time_phrases(question, &now(), None, Tense::Past);
        assert_eq!(phrases.len(), 1, "{question}");
        assert!(phrases[0].bounds && phrases[0].has_date && phrases[0].has_clock, "{question}");
        assert_eq!(to_the_second(phrases[0].spans[0].0), expected, "{question}");
    }
}

#[test]
fn a_clock_time_lies_on_the_day_that_the_question_tells_elsewhere() {
    for question in
        ["On 9 May 2026, what fell between 14:02 and 14:05?", "Between 14:02 and 14:05, what fell on 9 May 2026?"]
    {
        let phrases = time_phrases(question, &now(), None, Tense::Past);
        let exact = phrases.iter().find(|phrase| phrase.bounds).unwrap();
        assert_eq!(to_the_second(exact.spans[0].0), "2026-05-09 14:02:00..2026-05-09 14:05:59", "{question}");
    }
}

#[test]
fn each_range_of_a_list_is_a_phrase_of_its_own() {
    let phrases =
        time_phrases("Was it dark from 9:15 to 10:45 and from 14:00 to 15:30 on Monday?", &now(), None, Tense::Past);
    let spans: Vec<String> = phrases.iter().map(|phrase| to_the_second(phrase.spans[0].0)).collect();
    assert_eq!(spans, ["2026-05-18 09:15:00..2026-05-18 10:45:59", "2026-05-18 14:00:00..2026-05-18 15:30:59"]);
    assert!(phrases.iter().all(|phrase| phrase.has_date));
}

#[test]
fn words_of_the_clock_are_read() {
    for (question, expected) in [
        ("Who rang at a quarter past ten?", "2026-05-20 10:05:00..2026-05-20 10:25:00"),
        ("Who rang at half past two?", "2026-05-20 14:20:00..2026-05-20 14:40:00"),
        ("Who rang at five to seven?", "2026-05-20 06:45:00..2026-05-20 07:05:00"),
        ("Who rang at twenty minutes past eight in the evening?", "2026-05-19 20:10:00..2026-05-19 20:30:00"),
        ("Who rang at noon?", "2026-05-20 11:30:00..2026-05-20 12:30:00"),
        ("Who rang shortly after noon?", "2026-05-20 12:00:00..2026-05-20 12:20:00"),
        ("Who rang at two last night?", "2026-05-20 01:50:00..2026-05-20 02:10:00"),
        ("Who rang at ten forty-five?", "2026-05-20 10:35:00..2026-05-20 10:55:00"),
        ("Who rang before ten?", "2026-05-20 00:00:00..2026-05-20 10:00:00"),
        ("Who rang after 10:30?", "2026-05-20 10:30:00..2026-05-21 00:00:00"),
        ("Who rang until noon?", "2026-05-20 00:00:00..2026-05-20 12:00:59"),
        ("Who rang between nine and five on Monday?", "2026-05-18 09:00:00..2026-05-18 17:00:00"),
        ("Who rang in the evening of 3 May?", "2026-05-03 17:00:00..2026-05-04 00:00:00"),
        ("Who rang on Tuesday night?", "2026-05-19 18:00:00..2026-05-20 05:00:00"),
        ("Who rang Monday evening?", "2026-05-18 17:00:00..2026-05-19 00:00:00"),
        ("Who rang the other day?", "2026-05-13 00:00:00..2026-05-19 23:59:59"),
        ("Who rang during the night?", "2026-05-19 20:00:00..2026-05-20 05:00:00"),
        ("Who rang on the 1st of this month?", "2026-05-01 00:00:00..2026-05-01 23:59:59"),
        ("Who rang since Monday?", "2026-05-18 00:00:00..2026-05-20 15:30:00"),
        ("Who has rung since yesterday at six?", "2026-05-19 18:00:00..2026-05-20 15:30:00"),
        ("Who rang between Monday and Tuesday?", "2026-05-18 00:00:00..2026-05-19 23:59:59"),
    ] {
        assert_eq!(span(question).as_deref(), Some(expected), "{question}");
    }
}

#[test]
fn a_question_about_the_future_counts_forward() {
    for (question, expected) in [
        ("What is planned for Friday?", "2026-05-22 00:00:00..2026-05-22 23:59:59"),
        ("Who will come on Monday?", "2026-05-25 00:00:00..2026-05-25 23:59:59"),
        ("Who will come next Tuesday?", "2026-05-26 00:00:00..2026-05-26 23:59:59"),
        ("Who will come the day after tomorrow?", "2026-05-22 00:00:00..2026-05-22 23:59:59"),
        ("Who arrives in two days?", "2026-05-22 00:00:00..2026-05-22 23:59:59"),
        ("What must be done by Friday?", "2026-05-20 15:30:00..2026-05-22 23:59:59"),
        ("Who will sing at ten tonight?", "2026-05-20 21:50:00..2026-05-20 22:10:00"),
        ("Who will come at ten?", "2026-05-20 21:50:00..2026-05-20 22:10:00"),
        ("What will happen on the third?", "2026-06-03 00:00:00..2026-06-03 23:59:59"),
        ("What will happen on 12 March?", "2027-03-12 00:00:00..2027-03-12 23:59:59"),
        ("What will happen next weekend?", "2026-05-30 00:00:00..2026-05-31 23:59:59"),
    ] {
        assert_eq!(span(question).as_deref(), Some(expected), "{question}");
    }
}

#[test]
fn a_date_tells_its_day_first() {
    for question in [
        "on the twelfth",
        "on the 12th",
        "on 12 May",
        "on May 12th, 2026",
        "on 2026-05-12",
        "on 12.05.2026",
        "on 12/05",
    ] {
        let phrases = time_phrases(&format!("What happened {question}?"), &now(), None, Tense::Past);
        assert_eq!(phrases.len(), 1, "{question}");
        let (first, weight) = phrases[0].spans[0];
        assert_eq!(to_the_second(first), "2026-05-12 00:00:00..2026-05-12 23:59:59", "{question}");
        assert!((weight - 1.0).abs() < 1e-6 && !phrases[0].bounds && phrases[0].has_date, "{question}");
    }
}

#[test]
fn numbers_that_count_things_are_no_times() {
    for question in [
        "Which lamp was on the second floor?",
        "How many plates did the five men carry to seven houses?",
        "What was the second thing after 3 cups?",
        "How many steps are there between 3 and 7?",
        "What did the scale show, 3.5 or 4.25?",
        "Was it 1/2 or 3/4 of the bottle?",
        "What did they win, 3:2 or 4:1?",
        "Was it before or after nine?",
        "What does he do every Monday?",
        "What does he do on Mondays?",
    ] {
        assert_eq!(time_phrases(question, &now(), None, Tense::Past), [], "{question}");
    }
}

#[test]
fn the_relation_and_what_it_is_told_of_are_kept_apart() {
    let phrases = time_phrases("What must be ready by Friday?", &now(), None, Tense::Future);
    assert_eq!(phrases[0].relation, TimeRelation::Until);
    assert_eq!(to_the_second(phrases[0].named), "2026-05-22 00:00:00..2026-05-22 23:59:59");
}
