//! Gists in `cmd/list` and `…/event/gist`.

use jiff::tz::TimeZone;
use memory_core::{Gist, GistFilter, GistNews, Level, Line, TimeSpan, Timestamp};
use serde_json::{Value, json};

use super::fields::{Fields, TimeBase};
use super::reply::Refusal;

/// Maximum number of gists in a list.
const MAX_LIST: u64 = 200;

/// `cmd/list` with `"of": "gists"`
pub fn read_list(fields: Fields<'_>, moment: &TimeBase) -> Result<GistFilter, Refusal> {
    let level = match fields.text("level")? {
        None => Level::Hour,
        Some(name) => Level::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| Refusal::bad("`level` is \"minute\", \"hour\" or \"day\""))?,
    };
    let (since, until) = (fields.point("since", moment)?, fields.point("until", moment)?);
    let span = (since.is_some() || until.is_some()).then(|| {
        let open = Timestamp::from_micros;
        TimeSpan::new(since.unwrap_or(open(i64::MIN)), until.unwrap_or(open(i64::MAX)))
    });
    let limit = fields.count("limit")?.filter(|limit| *limit > 0).map(|limit| limit.min(MAX_LIST));
    Ok(GistFilter { level, span, limit: limit.and_then(|limit| usize::try_from(limit).ok()), budget: None })
}

/// The answer to `list`.
pub fn page(gists: &[Gist], zone: &TimeZone) -> Value {
    let whole = |gist: &Gist| {
        let mut body = news(&GistNews { level: gist.level, span: gist.span }, zone);
        body["summary"] = gist.summary.as_str().into();
        body["lines"] = gist.lines.iter().map(|line| line_body(line, zone)).collect();
        body
    };
    json!({ "gists": gists.iter().map(whole).collect::<Vec<Value>>() })
}

/// The payload of `…/event/gist`.
pub fn news(news: &GistNews, zone: &TimeZone) -> Value {
    json!({ "level": news.level.name(), "start": news.span.start.format(zone), "end": news.span.end.format(zone) })
}

fn line_body(line: &Line, zone: &TimeZone) -> Value {
    let evidence: Vec<String> = line.sources.iter().map(ToString::to_string).collect();
    json!({
        "topic": line.topic.name(), "text": line.text, "entity": line.entity, "times": line.times,
        "lasted_s": line.lasted / 1_000_000, "first": line.span.start.format(zone), "last": line.span.end.format(zone),
        "evidence": evidence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<GistFilter, Refusal> {
        let moment = TimeBase { now: Timestamp::from_micros(0), zone: TimeZone::UTC };
        read_list(Fields(body.as_object().unwrap()), &moment)
    }

    #[test]
    fn hours_are_listed_unless_another_level_is_asked_for_and_an_unknown_one_is_refused() {
        assert_eq!(read(&json!({})).unwrap().level, Level::Hour);
        let days = read(&json!({"level": "day", "since": "2026-11-20T00:00:00Z", "limit": 900})).unwrap();
        assert_eq!((days.level, days.limit), (Level::Day, Some(200)));
        assert!(days.span.is_some_and(|span| span.end == Timestamp::from_micros(i64::MAX)));
        let hour = read(&json!({"since": "1h"})).unwrap().span.map(|span| span.start.as_micros());
        assert_eq!(hour, Some(-3_600_000_000));
        assert!(read(&json!({"level": "week"})).unwrap_err().message.contains("`level`"));
    }
}
