//! `/metrics` for Prometheus and `/health` for probes, on loopback. Both are made from the health report, so they always
//! agree with `…/health`.

use std::fmt;
use std::net::SocketAddr;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::health::HealthReport;
use crate::http::{self, HttpLimits};
use crate::service::{MemoryService, ServiceCounters};

/// Values to show.
#[derive(Clone)]
pub struct Exposed {
    /// The current report.
    pub health: watch::Receiver<HealthReport>,
    /// Counts its own work.
    pub service: MemoryService,
}

/// Takes the port.
///
/// # Errors
/// If it is taken or may not be used; the message says what to change.
pub async fn bind(listen: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(listen)
        .await
        .map_err(|error| format!("cannot listen on {listen}: {error}; set `metrics.listen` to another port"))
}

/// Serves until `shutdown`.
pub async fn serve(listener: TcpListener, exposed: Exposed, shutdown: CancellationToken) {
    let router = axum::Router::new().route("/metrics", get(metrics)).route("/health", get(report)).with_state(exposed);
    http::serve(listener, router, HttpLimits::default(), shutdown).await;
}

async fn report(State(exposed): State<Exposed>) -> impl IntoResponse {
    let report = exposed.health.borrow().clone();
    match serde_json::to_string(&report) {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn metrics(State(exposed): State<Exposed>) -> impl IntoResponse {
    let report = exposed.health.borrow().clone();
    match exposition(report, exposed.service.counters()) {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The report in the OpenMetrics text format.
///
/// # Errors
/// If the encoder fails.
pub fn exposition(report: HealthReport, work: ServiceCounters) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("engram");
    registry.register_collector(Box::new(MetricsReading { report, work }));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct MetricsReading {
    report: HealthReport,
    work: ServiceCounters,
}

type Labels = Vec<(&'static str, String)>;

impl Collector for MetricsReading {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (report, work) = (&self.report, &self.work);
        let none = Labels::new;
        let gauge = |encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, values: Vec<(Labels, f64)>| {
            family(encoder, name, help, values.into_iter().map(|(labels, value)| (labels, ConstGauge::new(value))))
        };
        let counter = |encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, values: Vec<(Labels, u64)>| {
            family(encoder, name, help, values.into_iter().map(|(labels, value)| (labels, ConstCounter::new(value))))
        };
        let one = |value: f64| vec![(none(), value)];

        let build = vec![(vec![("version", report.version.clone())], 1.0)];
        gauge(&mut encoder, "build", "Version of the program", build)?;
        gauge(&mut encoder, "uptime_seconds", "Since the start", one(report.uptime_s as f64))?;
        gauge(&mut encoder, "paused", "1 while recording is paused", one(f64::from(u8::from(report.paused))))?;
        gauge(&mut encoder, "degraded", "Things that are missing", one(report.degraded.len() as f64))?;

        let memory = &report.memory;
        counter(&mut encoder, "observations", "Accepted observations", vec![(none(), memory.observations)])?;
        gauge(&mut encoder, "events", "Visible events", one(memory.events as f64))?;
        gauge(&mut encoder, "episodes", "Visible episodes", one(memory.episodes as f64))?;
        gauge(&mut encoder, "commit_seq", "Number of the last commit", one(memory.seq as f64))?;
        let lessons = one(memory.pending_lessons as f64);
        gauge(&mut encoder, "pending_lessons", "Events that nothing was learnt from yet", lessons)?;
        let pending = one(memory.pending_embeddings as f64);
        gauge(&mut encoder, "pending_embeddings", "Events without an embedding", pending)?;
        gauge(&mut encoder, "store_bytes", "Bytes of the store", one(report.disk.store_bytes as f64))?;
        gauge(&mut encoder, "disk_free_bytes", "Bytes free beside the store", one(report.disk.free_bytes as f64))?;

        let count = |value: u64| vec![(none(), value)];
        counter(&mut encoder, "commits", "Transactions", count(work.commits))?;
        counter(&mut encoder, "failed_batches", "Batches the store could not write", count(work.failed_batches))?;
        counter(&mut encoder, "answered", "Questions and readings answered", count(work.answered))?;
        counter(&mut encoder, "busy", "Questions refused because too many waited", count(work.busy))?;
        counter(&mut encoder, "overdue", "Questions whose time ran out", count(work.overdue))?;
        counter(&mut encoder, "embedded", "Events embedded", count(work.embedding.done))?;
        let seconds = |time: std::time::Duration| [(none(), ConstCounter::new(time.as_secs_f64()))].into_iter();
        family(&mut encoder, "commit_seconds", "Time spent in transactions", seconds(work.commit_time))?;
        family(&mut encoder, "answer_seconds", "Time spent answering", seconds(work.answer_time))?;

        let sources = || report.sources.iter().map(|(name, source)| (vec![("source", name.clone())], source));
        let running = |state: &str| f64::from(u8::from(state == "running"));
        let up = sources().map(|(labels, source)| (labels, running(&source.state))).collect();
        gauge(&mut encoder, "source_running", "1 while the source delivers", up)?;
        let ages = sources().filter_map(|(labels, source)| Some((labels, source.frame_age_s?))).collect();
        gauge(&mut encoder, "source_frame_age_seconds", "Since the last frame or block", ages)?;
        let fps = sources().map(|(labels, source)| (labels, source.fps)).collect();
        gauge(&mut encoder, "source_fps", "Frames a second delivered lately", fps)?;
        let sampled = sources().map(|(labels, source)| (labels, source.sampled_fps)).collect();
        gauge(&mut encoder, "source_sampled_fps", "Frames a second analysed lately", sampled)?;
        let restarts = sources().map(|(labels, source)| (labels, source.restarts)).collect();
        counter(&mut encoder, "source_restarts", "How often the source was restarted", restarts)?;
        let gaps = sources().map(|(labels, source)| (labels, source.gaps)).collect();
        counter(&mut encoder, "source_gaps", "How often the source stopped and continued by itself", gaps)?;
        let segments = sources().map(|(labels, source)| (labels, source.segments)).collect();
        counter(&mut encoder, "source_segments", "Segments handed to the memory", segments)?;
        let mut dropped = Vec::new();
        for (labels, source) in sources() {
            for (reason, count) in &source.dropped {
                let mut labels = labels.clone();
                labels.push(("reason", reason.clone()));
                dropped.push((labels, *count));
            }
        }
        counter(&mut encoder, "source_dropped", "Frames and blocks dropped, by reason", dropped)?;

        let thermal = &report.thermal;
        let measured = |value: Option<f64>| value.map(|value| (none(), value)).into_iter().collect();
        gauge(&mut encoder, "thermal_celsius", "Temperature of the hottest zone", measured(thermal.celsius))?;
        gauge(&mut encoder, "load", "Programs that want a processor, a processor", measured(thermal.load))?;
        let share = "Share of the configured pictures and of background work that is done";
        gauge(&mut encoder, "work_share", share, one(thermal.share))?;

        let process = &report.process;
        gauge(&mut encoder, "resident_mib", "Memory of the program", one(process.resident_mib as f64))?;
        gauge(&mut encoder, "swapped_mib", "Of it, swapped out", one(process.swapped_mib as f64))?;
        gauge(&mut encoder, "ceiling_mib", "What both should stay below", one(process.ceiling_mib as f64))?;

        let ready = report.models.iter().map(|(role, model)| {
            (vec![("role", role.clone()), ("state", model.state.clone())], f64::from(u8::from(model.state == "ready")))
        });
        gauge(&mut encoder, "model_ready", "1 for a role whose encoder serves", ready.collect())?;

        let queues = || report.queues.iter().map(|(name, queue)| (vec![("queue", name.clone())], queue));
        let depth = queues().map(|(labels, queue)| (labels, queue.depth as f64)).collect();
        gauge(&mut encoder, "queue_depth", "Items waiting", depth)?;
        let capacity = queues().map(|(labels, queue)| (labels, queue.capacity as f64)).collect();
        gauge(&mut encoder, "queue_capacity", "Ceiling", capacity)?;
        let refused = queues().map(|(labels, queue)| (labels, queue.dropped)).collect();
        counter(&mut encoder, "queue_dropped", "Refused or evicted", refused)?;

        let mqtt = report.mqtt.iter().map(|(what, count)| (vec![("what", what.clone())], *count)).collect();
        counter(&mut encoder, "mqtt", "Counters of the MQTT door", mqtt)
    }
}

fn family<M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl Iterator<Item = (Labels, M)>,
) -> fmt::Result {
    let mut values = values.peekable();
    let Some((_, first)) = values.peek() else { return Ok(()) };
    let kind = first.metric_type();
    let mut descriptor = encoder.encode_descriptor(name, help, None, kind)?;
    for (labels, value) in values {
        if labels.is_empty() {
            return value.encode(descriptor);
        }
        value.encode(descriptor.encode_family(&LabelSet(labels))?)?;
    }
    Ok(())
}

#[derive(Debug)]
struct LabelSet(Labels);

impl EncodeLabelSet for LabelSet {
    fn encode(&self, encoder: &mut prometheus_client::encoding::LabelSetEncoder<'_>) -> fmt::Result {
        self.0.as_slice().encode(encoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{ModelHealth, QueueHealth, SourceHealth};

    #[test]
    fn the_report_is_exposed_with_its_labels() {
        let mut report = HealthReport { version: "1.2.3".into(), ..HealthReport::default() };
        report.memory.observations = 7;
        let mut source = SourceHealth { state: "running".into(), ..SourceHealth::default() };
        source.dropped.insert("evicted".into(), 3);
        report.sources.insert("door \"A\"".into(), source);
        report.models.insert("objects".into(), ModelHealth { state: "absent".into(), ..ModelHealth::default() });
        report.queues.insert("recall".into(), QueueHealth { depth: 1, capacity: 64, dropped: 0 });
        let work = ServiceCounters {
            answered: 4,
            answer_time: std::time::Duration::from_millis(1500),
            ..ServiceCounters::default()
        };
        let text = exposition(report, work).unwrap();
        for line in [
            "engram_build{version=\"1.2.3\"} 1.0",
            "engram_observations_total 7",
            "engram_answered_total 4",
            "engram_answer_seconds_total 1.5",
            "engram_source_running{source=\"door \\\"A\\\"\"} 1.0",
            "engram_source_dropped_total{source=\"door \\\"A\\\"\",reason=\"evicted\"} 3",
            "engram_model_ready{role=\"objects\",state=\"absent\"} 0.0",
            "engram_queue_depth{queue=\"recall\"} 1.0",
            "# EOF",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }

    #[tokio::test]
    async fn a_taken_port_is_explained() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let message = bind(taken.local_addr().unwrap()).await.unwrap_err();
        assert!(message.contains("metrics.listen"), "{message}");
    }
}
