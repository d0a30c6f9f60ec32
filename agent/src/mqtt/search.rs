//! `cmd/search`: words, phrases and nearby words, with the words around each hit, and what is like an event or an episode.

use jiff::tz::TimeZone;
use memory_core::word_search::{AlikeTo, WordFound, WordOrder, WordPage, WordPlan, WordQuery};
use serde_json::{Value, json};

use super::ask::rounded;
use super::fields::{Fields, TimeBase};
use super::pose;
use super::reply::Refusal;
use crate::media::MediaLinks;
use crate::when;

/// Default and maximum number of events in a reply.
const DEFAULT_EVENTS: u64 = 10;
const MAX_EVENTS: u64 = 100;

/// Reads the request.
pub fn read(fields: Fields<'_>, moment: &TimeBase) -> Result<WordQuery, Refusal> {
    let similar_to = read_similar_to(fields)?;
    let order = match fields.text("order")? {
        Some(_) if similar_to.is_some() => {
            return Err(Refusal::bad("leave out `order` beside `similar_to`: the most alike come first"));
        }
        None | Some("newest") => WordOrder::Newest,
        Some("relevance") => WordOrder::Relevance,
        Some(_) => return Err(Refusal::bad("`order` is \"newest\" or \"relevance\"")),
    };
    let limit = fields.count("limit")?.unwrap_or(DEFAULT_EVENTS).min(MAX_EVENTS);
    let query = match fields.text("query")? {
        Some(text) => WordQuery::parse(text, &mut |text| when::parse(text, moment.now, &moment.zone))
            .map_err(|error| Refusal::bad(format!("`query`: {error}")))?,
        None if similar_to.is_some() => WordQuery::default(),
        None => {
            let message = "`query` is missing, for instance \"blue mug\"; or name an event in `similar_to`";
            return Err(Refusal::bad(message));
        }
    };
    let near = pose::near(fields)?;
    Ok(WordQuery { order, near, similar_to, limit: usize::try_from(limit).unwrap_or(0), ..query })
}

fn read_similar_to(fields: Fields<'_>) -> Result<Option<AlikeTo>, Refusal> {
    let cosine = fields.number("likeness")?;
    let Some(id) = fields.text("similar_to")? else {
        let message = "`likeness` says how like `similar_to` an event must be; name an event or an episode there";
        return if cosine.is_some() { Err(Refusal::bad(message)) } else { Ok(None) };
    };
    let example = id.parse().map_err(|error| Refusal::bad(format!("`similar_to`: {error}")))?;
    if let Some(cosine) = cosine.filter(|cosine| !(*cosine > 0.0 && *cosine <= 1.0)) {
        return Err(Refusal::bad(format!("`likeness` is {cosine}; it takes more than 0 and at most 1")));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a share")]
    let cosine = cosine.map(|cosine| cosine as f32);
    Ok(Some(AlikeTo { example, cosine }))
}

/// The order that a reply is in.
fn order(query: &WordQuery) -> &'static str {
    match (query.similar_to, query.order) {
        (Some(_), _) => "likeness",
        (None, WordOrder::Newest) => "newest",
        (None, WordOrder::Relevance) => "relevance",
    }
}

/// The reply.
pub fn render(page: &WordPage, query: &WordQuery, zone: &TimeZone, media: &MediaLinks) -> Value {
    let order = order(query);
    let words: Vec<Value> = page.words.iter().map(|word| json!({ "word": word.word, "events": word.events })).collect();
    json!({
        "count": page.total,
        "order": order,
        "found": page.found.iter().map(|found| result(found, order != "newest", zone, media)).collect::<Vec<Value>>(),
        "words": words,
        "ignored": page.ignored,
        "plan": page.plan.map_or("ball", WordPlan::name),
    })
}

fn result(found: &WordFound, scored: bool, zone: &TimeZone, media: &MediaLinks) -> Value {
    let event = &found.event;
    let marks: Vec<[usize; 2]> = found.snippet.marks.iter().map(|mark| [mark.start, mark.end]).collect();
    let mut body = json!({
        "event": event.id.to_string(),
        "episode": event.episode.to_string(),
        "kind": event.kind.name(),
        "entity": event.entity,
        "source": event.source,
        "start": event.span.start.format(zone),
        "end": event.span.end.format(zone),
        "snippet": found.snippet.text,
        "marks": marks,
        "media": media.link(event.media.as_deref(), event.stream).map(|link| link.uri),
    });
    if scored {
        body["score"] = rounded(found.score).into();
    }
    body
}

#[cfg(test)]
mod tests {
    use memory_core::word_search::Example;
    use memory_core::{EpisodeId, EventId, Timestamp};

    use super::*;

    fn request(body: &Value) -> Result<WordQuery, Refusal> {
        let moment = TimeBase { now: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(), zone: TimeZone::UTC };
        read(Fields(body.as_object().unwrap()), &moment)
    }

    #[test]
    fn a_request_reads_times_as_every_other_does() {
        let query = request(&json!({"query": "mug since:2h until:2026-11-21", "order": "relevance", "limit": 900}));
        let query = query.unwrap();
        let span = query.span.unwrap();
        assert_eq!(span.start, Timestamp::parse("2026-11-20T10:00:00Z").unwrap());
        assert_eq!(span.end, Timestamp::parse("2026-11-21T00:00:00Z").unwrap());
        assert_eq!((query.order, query.limit), (WordOrder::Relevance, 100));
        let usual = request(&json!({"query": "mug"})).unwrap();
        assert_eq!((usual.order, usual.limit), (WordOrder::Newest, 10));
    }

    #[test]
    fn what_is_like_an_event_needs_no_words_and_may_have_some() {
        let alone = request(&json!({"similar_to": "ev-42"})).unwrap();
        assert_eq!(alone.similar_to, Some(AlikeTo { example: Example::Event(EventId(42)), cosine: None }));
        assert_eq!((order(&alone), alone.asks_for_words_or_fields()), ("likeness", false));
        let narrowed = request(&json!({"similar_to": "ep-7", "likeness": 0.75, "query": "mug kind:action"})).unwrap();
        assert_eq!(narrowed.similar_to, Some(AlikeTo { example: Example::Episode(EpisodeId(7)), cosine: Some(0.75) }));
        assert_eq!((narrowed.parts.len(), narrowed.kinds.len()), (1, 1));
    }

    #[test]
    fn a_bad_request_says_what_to_do() {
        for (body, expected) in [
            (json!({}), "`query` is missing"),
            (json!({"query": 7}), "`query` must be a text"),
            (json!({"query": "mug", "order": "oldest"}), "`order` is \"newest\" or \"relevance\""),
            (json!({"query": "\"red mug"}), "is not closed"),
            (json!({"query": "-mug"}), "add a word to find"),
            (json!({"query": "since:soon mug"}), "`query`: since: `soon` is not a time"),
            (json!({"similar_to": 12}), "`similar_to` must be a text"),
            (
                json!({"similar_to": "12"}),
                "`similar_to`: \"12\" is no id of an event or an episode; write ev-42 or ep-12, or picture:ev-42",
            ),
            (json!({"similar_to": "ev-1", "order": "newest"}), "leave out `order`"),
            (json!({"similar_to": "ev-1", "likeness": 0}), "`likeness` is 0; it takes more than 0 and at most 1"),
            (json!({"query": "mug", "likeness": 0.5}), "name an event or an episode there"),
            (json!({"similar_to": "ev-1", "query": "-mug"}), "add a word to find"),
            (json!({"query": "x".repeat(100_000)}), "the query has 100000 characters"),
        ] {
            let refusal = request(&body).unwrap_err();
            assert!(refusal.message.contains(expected), "{}", refusal.message);
        }
    }
}
