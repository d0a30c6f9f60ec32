//! Parses plain questions about procedures: the query, the goal and the conditions.

mod conditions;

use self::conditions::{parse_count, split_list};
use super::forms::{StepQuestion, asked_manner, asked_way, step_question};
use super::grammar::{first_match, join_words, match_pattern, split_clauses};

/// What a question asks of the procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcedureQuestion {
    /// How the goal is reached.
    Ways,
    /// The next step.
    Next,
    /// The remaining steps.
    Missing,
    /// The things that the goal needs.
    Things,
    /// What a person usually does, at a time of day if one is named.
    Habits(Option<Daytime>),
    /// About the steps of a procedure.
    Step(StepQuestion),
}

/// A part of the day, a day of the week, or a clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Daytime {
    Morning,
    Noon,
    Afternoon,
    Evening,
    Night,
    /// From Monday, 0, to Sunday, 6.
    Weekday(i8),
    Weekend,
    /// Minutes of the day.
    Clock(i32),
}

/// A parsed question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedProcedureQuestion {
    pub asked: ProcedureQuestion,
    /// The goal in the words of the question, without conditions. `None` if the question names none.
    pub goal: Option<String>,
    /// The goal with everything that may be a condition or a part of it ("polish the car with wax").
    pub whole_goal: Option<String>,
    /// The actor. `None` for "I", "we" and the like.
    pub person: Option<String>,
    pub without: Vec<String>,
    pub with: Vec<String>,
    pub before: Vec<(String, String)>,
    pub max_steps: Option<usize>,
    /// Things that the question reports as unavailable.
    pub lacking: Vec<String>,
    /// Steps that the question reports as done.
    pub done: Vec<String>,
    /// The words of a question about steps: a goal or a step.
    pub about: Option<String>,
    /// Clauses next to the question that are no condition.
    pub context: Vec<String>,
}

const INDEFINITE_ACTORS: &str = "(i|you|we|one|people|somebody|someone|they)";
const MODAL_VERBS: &str = "(do|can|could|should|shall|would|might|must|may|does)";
const BE_FORMS: &str = "(is|are|was|were)";

/// Parses a question that procedures may answer. Returns `None` for any other.
pub(super) fn parse_procedure_question(question: &str) -> Option<ParsedProcedureQuestion> {
    let clauses = split_clauses(question);
    let (place, (asked, goal, person, done)) = clauses
        .iter()
        .enumerate()
        .rev()
        .find_map(|(place, clause)| Some((place, parse_clause(clause, clauses.len() > 1)?)))?;
    let mut understood = ParsedProcedureQuestion {
        asked,
        goal: None,
        whole_goal: goal.map(join_words),
        person: person.and_then(person_name),
        without: Vec::new(),
        with: Vec::new(),
        before: Vec::new(),
        max_steps: None,
        lacking: Vec::new(),
        done: done.map(split_list).unwrap_or_default(),
        about: None,
        context: Vec::new(),
    };
    if let ProcedureQuestion::Step(_) = asked {
        understood.about = goal.map(join_words);
        understood.whole_goal = None;
    } else if let Some(goal) = goal {
        understood.take_conditions(goal);
    }
    for (_, clause) in clauses.iter().enumerate().filter(|(other, _)| *other != place) {
        understood.add_remark(clause);
    }
    // "Can I make tea?" asks for leave or for a fact; only a condition makes it a question for a way.
    let asks_for_leave = matches!(clauses[place].first().map(String::as_str), Some("can" | "could"));
    let conditioned = !(understood.without.is_empty() && understood.with.is_empty() && understood.lacking.is_empty());
    let asks_for_way = asked_way(without_politeness(&clauses[place])).is_some();
    (!asks_for_leave || conditioned || asks_for_way).then_some(understood)
}

/// The query, the words of the goal, the words of the person, and the steps that are done.
type ParsedParts<'a> = (ProcedureQuestion, Option<&'a [String]>, Option<&'a [String]>, Option<&'a [String]>);

/// Returns the captures of the first pattern that matches the clause.
type PatternMatcher<'a> = dyn Fn(&[String]) -> Option<Vec<&'a [String]>> + 'a;

/// Parses a clause.
fn parse_clause(clause: &[String], has_context: bool) -> Option<ParsedParts<'_>> {
    if let Some(goal) = asked_way(clause) {
        return Some((ProcedureQuestion::Ways, Some(goal), None, None));
    }
    let clause = without_politeness(clause);
    let steps = || {
        let (question, about) = step_question(clause, has_context)?;
        Some((ProcedureQuestion::Step(question), about, None, None))
    };
    let find = |patterns: &[String]| {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        first_match(&patterns, clause)
    };
    let known = parse_habits(clause)
        .or_else(|| parse_next(&find))
        .or_else(|| parse_missing(&find))
        .or_else(|| parse_ways(&find));
    known
        .or_else(|| {
            asked_way(clause).or_else(|| asked_manner(clause)).map(|goal| (ProcedureQuestion::Ways, Some(goal), None, None))
        })
        .or_else(|| {
            let things = [
                format!(
                    "(what|which) [things|tools|ingredients|objects|utensils|parts] {MODAL_VERBS} {INDEFINITE_ACTORS} need [for|to] *"
                ),
                "(what|which) [things|tools|ingredients|objects|utensils|parts] (is|are) needed (for|to) *".to_owned(),
            ];
            find(&things).map(|found| (ProcedureQuestion::Things, Some(found[0]), None, None))
        })
        .or_else(steps)
}

fn parse_habits(clause: &[String]) -> Option<ParsedParts<'_>> {
    const HABIT_ADVERBS: &str = "(usually|typically|normally|generally|always|often|regularly|mostly)";
    let patterns = [
        format!("what {MODAL_VERBS} * {HABIT_ADVERBS} do *"),
        format!("what {MODAL_VERBS} * {HABIT_ADVERBS} do"),
        format!("what {MODAL_VERBS} * do {HABIT_ADVERBS} *"),
        format!("what {MODAL_VERBS} * do (every|each) *"),
        format!(
            "what {BE_FORMS} * 's [usual|daily|typical|regular] (routine|routines|habit|habits|behaviour|behavior|behaviours|behaviors) *"
        ),
        format!(
            "what {BE_FORMS} * 's [usual|daily|typical|regular] (routine|routines|habit|habits|behaviour|behavior|behaviours|behaviors)"
        ),
        format!("what {BE_FORMS} * 's (morning|evening|afternoon|night|weekend) (routine|routines|habit|habits)"),
        format!("(what|which) (habits|routines) {MODAL_VERBS} * have"),
        format!("what {BE_FORMS} * {HABIT_ADVERBS} (doing|up) [to] *"),
    ];
    let (number, found) =
        patterns.iter().enumerate().find_map(|(number, pattern)| Some((number, match_pattern(pattern, clause)?)))?;
    let rest = if number == 6 { clause } else { found.get(1).copied().unwrap_or(&[]) };
    // "What does Anna usually do when the bell rings?" asks for something else.
    let daytime = parse_daytime(rest);
    if !rest.is_empty() && daytime.is_none() {
        return None;
    }
    Some((ProcedureQuestion::Habits(daytime), None, Some(found[0]), None))
}

fn parse_daytime(words: &[String]) -> Option<Daytime> {
    if let Some(clock) = parse_clock(words) {
        return Some(Daytime::Clock(clock));
    }
    const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    words.iter().find_map(|word| {
        let word = word.strip_suffix('s').unwrap_or(word);
        Some(match word {
            "morning" | "breakfast" => Daytime::Morning,
            "noon" | "midday" | "lunchtime" | "lunch" => Daytime::Noon,
            "afternoon" => Daytime::Afternoon,
            "evening" | "dinner" => Daytime::Evening,
            "night" => Daytime::Night,
            "weekend" => Daytime::Weekend,
            day => Daytime::Weekday(WEEKDAYS.iter().position(|other| *other == day)? as i8),
        })
    })
}

/// Parses a clock time: "at four in the afternoon", "around 16:30". Returns minutes of the day.
fn parse_clock(words: &[String]) -> Option<i32> {
    let at = words.iter().position(|word| matches!(word.as_str(), "at" | "around" | "about"))?;
    let word = words.get(at + 1)?;
    let hour: i32 = word
        .trim_end_matches("am")
        .trim_end_matches("pm")
        .parse()
        .ok()
        .or_else(|| parse_count(std::slice::from_ref(word)).and_then(|hour| i32::try_from(hour).ok()))?;
    let late = word.ends_with("pm") || words.iter().any(|word| matches!(word.as_str(), "pm" | "afternoon" | "evening"));
    let hour = if late && hour < 12 { hour + 12 } else { hour };
    (0..24).contains(&hour).then_some(hour * 60)
}

fn parse_next<'a>(find: &PatternMatcher<'a>) -> Option<ParsedParts<'a>> {
    const WHILE_WORDS: &str = "(to|for|in|of|when|while|with)";
    let with_person =
        [format!("what {MODAL_VERBS} * do next {WHILE_WORDS} *"), format!("what {MODAL_VERBS} * do (now|next)")];
    if let Some(found) = find(&with_person) {
        return Some((ProcedureQuestion::Next, found.get(1).copied(), Some(found[0]), None));
    }
    let after = [
        "what (comes|is|happens|follows) [next] (after|once) * (when|while) *".to_owned(),
        format!("what (comes|is|happens|follows) [next] (after|once) * {WHILE_WORDS} *"),
        format!("what {MODAL_VERBS} {INDEFINITE_ACTORS} do [next] (after|once) * {WHILE_WORDS} *"),
        "what (comes|is|happens|follows) next after *".to_owned(),
    ];
    if let Some(found) = find(&after) {
        return Some((ProcedureQuestion::Next, found.get(1).copied(), None, Some(found[0])));
    }
    let plain = [
        format!("what (is|comes|follows) [the|my|our] next [step] {WHILE_WORDS} *"),
        format!("which step (is|comes) next {WHILE_WORDS} *"),
        format!("what is the next step {WHILE_WORDS} *"),
    ];
    if let Some(found) = find(&plain) {
        return Some((ProcedureQuestion::Next, Some(found[0]), None, None));
    }
    let bare =
        ["what (is|comes|follows) [the|my|our] next [step]", "which step (is|comes) next", "what next", "and next"];
    find(&bare.map(str::to_owned)).map(|_| (ProcedureQuestion::Next, None, None, None))
}

fn parse_missing<'a>(find: &PatternMatcher<'a>) -> Option<ParsedParts<'a>> {
    const DONE_WORDS: &str = "[to] [do|be] [done]";
    let with_goal = [
        format!("(what|which) [steps|things] {MODAL_VERBS} * still (need|miss|lack|require) (for|to) *"),
        format!("(what|which) [steps|things] {MODAL_VERBS} * still (have|need) to do (for|to) *"),
        format!("what else {MODAL_VERBS} * (need|have) [to] [do] (for|to) *"),
    ];
    if let Some(found) = find(&with_goal) {
        return Some((ProcedureQuestion::Missing, Some(found[1]), Some(found[0]), None));
    }
    let impersonal = [
        format!(
            "(what|which) [steps|things] {BE_FORMS} [still|yet] (missing|left|open|needed|lacking) {DONE_WORDS} (for|to|of|in) *"
        ),
        format!("what (remains|is) [still] {DONE_WORDS} (for|to) *"),
    ];
    if let Some(found) = find(&impersonal) {
        return Some((ProcedureQuestion::Missing, Some(found[0]), None, None));
    }
    let bare = [
        format!("(what|which) [steps|things] {MODAL_VERBS} * still (need|miss|lack|have) [to] [do]"),
        format!("(what|which) [steps] {BE_FORMS} [still] (missing|left|open) {DONE_WORDS}"),
    ];
    find(&bare).map(|found| (ProcedureQuestion::Missing, None, found.first().copied(), None))
}

fn parse_ways<'a>(find: &PatternMatcher<'a>) -> Option<ParsedParts<'a>> {
    let patterns = [
        format!("how {MODAL_VERBS} {INDEFINITE_ACTORS} [still|best|nevertheless] *"),
        "how to *".to_owned(),
        "how else (can|could|do) (i|we|you|one) *".to_owned(),
        format!("what {BE_FORMS} the (steps|instructions|procedure|recipe|way|ways) (to|for|of) *"),
        "(what|which) steps (do|does|are) * (take|needed|necessary|required|involved) (to|for|in) *".to_owned(),
        format!("what {MODAL_VERBS} {INDEFINITE_ACTORS} (need|have) to do (to|for) *"),
        "is there [a|any|another] [other] way (to|of) *".to_owned(),
        "(can|could) (i|we|you|one) [still] *".to_owned(),
        "[the] (recipe|instructions|procedure|steps) (for|to|of) *".to_owned(),
    ];
    let found = find(&patterns)?;
    Some((ProcedureQuestion::Ways, found.last().copied(), None, None))
}

/// Returns the clause without its polite phrases.
fn without_politeness(clause: &[String]) -> &[String] {
    let polite = [
        "please", "and", "so", "then", "ok", "okay", "hey", "well", "now", "tell", "show", "explain", "me", "us", "to",
        "robot",
    ];
    let from = clause.iter().take_while(|word| polite.contains(&word.as_str())).count();
    &clause[from..]
}

/// Returns a person's name. Returns `None` for indefinite pronouns.
fn person_name(words: &[String]) -> Option<String> {
    let anybody = ["i", "you", "we", "one", "people", "somebody", "someone", "they", "he", "she", "it", "everybody"];
    match words {
        // "I", and "I have to" where the verb was not read.
        [word, ..] if anybody.contains(&word.as_str()) => None,
        [article, rest @ ..] if article == "the" => Some(join_words(rest)),
        words => Some(join_words(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(question: &str) -> ParsedProcedureQuestion {
        parse_procedure_question(question).unwrap_or_else(|| panic!("not understood: {question}"))
    }

    #[test]
    fn questions_for_a_way_name_their_goal_and_conditions() {
        for (question, goal, without, with, lacking) in [
            ("How do I make tea?", "make tea", "", "", ""),
            ("How can we make tea without the kettle?", "make tea", "kettle", "", ""),
            ("How to make tea without using the kettle or the microwave", "make tea", "kettle|microwave", "", ""),
            ("What are the steps to change a tyre?", "change a tyre", "", "", ""),
            ("How do I make a salad with a knife instead of the grater?", "make a salad", "grater", "knife", ""),
            ("How do you make tea only with the pot?", "make tea", "", "pot", ""),
            ("The bowl is broken, how can I make fruit salad?", "make fruit salad", "", "", "bowl"),
            ("How can I make fruit salad if the bowl is broken?", "make fruit salad", "", "", "bowl"),
            ("How can I make tea if there is no kettle?", "make tea", "", "", "kettle"),
            ("Can I make tea without milk?", "make tea", "milk", "", ""),
            ("We ran out of milk. How do I make porridge?", "make porridge", "", "", "milk"),
            ("How do I put the book in the shelf?", "put the book in the shelf", "", "", ""),
            ("How do I make tea, but without the kettle?", "make tea", "kettle", "", ""),
        ] {
            let found = read(question);
            assert_eq!(found.asked, ProcedureQuestion::Ways, "{question}");
            assert_eq!(found.goal.as_deref(), Some(goal), "{question}");
            assert_eq!(found.without.join("|"), without, "{question}");
            assert_eq!(found.with.join("|"), with, "{question}");
            assert_eq!(found.lacking.join("|"), lacking, "{question}");
        }
        let few = read("How do I make tea in at most three steps?");
        assert_eq!((few.goal.as_deref(), few.max_steps), (Some("make tea"), Some(3)));
        let order = read("How do I make tea with the milk before the water?");
        assert_eq!(order.before, [("the milk".to_owned(), "the water".to_owned())]);
    }

    #[test]
    fn questions_for_the_next_step_name_who_and_what_is_done() {
        for (question, goal, person, done) in [
            ("What should Jack do next?", None, Some("jack"), ""),
            ("What do I do next?", None, None, ""),
            ("What comes next?", None, None, ""),
            ("What is the next step for making tea?", Some("making tea"), None, ""),
            ("What should Anna do next to make tea?", Some("make tea"), Some("anna"), ""),
            ("What comes after boiling the water when making tea?", Some("making tea"), None, "boiling the water"),
            ("I have boiled the water. What should I do next to make tea?", Some("make tea"), None, "boiled the water"),
            ("What's next?", None, None, ""),
        ] {
            let found = read(question);
            assert_eq!(found.asked, ProcedureQuestion::Next, "{question}");
            assert_eq!(found.goal.as_deref(), goal, "{question}");
            assert_eq!(found.person.as_deref(), person, "{question}");
            assert_eq!(found.done.join("|"), done, "{question}");
        }
    }

    #[test]
    fn questions_for_what_is_missing_and_what_is_needed() {
        for (question, asked, goal) in [
            ("What do I still need for fruit salad?", ProcedureQuestion::Missing, Some("fruit salad")),
            ("What do I still need to make tea?", ProcedureQuestion::Missing, Some("make tea")),
            ("What is still missing for the fruit salad?", ProcedureQuestion::Missing, Some("the fruit salad")),
            ("What is left to do to make tea?", ProcedureQuestion::Missing, Some("make tea")),
            ("What does Jack still have to do?", ProcedureQuestion::Missing, None),
            ("What do I need for fruit salad?", ProcedureQuestion::Things, Some("fruit salad")),
            ("Which tools do we need to make tea?", ProcedureQuestion::Things, Some("make tea")),
        ] {
            let found = read(question);
            assert_eq!((found.asked, found.goal.as_deref()), (asked, goal), "{question}");
        }
    }

    #[test]
    fn questions_for_habits_name_who_and_when() {
        for (question, person, daytime) in [
            ("What does Anna usually do in the morning?", "anna", Some(Daytime::Morning)),
            ("What does Anna Lee normally do?", "anna lee", None),
            ("What does Ben do every evening?", "ben", Some(Daytime::Evening)),
            ("What does Ben usually do on Mondays?", "ben", Some(Daytime::Weekday(0))),
            ("What are Anna's habits?", "anna", None),
            ("What is Anna's morning routine?", "anna", Some(Daytime::Morning)),
        ] {
            let found = read(question);
            assert_eq!(
                (found.asked, found.person.as_deref()),
                (ProcedureQuestion::Habits(daytime), Some(person)),
                "{question}"
            );
        }
    }

    #[test]
    fn other_questions_are_left_to_others() {
        for question in [
            "What was on the table?",
            "Who left without an umbrella?",
            "What did Anna do next to the river?",
            "What does Anna usually drink?",
            "What does Anna usually do when the bell rings?",
            "Can I make tea?",
            "How did Jolene feel?",
            "Where are my keys?",
            "",
        ] {
            assert_eq!(parse_procedure_question(question), None, "{question}");
        }
    }
}
