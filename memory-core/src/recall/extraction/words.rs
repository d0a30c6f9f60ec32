//! The answer that the reader finds in one event, in words and as a value.

use std::ops::Range;

use super::{FIRST_PERSON, ReadEvent};
use crate::index;
use crate::language::english::address::is_address;
use crate::language::english::closed::is_one_of;
use crate::language::english::correction::{is_replaced, is_taken_back, self_correction};
use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Stage};
use crate::language::english::states::state_of_word;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::{Tag, lemma};
use crate::language::english::time::{Tense, TimeRelation, ToldTime, say_moment, say_period};
use crate::ports::AnswerForm;
use crate::recall::answerers::counts::frequency_in;
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::CandidateValue;
use crate::recall::content::verb_similarity;
use crate::recall::corrections::stated_quantities;
use crate::recall::denial::tells_of_some;
use crate::recall::likeness::phrase_similarity;
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::recall::stance::{asked_predicate, is_intransitive, stance};
use crate::{Kind, TimeSpan, Timestamp};

/// Returns whether a question asks how something is done or went, or what changed: a sentence tells that, and not some of
/// its words. What something is like may be told by a word.
fn asks_for_account(question: &Question<'_>) -> bool {
    let is_like = question.asked.clause.verb.as_ref().is_some_and(|verb| {
        matches!(verb.lemma.as_str(), "be" | "look" | "feel" | "seem" | "sound" | "smell" | "taste")
    });
    match question.ask() {
        AnswerKind::Way | AnswerKind::Change => true,
        AnswerKind::Description => !is_like,
        _ => false,
    }
}

/// Minimum similarity of two verbs for one deed.
const MIN_DEED_SIMILARITY: f32 = 0.9;
/// Minimum similarity of two things for the one to which something is done.
const MIN_ACTED_ON_SIMILARITY: f32 = 0.8;
/// Words of times that mean another day when they are said on another day.
const RELATIVE_TIMES: &[&str] = &["today", "tonight", "tomorrow", "yesterday", "this", "next", "last", "ago"];
/// Minimum probability of a span that takes the place of one that is taken back.
const MIN_OTHER_SPAN: f32 = 0.001;

impl ReadEvent {
    /// Returns the answer in words and as a value, and the probability that these are the words.
    pub(super) fn answer(&self, question: &Question<'_>) -> (String, CandidateValue, f32) {
        let event = &self.found.reading.event;
        let quoted = || quotation(&self.found, question);
        if self.asks_the_same(question) {
            return (quoted(), CandidateValue::Text(quoted()), 0.0);
        }
        let words = |text: String, certainty: f32| (text.clone(), CandidateValue::Text(text), certainty);
        let probability = |form: AnswerForm| self.extraction.form_probability(form);
        if question.ask() == AnswerKind::Truth {
            let (yes, no) = (probability(AnswerForm::Yes), probability(AnswerForm::No));
            let others = [AnswerForm::Words, AnswerForm::Time, AnswerForm::Speaker, AnswerForm::Implied];
            if others.into_iter().all(|other| yes + no >= probability(other)) {
                // The reader knows that the sentence decides; which way, grammar may know better.
                let verdict = self.told_state(question).unwrap_or(yes >= no);
                let text = format!("{}: {}", if verdict { "Yes" } else { "No" }, quoted());
                let certainty = yes.max(no) / (yes + no);
                let other = self.shows_nothing_of(question) || verdict && tells_of_some(question, &self.found.reading);
                return (text, CandidateValue::Truth(verdict), if other { 0.0 } else { certainty });
            }
        }
        let form = self.form(question.ask());
        match form {
            AnswerForm::Time => {
                let text = capitalised(&say_moment(event.span.start, &question.now));
                (text, CandidateValue::Times(vec![event.span]), probability(form))
            }
            AnswerForm::Speaker if event.entity.is_some() => {
                words(event.entity.clone().unwrap_or_default(), probability(form))
            }
            AnswerForm::Yes | AnswerForm::No | AnswerForm::Speaker | AnswerForm::Implied => words(quoted(), 0.5),
            AnswerForm::Words => {
                let (span, certainty) = self.span_that_holds(question);
                match self.marked_words(question, span) {
                    Some(own) if FIRST_PERSON.contains(&own.to_lowercase().as_str()) && event.entity.is_some() => {
                        words(event.entity.clone().unwrap_or_default(), certainty)
                    }
                    Some(marked) if self.other_actor(question, marked).is_some() => {
                        words(self.other_actor(question, marked).unwrap_or_default(), certainty)
                    }
                    Some(marked) if self.tells_of_something_else(question, marked) => {
                        words(self.attributed(marked), 0.0)
                    }
                    Some(_) if asks_for_account(question) => words(quoted(), certainty),
                    Some(marked) => match (self.named_day(question, marked), self.frequency(question, marked)) {
                        (Some(span), _) => {
                            let text = capitalised(&say_period(span, &question.now));
                            (text, CandidateValue::Times(vec![span]), certainty)
                        }
                        (None, Some(often)) => words(capitalised(&often), certainty),
                        (None, None) => words(self.attributed(marked), certainty),
                    },
                    None => words(quoted(), 0.5),
                }
            }
        }
    }

    /// Returns the verdict that the grammar of a statement gives on the state in question: "it is broken again, it doesn't heat"
    /// does not deny that it is broken.
    fn told_state(&self, question: &Question<'_>) -> Option<bool> {
        let (clause, reading) = (&question.asked.clause, &self.found.reading);
        let thing = clause.subject.as_ref().filter(|thing| !is_person(thing) && !thing.is_pronoun())?;
        let is =
            clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only || verb.passive) && is_intransitive(clause);
        let state = asked_predicate(clause, question).filter(|word| is && state_of_word(word).is_some())?;
        // In the very word that is asked for: of others the reader knows more.
        let same = reading.lemmas.iter().any(|(lemma, _)| *lemma == state)
            || index::words(&reading.event.text).any(|word| word == state);
        let told = same && reading.event.kind == Kind::Text && question.tense == Tense::Present;
        let holds = stance(&state, thing, clause, reading).filter(|_| told)?;
        Some(holds != question.asked.has_negated_verb())
    }

    /// Returns the whole frequency that marked words cut: "two pills a day" of "a day".
    fn frequency(&self, question: &Question<'_>, marked: &str) -> Option<String> {
        let often = question.ask() == AnswerKind::Times && question.tense != Tense::Past;
        let whole = frequency_in(&self.found.reading.event.text).filter(|_| often)?;
        let unit = index::words(&whole).last()?;
        (index::words(marked).any(|word| word == unit) && !marked.contains(&whole)).then_some(whole)
    }

    /// Returns the day that marked words name by the day on which they were said, if that is not today: "tomorrow" of
    /// yesterday is today.
    fn named_day(&self, question: &Question<'_>, marked: &str) -> Option<TimeSpan> {
        let reading = &self.found.reading;
        let said = |at: Timestamp| at.to_jiff().to_zoned(question.now.time_zone().clone()).date();
        if question.ask() != AnswerKind::Time || said(reading.event.span.start) == question.now.date() {
            return None;
        }
        let start = reading.event.text.find(marked)?;
        let of_text = |time: &&ToldTime| time.range == (start..start + marked.len());
        let time = reading.times.iter().find(of_text)?;
        let relative = index::words(marked).any(|word| is_one_of(&word, RELATIVE_TIMES));
        (relative && time.has_date && time.relation == TimeRelation::At).then_some(time.span)
    }

    /// Returns who does the deed in question by the grammar of the event, if the marked words name somebody else: "Ben is
    /// working then, so I'll take her" tells that its speaker does.
    fn other_actor(&self, question: &Question<'_>, marked: &str) -> Option<String> {
        let reading = &self.found.reading;
        let asked = &question.asked.clause;
        let person = question.ask() == AnswerKind::Person && question.asked.subject_is_asked;
        let verb = asked.verb.as_ref().filter(|verb| person && !verb.auxiliary_only && !verb.negated)?;
        let object = asked.objects.first().filter(|object| !object.is_pronoun())?;
        let same = |told: &NounPhrase| {
            let meant = reading.resolve(told);
            meant.is_some_and(|meant| phrase_similarity(object, &meant, reading) >= MIN_ACTED_ON_SIMILARITY)
        };
        let does = |clause: &&Clause| {
            let told = clause.verb.as_ref().filter(|told| !told.negated && !told.passive);
            told.is_some_and(|told| verb_similarity(verb, told) >= MIN_DEED_SIMILARITY)
                && clause.objects.iter().any(same)
        };
        let named = |noun: &NounPhrase| noun.kind == NounKind::Name && reading.phrase_text(noun) == marked;
        let clause = reading.clauses().find(does)?;
        let subject = clause.subject.as_ref().filter(|subject| is_one_of(&subject.head, &["i", "we"]))?;
        let other = reading.clauses().flat_map(Clause::nouns).any(named) && !clause.nouns().any(named);
        reading.event.entity.clone().filter(|_| other && subject.also.is_empty())
    }

    /// Returns the most probable form of an answer of a kind: who did it is no time, and when it was no person.
    fn form(&self, kind: AnswerKind) -> AnswerForm {
        let excluded = match kind {
            AnswerKind::Person | AnswerKind::Owner => Some(AnswerForm::Time),
            AnswerKind::Time => Some(AnswerForm::Speaker),
            AnswerKind::Place | AnswerKind::Count | AnswerKind::Amount => Some(AnswerForm::Time),
            _ => None,
        };
        match self.extraction.form() {
            form if Some(form) != excluded => form,
            _ => AnswerForm::ALL.into_iter().filter(|form| Some(*form) != excluded).fold(
                AnswerForm::Words,
                |best, other| {
                    if self.extraction.form_probability(other) > self.extraction.form_probability(best) {
                        other
                    } else {
                        best
                    }
                },
            ),
        }
    }

    /// Returns the most probable span that its own event does not take back ("the 28th, not the 26th"), and its
    /// probability among those.
    fn span_that_holds(&self, question: &Question<'_>) -> (Range<usize>, f32) {
        let extraction = &self.extraction;
        let first = (extraction.span.clone(), extraction.span_probability);
        if question.asks_former_plan() || question.stage == Some(Stage::First) {
            return self.span_replaced().map_or(first, |span| (span, extraction.span_probability));
        }
        if question.asked.negated {
            return first;
        }
        let reading = &self.found.reading;
        let holds = |span: &Range<usize>| {
            span.start < self.spoken_from
                || !is_taken_back(
                    &reading.event.text,
                    &reading.sentences,
                    span.start - self.spoken_from..span.end.saturating_sub(self.spoken_from),
                )
        };
        let mut others = extraction.other_spans.iter().filter(|(_, probability)| *probability >= MIN_OTHER_SPAN);
        if holds(&first.0) {
            return first;
        }
        let other = others.find(|(span, _)| span.start >= self.spoken_from && holds(span)).cloned();
        if let Some((span, probability)) = other {
            return (span, probability / (1.0 - extraction.span_probability).max(probability));
        }
        self.span_put_right(question).map_or(first, |span| (span, extraction.span_probability))
    }

    /// Returns the number or the time with which the speaker puts an earlier one right: "that's six jars. No, hang on,
    /// eight".
    fn span_put_right(&self, question: &Question<'_>) -> Option<Range<usize>> {
        let reading = &self.found.reading;
        let from = self_correction(&reading.event.text, &reading.sentences)?;
        let range = match question.ask() {
            AnswerKind::Count | AnswerKind::Amount => {
                let mut told = stated_quantities(reading).into_iter().map(|quantity| quantity.range);
                told.find(|range| range.start >= from)?
            }
            AnswerKind::Time => reading.times.iter().map(|time| &time.range).find(|range| range.start >= from)?.clone(),
            _ => return None,
        };
        Some(range.start + self.spoken_from..range.end + self.spoken_from)
    }

    /// Returns what an event names something else for: the roast of "soup instead of the roast".
    fn span_replaced(&self) -> Option<Range<usize>> {
        let reading = &self.found.reading;
        let replaced = |range: &Range<usize>| is_replaced(&reading.event.text, &reading.sentences, range);
        let nouns = reading.clauses().flat_map(Clause::nouns).filter(|noun| !noun.is_pronoun());
        let nouns = nouns.map(|noun| noun.range.clone());
        let mut ranges = nouns.chain(reading.times.iter().map(|time| time.range.clone()));
        let range = ranges.find(replaced)?;
        Some(range.start + self.spoken_from..range.end + self.spoken_from)
    }

    /// Returns words of the event as an answer. Who "I" is must be said.
    fn attributed(&self, marked: &str) -> String {
        let third = self.found.reading.in_third_person(marked);
        let speaks_of_speaker = index::words(&third).any(|word| FIRST_PERSON.contains(&word.as_str()));
        let words = capitalised(if speaks_of_speaker { marked } else { &third });
        match self.found.reading.event.entity.as_deref().filter(|_| speaks_of_speaker) {
            Some(speaker) => format!("{speaker}: {words}"),
            None => words,
        }
    }

    /// Returns the marked words of the event, without marks at their ends. `None` if the speaker is marked, or nothing.
    fn marked_words(&self, question: &Question<'_>, span: Range<usize>) -> Option<&str> {
        let Range { start, end } = span;
        let event = &self.found.reading.event;
        if start < self.spoken_from {
            return event.entity.as_deref().filter(|_| end <= self.spoken_from);
        }
        let marked = start - self.spoken_from..end.checked_sub(self.spoken_from)?;
        let whole = self.with_whole_phrases(marked, question);
        let marked = event.text.get(self.without_cut_article(whole))?;
        let marked = without_reason(question, marked);
        let marked = marked.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | ';' | ':' | '!' | '?'));
        (!marked.is_empty()).then_some(marked)
    }

    /// Returns words without an article whose noun they do not reach: "steel", and not "a steel", of "a steel kettle".
    fn without_cut_article(&self, marked: Range<usize>) -> Range<usize> {
        let reading = &self.found.reading;
        let Some((article, rest)) = reading.text(&marked).split_once(' ') else { return marked };
        let is_cut = |noun: &NounPhrase| {
            let reached = index::words(rest).any(|word| lemma(&word, Tag::Noun) == noun.head);
            noun.range.start == marked.start && marked.end < noun.range.end && !reached
        };
        let cut = is_one_of(&article.to_lowercase(), &["a", "an", "the"]);
        match cut && reading.clauses().flat_map(Clause::nouns).any(is_cut) {
            true => marked.end - rest.len()..marked.end,
            false => marked,
        }
    }

    /// Extends words to the noun phrases, the lists and the time phrases that they begin or end in: "half past two" to "Friday
    /// at half past two", "beard" to "a plaited beard", "marbles" to "marbles and a photo". Not over words of the question,
    /// which asks for what is beside them.
    fn with_whole_phrases(&self, marked: Range<usize>, question: &Question<'_>) -> Range<usize> {
        let reading = &self.found.reading;
        let asked: Vec<String> = index::words(question.text).map(|word| index::stem(&word)).collect();
        let is_new = |range: Range<usize>| {
            let added = reading.event.text.get(range).unwrap_or_default();
            index::words(added).all(|word| index::is_stop_word(&word) || !asked.contains(&index::stem(&word)))
        };
        let phrases = reading.clauses().flat_map(Clause::nouns).map(|noun| noun.range.clone());
        let mut whole = marked.clone();
        let all = matches!(question.ask(), AnswerKind::Thing | AnswerKind::Action);
        // Figures alone ("90 g of barley: 110 kcal, 6 g protein") are no list that answers: it would quote the event.
        let text = reading.event.text.trim_end_matches('.').len();
        // "Papa, my tooth fell out" lists nothing.
        let listed = |list: &Range<usize>| {
            let first = reading.clauses().flat_map(Clause::nouns).find(|noun| noun.range.start == list.start);
            !first.is_some_and(|first| is_address(&reading.event.text, &first.range))
        };
        let lists = reading.clauses().flat_map(coordinations).filter(listed).filter(|list| all && list.len() < text);
        for phrase in lists.chain(phrases).chain(reading.times.iter().map(|time| time.range.clone())) {
            if phrase.start < marked.start && marked.start < phrase.end && is_new(phrase.start..marked.start) {
                whole.start = whole.start.min(phrase.start);
            }
            if phrase.start < marked.end && marked.end < phrase.end && is_new(marked.end..phrase.end) {
                whole.end = whole.end.max(phrase.end);
            }
        }
        whole
    }
}

/// Returns what of the words answers: the reason they give, or what they give a reason for. "In the loft because of the mice"
/// tells where, and why.
fn without_reason<'t>(question: &Question<'_>, marked: &'t str) -> &'t str {
    let Some(at) = marked.find(" because ") else { return marked };
    match question.ask() {
        AnswerKind::Reason => marked[at..].trim_start(),
        AnswerKind::Place | AnswerKind::Time | AnswerKind::Person => &marked[..at],
        _ => marked,
    }
}

/// Returns the lists of things in a clause, each from its first thing to its last: "marbles, a photo and a watch".
fn coordinations(clause: &Clause) -> impl Iterator<Item = Range<usize>> {
    let nouns = clause.objects.iter().chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun)).chain(&clause.subject);
    nouns.filter_map(|noun| {
        let last = noun.also.last()?;
        Some(noun.range.start..last.range.end.max(noun.range.end))
    })
}
