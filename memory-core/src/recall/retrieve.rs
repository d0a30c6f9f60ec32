//! From an understood question to candidate events.

use std::collections::HashSet;
use std::time::Duration;

use super::question::{Content, Occurrence, Question, Terms, terms_of, terms_of_event};
use super::relation::{Order, Relation};
use super::{Reader, lexicon};
use crate::index::{Hit, SearchQuery, words};
use crate::{Event, EventId, Modality, ReadError, Route, TimeSpan, TraceStep};

/// How far a cue reaches on both sides when something happened meanwhile.
const WIDENED: Duration = Duration::from_secs(2);
/// How far "right after" reaches, and "after".
const DIRECTLY: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(600);
/// How much of a cue's content an event must hold to be the event meant.
const CUE_COVERAGE: f32 = 0.5;
/// How much of the content must lie inside a bound for the bound to hold.
const BOUND_COVERAGE: f32 = 0.34;
/// How much of the whole question an event must hold to answer it without regard to time.
const SAID_TOGETHER: f32 = 0.6;
/// A cosine that is as good as words.
const SAME_MEANING: f32 = 0.5;
/// Occurrences of a cue that are looked at.
const MOST_CUES: usize = 4;
/// Candidates whose words are read.
const READ: usize = 24;

/// A candidate.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub event: Event,
    /// Fused score of the search; of a candidate found by its time, how well it lies there.
    pub score: f32,
    pub cosine: Option<f32>,
    pub terms: Terms,
    /// The share of the question's content that it holds.
    pub coverage: f32,
}

/// The way candidates were found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// By words and meaning.
    Search,
    /// By time alone: whatever happened then.
    Listing,
    /// By another event.
    Relation {
        /// The event that placed them.
        cue: Box<Event>,
        order: Order,
        /// Those of the candidates that lie in time as asked.
        placed: Vec<EventId>,
    },
}

/// Candidates, best first.
#[derive(Debug, Clone)]
pub(super) struct Retrieval {
    pub found: Vec<Found>,
    pub way: Way,
    /// Whether the question's time words were obeyed (or there were none).
    pub in_time: bool,
    pub trace: Vec<TraceStep>,
}

impl Retrieval {
    pub fn route(&self, question: &Question) -> Route {
        match &self.way {
            Way::Relation { cue, order: Order::During, .. }
                if self.found.first().is_some_and(|best| best.event.modality != cue.modality)
                    || question.target.is_some_and(|target| target != cue.modality) =>
            {
                Route::CrossModal
            }
            _ => Route::Detailed,
        }
    }
}

/// Candidates found by the event that places them.
struct Placed {
    retrieval: Retrieval,
    /// Whether the question says more about what it asks for than when it was.
    asks_for_content: bool,
}

/// φ of the question and of the event that places it.
#[derive(Debug, Default)]
pub(super) struct Embeddings {
    pub question: Option<Vec<f32>>,
    pub cue: Option<Vec<f32>>,
}

pub(super) struct Retriever<'a> {
    pub reader: &'a dyn Reader,
    pub question: &'a Question,
    pub embeddings: &'a Embeddings,
    /// Bounds that nothing may cross.
    pub hard: Option<TimeSpan>,
    pub limit: usize,
}

impl Retriever<'_> {
    /// Candidates by the first way that finds what the question asks for.
    pub fn retrieve(&self) -> Result<Retrieval, ReadError> {
        let mut trace = Vec::new();
        let placed = match &self.question.relation {
            Some(relation) => self.by_relation(relation, &mut trace)?,
            None => None,
        };
        let rest = self.without_relation(trace)?;
        let Some(mut placed) = placed else { return Ok(rest) };
        // One event holds what is asked for together with what places it: no need to go by time.
        if placed.asks_for_content && rest.found.first().is_some_and(|best| best.coverage >= SAID_TOGETHER) {
            return Ok(rest);
        }
        let known: HashSet<EventId> = placed.retrieval.found.iter().map(|one| one.event.id).collect();
        let least = placed.retrieval.found.last().map_or(0.0, |one| one.score);
        let others = rest.found.into_iter().filter(|one| !known.contains(&one.event.id));
        placed.retrieval.found.extend(others.map(|one| Found { score: one.score.min(least), ..one }));
        Ok(Retrieval { trace: rest.trace, ..placed.retrieval })
    }

    fn without_relation(&self, mut trace: Vec<TraceStep>) -> Result<Retrieval, ReadError> {
        let bounded = self.question.phrases.iter().any(|phrase| phrase.bounds);
        if let Some(span) = self.question.bound(self.hard) {
            if self.question.content.is_empty() {
                trace.push(step("time", format!("everything between {} and {}", span.start, span.end)));
                let found = self.listing(span, self.question.target)?;
                return Ok(Retrieval { found, way: Way::Listing, in_time: true, trace });
            }
            let found = self.search(&self.question.timeless, Some(span), vec![])?;
            let holds = |found: &Found| {
                found.coverage >= BOUND_COVERAGE || found.cosine.is_some_and(|cosine| cosine >= SAME_MEANING)
            };
            if found.iter().take(5).any(holds) {
                trace.push(step("time", format!("searched between {} and {}", span.start, span.end)));
                return Ok(Retrieval { found, way: Way::Search, in_time: true, trace });
            }
            trace.push(step("time", format!("nothing fitting between {} and {}", span.start, span.end)));
        }
        let near = self.question.near();
        if self.question.content.is_empty() && !bounded {
            let span = near.first().map(|(span, _)| *span).or(self.hard);
            let found = self.newest(span)?;
            trace.push(step("time", "no words to search by: the latest events".into()));
            return Ok(Retrieval { found, way: Way::Listing, in_time: true, trace });
        }
        let found = self.search(&self.question.text, self.hard, near)?;
        trace.push(step("search", format!("{} candidates by words and meaning", found.len())));
        Ok(Retrieval { found, way: Way::Search, in_time: !bounded, trace })
    }

    fn search(&self, text: &str, span: Option<TimeSpan>, near: Vec<(TimeSpan, f32)>) -> Result<Vec<Found>, ReadError> {
        let query = SearchQuery {
            text: text.into(),
            alternatives: self.classes(text),
            embedding: self.embeddings.question.clone(),
            span,
            near,
            limit: self.limit.max(READ),
            ..SearchQuery::default()
        };
        let hits = self.reader.search().search(&query);
        let mut found = self.read(&hits, &self.question.content)?;
        if let Some(occurrence) = self.question.occurrence {
            prefer(occurrence, &mut found);
        }
        Ok(found)
    }

    /// The object classes that words cover, where memory holds the class and not the word.
    fn classes(&self, text: &str) -> Vec<Vec<String>> {
        let search = self.reader.search();
        let held = |word: &str| search.terms(word).first().is_some_and(|term| term.documents > 0);
        let mut groups = Vec::new();
        for word in words(text) {
            let classes = lexicon::classes_of(&word);
            if classes.is_empty() || held(&word) {
                continue;
            }
            let group: Vec<String> =
                classes.iter().filter(|class| held(class)).map(|class| (*class).to_string()).collect();
            if !group.is_empty() && !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    fn read(&self, hits: &[Hit], content: &Content) -> Result<Vec<Found>, ReadError> {
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            // Forgotten since the snapshot: passed over.
            let Some(event) = self.reader.event(hit.id)? else { continue };
            let terms = if found.len() < READ { terms_of_event(&event) } else { Terms::new() };
            let coverage = content.coverage(&terms);
            found.push(Found { event, score: hit.score, cosine: hit.cosine, terms, coverage });
        }
        Ok(found)
    }

    /// What happened in a span, in order of time; evenly thinned where it is more than was asked for.
    fn listing(&self, span: TimeSpan, modality: Option<Modality>) -> Result<Vec<Found>, ReadError> {
        let query = SearchQuery { span: Some(span), modality, limit: 1_000, ..SearchQuery::default() };
        let mut hits = self.reader.search().search(&query);
        let wanted = self.limit.max(1);
        if hits.len() > wanted {
            let all = hits.len();
            hits = (0..wanted).map(|place| hits[place * all / wanted]).collect();
        }
        let mut found = self.read(&hits, &self.question.content)?;
        for one in &mut found {
            one.score = 1.0;
        }
        Ok(found)
    }

    fn newest(&self, span: Option<TimeSpan>) -> Result<Vec<Found>, ReadError> {
        let query = SearchQuery {
            span,
            modality: self.question.target,
            latest: true,
            limit: self.limit.max(1),
            ..SearchQuery::default()
        };
        let mut found = self.read(&self.reader.search().search(&query), &self.question.content)?;
        for one in &mut found {
            one.score = 1.0;
        }
        Ok(found)
    }

    /// What lies in time as asked to the event that the cue means; `None` if there is no such event, or nothing there.
    fn by_relation(&self, relation: &Relation, trace: &mut Vec<TraceStep>) -> Result<Option<Placed>, ReadError> {
        let main = Content::of(&relation.main, self.reader.search());
        let cues = self.cues(relation)?;
        let Some(best) = cues.first() else {
            trace.push(step("cue", format!("no event for `{}`", relation.cue)));
            return Ok(None);
        };
        let (id, text) = (best.found.event.id, &best.found.event.text);
        trace.push(step("cue", format!("`{}` is {id} and {} more: {text}", relation.cue, cues.len() - 1)));
        let mut found: Vec<(Found, usize)> = Vec::new();
        for (place, cue) in cues.iter().enumerate() {
            for one in self.placed_by(relation.order, relation.direct, cue, &main)? {
                if !found.iter().any(|(other, _)| other.event.id == one.event.id) {
                    found.push((one, place));
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score).then(a.event.id.cmp(&b.event.id)));
        // What is asked for has a content of its own, and nothing at that time holds it: the words decide, not the time.
        let Some((first, place)) = found.first().filter(|(best, _)| main.is_empty() || best.coverage >= CUE_COVERAGE)
        else {
            trace.push(step("relation", format!("nothing fitting {:?} it", relation.order)));
            return Ok(None);
        };
        let (order, cue) = (relation.order, &cues[*place]);
        // The cue itself is evidence, too: first where what was found barely touches it.
        let at = usize::from(order != Order::During || covers_half(first.event.span, cue.span));
        let cue = Found { score: first.score, ..cue.found.clone() };
        let event = cue.event.clone();
        let mut found: Vec<Found> = found.into_iter().map(|(one, _)| one).collect();
        let placed = found.iter().map(|one| one.event.id).collect();
        found.insert(at, cue);
        let way = Way::Relation { cue: Box::new(event), order, placed };
        let retrieval = Retrieval { found, way, in_time: true, trace: vec![] };
        Ok(Some(Placed { retrieval, asks_for_content: !main.is_empty() }))
    }

    /// What lies in time as asked to one cue, scored by how near it lies and how much of what is asked for it holds.
    fn placed_by(&self, order: Order, direct: bool, cue: &Cue, main: &Content) -> Result<Vec<Found>, ReadError> {
        let Some(window) = window(order, direct, cue.span, self.hard) else { return Ok(Vec::new()) };
        let query = SearchQuery {
            span: Some(window),
            modality: self.question.target,
            latest: order == Order::Before,
            limit: READ,
            ..SearchQuery::default()
        };
        let mut found = self.read(&self.reader.search().search(&query), main)?;
        found.retain(|one| !cue.ids.contains(&one.event.id) && follows(order, one.event.span, cue.span));
        for one in &mut found {
            // A name tells whom the question is about, not what: it is no sign that the event is the one asked for.
            let named = one.event.entity.as_deref().map(terms_of).unwrap_or_default();
            one.terms.retain(|term| !named.contains(term));
            one.coverage = main.coverage(&one.terms);
            one.score = cue.found.coverage * closeness(order, one.event.span, cue.span) + one.coverage;
        }
        Ok(found)
    }

    /// The events that a cue means: those that hold as much of it as the best. Adjoining ones are one.
    fn cues(&self, relation: &Relation) -> Result<Vec<Cue>, ReadError> {
        let content = Content::of(&relation.cue, self.reader.search());
        let query = SearchQuery {
            text: relation.cue.clone(),
            alternatives: self.classes(&relation.cue),
            embedding: self.embeddings.cue.clone(),
            span: self.hard,
            limit: 16,
            ..SearchQuery::default()
        };
        let mut found = self.read(&self.reader.search().search(&query), &content)?;
        found.retain(|one| {
            one.coverage >= CUE_COVERAGE || one.cosine.is_some_and(|cosine| cosine >= SAME_MEANING + 0.1)
        });
        let Some(best) = found.first().map(|best| best.coverage) else { return Ok(Vec::new()) };
        found.retain(|one| one.coverage >= 0.9 * best);
        let mut cues: Vec<Cue> = Vec::new();
        for one in found {
            let span = one.event.span;
            let widened = TimeSpan { start: span.start.saturating_sub(WIDENED), end: span.end.saturating_add(WIDENED) };
            match cues.iter_mut().find(|cue| cue.span.overlaps(widened)) {
                Some(cue) => {
                    cue.span = TimeSpan { start: cue.span.start.min(span.start), end: cue.span.end.max(span.end) };
                    cue.ids.insert(one.event.id);
                }
                None => cues.push(Cue { span, ids: HashSet::from([one.event.id]), found: one }),
            }
        }
        match self.question.occurrence {
            Some(Occurrence::First) => cues.sort_by_key(|cue| cue.span.start),
            Some(Occurrence::Last) => cues.sort_by_key(|cue| std::cmp::Reverse(cue.span.start)),
            None => {}
        }
        cues.truncate(if self.question.occurrence.is_some() { 1 } else { MOST_CUES });
        Ok(cues)
    }
}

/// An occurrence of the event that a question is placed by.
struct Cue {
    found: Found,
    /// Of every event that tells of it.
    ids: HashSet<EventId>,
    span: TimeSpan,
}

/// Where in time to look, given the event that a question is placed by.
fn window(order: Order, direct: bool, cue: TimeSpan, hard: Option<TimeSpan>) -> Option<TimeSpan> {
    let reach = if direct { DIRECTLY } else { SOON };
    let window = match order {
        Order::During => TimeSpan { start: cue.start.saturating_sub(WIDENED), end: cue.end.saturating_add(WIDENED) },
        Order::After => TimeSpan { start: cue.end, end: cue.end.saturating_add(reach) },
        Order::Before => TimeSpan { start: cue.start.saturating_sub(reach), end: cue.start },
    };
    match hard {
        Some(hard) => super::question::intersection(window, hard),
        None => Some(window),
    }
}

fn follows(order: Order, span: TimeSpan, cue: TimeSpan) -> bool {
    match order {
        Order::During => true,
        Order::After => span.start >= cue.end,
        Order::Before => span.end <= cue.start,
    }
}

/// From 1 for what lies at the cue to 0 far away.
fn closeness(order: Order, span: TimeSpan, cue: TimeSpan) -> f32 {
    let gap = match order {
        Order::During => {
            return overlap(span, cue).as_secs_f32() / cue.end.since(cue.start).as_secs_f32().max(1.0);
        }
        Order::After => span.start.since(cue.end),
        Order::Before => cue.start.since(span.end),
    };
    1.0 / (1.0 + gap.as_secs_f32() / 10.0)
}

fn overlap(a: TimeSpan, b: TimeSpan) -> Duration {
    a.end.min(b.end).since(a.start.max(b.start))
}

fn covers_half(span: TimeSpan, cue: TimeSpan) -> bool {
    let shorter = span.end.since(span.start).min(cue.end.since(cue.start));
    span.overlaps(cue) && overlap(span, cue) * 2 >= shorter
}

/// Among candidates that hold as much as the best, the first or the last in time.
fn prefer(occurrence: Occurrence, found: &mut [Found]) {
    let most = found.iter().fold(0.0_f32, |most, one| most.max(one.coverage));
    let strong = |one: &Found| one.coverage >= 0.9 * most && most > 0.0;
    found.sort_by(|a, b| match (strong(a), strong(b)) {
        (true, true) => {
            let time = a.event.span.start.cmp(&b.event.span.start);
            if occurrence == Occurrence::Last { time.reverse() } else { time }
        }
        (a, b) => b.cmp(&a),
    });
}

pub(super) fn step(step: &str, detail: String) -> TraceStep {
    TraceStep { step: step.into(), detail }
}
