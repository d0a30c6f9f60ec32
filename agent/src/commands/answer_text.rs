//! An answer of the contract (mqtt.md), written for people.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::Timestamp;
use serde_json::Value as Json;

use crate::when;

/// Lines for a terminal: the answer, how sure it is, and its evidence with times that a person can read.
pub fn write(answer: &Json, options: &[String], now: Timestamp, zone: &TimeZone) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("writing to a String");
    let reason = answer["reason"].as_str().filter(|reason| !reason.is_empty());
    if let Some(understood) = answer["understood"].as_str() {
        line(format!("({understood})"));
    }
    match answer["answer"].as_str() {
        Some(words) => line(words.to_owned()),
        None => line(reason.map_or("I remember nothing about that.".to_owned(), |reason| {
            format!("I remember nothing about that: {reason}.")
        })),
    }
    if let Some(place) = position(&answer["pose"]) {
        line(place);
    }
    if let Some(index) = answer["choice"].as_u64() {
        let option = usize::try_from(index).ok().and_then(|index| options.get(index));
        line(format!("choice {}: {}", index + 1, option.map_or("?", String::as_str)));
    }
    let confidence = answer["confidence"].as_f64().unwrap_or(0.0) * 100.0;
    let elapsed = answer["elapsed_ms"]["total"].as_f64().unwrap_or(0.0);
    line(format!(
        "\n{confidence:.0} % sure, {} route, {} question about {}, {elapsed:.1} ms",
        words(&answer["route"]),
        words(&answer["intent"]),
        match answer["modality"].as_str() {
            Some("visual") => "what was seen",
            Some("audio") => "what was heard",
            Some("audiovisual") => "what was seen and heard",
            _ => "a stretch of time",
        },
    ));
    let evidence = answer["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !evidence.is_empty() {
        line("\nevidence".to_owned());
    }
    for (index, item) in evidence.iter().enumerate() {
        let head = format!("  {}. {}{}", index + 1, time(item, now, zone), stream(item));
        let score = item["score"].as_f64().unwrap_or(0.0);
        line(format!("{head}  {}  {}  score {score:.2}", words(&item["modality"]), words(&item["episode"])));
        line(format!("     {}", item["text"].as_str().unwrap_or_default()));
        if let Some(media) = item["media"].as_str() {
            line(format!("     {media}"));
        }
    }
    let degraded = answer["degraded"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !degraded.is_empty() {
        let missing: Vec<&str> = degraded.iter().filter_map(Json::as_str).collect();
        line(format!("\nmissing: {}", missing.join("; ")));
    }
    let trace = answer["trace"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !trace.is_empty() {
        line("\nhow the answer was found".to_owned());
        if let Some(reason) = reason.filter(|_| answer["answer"].is_string()) {
            line(format!("  because {reason}"));
        }
    }
    for step in trace {
        line(format!("  {}: {}", words(&step["step"]), words(&step["detail"])));
    }
    text.trim_end().to_owned()
}

/// A pose in a line: where to drive to.
fn position(pose: &Json) -> Option<String> {
    let number = |name: &str| pose[name].as_f64();
    let (x, y, yaw) = (number("x")?, number("y")?, number("yaw")?);
    let of = if pose["of"] == "robot" { "seen from" } else { "at" };
    Some(format!("{of} x {x:.2} m, y {y:.2} m, yaw {yaw:.2} on {}", words(&pose["frame"])))
}

fn words(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace('_', " "))
}

fn time(item: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let at = |field: &str| item[field].as_str().and_then(|text| Timestamp::parse(text).ok());
    match (at("start"), at("end")) {
        (Some(start), Some(end)) => when::readable(start, end, now, zone),
        _ => "?".to_owned(),
    }
}

fn stream(item: &Json) -> String {
    let at = |field: &str| item[field].as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match (at("stream_start_s"), at("stream_end_s")) {
        (Some(start), Some(end)) => format!(" ({}–{} into the recording)", when::stream(start), when::stream(end)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_reads_like_one() {
        let answer = json!({
            "answer": "A cup and a laptop.", "choice": 0, "confidence": 0.83, "route": "cross_modal",
            "intent": "factual", "modality": "audiovisual",
            "evidence": [{"episode": "ep-4", "start": "2026-11-20T08:01:01+01:00", "end": "2026-11-20T08:01:08+01:00",
                          "stream_start_s": 61.2, "stream_end_s": 68.0, "modality": "visual",
                          "text": "a cup on the table", "score": 0.71, "media": null, "observations": ["ev-1"]}],
            "degraded": ["asr: model not installed"], "elapsed_ms": {"total": 4.1}, "trace": []
        });
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = Timestamp::parse("2026-11-20T12:00:00+01:00").unwrap();
        let text = write(&answer, &["a cup".to_owned(), "a book".to_owned()], now, &zone);
        let expected = "\
A cup and a laptop.
choice 1: a cup

83 % sure, cross modal route, factual question about what was seen and heard, 4.1 ms

evidence
  1. today 08:01:01–08:01:08 (1:01.2–1:08.0 into the recording)  visual  ep-4  score 0.71
     a cup on the table

missing: asr: model not installed";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_reason_is_told_with_the_steps_or_without_an_answer() {
        let of = |answer: Json| write(&answer, &[], Timestamp::from_micros(0), &TimeZone::UTC);
        let none = of(json!({"answer": null, "reason": "nothing in memory speaks of it", "route": "none"}));
        assert!(none.starts_with("I remember nothing about that: nothing in memory speaks of it."), "{none}");
        let steps = json!([{"step": "search", "detail": "2 candidates"}]);
        let found = json!({"answer": "On the shelf", "reason": "the latest that says so", "route": "symbolic"});
        assert!(!of(found.clone()).contains("the latest that says so"));
        let mut traced = found;
        traced["trace"] = steps;
        assert!(of(traced).contains("because the latest that says so"));
    }

    #[test]
    fn no_evidence_is_said_plainly() {
        let answer = json!({"answer": null, "confidence": 0.0, "route": "none", "evidence": []});
        let text = write(&answer, &[], Timestamp::from_micros(0), &TimeZone::UTC);
        assert!(text.starts_with("I remember nothing about that."), "{text}");
        assert!(!text.contains("evidence"), "{text}");
    }
}
