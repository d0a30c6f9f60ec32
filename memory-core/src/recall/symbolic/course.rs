//! A procedure as people talk about it: its steps without the actor, and the order of every session.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::EventId;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::parse;
use crate::language::english::tag::{Tag, Word, lemma};
use crate::logic::{Procedure, Run, Step, StepId, normalise};
use crate::recall::content::{Content, word_similarity};
use crate::recall::reading::is_content_word;

/// A step regardless of its actor: "Leo adds water" and "Mira adds water" are one.
pub(super) struct ImpersonalStep {
    /// The step as a command: "add water".
    pub text: String,
    pub steps: Vec<StepId>,
    /// Lemmas of its words and of the names of its things and places.
    words: Vec<String>,
}

/// A procedure with its impersonal steps.
pub(super) struct ProcedureCourse<'a> {
    pub procedure: &'a Procedure,
    pub acts: Vec<ImpersonalStep>,
    /// Every session with its steps, in the order in which the sessions were added.
    pub runs: Vec<(&'a Run, Vec<usize>)>,
    goal: Vec<String>,
    persons: Vec<String>,
}

impl<'a> ProcedureCourse<'a> {
    pub fn from_procedure(procedure: &'a Procedure) -> Self {
        let mut acts: Vec<ImpersonalStep> = Vec::new();
        let mut by_key: BTreeMap<String, usize> = BTreeMap::new();
        let mut act_of = vec![0; procedure.steps().len()];
        let mut persons: BTreeSet<String> = BTreeSet::new();
        for (number, step) in procedure.steps().iter().enumerate() {
            let text = as_command(step);
            persons.extend(step.attributes.persons.keys().cloned());
            let place = *by_key.entry(normalise(&text)).or_insert_with(|| {
                acts.push(ImpersonalStep { text, steps: Vec::new(), words: Vec::new() });
                acts.len() - 1
            });
            let act = &mut acts[place];
            act.steps.push(StepId(u32::try_from(number).unwrap_or(u32::MAX)));
            let attributes = &step.attributes;
            let names = attributes.objects.keys().chain(attributes.tools.keys()).chain(attributes.places.keys());
            let texts = std::iter::once(act.text.clone()).chain(step.wordings.iter().cloned()).chain(names.cloned());
            for text in texts {
                for word in content_lemmas(&text) {
                    if !act.words.contains(&word) {
                        act.words.push(word);
                    }
                }
            }
            act_of[number] = place;
        }
        let acts_of = |run: &Run| run.steps().iter().filter_map(|step| act_of.get(step.0 as usize).copied()).collect();
        let runs = procedure.runs().map(|run| (run, acts_of(run))).collect();
        let persons = persons.iter().flat_map(|name| content_lemmas(name)).collect();
        Self { procedure, acts, runs, goal: content_lemmas(procedure.goal()), persons }
    }

    /// Returns all words of the procedure: of the goal, the steps and the actors.
    pub fn words(&self) -> Vec<(String, Tag)> {
        let steps = self.acts.iter().flat_map(|act| &act.words);
        self.goal.iter().chain(steps).chain(&self.persons).map(|word| (word.clone(), Tag::Noun)).collect()
    }

    /// Returns the events of a step, one per session, the newest session first.
    pub fn events_of(&self, act: usize) -> Vec<EventId> {
        let of_run = |(run, acts): &(&Run, Vec<usize>)| {
            acts.iter().position(|other| *other == act).and_then(|place| run.events().nth(place))
        };
        self.newest_runs().into_iter().filter_map(of_run).collect()
    }

    /// Returns the sessions, the newest first.
    pub fn newest_runs(&self) -> Vec<&(&'a Run, Vec<usize>)> {
        let mut runs: Vec<_> = self.runs.iter().collect();
        runs.sort_by_key(|(run, _)| std::cmp::Reverse((run.span().start, run.events().max())));
        runs
    }
}

/// Returns a step as a command: without its actor, its verbs in the base form.
pub(super) fn as_command(step: &Step) -> String {
    let text = step.text.trim().trim_end_matches('.');
    let mut names: Vec<&str> = step.attributes.persons.keys().map(String::as_str).collect();
    names.extend(["i", "we", "the robot"]);
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let lower = text.to_lowercase();
    let named = |name: &&&str| lower.strip_prefix(**name).is_some_and(|rest| rest.starts_with(' '));
    let name = names.iter().find(named).filter(|_| lower.len() == text.len());
    // Of what was told of somebody their name is left out already, and the verb says that somebody does it: "stirs the glaze".
    let told_of_somebody = || {
        let verb = text.split(' ').next().unwrap_or_default().to_lowercase();
        let base = lexicon::lemma(&verb, PartOfSpeech::Verb);
        !step.attributes.persons.is_empty() && verb.ends_with('s') && base.is_some_and(|base| base != verb)
    };
    let begin = match name {
        Some(name) => name.len(),
        None if told_of_somebody() => 0,
        None => return text.to_owned(),
    };
    let rest = &text[begin..];
    // The parser needs a subject.
    let spoken = if begin == 0 { format!("He {text}") } else { text.to_owned() };
    let shift = spoken.len() - text.len();
    let (mut words, _) = parse(&spoken, &[]);
    words.retain(|word| word.range.start >= begin + shift);
    words.iter_mut().for_each(|word| word.range = word.range.start - shift..word.range.end - shift);
    let words: Vec<&Word> = words.iter().collect();
    let mut said = String::new();
    let mut end = begin;
    let mut verbs = 0;
    let mut expected = true;
    for (place, word) in words.iter().enumerate() {
        let skipped =
            expected && matches!(word.tag, Tag::Auxiliary) && words.get(place + 1).is_some_and(|next| is_verb(next));
        if skipped {
            end = word.range.end;
            continue;
        }
        said.push_str(&text[end..word.range.start]);
        end = word.range.end;
        if expected && (word.tag == Tag::Verb || verbs == 0 && is_verb(word)) {
            said.push_str(&lemma(&word.text, Tag::Verb));
            verbs += 1;
            expected = false;
        } else {
            said.push_str(&text[word.range.clone()]);
            // A verb may follow: "takes the cup and fills it", "slowly pours".
            expected = word.tag == Tag::Conjunction
                || word.has_text(",")
                || word.has_text("then")
                || verbs == 0 && word.tag == Tag::Adverb;
        }
    }
    said.push_str(text.get(end..).unwrap_or_default());
    if verbs == 0 { rest.trim().to_owned() } else { said.trim().to_owned() }
}

fn is_verb(word: &Word) -> bool {
    word.tag == Tag::Verb || lexicon::lemma(&word.text, PartOfSpeech::Verb).is_some()
}

/// Returns the lemmas of the content words.
fn content_lemmas(text: &str) -> Vec<String> {
    let (words, _) = parse(text, &[]);
    words.into_iter().filter(is_content_word).map(|word| word.lemma).collect()
}

/// Factor on the weight of a word that occurs in the steps and not in the goal.
const STEP_WORD_FACTOR: f32 = 0.6;

/// The words of a question that describe a goal or a step: weighted, with their similarities to the words of
/// procedures.
pub(super) struct SoughtWords {
    items: Vec<(String, f32)>,
    alike: RefCell<HashMap<String, Vec<f32>>>,
}

impl SoughtWords {
    /// Extracts the content words of a text. Returns `None` if it has none.
    pub fn from_text(text: &str, search: &dyn crate::index::Search) -> Option<Self> {
        let (words, _) = parse(text, &[]);
        let content = Content::from_ranges(&words, std::slice::from_ref(&(0..text.len())), 1.0, search);
        // People choose verbs more freely than nouns, and light ones most freely.
        let weight = |light: bool, tag: Tag| match tag {
            Tag::Verb if light => 0.3,
            Tag::Verb => 0.7,
            Tag::Adverb | Tag::Number | Tag::Preposition => 0.3,
            _ => 1.0,
        };
        let items: Vec<(String, f32)> =
            content.items.into_iter().map(|item| (item.lemma, weight(item.light, item.tag))).collect();
        (!items.is_empty()).then(|| Self { items, alike: RefCell::default() })
    }

    /// Raises the similarity of each word to its best match among some words, up to `limit`.
    fn raise_similarities(&self, words: &[String], limit: f32, held: &mut [f32]) {
        let mut alike = self.alike.borrow_mut();
        for word in words {
            let row = alike
                .entry(word.clone())
                .or_insert_with(|| self.items.iter().map(|(item, _)| word_similarity(item, word)).collect());
            for (best, likeness) in held.iter_mut().zip(row.iter()) {
                *best = best.max(limit * likeness);
            }
        }
    }

    fn covered_share(&self, held: &[f32]) -> f32 {
        let total: f32 = self.items.iter().map(|(_, weight)| weight).sum();
        self.items.iter().zip(held).map(|((_, weight), held)| weight * held).sum::<f32>() / total.max(0.01)
    }

    /// Returns how much of some words the question contains.
    fn precision(&self, words: &[String]) -> f32 {
        let alike = self.alike.borrow();
        let best = |word: &String| alike.get(word).map_or(0.0, |row| row.iter().copied().fold(0.0, f32::max));
        #[expect(clippy::cast_precision_loss, reason = "a few words")]
        let count = words.len().max(1) as f32;
        words.iter().map(best).sum::<f32>() / count
    }

    /// Score of a goal, from 0 to 1: the share of the question's words that the goal and, for less, its steps cover,
    /// and the precision of the goal.
    pub fn goal_score(&self, course: &ProcedureCourse<'_>) -> f64 {
        let mut held = vec![0.0; self.items.len()];
        self.raise_similarities(&course.goal, 1.0, &mut held);
        if held.iter().all(|held| *held == 0.0) {
            return 0.0;
        }
        for act in &course.acts {
            self.raise_similarities(&act.words, STEP_WORD_FACTOR, &mut held);
        }
        self.raise_similarities(&course.persons, STEP_WORD_FACTOR, &mut held);
        f64::from(self.covered_share(&held) * (0.7 + 0.3 * self.precision(&course.goal)))
    }

    /// Score of each step, from 0 to 1. Words of the goal may accompany those of the step.
    pub fn step_scores(&self, course: &ProcedureCourse<'_>) -> Vec<f64> {
        let likeness = |act: &ImpersonalStep| {
            let mut held = vec![0.0; self.items.len()];
            self.raise_similarities(&act.words, 1.0, &mut held);
            let own = self.covered_share(&held);
            self.raise_similarities(&course.goal, 1.0, &mut held);
            self.raise_similarities(&course.persons, 1.0, &mut held);
            let whole = self.covered_share(&held);
            // The step itself must cover a good part.
            if own < 0.25 {
                0.0
            } else {
                f64::from((0.5 * own + 0.5 * whole) * (0.9 + 0.1 * self.precision(&act.words)))
            }
        };
        course.acts.iter().map(likeness).collect()
    }
}
