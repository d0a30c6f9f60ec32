//! Answers: the model chooses among what the memory proposes, or reads the answer in what the search found, and names its evidence.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::recall::{Deliberation, VerdictError};
use memory_core::{Answer, Clock, EventId, Evidence, Query, TraceStep};
use serde::Deserialize;
use serde_json::{Value, json};

use super::LlmError;
use super::endpoint::{Endpoint, Task, Urgency};
use super::prompt::{marked, plain};
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/answer.txt");
/// Maximum number of tokens of a reply: two ids or three, and a sentence.
const REPLY_TOKENS: u32 = 300;
/// Time of a question's deadline that is reserved for returning the answer.
const REPLY_MARGIN: Duration = Duration::from_millis(50);
/// Id that stands for no answer.
const NO_ANSWER: &str = "none";
/// Id that stands for an answer in the words of the evidence, which no proposal is.
const READ: &str = "read";

/// Decides questions with a model.
pub struct AnswerJudge {
    endpoint: Arc<Endpoint>,
    clock: Arc<dyn Clock>,
    zone: TimeZone,
}

/// Reply of the model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    answer: String,
    evidence: Vec<String>,
    wording: String,
}

/// A verdict that names only what was sent.
#[derive(Debug, Clone, PartialEq)]
enum Decided {
    Chosen { proposal: usize, named: Vec<EventId>, wording: String },
    Read(Box<Answer>),
    Declined,
}

/// Input of the model.
struct Case<'a> {
    data: Value,
    proposals: usize,
    evidence: Vec<&'a Evidence>,
    /// Whether an answer may be read in the evidence. An option can only be chosen.
    reads: bool,
}

impl AnswerJudge {
    /// A judge that asks `endpoint`.
    pub fn new(endpoint: Arc<Endpoint>, clock: Arc<dyn Clock>, zone: TimeZone) -> Self {
        Self { endpoint, clock, zone }
    }

    /// Decides a question within the time that it has left. Whatever goes wrong, the answer of the memory stands, and says
    /// in `degraded` why no model decided it.
    pub async fn decide(&self, deliberation: Deliberation, query: &Query, left: Duration) -> Answer {
        if deliberation.proposals.is_empty() && deliberation.passages.is_empty() {
            return deliberation.answer;
        }
        let begin = self.clock.monotonic();
        let outcome = self.verdict(&deliberation, query, left.saturating_sub(REPLY_MARGIN)).await;
        let took = self.clock.monotonic().saturating_sub(begin);
        let (mut answer, told) = match outcome {
            Ok(decided) => self.compose(&deliberation, decided),
            Err(error) => self.without(deliberation.answer, &error.to_string()),
        };
        answer.elapsed.reason += took;
        answer.elapsed.total += took;
        if query.trace {
            let step = format!("language model {}", self.endpoint.model());
            answer.trace.push(TraceStep { step, detail: told });
        }
        answer
    }

    fn compose(&self, deliberation: &Deliberation, decided: Decided) -> (Answer, String) {
        let most = deliberation.proposals.len();
        match decided {
            Decided::Declined => {
                let reason = format!("the language model found the answer in none of the {most} that memory proposes");
                (deliberation.declined(reason.clone()), reason)
            }
            Decided::Read(answer) => {
                let reason = "the language model read it in the evidence".to_owned();
                (Answer { reason: reason.clone(), ..*answer }, reason)
            }
            Decided::Chosen { proposal, named, wording } => {
                let wanted = Some(wording.trim()).filter(|wording| !wording.is_empty());
                match deliberation.chosen(proposal, &named, wanted) {
                    Err(error) => self.without(deliberation.answer.clone(), &error.to_string()),
                    Ok((mut answer, reworded)) => {
                        let same = deliberation.answer.answer == Some(deliberation.proposals[proposal].text.clone());
                        answer.reason = if same {
                            format!("the language model agrees: {}", deliberation.answer.reason)
                        } else {
                            format!("the language model chose this answer among {most} that memory proposes")
                        };
                        let told = format!("chose {} of {most}, reworded: {reworded}", proposal + 1);
                        (answer, told)
                    }
                }
            }
        }
    }

    /// The answer without the model, with the reason.
    fn without(&self, mut answer: Answer, reason: &str) -> (Answer, String) {
        answer.degraded.push(format!("{}: {reason}; answered without it", self.endpoint.name()));
        (answer, reason.to_owned())
    }

    async fn verdict(&self, deliberation: &Deliberation, query: &Query, left: Duration) -> Result<Decided, LlmError> {
        let now = query.now.unwrap_or_else(|| self.clock.now());
        let (mut most, mut passages) = (deliberation.proposals.len(), deliberation.passages.len());
        // What does not fit is left out from the end: the passages that were found last, then the worst proposals, unless they are
        // options.
        let (case, schema, data) = loop {
            let case = self.case(deliberation, most, passages, &now.format(&self.zone));
            let schema = schema(&case);
            let data = marked(&case.data);
            let fits = data.len() <= self.endpoint.room(RULES, &schema, REPLY_TOKENS);
            if fits || passages == 0 && (most <= 1 || !query.options.is_empty()) {
                break (case, schema, data);
            }
            if passages > 0 {
                passages -= 1;
            } else {
                most -= 1;
            }
        };
        let task = Task {
            purpose: Purpose::Answers,
            rules: RULES,
            data,
            pictures: Vec::new(),
            schema,
            reply_tokens: REPLY_TOKENS,
        };
        let check = |said: &str| checked(said, &case, deliberation);
        self.endpoint.ask(&task, left, Urgency::Question, check).await
    }

    /// The best `most` proposals with their evidence, and the best `passages`; all evidence in order of time, as it happened.
    fn case<'a>(&self, deliberation: &'a Deliberation, most: usize, passages: usize, now: &str) -> Case<'a> {
        let proposals = &deliberation.proposals[..most];
        let own = proposals.iter().flat_map(|proposal| &proposal.evidence);
        let mut evidence: Vec<&Evidence> = own.chain(&deliberation.passages[..passages]).collect();
        evidence.sort_by_key(|item| (item.span.start, item.event));
        evidence.dedup_by_key(|item| item.event);
        let id = |event: EventId| {
            let place = evidence.iter().position(|item| item.event == event);
            place.map(|place| format!("e{}", place + 1))
        };
        let answers = proposals.iter().enumerate().map(|(number, proposal)| {
            let ids: Vec<String> = proposal.evidence.iter().filter_map(|item| id(item.event)).collect();
            json!({"id": format!("a{}", number + 1), "text": plain(&proposal.text), "evidence": ids})
        });
        let items = evidence.iter().enumerate().map(|(place, item)| {
            json!({
                "id": format!("e{}", place + 1),
                "at": item.span.start.format(&self.zone),
                "kind": item.kind.name(),
                "who": item.entity.as_deref().map(plain),
                "text": plain(&item.text),
            })
        });
        let (answers, items): (Vec<Value>, Vec<Value>) = (answers.collect(), items.collect());
        let data =
            json!({"now": now, "question": plain(&deliberation.question), "answers": answers, "evidence": items});
        Case { data, proposals: most, evidence, reads: passages > 0 }
    }
}

/// The schema of a verdict, in which an id that was not sent cannot be written.
fn schema(case: &Case<'_>) -> Value {
    let answers: Vec<String> = (1..=case.proposals).map(|number| format!("a{number}")).collect();
    let answers = answers.into_iter().chain(case.reads.then(|| READ.to_owned())).chain([NO_ANSWER.to_owned()]);
    let answers: Vec<String> = answers.collect();
    let evidence: Vec<String> = (1..=case.evidence.len()).map(|number| format!("e{number}")).collect();
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": answers},
            "evidence": {"type": "array", "items": {"type": "string", "enum": evidence}},
            "wording": {"type": "string"},
        },
        "required": ["answer", "evidence", "wording"],
        "additionalProperties": false,
    })
}

/// Reads a verdict, whatever the endpoint has checked. What is wrong is told to the model, which may answer once more.
fn checked(said: &str, case: &Case<'_>, deliberation: &Deliberation) -> Result<Decided, &'static str> {
    let verdict: Verdict = serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
    if verdict.answer == NO_ANSWER {
        return Ok(Decided::Declined);
    }
    let place = |id: &str, letter: char, most: usize| {
        let number: usize = id.strip_prefix(letter)?.parse().ok()?;
        (1..=most).contains(&number).then(|| number - 1)
    };
    let proposal = place(&verdict.answer, 'a', case.proposals);
    let reads = case.reads && verdict.answer == READ;
    if proposal.is_none() && !reads {
        return Err(VerdictError::NotProposed.message());
    }
    if verdict.evidence.is_empty() {
        return Err(VerdictError::NoEvidence.message());
    }
    let named = verdict.evidence.iter().map(|id| {
        let place = place(id, 'e', case.evidence.len()).ok_or(VerdictError::NotGiven.message())?;
        Ok(case.evidence[place].event)
    });
    let named = named.collect::<Result<Vec<EventId>, &'static str>>()?;
    match proposal {
        Some(proposal) => Ok(Decided::Chosen { proposal, named, wording: verdict.wording }),
        None => {
            let answer = deliberation.read(&named, &verdict.wording).map_err(VerdictError::message)?;
            Ok(Decided::Read(Box::new(answer)))
        }
    }
}
