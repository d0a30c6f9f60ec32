//! `cmd/search`: words, phrases and nearby words, with the words around each hit.

use jiff::tz::TimeZone;
use memory_core::word_search::{WordFound, WordOrder, WordPage, WordQuery};
use serde_json::{Value, json};

use super::ask::rounded;
use super::fields::{Fields, Moment};
use super::pose;
use super::reply::Refusal;
use crate::media::MediaLinks;
use crate::when;

/// Events of a reply where the request says nothing, and at most.
const USUAL: u64 = 10;
const MOST: u64 = 100;

/// Reads the request.
pub fn read(fields: Fields<'_>, moment: &Moment) -> Result<WordQuery, Refusal> {
    let text = fields.text("query")?.ok_or_else(|| Refusal::bad("`query` is missing, for instance \"blue mug\""))?;
    let order = match fields.text("order")? {
        None | Some("newest") => WordOrder::Newest,
        Some("relevance") => WordOrder::Relevance,
        Some(_) => return Err(Refusal::bad("`order` is \"newest\" or \"relevance\"")),
    };
    let limit = fields.count("limit")?.unwrap_or(USUAL).min(MOST);
    let query = WordQuery::parse(text, &mut |text| when::parse(text, moment.now, &moment.zone));
    let query = query.map_err(|error| Refusal::bad(format!("`query`: {error}")))?;
    let near = pose::near(fields)?;
    Ok(WordQuery { order, near, limit: usize::try_from(limit).unwrap_or(0), ..query })
}

/// The reply.
pub fn render(page: &WordPage, order: WordOrder, zone: &TimeZone, media: &MediaLinks) -> Value {
    let words: Vec<Value> = page.words.iter().map(|word| json!({ "word": word.word, "events": word.events })).collect();
    json!({
        "count": page.total,
        "order": if order == WordOrder::Newest { "newest" } else { "relevance" },
        "found": page.found.iter().map(|found| result(found, order, zone, media)).collect::<Vec<Value>>(),
        "words": words,
        "ignored": page.ignored,
        "plan": page.plan.name(),
    })
}

fn result(found: &WordFound, order: WordOrder, zone: &TimeZone, media: &MediaLinks) -> Value {
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
    if order == WordOrder::Relevance {
        body["score"] = rounded(found.score).into();
    }
    body
}

#[cfg(test)]
mod tests {
    use memory_core::Timestamp;

    use super::*;

    fn request(body: &Value) -> Result<WordQuery, Refusal> {
        let moment = Moment { now: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(), zone: TimeZone::UTC };
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
    fn a_bad_request_says_what_to_do() {
        for (body, expected) in [
            (json!({}), "`query` is missing"),
            (json!({"query": 7}), "`query` must be a text"),
            (json!({"query": "mug", "order": "oldest"}), "`order` is \"newest\" or \"relevance\""),
            (json!({"query": "\"red mug"}), "is not closed"),
            (json!({"query": "-mug"}), "add a word to find"),
            (json!({"query": "since:soon mug"}), "`query`: since: `soon` is not a time"),
            (json!({"query": "x".repeat(100_000)}), "the query has 100000 characters"),
        ] {
            let refusal = request(&body).unwrap_err();
            assert!(refusal.message.contains(expected), "{}", refusal.message);
        }
    }
}
