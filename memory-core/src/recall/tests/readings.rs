//! What a series of readings says: the extreme one, the higher of two, the trend, and the one at a time.

use super::home::{Home, Row, home};
use crate::Kind;
use crate::value::Value;

const NONE: [String; 0] = [];

/// Readings of a mountain hut: with attributes, with only a text, and of the robot itself.
fn hut() -> Home {
    let rows: &[Row] = &[
        ("16T07:00:00", 0, Kind::State, Some("pantry"), "The thermometer in the pantry reads 6 degrees."),
        ("16T13:00:00", 0, Kind::State, Some("pantry"), "The thermometer in the pantry reads 9 degrees."),
        ("17T07:00:00", 0, Kind::State, Some("pantry"), "The thermometer in the pantry reads 3 degrees."),
        ("18T07:00:00", 0, Kind::State, Some("pantry"), "The thermometer in the pantry reads 7 degrees."),
        ("18T19:00:00", 0, Kind::State, Some("pantry"), "The thermometer in the pantry reads 1 degrees."),
        ("16T08:00:00", 0, Kind::State, Some("cistern"), "The gauge of the cistern shows 40 %."),
        ("17T08:00:00", 0, Kind::State, Some("cistern"), "The gauge of the cistern shows 15 %."),
        ("17T09:00:00", 0, Kind::Action, Some("Radomir"), "Radomir fills the cistern from the spring."),
        ("17T10:00:00", 0, Kind::State, Some("cistern"), "The gauge of the cistern shows 92 %."),
        ("16T19:00:00", 0, Kind::State, Some("robot"), "The robot parks on its mat, the battery is at 27 %."),
        ("17T06:00:00", 0, Kind::State, Some("robot"), "The robot leaves its mat with the battery at 97 %."),
        ("17T19:00:00", 0, Kind::State, Some("robot"), "The robot parks on its mat, the battery is at 44 %."),
        ("17T15:00:00", 0, Kind::State, Some("ditch"), "The ditch holds water."),
        ("17T16:00:00", 0, Kind::State, Some("ditch"), "The ditch holds more water."),
        ("16T20:00:00", 0, Kind::State, Some("Ysolde"), "Humidity in the wood shed is 71 %."),
        ("18T20:00:00", 0, Kind::State, Some("Ysolde"), "Humidity in the wood shed is 58 %."),
        ("18T21:00:00", 0, Kind::State, Some("boat house"), "The thermometer in the boat house reads 5 degrees."),
        ("16T12:00:00", 0, Kind::State, Some("tank 1"), "Tank 1 is at 300 litres."),
        ("17T12:00:00", 0, Kind::State, Some("tank 1"), "Tank 1 is at 300 litres."),
    ];
    let mut home = home(rows);
    for (place, depth) in [(12, 14), (13, 22)] {
        home.events[place].attributes.insert("water_cm".into(), Value::Integer(depth));
    }
    for (place, temperature) in [(0, 6), (1, 9), (2, 3), (3, 7), (4, 1)] {
        home.events[place].attributes.insert("temperature".into(), Value::Integer(temperature));
    }
    home.with_meaning()
}

#[test]
fn how_a_thing_is_is_its_latest_reading() {
    let misses = hut().misses(&[("How's your battery?", "44"), ("How is your battery now?", "44")]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_own_reading_is_known_by_its_attribute_too() {
    let rows: &[Row] = &[
        ("16T07:00:00", 0, Kind::State, Some("robot"), "The robot leaves its mat with a full battery."),
        ("16T12:00:00", 0, Kind::State, Some("robot"), "The robot parks on its mat for lunch."),
        ("17T19:00:00", 0, Kind::State, Some("robot"), "The robot parks on its mat."),
    ];
    let mut home = home(rows);
    for (place, level) in [(0, 99), (1, 52), (2, 38)] {
        home.events[place].attributes.insert("battery_level".into(), Value::Integer(level));
    }
    let misses =
        home.with_meaning().misses(&[("How's your battery?", "38"), ("What was the lowest your battery got?", "38")]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_extreme_reading_tells_its_time() {
    let misses = hut().misses(&[
        ("On which of the three mornings was the pantry coldest?", "On 17 November 2026 (3 degrees)"),
        ("Which day was the pantry warmest?", "On 16 November 2026 (9 degrees)"),
        ("When was the cistern at its fullest?", "On 17 November 2026 at 10:00 (92 %)"),
        ("When was the humidity in the wood shed lowest?", "58 %"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_extreme_reading_tells_its_value() {
    let misses = hut().misses(&[
        ("What was the highest temperature in the pantry?", "9 degrees"),
        ("How deep did the water in the ditch get at its worst?", "22 cm"),
        ("How cold did it get in the pantry?", "1 degrees"),
        ("What is the lowest your battery got?", "27 %"),
        ("How warm did it get in the boat house?", "5 degrees"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn two_times_are_compared_by_their_readings() {
    let misses = hut().misses(&[
        ("Was it warmer in the pantry on 16 November or on 17 November?", "On 16 November: 6 to 9 degrees"),
        ("Was it colder in the pantry on 17 November than on 16 November?", "Yes: on 17 November 3 degrees"),
        ("Was the cistern fuller on 16 November than on 17 November at 10:00?", "No"),
        ("Was your battery lower on 16 November or on 17 November in the evening?", "On 16 November: 27 %"),
        ("Was tank 1 fuller on 16 November or on 17 November?", "The same both times (300 litres)"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn readings_rise_or_fall() {
    let misses = hut().misses(&[
        // Noon is warmer than the morning on any day: readings of one hour are compared.
        ("Has it been getting warmer or colder in the pantry since 16 November?", "Warmer: from 6 to 7 degrees"),
        ("Is the wood shed becoming more humid?", "No: from 71 to 58 %"),
        ("Has the humidity in the wood shed fallen since 16 November?", "Yes: from 71 to 58 %"),
        ("Has the water in the ditch been rising?", "Yes: from 14"),
        ("Is tank 1 getting fuller or emptier?", "Neither: 300 litres both times"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_reading_is_told_at_an_event_or_a_time() {
    let misses = hut().misses(&[
        ("What was the battery at when you parked on your mat on 17 November?", "44 %"),
        ("How full was your battery when you left your mat?", "97 %"),
        ("What did the cistern gauge say before Radomir filled it?", "15 %"),
        ("How full was the cistern after Radomir filled it?", "92 %"),
        ("What was the temperature in the pantry on 16 November at 13:00?", "9 degrees"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn other_things_and_single_readings_say_nothing() {
    let home = hut();
    let questions = [
        "On which morning was the bedroom coldest?",
        "When was the pantry loudest?",
        "Was it warmer in the parlour on 16 November or on 17 November?",
        "Was it warmer in the boat house on 16 November or on 17 November?",
        "Is it getting warmer in the boat house?",
        "When was tank 1 fullest?",
        "What was the highest temperature in the chapel?",
        "What was the pressure of the cistern when Radomir came home?",
    ];
    let mut read = Vec::new();
    for question in questions {
        let answer = home.ask(question);
        if answer.reason.contains("reading") {
            read.push(format!("{question} {:?} ({})", answer.answer, answer.reason));
        }
    }
    assert_eq!(read, NONE);
}

#[test]
fn what_is_not_a_value_is_no_reading() {
    let home = hut();
    let answer = home.ask("What was wrong with the battery on 16 November?");
    assert!(!answer.reason.contains("the reading"), "{answer:?}");
    let answer = home.ask("What had got stuck in the cistern on 17 November?");
    assert!(!answer.reason.contains("the reading"), "{answer:?}");
}
