//! The tables of `docs/mqtt.md` against the code.

use std::collections::BTreeSet;

use memory_core::{Answer, Elapsed, Evidence, Intent, Kind, Modality, QuestionModality, TimeSpan, Timestamp};
use serde::Serialize;
use serde_json::Value;

use super::ask::render;
use super::commands::CommandName;
use super::procedure::QUERIES;
use super::reply::{Code, Route as ReplyRoute};
use super::topics::{Outbound, Topics};
use crate::health::{HealthReport, LanguageModelHealth, ModelHealth, QueueHealth, SourceHealth};

const PAGE: &str = include_str!("../../../docs/mqtt.md");

/// The cells of the first table behind `text` whose header begins with `header`, row by row.
fn table_behind(text: &str, header: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PAGE.split_once(text).unwrap_or_else(|| panic!("docs/mqtt.md does not say {text:?}"));
    let lines = rest.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let rows: Vec<Vec<&str>> = lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "docs/mqtt.md has no table that begins with {header}");
    rows
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The quoted words of the first column.
fn first_column(header: &str) -> BTreeSet<String> {
    table_behind("", header).iter().flat_map(|row| quoted(row[0])).map(str::to_owned).collect()
}

fn names<T: Serialize>(all: &[T]) -> BTreeSet<String> {
    all.iter().map(|one| serde_json::to_value(one).unwrap().as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_page_lists_every_error_code() {
    use Code::{BadRequest, Busy, Deadline, Forbidden, Internal, StorageFull, TooLarge};
    // A new code fails to compile here.
    let listed = |code: Code| match code {
        BadRequest | Busy | Deadline | Forbidden | Internal | StorageFull | TooLarge => code,
    };
    let all = [BadRequest, Busy, Deadline, Forbidden, Internal, StorageFull, TooLarge].map(listed);
    assert_eq!(first_column("| `code` |"), names(&all));
}

#[test]
fn the_page_lists_every_route_intent_and_modality() {
    use memory_core::Route::{Agentic, CrossModal, Detailed, Gist, None, Symbolic};
    let route = |route: memory_core::Route| match route {
        Agentic | CrossModal | Detailed | Gist | None | Symbolic => route,
    };
    let routes = [Agentic, CrossModal, Detailed, Gist, None, Symbolic].map(route);
    assert_eq!(first_column("| `route` | where"), names(&routes));

    let intent = |intent: Intent| match intent {
        Intent::Factual | Intent::Procedural | Intent::Constraint | Intent::Character => intent,
    };
    let intents = [Intent::Factual, Intent::Procedural, Intent::Constraint, Intent::Character].map(intent);
    assert_eq!(first_column("| `intent` | the question"), names(&intents));

    use QuestionModality::{Audio, Audiovisual, Visual};
    let modality = |modality: QuestionModality| match modality {
        Audio | Audiovisual | Visual | QuestionModality::Gist => modality,
    };
    let modalities = [Audio, Audiovisual, Visual, QuestionModality::Gist].map(modality);
    assert_eq!(first_column("| `modality` | the question"), names(&modalities));
}

#[test]
fn the_page_lists_every_command_and_every_query_about_procedures() {
    let commands: BTreeSet<String> = CommandName::ALL.iter().map(|name| name.as_str().to_owned()).collect();
    assert_eq!(first_column("| name | request |"), commands);

    let asked: BTreeSet<String> = first_column("| request | reply |")
        .iter()
        .flat_map(|request| serde_json::from_str::<Value>(request).unwrap().as_object().unwrap().clone())
        .map(|(query, _)| query)
        .collect();
    assert_eq!(asked, QUERIES.map(str::to_owned).into());
}

#[test]
fn the_page_lists_every_topic_that_engram_publishes() {
    use Outbound::{
        Entity, Episode, Gist, Health, HomeAssistant, Instance, Procedure, Reasoning, Recording, Rejected, Status,
    };
    let outbound = |what: Outbound| match what {
        Entity | Episode | Gist | Health | HomeAssistant | Instance | Procedure | Reasoning | Recording | Rejected
        | Status => what,
    };
    let topics = Topics::new("engram", "kitchen").unwrap();
    let all =
        [Entity, Episode, Gist, Health, HomeAssistant, Instance, Procedure, Reasoning, Recording, Rejected, Status];
    let all = all.map(outbound);
    let all = all.map(|what| topics.outbound(what).replace("engram/kitchen/", "…/"));
    assert_eq!(first_column("| topic | retained |"), all.into());
}

#[test]
fn the_page_lists_every_kind() {
    let rows = table_behind("## Telling", "| field | meaning |");
    let row = rows.iter().find(|row| row[0] == "`kind`").unwrap();
    let kinds: BTreeSet<&str> = quoted(row[1]).collect();
    assert_eq!(kinds, Kind::ALL.map(Kind::name).into());
}

#[test]
fn the_page_names_every_field_of_health() {
    let mut report = HealthReport::default();
    report.sources.insert("front".into(), SourceHealth::default());
    report.models.insert("objects".into(), ModelHealth::default());
    report.queues.insert("observe".into(), QueueHealth::default());
    report.language_models.insert("llm.chat".into(), LanguageModelHealth::default());
    let rows = table_behind("Fields of `health`:", "| field | meaning |");
    let known: BTreeSet<&str> = rows.iter().flatten().flat_map(|cell| quoted(cell)).collect();
    let report = serde_json::to_value(report).unwrap();
    for (field, value) in report.as_object().unwrap() {
        assert!(known.contains(field.as_str()), "docs/mqtt.md does not name `{field}` of health");
        let inner = match field.as_str() {
            "sources" | "models" | "queues" | "language_models" => value.as_object().unwrap().values().next().unwrap(),
            _ => value,
        };
        for field in inner.as_object().into_iter().flat_map(|inner| inner.keys()) {
            assert!(known.contains(field.as_str()), "docs/mqtt.md does not name `{field}` of health");
        }
    }
}

#[test]
fn the_example_of_the_page_has_the_fields_of_an_answer() {
    let at = Timestamp::parse("2026-11-20T07:00:00Z").unwrap();
    let evidence = Evidence {
        episode: memory_core::EpisodeId(12),
        span: TimeSpan::new(at, at),
        stream: None,
        modality: Modality::Audio,
        text: "Anna: I put the blue mug on the shelf.".to_owned(),
        score: 1.0,
        media: None,
        observations: Vec::new(),
        event: memory_core::EventId(42),
        kind: Kind::Text,
        entity: None,
        attributes: [].into(),
        pose: None,
    };
    let answer = Answer {
        answer: None,
        choice: None,
        confidence: 0.0,
        pose: None,
        route: memory_core::Route::None,
        reason: String::new(),
        intent: Intent::Factual,
        modality: QuestionModality::Audiovisual,
        evidence: vec![evidence],
        degraded: Vec::new(),
        elapsed: Elapsed::default(),
        trace: Vec::new(),
    };
    let route = ReplyRoute { request_id: Some("q-1".into()), ..ReplyRoute::default() };
    let zone = jiff::tz::TimeZone::UTC;
    let rendered = render(&answer, "Where?", None, &route, std::time::Duration::ZERO, &zone, &Default::default());
    let example = PAGE.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let example: Value = serde_json::from_str(example).unwrap();
    let keys = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&example), keys(&rendered));
    assert_eq!(keys(&example["evidence"][0]), keys(&rendered["evidence"][0]));
    assert_eq!(keys(&example["elapsed_ms"]), keys(&rendered["elapsed_ms"]));

    let mut described = first_column("| field of the answer |");
    described.extend(["question".to_owned(), "request_id".to_owned()]);
    assert_eq!(described, keys(&rendered));
}

#[test]
fn the_page_gives_the_shape_of_episodes_events_and_counts() {
    let options = memory_core::MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 1 << 20,
        index: Default::default(),
    };
    let at = Timestamp::parse("2026-11-20T07:00:00Z").unwrap();
    let clock = std::sync::Arc::new(memory_core::ManualClock::at(at));
    let memory =
        memory_core::Memory::open_in(std::sync::Arc::new(memory_core::store::MemoryStorage::new()), options, clock)
            .unwrap();
    let told = memory_core::Told { text: "The lamp is on.".to_owned(), ..Default::default() };
    memory.observe(vec![memory_core::Observation::Told(told)]).unwrap();
    let (whole, events) = memory.episode(memory_core::EpisodeId(1)).unwrap().unwrap();
    let (zone, links) = (jiff::tz::TimeZone::UTC, Default::default());
    let shapes = PAGE.split("**Shapes.**").nth(1).unwrap().split("\n\n").next().unwrap();
    let counts = PAGE.lines().find(|line| line.contains(r#"{"of": "stats"}"#)).unwrap();
    for (body, text) in [
        (super::episodes::episode(&whole, &events, &zone, &links)["episode"].take(), shapes),
        (super::episodes::event_body(&events[0], &zone, &links), shapes),
        (super::entities::stats(&memory), counts),
    ] {
        for field in body.as_object().unwrap().keys() {
            assert!(text.contains(&format!("\"{field}\"")), "docs/mqtt.md does not name `{field}` in {text}");
        }
    }
}

#[test]
fn the_page_describes_every_part_of_a_search_and_every_field_of_its_reply() {
    use memory_core::word_search::{
        FIELDS, MAX_NEAR, MAX_PARTS, MAX_QUERY_CHARS, Snippet, WordCount, WordFound, WordOrder, WordPage, WordPlan,
        WordQuery,
    };
    let parts: Vec<&str> =
        table_behind("### `cmd/search`", "| part | matches events |").iter().flat_map(|row| quoted(row[0])).collect();
    for field in FIELDS {
        assert!(parts.iter().any(|part| part.starts_with(&format!("{field}:"))), "docs/mqtt.md does not show {field}:");
    }
    let (_, section) = PAGE.split_once("### `cmd/search`").unwrap();
    for limit in [format!("{MAX_NEAR} the most"), format!("{MAX_PARTS} parts"), "2,000 characters".to_owned()] {
        assert!(section.contains(&limit), "{limit}");
    }
    assert_eq!(MAX_QUERY_CHARS, 2_000);
    for part in parts {
        let query = memory_core::word_search::WordQuery::parse(&format!("{part} mug"), &mut |text| {
            crate::when::parse(text, Timestamp::parse("2026-11-22T12:00:00Z").unwrap(), &jiff::tz::TimeZone::UTC)
        });
        assert!(query.is_ok(), "{part}: {query:?}");
    }
    let at = Timestamp::parse("2026-11-20T07:00:00Z").unwrap();
    let event = memory_core::Event {
        id: memory_core::EventId(42),
        episode: memory_core::EpisodeId(12),
        origin: memory_core::Origin::Told,
        sender_id: None,
        kind: Kind::Text,
        modality: Modality::Audio,
        text: String::new(),
        span: TimeSpan::new(at, at),
        stream: None,
        source: "asr".into(),
        entity: None,
        attributes: [].into(),
        confidence: 1.0,
        media: None,
        received: at,
        pose: None,
    };
    let page = WordPage {
        total: 1,
        found: vec![WordFound { event, snippet: Snippet::default(), score: 1.0 }],
        words: vec![WordCount { word: "mug".into(), events: 1 }],
        ignored: Vec::new(),
        plan: Some(WordPlan::Rank),
    };
    let zone = jiff::tz::TimeZone::UTC;
    let query = WordQuery { order: WordOrder::Relevance, ..WordQuery::default() };
    let reply = super::search::render(&page, &query, &zone, &crate::media::MediaLinks::default());
    let rows = table_behind("### `cmd/search`", "| field of the reply |");
    let known: BTreeSet<&str> = rows.iter().flatten().flat_map(|cell| quoted(cell)).collect();
    let named = |name: &str| known.iter().any(|known| *known == name || known.contains(&format!("\"{name}\"")));
    for (name, _) in reply.as_object().unwrap().iter().chain(reply["found"][0].as_object().unwrap()) {
        assert!(named(name), "docs/mqtt.md does not name `{name}` of the reply to search");
    }
}
