//! The answer that the reader finds in one event, in words and as a value.

use std::ops::Range;

use super::{FIRST_PERSON, ReadEvent};
use crate::Kind;
use crate::index;
use crate::language::english::address::is_address;
use crate::language::english::closed::{SOURCE_PREPOSITIONS, is_one_of};
use crate::language::english::correction::{is_replaced, is_taken_back};
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::{AnswerKind, Stage};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::{Tag, lemma};
use crate::language::english::time::{Tense, say_moment};
use crate::ports::AnswerForm;
use crate::recall::answerers::parts::MIN_PERSON_SIMILARITY;
use crate::recall::answerers::quote::quotation;
use crate::recall::answerers::roles::asks_identity;
use crate::recall::candidate::CandidateValue;
use crate::recall::content::{verb_similarity, word_similarity};
use crate::recall::denial::tells_of_some;
use crate::recall::likeness::{best_phrase_similarity, is_owned_by_another, phrase_similarity};
use crate::recall::question::Question;
use crate::recall::reading::is_person;

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

/// Minimum similarity of a word for something that a picture shows.
const MIN_SHOWN_SIMILARITY: f32 = 0.5;
/// Minimum similarity of two verbs for one deed.
const MIN_DEED_SIMILARITY: f32 = 0.9;
/// Minimum similarity of two things for the one to which something is done.
const MIN_ACTED_ON_SIMILARITY: f32 = 0.8;
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
                let word = if yes >= no { "Yes" } else { "No" };
                let text = format!("{word}: {}", quoted());
                let certainty = yes.max(no) / (yes + no);
                let other =
                    self.shows_nothing_of(question) || yes >= no && tells_of_some(question, &self.found.reading);
                return (text, CandidateValue::Truth(yes >= no), if other { 0.0 } else { certainty });
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
                    Some(marked) => words(self.attributed(marked), certainty),
                    None => words(quoted(), 0.5),
                }
            }
        }
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

    /// Returns whether the event itself asks who did something with the thing in question.
    fn asks_the_same(&self, question: &Question<'_>) -> bool {
        let reading = &self.found.reading;
        let asks_who = |clause: &&Clause| clause.asking.as_ref().is_some_and(|asking| asking.word == "who");
        let names = |noun: &NounPhrase| {
            question.named.iter().any(|asked| phrase_similarity(asked, noun, reading) >= MIN_PERSON_SIMILARITY)
        };
        let sentences = reading.sentences.iter().filter(|sentence| sentence.asks);
        question.ask() == AnswerKind::Person
            && sentences.flat_map(|sentence| &sentence.clauses).filter(asks_who).any(|clause| clause.nouns().any(names))
    }

    /// Returns whether a picture shows none of the things that a question for yes or no names: who drops a scarf says
    /// nothing of a telephone.
    fn shows_nothing_of(&self, question: &Question<'_>) -> bool {
        let reading = &self.found.reading;
        let is_thing = |noun: &&NounPhrase| {
            let category = lexicon::category(&noun.head, PartOfSpeech::Noun);
            noun.kind == NounKind::Common
                && matches!(category, Some(Category::Artifact | Category::Food | Category::Plant))
        };
        let mut things = question.named.iter().filter(is_thing).peekable();
        let shown = |thing: &NounPhrase| {
            let near = |word: &str| word_similarity(&thing.head, word) >= MIN_SHOWN_SIMILARITY;
            reading.lemmas.iter().any(|(lemma, _)| near(lemma))
        };
        reading.event.kind == Kind::Caption && things.peek().is_some() && !things.any(shown)
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
        other.map_or(first, |(span, probability)| {
            (span, probability / (1.0 - extraction.span_probability).max(probability))
        })
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

    /// Returns whether marked words cannot answer, by what they are said of.
    fn tells_of_something_else(&self, question: &Question<'_>, marked: &str) -> bool {
        self.counts_something_else(question, marked)
            || self.places_something_else(question, marked)
            || self.names_somebody_else(question, marked)
            || self.names_source(question, marked)
            || self.names_place_left(question, marked)
            || self.tells_of_other_persons(question, marked)
            || is_owned_by_another(&question.named, &self.found.reading)
            || names_none_offered(question, marked)
            || repeats_question(question, marked)
    }

    /// Returns whether words name the place that something leaves, where a question asks where it is or went.
    fn names_place_left(&self, question: &Question<'_>, marked: &str) -> bool {
        let asked = &question.asked;
        let goes = asked.clause.verb.as_ref().is_some_and(|verb| {
            question.tense == Tense::Present && verb.lemma == "be"
                || is_one_of(&verb.lemma, &["go", "put", "take", "bring"])
        });
        let from = asked.words.iter().any(|word| word.has_text("from"));
        let reading = &self.found.reading;
        let mut left = reading.clauses().flat_map(|clause| &clause.adjuncts).filter(|adjunct| {
            is_one_of(&adjunct.preposition, SOURCE_PREPOSITIONS) && reading.phrase_text(&adjunct.noun) == marked
        });
        question.ask() == AnswerKind::Place && goes && !from && asked.cue.is_none() && left.next().is_some()
    }

    /// Returns whether a question names somebody of whom the event says nothing, and the words are said of somebody of
    /// another name: who turns six says nothing of when Ada was born.
    fn tells_of_other_persons(&self, question: &Question<'_>, marked: &str) -> bool {
        let reading = &self.found.reading;
        let is_name = |noun: &NounPhrase| noun.kind == NounKind::Name && is_person(noun) && is_only_name(&noun.head);
        // "The rug that Ada made" may be where Ida put it, and Ida may have moved Ada's.
        let subject = question.asked.clause.subject.as_ref();
        let owner = subject.and_then(|subject| subject.owner.as_deref());
        let asked: Vec<&NounPhrase> = subject.into_iter().chain(owner).filter(|noun| is_name(noun)).collect();
        let told = |person: &NounPhrase| {
            let word = |lemma: &str| reading.lemmas.iter().any(|(told, _)| told == lemma);
            person.coordinated().any(|one| one.lemmas().into_iter().any(word))
                || best_phrase_similarity(person, reading) >= MIN_PERSON_SIMILARITY
        };
        // Who speaks may tell of themselves without a name, or of others.
        let speaker = reading.entity_phrase();
        let speaks = |person: &NounPhrase| {
            let is = |noun: &NounPhrase| phrase_similarity(person, noun, reading) >= MIN_PERSON_SIMILARITY;
            let own = &reading.lemmas[..reading.own_words.min(reading.lemmas.len())];
            let named = own.iter().any(|(lemma, _)| person.lemmas().contains(&lemma.as_str()));
            speaker.as_ref().is_some_and(is) && !named && question.ask() == AnswerKind::Time
        };
        let told_of = asked.iter().any(|person| told(person) && !speaks(person));
        if asked.is_empty() || told_of || !question.role_names.is_empty() {
            return false;
        }
        let Some(start) = reading.event.text.find(marked) else { return false };
        let clause = reading.clauses().find(|clause| clause.range.start <= start && start < clause.range.end);
        let Some(clause) = clause else { return false };
        let of_speaker = clause.nouns().any(|noun| is_one_of(&noun.head, FIRST_PERSON));
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        !of_speaker && subject.is_some_and(|subject| is_name(&subject))
    }

    /// Returns whether who has something is asked for, and the words name from whom it was taken.
    fn names_source(&self, question: &Question<'_>, marked: &str) -> bool {
        let has = question.asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "have");
        let reading = &self.found.reading;
        let mut sources = reading.clauses().flat_map(|clause| &clause.adjuncts).filter(|it| it.preposition == "from");
        question.ask() == AnswerKind::Person && has && sources.any(|source| reading.phrase_text(&source.noun) == marked)
    }

    /// Returns whether marked words say where a thing is, where a person is asked for: "I bought salt, it's in the
    /// cupboard" says nothing of where its speaker is.
    fn places_something_else(&self, question: &Question<'_>, marked: &str) -> bool {
        let reading = &self.found.reading;
        let whom = question.asked.clause.subject.as_ref().filter(|whom| whom.kind == NounKind::Name && is_person(whom));
        let Some(whom) = whom.filter(|_| question.ask() == AnswerKind::Place) else { return false };
        let Some(start) = reading.event.text.find(marked) else { return false };
        let Some(clause) = reading.clauses().find(|clause| clause.range.start <= start && start < clause.range.end)
        else {
            return false;
        };
        // "It" and "they" of things.
        let of_thing = clause.subject.as_ref().is_some_and(|subject| match subject.is_pronoun() {
            true => {
                let meant = reading.resolve(subject).filter(|_| !is_one_of(&subject.head, FIRST_PERSON));
                meant.is_some_and(|meant| meant.kind == NounKind::Common && !is_person(&meant))
            }
            false => subject.kind == NounKind::Common && !is_person(subject),
        });
        let names = |noun: &NounPhrase| phrase_similarity(whom, noun, reading) >= MIN_PERSON_SIMILARITY;
        of_thing && !clause.nouns().any(names)
    }

    /// Returns whether a bare name is marked for who somebody of another name is, and no clause says that the one is the
    /// other.
    fn names_somebody_else(&self, question: &Question<'_>, marked: &str) -> bool {
        let Some(name) = asks_identity(question) else { return false };
        let reading = &self.found.reading;
        let is_other = |noun: &NounPhrase| {
            noun.kind == NounKind::Name
                && reading.phrase_text(noun) == marked
                && phrase_similarity(name, noun, reading) < MIN_PERSON_SIMILARITY
        };
        let is_called = |clause: &Clause| {
            clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" || verb.lemma == "call")
                && clause.nouns().any(|noun| phrase_similarity(name, noun, reading) >= MIN_PERSON_SIMILARITY)
        };
        let mut clauses = reading.clauses().filter(|clause| clause.nouns().any(is_other)).peekable();
        clauses.peek().is_some() && !clauses.any(is_called)
    }

    /// Returns whether marked words count things where persons or animals are counted, or the other way round: boxes are
    /// no number of people.
    fn counts_something_else(&self, question: &Question<'_>, marked: &str) -> bool {
        let Some(class) = question.asked.class.as_ref().filter(|_| question.ask() == AnswerKind::Count) else {
            return false;
        };
        let living = |noun: &NounPhrase| {
            let category = lexicon::category(&noun.head, PartOfSpeech::Noun);
            category.map(|category| matches!(category, Category::Person | Category::Animal | Category::Group))
        };
        let start = self.found.reading.event.text.find(marked).unwrap_or_default();
        let mut nouns = self.found.reading.clauses().flat_map(Clause::nouns);
        let counted = nouns.find(|noun| {
            noun.kind == NounKind::Common && start <= noun.range.start && noun.range.end <= start + marked.len()
        });
        counted.is_some_and(
            |counted| matches!((living(class), living(counted)), (Some(asked), Some(told)) if asked != told),
        )
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

/// Returns whether a word is a name and no noun of another meaning, as "grandad" is.
fn is_only_name(word: &str) -> bool {
    let is_noun = |word: &str| lexicon::category(word, PartOfSpeech::Noun).is_some();
    !is_noun(word) && !["grand", "gran"].iter().filter_map(|begin| word.strip_prefix(begin)).any(is_noun)
}

/// Returns whether a question offers persons, and words name none of them.
fn names_none_offered(question: &Question<'_>, marked: &str) -> bool {
    let offered = &question.asked.alternatives;
    let told: Vec<String> = index::words(marked).collect();
    question.ask() == AnswerKind::Person
        && offered.len() > 1
        && !offered.iter().any(|range| index::words(question.part(range)).any(|word| told.contains(&word)))
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

/// Returns whether words give no reason but what the question says itself.
fn repeats_question(question: &Question<'_>, marked: &str) -> bool {
    let reason = question.ask() == AnswerKind::Reason;
    let asked: Vec<String> = index::words(question.text).map(|word| index::stem(&word)).collect();
    let mut told = index::words(marked).filter(|word| !index::is_stop_word(word)).peekable();
    reason && told.peek().is_some() && told.all(|word| asked.contains(&index::stem(&word)))
}

/// Returns the lists of things in a clause, each from its first thing to its last: "marbles, a photo and a watch".
fn coordinations(clause: &Clause) -> impl Iterator<Item = Range<usize>> {
    let nouns = clause.objects.iter().chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun)).chain(&clause.subject);
    nouns.filter_map(|noun| {
        let last = noun.also.last()?;
        Some(noun.range.start..last.range.end.max(noun.range.end))
    })
}
