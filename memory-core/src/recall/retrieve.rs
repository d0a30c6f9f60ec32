//! From an understood question to candidate events.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::fitness::{self, rank};
use super::places::Places;
use super::question::{Content, Occurrence, Question, Terms, terms_of, terms_of_event};
use super::relation::{Order, Relation};
use super::{Reader, lexicon, nearest};
use crate::index::{Hit, SearchQuery, term_of, words};
use crate::{
    Event, EventId, Kind, Modality, Origin, QuestionModality, ReadError, Route, TimeSpan, Timestamp, TraceStep, Value,
};

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
/// How much of its score an event keeps that does not hold what a question of a kind ("which animal") asks for.
const OF_NO_CLASS: f32 = 0.6;
/// How much of its score an event keeps of a class that has no support, beside one that has the most.
const WEAK_CLASS: f32 = 0.6;
/// Events of one class that are read to weigh it.
const WEIGHED: usize = 200;
/// How much of a cue's content a perceived event must hold, where none holds `CUE_COVERAGE`.
const WEAK_CUE: f32 = 0.1;
/// What follows may begin so long before the end of what it follows: two encoders part a stretch at different times.
const TOUCHING: Duration = Duration::from_secs(1);
/// How much of its score an event keeps that the least firm of several cues places.
const LEAST_FIRM: f32 = 0.4;
/// How much more an event of the sense that is asked for counts that is the firmest of its like.
const FIRMEST: f32 = 0.1;
/// How much of its score a sound keeps where the question asks for no sense.
const MERE_SOUND: f32 = 0.75;
/// Candidates that come before the cue itself.
const BEFORE_THE_CUE: usize = 3;
/// Occurrences of a cue that are looked at.
const MOST_CUES: usize = 4;
/// Sightings among which those that a cue means are looked for.
const SIGHTINGS: usize = 96;
/// Scenes of a session that are compared.
const SCENES: usize = 10_000;
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
        /// Whether the cue is no more than the most likely sighting of something that it names.
        weak: bool,
    },
}

impl Way {
    /// For the trace.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Listing => "listing",
            Self::Relation { weak: false, .. } => "relation",
            Self::Relation { weak: true, .. } => "weak relation",
        }
    }
}

/// Candidates, best first.
#[derive(Debug, Clone)]
pub(super) struct Retrieval {
    pub found: Vec<Found>,
    pub way: Way,
    /// Whether the question's time words were obeyed (or there were none).
    pub in_time: bool,
    /// What a question for a number counts, where that is known better than by the candidates.
    pub counted: Option<Counted>,
    pub trace: Vec<TraceStep>,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    pub begins: Vec<Timestamp>,
    /// Whether memory knows nothing that was named, and these are only what the question most likely means.
    pub guessed: bool,
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
        // What was perceived never holds both: at most it is the cue alone.
        let told = |best: &Found| best.event.kind == Kind::Text;
        if placed.asks_for_content
            && rest.found.first().is_some_and(|best| best.coverage >= SAID_TOGETHER && told(best))
        {
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
                return Ok(Retrieval { found, way: Way::Listing, in_time: true, counted: None, trace });
            }
            let found = self.search(&self.question.timeless, Some(span), vec![], &mut trace)?;
            let holds = |found: &Found| {
                found.coverage >= BOUND_COVERAGE || found.cosine.is_some_and(|cosine| cosine >= SAME_MEANING)
            };
            if found.iter().take(5).any(holds) {
                trace.push(step("time", format!("searched between {} and {}", span.start, span.end)));
                let mut found = found;
                let counted = self.by_visits(&mut found)?;
                return Ok(Retrieval { found, way: Way::Search, in_time: true, counted, trace });
            }
            // A part of the session is short, and the question wants what was seen or heard in it, whatever it calls it.
            if let Some(target) = self.question.target.filter(|_| self.question.phrases.iter().any(|it| it.of_session))
            {
                let found = self.within(span, target)?;
                if !found.is_empty() {
                    trace.push(step("time", format!("of that sense between {} and {}", span.start, span.end)));
                    return Ok(Retrieval { found, way: Way::Search, in_time: true, counted: None, trace });
                }
            }
            trace.push(step("time", format!("nothing fitting between {} and {}", span.start, span.end)));
        }
        if self.question.longest
            && let Some(found) = self.longest()?
        {
            trace.push(step("longest", format!("{} scenes that look alike", found.len())));
            return Ok(Retrieval { found, way: Way::Listing, in_time: true, counted: None, trace });
        }
        let near = self.question.near();
        if self.question.content.is_empty() && !bounded {
            let span = near.first().map(|(span, _)| *span).or(self.hard);
            let found = self.newest(span)?;
            trace.push(step("time", "no words to search by: the latest events".into()));
            return Ok(Retrieval { found, way: Way::Listing, in_time: true, counted: None, trace });
        }
        let mut found = self.search(&self.question.text, self.hard, near, &mut trace)?;
        trace.push(step("search", format!("{} candidates by words and meaning", found.len())));
        let counted = self.by_visits(&mut found)?;
        trace.extend(counted.iter().map(|counted| step("visits", format!("{} to the place", counted.begins.len()))));
        Ok(Retrieval { found, way: Way::Search, in_time: !bounded, counted, trace })
    }

    fn search(
        &self,
        text: &str,
        span: Option<TimeSpan>,
        near: Vec<(TimeSpan, f32)>,
        trace: &mut Vec<TraceStep>,
    ) -> Result<Vec<Found>, ReadError> {
        let query = SearchQuery {
            text: text.into(),
            alternatives: self.classes(text),
            embedding: self.embeddings.question.clone(),
            span,
            near,
            limit: self.limit.max(READ),
            ..SearchQuery::default()
        };
        let mut hits = nearest::search(self.reader, query.clone());
        if let Some(target) = self.question.target {
            // Those of the sense that is asked for are candidates even where many others lie nearer.
            let of_sense = SearchQuery { modality: Some(target), ..query };
            let known: HashSet<EventId> = hits.iter().map(|hit| hit.id).collect();
            let more = nearest::search(self.reader, of_sense);
            hits.extend(more.into_iter().filter(|hit| !known.contains(&hit.id)));
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        }
        let mut found = self.read(&hits, &self.question.content)?;
        let counts = |one: &Found| {
            one.event.kind != Kind::Text && one.coverage > 0.0 && self.question.target == Some(one.event.modality)
        };
        let firmest =
            found.iter().filter(|one| counts(one)).map(|one| fitness::support(&one.event)).fold(1.0, f32::max);
        let wanted = self.question.wanted;
        let any_wanted = found.iter().any(|one| wanted.wants(&one.event));
        for one in &mut found {
            if any_wanted {
                one.score *= wanted.share(&one.event, one.coverage);
            }
            // Who asks without a word for a sense asks for what was seen or said.
            if self.question.modality == QuestionModality::Audiovisual && one.event.kind == Kind::Sound {
                one.score *= MERE_SOUND;
            }
            if counts(one) {
                one.score *= 1.0 + FIRMEST * fitness::support(&one.event) / firmest;
            }
        }
        self.weigh_classes(&mut found, span.or(self.hard))?;
        if self.question.target.is_some() || self.question.category.is_some() {
            rank(&mut found);
        }
        self.by_sight(&self.question.timeless, span.or(self.hard), &mut found, trace)?;
        if let Some(occurrence) = self.question.occurrence {
            prefer(occurrence, &mut found);
        }
        Ok(found)
    }

    /// What the scene looked like for the longest time: of the scenes of one look the longest first; `None` if no scene
    /// was told.
    fn longest(&self) -> Result<Option<Vec<Found>>, ReadError> {
        let search = self.reader.search();
        let span = self.hard.or_else(|| search.session(None));
        if let Some(places) = Places::of(self.reader, span)? {
            let scenes = places.longest().into_iter().take(self.limit.max(READ));
            return Ok(Some(scenes.map(|event| self.scene(event)).collect()));
        }
        let query = SearchQuery { span, kinds: vec![Kind::Caption], limit: SCENES, ..SearchQuery::default() };
        let mut looks: BTreeMap<String, (Duration, Vec<Event>)> = BTreeMap::new();
        for hit in search.search(&query) {
            let Some(event) = self.reader.event(hit.id)? else { continue };
            if event.origin == Origin::Perceived {
                let look = looks.entry(look(&event)).or_default();
                look.0 += event.span.end.since(event.span.start);
                look.1.push(event);
            }
        }
        let most = looks.into_values().max_by_key(|(length, _)| *length);
        Ok(most.map(|(_, mut events)| {
            events.sort_by_key(|event| (std::cmp::Reverse(event.span.end.since(event.span.start)), event.id));
            events.into_iter().take(self.limit.max(READ)).map(|event| self.scene(event)).collect()
        }))
    }

    /// A candidate that is as good as any.
    fn scene(&self, event: Event) -> Found {
        let terms = terms_of_event(&event);
        let coverage = self.question.content.coverage(&terms);
        Found { event, score: 1.0, cosine: None, terms, coverage }
    }

    /// What was seen or heard in a part of the session, the firmest first.
    fn within(&self, span: TimeSpan, modality: Modality) -> Result<Vec<Found>, ReadError> {
        let mut found = self.listing(span, Some(modality))?;
        for one in &mut found {
            let inside = overlap(one.event.span, span).as_secs_f32() / length(one.event.span);
            one.score =
                self.question.wanted.share(&one.event, one.coverage) * one.event.confidence * inside + one.coverage;
        }
        rank(&mut found);
        Ok(found)
    }

    /// Of a question of a kind ("which animal"): the class that memory supports most comes first, and of its events the
    /// firmest.
    fn weigh_classes(&self, found: &mut Vec<Found>, span: Option<TimeSpan>) -> Result<(), ReadError> {
        let Some(category) = &self.question.category else { return Ok(()) };
        let mut supports: Vec<(&str, f32)> = Vec::new();
        for class in lexicon::classes_of(category) {
            let query = SearchQuery { text: (*class).into(), span, limit: WEIGHED, ..SearchQuery::default() };
            let mut support = 0.0;
            let mut firmest: Option<(Found, f32)> = None;
            for hit in self.reader.search().search(&query).into_iter().filter(|hit| hit.lexical > 0.0) {
                let Some(event) = self.reader.event(hit.id)? else { continue };
                let of_sense = self.question.target.is_none_or(|target| target == event.modality);
                if !of_sense || !matches!(event.kind, Kind::Object | Kind::Caption | Kind::Sound) {
                    continue;
                }
                let own = fitness::support_of(&event, class);
                support += own;
                if firmest.as_ref().is_none_or(|(_, most)| own > *most) {
                    let terms = terms_of_event(&event);
                    let coverage = self.question.content.coverage(&terms);
                    firmest = Some((Found { event, score: 0.0, cosine: None, terms, coverage }, own));
                }
            }
            if let Some((firmest, _)) = firmest {
                if !found.iter().any(|one| one.event.id == firmest.event.id) {
                    found.push(firmest);
                }
                supports.push((class, support));
            }
        }
        let most = supports.iter().fold(0.0_f32, |most, (_, support)| most.max(*support));
        if most <= 0.0 {
            return Ok(());
        }
        let best = found.iter().fold(0.0_f32, |best, one| best.max(one.score));
        let share = |one: &Found| {
            let held = supports.iter().filter(|(class, _)| one.terms.contains(&term_of(class)));
            held.map(|(class, support)| (support / most, fitness::support_of(&one.event, class)))
                .max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let firmest = found.iter().filter_map(&share).fold(0.0_f32, |most, (_, own)| most.max(own));
        for one in found.iter_mut() {
            one.score = match share(one) {
                // The class decides; the other words of the question only order its events.
                Some((share, own)) if one.event.kind != Kind::Text => {
                    let firm = 0.5 + 0.5 * own / firmest;
                    best * (WEAK_CLASS + (1.0 - WEAK_CLASS) * share) + 0.2 * best * firm + 0.2 * one.score
                }
                // What was said of one is weighed by its words alone.
                Some(_) => one.score,
                None => OF_NO_CLASS * one.score,
            };
        }
        Ok(())
    }

    /// The object classes that words cover, where memory holds the class and not the word.
    fn classes(&self, text: &str) -> Vec<Vec<String>> {
        let search = self.reader.search();
        let held = |word: &str| search.terms(word).first().is_some_and(|term| term.documents > 0);
        let mut groups = Vec::new();
        for word in words(text) {
            let classes = lexicon::classes_of(&word);
            // Where it is looked for by sight, what was said with the word is not all that there is.
            if classes.is_empty() || (held(&word) && self.question.target != Some(Modality::Visual)) {
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
        self.read_words(hits, content, READ)
    }

    /// Reads events, and the words of the first `most` of them.
    fn read_words(&self, hits: &[Hit], content: &Content, most: usize) -> Result<Vec<Found>, ReadError> {
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            // Forgotten since the snapshot: passed over.
            let Some(event) = self.reader.event(hit.id)? else { continue };
            let terms = if found.len() < most { terms_of_event(&event) } else { Terms::new() };
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
        let firmest = cues.iter().fold(f32::MIN_POSITIVE, |most, cue| most.max(cue.support));
        let mut found: Vec<(Found, usize)> = Vec::new();
        for (place, cue) in cues.iter().enumerate() {
            for mut one in self.placed_by(relation.order, relation.direct, cue, &main)? {
                one.score *= LEAST_FIRM + (1.0 - LEAST_FIRM) * cue.support / firmest;
                match found.iter_mut().find(|(other, _)| other.event.id == one.event.id) {
                    Some(known) if known.0.score < one.score => *known = (one, place),
                    Some(_) => {}
                    None => found.push((one, place)),
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score).then(a.event.id.cmp(&b.event.id)));
        // What is asked for has a content of its own, and nothing at that time holds it: the words decide, not the time.
        // What was perceived has few words, and then the sense that is asked for is enough.
        let perceived = |cue: &Cue| cue.found.event.kind != Kind::Text && self.question.target.is_some();
        let answers = |best: &Found, cue: &Cue| main.is_empty() || best.coverage >= CUE_COVERAGE || perceived(cue);
        let Some((first, place)) = found.first().filter(|(best, place)| answers(best, &cues[*place])) else {
            trace.push(step("relation", format!("nothing fitting {:?} it", relation.order)));
            return Ok(None);
        };
        let (order, cue) = (relation.order, &cues[*place]);
        let weak = cue.found.coverage < CUE_COVERAGE && cue.found.cosine.is_none_or(|cosine| cosine < SAME_MEANING);
        let event = cue.found.event.clone();
        // The cue itself is evidence, too, after what it places.
        let at = found.len().min(BEFORE_THE_CUE);
        let cue = Found { score: found[at - 1].0.score.min(first.score), ..cue.found.clone() };
        let mut found: Vec<Found> = found.into_iter().map(|(one, _)| one).collect();
        let placed = found.iter().map(|one| one.event.id).collect();
        found.insert(at, cue);
        let way = Way::Relation { cue: Box::new(event), order, placed, weak };
        let retrieval = Retrieval { found, way, in_time: true, counted: None, trace: vec![] };
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
            let suits = self.question.wanted.share(&one.event, one.coverage);
            one.score = suits * cue.found.coverage * closeness(order, one.event.span, cue.span) + one.coverage;
        }
        Ok(found)
    }

    /// The events that a cue means: those that hold as much of it as the best. Adjoining ones are one. They are looked for
    /// by the sense that perceived the cue, if that can be told, and by any only where it has none.
    fn cues(&self, relation: &Relation) -> Result<Vec<Cue>, ReadError> {
        let other = |sense| match sense {
            Modality::Audio => Modality::Visual,
            Modality::Visual => Modality::Audio,
        };
        // What was heard while something happened: that was seen, if nothing tells otherwise.
        let implied = || self.question.target.filter(|_| relation.order == Order::During).map(other);
        if let Some(sense) = super::classify::sense(&relation.cue).or_else(implied) {
            let cues = self.cues_of(relation, Some(sense))?;
            if !cues.is_empty() {
                return Ok(cues);
            }
        }
        self.cues_of(relation, None)
    }

    fn cues_of(&self, relation: &Relation, sense: Option<Modality>) -> Result<Vec<Cue>, ReadError> {
        let content = Content::of(&relation.cue, self.reader.search());
        let query = SearchQuery {
            text: relation.cue.clone(),
            alternatives: self.classes(&relation.cue),
            embedding: self.embeddings.cue.clone(),
            span: self.hard,
            modality: sense,
            limit: if sense.is_some() { SIGHTINGS } else { READ },
            ..SearchQuery::default()
        };
        let hits = nearest::search(self.reader, query);
        let mut found = self.read_words(&hits, &content, SIGHTINGS)?;
        let meant =
            |one: &Found| one.coverage >= CUE_COVERAGE || one.cosine.is_some_and(|cosine| cosine >= SAME_MEANING + 0.1);
        if found.iter().any(meant) {
            found.retain(meant);
        } else {
            // What was seen or heard is told in fewer words than a person uses: some of them are enough.
            found.retain(|one| one.coverage >= WEAK_CUE && one.event.kind != Kind::Text);
            found.sort_by(|a, b| b.coverage.total_cmp(&a.coverage));
        }
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
                    let support = fitness::support(&one.event);
                    if support > cue.support {
                        (cue.support, cue.found) = (support, one);
                    }
                }
                None => {
                    let support = fitness::support(&one.event);
                    cues.push(Cue { span, ids: HashSet::from([one.event.id]), support, found: one });
                }
            }
        }
        match self.question.occurrence {
            Some(Occurrence::First) => cues.sort_by_key(|cue| cue.span.start),
            Some(Occurrence::Last) => cues.sort_by_key(|cue| std::cmp::Reverse(cue.span.start)),
            // Of what was told, the best by words and meaning is first already.
            None if cues.iter().any(|cue| cue.found.event.kind == Kind::Text) => {}
            None => cues.sort_by(|a, b| {
                let by_words = b.found.coverage.total_cmp(&a.found.coverage);
                by_words.then(b.support.total_cmp(&a.support)).then(a.span.start.cmp(&b.span.start))
            }),
        }
        cues.truncate(if self.question.occurrence.is_some() { 1 } else { MOST_CUES });
        Ok(cues)
    }
}

/// What a scene looks like: its colours, or its words where it has none.
fn look(scene: &Event) -> String {
    match scene.attributes.get("colours") {
        Some(Value::List(colours)) => {
            let mut names: Vec<String> = Vec::new();
            Value::List(colours.clone()).for_each_text(&mut |name| names.push(name.to_owned()));
            names.sort();
            names.join(" ")
        }
        _ => scene.text.clone(),
    }
}

/// An occurrence of the event that a question is placed by.
struct Cue {
    found: Found,
    /// Of every event that tells of it.
    ids: HashSet<EventId>,
    span: TimeSpan,
    /// How firmly the firmest of them was perceived.
    support: f32,
}

/// Where in time to look, given the event that a question is placed by.
fn window(order: Order, direct: bool, cue: TimeSpan, hard: Option<TimeSpan>) -> Option<TimeSpan> {
    let reach = if direct { DIRECTLY } else { SOON };
    let window = match order {
        Order::During => TimeSpan { start: cue.start.saturating_sub(WIDENED), end: cue.end.saturating_add(WIDENED) },
        Order::After => TimeSpan { start: cue.end.saturating_sub(TOUCHING), end: cue.end.saturating_add(reach) },
        Order::Before => TimeSpan { start: cue.start.saturating_sub(reach), end: cue.start.saturating_add(TOUCHING) },
    };
    match hard {
        Some(hard) => super::question::intersection(window, hard),
        None => Some(window),
    }
}

fn follows(order: Order, span: TimeSpan, cue: TimeSpan) -> bool {
    match order {
        Order::During => true,
        Order::After => span.start > cue.start && span.start.saturating_add(TOUCHING) >= cue.end,
        Order::Before => span.end < cue.end && span.end <= cue.start.saturating_add(TOUCHING),
    }
}

/// From 1 for what lies at the cue to 0 far away.
fn closeness(order: Order, span: TimeSpan, cue: TimeSpan) -> f32 {
    let gap = match order {
        Order::During => {
            let shared = overlap(span, cue).as_secs_f32();
            return 0.5 * shared / length(cue) + 0.5 * shared / length(cue).min(length(span));
        }
        Order::After => span.start.since(cue.end),
        Order::Before => cue.start.since(span.end),
    };
    1.0 / (1.0 + gap.as_secs_f32() / 10.0)
}

fn overlap(a: TimeSpan, b: TimeSpan) -> Duration {
    a.end.min(b.end).since(a.start.max(b.start))
}

/// In seconds; a moment counts as one.
fn length(span: TimeSpan) -> f32 {
    span.end.since(span.start).as_secs_f32().max(1.0)
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
