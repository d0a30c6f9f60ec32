//! Whether the work behind the commit goes on: what the watchdog looks at.

use std::sync::Arc;

use memory_core::Clock;
use memory_core::ports::{LongWork, Progress};

use crate::watchdog::Pulse;

/// Ticks of the two background threads, and of commands that do their work.
pub struct Behind {
    /// Learning and embedding.
    pub jobs: Pulse,
    /// Compaction and the saving of the index.
    pub compaction: Pulse,
}

impl Behind {
    /// Notes a tick of both.
    pub fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { jobs: Pulse::new(Arc::clone(clock)), compaction: Pulse::new(Arc::clone(clock)) }
    }
}

impl Progress for Behind {
    fn step(&self, work: LongWork) {
        match work {
            LongWork::Learning | LongWork::Embedding => self.jobs.tick(),
            LongWork::Compaction | LongWork::Saving => self.compaction.tick(),
        }
    }
}
