//! The grammar of questions: what kind of answer is wanted, of which clause, and what places it in time.

mod alternatives;
mod asides;
mod cue;
mod ellipsis;
mod kind;

use std::ops::Range;

use self::alternatives::{asks_among_options, find_alternatives, quotations};
use self::asides::without_asides;
use self::cue::{addressee, preceding_statement, take_cue};
use self::ellipsis::complete_from_previous;
use self::kind::answer_kind;
use super::lexicon::{self, PartOfSpeech};
use super::syntax::{Clause, NounKind, NounPhrase, Sentence, parse};
use super::tag::{Tag, Word};

/// What kind of answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Where something is or happened.
    Place,
    /// When something was or will be.
    Time,
    /// Who did or is something.
    Person,
    /// Whose something is.
    Owner,
    /// A thing, of the class that the question names if it names one.
    Thing,
    /// What somebody did.
    Action,
    /// How many there are of something.
    Count,
    /// How often something happened.
    Times,
    /// How much, how heavy, how full: a number with a unit.
    Amount,
    /// How long something took or lasted.
    Length,
    /// Yes or no.
    Truth,
    /// Why.
    Reason,
    /// How something is done.
    Way,
    /// What comes next in something that is done.
    Next,
    /// A summary.
    Summary,
    /// What is different from before.
    Change,
    /// How something is or looks, and whatever else is told of it.
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

/// How two events lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    During,
    After,
    Before,
}

/// The event that places what is asked for: "after the bell rang".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cue {
    pub order: Order,
    /// Whether the one follows the other at once.
    pub direct: bool,
    /// Where the cue stands in the question, in bytes.
    pub range: Range<usize>,
}

/// A comparison along a scale: "the highest fat", "longer", "most often".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The most, or the least.
    pub most: bool,
    /// What is compared: "calories", "often", "long"; empty if the word itself says it.
    pub of: String,
    /// Between two ("longer") instead of all ("longest").
    pub comparative: bool,
}

/// A question, as its grammar tells it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub words: Vec<Word>,
    pub sentences: Vec<Sentence>,
    pub ask: Ask,
    /// The clause that asks.
    pub clause: Clause,
    /// Where the asking sentence stands, without its cue.
    pub main: Range<usize>,
    pub cue: Option<Cue>,
    /// The class of what is asked for: "which tools", "what kind of animal".
    pub class: Option<NounPhrase>,
    /// Whether what is asked for does what the verb says, or it is done to it.
    pub subject_is_asked: bool,
    pub negated: bool,
    pub occurrence: Option<Occurrence>,
    pub scale: Option<Scale>,
    /// Whether it asks for what usually happens.
    pub habitual: bool,
    /// "Mira or Henrik": the alternatives that the question itself names, in bytes.
    pub alternatives: Vec<Range<usize>>,
    /// What stands in quotes, in bytes.
    pub quotes: Vec<Range<usize>>,
    /// Whether the answer is one of the options as such: "which of these".
    pub among_options: bool,
    /// Whom the question calls by name, in bytes: "Where have you been, Pip?" That one is not what it is about.
    pub called: Option<Range<usize>>,
    /// The kind of report that it wants, in bytes: "the whole story" is not what it is about either, nor is the turn in "whose turn
    /// is it to cook?".
    pub report: Option<Range<usize>>,
}

/// Reads a question. `times` are its time phrases, in bytes.
pub(crate) fn understand(text: &str, times: &[Range<usize>]) -> Asked {
    let plain = without_asides(text);
    let plain = plain.as_deref().unwrap_or(text);
    let as_why = how_come(plain);
    let (words, sentences) = parse(as_why.as_deref().unwrap_or(plain), times);
    let place = asking_sentence(&sentences, &words);
    let sentence = sentences.get(place).cloned().unwrap_or_default();
    let mut cue = take_cue(&words, &sentence).or_else(|| preceding_statement(&words, &sentences, place));
    let mut clause = asking_clause(&sentence, cue.as_ref());
    // "What does she do every morning?": how often is no object.
    clause.objects.retain(|noun| !is_recurring(noun));
    let mut main = sentence.range.clone();
    is_what(&mut clause);
    if let Some((whole, start)) = complete_from_previous(&clause, &sentences, place) {
        clause = whole;
        main.start = start;
    }
    // What follows the sentence that asks is what it quotes.
    if place + 1 < sentences.len() && !sentence.asks {
        let end = sentences.last().map_or(main.end, |last| last.range.end);
        match &mut cue {
            Some(cue) if cue.range.end >= main.end => cue.range.end = end,
            _ => main.end = end,
        }
    }
    if let Some(cue) = &cue {
        // The cue stands at one end; what is left is what is asked.
        if cue.range.end <= main.start {
            // It stands in a sentence of its own.
        } else if cue.range.start <= main.start + 24 && cue.range.end < main.end && clause.range.start >= cue.range.end
        {
            main.start = cue.range.end;
        } else {
            main.end = cue.range.start;
        }
    }
    let called = addressee(&words, &main);
    if let Some(called) = &called {
        clause.objects.retain(|noun| !called.contains(&noun.range.start));
        if called.start <= main.start {
            main.start = called.end;
        } else {
            main.end = called.start;
        }
    }
    let mut asked = Asked {
        called,
        report: None,
        ask: Ask::Description,
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
    asked.class = asked.class.map(|class| one_of_them(&asked.sentences, &asked.clause, &class).unwrap_or(class));
    asked.occurrence = occurrence(&asked.words).or_else(|| had_been(&asked.clause));
    asked.scale = scale(&asked.words, &asked.main);
    asked.among_options = asks_among_options(&asked);
    asked.alternatives = find_alternatives(&asked);
    asked.ask = answer_kind(&mut asked);
    asked
}

/// "Is Ilse Anton's mother?": who is asked about and what they may be stand side by side.
fn is_what(clause: &mut Clause) {
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

/// What "which one?" asks for one of: the thing that the clause before it names.
fn one_of_them(sentences: &[Sentence], clause: &Clause, class: &NounPhrase) -> Option<NounPhrase> {
    let bare = matches!(class.head.as_str(), "one" | "ones") && class.modifiers.is_empty() && class.of.is_none();
    let before = sentences.iter().flat_map(|sentence| &sentence.clauses);
    let before = before.filter(|other| bare && other.range.end <= clause.range.start);
    let things = before.flat_map(|other| other.objects.iter().chain(&other.subject));
    things
        .filter(|noun| noun.kind == NounKind::Common && !noun.is_pronoun())
        .max_by_key(|noun| noun.range.start)
        .cloned()
}

/// "How come it is wet?" is "why it is wet?", as long.
fn how_come(text: &str) -> Option<String> {
    const HOW_COME: &str = "how come ";
    let at = text.to_ascii_lowercase().find(HOW_COME).filter(|at| text[..*at].trim().is_empty())?;
    Some(format!("{}why      {}", &text[..at], &text[at + HOW_COME.len()..]))
}

/// Whether a phrase says how often: "every morning".
fn is_recurring(noun: &NounPhrase) -> bool {
    matches!(noun.determiner.as_deref(), Some("every" | "each"))
        && lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(lexicon::Category::Time)
}

/// The sentence that asks: the last one with a question mark that has the form of a question, else one that begins as a
/// question (a question may quote several sentences), else a request, else the last.
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
        words.iter().find(|word| word.range.start >= sentence.range.start).is_some_and(|word| is_request(&word.text))
    };
    let marked = sentences.iter().rposition(|sentence| sentence.asks && asks(sentence));
    marked
        .or_else(|| sentences.iter().position(|sentence| begins(sentence) && asks(sentence)))
        .or_else(|| sentences.iter().rposition(|sentence| sentence.asks))
        .or_else(|| sentences.iter().rposition(request))
        .unwrap_or(sentences.len().saturating_sub(1))
}

/// Verbs that ask the listener to tell something.
pub(crate) fn is_request(word: &str) -> bool {
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

fn asking_clause(sentence: &Sentence, cue: Option<&Cue>) -> Clause {
    let in_cue = |clause: &&Clause| {
        cue.is_none_or(|cue| !(clause.range.start >= cue.range.start && clause.range.end <= cue.range.end))
    };
    let candidates: Vec<&Clause> = sentence.clauses.iter().filter(in_cue).collect();
    let asking = candidates.iter().copied().find(|clause| clause.asking.is_some());
    let inverted = candidates.iter().copied().find(|clause| clause.inverted);
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

/// "Where had it been?" asks for what was before what is told last.
fn had_been(clause: &Clause) -> Option<Occurrence> {
    let where_it_was = clause.asking.as_ref().is_some_and(|asking| asking.word == "where");
    let verb = clause.verb.as_ref().filter(|verb| verb.perfect && verb.past && verb.lemma == "be")?;
    (where_it_was && verb.auxiliary_only && clause.complements.is_empty()).then_some(Occurrence::Previous)
}

fn occurrence(words: &[Word]) -> Option<Occurrence> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for at in 0..words.len() {
        let noun_next = words.get(at + 1).is_some_and(|word| word.tag == Tag::Noun);
        match text(at) {
            // "The last car" and "the last time" name an occurrence; "last week" is a time phrase and not seen here.
            "last" | "latest" | "lately" => return Some(Occurrence::Last),
            "recently" if text(at.wrapping_sub(1)) == "most" => return Some(Occurrence::Last),
            "recent" if text(at.wrapping_sub(1)) == "most" => return Some(Occurrence::Last),
            "first" | "earliest" | "initially" | "originally" => return Some(Occurrence::First),
            "previously" => return Some(Occurrence::Previous),
            "before" if at + 1 >= words.len() || words.get(at + 1).is_some_and(|word| word.tag == Tag::Mark) => {
                return Some(Occurrence::Previous);
            }
            "second" if noun_next && text(at.wrapping_sub(1)) == "the" => return Some(Occurrence::Nth(2)),
            "third" if noun_next && text(at.wrapping_sub(1)) == "the" => return Some(Occurrence::Nth(3)),
            _ => {}
        }
    }
    None
}

/// A superlative or comparative of the question.
fn scale(words: &[Word], main: &Range<usize>) -> Option<Scale> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for (at, word) in
        words.iter().enumerate().filter(|(_, word)| word.range.start >= main.start && word.range.end <= main.end)
    {
        let next = || words.get(at + 1).map_or(String::new(), |word| word.lemma.clone());
        // "Which of them cost more?"
        let behind = || at.checked_sub(1).and_then(|before| words.get(before)).map(|word| word.lemma.as_str());
        let plain = |most, comparative, of: &str| Some(Scale { most, of: of.into(), comparative });
        match word.text.as_str() {
            "most" | "highest" | "greatest" | "largest" | "biggest"
                if text(at + 1) != "recent" && text(at + 1) != "recently" =>
            {
                return Some(Scale { most: true, of: next(), comparative: false });
            }
            "least" | "lowest" | "smallest" | "fewest" if text(at.wrapping_sub(1)) != "at" => {
                return Some(Scale { most: false, of: next(), comparative: false });
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

impl Asked {
    /// Whether the sentence that asks has hardly more than the word that asks: "How?", "What kind?"
    pub fn is_bare(&self) -> bool {
        self.clause.verb.is_none() && self.clause.subject.is_none() && self.clause.objects.is_empty()
    }

    /// Whether the verb of the asking clause is denied: "Did she not come?"
    pub fn negated_verb(&self) -> bool {
        self.clause.verb.as_ref().is_some_and(|verb| verb.negated)
    }
}

/// Whether the asking word is the subject: "who opened it?", "who had the key?".
fn asks_subject(clause: &Clause) -> bool {
    let Some(asking) = &clause.asking else { return false };
    let verb = clause.verb.as_ref();
    // What follows "who has" is what that one has.
    let has = verb.is_some_and(|verb| verb.auxiliary_only && verb.lemma == "have");
    // "Who do you know that sings?"
    let knows = verb.is_some_and(|verb| verb.lemma == "know") && !clause.objects.is_empty();
    clause.subject.is_none() || asking.word == "who" && (has && clause.objects.is_empty() || knows)
}
