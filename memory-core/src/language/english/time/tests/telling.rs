//! Times stated in sentences, and options that are times.

use super::*;

#[test]
fn an_appointment_lies_ahead_of_its_telling() {
    for (sentence, expected) in [
        ("He'll drop by on Friday at noon.", "2026-05-22 12:00:00..2026-05-22 12:00:59"),
        ("Our recital is on Sunday the seventh at five.", "2026-06-07 17:00:00..2026-06-07 17:00:59"),
        ("The vet wants to see the cat on Monday the eighth at nine.", "2026-06-08 09:00:00..2026-06-08 09:00:59"),
        ("We fly on Saturday, at ten to six in the morning.", "2026-05-23 05:50:00..2026-05-23 05:50:59"),
        ("Piano lesson: Tuesday the second, a quarter to four.", "2026-06-02 15:45:00..2026-06-02 15:45:59"),
        ("His ferry gets in at 18:25.", "2026-05-20 18:25:00..2026-05-20 18:25:59"),
        ("His ferry gets in at 11:25.", "2026-05-21 11:25:00..2026-05-21 11:25:59"),
        ("The skates are due back on the thirtieth of June.", "2026-06-30 00:00:00..2026-06-30 23:59:59"),
        ("The plumber comes tomorrow at eight.", "2026-05-21 08:00:00..2026-05-21 08:00:59"),
        ("We meet at half past four.", "2026-05-20 16:30:00..2026-05-20 16:30:59"),
        ("The play starts at eight.", "2026-05-20 20:00:00..2026-05-20 20:00:59"),
        ("The concert begins half an hour later now, at eight on Friday.", "2026-05-22 20:00:00..2026-05-22 20:00:59"),
        ("The check-up was moved to Thursday at 9.", "2026-05-21 09:00:00..2026-05-21 09:00:59"),
        ("We are invited for Wednesday.", "2026-05-27 00:00:00..2026-05-27 23:59:59"),
        ("I'm away from Monday to Thursday.", "2026-05-25 00:00:00..2026-05-28 23:59:59"),
        ("The rent is due on the third of next month.", "2026-06-03 00:00:00..2026-06-03 23:59:59"),
        ("Her birthday is next month, on the fourth.", "2026-06-04 00:00:00..2026-06-04 23:59:59"),
        ("The visit is in two weeks.", "2026-06-03 00:00:00..2026-06-03 23:59:59"),
        ("The dentist rang: Monday at four.", "2026-05-25 16:00:00..2026-05-25 16:00:59"),
        ("The guests come on Friday, four of them.", "2026-05-22 00:00:00..2026-05-22 23:59:59"),
        ("Half the pipes leak, so it's the eleventh now.", "2026-06-11 00:00:00..2026-06-11 23:59:59"),
        ("The shop is open from nine to five on Saturday.", "2026-05-23 09:00:00..2026-05-23 17:00:00"),
    ] {
        let told = told_times_by_clause(sentence, &now());
        assert_eq!(told.first().map(|time| to_the_second(time.span)).as_deref(), Some(expected), "{sentence}");
    }
}

#[test]
fn what_was_done_lies_behind_its_telling() {
    for (sentence, expected) in [
        ("The boiler failed on Friday.", "2026-05-15 00:00:00..2026-05-15 23:59:59"),
        ("She called at six.", "2026-05-20 06:00:00..2026-05-20 06:00:59"),
        ("She called at two.", "2026-05-20 14:00:00..2026-05-20 14:00:59"),
        ("She called yesterday at six.", "2026-05-19 18:00:00..2026-05-19 18:00:59"),
        ("The parcel came this morning at 7:20.", "2026-05-20 07:20:00..2026-05-20 07:20:59"),
        ("We went there on the twelfth of June.", "2025-06-12 00:00:00..2025-06-12 23:59:59"),
    ] {
        let told = told_times_by_clause(sentence, &now());
        assert_eq!(told.first().map(|time| to_the_second(time.span)).as_deref(), Some(expected), "{sentence}");
    }
}

#[test]
fn the_time_that_no_longer_holds_is_not_told() {
    for sentence in ["The delivery is now on Friday instead of Tuesday.", "The lesson is on Friday, not Tuesday."] {
        let told = told_times_by_clause(sentence, &now());
        assert_eq!(told.len(), 1, "{sentence}");
        assert_eq!(to_the_second(told[0].span), "2026-05-22 00:00:00..2026-05-22 23:59:59", "{sentence}");
    }
    let told = told_times_by_clause("The lesson was postponed from Tuesday to Friday.", &now());
    assert!(told.iter().any(|time| to_the_second(time.span) == "2026-05-22 00:00:00..2026-05-22 23:59:59"));
}

#[test]
fn each_clause_has_its_own_tense() {
    let told = told_times_by_clause("He phoned on Monday, he will be here on Friday. He wrote on Tuesday.", &now());
    let days: Vec<String> = told.iter().map(|time| to_the_second(time.span)[..10].into()).collect();
    assert_eq!(days, ["2026-05-18", "2026-05-22", "2026-05-19"]);
}

#[test]
fn a_time_after_an_announced_change_is_yet_to_come() {
    for (text, day) in [
        ("The lesson has been moved. Friday at nine, in the big room.", "2026-05-22"),
        ("They've moved my lesson. Monday at nine.", "2026-05-25"),
        ("We met him at the fair. Monday at nine.", "2026-05-18"),
    ] {
        let told = told_times_by_clause(text, &now());
        assert_eq!(
            told.iter().map(|time| to_the_second(time.span)[..10].to_owned()).collect::<Vec<_>>(),
            [day],
            "{text}"
        );
    }
}

#[test]
fn a_clock_time_takes_the_day_of_the_sentence_beside_it() {
    let told = told_times_by_clause("My aunt visits us on Friday. Her ferry gets in at 17:05.", &now());
    assert_eq!(told.len(), 2);
    assert_eq!(to_the_second(told[1].span), "2026-05-22 17:05:00..2026-05-22 17:05:59");
    assert!(told[1].has_date && told[1].has_clock && !told[0].has_clock);
}

#[test]
fn greetings_and_counts_tell_no_time() {
    for sentence in [
        "Morning, everybody!",
        "Good night.",
        "There are five to seven pears.",
        "Put two of the ten boxes down.",
        "The bins are emptied every Friday.",
        "It weighs 3.5 kilos.",
    ] {
        assert_eq!(told_times_by_clause(sentence, &now()), [], "{sentence}");
    }
}

#[test]
fn an_option_that_is_times_is_read_as_times() {
    let spans = |text: &str| {
        let times = whole_times(text, &now(), Tense::Past)?;
        Some(times.into_iter().map(to_the_second).collect::<Vec<_>>())
    };
    for (text, expected) in [
        (
            "14:02:11 to 14:02:49, 14:10:08 to 14:10:30 on 9 May 2026",
            vec!["2026-05-09 14:02:11..2026-05-09 14:02:49", "2026-05-09 14:10:08..2026-05-09 14:10:30"],
        ),
        ("11:07 on 9 May 2026", vec!["2026-05-09 11:07:00..2026-05-09 11:07:59"]),
        ("On 9 May 2026 from 11:07:01 to 11:07:02", vec!["2026-05-09 11:07:01..2026-05-09 11:07:02"]),
        ("Monday at 10:40", vec!["2026-05-18 10:40:00..2026-05-18 10:40:59"]),
        ("12 March", vec!["2026-03-12 00:00:00..2026-03-12 23:59:59"]),
        ("around noon", vec!["2026-05-20 11:30:00..2026-05-20 12:30:00"]),
        ("shortly before eight in the morning", vec!["2026-05-20 07:40:00..2026-05-20 08:00:00"]),
        ("Monday morning", vec!["2026-05-18 05:00:00..2026-05-18 12:00:00"]),
        ("yesterday", vec!["2026-05-19 00:00:00..2026-05-19 23:59:59"]),
        ("9:15–10:45", vec!["2026-05-20 09:15:00..2026-05-20 10:45:59"]),
        ("the 12th", vec!["2026-05-12 00:00:00..2026-05-12 23:59:59"]),
    ] {
        assert_eq!(spans(text), Some(expected.into_iter().map(String::from).collect()), "{text}");
    }
    for text in ["ten", "the second", "in the shed at noon", "3.5", "half a pound", "", "Monday's child"] {
        assert_eq!(spans(text), None, "{text}");
    }
    let ahead = whole_times("Monday the eighth at eight", &now(), Tense::Future).unwrap();
    assert_eq!(to_the_second(ahead[0]), "2026-06-08 08:00:00..2026-06-08 08:00:59");
}

#[test]
fn an_option_tells_whether_it_has_a_day_and_an_hour() {
    let kinds = |text: &str| {
        let times = whole_times_told(text, &now(), Tense::Past).unwrap();
        times.iter().map(|time| (time.has_date, time.has_clock)).collect::<Vec<_>>()
    };
    assert_eq!(kinds("at 10:40"), [(false, true)]);
    assert_eq!(kinds("Monday"), [(true, false)]);
    assert_eq!(kinds("at 10:40 and 11:20 on Monday"), [(true, true), (true, true)]);
}

#[test]
fn an_age_is_no_hour() {
    for sentence in
        ["Our nephew turns five on Friday.", "She's turning seventy-four on Friday.", "He'll be six on Friday."]
    {
        let told = told_times_by_clause(sentence, &now());
        assert_eq!(to_the_second(told[0].span), "2026-05-22 00:00:00..2026-05-22 23:59:59", "{sentence}");
    }
}
