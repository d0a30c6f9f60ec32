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
            Way::Relation { cue, order: Order::During }
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
            text: self.widened(text),
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

    /// The text with the object classes that its words cover, where memory holds the class and not the word.
    fn widened(&self, text: &str) -> String {
        let search = self.reader.search();
        let mut widened = text.to_string();
        for word in words(text) {
            let classes = lexicon::classes_of(&word);
            if classes.is_empty() || search.terms(&word).first().is_none_or(|term| term.documents > 0) {
                continue;
            }
            for class in classes {
                if search.terms(class).first().is_some_and(|term| term.documents > 0) {
                    widened.push(' ');
                    widened.push_str(class);
                }
            }
        }
        widened
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
        if hits.is_empty() && modality.is_some() {
            hits = self.reader.search().search(&SearchQuery { modality: None, ..query });
        }
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
        let Some(cue) = self.cue(relation)? else {
            trace.push(step("cue", format!("no event for `{}`", relation.cue)));
            return Ok(None);
        };
        trace.push(step("cue", format!("`{}` is {}: {}", relation.cue, cue.event.id, cue.event.text)));
        let Some(window) = window(relation, cue.event.span, self.hard) else { return Ok(None) };
        let query =
            SearchQuery { span: Some(window), modality: self.question.target, limit: 200, ..SearchQuery::default() };
        let query = SearchQuery { latest: relation.order == Order::Before, ..query };
        let hits = self.reader.search().search(&query);
        let mut found: Vec<Found> = self.read(&hits[..hits.len().min(READ)], &main)?;
        found.retain(|one| one.event.id != cue.event.id && follows(relation.order, one.event.span, cue.event.span));
        for one in &mut found {
            // A name tells whom the question is about, not what: it is no sign that the event is the one asked for.
            let named = one.event.entity.as_deref().map(terms_of).unwrap_or_default();
            one.terms.retain(|term| !named.contains(term));
            one.coverage = main.coverage(&one.terms);
            one.score = closeness(relation.order, one.event.span, cue.event.span) + one.coverage;
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.event.id.cmp(&b.event.id)));
        // What is asked for has a content of its own, and nothing at that time holds it: the words decide, not the time.
        if found.is_empty() || (!main.is_empty() && found[0].coverage < CUE_COVERAGE) {
            trace.push(step("relation", format!("nothing fitting {:?} it", relation.order)));
            return Ok(None);
        }
        let order = relation.order;
        let event = cue.event.clone();
        // The cue itself is evidence, too: first where what was found barely touches it.
        let place = usize::from(order != Order::During || covers_half(found[0].event.span, event.span));
        let score = found[0].score;
        found.insert(place, Found { score, ..cue });
        let way = Way::Relation { cue: Box::new(event), order };
        let retrieval = Retrieval { found, way, in_time: true, trace: vec![] };
        Ok(Some(Placed { retrieval, asks_for_content: !main.is_empty() }))
    }

    /// The event that a cue means.
    fn cue(&self, relation: &Relation) -> Result<Option<Found>, ReadError> {
        let content = Content::of(&relation.cue, self.reader.search());
        let query = SearchQuery {
            text: self.widened(&relation.cue),
            embedding: self.embeddings.cue.clone(),
            span: self.hard,
            limit: 8,
            ..SearchQuery::default()
        };
        let mut found = self.read(&self.reader.search().search(&query), &content)?;
        found.retain(|one| {
            one.coverage >= CUE_COVERAGE || one.cosine.is_some_and(|cosine| cosine >= SAME_MEANING + 0.1)
        });
        if let Some(occurrence) = self.question.occurrence {
            prefer(occurrence, &mut found);
        }
        Ok(found.into_iter().next())
    }
}

/// Where in time to look, given the event that a question is placed by.
fn window(relation: &Relation, cue: TimeSpan, hard: Option<TimeSpan>) -> Option<TimeSpan> {
    let reach = if relation.direct { DIRECTLY } else { SOON };
    let window = match relation.order {
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
