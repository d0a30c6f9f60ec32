//! Procedures: the model judges whether a sequence of actions is one.

use std::collections::BTreeMap;

use memory_core::ports::{PortError, ProcedureJudge};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;

use super::background::Background;
use super::endpoint::Task;
use super::prompt::{marked, plain};
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/procedure.txt");
/// Maximum number of tokens of a reply.
const REPLY_TOKENS: u32 = 60;
/// The best score that the model can give.
const BEST_SCORE: u8 = 10;
/// Maximum number of steps and of sessions in the prompt.
const MAX_STEPS: usize = 40;
const MAX_SESSIONS: usize = 3;
/// Maximum number of scores that are kept, so that what is learnt again gets the same score without a request.
const MAX_SCORES: usize = 4_096;

/// Judges patterns with a model.
pub struct PatternJudge {
    background: Background,
    /// Scores by request.
    scores: Mutex<BTreeMap<String, f32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictReply {
    score: u8,
}

impl PatternJudge {
    /// A judge that asks this endpoint.
    pub fn new(background: Background) -> Self {
        Self { background, scores: Mutex::default() }
    }
}

impl ProcedureJudge for PatternJudge {
    fn judge(&self, steps: &[&str], context: &[String]) -> Result<f32, PortError> {
        let steps: Vec<String> = steps.iter().take(MAX_STEPS).map(|step| plain(step)).collect();
        let sessions: Vec<String> = context.iter().take(MAX_SESSIONS).map(|session| plain(session)).collect();
        let data = marked(&json!({"steps": steps, "sessions": sessions}));
        if let Some(score) = self.scores.lock().get(&data) {
            return Ok(*score);
        }
        let schema = json!({
            "type": "object",
            "properties": {"score": {"type": "integer", "minimum": 0, "maximum": BEST_SCORE}},
            "required": ["score"],
            "additionalProperties": false,
        });
        let kept = data.clone();
        let task = Task {
            purpose: Purpose::Procedures,
            rules: RULES,
            data,
            pictures: Vec::new(),
            schema,
            reply_tokens: REPLY_TOKENS,
        };
        let check = |said: &str| {
            let reply: VerdictReply =
                serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
            if reply.score > BEST_SCORE {
                Err("the score was above 10")
            } else {
                Ok(f32::from(reply.score) / f32::from(BEST_SCORE))
            }
        };
        let score = self.background.ask(&task, check).map_err(|error| self.background.port_error(&error))?;
        let mut scores = self.scores.lock();
        if scores.len() >= MAX_SCORES {
            scores.pop_first();
        }
        scores.insert(kept, score);
        Ok(score)
    }
}
