//! Parses questions: the kind of answer, the asking clause, and what places it in time.

mod alternatives;
mod antecedent;
mod asides;
mod compound;
mod cue;
mod ellipsis;
mod follow_up;
mod kind;
mod measuring;
mod offered;
mod rewording;
mod stage;

use std::ops::Range;

use self::alternatives::{asks_among_options, find_alternatives, mutual_order, quotations};
use self::antecedent::resolve_pronoun;
use self::asides::{asks_whether, leading_address, without_asides};
pub(crate) use self::compound::CompoundQuestion;
use self::cue::{addressee, preceding_statement, take_cue};
use self::ellipsis::complete_from_previous;
pub(crate) use self::follow_up::completed;
use self::kind::answer_kind;
pub(crate) use self::measuring::{Measure, Measuring, measuring_questions};
pub(crate) use self::offered::{OfferedThing, asked_of_each};
use self::rewording::{count_deed, reworded, without_tag};
pub(crate) use self::stage::{Stage, asked_stage};
use super::closed::is_one_of;
use super::lexicon::{self, PartOfSpeech};
use super::syntax::{Clause, NounKind, NounPhrase, Sentence, VerbGroup, parse};
use super::tag::{Tag, Word};

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// Where something is or happened.
    Place,
    /// When something was or will be.
    Time,
    /// Who did or is something.
    Person,
    /// Whose something is.
    Owner,
    /// A thing, of the named class if there is one.
    Thing,
    /// What somebody did.
    Action,
    /// How many there are.
    Count,
    /// How often something happened.
    Times,
    /// How much, how heavy, how full: a number with a unit.
    Amount,
    /// How long something lasted.
    Length,
    /// Yes or no.
    Truth,
    /// Why.
    Reason,
    /// How something is done.
    Way,
    /// The next step of an activity.
    Next,
    /// A summary.
    Summary,
    /// What has changed.
    Change,
    /// What something is like.
    Description,
}

/// Which of several occurrences is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrence {
    First,
    Last,
    /// The one before the last: "before that", "previously".
    Previous,
    /// Counted from 1.
    Nth(usize),
}

/// The order of two events in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    During,
    After,
    Before,
}

/// The event that places the answer in time: "after the bell rang".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cue {
    pub order: Order,
    /// Whether one directly follows the other.
    pub direct: bool,
    /// Byte range of the cue in the question.
    pub range: Range<usize>,
}

/// A comparison on a scale: "the highest fat", "longer", "most often".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// `true` for the most, `false` for the least.
    pub most: bool,
    /// What is compared: "calories", "often", "long". Empty if the comparative itself says it.
    pub scale_noun: String,
    /// Whether two are compared ("longer") instead of all ("longest").
    pub comparative: bool,
}

/// A question with its grammar.
#[derive(Debug, Clone)]
pub(crate) struct ParsedQuestion {
    pub words: Vec<Word>,
    pub sentences: Vec<Sentence>,
    pub ask: AnswerKind,
    /// The asking clause.
    pub clause: Clause,
    /// Byte range of the asking sentence without its cue.
    pub main: Range<usize>,
    pub cue: Option<Cue>,
    /// The class of the answer: "which tools", "what kind of animal".
    pub class: Option<NounPhrase>,
    /// Whether the answer is the subject of the verb, and not its object.
    pub subject_is_asked: bool,
    pub negated: bool,
    pub occurrence: Option<Occurrence>,
    pub scale: Option<Comparison>,
    /// Whether the question asks for what usually happens.
    pub habitual: bool,
    /// Byte ranges of the alternatives in the question: "Mira or Henrik".
    pub alternatives: Vec<Range<usize>>,
    /// Byte ranges of quotations.
    pub quotes: Vec<Range<usize>>,
    /// Whether the answer is one of the options as such: "which of these".
    pub among_options: bool,
    /// Byte range of the addressee: "Where have you been, Pip?" The question is not about them.
    pub addressee: Option<Range<usize>>,
    /// Byte range of a requested report ("the whole story") or turn ("whose turn is it to cook?"). The question is not
    /// about them.
    pub report: Option<Range<usize>>,
    /// Byte range of the thing that a pronoun of the asking clause stands for: "that metal bucket, where is it?"
    pub antecedent: Option<Range<usize>>,
}

/// Parses a question. `times` are the byte ranges of its time phrases.
pub(crate) fn parse_question(text: &str, times: &[Range<usize>]) -> ParsedQuestion {
    let plain = without_asides(text);
    let plain = plain.as_deref().unwrap_or(text);
    let untagged = without_tag(plain);
    let plain = untagged.as_deref().unwrap_or(plain);
    let plainer = reworded(plain);
    let (words, sentences) = parse(plainer.as_deref().unwrap_or(plain), times);
    let place = asking_sentence(&sentences, &words);
    let sentence = sentences.get(place).cloned().unwrap_or_default();
    let mutual = mutual_order(&words);
    let mut cue = take_cue(&words, &sentence).or_else(|| preceding_statement(&words, &sentences, place));
    cue = cue.filter(|_| mutual.is_none());
    let mut clause = asking_clause(&sentence, cue.as_ref());
    // "Can you tell me whether the stove is on?" asks what "is the stove on?" does.
    clause.inverted |= clause.asking.is_none() && asks_whether(text);
    // "What does she do every morning?": how often is no object.
    clause.objects.retain(|noun| !is_recurring(noun));
    let mut main = sentence.range.clone();
    split_predicate(&mut clause);
    count_deed(&mut clause);
    if let Some((whole, start)) = complete_from_previous(&clause, &sentences, place) {
        clause = whole;
        main.start = start;
    }
    // Sentences after the asking one are quoted.
    if place + 1 < sentences.len() && !sentence.asks {
        let end = sentences.last().map_or(main.end, |last| last.range.end);
        match &mut cue {
            Some(cue) if cue.range.end >= main.end => cue.range.end = end,
            _ => main.end = end,
        }
    }
    if let Some(cue) = &cue {
        // The cue is at one end; the rest is the asking clause.
        if cue.range.end <= main.start {
            // It stands in a sentence of its own.
        } else if cue.range.start <= main.start + 24 && cue.range.end < main.end && clause.range.start >= cue.range.end
        {
            main.start = cue.range.end;
        } else {
            main.end = cue.range.start;
        }
    }
    let called = addressee(&words, &main).or_else(|| leading_address(text));
    if let Some(called) = &called {
        clause.objects.retain(|noun| !called.contains(&noun.range.start));
        if called.start <= main.start {
            main.start = called.end;
        } else {
            main.end = called.start;
        }
    }
    let mut asked = ParsedQuestion {
        addressee: called,
        report: None,
        antecedent: None,
        ask: AnswerKind::Description,
        class: clause.asking.as_ref().and_then(|asking| asking.noun.clone()),
        subject_is_asked: asks_subject(&clause),
        negated: is_negated(&words, &main),
        occurrence: None,
        scale: None,
        habitual: is_habitual(&words),
        alternatives: Vec::new(),
        quotes: quotations(text),
        among_options: false,
        clause,
        main,
        cue,
        words,
        sentences,
    };
    asked.antecedent = resolve_pronoun(&mut asked);
    asked.class = antecedent_of_which(&asked.sentences, &asked.clause, asked.class.as_ref()).or(asked.class);
    asked.occurrence = find_occurrence(&asked.words).or_else(|| previous_state_occurrence(&asked.clause));
    asked.scale = find_comparison(&asked.words, &asked.main);
    asked.among_options = asks_among_options(&asked);
    asked.alternatives = find_alternatives(&asked);
    // "Into the hall, Vera or Ilse?": they are not beside the hall.
    let is_alternative = |noun: &NounPhrase| asked.alternatives.iter().any(|range| range.start == noun.range.start);
    let adjuncts = asked.clause.adjuncts.iter_mut().map(|adjunct| &mut adjunct.noun);
    for noun in asked.clause.objects.iter_mut().chain(adjuncts).filter(|noun| !is_alternative(noun)) {
        noun.also.retain(|also| !is_alternative(also));
    }
    if let Some((alternatives, order)) = mutual {
        asked.alternatives = alternatives.into();
        asked.occurrence = Some(order);
    }
    asked.ask = answer_kind(&mut asked);
    // "The shop is open, isn't it?" asks whether it is.
    if untagged.is_some() && asked.clause.asking.is_none() {
        asked.ask = AnswerKind::Truth;
    }
    asked
}

/// Splits adjacent subject and predicate: "is Ilse Anton's mother?".
fn split_predicate(clause: &mut Clause) {
    let be = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let alone = clause.objects.is_empty() && clause.complements.is_empty() && clause.adjuncts.is_empty();
    let Some(subject) = clause.subject.as_mut().filter(|_| be && alone && clause.inverted && clause.asking.is_none())
    else {
        return;
    };
    let Some(owner) = subject.owner.as_mut().filter(|owner| owner.kind == NounKind::Name) else { return };
    if owner.modifiers.len() != 1 {
        return;
    }
    let name = owner.modifiers.remove(0);
    let range = owner.range.start..owner.range.start + name.len();
    owner.range.start = range.end + 1;
    let mut what = subject.clone();
    what.range.start = range.end + 1;
    clause.subject = Some(NounPhrase { range, kind: NounKind::Name, ..NounPhrase::common_noun(&name) });
    clause.objects.push(what);
}

/// Returns the class of "which one?": the thing that the clause before it names. A mere "which?" is asked of several.
fn antecedent_of_which(sentences: &[Sentence], clause: &Clause, class: Option<&NounPhrase>) -> Option<NounPhrase> {
    let bare = match class {
        Some(class) => {
            matches!(class.head.as_str(), "one" | "ones") && class.modifiers.is_empty() && class.of.is_none()
        }
        None => clause.asking.as_ref().is_some_and(|asking| asking.word == "which"),
    };
    let before = sentences.iter().flat_map(|sentence| &sentence.clauses);
    let before = before.filter(|other| bare && other.range.end <= clause.range.start);
    let things = before.flat_map(|other| other.objects.iter().chain(&other.subject));
    things
        .filter(|noun| noun.kind == NounKind::Common && !noun.is_pronoun() && (class.is_some() || noun.plural))
        .max_by_key(|noun| noun.range.start)
        .cloned()
}

/// Returns whether a phrase names a frequency: "every morning".
fn is_recurring(noun: &NounPhrase) -> bool {
    matches!(noun.determiner.as_deref(), Some("every" | "each"))
        && lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(lexicon::Category::Time)
}

/// Returns the index of the asking sentence: the last one with a question mark and the form of a question, else one
/// that starts as a question (a question may quote several sentences), else a request, else the last one.
fn asking_sentence(sentences: &[Sentence], words: &[Word]) -> usize {
    let begins = |sentence: &Sentence| {
        let inside = words
            .iter()
            .filter(|word| word.range.start >= sentence.range.start && word.range.end <= sentence.range.end);
        let mut first = inside.skip_while(|word| {
            matches!(word.tag, Tag::Time | Tag::Mark | Tag::Conjunction | Tag::Preposition | Tag::Number)
        });
        first.next().is_some_and(|word| word.tag == Tag::Wh || matches!(word.tag, Tag::Auxiliary | Tag::Modal))
    };
    let asks = |sentence: &Sentence| {
        sentence.clauses.iter().any(|clause| clause.asking.is_some())
            || begins(sentence) && sentence.clauses.iter().any(|clause| clause.inverted)
    };
    let request = |sentence: &Sentence| {
        words
            .iter()
            .find(|word| word.range.start >= sentence.range.start)
            .is_some_and(|word| is_request_verb(&word.text))
    };
    let marked = sentences.iter().rposition(|sentence| sentence.asks && asks(sentence));
    marked
        .or_else(|| sentences.iter().position(|sentence| begins(sentence) && asks(sentence)))
        .or_else(|| sentences.iter().rposition(|sentence| sentence.asks))
        .or_else(|| sentences.iter().rposition(request))
        .unwrap_or(sentences.len().saturating_sub(1))
}

/// Returns whether a verb asks the listener to tell something.
pub(crate) fn is_request_verb(word: &str) -> bool {
    matches!(
        word,
        "tell"
            | "list"
            | "name"
            | "give"
            | "describe"
            | "summarise"
            | "summarize"
            | "show"
            | "say"
            | "explain"
            | "recap"
            | "sum"
            | "remind"
            | "count"
            | "report"
    )
}

/// Verbs that may stand before an indirect question: "do you know who that was?"
const VERBS_BEFORE_QUESTIONS: &[&str] = &[
    "know",
    "remember",
    "recall",
    "see",
    "hear",
    "guess",
    "think",
    "mean",
    "notice",
    "ask",
    "find",
    "happen",
    "mind",
    "learn",
    "understand",
    "believe",
    "suppose",
    "want",
    "figure",
    "work",
    "check",
    "let",
];

fn asking_clause(sentence: &Sentence, cue: Option<&Cue>) -> Clause {
    let in_cue = |clause: &&Clause| {
        cue.is_none_or(|cue| !(clause.range.start >= cue.range.start && clause.range.end <= cue.range.end))
    };
    let candidates: Vec<&Clause> = sentence.clauses.iter().filter(in_cue).collect();
    let asking = candidates.iter().copied().find(|clause| clause.asking.is_some());
    let inverted = candidates.iter().copied().find(|clause| clause.inverted);
    // "Has she returned what she borrowed?" asks whether she has.
    let encloses = |clause: &&Clause| {
        let reports = |verb: &VerbGroup| is_one_of(&verb.lemma, VERBS_BEFORE_QUESTIONS) || is_request_verb(&verb.lemma);
        asking.is_some_and(|asking| clause.range.start < asking.range.start)
            && clause.asking.is_none()
            && clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !reports(verb))
    };
    if let Some(whole) = inverted.filter(encloses) {
        return whole.clone();
    }
    let first_verb = candidates.iter().copied().find(|clause| clause.verb.is_some());
    // "Do you know what it was?" asks what it was; "Did you see who …" likewise.
    asking.or(inverted).or(first_verb).or(candidates.first().copied()).cloned().unwrap_or_default()
}

fn is_negated(words: &[Word], main: &Range<usize>) -> bool {
    words.iter().any(|word| {
        word.range.start >= main.start
            && word.range.end <= main.end
            && (word.tag == Tag::Not
                || matches!(word.text.as_str(), "no" | "without" | "neither" | "nobody" | "nothing" | "missing"))
    })
}

fn is_habitual(words: &[Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    (0..words.len()).any(|at| {
        matches!(
            text(at),
            "usually"
                | "normally"
                | "typically"
                | "generally"
                | "always"
                | "habit"
                | "habits"
                | "routine"
                | "tend"
                | "tends"
        ) || matches!((text(at), text(at + 1), text(at + 2)), ("in", "the", "mornings" | "evenings" | "afternoons"))
            || matches!(
                (text(at), text(at + 1)),
                ("at" | "on", "night" | "nights" | "weekends")
                    if text(at + 1) != "night"
            )
            || matches!(
                (text(at), text(at + 1)),
                ("every" | "each", "day" | "morning" | "evening" | "night" | "week" | "time" | "afternoon")
                    | ("as", "rule")
            )
            || matches!((text(at), text(at + 1)), ("like" | "likes" | "prefer" | "prefers" | "love" | "loves", "to"))
            || matches!((text(at), text(at + 1)), ("time", "of"))
    })
}

/// Returns the occurrence of "where had it been?": the state before the latest one.
fn previous_state_occurrence(clause: &Clause) -> Option<Occurrence> {
    let where_it_was = clause.asking.as_ref().is_some_and(|asking| asking.word == "where");
    let verb = clause.verb.as_ref().filter(|verb| verb.perfect && verb.past && verb.lemma == "be")?;
    (where_it_was && verb.auxiliary_only && clause.complements.is_empty()).then_some(Occurrence::Previous)
}

fn find_occurrence(words: &[Word]) -> Option<Occurrence> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let ends = |at: usize| words.get(at).is_none_or(|word| word.tag == Tag::Mark);
    for at in 0..words.len() {
        let noun_next = words.get(at + 1).is_some_and(|word| word.tag == Tag::Noun);
        match text(at) {
            // "The last car" and "the last time" name an occurrence; "last week" is a time phrase and not seen here.
            "last" | "latest" | "lately" | "finally" => return Some(Occurrence::Last),
            "recently" if text(at.wrapping_sub(1)) == "most" => return Some(Occurrence::Last),
            "recent" if text(at.wrapping_sub(1)) == "most" => return Some(Occurrence::Last),
            "first" | "earliest" | "initially" | "originally" => return Some(Occurrence::First),
            "previously" => return Some(Occurrence::Previous),
            // "Where was it before?", "where was it before that?"
            "before" if ends(at + 1) || text(at + 1) == "that" && ends(at + 2) => return Some(Occurrence::Previous),
            "second" if noun_next && text(at.wrapping_sub(1)) == "the" => return Some(Occurrence::Nth(2)),
            "third" if noun_next && text(at.wrapping_sub(1)) == "the" => return Some(Occurrence::Nth(3)),
            _ => {}
        }
    }
    None
}

/// Returns the superlative or comparative of the question.
fn find_comparison(words: &[Word], main: &Range<usize>) -> Option<Comparison> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for (at, word) in
        words.iter().enumerate().filter(|(_, word)| word.range.start >= main.start && word.range.end <= main.end)
    {
        let next = || words.get(at + 1).map_or(String::new(), |word| word.lemma.clone());
        // "Which of them cost more?"
        let behind = || at.checked_sub(1).and_then(|before| words.get(before)).map(|word| word.lemma.as_str());
        let plain = |most, comparative, of: &str| Some(Comparison { most, scale_noun: of.into(), comparative });
        match word.text.as_str() {
            "most" | "highest" | "greatest" | "largest" | "biggest"
                if text(at + 1) != "recent" && text(at + 1) != "recently" =>
            {
                return Some(Comparison { most: true, scale_noun: next(), comparative: false });
            }
            "least" | "lowest" | "smallest" | "fewest" if text(at.wrapping_sub(1)) != "at" => {
                return Some(Comparison { most: false, scale_noun: next(), comparative: false });
            }
            "longest" => return plain(true, false, "long"),
            "shortest" => return plain(false, false, "long"),
            "heaviest" => return plain(true, false, "weight"),
            "longer" if !matches!(text(at.wrapping_sub(1)), "any" | "no") => return plain(true, true, "long"),
            "shorter" => return plain(false, true, "long"),
            "higher" | "larger" | "bigger" | "fuller" | "greater" | "warmer" | "hotter" => {
                return plain(true, true, "");
            }
            "lower" | "smaller" | "emptier" | "colder" | "cooler" => return plain(false, true, ""),
            "cheaper" => return plain(false, true, "price"),
            "dearer" | "pricier" => return plain(true, true, "price"),
            "heavier" => return plain(true, true, "weight"),
            "lighter" => return plain(false, true, "weight"),
            "more" | "less" if text(at + 1) == "expensive" || matches!(behind(), Some("cost")) => {
                return plain(word.text == "more", true, "price");
            }
            "more" | "less" if matches!(behind(), Some("weigh")) => {
                return plain(word.text == "more", true, "weight");
            }
            "more" | "fewer" | "less" if text(at + 1) == "often" || text(at + 1) == "times" => {
                return plain(word.text == "more", true, "often");
            }
            _ => {}
        }
    }
    None
}

impl ParsedQuestion {
    /// Returns whether the asking sentence has hardly more than its question word: "How?", "What kind?"
    pub fn is_bare(&self) -> bool {
        self.clause.verb.is_none() && self.clause.subject.is_none() && self.clause.objects.is_empty()
    }

    /// Returns whether the verb of the asking clause is negated: "Did she not come?" Who asks "Didn't she come?" asks whether she
    /// came.
    pub fn has_negated_verb(&self) -> bool {
        self.clause.verb.as_ref().is_some_and(|verb| verb.negated) && !self.asks_for_confirmation()
    }

    /// Returns the words of a part of the question.
    pub fn words_in<'a>(&'a self, part: &'a Range<usize>) -> impl Iterator<Item = &'a Word> + Clone {
        self.words.iter().filter(|word| part.start <= word.range.start && word.range.end <= part.end)
    }

    /// Returns whether the question begins with a contracted negation: "isn't it late?".
    fn asks_for_confirmation(&self) -> bool {
        let mut words = self.words_in(&self.main).skip_while(|word| word.tag == Tag::Mark);
        let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
        let auxiliary = matches!(first.tag, Tag::Auxiliary | Tag::Modal);
        auxiliary && second.tag == Tag::Not && first.range.end == second.range.start
    }
}

/// Returns whether the question word is the subject: "who opened it?", "who had the key?".
fn asks_subject(clause: &Clause) -> bool {
    let Some(asking) = &clause.asking else { return false };
    let verb = clause.verb.as_ref();
    // What follows "who has" is what that one has.
    let has = verb.is_some_and(|verb| verb.auxiliary_only && verb.lemma == "have");
    // "Who do you know that sings?"
    let knows = verb.is_some_and(|verb| verb.lemma == "know") && !clause.objects.is_empty();
    clause.subject.is_none() || asking.word == "who" && (has && clause.objects.is_empty() || knows)
}
