//! Visits of the robot to places that have a name, followed from its poses.

use std::time::Duration;

use memory_core::{Observation, ObserveOutcome, Pose, Timestamp, VisitTracker};

use super::MemoryService;

/// Interval at which the place of the robot is determined.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Knowledge of the ongoing visit.
#[derive(Debug, Default)]
pub struct Visiting {
    tracker: VisitTracker,
    looked: Option<Timestamp>,
}

impl MemoryService {
    /// Whether it is time to look at which place the robot is at. Most poses say nothing new.
    pub fn visit_is_due(&self, at: Timestamp) -> bool {
        let visiting = self.shared.visiting.lock();
        self.robot_path().options().visits
            && visiting.looked.is_none_or(|looked| at < looked || at.since(looked) >= CHECK_INTERVAL)
    }

    /// Follows the robot. Returns what is to be remembered of its visits: mostly nothing.
    pub fn follow(&self, pose: &Pose, at: Timestamp) -> Vec<Observation> {
        let place = self.shared.memory.place_at(pose);
        let mut visiting = self.shared.visiting.lock();
        visiting.looked = Some(at);
        visiting.tracker.moved(at, pose, place.as_deref()).into_iter().map(Observation::Told).collect()
    }

    /// Ends the visit that goes on, because the robot is not followed any more. Returns what is to be remembered of it.
    pub fn end_visit(&self) -> Option<Observation> {
        self.shared.visiting.lock().tracker.end().map(Observation::Told)
    }

    /// Remembers visits. One that was forgotten begins anew.
    pub async fn remember_visits(&self, visits: Vec<Observation>) {
        if visits.is_empty() {
            return;
        }
        match self.observe(visits).await {
            Ok(committed) => {
                if committed.outcomes.iter().any(|outcome| matches!(outcome, ObserveOutcome::Rejected { .. })) {
                    self.shared.visiting.lock().tracker.forget();
                }
            }
            // It is told again with the next part of the visit, and the writer says what is wrong.
            Err(failure) => tracing::debug!(%failure, "a visit was not remembered"),
        }
    }
}
