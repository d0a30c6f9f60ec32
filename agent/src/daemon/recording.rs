//! Pausing and resuming recording and perceiving, for privacy. The state holds over restarts.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::Memory;
use parking_lot::Mutex;

use super::board::Board;
use crate::mqtt::RecordingControl;
use crate::upkeep::RECORDING_SETTING;

const PAUSED: &str = "paused";
const ON: &str = "on";

/// Pauses (`true`) or resumes one source; returns at once.
pub type PauseSource = Box<dyn Fn(bool) + Send + Sync>;

/// The switch for everything that perceives.
pub struct Recording {
    memory: Memory,
    board: Arc<Board>,
    state: Mutex<RecordingState>,
}

struct RecordingState {
    paused: bool,
    sources: BTreeMap<String, PauseSource>,
}

impl Recording {
    /// The switch as it was left at the last run.
    ///
    /// # Errors
    /// If the setting cannot be read. Then it is not known whether somebody wanted privacy, and nothing may start.
    pub fn restore(memory: Memory, board: Arc<Board>) -> Result<Self, memory_core::ReadError> {
        let paused = memory.setting(RECORDING_SETTING)?.as_deref() == Some(PAUSED);
        board.paused(paused);
        Ok(Self { memory, board, state: Mutex::new(RecordingState { paused, sources: BTreeMap::new() }) })
    }

    /// Adds or replaces a source, which was started paused; it is resumed unless recording is paused.
    pub fn add(&self, name: &str, source: PauseSource) {
        let mut state = self.state.lock();
        source(state.paused);
        state.sources.insert(name.to_owned(), source);
    }

    /// Takes a source away.
    pub fn remove(&self, name: &str) {
        self.state.lock().sources.remove(name);
    }

    fn switch(&self, state: &mut RecordingState, paused: bool) {
        state.paused = paused;
        for source in state.sources.values() {
            source(paused);
        }
        self.board.paused(paused);
    }
}

impl RecordingControl for Recording {
    fn pause(&self) -> Result<(), String> {
        let mut state = self.state.lock();
        // Privacy first: it is quiet even where the wish cannot be kept.
        self.switch(&mut state, true);
        self.memory.set_setting(RECORDING_SETTING, PAUSED).map_err(|error| {
            format!("recording is paused, but a restart would resume it, because this could not be stored: {error}")
        })
    }

    fn resume(&self) -> Result<(), String> {
        let mut state = self.state.lock();
        self.memory
            .set_setting(RECORDING_SETTING, ON)
            .map_err(|error| format!("recording stays paused, because this could not be stored: {error}"))?;
        self.switch(&mut state, false);
        Ok(())
    }

    fn paused(&self) -> bool {
        self.state.lock().paused
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use memory_core::store::MemoryStorage;
    use memory_core::{ManualClock, MemoryOptions, Timestamp};

    use super::*;
    use crate::logging::LastError;

    fn memory(storage: &Arc<MemoryStorage>) -> Memory {
        let options = MemoryOptions {
            zone: jiff::tz::TimeZone::UTC,
            max_bytes: None,
            cache_bytes: 1 << 20,
            index: Default::default(),
        };
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        Memory::open_in(storage.clone(), options, clock).unwrap()
    }

    fn board() -> Arc<Board> {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        Arc::new(Board::new(clock, "i".into(), std::env::temp_dir(), LastError::default()))
    }

    fn switch() -> (Arc<AtomicBool>, PauseSource) {
        let state = Arc::new(AtomicBool::new(true));
        let shared = Arc::clone(&state);
        (state, Box::new(move |paused| shared.store(paused, Ordering::SeqCst)))
    }

    #[test]
    fn pausing_reaches_every_source_and_the_sources_that_come_later() {
        let recording = Recording::restore(memory(&Arc::new(MemoryStorage::new())), board()).unwrap();
        let (first, source) = switch();
        recording.add("first", source);
        assert!(!first.load(Ordering::SeqCst));
        recording.pause().unwrap();
        assert!(first.load(Ordering::SeqCst) && recording.paused());
        let (later, source) = switch();
        recording.add("later", source);
        assert!(later.load(Ordering::SeqCst));
        recording.resume().unwrap();
        assert!(!first.load(Ordering::SeqCst) && !later.load(Ordering::SeqCst) && !recording.paused());
    }

    #[test]
    fn a_pause_holds_over_a_restart() {
        let storage = Arc::new(MemoryStorage::new());
        Recording::restore(memory(&storage), board()).unwrap().pause().unwrap();
        let recording = Recording::restore(memory(&storage), board()).unwrap();
        assert!(recording.paused());
        let (state, source) = switch();
        recording.add("eye", source);
        assert!(state.load(Ordering::SeqCst));
        recording.resume().unwrap();
        drop(recording);
        assert!(!Recording::restore(memory(&storage), board()).unwrap().paused());
    }
}
