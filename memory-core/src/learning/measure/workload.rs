//! Reads told sessions, and questions about them, from a benchmark's folder.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::logic::Action;
use crate::{EventId, TimeSpan, Timestamp};

/// Sessions to learn from, questions with what is right, and sessions whose goals are kept back.
#[derive(Debug, Clone, Default)]
pub struct LearningWorkload {
    pub(super) actions: Vec<Action>,
    /// The sessions that the questions for the next step are about.
    pub(super) asked: Vec<Action>,
    pub(super) next: Vec<NextQuery>,
    pub(super) paths: Vec<PathQuery>,
    pub(super) goalless: Vec<Action>,
    /// Goal by session of `goalless`.
    pub(super) goals: BTreeMap<String, String>,
}

/// Why there is no workload.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct WorkloadError {
    file: String,
    reason: String,
}

#[derive(Deserialize)]
struct LabelledObservation {
    text: String,
    at: String,
    until: String,
    entity: Option<String>,
    attributes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Queries {
    next: Vec<NextQuery>,
    paths: Vec<PathQuery>,
    discovery: Discovery,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct NextQuery {
    pub goal: String,
    pub steps: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct PathQuery {
    pub goal: String,
    pub without: Vec<String>,
    pub max: usize,
    pub truth: Vec<GoalTruth>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct GoalTruth {
    pub steps: Vec<String>,
}

#[derive(Deserialize)]
struct Discovery {
    observations: String,
    sessions: BTreeMap<String, String>,
}

impl LearningWorkload {
    /// The workload of `queries_<split>.json`, `observations_train.jsonl`, `observations_<split>.jsonl` and the file of sessions without goals that the
    /// queries name. `file` gives a file's text by its name, or says why it has none.
    ///
    /// # Errors
    /// If a file is missing or is not what it should be.
    pub fn read(split: &str, file: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, WorkloadError> {
        let name = format!("queries_{split}.json");
        let queries: Queries = parse(&name, &text(&name, file)?)?;
        let Discovery { observations, sessions } = queries.discovery;
        Ok(Self {
            actions: actions("observations_train.jsonl", file)?,
            asked: actions(&format!("observations_{split}.jsonl"), file)?,
            next: queries.next,
            paths: queries.paths,
            goalless: actions(&observations, file)?,
            goals: sessions,
        })
    }
}

fn text(name: &str, file: &dyn Fn(&str) -> Result<String, String>) -> Result<String, WorkloadError> {
    file(name).map_err(|reason| WorkloadError { file: name.to_owned(), reason })
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, WorkloadError> {
    let failed = |error: serde_json::Error| WorkloadError { file: name.to_owned(), reason: error.to_string() };
    serde_json::from_str(text).map_err(failed)
}

/// The actions of a file of observations, in the order of their times.
fn actions(name: &str, file: &dyn Fn(&str) -> Result<String, String>) -> Result<Vec<Action>, WorkloadError> {
    let text = text(name, file)?;
    let mut observations: Vec<LabelledObservation> =
        text.lines().map(|line| parse(name, line)).collect::<Result<_, _>>()?;
    observations.sort_by(|a, b| a.at.cmp(&b.at));
    let time = |text: &str| {
        Timestamp::parse(text).map_err(|error| WorkloadError { file: name.to_owned(), reason: error.to_string() })
    };
    let action = |(number, told): (u64, LabelledObservation)| -> Result<Action, WorkloadError> {
        let mut action = Action::new(EventId(number), told.text, TimeSpan::new(time(&told.at)?, time(&told.until)?));
        action.person = told.entity;
        action.session = told.attributes.get("session").cloned();
        action.goal = told.attributes.get("task").cloned();
        Ok(action)
    };
    (1..).zip(observations).map(action).collect()
}
