//! Weighs options that name the topic of everything that was said, by the mean vector of all sentences.
//!
//! HippoMM's gist has a vector v of its whole segment (4.2.4). No single sentence states the topic of a talk, and the
//! sentence most similar to an option may be an aside. The mean of all sentences keeps what they have in common.

use super::words::{Speaks, softmax};
use super::{OptionVectors, OptionWeights};
use crate::language::english::closed::TOPIC_NOUNS;
use crate::language::english::lexicon;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::Tag;
use crate::recall::calibration;
use crate::recall::nearest::cosine;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::{Kind, Modality, ReadError};

/// Minimum number of sentences with a meaningful mean.
const MIN_SENTENCES: usize = 3;
/// Maximum number of sentences that are read, the latest ones.
const MAX_SENTENCES: usize = 500;
/// Maximum number of sentences that are shown as evidence, the nearest to the mean.
const MAX_EVIDENCE_SENTENCES: usize = 8;

/// Weighs the options of a question about a topic. Returns `None` for another question, and if too few sentences have a
/// vector.
pub(super) fn weigh_by_topic(
    pool: &EventPool<'_>,
    vectors: &[OptionVectors],
) -> Result<Option<OptionWeights>, ReadError> {
    let question = pool.question;
    if !asks_for_topic(question) || vectors.len() != question.query.options.len() {
        return Ok(None);
    }
    let said =
        pool.events_in_time_order(question.bound(), None, vec![Kind::Text], true, MAX_SENTENCES, &question.content)?;
    let known: Vec<(RetrievedEvent, Vec<f32>)> = said
        .into_iter()
        .filter_map(|found| unit_vector(&pool.reader.vector(found.id())?).map(|own| (found, own)))
        .collect();
    let Some(mean) = mean_vector(&known).filter(|_| known.len() >= MIN_SENTENCES) else { return Ok(None) };
    // Everything that was said counts as one matching event.
    let speaks = vectors.iter().map(|option| {
        let alone = cosine(&option.alone, &mean).unwrap_or(0.0).max(0.0);
        let joint = cosine(&option.joint, &mean).unwrap_or(0.0).max(0.0);
        Speaks { joint, joint_suited: joint, alone, alone_suited: alone, moment: joint, ..Speaks::default() }
    });
    let support =
        softmax(speaks.map(|speaks| calibration::option_logit(&speaks, false)).collect::<Vec<_>>().into_iter());
    let mut near: Vec<(f32, RetrievedEvent)> =
        known.into_iter().map(|(found, own)| (cosine(&own, &mean).unwrap_or(0.0), found)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id().cmp(&b.1.id())));
    let evidence = near.into_iter().take(MAX_EVIDENCE_SENTENCES).map(|(_, found)| found).collect();
    Ok(Some(OptionWeights { support, evidence, by: "all that was said", speaks: Vec::new() }))
}

/// Returns whether a question asks for the topic of everything that was said. A question that names something else
/// which the memory holds is about that.
fn asks_for_topic(question: &Question<'_>) -> bool {
    let main = &question.asked.main;
    let words = question.asked.words.iter();
    let mut inside = words.filter(|word| word.range.start >= main.start && word.range.end <= main.end);
    let is_topic = |lemma: &str| TOPIC_NOUNS.contains(&lemma);
    let last = inside.clone().next_back();
    let about = last.is_some_and(|word| word.has_text("about")) && question.speech == Some(true);
    if !about && !inside.any(|word| word.tag == Tag::Noun && is_topic(&word.lemma)) {
        return false;
    }
    let is_told = |noun: &NounPhrase| lexicon::is_a(&noun.head, "communication").is_some();
    let held = |noun: &NounPhrase| {
        let mut items = question.content.items.iter().filter(|item| item.documents > 0 && !item.light);
        items.any(|item| item.lemma == noun.head)
    };
    // "The subject of the letter", "Anna's theme".
    let parts = |noun: &NounPhrase| -> Vec<NounPhrase> {
        let of = std::iter::successors(Some(noun), |noun| noun.of.as_deref());
        of.flat_map(|noun| std::iter::once(noun).chain(noun.owner.as_deref())).cloned().collect()
    };
    let names_another = question
        .named
        .iter()
        .flat_map(parts)
        .any(|noun| !is_topic(&noun.head) && !is_told(&noun) && !noun.is_pronoun() && held(&noun));
    // Written text may be read aloud. A purely visual question has no sentences.
    let is_text = || question.named.iter().any(|noun| lexicon::is_a(&noun.head, "writing").is_some());
    let only_seen = question.sense == Some(Modality::Visual) && question.speech != Some(true) && !is_text();
    !names_another && !only_seen
}

fn unit_vector(vector: &[i16]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|component| f32::from(*component).powi(2)).sum::<f32>().sqrt();
    (length > 0.0).then(|| vector.iter().map(|component| f32::from(*component) / length).collect())
}

fn mean_vector(known: &[(RetrievedEvent, Vec<f32>)]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; known.first()?.1.len()];
    for (_, own) in known {
        sum.iter_mut().zip(own).for_each(|(sum, component)| *sum += component);
    }
    Some(sum)
}
