//! The dashboard and the alert rules of `config/monitoring` against the metrics that the program exports.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::health::{HealthReport, ModelHealth, QueueHealth, SourceHealth};
use crate::metrics::exposition;
use crate::mqtt::MqttCounters;
use crate::service::ServiceCounters;

const DASHBOARD: &str = include_str!("../../config/monitoring/dashboard.json");
const ALERTS: &str = include_str!("../../config/monitoring/alerts.yml");

/// Every metric with its labels, and the values of `what`.
fn exported() -> (BTreeMap<String, BTreeSet<String>>, BTreeSet<String>) {
    let mut report = HealthReport { mqtt: MqttCounters::default().snapshot(), ..HealthReport::default() };
    report.thermal.celsius = Some(50.0);
    report.thermal.load = Some(0.5);
    let mut source = SourceHealth { frame_age_s: Some(0.1), ..SourceHealth::default() };
    source.dropped.insert("queue_full".into(), 1);
    report.sources.insert("door".into(), source);
    report.models.insert("objects".into(), ModelHealth::default());
    report.queues.insert("recall".into(), QueueHealth::default());
    let text = exposition(report, ServiceCounters::default()).unwrap();
    let mut metrics: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut what = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap());
        let labels = metrics.entry(name.to_owned()).or_default();
        for part in rest.split(['{', ',', '}']).filter(|part| part.contains("=\"")) {
            let (label, value) = part.split_once("=\"").unwrap();
            labels.insert(label.to_owned());
            if label == "what" {
                what.insert(value.trim_end_matches('"').to_owned());
            }
        }
    }
    (metrics, what)
}

/// The queries: of the dashboard its `expr` and the variables' `query`, of the rules each `expr:`.
fn queries() -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    match inner.as_str().filter(|_| matches!(key.as_str(), "expr" | "query")) {
                        Some(query) => found.push(query.to_owned()),
                        None => walk(inner, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let mut found: Vec<String> =
        ALERTS.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).map(str::to_owned).collect();
    assert!(found.len() >= 10, "the rules have no queries");
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let rules = found.len();
    walk(&dashboard, &mut found);
    assert!(found.len() >= rules + 30, "the dashboard has no queries");
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

#[test]
fn every_metric_and_label_that_the_dashboard_and_the_alerts_name_is_exported() {
    let (metrics, what) = exported();
    let mut named = BTreeSet::new();
    for query in queries() {
        for name in words(&query).filter(|word| word.starts_with("engram_")) {
            assert!(metrics.contains_key(name), "{name} of {query} is not exported");
            named.insert(name.to_owned());
        }
        for (at, _) in query.match_indices("what=\"") {
            let value = query[at + 6..].split('"').next().unwrap();
            assert!(what.contains(value), "engram_mqtt_total has no what=\"{value}\"");
        }
    }
    // What no panel shows is of little use; the exceptions are shown in another form.
    let unseen: Vec<&String> = metrics.keys().filter(|name| !named.contains(*name)).collect();
    assert_eq!(unseen, ["engram_commit_seq", "engram_source_frame_age_seconds"]);
}

#[test]
fn a_text_of_an_alert_or_a_legend_names_only_labels_that_its_metric_has() {
    let (metrics, _) = exported();
    let known: BTreeSet<&str> = metrics.values().flatten().map(String::as_str).collect();
    let given = ["instance", "job", "value", "labels", "humanize1024", "humanizePercentage"];
    for text in [DASHBOARD, ALERTS] {
        for part in text.split("{{").skip(1) {
            let inside = part.split("}}").next().unwrap();
            for word in words(inside).filter(|word| !word.is_empty()) {
                assert!(known.contains(word) || given.contains(&word), "there is no label {word} in {inside}");
            }
        }
    }
}
