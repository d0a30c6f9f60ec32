//! Parses questions, and renders answers.

use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::limits::MAX_OPTIONS;
use memory_core::reasoning::Effort;
use memory_core::{Answer, Evidence, Query};
use serde::Serialize;
use serde_json::{Map, Value};

use super::addressed::{AddressedRequest, read_request};
use super::client::Message;
use super::fields::{Fields, TimeBase};
use super::pose;
use super::reply::{Code, Payload, Refusal, Route, Router};
use crate::config::mqtt::MqttLimits;
use crate::media::MediaLinks;
use crate::service::AskFailure;

/// Maximum number of evidence items in an answer.
const MAX_TOP_K: u64 = 100;

/// Maximum size of the id of a conversation, in bytes.
const MAX_CONVERSATION_BYTES: usize = 128;

/// A question, and the conversation that it belongs to.
#[derive(Debug)]
pub struct QuestionRequest {
    pub query: Query,
    /// The asker's id of the conversation.
    pub conversation: Option<String>,
}

/// Reads the payload of `…/ask`.
pub fn read_question(
    message: &Message,
    router: &Router<'_>,
    limits: &MqttLimits,
    moment: &TimeBase,
) -> AddressedRequest<QuestionRequest> {
    read_request(message, router, limits.ask_bytes, |payload| match payload {
        Payload::Text(question) => {
            let query = query(Fields(&serde_json::Map::new()), Some(question), message, limits, moment)?;
            Ok(QuestionRequest { query, conversation: None })
        }
        Payload::Json(Value::Object(map)) => Ok(QuestionRequest {
            query: query(Fields(map), None, message, limits, moment)?,
            conversation: conversation(Fields(map))?,
        }),
        Payload::Json(_) => Err(Refusal::bad("expected an object with `question`, or the question itself")),
    })
    .only_if_answerable()
}

fn query(
    fields: Fields<'_>,
    question: Option<&String>,
    message: &Message,
    limits: &MqttLimits,
    moment: &TimeBase,
) -> Result<Query, Refusal> {
    let question = match question {
        Some(question) => question.as_str(),
        None => fields.text("question")?.ok_or_else(|| Refusal::bad("`question` is missing"))?,
    };
    if question.trim().is_empty() {
        return Err(Refusal::bad("`question` is empty"));
    }
    let options = fields.texts("options")?;
    if options.len() > MAX_OPTIONS {
        return Err(Refusal::bad(format!("`options` has {} items, and {MAX_OPTIONS} is the most", options.len())));
    }
    let (since, until) = (fields.point("since", moment)?, fields.point("until", moment)?);
    if let (Some(since), Some(until)) = (since, until)
        && since > until
    {
        return Err(Refusal::bad("`since` is later than `until`"));
    }
    let effort = effort(fields.text("effort")?)?;
    Ok(Query {
        question: question.trim().to_owned(),
        options,
        since,
        until,
        now: fields.point("now", moment)?,
        near: pose::near(fields)?,
        robot: None,
        top_k: top_k(fields)?,
        budget: Some(budget(fields.count("deadline_ms")?, message.expiry, limits, effort)),
        trace: fields.flag("trace")?,
        effort,
        tag: fields.value("request_id").and_then(|id| id.as_str().map(str::to_owned).or_else(|| Some(id.to_string()))),
        ablation: memory_core::Ablation::default(),
    })
}

fn conversation(fields: Fields<'_>) -> Result<Option<String>, Refusal> {
    match fields.text("conversation")? {
        Some(id) if id.is_empty() || id.len() > MAX_CONVERSATION_BYTES => Err(Refusal::bad(format!(
            "`conversation` has {} bytes: name it with 1 to {MAX_CONVERSATION_BYTES}, or leave it out",
            id.len()
        ))),
        id => Ok(id.map(str::to_owned)),
    }
}

fn top_k(fields: Fields<'_>) -> Result<usize, Refusal> {
    let count = fields.count("top_k")?.filter(|count| *count > 0).map(|count| count.min(MAX_TOP_K));
    Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or(Query::USUAL_EVIDENCE))
}

fn effort(name: Option<&str>) -> Result<Effort, Refusal> {
    match name {
        None | Some("normal") => Ok(Effort::Normal),
        Some("fast") => Ok(Effort::Fast),
        Some("thorough") => Ok(Effort::Thorough),
        Some(_) => Err(Refusal::bad("`effort` is \"fast\", \"normal\" or \"thorough\"")),
    }
}

/// The shortest of what the payload and the message's expiry say; the default where neither says anything.
fn budget(deadline_ms: Option<u64>, expiry: Option<Duration>, limits: &MqttLimits, effort: Effort) -> Duration {
    let named = deadline_ms.map(Duration::from_millis).into_iter().chain(expiry).min();
    // A thorough question may take longer.
    let usual = if effort == Effort::Thorough { limits.max_deadline_ms } else { limits.default_deadline_ms };
    named
        .unwrap_or(Duration::from_millis(usual))
        .clamp(Duration::from_millis(1), Duration::from_millis(limits.max_deadline_ms))
}

/// The error of the contract for a question that got no answer.
pub fn refusal(failure: &AskFailure) -> Refusal {
    let code = match failure {
        AskFailure::Busy => Code::Busy,
        AskFailure::Deadline(_) => Code::Deadline,
        AskFailure::Invalid(_) => Code::BadRequest,
        AskFailure::Read(_) | AskFailure::Internal(_) | AskFailure::Closed => Code::Internal,
    };
    Refusal::new(code, failure.to_string())
}

/// The payload of an answer. `understood` is the question as it was completed from the one before; `total` is the time since
/// it arrived.
pub fn render(
    answer: &Answer,
    question: &str,
    understood: Option<&str>,
    route: &Route,
    total: Duration,
    zone: &TimeZone,
    media: &MediaLinks,
) -> Value {
    let body = AnswerBody {
        question,
        understood,
        answer: answer.answer.as_deref(),
        pose: pose::body(answer.pose.as_ref()),
        choice: answer.choice,
        confidence: rounded(answer.confidence),
        route: answer.route,
        reason: &answer.reason,
        intent: answer.intent,
        modality: answer.modality,
        evidence: answer.evidence.iter().map(|evidence| EvidenceBody::new(evidence, zone, media)).collect(),
        degraded: &answer.degraded,
        elapsed_ms: ElapsedBody {
            total: millis(total.max(answer.elapsed.total)),
            classify: millis(answer.elapsed.classify),
            retrieve: millis(answer.elapsed.retrieve),
            reason: millis(answer.elapsed.reason),
        },
        trace: &answer.trace,
    };
    route.seal(serde_json::to_value(body).expect("an answer has text keys and finite numbers"))
}

#[derive(Serialize)]
struct AnswerBody<'a> {
    question: &'a str,
    understood: Option<&'a str>,
    answer: Option<&'a str>,
    pose: Value,
    choice: Option<usize>,
    confidence: f64,
    route: memory_core::Route,
    reason: &'a str,
    intent: memory_core::Intent,
    modality: memory_core::QuestionModality,
    evidence: Vec<EvidenceBody<'a>>,
    degraded: &'a [String],
    elapsed_ms: ElapsedBody,
    trace: &'a [memory_core::TraceStep],
}

#[derive(Serialize)]
struct EvidenceBody<'a> {
    event: String,
    episode: String,
    kind: &'static str,
    entity: Option<&'a str>,
    place: Option<&'a str>,
    attributes: Map<String, Value>,
    start: String,
    end: String,
    stream_start_s: Option<f64>,
    stream_end_s: Option<f64>,
    modality: memory_core::Modality,
    text: &'a str,
    score: f64,
    media: Option<String>,
    media_start_s: Option<f64>,
    observations: &'a [String],
    pose: Value,
}

#[derive(Serialize)]
struct ElapsedBody {
    total: f64,
    classify: f64,
    retrieve: f64,
    reason: f64,
}

impl<'a> EvidenceBody<'a> {
    fn new(evidence: &'a Evidence, zone: &TimeZone, media: &MediaLinks) -> Self {
        let link = media.link(evidence.media.as_deref(), evidence.stream);
        Self {
            event: evidence.event.to_string(),
            episode: evidence.episode.to_string(),
            kind: evidence.kind.name(),
            entity: evidence.entity.as_deref(),
            place: evidence.attributes.get("place").and_then(memory_core::Value::as_text),
            attributes: evidence.attributes.iter().map(|(name, value)| (name.clone(), value.into())).collect(),
            start: evidence.span.start.format(zone),
            end: evidence.span.end.format(zone),
            stream_start_s: evidence.stream.map(|stream| seconds(stream.start)),
            stream_end_s: evidence.stream.map(|stream| seconds(stream.end)),
            modality: evidence.modality,
            text: &evidence.text,
            score: rounded(evidence.score),
            media_start_s: link.as_ref().map(|link| link.start_s),
            media: link.map(|link| link.uri),
            observations: &evidence.observations,
            pose: pose::body(evidence.pose.as_ref()),
        }
    }
}

/// Four digits after the point: a single-precision number has no more to say, and `0.83` should not read
/// `0.8299999833106995`.
pub fn rounded(value: f32) -> f64 {
    let value = f64::from(value);
    if value.is_finite() { (value * 1e4).round() / 1e4 } else { 0.0 }
}

/// Seconds, to the millisecond.
pub fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e3).round() / 1e3
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use memory_core::{
        Elapsed, EpisodeId, EventId, Intent, Kind, Modality, QuestionModality, StreamSpan, TimeSpan, Timestamp,
    };
    use serde_json::json;

    use super::super::reply::tests::message;
    use super::super::topics::{ReplyPolicy, Topics};
    use super::*;

    fn read(payload: impl Into<bytes::Bytes>) -> AddressedRequest<Query> {
        read_message(&message(payload))
    }

    fn conversation_in(payload: &str) -> Result<Option<String>, Refusal> {
        read_asked(&message(payload.to_owned())).body.map(|asked| asked.conversation)
    }

    #[test]
    fn a_conversation_has_a_short_name() {
        assert_eq!(conversation_in(r#"{"question": "x", "conversation": "c-1"}"#).unwrap().as_deref(), Some("c-1"));
        assert_eq!(conversation_in(r#"{"question": "x"}"#).unwrap(), None);
        for wrong in ["\"\"".to_owned(), format!("\"{}\"", "c".repeat(129)), "7".to_owned()] {
            let refused = conversation_in(&format!(r#"{{"question": "x", "conversation": {wrong}}}"#)).unwrap_err();
            assert_eq!(refused.code, Code::BadRequest, "{wrong}");
        }
    }

    fn moment() -> TimeBase {
        let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
        TimeBase { now: Timestamp::parse("2026-11-22T12:00:00+01:00").unwrap(), zone }
    }

    fn read_message(message: &Message) -> AddressedRequest<Query> {
        let AddressedRequest { route, body } = read_asked(message);
        AddressedRequest { route, body: body.map(|asked| asked.query) }
    }

    fn read_asked(message: &Message) -> AddressedRequest<QuestionRequest> {
        let topics = Topics::new("engram", "kitchen").unwrap();
        let policy = ReplyPolicy::new("engram", None);
        read_question(message, &Router { topics: &topics, policy: &policy }, &MqttLimits::default(), &moment())
    }

    #[test]
    fn every_field_of_a_question_is_read() {
        let body = json!({"question": " What? ", "options": ["a cup", "a book"], "since": "2026-11-20T08:00:00+01:00",
            "until": null, "now": "2026-11-21T00:00:00Z", "top_k": 500, "deadline_ms": 2000, "trace": true, "later": 1});
        let query = read(body.to_string()).body.unwrap();
        assert_eq!(query.question, "What?");
        assert_eq!(query.options, ["a cup", "a book"]);
        assert_eq!(query.since.unwrap().to_string(), "2026-11-20T07:00:00+00:00");
        assert_eq!(query.until, None);
        assert_eq!(query.top_k, 100);
        assert_eq!(query.budget, Some(Duration::from_secs(2)));
        assert!(query.trace);
    }

    #[test]
    fn a_span_is_taken_as_the_command_line_takes_it() {
        let query =
            read(json!({"question": "x", "since": "2h", "until": "2026-11-22 11:00"}).to_string()).body.unwrap();
        assert_eq!(query.since, Timestamp::parse("2026-11-22T10:00:00+01:00").ok());
        assert_eq!(query.until, Timestamp::parse("2026-11-22T11:00:00+01:00").ok());
        let day = read(json!({"question": "x", "since": "2026-11-21"}).to_string()).body.unwrap();
        assert_eq!(day.since, Timestamp::parse("2026-11-21T00:00:00+01:00").ok());
    }

    #[test]
    fn a_payload_that_is_no_json_is_the_question() {
        assert_eq!(read("where is the blue mug?").body.unwrap().question, "where is the blue mug?");
    }

    #[test]
    fn the_shorter_of_deadline_and_expiry_holds() {
        let mut message = message(r#"{"question": "x", "deadline_ms": 5000}"#);
        message.expiry = Some(Duration::from_secs(2));
        assert_eq!(read_message(&message).body.unwrap().budget, Some(Duration::from_secs(2)));
        assert_eq!(read("x").body.unwrap().budget, Some(Duration::from_secs(3)));
        let long = read(r#"{"question": "x", "deadline_ms": 99999999}"#).body.unwrap();
        assert_eq!(long.budget, Some(Duration::from_secs(60)));
    }

    #[test]
    fn a_wrong_type_is_named() {
        for (body, field) in [
            (json!({"question": 3}), "`question`"),
            (json!({"question": "x", "options": "a"}), "`options`"),
            (json!({"question": "x", "options": vec!["a"; MAX_OPTIONS + 1]}), "32 is the most"),
            (json!({"question": "x", "top_k": -1}), "`top_k`"),
            (json!({"question": "x", "since": "yesterday"}), "`since`"),
            (json!({"question": "x", "deadline_ms": 1.5}), "`deadline_ms`"),
            (json!({"question": "x", "trace": "yes"}), "`trace`"),
            (json!({"question": ""}), "`question`"),
            (json!({}), "`question`"),
            (json!({"question": "x", "request_id": [1]}), "`request_id`"),
            (json!(["x"]), "`question`"),
        ] {
            let refusal = read(body.to_string()).body.unwrap_err();
            assert_eq!(refusal.code, Code::BadRequest, "{body}");
            assert!(refusal.message.contains(field), "{body}: {}", refusal.message);
        }
    }

    #[test]
    fn a_question_of_two_megabytes_is_too_large_and_still_answered() {
        let payload = json!({"question": "x".repeat(2 << 20), "request_id": "big"}).to_string();
        let request = read(payload);
        assert_eq!(request.body.unwrap_err().code, Code::TooLarge);
        assert_eq!(request.route.address.unwrap().topic, "engram/kitchen/answer/big");
    }

    #[test]
    fn an_answer_reads_as_the_contract_says() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let answer = Answer {
            answer: Some("A cup.".to_owned()),
            choice: Some(0),
            confidence: 0.83,
            pose: None,
            route: memory_core::Route::Detailed,
            reason: "it was seen on the table".to_owned(),
            intent: Intent::Factual,
            modality: QuestionModality::Audiovisual,
            evidence: vec![Evidence {
                episode: EpisodeId(7),
                span: TimeSpan::new(at("2026-11-20T07:00:00Z"), at("2026-11-20T07:00:06.8Z")),
                stream: Some(StreamSpan { start: Duration::from_millis(61_200), end: Duration::from_secs(68) }),
                modality: Modality::Visual,
                text: "a cup on the table".to_owned(),
                score: 0.71,
                media: None,
                observations: vec!["asr-00042".to_owned()],
                event: EventId(42),
                kind: Kind::Object,
                entity: Some("cup".to_owned()),
                attributes: [("place".to_owned(), memory_core::Value::Text("kitchen".to_owned()))].into(),
                pose: None,
            }],
            degraded: vec!["asr: model not installed".to_owned()],
            elapsed: Elapsed {
                classify: Duration::from_micros(100),
                retrieve: Duration::from_micros(2900),
                reason: Duration::from_micros(1100),
                total: Duration::from_micros(4100),
            },
            trace: Vec::new(),
        };
        let route = Route { request_id: Some(json!("q-17")), ..Route::default() };
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        insta::assert_json_snapshot!(render(&answer, "What?", None, &route, Duration::from_micros(4200), &zone, &MediaLinks::default()), @r#"
        {
          "answer": "A cup.",
          "choice": 0,
          "confidence": 0.83,
          "degraded": [
            "asr: model not installed"
          ],
          "elapsed_ms": {
            "classify": 0.1,
            "reason": 1.1,
            "retrieve": 2.9,
            "total": 4.2
          },
          "evidence": [
            {
              "attributes": {
                "place": "kitchen"
              },
              "end": "2026-11-20T08:00:06.800+01:00",
              "entity": "cup",
              "episode": "ep-7",
              "event": "ev-42",
              "kind": "object",
              "media": null,
              "media_start_s": null,
              "modality": "visual",
              "observations": [
                "asr-00042"
              ],
              "place": "kitchen",
              "pose": null,
              "score": 0.71,
              "start": "2026-11-20T08:00:00+01:00",
              "stream_end_s": 68.0,
              "stream_start_s": 61.2,
              "text": "a cup on the table"
            }
          ],
          "intent": "factual",
          "modality": "audiovisual",
          "pose": null,
          "question": "What?",
          "reason": "it was seen on the table",
          "request_id": "q-17",
          "route": "detailed",
          "trace": [],
          "understood": null
        }
        "#);
    }
}
