//! Assigns actions to sessions: by the told name, else by source, person and pauses, and in both cases by goal.

use serde::{Deserialize, Serialize};

use super::{Action, LogicOptions, ProcedureId, normalise};
use crate::{EventId, Timestamp};

/// Maximum number of open sessions. Beyond it, the one that rested longest is closed.
const MAX_OPEN: usize = 256;

/// A session that may go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    /// The run's number in its procedure.
    pub run: EventId,
    pub procedure: ProcedureId,
    told: Option<String>,
    source: String,
    person: Option<String>,
    /// The goal as compared, once one was told.
    pub goal: Option<String>,
    last: Timestamp,
    actions: usize,
    part: u32,
}

/// The sessions that may go on, the one touched last at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Sessions {
    open: Vec<Session>,
}

/// Session that an action belongs to.
pub(super) enum SessionChoice {
    /// An open session, now the last of the list.
    Open(Session),
    /// A new session.
    New {
        /// Its name in evidence.
        name: String,
        /// Which part of a session that is too long, from 1.
        part: u32,
    },
}

impl Sessions {
    /// Finds the session of an action. Of two sessions of the same name or stretch, the one with the action's goal is
    /// meant, then one without a goal yet, and without a goal told the one touched last: two tasks that are done in turns
    /// are two sessions as soon as their goals are told.
    pub fn place(&mut self, action: &Action, options: &LogicOptions) -> SessionChoice {
        let goal = action.goal.as_deref().map(normalise).filter(|goal| !goal.is_empty());
        let goes_on = |session: &Session| {
            let pause = action.span.start.since(session.last).max(session.last.since(action.span.start));
            match &action.session {
                Some(name) => session.told.as_ref() == Some(name) && pause <= options.told_gap,
                None => {
                    session.told.is_none()
                        && session.source == action.source
                        && session.person == action.person
                        && pause <= options.gap
                }
            }
        };
        let mut found = None;
        for (at, session) in self.open.iter().enumerate().rev().filter(|(_, session)| goes_on(session)) {
            if goal.is_none() || session.goal == goal {
                found = Some(at);
                break;
            }
            if session.goal.is_none() && found.is_none() {
                found = Some(at);
            }
        }
        let mut part = 1;
        if let Some(at) = found {
            let mut session = self.open.remove(at);
            if session.actions < options.max_actions {
                session.actions += 1;
                session.last = session.last.max(action.span.end);
                self.open.push(session.clone());
                return SessionChoice::Open(session);
            }
            part = session.part + 1;
        }
        let name = match &action.session {
            Some(name) => name.clone(),
            None => format!("{} {}", action.source, action.span.start).trim_start().to_owned(),
        };
        SessionChoice::New { name: if part == 1 { name } else { format!("{name} ({part})") }, part }
    }

    /// Opens a session with its first action.
    pub fn open(&mut self, action: &Action, part: u32, procedure: ProcedureId) {
        self.open.push(Session {
            run: action.event,
            procedure,
            told: action.session.clone(),
            source: action.source.clone(),
            person: action.person.clone(),
            goal: action.goal.as_deref().map(normalise).filter(|goal| !goal.is_empty()),
            last: action.span.end,
            actions: 1,
            part,
        });
        if self.open.len() > MAX_OPEN {
            self.open.remove(0);
        }
    }

    /// The procedure of an open run.
    pub fn procedure_of(&self, run: EventId) -> Option<ProcedureId> {
        self.open.iter().find(|session| session.run == run).map(|session| session.procedure)
    }

    /// Whether every open session is `there`.
    pub fn all(&self, there: impl Fn(EventId, ProcedureId) -> bool) -> bool {
        self.open.iter().all(|session| there(session.run, session.procedure))
    }

    /// A run changed its procedure, and perhaps got a goal.
    pub fn moved(&mut self, run: EventId, to: ProcedureId, goal: Option<String>) {
        for session in self.open.iter_mut().filter(|session| session.run == run) {
            session.procedure = to;
            session.goal = goal.clone().or(session.goal.take());
        }
    }
}
