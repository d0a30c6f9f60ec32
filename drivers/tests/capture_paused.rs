//! A source that must not look before it is told to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::capture::{AudioBlock, Frame, MediaConsumer, SourceHandle, SourceKind, SourceSpec, SourceState, Subtitle};
use memory_core::{SystemClock, Timestamp};
use parking_lot::{Condvar, Mutex};

#[derive(Default)]
struct Seen {
    calls: Mutex<Vec<&'static str>>,
    changed: Condvar,
}

struct Consumer(Arc<Seen>);

impl Consumer {
    fn note(&self, call: &'static str) {
        self.0.calls.lock().push(call);
        self.0.changed.notify_all();
    }
}

impl MediaConsumer for Consumer {
    fn begin(&mut self, _: &str, _: Timestamp) {
        self.note("begin");
    }
    fn frame(&mut self, _: Frame<'_>) {
        self.note("frame");
    }
    fn audio(&mut self, _: AudioBlock<'_>) {
        self.note("audio");
    }
    fn subtitle(&mut self, _: Subtitle) {}
    fn end(&mut self, _: Duration) {}
    fn frame_interval(&self) -> Duration {
        Duration::from_millis(100)
    }
}

#[test]
fn a_source_started_paused_opens_nothing_until_it_is_resumed() {
    let seen = Arc::new(Seen::default());
    let spec = SourceSpec::new("eye", SourceKind::Test);
    let consumer = Box::new(Consumer(Arc::clone(&seen)));
    let source = SourceHandle::start_paused(spec, consumer, Arc::new(SystemClock::new())).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while source.status().state != SourceState::Paused {
        assert!(Instant::now() < deadline, "{:?}", source.status());
        std::thread::yield_now();
    }
    assert!(seen.calls.lock().is_empty(), "{:?}", seen.calls.lock());
    source.resume();
    let mut calls = seen.calls.lock();
    while !calls.contains(&"frame") {
        assert!(!seen.changed.wait_until(&mut calls, deadline).timed_out(), "{calls:?}");
    }
    assert_eq!(calls.first(), Some(&"begin"));
}
