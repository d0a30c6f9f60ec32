//! Answers that list what several events answer.

use super::{ReadEvent, ReadEvents};
use crate::index;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::summary::uncapitalised;
use crate::language::english::syntax::NounKind;
use crate::recall::answerers::parts::MAX_LIST_ITEMS;
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue};
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;

/// Minimum probability of an event relative to the best one whose words are listed with it.
const MIN_LISTED_SHARE: f32 = 0.2;
/// Log-odds by which an event that answers by itself may be less relevant than the best one and is listed all the same. The
/// probabilities compare the events, as if only one of them answered.
const LISTED_RELEVANCE_GAP: f32 = 2.0;
/// Minimum certainty of the words that are listed.
const MIN_LISTED_CERTAINTY: f32 = 0.3;

/// Returns whether a question asks for several things: "what drinks", "which tools", "what all".
fn asks_for_several(question: &Question<'_>) -> bool {
    let several = question.asked.class.as_ref().is_some_and(|class| class.plural && class.kind == NounKind::Common);
    let words = question.asked.words.windows(2);
    let (mut all, mut one_of) = (false, false);
    for pair in words {
        let wh = matches!(pair[0].text.as_str(), "what" | "who" | "where" | "which");
        all |= wh && pair[1].has_text("all");
        one_of |= matches!(pair[0].text.as_str(), "which" | "one") && pair[1].has_text("of");
    }
    matches!(question.ask(), AnswerKind::Thing | AnswerKind::Person) && (several || all) && !one_of
}

impl ReadEvents {
    /// Returns the answers of all events that answer about as well as the best one, where a question asks for several things:
    /// "what drinks did they bring?".
    pub(super) fn list(&self, question: &Question<'_>, known: f32) -> Option<Candidate> {
        let best = self.most_probable().next().filter(|_| asks_for_several(question))?;
        let mut listed: Vec<(&ReadEvent, String)> = Vec::new();
        let least = (best.extraction.relevance_alone - LISTED_RELEVANCE_GAP).max(0.0);
        let answers = |read: &&ReadEvent| {
            read.probability >= MIN_LISTED_SHARE * best.probability || read.extraction.relevance_alone >= least
        };
        for read in self.most_probable().filter(answers) {
            let (text, value, certainty) = read.answer(question);
            let words = index::words(&text).map(|word| index::stem(&word)).collect::<Vec<_>>();
            let is_known = listed.iter().any(|(_, other)| {
                let other: Vec<String> = index::words(other).map(|word| index::stem(&word)).collect();
                words.iter().all(|word| other.contains(word)) || other.iter().all(|word| words.contains(word))
            });
            let whole = text.contains(read.found.reading.event.text.trim_end_matches('.'));
            if matches!(value, CandidateValue::Text(_)) && certainty >= MIN_LISTED_CERTAINTY && !is_known && !whole {
                listed.push((read, text));
            }
        }
        if listed.len() < 2 || listed.iter().all(|(read, _)| read.found.id() != best.found.id()) {
            return None;
        }
        listed.truncate(MAX_LIST_ITEMS);
        listed.sort_by_key(|(read, _)| (read.found.span().start, read.found.id()));
        let items: Vec<String> = listed.iter().map(|(_, text)| uncapitalised(text)).collect();
        let mut evidence: Vec<RetrievedEvent> = vec![best.found.clone()];
        let others = listed.iter().map(|(read, _)| &read.found).filter(|found| found.id() != best.found.id());
        evidence.extend(others.cloned());
        let candidate = self.candidate(question, best, known);
        let reason = "words that answer the question, of several events".to_owned();
        Some(Candidate {
            text: capitalised(&join_list(&items)),
            value: CandidateValue::List(items),
            evidence,
            reason,
            ..candidate
        })
    }
}
