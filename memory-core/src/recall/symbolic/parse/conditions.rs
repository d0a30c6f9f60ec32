//! Conditions and remarks of a question: what is unavailable, required or done.

use super::super::claim::{ThingClaim, clause_claim};
use super::super::grammar::{first_match, join_words, match_pattern};
use super::{ParsedProcedureQuestion, without_politeness};

/// Words that start a condition.
pub(super) const CONDITION_MARKS: [&str; 16] = [
    "without", "using", "with", "instead", "avoiding", "except", "rather", "if", "when", "because", "since", "only",
    "but", "although", "though", "in",
];

impl ParsedProcedureQuestion {
    /// Moves the conditions out of the words of the goal.
    pub(super) fn take_conditions(&mut self, words: &[String]) {
        let mut rest = words;
        let end = next_mark(rest, 0);
        let (goal, mut tail) = rest.split_at(end);
        self.goal = (!goal.is_empty()).then(|| join_words(goal));
        while !tail.is_empty() {
            let end = next_mark(tail, 1);
            let segment;
            (segment, rest) = tail.split_at(end);
            self.add_condition(segment);
            tail = rest;
        }
    }

    /// Parses one condition, from its mark to the next one.
    fn add_condition(&mut self, words: &[String]) {
        let found = |pattern: &str| match_pattern(pattern, words).map(|found| found[0]);
        let steps = |pattern: &str| found(pattern).and_then(parse_count);
        if let Some(most) = steps("in [at|no] [most|more] [than] * (steps|step)")
            .or_else(|| steps("with [at|no] [most|more] [than] * (steps|step)"))
            .or_else(|| steps("in (less|fewer) than * (steps|step)").map(|most| most.saturating_sub(1)))
        {
            self.max_steps = Some(most);
        } else if let Some(parts) = match_pattern("with * before *", words) {
            self.before.push((join_words(parts[0]), join_words(parts[1])));
        } else if let Some(parts) = match_pattern("with * after *", words) {
            self.before.push((join_words(parts[1]), join_words(parts[0])));
        } else if let Some(things) = found("(without|avoiding|except) [using|having|for|with|any|a|an|the] *")
            .or_else(|| found("but (no|not|without) [using|with|a|an|the] *"))
            .or_else(|| found("instead of [using|with|a|an|the] *"))
            .or_else(|| found("rather than [using|with|a|an|the] *"))
        {
            self.without.extend(split_list(things));
        } else if let Some(things) = found("[only|but|with] (using|with|only) [only|just|a|an|the|some] *") {
            self.with.extend(split_list(things));
        } else if let Some(ThingClaim::Lacking(thing)) = clause_claim(words) {
            self.lacking.push(thing);
        } else if let (Some(goal), false) = (&mut self.goal, words.first().is_some_and(|word| word == "if")) {
            // No condition after all: "put the book in the shelf".
            goal.push(' ');
            goal.push_str(&join_words(words));
        }
    }

    /// Parses a clause next to the question: what is unavailable, what is done.
    pub(super) fn add_remark(&mut self, clause: &[String]) {
        if let Some(found) = first_match(&["[but] (without|avoiding) [using|a|an|the] *"], clause) {
            self.without.extend(split_list(found[0]));
        } else if let Some(ThingClaim::Lacking(thing)) = clause_claim(clause) {
            self.lacking.push(thing);
        } else if let Some(found) =
            first_match(&["* (have|has) [already|just] *", "* already *"], without_politeness(clause))
        {
            if !clause.iter().any(|word| matches!(word.as_str(), "not" | "never" | "no")) {
                self.done.extend(split_list(found[1]));
            }
        } else if CONDITION_MARKS.contains(&clause[0].as_str()) {
            self.add_condition(clause);
        } else {
            self.context.push(join_words(clause));
        }
    }
}

/// Returns the position of the next mark of a condition, from `from` on. Consecutive marks ("but only with") are one.
pub(super) fn next_mark(words: &[String], from: usize) -> usize {
    let is_mark = |word: &String| CONDITION_MARKS.contains(&word.as_str());
    let begin = if from == 0 { 0 } else { words.iter().take_while(|word| is_mark(word)).count() };
    words.iter().skip(begin).position(is_mark).map_or(words.len(), |at| begin + at)
}

/// Splits "the kettle and the spoon or cups" into its items.
pub(super) fn split_list(words: &[String]) -> Vec<String> {
    let items = words.split(|word| matches!(word.as_str(), "and" | "or" | "nor" | "then"));
    let articles = ["the", "a", "an", "any", "some", "my", "our", "using", "with", "have", "has", "i", "we", "already"];
    items
        .map(|item| {
            let from = item.iter().take_while(|word| articles.contains(&word.as_str())).count();
            join_words(&item[from..])
        })
        .filter(|item| !item.is_empty())
        .collect()
}

/// Parses a number in digits, or as a word up to twelve.
pub(super) fn parse_count(words: &[String]) -> Option<usize> {
    const NUMBER_WORDS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let [word] = words else { return None };
    word.parse().ok().or_else(|| NUMBER_WORDS.iter().position(|number| number == word).map(|place| place + 1))
}
