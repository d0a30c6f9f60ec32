//! Changes of persons and procedures since listeners were last notified.

use std::collections::VecDeque;

use crate::episodic::anchors::EntityNews;
use crate::episodic::gist::GistNews;
use crate::logic::ProcedureId;
use crate::{ProcedureChange, ProcedureNews};

/// Maximum number of announcements of a kind that wait to be taken; the oldest is dropped.
const MAX_PENDING: usize = 1024;

/// News that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct News {
    entities: VecDeque<EntityNews>,
    procedures: VecDeque<ProcedureNews>,
    gists: VecDeque<GistNews>,
}

impl News {
    pub fn add_entities(&mut self, news: Vec<EntityNews>) {
        self.entities.extend(news);
        let beyond = self.entities.len().saturating_sub(MAX_PENDING);
        self.entities.drain(..beyond);
    }

    /// Keeps only the last state of a procedure: ten actions that were learnt at once are one announcement.
    pub fn add_procedures(&mut self, news: Vec<ProcedureNews>) {
        for mut next in news {
            match self.take_waiting(next.id).map(|before| (before, next.change)) {
                // Nobody heard that it began.
                Some((ProcedureChange::New, ProcedureChange::End)) => continue,
                Some((ProcedureChange::New, _)) => next.change = ProcedureChange::New,
                // Nobody heard that it ended.
                Some((ProcedureChange::End, ProcedureChange::New)) => next.change = ProcedureChange::Update,
                _ => {}
            }
            self.procedures.push_back(next);
        }
        let beyond = self.procedures.len().saturating_sub(MAX_PENDING);
        self.procedures.drain(..beyond);
    }

    fn take_waiting(&mut self, id: ProcedureId) -> Option<ProcedureChange> {
        let at = self.procedures.iter().position(|waiting| waiting.id == id)?;
        self.procedures.remove(at).map(|waiting| waiting.change)
    }

    pub fn add_gists(&mut self, gists: Vec<GistNews>) {
        self.gists.extend(gists);
        let beyond = self.gists.len().saturating_sub(MAX_PENDING);
        self.gists.drain(..beyond);
    }

    /// The gists that were made, oldest first.
    pub fn take_gists(&mut self) -> Vec<GistNews> {
        std::mem::take(&mut self.gists).into()
    }

    /// The news of persons, oldest first.
    pub fn take_entities(&mut self) -> Vec<EntityNews> {
        std::mem::take(&mut self.entities).into()
    }

    /// The news of procedures, in the order in which they changed last.
    pub fn take_procedures(&mut self) -> Vec<ProcedureNews> {
        std::mem::take(&mut self.procedures).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(changes: &[(u64, ProcedureChange)]) -> Vec<(u64, ProcedureChange)> {
        let mut news = News::default();
        for (id, change) in changes {
            news.add_procedures(vec![ProcedureNews { id: ProcedureId(*id), change: *change, now: None }]);
        }
        news.take_procedures().iter().map(|one| (one.id.0, one.change)).collect()
    }

    #[test]
    fn of_a_procedure_the_last_state_waits() {
        use ProcedureChange::{End, New, Update};
        assert_eq!(news(&[(1, New), (2, Update), (1, Update)]), [(2, Update), (1, New)]);
        assert_eq!(news(&[(1, New), (1, End)]), []);
        assert_eq!(news(&[(1, Update), (1, End)]), [(1, End)]);
        assert_eq!(news(&[(1, End), (1, New)]), [(1, Update)]);
    }

    #[test]
    fn news_that_nobody_takes_stay_bounded_and_the_oldest_go() {
        let changes: Vec<_> = (0..3_000).map(|id| (id, ProcedureChange::Update)).collect();
        let left = news(&changes);
        assert_eq!((left.len(), left[0].0), (MAX_PENDING, 3_000 - MAX_PENDING as u64));
    }
}
