//! A summary says what a summary of the events would say, whatever was made of them before; and nothing that is hidden.

use std::sync::Arc;

use proptest::prelude::*;
use redb::ReadableTable;

use crate::engine::handle::Engine;
use crate::engine::test_bench;
use crate::episodic::gist::{Level, Line, joined};
use crate::store::memory_storage::MemoryStorage;
use crate::store::tables::GISTS;
use crate::{
    ForgetRequest, GistFilter, Kind, ManualClock, MemoryOptions, Observation, ObserveOutcome, TimeSpan, Timestamp, Told,
};

/// Midnight of the first day, and the last moment that is told of: three days later.
const FIRST: i64 = 1_795_132_800;
const DAYS: i64 = 3;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((FIRST + seconds) * 1_000_000)
}

fn open_in(storage: &MemoryStorage, zone: &str) -> Engine {
    let options = MemoryOptions { zone: jiff::tz::TimeZone::get(zone).unwrap(), ..test_bench::options() };
    let clock = Arc::new(ManualClock::at(at((DAYS + 2) * 86_400)));
    Engine::open(Arc::new(storage.clone()), options, clock).unwrap()
}

fn open(storage: &MemoryStorage) -> Engine {
    open_in(storage, "UTC")
}

fn caption(id: &str, text: &str, seconds: i64) -> Told {
    Told {
        id: Some(id.into()),
        at: Some(at(seconds)),
        until: Some(at(seconds + 20)),
        kind: Kind::Caption,
        text: text.into(),
        source: "robot".into(),
        ..Told::default()
    }
}

fn tell(store: &Engine, told: Told) -> ObserveOutcome {
    store.observe(vec![Observation::Told(told)]).unwrap().remove(0)
}

fn make(store: &Engine) {
    while store.gists_pending(2).unwrap() > 0 {}
}

fn all() -> TimeSpan {
    TimeSpan::new(at(-86_400), at((DAYS + 2) * 86_400))
}

/// What a summary is made of, and what it would be made of if there were no gists.
fn lines(store: &Engine) -> (Vec<Line>, Vec<Line>) {
    let view = store.view().unwrap();
    let events = view.list_events(None, usize::MAX).unwrap();
    (view.lines_of(all(), true).unwrap(), joined(events.iter().filter_map(Line::of)))
}

fn assert_same(store: &Engine) {
    let (from_gists, from_events) = lines(store);
    let told =
        |lines: &[Line]| lines.iter().map(|line| (line.text.clone(), line.lasted, line.span)).collect::<Vec<_>>();
    assert_eq!(told(&from_gists), told(&from_events));
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
}

/// Rows of hours and of days.
fn made(store: &Engine) -> (usize, usize) {
    let transaction = store.database.read().unwrap();
    let table = transaction.open_table(GISTS).unwrap();
    let of = |level: u8| table.range((level, i64::MIN)..=(level, i64::MAX)).unwrap().count();
    (of(2), of(4))
}

/// Every byte of the table's values.
fn stored(store: &Engine) -> String {
    let transaction = store.database.read().unwrap();
    let table = transaction.open_table(GISTS).unwrap();
    let values = table.iter().unwrap().map(|entry| entry.unwrap().1.value().to_vec());
    values.map(|value| String::from_utf8_lossy(&value).into_owned()).collect()
}

/// Two hours of the first day, one of the second.
fn household(store: &Engine) {
    for (id, text, seconds) in [
        ("a", "Anna makes tea", 9 * 3_600),
        ("b", "Anna waters the plants", 9 * 3_600 + 600),
        ("c", "Ben repairs the lamp", 15 * 3_600),
        ("d", "Anna makes tea", 86_400 + 9 * 3_600),
    ] {
        tell(store, caption(id, text, seconds));
    }
}

fn day_summaries(store: &Engine) -> Vec<String> {
    let filter = GistFilter { level: Level::Day, span: None, limit: None, budget: None };
    store.reading(|view| view.list_gists(&filter)).unwrap().into_iter().map(|gist| gist.summary).collect()
}

#[test]
fn hours_and_days_that_are_over_get_a_gist_and_the_days_say_what_happened() {
    let store = open(&MemoryStorage::new());
    household(&store);
    let before = day_summaries(&store);
    make(&store);
    assert_eq!(made(&store), (3, 2));
    assert_same(&store);
    assert_eq!(day_summaries(&store), before, "made or not, a gist says the same");
    assert_eq!(
        before,
        ["Anna makes tea.", "09:00 to 09:10: Anna makes tea; Anna waters the plants. 15:00: Ben repairs the lamp."]
    );
}

#[test]
fn what_is_told_of_an_hour_that_has_a_gist_is_in_the_summary_at_once() {
    let store = open(&MemoryStorage::new());
    household(&store);
    make(&store);
    tell(&store, caption("e", "Carla plays the harp", 9 * 3_600 + 1_200));
    assert_eq!(made(&store), (2, 1), "the hour and its day are gone");
    assert_same(&store);
    make(&store);
    assert_eq!(made(&store), (3, 2));
    assert_same(&store);
}

#[test]
fn forgetting_the_middle_of_a_gist_takes_it_away_before_it_is_answered() {
    let store = open(&MemoryStorage::new());
    household(&store);
    make(&store);
    assert!(stored(&store).contains("waters the plants"));
    let span = TimeSpan::new(at(9 * 3_600 + 590), at(9 * 3_600 + 650));
    assert_eq!(store.forget(&ForgetRequest::Span(span)).unwrap().events, 1);
    assert!(!stored(&store).contains("waters the plants"));
    assert_same(&store);
    make(&store);
    assert!(!stored(&store).contains("waters the plants"));
    assert!(stored(&store).contains("Ben repairs the lamp"));
    assert_same(&store);
}

#[test]
fn a_correction_changes_the_gist_of_the_hour() {
    let store = open(&MemoryStorage::new());
    household(&store);
    make(&store);
    tell(&store, caption("c", "Ben repairs the radio", 15 * 3_600));
    assert!(!stored(&store).contains("lamp"));
    make(&store);
    assert!(stored(&store).contains("radio"));
    assert_same(&store);
}

#[test]
fn gists_that_were_lost_with_a_kill_are_made_again() {
    let storage = MemoryStorage::new();
    let store = open(&storage);
    household(&store);
    let before = MemoryStorage::from_image(storage.image());
    make(&store);
    drop(store);
    let store = open(&before);
    assert_eq!(made(&store).0, 0, "the image is from before they were made");
    make(&store);
    assert_eq!(made(&store), (3, 2));
    assert_same(&store);
}

#[test]
fn a_memory_from_before_there_were_gists_gets_them() {
    let storage = MemoryStorage::new();
    let store = open(&storage);
    household(&store);
    let mut writer = store.writer();
    let transaction = store.begin(&mut writer).unwrap();
    transaction.open_table(GISTS).unwrap().remove_range((0, i64::MIN)..=(u8::MAX, i64::MAX)).unwrap();
    transaction.commit().unwrap();
    drop(writer);
    assert_eq!(made(&store), (0, 0));
    make(&store);
    assert_eq!(made(&store), (3, 2));
    assert_same(&store);
}

#[test]
fn days_are_those_of_the_memorys_zone_also_when_it_moves() {
    let storage = MemoryStorage::new();
    let store = open(&storage);
    household(&store);
    make(&store);
    drop(store);
    // Nine in the morning of one day is past midnight of the next in none of them; three in the afternoon is in the last.
    for (zone, days) in [("Asia/Kathmandu", 2), ("America/St_Johns", 2), ("Pacific/Auckland", 2)] {
        let store = open_in(&storage, zone);
        assert_eq!(day_summaries(&store).len(), days, "{zone}");
        make(&store);
        assert_same(&store);
    }
}

#[test]
fn an_hour_that_is_not_over_has_a_summary_and_no_row() {
    let storage = MemoryStorage::new();
    let store = open(&storage);
    let now = (DAYS + 2) * 86_400 - 60;
    tell(&store, caption("now", "Anna reads", now));
    make(&store);
    assert_eq!(made(&store), (0, 0));
    let filter = GistFilter { level: Level::Hour, span: None, limit: None, budget: None };
    let gists = store.reading(|view| view.list_gists(&filter)).unwrap();
    assert_eq!(gists.len(), 1);
    assert_eq!(gists[0].summary, "Anna reads.");
    assert!(gists[0].span.start <= at(now) && at(now) < gists[0].span.end);
}

#[test]
fn minutes_are_listed_newest_first_and_an_empty_memory_has_none() {
    let store = open(&MemoryStorage::new());
    let filter = |limit| GistFilter { level: Level::Minute, span: None, limit: Some(limit), budget: None };
    assert_eq!(store.reading(|view| view.list_gists(&filter(0))).unwrap(), []);
    household(&store);
    make(&store);
    let told: Vec<String> =
        store.reading(|view| view.list_gists(&filter(3))).unwrap().into_iter().map(|gist| gist.summary).collect();
    assert_eq!(told, ["Anna makes tea.", "Ben repairs the lamp.", "Anna waters the plants."]);
}

#[test]
fn gists_of_what_ended_lately_are_told_once() {
    let store = open(&MemoryStorage::new());
    household(&store);
    make(&store);
    assert_eq!(store.take_gist_news().len(), 0, "it was days ago");
    tell(&store, caption("e", "Carla sings", (DAYS + 1) * 86_400));
    make(&store);
    let news: Vec<Level> = store.take_gist_news().into_iter().map(|gist| gist.level).collect();
    assert_eq!(news, [Level::Hour]);
    make(&store);
    assert_eq!(store.take_gist_news().len(), 0);
}

#[derive(Debug, Clone)]
enum GistOperation {
    Tell(u8, u8, u32),
    ForgetSpan(u32, u32),
    Make(u8),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<GistOperation>> {
    let seconds = 0..(DAYS as u32 * 86_400);
    let step = prop_oneof![
        6 => (0..12_u8, 0..5_u8, seconds.clone()).prop_map(|(id, text, at)| GistOperation::Tell(id, text, at)),
        1 => (seconds, 1..20_000_u32).prop_map(|(from, length)| GistOperation::ForgetSpan(from, length)),
        3 => (1..4_u8).prop_map(GistOperation::Make),
        1 => Just(GistOperation::Reopen),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_told_corrected_forgotten_and_made_a_summary_is_that_of_the_events(steps in steps()) {
        let storage = MemoryStorage::new();
        let mut store = open(&storage);
        for step in steps {
            match step {
                GistOperation::Tell(id, text, seconds) => {
                    drop(tell(&store, caption(&format!("c{id}"), ["tea", "soup", "lamp", "harp", "bread"][usize::from(text)], i64::from(seconds))));
                }
                GistOperation::ForgetSpan(from, length) => {
                    let span = TimeSpan::new(at(i64::from(from)), at(i64::from(from + length)));
                    store.forget(&ForgetRequest::Span(span)).unwrap();
                }
                GistOperation::Make(limit) => drop(store.gists_pending(usize::from(limit)).unwrap()),
                GistOperation::Reopen => {
                    drop(store);
                    store = open(&storage);
                }
            }
            assert_same(&store);
        }
        make(&store);
        assert_same(&store);
    }
}

/// Chooses the lines that name a word, or fails.
struct NamedLines(Option<&'static str>);

impl crate::ports::GistSelector for NamedLines {
    fn select(&self, lines: &[String], _: usize) -> Result<Vec<usize>, crate::ports::PortError> {
        let failed = || crate::ports::PortError { role: "language model", message: "away".into() };
        let word = self.0.ok_or_else(failed)?;
        // A place that was not given chooses nothing.
        let places = (0..lines.len()).filter(|place| lines[*place].contains(word)).chain([lines.len() + 7]);
        Ok(places.collect())
    }
}

#[test]
fn a_selector_chooses_the_lines_of_an_hour_that_holds_too_much_and_they_are_chosen_without_it_where_it_fails() {
    let told = |selector: Option<NamedLines>| {
        let store = open(&MemoryStorage::new());
        store.set_gist_selector(selector.map(|selector| Arc::new(selector) as Arc<dyn crate::ports::GistSelector>));
        for number in 0..120 {
            let what = ["repairs the garden fence near", "carries fresh bread towards"][number % 2];
            let text = format!("Person{number} {what} building{number} with colleague{number} quickly");
            tell(&store, caption(&format!("c{number}"), &text, 3_600 + i64::try_from(number).unwrap() * 20));
        }
        // A gist of an hour is read where what is asked for begins before it and ends after it.
        tell(&store, caption("before", "A kettle", 10));
        tell(&store, caption("after", "A kettle", 7_300));
        make(&store);
        let lines = store.view().unwrap().lines_of(TimeSpan::new(at(0), at(10_000)), false).unwrap();
        lines.into_iter().map(|line| line.text).filter(|text| text.contains("building")).collect::<Vec<_>>()
    };
    let usual = told(None);
    assert!(usual.len() < 120 && usual.iter().any(|line| line.contains("bread")), "{}", usual.len());
    let chosen = told(Some(NamedLines(Some("fence"))));
    assert!(!chosen.is_empty() && chosen.iter().all(|line| line.contains("fence")), "{chosen:?}");
    assert_eq!(told(Some(NamedLines(None))), usual);
    assert_eq!(told(Some(NamedLines(Some("nowhere")))), usual);
}
