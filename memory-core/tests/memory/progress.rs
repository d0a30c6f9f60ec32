//! Long work says that it goes on.

use std::collections::HashMap;
use std::sync::Arc;

use memory_core::SaveIndex;
use memory_core::ports::{LongWork, Progress};
use parking_lot::Mutex;

use crate::embeddings::LetterCounts;
use crate::support::{Bench, accepted, told_at};

#[derive(Default)]
struct Steps(Mutex<HashMap<LongWork, usize>>);

impl Progress for Steps {
    fn step(&self, work: LongWork) {
        *self.0.lock().entry(work).or_default() += 1;
    }
}

impl Steps {
    /// Since the last time.
    fn taken(&self) -> HashMap<LongWork, usize> {
        std::mem::take(&mut *self.0.lock())
    }
}

#[test]
fn every_kind_of_long_work_reports_its_steps_and_no_other() {
    const EVENTS: usize = 80;
    let bench = Bench::new();
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters")));
    let steps = Arc::new(Steps::default());
    bench.memory.set_progress(Some(Arc::<Steps>::clone(&steps)));
    for n in 0..EVENTS {
        accepted(bench.tell(told_at(&format!("thing number {n}"), i64::try_from(n).unwrap())));
    }
    assert_eq!(steps.taken(), HashMap::new(), "telling is not long");

    bench.memory.learn_pending(1000).unwrap();
    assert_eq!(steps.taken(), HashMap::from([(LongWork::Learning, EVENTS)]));
    bench.memory.embed_pending(1000).unwrap();
    assert_eq!(steps.taken(), HashMap::from([(LongWork::Embedding, EVENTS.div_ceil(32))]));
    bench.memory.save_index(SaveIndex::Now).unwrap().unwrap();
    let saving = steps.taken();
    assert!(saving.len() == 1 && saving[&LongWork::Saving] > 10, "{saving:?}");
    bench.memory.compact().unwrap();
    let compaction = steps.taken();
    assert!(compaction[&LongWork::Compaction] > EVENTS, "copying, and every event of the new index: {compaction:?}");

    bench.memory.set_progress(None);
    bench.memory.compact().unwrap();
    assert_eq!(steps.taken(), HashMap::new(), "nobody listens");
}
