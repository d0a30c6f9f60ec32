//! Patterns of questions about the steps of a procedure.

use super::grammar::{join_words, match_pattern};
use crate::language::english::lexicon::{self, PartOfSpeech};

/// What is asked about the steps of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepQuestion {
    /// The first step of a goal.
    First,
    /// The last step of a goal.
    Last,
    /// The step before another one. For a goal, its first step.
    Before,
    /// The step after another one, or after what was said to be done.
    After,
    /// The thing that a step is done with.
    Tool,
    /// The number of steps.
    Count,
    /// The duration.
    Length,
    /// The actor.
    Who,
    /// The time of day.
    When,
}

pub(super) const FREQUENCY_ADVERBS: &str =
    "(usually|typically|normally|generally|always|often|regularly|mostly|customarily|habitually)";
const OPTIONAL_FREQUENCY_ADVERBS: &str =
    "[usually|typically|normally|generally|always|often|regularly|mostly|customarily|habitually]";
const DO_VERBS: &str = "(do|does|must|should|shall|can|could|has|have|needs|need|would|will)";

/// Parses a clause as a question about steps. Returns the question and the words of its subject: `None` if the subject
/// is what was said before.
pub(super) fn step_question(clause: &[String], has_context: bool) -> Option<(StepQuestion, Option<&[String]>)> {
    use StepQuestion::{After, Before, Count, First, Last, Length, Tool, When, Who};
    let last_of = |patterns: &[String]| {
        patterns.iter().find_map(|pattern| match_pattern(pattern, clause)).and_then(|found| found.last().copied())
    };
    const STEP_NOUNS: &str = "(thing|step|action|task|move|job)";
    const STEP_PREPOSITIONS: &str = "(to|for|of|in|when|while|before|if|at|during|with|after|on)";
    for (question, rank) in [(First, "(first|initial)"), (Last, "(last|final)")] {
        let bound = [
            format!(
                "(what|which) (is|comes|are) [the|my|our|your] [very] {rank} {STEP_NOUNS} [that] [i|we|you|one] [to|do|must|should|have|need] [to|do|take|be] [done|do|take] {STEP_PREPOSITIONS} *"
            ),
            format!("(what|which) {STEP_NOUNS} (is|comes|goes) [the|done] {rank} [one] {STEP_PREPOSITIONS} *"),
            format!("(what|which) (is|comes|happens|goes) [done|needed] {rank} {STEP_PREPOSITIONS} *"),
            format!("what {DO_VERBS} * [have|need] [to] [be] (do|done|happen|come) {rank} {STEP_PREPOSITIONS} *"),
            format!("what {DO_VERBS} [to] [be] (done|happen|come) {rank} {STEP_PREPOSITIONS} *"),
        ];
        if let Some(about) = last_of(&bound) {
            return Some((question, Some(about)));
        }
    }
    let ends = [
        (
            First,
            format!(
                "(what|where|how) {DO_VERBS} (i|you|we|one|people|somebody) (start|begin) [out] [with] {STEP_PREPOSITIONS} *"
            ),
        ),
        (
            Last,
            format!(
                "(what|how) {DO_VERBS} (i|you|we|one|people|somebody) (end|finish|stop) [off] [with] {STEP_PREPOSITIONS} *"
            ),
        ),
        (First, "what (does|do) * (start|begin|starts|begins) with".to_owned()),
        (Last, "what (does|do) * (end|finish|stop) with".to_owned()),
    ];
    if let Some((question, about)) =
        ends.iter().find_map(|(question, pattern)| Some((*question, *match_pattern(pattern, clause)?.last()?)))
    {
        return Some((question, Some(about)));
    }
    const ORDER_ADVERBS: &str = "[right|just|directly|immediately|straight|usually|normally|shortly]";
    for (question, word) in [(Before, "before"), (After, "(after|once)")] {
        let bound = [
            format!("what {DO_VERBS} * [have|need] [to] do [next|first] {ORDER_ADVERBS} {word} *"),
            format!("what {DO_VERBS} [to|be] [be] (done|happen|come|follow) [next|first] {ORDER_ADVERBS} {word} *"),
            format!(
                "(what|which) [step|thing|action] (is|comes|happens|follows|goes) [the] [next|done|needed] [next|step|first] {ORDER_ADVERBS} {word} *"
            ),
            format!("{word} * what (is|comes|happens|follows) [next|now]"),
        ];
        if let Some(about) = last_of(&bound) {
            return Some((question, Some(about)));
        }
    }
    let tool = [
        format!("what {DO_VERBS} * [usually|normally] with"),
        format!("(what|which) (tool|tools|thing|utensil|instrument) {DO_VERBS} * with"),
        "what (is|are|gets|get) * with".to_owned(),
        format!(
            "(what|which) [kind|sort] [of] [thing|tool|things|tools] {DO_VERBS} (i|you|we|one|people|they) {OPTIONAL_FREQUENCY_ADVERBS} use (to|for|when|while) *"
        ),
        format!("(what|which) [tool|thing] (is|are) {OPTIONAL_FREQUENCY_ADVERBS} used (to|for|when|in) *"),
        format!("with (what|which) [tool|thing] {DO_VERBS} *"),
        format!("(what|which) (tool|tools) {DO_VERBS} (i|you|we|one) need (to|for) *"),
        format!("which * {DO_VERBS} (i|you|we|one|people) {OPTIONAL_FREQUENCY_ADVERBS} use (to|for|when) *"),
    ];
    if let Some(about) =
        last_of(&tool).filter(|about| !about.iter().any(|word| word.ends_with("ing") && clause[1] != "do"))
    {
        return Some((Tool, Some(about)));
    }
    if let Some(about) = last_of(&["[in] how many [single|different] (steps|stages|actions) *".to_owned()]) {
        return Some((Count, Some(about)));
    }
    let length = [
        format!(
            "how (long|much) [time] (do|does|will|would|should|can|must) it {OPTIONAL_FREQUENCY_ADVERBS} (take|need) *"
        ),
        format!(
            "how (long|much) [time] (do|does|will|would|should|can) * {OPTIONAL_FREQUENCY_ADVERBS} (take|last|need|go)"
        ),
        format!("how (long|much) [time] (do|does|will|should) * {OPTIONAL_FREQUENCY_ADVERBS} (take|last|need) *"),
        format!("how long (is|are) * {FREQUENCY_ADVERBS}"),
        format!("how long (is|are) {FREQUENCY_ADVERBS} *"),
        "how (long|much) [time] (do|does|must|should) (i|we|you|one) need (to|for) *".to_owned(),
    ];
    if let Some(found) = length.iter().find_map(|pattern| match_pattern(pattern, clause)) {
        return Some((Length, found.first().copied()));
    }
    who_question(clause).map(|about| (Who, Some(about))).or_else(|| {
        let when = [
            format!("[at|around|about|by|roughly] (what|which) (time|hour) [of|in] [day|the] [day] (do|does|is|are) {OPTIONAL_FREQUENCY_ADVERBS} *"),
            format!("when (do|does|is|are) * {FREQUENCY_ADVERBS} *"),
            format!("when {FREQUENCY_ADVERBS} (do|does|is|are) *"),
        ];
        let found = when.iter().find_map(|pattern| match_pattern(pattern, clause));
        // Both sides of the adverb: "when does Leo usually feed the dog".
        found.map(|found| (When, if found.len() == 2 { Some(&clause[1..]) } else { found.first().copied() }))
    }).or_else(|| {
        let next = [
            "(what|which) [step|thing] (is|comes|follows|happens) [the] (next|now|then) [step|thing]",
            "(what|and|so) (now|next|then)",
            "(what|and) (then|now) what",
            "what (is|has|needs|remains) [to|still|left] [to|be] [be] (done|do) [now|next|then]",
            "what (is|has|needs|remains) [to|still|left] [to|be] [be] (done|do) [now|next|then] (with|for|to|about) *",
            "what (must|should|shall|can|do) (i|we|you|one|be) [have|need] [to] (do|done) [now|next|then]",
            "how (do|should|can|shall) (i|we|you|one|it) (go|continue|proceed) [on] [now|from] [here]",
            "where (do|should|can) (i|we) (go|continue|proceed) [on] from here",
        ];
        (has_context && next.iter().any(|pattern| match_pattern(pattern, clause).is_some())).then_some((After, None))
    })
}

fn who_question(clause: &[String]) -> Option<&[String]> {
    let patterns = [
        format!("who {FREQUENCY_ADVERBS} *"),
        format!("who (is|are|does) {FREQUENCY_ADVERBS} *"),
        "who (is|are) [the] (one|person|ones) (that|who|to) *".to_owned(),
        format!("who (is|are) {OPTIONAL_FREQUENCY_ADVERBS} (responsible|accountable) for *"),
        format!("who (is|are) {OPTIONAL_FREQUENCY_ADVERBS} in charge of *"),
        "who (takes|take) care of *".to_owned(),
        "who (looks|sees) (after|to) *".to_owned(),
        "whose (job|task|turn|duty|chore|responsibility|role|business) (is|are) [it] [usually|normally] [to] *"
            .to_owned(),
        "who does *".to_owned(),
    ];
    if let Some(found) = patterns.iter().find_map(|pattern| match_pattern(pattern, clause)) {
        return found.last().copied();
    }
    // "Who feeds the dog?": the simple present tells of what is usual.
    let verb = clause.get(1).filter(|_| clause[0] == "who" && clause.len() > 2)?;
    let inflected = verb.ends_with('s') && !matches!(verb.as_str(), "is" | "was" | "has" | "'s");
    let known = lexicon::lemma(verb, PartOfSpeech::Verb).is_some_and(|lemma| lemma != verb);
    (inflected && known).then(|| &clause[1..])
}

/// Returns the goal of a question for how something is done, in other words than "how do I".
pub(super) fn asked_way(clause: &[String]) -> Option<&[String]> {
    const WAY_WORDS: &str =
        "(tell|explain|show|teach|describe|remind|know|learn|remember|forgot|forgotten|wonder|idea|clue|sure)";
    let patterns = [
        "(what|which) (steps|stages|actions) (are|is) [there|needed|necessary|required|involved] (to|for|in|of) *".to_owned(),
        "(what|which) (are|is) [all] the [single|individual|different|usual|normal|necessary] (steps|stages|way|order|sequence) (to|for|of|in|when|by) *".to_owned(),
        "(what|which) steps (make|belong|lead) [up] [to] *".to_owned(),
        "(walk|talk|take|guide|lead|run) (me|us|him|her|them) through *".to_owned(),
        "(list|describe|give|name|say) [me|us] [all] [of] the (steps|stages|instructions) (to|for|of|in) *".to_owned(),
        format!("* {WAY_WORDS} [to] [me|us|him|her|about] how (to|i|we|you|one) [can|should|could|must|do|have] [to] *"),
        "(describe|explain) how (to|i|we|you|one) [can|should|could|must] *".to_owned(),
    ];
    patterns.iter().find_map(|pattern| match_pattern(pattern, clause)).and_then(|found| found.last().copied())
}

/// Returns the goal of "how is the laundry done?" or "how does Leo feed the dog?".
pub(super) fn asked_manner(clause: &[String]) -> Option<&[String]> {
    let passive = match_pattern("how (is|are|does|do|should|must) *", clause)?[0];
    let last = passive.last()?;
    let participle =
        lexicon::lemma(last, PartOfSpeech::Verb).is_some_and(|lemma| lemma != last) && !last.ends_with("ing");
    let active = matches!(clause[1].as_str(), "does" | "do" | "should") && passive.len() > 2;
    (active || participle && matches!(clause[1].as_str(), "is" | "are")).then_some(passive)
}

/// Splits a statement into parts that may each name a step: "I sorted the clothes and loaded the machine".
pub(super) fn split_statements(clause: &[String]) -> Vec<String> {
    if clause.iter().any(|word| matches!(word.as_str(), "not" | "never" | "no" | "if" | "will")) {
        return Vec::new();
    }
    let parts: Vec<&[String]> = clause.split(|word| matches!(word.as_str(), "and" | "then" | "but")).collect();
    parts.into_iter().filter(|part| !part.is_empty()).map(join_words).collect()
}
