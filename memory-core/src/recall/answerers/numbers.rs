//! Answers with told numbers of counted things: one number, a sum, or a difference.

use crate::TimeSpan;
use crate::language::english::lexicon::scales::is_unit;
use crate::language::english::syntax::{Clause, NounKind};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::relevant_clauses;
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments};

/// Similarity below which another thing is counted.
const MIN_COUNTED_SIMILARITY: f32 = 0.55;
/// Minimum match of a number relative to the best one.
const MIN_RELATIVE_MATCH: f32 = 0.8;
/// Factor for a number in another clause than the relevant one.
const OTHER_CLAUSE_FACTOR: f32 = 0.8;
/// Maximum number of events whose numbers are read.
const MAX_CANDIDATES: usize = 24;
/// Minimum match of an event that states the number of the only thing which a question names.
const MIN_ONLY_THING_MATCH: f32 = 0.5;
/// Minimum match of a number that is an answer.
const MIN_MATCH: f32 = 0.4;

/// A number of an event with its match.
struct ToldNumber<'p> {
    number: f64,
    rank: f32,
    found: &'p RetrievedEvent,
    /// All numbers of the event that count the same thing: "I had two, and Ben had three".
    all: Vec<f64>,
}

/// Answers with the told number of `head`.
pub(super) fn answer(pool: &EventPool<'_>, pooled: &[RetrievedEvent], head: &str) -> Option<Candidate> {
    let question = pool.question;
    let mut told: Vec<ToldNumber<'_>> =
        pooled.iter().take(MAX_CANDIDATES).filter_map(|found| best_number(question, found, head)).collect();
    // Things are counted in whole numbers and halves; "7.4" is what one of them says.
    let counts = |number: f64| (number * 2.0).fract() == 0.0;
    told.retain(|one| is_unit(head) || counts(one.number));
    told.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    let best = told.first().map(|told| told.rank).filter(|rank| *rank >= MIN_MATCH)?;
    told.retain(|one| one.rank >= MIN_RELATIVE_MATCH * best);
    let candidate = |number: f64, told: &[&ToldNumber<'_>], text: String, reason: &str| {
        let found = told[0].found;
        let shown = |other: &&RetrievedEvent| told.iter().all(|told| told.found.id() != other.id());
        let mut evidence: Vec<RetrievedEvent> = told.iter().map(|told| told.found.clone()).collect();
        evidence.extend(pooled.iter().filter(shown).cloned());
        Candidate {
            layer: Layer::Episodes,
            text,
            value: CandidateValue::Number(number, String::new()),
            signals: Signals {
                coverage: found.coverage.of_content,
                cosine: found.cosine.unwrap_or(0.0),
                margin: super::times::rank_margin(pooled),
                fits: 1.0,
                thing: 1.0,
                known: question.content.known_share(),
            },
            evidence,
            confidence: 0.0,
            computed: false,
            reason: reason.into(),
        }
    };
    if let Some((more, fewer)) = compared_times(question) {
        let within = |span: TimeSpan| told.iter().find(|told| told.found.span().overlaps(span));
        let (first, second) = (within(more)?, within(fewer)?);
        let difference = first.number - second.number;
        let text = match difference {
            0.0 => "As many".to_owned(),
            difference if difference > 0.0 => format!("{difference} more"),
            difference => format!("{} fewer", -difference),
        };
        return Some(candidate(difference, &[first, second], text, "the difference of what was told"));
    }
    if asks_sum(question) && (told.len() > 1 || told[0].all.len() > 1) {
        told.sort_by_key(|told| (told.found.span().start, told.found.id()));
        let sum = told.iter().flat_map(|told| &told.all).sum();
        let all: Vec<&ToldNumber<'_>> = told.iter().collect();
        let of_several = all.len() > 1;
        let sum = candidate(sum, &all, format!("{sum}"), "the sum of what was told");
        return Some(Candidate { computed: of_several, ..sum });
    }
    let best = told.first()?;
    Some(candidate(best.number, &[best], format!("{}", best.number), "a number that was told"))
}

/// Returns the best matching number of an event.
fn best_number<'p>(question: &Question<'_>, found: &'p RetrievedEvent, head: &str) -> Option<ToldNumber<'p>> {
    let reading = &found.reading;
    let mut best: Option<(f32, f64)> = None;
    let mut all: Vec<f64> = Vec::new();
    let mut take = |same: f32, number: f64| {
        all.push(number);
        if best.is_none_or(|(most, _)| same > most) {
            best = Some((same, number));
        }
    };
    let telling: Vec<usize> =
        relevant_clauses(question, reading).into_iter().map(|clause| clause.range.start).collect();
    let verb_of = |clause: &Clause| clause.verb.as_ref().map(|verb| verb.lemma.clone()).unwrap_or_default();
    let all_verbs: Vec<String> =
        reading.clauses().filter(|clause| telling.contains(&clause.range.start)).map(verb_of).collect();
    for clause in reading.clauses() {
        let tells = telling.contains(&clause.range.start);
        for noun in arguments(clause) {
            for noun in std::iter::once(noun).chain(noun.of.as_deref()) {
                let of = noun.of.as_ref().map_or(0.0, |of| 0.9 * word_similarity(head, &of.head));
                let same = word_similarity(head, &noun.head).max(of);
                let counted = noun.kind != NounKind::Number && same >= MIN_COUNTED_SIMILARITY;
                // "Ten were ordered": of what is counted in the other clause.
                let tells =
                    tells || asks_sum(question) && !all_verbs.is_empty() && all_verbs.contains(&verb_of(clause));
                let alone = noun.kind == NounKind::Number && tells && names_head(reading, head);
                if let Some(number) = noun.number.filter(|_| counted || alone) {
                    let same = if alone { MIN_COUNTED_SIMILARITY.max(0.95) } else { same };
                    take(if tells { same } else { OTHER_CLAUSE_FACTOR * same }, number);
                }
            }
        }
    }
    // Where nothing else is named, a number of what is counted suits, whatever it did: "how many guests came?".
    let alone = question.named.iter().all(|noun| noun.head == head) && question.has_time_bound();
    let fitness = if alone { found.fitness().max(MIN_ONLY_THING_MATCH) } else { found.fitness() };
    best.map(|(same, number)| ToldNumber { number, rank: fitness * same, found, all })
}

fn names_head(reading: &ParsedEvent, head: &str) -> bool {
    reading.lemmas.iter().any(|(lemma, _)| word_similarity(head, lemma) >= MIN_RELATIVE_MATCH)
}

/// Returns whether the told numbers are to be added up: "how many altogether?".
pub(super) fn asks_sum(question: &Question<'_>) -> bool {
    let words = &question.asked.words;
    let has = |text: &str| words.iter().any(|word| word.has_text(text));
    words.iter().any(|word| matches!(word.text.as_str(), "altogether" | "overall" | "total" | "combined"))
        // "On all three days together."
        || has("all") && has("together")
        || words.windows(2).any(|pair| pair[0].has_text("all") && pair[1].has_text("told"))
}

/// Returns the two times of "how many more came today than yesterday?".
fn compared_times(question: &Question<'_>) -> Option<(TimeSpan, TimeSpan)> {
    let words = &question.asked.words;
    let more = words.windows(2).any(|pair| {
        matches!(pair[0].text.as_str(), "many" | "much") && matches!(pair[1].text.as_str(), "more" | "fewer" | "less")
    });
    let [first, second] = question.phrases.as_slice() else { return None };
    (more && words.iter().any(|word| word.has_text("than"))).then_some((first.named, second.named))
}
