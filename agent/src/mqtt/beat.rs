//! Decides when `…/health` is published, and cuts it to its maximum size.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::health::{DiskHealth, HealthReport, MemoryHealth};

/// Maximum size of the payload (docs/mqtt.md).
pub const MAX_BYTES: usize = 8 << 10;

/// Maximum number of entries of a list or table that are shown; of longer ones only the count.
const MAX_ENTRIES: usize = 32;

/// Minimum time between two publications. Changes within it are published together.
const DEBOUNCE: Duration = Duration::from_millis(500);

/// Minimum time between two publications for changed counters only.
const COUNTER_INTERVAL: Duration = Duration::from_secs(2);

/// Decides when the next report is due.
pub struct Beat {
    interval: Duration,
    published: Option<HealthReport>,
    at: Instant,
    due: Instant,
}

impl Beat {
    /// The first one is due at once.
    pub fn new(interval: Duration) -> Self {
        let now = Instant::now();
        Self { interval, published: None, at: now, due: now }
    }

    /// Decides when to publish.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Looks at a new report.
    pub fn changed(&mut self, report: &HealthReport) {
        let Some(before) = &self.published else { return };
        let soon = if steady(before) != steady(report) {
            DEBOUNCE
        } else if before.memory != report.memory {
            COUNTER_INTERVAL
        } else {
            return;
        };
        self.due = self.due.min(self.at + soon);
    }

    /// Notes a publication.
    pub fn published(&mut self, report: HealthReport) {
        self.at = Instant::now();
        self.due = self.at + self.interval;
        self.published = Some(report);
    }
}

/// The report without what changes all the time.
fn steady(report: &HealthReport) -> HealthReport {
    let mut steady = report.clone();
    steady.uptime_s = 0;
    steady.memory = MemoryHealth::default();
    steady.queues.clear();
    steady.disk = DiskHealth::default();
    steady.mqtt.clear();
    (steady.process.resident_mib, steady.process.swapped_mib) = (0, 0);
    (steady.thermal.celsius, steady.thermal.load, steady.thermal.zone) = (None, None, None);
    for source in steady.sources.values_mut() {
        source.frame_age_s = None;
        source.fps = 0.0;
        source.sampled_fps = 0.0;
        source.segments = 0;
        // One that is away is tried every other second; that it is away was news once.
        source.restarts = 0;
        source.dropped.clear();
    }
    for model in steady.language_models.values_mut() {
        (model.requests, model.failures, model.requests_today) = (0, 0, 0);
        (model.tokens_today, model.tokens_month, model.seconds_today) = (0, 0, 0.0);
    }
    steady
}

/// The payload: lists and tables cut at 32 entries, with `<name>_total` beside them, and further until it fits.
pub fn payload(report: &HealthReport) -> bytes::Bytes {
    let whole = serde_json::to_value(report).expect("a report has text keys and finite numbers");
    let mut entries = MAX_ENTRIES;
    let mut characters = 512;
    loop {
        let text = cut(&whole, entries, characters).to_string();
        if text.len() <= MAX_BYTES || entries == 0 {
            return text.into();
        }
        if characters > 64 {
            characters /= 2;
        } else {
            entries /= 2;
        }
    }
}

fn cut(value: &Value, entries: usize, characters: usize) -> Value {
    match value {
        Value::String(text) if text.chars().count() > characters => {
            let mut short: String = text.chars().take(characters).collect();
            short.push('…');
            Value::String(short)
        }
        Value::Array(items) => {
            Value::Array(items.iter().take(entries).map(|item| cut(item, entries, characters)).collect())
        }
        Value::Object(fields) => {
            let mut out = Map::new();
            for (name, field) in fields {
                let total = match field {
                    Value::Array(items) => items.len(),
                    // Tables whose names come from the configuration or the program, not the report's own fields.
                    Value::Object(table) if OPEN_TABLES.contains(&name.as_str()) => table.len(),
                    _ => 0,
                };
                if total > entries {
                    out.insert([name, "_total"].concat(), total.into());
                }
                let field = match field {
                    Value::Object(table) if total > entries => Value::Object(
                        table.iter().take(entries).map(|(name, item)| (name.clone(), item.clone())).collect(),
                    ),
                    other => other.clone(),
                };
                out.insert(name.clone(), cut(&field, entries, characters));
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

/// Fields of the report that are tables with free keys.
const OPEN_TABLES: [&str; 5] = ["sources", "models", "queues", "mqtt", "dropped"];

#[cfg(test)]
mod tests {
    use crate::health::{LanguageModelHealth, SourceHealth};

    use super::*;

    #[test]
    fn a_small_report_is_published_whole() {
        let report = HealthReport { degraded: vec!["asr: model not installed".to_owned()], ..HealthReport::default() };
        let value: Value = serde_json::from_slice(&payload(&report)).unwrap();
        assert_eq!(value, serde_json::to_value(&report).unwrap());
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        let report = HealthReport {
            degraded: (0..40).map(|n| format!("role {n}: absent")).collect(),
            sources: (0..50).map(|n| (format!("camera-{n:02}"), SourceHealth::default())).collect(),
            ..HealthReport::default()
        };
        let bytes = payload(&report);
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["degraded_total"], 40);
        assert_eq!(value["sources_total"], 50);
        assert!(value["degraded"].as_array().unwrap().len() <= 32);
        assert!(bytes.len() <= MAX_BYTES, "{}", bytes.len());
    }

    #[test]
    fn the_ceiling_holds_whatever_is_in_the_report() {
        let report = HealthReport {
            degraded: (0..100).map(|_| "ü".repeat(5000)).collect(),
            last_error: Some("x".repeat(100_000)),
            sources: (0..500)
                .map(|n| {
                    (
                        format!("{n}{}", "s".repeat(200)),
                        SourceHealth { error: Some("y".repeat(9000)), ..SourceHealth::default() },
                    )
                })
                .collect(),
            ..HealthReport::default()
        };
        let bytes = payload(&report);
        assert!(bytes.len() <= MAX_BYTES, "{}", bytes.len());
        assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_published_soon_and_the_rest_at_the_interval() {
        let interval = Duration::from_secs(10);
        let mut beat = Beat::new(interval);
        let begin = Instant::now();
        assert_eq!(beat.due(), begin);
        let report = HealthReport::default();
        beat.published(report.clone());
        assert_eq!(beat.due(), begin + interval);

        beat.changed(&HealthReport { uptime_s: 5, ..report.clone() });
        assert_eq!(beat.due(), begin + interval);

        beat.changed(&HealthReport { memory: MemoryHealth { seq: 9, ..MemoryHealth::default() }, ..report.clone() });
        assert_eq!(beat.due(), begin + COUNTER_INTERVAL);

        // A request counts; that an endpoint is left alone is news.
        let mut asked = report.clone();
        let chat = LanguageModelHealth { requests: 1, tokens_today: 90, ..LanguageModelHealth::default() };
        asked.language_models.insert("llm.chat".into(), LanguageModelHealth::default());
        beat.published(asked.clone());
        asked.language_models.insert("llm.chat".into(), chat);
        beat.changed(&asked);
        assert_eq!(beat.due(), begin + interval);

        beat.changed(&HealthReport { paused: true, ..report });
        assert_eq!(beat.due(), begin + DEBOUNCE);
    }
}
