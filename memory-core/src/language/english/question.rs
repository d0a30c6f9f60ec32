//! The grammar of questions: what kind of answer is wanted, of which clause, and what places it in time.

use std::ops::Range;

use super::closed::{BE, HAVE, MODALS, is_one_of};
use super::syntax::{Clause, NounPhrase, Sentence, parse};
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
}

/// Reads a question. `times` are its time phrases, in bytes.
pub(crate) fn understand(text: &str, times: &[Range<usize>]) -> Asked {
    let (words, sentences) = parse(text, times);
    let place = asking_sentence(&sentences, &words);
    let sentence = sentences.get(place).cloned().unwrap_or_default();
    let mut cue = cue(&words, &sentence).or_else(|| spoken_before(&words, &sentences, place));
    let clause = asking_clause(&sentence, cue.as_ref());
    let mut main = sentence.range.clone();
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
    let called = called(&words, &main);
    if let Some(called) = &called {
        if called.start <= main.start {
            main.start = called.end;
        } else {
            main.end = called.start;
        }
    }
    let mut asked = Asked {
        called,
        ask: Ask::Description,
        class: clause.asking.as_ref().and_then(|asking| asking.noun.clone()),
        subject_is_asked: clause.asking.is_some() && clause.subject.is_none(),
        negated: is_negated(&words, &main),
        occurrence: None,
        scale: None,
        habitual: is_habitual(&words),
        alternatives: Vec::new(),
        quotes: quotes(text),
        among_options: false,
        clause,
        main,
        cue,
        words,
        sentences,
    };
    asked.occurrence = occurrence(&asked.words);
    asked.scale = scale(&asked.words, &asked.main);
    asked.among_options = among_options(&asked);
    asked.alternatives = alternatives(&asked);
    asked.ask = kind(&mut asked);
    asked
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
fn is_request(word: &str) -> bool {
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

/// Takes the clause or phrase that places the question in time by another event.
fn cue(words: &[Word], sentence: &Sentence) -> Option<Cue> {
    let inside: Vec<usize> = (0..words.len())
        .filter(|at| words[*at].range.start >= sentence.range.start && words[*at].range.end <= sentence.range.end)
        .collect();
    let first = *inside.first()?;
    let last = *inside.last()?;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for at in inside.iter().copied() {
        let (order, length) = match (text(at), text(at + 1), text(at + 2)) {
            ("while" | "whilst" | "during" | "amid", ..) => (Order::During, 1),
            // "By when must it …" asks for the time.
            ("when", ..) if words.get(at + 1).is_some_and(|word| matches!(word.tag, Tag::Auxiliary | Tag::Modal)) => {
                continue;
            }
            ("when", ..) => (Order::During, 1),
            ("as", ..) if words[at].tag == Tag::Conjunction && text(at + 1) != "if" => (Order::During, 1),
            ("at" | "by", "the", "time") | ("at", "the", "moment") => (Order::During, 3),
            ("the", "moment" | "instant", _) if words.get(at + 2).is_some_and(|word| word.tag != Tag::Mark) => {
                (Order::During, 2)
            }
            ("after" | "following", ..) => (Order::After, 1),
            ("once", ..) if words[at].tag == Tag::Conjunction => (Order::After, 1),
            ("before", ..) => (Order::Before, 1),
            ("ahead", "of", _) | ("prior", "to", _) => (Order::Before, 2),
            _ => continue,
        };
        let from = at + length;
        // "before noon" is a time, "the day before", "before?" and "when?" place nothing.
        let next = words.get(from).filter(|_| from <= last)?;
        if matches!(next.tag, Tag::Time | Tag::Mark)
            || matches!(next.text.as_str(), "that" | "all" | "now") && from == last
        {
            continue;
        }
        let leading = inside.iter().take_while(|place| **place < at).all(|place| {
            matches!(words[*place].tag, Tag::Conjunction | Tag::Mark | Tag::Adverb | Tag::Time)
                || matches!(
                    words[*place].text.as_str(),
                    "right" | "just" | "between" | "from" | "on" | "at" | "to" | "in"
                )
        });
        let comma = (from..=last).filter(|place| words[*place].is(","));
        let end = if leading || at == first {
            // The cue ends at the comma before the words that ask.
            let asks = |place: usize| {
                let next = text(place + 1);
                words
                    .get(place + 1)
                    .is_some_and(|word| matches!(word.tag, Tag::Wh | Tag::Auxiliary | Tag::Modal | Tag::Preposition))
                    || is_request(next)
            };
            let Some(comma) = comma.clone().find(|place| asks(*place)).or_else(|| comma.clone().next()) else {
                continue;
            };
            comma
        } else {
            // A word that asks after a comma ends it, too.
            comma.clone().find(|place| words.get(place + 1).is_some_and(|word| word.tag == Tag::Wh)).unwrap_or(last + 1)
        };
        if text(at) == "when" && at == first && end > last {
            continue;
        }
        if end <= from {
            continue;
        }
        let before = at.checked_sub(1).map_or("", text);
        let direct = matches!(
            before,
            "right" | "directly" | "immediately" | "just" | "shortly" | "straight" | "soon" | "next" | "step" | "stop"
        ) || inside.iter().any(|place| matches!(text(*place), "next" | "directly" | "immediately"));
        return Some(Cue { order, direct, range: words[at].range.start..words[end - 1].range.end });
    }
    None
}

/// A statement before the question that places it: "People clapped. What did you see just then?"
fn spoken_before(words: &[Word], sentences: &[Sentence], place: usize) -> Option<Cue> {
    let sentence = sentences.get(place)?;
    let inside: Vec<&Word> = words
        .iter()
        .filter(|word| word.range.start >= sentence.range.start && word.range.end <= sentence.range.end)
        .collect();
    let has = |phrase: &[&str]| {
        inside.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(word, text)| word.is(text)))
    };
    let then = has(&["then"]) && !has(&["and", "then"])
        || has(&["that", "moment"])
        || has(&["that", "time"])
        || has(&["meanwhile"])
        || has(&["that", "point"]);
    let next = has(&["next"]) || has(&["afterwards"]) || has(&["after", "that"]);
    // Before the asking clause of the same sentence, behind a colon or a comma.
    let asks = inside.iter().position(|word| word.tag == Tag::Wh)?;
    let same =
        inside[..asks].iter().rposition(|word| matches!(word.text.as_str(), ":" | "," | "-")).filter(|mark| *mark >= 3);
    let range = match (same, place.checked_sub(1).and_then(|before| sentences.get(before))) {
        (Some(mark), _) if inside[..mark].iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary)) => {
            inside[0].range.start..inside[mark - 1].range.end
        }
        (_, Some(before)) if !before.asks => before.range.clone(),
        _ => return None,
    };
    let order = if next {
        Order::After
    } else if then {
        Order::During
    } else {
        return None;
    };
    Some(Cue { order, direct: true, range })
}

/// The name, with its comma, by which a question begins or ends.
fn called(words: &[Word], main: &Range<usize>) -> Option<Range<usize>> {
    let inside: Vec<&Word> =
        words.iter().filter(|word| main.start <= word.range.start && word.range.end <= main.end).collect();
    let spoken = match inside.split_last() {
        Some((last, rest)) if last.is("?") || last.is(".") => rest,
        _ => &inside,
    };
    // A list of names ends in a name, too: "Anna, Ben or Clara?".
    if spoken.iter().filter(|word| word.is(",")).count() != 1 || spoken.iter().any(|word| word.is("or")) {
        return None;
    }
    let is_name = |word: &Word| word.capital && matches!(word.tag, Tag::Name | Tag::Noun);
    match spoken {
        [.., comma, name] if comma.is(",") && is_name(name) => Some(comma.range.start..name.range.end),
        // Every sentence begins with a capital.
        [name, comma, ..] if comma.is(",") && name.tag == Tag::Name => Some(name.range.start..comma.range.end),
        _ => None,
    }
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
        ) || matches!(
            (text(at), text(at + 1)),
            ("every" | "each", "day" | "morning" | "evening" | "night" | "week" | "time" | "afternoon")
                | ("as", "rule")
        ) || matches!((text(at), text(at + 1)), ("like" | "likes" | "prefer" | "prefers" | "love" | "loves", "to"))
            || matches!((text(at), text(at + 1)), ("whose", "job") | ("time", "of"))
    })
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
            "more" | "fewer" | "less" if text(at + 1) == "often" || text(at + 1) == "times" => {
                return plain(word.text == "more", true, "often");
            }
            _ => {}
        }
    }
    None
}

/// "Which of these", "which of the following", "which one".
fn among_options(asked: &Asked) -> bool {
    let text = |at: usize| asked.words.get(at).map_or("", |word| word.text.as_str());
    (0..asked.words.len()).any(|at| {
        matches!((text(at), text(at + 1)), ("of", "these" | "those" | "them"))
            || matches!((text(at), text(at + 1), text(at + 2)), ("of", "the", "following"))
    })
}

/// The two or more things that "or" joins at the end of a question, or that a list names before a colon.
fn alternatives(asked: &Asked) -> Vec<Range<usize>> {
    let words = &asked.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let Some(or) = (0..words.len()).rev().find(|at| text(*at) == "or" && words[*at].range.start >= asked.main.start)
    else {
        // "Of the knife and the fork, which was first?"
        let of = (0..words.len()).find(|at| {
            text(*at) == "of" && (*at == 0 || words[at - 1].tag == Tag::Mark || words[at - 1].tag == Tag::Time)
        });
        if let Some(of) = of
            && let Some(comma) = (of..words.len())
                .find(|at| text(*at) == "," && words.get(at + 1).is_some_and(|word| word.tag == Tag::Wh))
            && let Some(and) = (of..comma).find(|at| text(*at) == "and")
        {
            return vec![
                words[of + 1].range.start..words[and - 1].range.end,
                words[and + 1].range.start..words[comma - 1].range.end,
            ];
        }
        // "The apple, the cat and the robot: which of them …"
        if let Some(colon) = (0..words.len()).find(|at| text(*at) == ":")
            && words.get(colon + 1).is_some_and(|word| word.tag == Tag::Wh)
            && words[..colon].iter().any(|word| word.is(","))
        {
            return pieces(words, 0, colon);
        }
        return Vec::new();
    };
    let ends = |at: &usize| *at > or && (matches!(text(*at), "?" | "." | ":" | ",") || words[*at].tag == Tag::Time);
    let end = (or..words.len()).find(ends).unwrap_or(words.len());
    let end = if text(end.wrapping_sub(1)) == "between" { end - 1 } else { end };
    // The list begins after the mark, the verb or the preposition before it.
    let mut start = or;
    while start > 0 {
        let word = &words[start - 1];
        let item = matches!(
            word.tag,
            Tag::Noun
                | Tag::Name
                | Tag::Adjective
                | Tag::Determiner
                | Tag::Owner
                | Tag::Possessive
                | Tag::Number
                | Tag::Time
                | Tag::Preposition
                | Tag::Pronoun
        );
        // A comma goes on a list inside the clause that asks; after a phrase that leads it in, it ends that phrase.
        let asked_before = |end: usize| {
            words[..end].iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal | Tag::Wh))
        };
        let goes_on = item || word.is(",") && start >= 2 && words[start - 2].is_nominal() && asked_before(start - 1);
        let verb_item = matches!(word.tag, Tag::Verb | Tag::Auxiliary)
            && (start..or).all(|at| !words[at].is(","))
            && asked.words[..start - 1].iter().any(|word| word.is(":"));
        if !goes_on && !verb_item {
            break;
        }
        start -= 1;
    }
    // "Was it Jonas or Leena?": a pronoun before the first item is the subject.
    let subject = |start: usize| {
        words[start].tag == Tag::Pronoun
            && words
                .get(start + 1)
                .is_some_and(|next| next.is_nominal() || matches!(next.tag, Tag::Determiner | Tag::Owner))
    };
    while start < or && subject(start) {
        start += 1;
    }
    // A preposition at the begin belongs to the question: "on Monday or Tuesday" keeps it, "between" does not.
    pieces(words, start, end)
}

/// The items of a list joined by commas, "and" and "or".
fn pieces(words: &[Word], start: usize, end: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = start;
    for at in start..=end.min(words.len()) {
        let cut = at == end.min(words.len()) || matches!(words[at].text.as_str(), "," | "or" | "and");
        if cut {
            if at > from {
                found.push(words[from].range.start..words[at - 1].range.end);
            }
            from = at + 1;
        }
    }
    if found.len() < 2 { Vec::new() } else { found }
}

fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for (at, mark) in text.char_indices().filter(|(_, c)| matches!(c, '"' | '“' | '”')) {
        match open.take() {
            Some(start) if at > start => found.push(start..at),
            _ => open = Some(at + mark.len_utf8()),
        }
    }
    found
}

/// The kind of answer.
fn kind(asked: &mut Asked) -> Ask {
    let texts: Vec<String> = asked.words.iter().map(|word| word.text.clone()).collect();
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    if any(&["summarise", "summarize", "summary", "recap", "overview"])
        || has(&["in", "short"])
        || has(&["in", "brief"])
        || has(&["short", "account"])
        || has(&["whole", "story"])
        || has(&["did", "i", "miss"])
        || has(&["have", "i", "missed"])
        || has(&["going", "on"]) && asked.clause.asking.is_some() && asked.cue.is_none()
        || has(&["up", "to"]) && has(&["been"]) && asked.clause.asking.is_some()
    {
        return Ask::Summary;
    }
    if has(&["what", "happened"])
        && asked.cue.is_none()
        && asked.clause.objects.is_empty()
        && asked.clause.adjuncts.is_empty()
    {
        return Ask::Summary;
    }
    if asked.subject_is_asked && asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "change") {
        return Ask::Change;
    }
    let changes =
        any(&["changed", "different", "changes"]) && !has(&["how", "many", "different"]) && !any(&["values", "by"])
            || has(&["what", "'s", "new"])
            || has(&["become", "of"])
            || has(&["became", "of"]);
    if changes
        && asked.clause.asking.as_ref().map_or(asked.clause.inverted || has(&["and", "how"]), |asking| {
            matches!(asking.word.as_str(), "what" | "how")
        })
    {
        return Ask::Change;
    }
    let Some(asking) = asked.clause.asking.clone() else {
        let first = asked.words.iter().find(|word| word.range.start >= asked.main.start && word.tag != Tag::Mark);
        if let Some(first) = first
            && is_request(&first.text)
        {
            // "List the towns", "describe the pet": the object is what is asked for.
            asked.class = asked.clause.objects.iter().find(|object| !object.is_pronoun()).cloned();
            let object = asked.class.as_ref().map_or("", |class| class.head.as_str());
            return match object {
                "colour" | "color" | "name" | "number" => Ask::Thing,
                "step" => Ask::Way,
                _ if first.is("describe") => Ask::Description,
                _ => Ask::Thing,
            };
        }
        if asked.clause.inverted
            || first.is_some_and(|word| {
                is_one_of(&word.text, BE)
                    || is_one_of(&word.text, HAVE)
                    || is_one_of(&word.text, MODALS)
                    || word.lemma == "do"
            })
        {
            return if asked.alternatives.len() > 1 { Ask::Thing } else { Ask::Truth };
        }
        return Ask::Description;
    };
    let noun = asking.noun.as_ref().map(|noun| noun.head.as_str()).unwrap_or_default();
    let verb = asked.clause.verb.as_ref().map(|verb| verb.lemma.clone()).unwrap_or_default();
    let verb = verb.as_str();
    match asking.word.as_str() {
        "who" | "whom" | "whoever" => Ask::Person,
        "whose" => Ask::Owner,
        "where" | "whereabouts" => Ask::Place,
        "when" => Ask::Time,
        "why" => Ask::Reason,
        "how" => match asking.degree.as_deref() {
            Some("often") => Ask::Times,
            Some("many") if matches!(noun, "time" | "occasion" | "visit" | "move") => Ask::Times,
            Some("many") => Ask::Count,
            Some("much") => Ask::Amount,
            Some("long") => Ask::Length,
            Some(
                "old" | "heavy" | "full" | "hot" | "warm" | "cold" | "far" | "high" | "tall" | "deep" | "wide" | "big"
                | "large" | "fast",
            ) => Ask::Amount,
            _ => {
                let subject = asked.clause.subject.as_ref().map(|subject| subject.head.as_str()).unwrap_or_default();
                let auxiliary = asked.clause.verb.as_ref().is_some_and(|verb| !verb.past && !verb.auxiliary_only);
                let anybody =
                    matches!(subject, "i" | "you" | "we" | "one" | "people" | "somebody" | "someone" | "anybody");
                if auxiliary && anybody || words.first() == Some(&"how") && words.get(1) == Some(&"to") {
                    Ask::Way
                } else {
                    Ask::Description
                }
            }
        },
        _ => {
            let class = class_of(asked, &asking, noun);
            match class.as_str() {
                "quantity" | "amount" | "weight" | "size" | "temperature" | "price" | "cost" | "length" | "height"
                | "age" | "percentage" | "level" | "volume" => Ask::Amount,
                "time" | "date" | "day" | "hour" | "year" | "month" | "weekday" | "evening" | "morning"
                | "afternoon" | "night" | "o'clock" | "moment" => Ask::Time,
                "place" | "room" | "location" | "spot" | "where" if !noun.is_empty() || verb == "be" => Ask::Place,
                "person" | "people" | "man" | "woman" | "child" | "family" | "visitor" => Ask::Person,
                "step" if has(&["come", "next"]) || any(&["next"]) => Ask::Next,
                _ if noun.is_empty() && has(&["what", "now"]) => Ask::Next,
                _ if noun.is_empty()
                    && (has(&["comes", "next"])
                        || has(&["come", "next"])
                        || has(&["next", "step"])
                        || has(&["do", "next"])) =>
                {
                    Ask::Next
                }
                _ if noun.is_empty()
                    && asked.clause.objects.is_empty()
                    && (verb == "do" || verb == "get" && any(&["done"])) =>
                {
                    Ask::Action
                }
                _ if has(&["what", "time"]) || has(&["what", "day"]) || has(&["what", "date"]) => Ask::Time,
                _ if noun.is_empty() && class.is_empty() && verb == "happen" => Ask::Action,
                _ => Ask::Thing,
            }
        }
    }
}

/// The noun that names the class of what is asked for, and puts it into `asked.class`.
fn class_of(asked: &mut Asked, asking: &super::syntax::Asking, noun: &str) -> String {
    // "What kind of animal", "which sort of tool".
    if matches!(noun, "kind" | "sort" | "type" | "part" | "piece" | "item" | "form" | "means" | "name")
        && let Some(of) = asking.noun.as_ref().and_then(|noun| noun.of.as_deref())
        && noun != "name"
    {
        asked.class = Some(of.clone());
        return of.head.clone();
    }
    if !noun.is_empty() {
        return noun.to_owned();
    }
    // "What is the ingredient with …", "what was the name of …": the subject of "be" is the class.
    // "What was the exact weight of the salt used …": a noun of measure.
    if let Some(subject) = asked.clause.subject.as_ref().filter(|subject| subject.of.is_some() && asking.word == "what")
        && matches!(
            subject.head.as_str(),
            "quantity"
                | "amount"
                | "weight"
                | "size"
                | "price"
                | "cost"
                | "length"
                | "height"
                | "age"
                | "volume"
                | "temperature"
        )
    {
        let head = subject.head.clone();
        asked.class = Some(subject.clone());
        return head;
    }
    let copula = asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    if copula && let Some(subject) = &asked.clause.subject {
        let head = subject.head.clone();
        if !subject.is_pronoun() && asked.clause.complements.is_empty() {
            asked.class = Some(subject.clone());
            return head;
        }
    }
    String::new()
}

impl Asked {
    /// Whether the verb of the asking clause is denied: "Did she not come?"
    pub fn negated_verb(&self) -> bool {
        self.clause.verb.as_ref().is_some_and(|verb| verb.negated)
    }
}
