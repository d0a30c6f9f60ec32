//! Reports what an answer had to do without, as far as it matters for the question.

use super::Reader;
use super::pool::RetrievedEvent;
use super::question::Question;
use super::reading::is_person;
use crate::language::english::foreign::looks_english;
use crate::language::english::question::AnswerKind;
use crate::{AbsentRole, Modality, Origin, QuestionModality};

/// Returns what was not available for this answer: absent roles of its modalities, events without embeddings, and
/// events in a language that is not understood.
pub(super) fn degraded_reasons(
    question: &Question<'_>,
    evidence: &[RetrievedEvent],
    answered: bool,
    reader: &dyn Reader,
) -> Vec<String> {
    let mut missing = Vec::new();
    if !looks_english(question.text) {
        missing.push("language: the question does not look English; searched by words and meaning only".to_owned());
    }
    let perceived = evidence.iter().any(|found| found.reading.event.origin == Origin::Perceived);
    // Told evidence does not depend on the senses. Without an answer, a missing sense may be the reason.
    let senses = perceived || !answered && question.sense.is_some();
    let matters = |role: &&AbsentRole| match role.modality {
        None => true,
        Some(modality) => senses && role_matters(question, &role.role, modality),
    };
    missing.extend(reader.absent_roles().iter().filter(matters).map(|role| format!("{}: {}", role.role, role.reason)));
    let pending = reader.pending_embeddings();
    if pending > 0 && reader.embedder().is_some() {
        missing
            .push(format!("text embedding: pending for {pending} {}", if pending == 1 { "event" } else { "events" }));
    }
    missing
}

/// Returns whether a role of a modality would have helped the question.
fn role_matters(question: &Question<'_>, role: &str, modality: Modality) -> bool {
    let sense = match question.modality {
        QuestionModality::Audiovisual | QuestionModality::Gist => true,
        QuestionModality::Visual => modality == Modality::Visual,
        QuestionModality::Audio => modality == Modality::Audio,
    };
    let part = match role {
        "faces" | "face embedding" | "voice embedding" => asks_for_person(question),
        "sound events" => question.speech != Some(true),
        "speech recognition" => question.speech != Some(false),
        _ => true,
    };
    sense && part
}

pub(super) fn asks_for_person(question: &Question<'_>) -> bool {
    matches!(question.ask(), AnswerKind::Person | AnswerKind::Owner) || question.named.iter().any(is_person)
}
