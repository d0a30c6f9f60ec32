//! Why words that the reader marks cannot answer: they are said of something else than what is asked.

use super::{FIRST_PERSON, ReadEvent};
use crate::Kind;
use crate::index;
use crate::language::english::closed::{SOURCE_PREPOSITIONS, is_one_of};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::time::Tense;
use crate::recall::answerers::parts::MIN_PERSON_SIMILARITY;
use crate::recall::answerers::roles::asks_identity;
use crate::recall::content::word_similarity;
use crate::recall::likeness::{best_phrase_similarity, is_owned_by_another, phrase_similarity};
use crate::recall::question::Question;
use crate::recall::reading::is_person;

/// Minimum similarity of a word for something that a picture shows.
const MIN_SHOWN_SIMILARITY: f32 = 0.5;

impl ReadEvent {
    /// Returns whether marked words cannot answer, by what they are said of.
    pub(super) fn tells_of_something_else(&self, question: &Question<'_>, marked: &str) -> bool {
        self.counts_something_else(question, marked)
            || self.places_something_else(question, marked)
            || self.places_another_thing(question, marked)
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

    /// Returns whether marked words say where another thing is than the one in question: "I took your keys, they're in the
    /// bowl" says nothing of where the rake is.
    fn places_another_thing(&self, question: &Question<'_>, marked: &str) -> bool {
        let reading = &self.found.reading;
        let thing =
            question.asked.clause.subject.as_ref().filter(|thing| {
                thing.kind == NounKind::Common && !is_person(thing) && question.ask() == AnswerKind::Place
            });
        let Some(thing) = thing else { return false };
        let Some(start) = reading.event.text.find(marked) else { return false };
        let clause = reading.clauses().find(|clause| clause.range.start <= start && start < clause.range.end);
        let subject = clause.and_then(|clause| clause.subject.as_ref()).filter(|subject| subject.is_pronoun());
        let meant = subject.and_then(|subject| reading.resolve(subject).filter(|it| !is_person(it)));
        // What is meant stands in the event itself.
        let meant = meant.filter(|meant| {
            let own = |noun: &NounPhrase| noun.range == meant.range && noun.head == meant.head;
            reading.clauses().flat_map(Clause::nouns).any(own)
        });
        meant.is_some_and(|meant| phrase_similarity(thing, &meant, reading) < MIN_SHOWN_SIMILARITY)
            && best_phrase_similarity(thing, reading) < MIN_SHOWN_SIMILARITY
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

    /// Returns whether a picture shows none of the things that a question for yes or no names: who drops a scarf says
    /// nothing of a telephone.
    pub(super) fn shows_nothing_of(&self, question: &Question<'_>) -> bool {
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

    /// Returns whether the event itself asks who did something with the thing in question.
    pub(super) fn asks_the_same(&self, question: &Question<'_>) -> bool {
        let reading = &self.found.reading;
        let asks_who = |clause: &&Clause| clause.asking.as_ref().is_some_and(|asking| asking.word == "who");
        let names = |noun: &NounPhrase| {
            question.named.iter().any(|asked| phrase_similarity(asked, noun, reading) >= MIN_PERSON_SIMILARITY)
        };
        let sentences = reading.sentences.iter().filter(|sentence| sentence.asks);
        question.ask() == AnswerKind::Person
            && sentences.flat_map(|sentence| &sentence.clauses).filter(asks_who).any(|clause| clause.nouns().any(names))
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

/// Returns whether words give no reason but what the question says itself.
fn repeats_question(question: &Question<'_>, marked: &str) -> bool {
    let reason = question.ask() == AnswerKind::Reason;
    let asked: Vec<String> = index::words(question.text).map(|word| index::stem(&word)).collect();
    let mut told = index::words(marked).filter(|word| !index::is_stop_word(word)).peekable();
    reason && told.peek().is_some() && told.all(|word| asked.contains(&index::stem(&word)))
}
