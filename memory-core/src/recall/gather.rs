//! Which events a question is answered from: by words and meaning, by its time, or by another event that places it.

use std::time::Duration;

use super::answerers::rank::rank;
use super::content::Content;
use super::pool::{Found, Pool, merged};
use super::question::{Question, UNPERCEIVED, intersection};
use crate::language::english::question::{Ask, Cue, Occurrence, Order};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::{Kind, Modality, ReadError, TimeSpan, TraceStep};

/// How far a cue reaches on both sides when something happened meanwhile (HippoMM 4.3, δ).
const WIDENED: Duration = Duration::from_secs(2);
/// How far "right after" reaches, and "after".
const DIRECTLY: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(600);
/// How far it is looked where nothing of what is asked for is so near.
const LATER: [Duration; 2] = [Duration::from_secs(3_600), Duration::from_secs(86_400)];
/// How long a state that was told in one moment is taken to last where nothing lies at the moment itself.
const LASTING: Duration = Duration::from_secs(1_800);
/// What follows may begin so long before the end of what it follows: two encoders part a stretch at different times.
const TOUCHING: Duration = Duration::from_secs(1);
/// How much of a cue's content an event must hold to be the event meant.
const CUE_COVERAGE: f32 = 0.34;
/// Events that are read for whom a role means.
const ALIASES: usize = 24;
/// A cosine that is as good as words.
const ALIKE: f32 = 0.5;
/// What is left of its coverage of an event that lies outside the time that is asked for.
const OUT_OF_TIME: f32 = 0.5;
/// Candidates that are put together to scenes.
const SCENE: usize = 64;
/// How much of the scene's share an event takes over.
const OF_SCENE: f32 = 0.5;
/// How long somebody speaks of what they did.
const TOPIC: Duration = Duration::from_secs(1_800);
/// Events that lie in the time asked for.
const PLACED: usize = 64;
/// Occurrences of a cue that are looked at.
const CUES: usize = 4;

/// What was gathered.
pub(super) struct Gathered {
    /// Best first.
    pub found: Vec<Found>,
    /// The event that places them.
    pub cue: Option<Found>,
    /// Whether they lie in time as the cue says.
    pub placed: bool,
    /// How much of the cue the event that places them holds; 1 where there is no cue.
    pub cue_coverage: f32,
}

/// The names of persons and animals that the question calls by what they are: "the plumber" is who was told to be one.
pub(super) fn aliases(reader: &dyn super::Reader, question: &Question<'_>) -> Result<Vec<String>, ReadError> {
    use crate::language::english::syntax::{NounKind, NounPhrase};
    let mut names: Vec<String> = Vec::new();
    for noun in question.named.iter().flat_map(|noun| std::iter::once(noun).chain(noun.owner.as_deref())) {
        let animal = noun.kind == NounKind::Common && super::reading::can_be_animal(&noun.head);
        let role = (super::reading::is_person(noun) || animal) && noun.modifiers.is_empty() && !noun.is_pronoun();
        if !role {
            continue;
        }
        let holding = crate::index::Holding {
            groups: vec![vec![noun.head.clone()]],
            limit: ALIASES,
            ..crate::index::Holding::default()
        };
        for id in reader.search().holding(&holding) {
            let Some(event) = reader.event(id)? else { continue };
            let reading = super::reading::Reading::of(event, reader.zone());
            for told in reading.clauses().flat_map(|clause| clause.subject.iter().chain(&clause.objects)) {
                // "Mr Tamm the plumber", "Grandma Greta".
                let beside = told.kind == NounKind::Name
                    && told
                        .also
                        .iter()
                        .any(|also: &NounPhrase| also.head == noun.head && also.kind == NounKind::Common);
                let before = told.kind == NounKind::Name && told.modifiers.contains(&noun.head);
                // "The plumber, Mr Tamm, comes".
                let named = super::answerers::roles::apposed(told, &reading).filter(|_| told.head == noun.head);
                if beside || before || named.is_some() {
                    let name = named.unwrap_or(told).head.clone();
                    if name != noun.head && !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
    }
    Ok(names)
}

/// Gathers the events for a question. That nothing was to be heard or seen comes last, unless the question is about it.
pub(super) fn gather(
    pool: &Pool<'_>,
    cue_embedding: Option<&Vec<f32>>,
    trace: &mut Vec<TraceStep>,
) -> Result<Gathered, ReadError> {
    let mut gathered = candidates(pool, cue_embedding, trace)?;
    let is_beside = |found: &Found| found.reading.event.attributes.contains_key("signal") && !is_about(found);
    gathered.found.sort_by_key(is_beside);
    Ok(gathered)
}

/// Whether the question's words or its meaning are those of the event.
fn is_about(found: &Found) -> bool {
    found.coverage.of_content >= CUE_COVERAGE || found.cosine.is_some_and(|cosine| cosine >= ALIKE)
}

fn candidates(
    pool: &Pool<'_>,
    cue_embedding: Option<&Vec<f32>>,
    trace: &mut Vec<TraceStep>,
) -> Result<Gathered, ReadError> {
    let question = pool.question;
    let searched = search(pool, trace)?;
    let implied = implied(question, &searched);
    let relation = match (question.relation(), &implied) {
        (Some((relation, content)), _) => Some((relation, content, cues(pool, relation, content, cue_embedding)?)),
        (None, Some((relation, cues))) => Some((relation, &question.content, cues.clone())),
        (None, None) => None,
    };
    let placing = relation.as_ref().and_then(|(.., cues)| cues.first().cloned());
    let coverage_of_cue = |cue: &Found| cue.coverage.of_content.max(cue.cosine.unwrap_or(0.0));
    if let Some((relation, content, cues)) = relation
        && let Some(best) = cues.first()
    {
        trace.push(step("cue", format!("{}: {}", best.reading.event.id, best.reading.event.text)));
        let placed = placed(pool, relation, content, &cues)?;
        if !placed.is_empty() {
            // What is asked for and what places it may stand in one event that was told.
            let whole = searched.iter().find(|found| {
                found.reading.event.kind == Kind::Text
                    && !question.content.is_empty()
                    && found.coverage.of_content >= 0.75
                    && content.coverage(&found.reading).of_content >= 0.6
            });
            let mut found = placed;
            if let Some(whole) = whole {
                found.retain(|one| one.id() != whole.id());
                found.insert(0, Found { placed: 1.0, ..whole.clone() });
            }
            let cue = best.clone();
            let found = merged(found, vec![cue.clone()]);
            let rest = searched.into_iter().map(|one| Found { score: 0.0, ..one }).collect();
            let all = merged(found, rest);
            let cue_coverage = coverage_of_cue(&cue);
            return Ok(Gathered { found: all, cue: Some(cue), placed: true, cue_coverage });
        }
    }
    let missing = if question.relation().is_some() { 0.3 } else { 1.0 };
    // Nothing but a time was asked for.
    if let Some(bound) = question.bound().filter(|_| question.is_bounded() || question.hard.is_some())
        && (question.content.is_empty()
            || (question.content.is_light() || question.content.known() < 0.34) && question.is_bounded())
    {
        let mut listed = pool.listing(Some(bound), question.sense, Vec::new(), false, 300, &question.content)?;
        listed.sort_by(|a, b| {
            let fit = |found: &Found| {
                shared(found.span(), bound) + 0.1 * found.coverage.of_content + kind_share(question, found)
            };
            fit(b).total_cmp(&fit(a)).then(a.id().cmp(&b.id()))
        });
        if !listed.is_empty() {
            trace.push(step("time", format!("everything between {} and {}", bound.start, bound.end)));
            return Ok(Gathered { found: listed, cue: None, placed: true, cue_coverage: missing });
        }
    }
    if question.content.is_empty() && searched.is_empty() {
        let latest = pool.listing(question.bound(), question.sense, Vec::new(), true, 20, &question.content)?;
        return Ok(Gathered { found: latest, cue: None, placed: false, cue_coverage: missing });
    }
    trace.push(step("search", format!("{} candidates by words and meaning", searched.len())));
    // Where a thing was before may be told by what moved it, and by nothing else.
    let moved = placing.filter(|_| question.ask() == Ask::Place);
    let cue_coverage = moved.as_ref().map_or(missing, coverage_of_cue);
    Ok(Gathered { found: searched, cue: moved, placed: false, cue_coverage })
}

/// A question for one sense that names what another one noticed: "what was to be heard on the drive?". What was noticed
/// places what is asked for.
fn implied(question: &Question<'_>, searched: &[Found]) -> Option<(Cue, Vec<Found>)> {
    let sense = question.sense?;
    // Senses have fewer words than people.
    let mut content = question.content.within(question.text);
    content.discount_unknown(UNPERCEIVED);
    let shares: Vec<f32> = searched
        .iter()
        .map(|found| found.coverage.of_content.max(content.coverage(&found.reading).of_content))
        .collect();
    let best = shares.iter().copied().fold(0.0, f32::max);
    let of_sense = searched.iter().zip(&shares).filter(|(found, _)| found.reading.event.modality == sense);
    let own = of_sense.map(|(_, share)| *share).fold(0.0, f32::max);
    if best < 0.45 || own > best - 0.25 || question.asked.class.is_none() && sense == Modality::Visual {
        return None;
    }
    let suits = |(found, share): &(&Found, &f32)| **share >= best - 0.05 && found.reading.event.modality != sense;
    let mut cues: Vec<Found> = searched.iter().zip(&shares).filter(suits).map(|(found, _)| found.clone()).collect();
    cues.truncate(CUES);
    Some((Cue { order: Order::During, direct: false, range: 0..0 }, cues))
}

/// By words and meaning, inside the question's bounds; those of the sense that is asked for are candidates in any case.
fn search(pool: &Pool<'_>, trace: &mut Vec<TraceStep>) -> Result<Vec<Found>, ReadError> {
    let question = pool.question;
    let bound =
        if crate::language::english::time::Tense::Future == question.tense { question.hard } else { question.bound() };
    let text = if question.is_bounded() { question.timeless.as_str() } else { question.text };
    let mut found = pool.search(text, pool.embedding.as_ref(), &question.content, bound, None)?;
    // A time in what is asked may be that of the telling, or part of what was told: what suits better elsewhere is found, too.
    if question.is_bounded() && !question.content.is_empty() && !found.iter().any(is_about) {
        let anywhere = pool.search(question.text, pool.embedding.as_ref(), &question.content, question.hard, None)?;
        trace.push(step("time", "nothing that suits within the time: searched without it".into()));
        let outside = anywhere.into_iter().map(|mut one| {
            // "It stormed last night", told in the morning.
            let told = bound.is_some_and(|bound| one.reading.times.iter().any(|time| time.span.overlaps(bound)));
            let share = if told { 1.0 } else { OUT_OF_TIME };
            one.coverage.of_content *= share;
            one.relevance *= share;
            one
        });
        found = merged(found, outside.collect());
        found.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(a.id().cmp(&b.id())));
    }
    if let Some(sense) = question.sense {
        let of_sense = pool.search(text, pool.embedding.as_ref(), &question.content, bound, Some(sense))?;
        found = merged(found, of_sense);
    }
    by_scene(&mut found, &question.content);
    by_topic(&mut found, &question.content);
    pool.by_sight(text, bound, &mut found, trace)?;
    Ok(found)
}

/// What several events of one moment hold together speaks for each of them: a scene is told in pieces (HippoMM's
/// segments).
fn by_scene(found: &mut [Found], content: &Content) {
    let seen: Vec<Option<(TimeSpan, Vec<f32>)>> = found
        .iter()
        .take(SCENE)
        .map(|one| {
            let event = &one.reading.event;
            let piece =
                event.kind != Kind::Text && event.span.end > event.span.start && !matches!(event.kind, Kind::Action);
            piece.then(|| (event.span, content.held(&one.reading)))
        })
        .collect();
    for (place, one) in found.iter_mut().enumerate().take(SCENE) {
        let Some((span, held)) = &seen[place] else { continue };
        let mut together = held.clone();
        for (other, other_held) in seen.iter().flatten() {
            if overlaps_well(*span, *other) {
                together.iter_mut().zip(other_held).for_each(|(best, held)| *best = best.max(*held));
            }
        }
        let scene = content.covered_by(&together);
        if scene > one.coverage.of_content {
            one.coverage.of_content = (1.0 - OF_SCENE) * one.coverage.of_content + OF_SCENE * scene;
        }
    }
}

/// What somebody says of "it" after doing something is said of what they did: "the belt was torn, it runs again" of the machine that
/// they opened.
fn by_topic(found: &mut [Found], content: &Content) {
    let pool: Vec<Found> = found.iter().take(SCENE).cloned().collect();
    for one in found.iter_mut().take(SCENE).filter(|one| one.reading.event.kind == Kind::Text) {
        let event = &one.reading.event;
        let (Some(speaker), at) = (&event.entity, event.span.start) else { continue };
        let pronoun = |noun: &NounPhrase| matches!(noun.head.as_str(), "it" | "that" | "they");
        let spoken_of = |clause: &Clause| clause.subject.iter().chain(&clause.objects).any(pronoun);
        if !one.reading.clauses().any(spoken_of) {
            continue;
        }
        let deed = pool.iter().filter(|other| {
            let done = matches!(other.reading.event.kind, Kind::Action | Kind::Caption);
            let before = other.span().end <= at && at.since(other.span().end) <= TOPIC;
            done && before && other.reading.event.entity.as_ref() == Some(speaker)
        });
        let Some(deed) = deed.max_by_key(|deed| (deed.span().start, deed.id())) else { continue };
        let mut together = content.held(&one.reading);
        together.iter_mut().zip(content.held(&deed.reading)).for_each(|(best, held)| *best = best.max(held));
        let both = content.covered_by(&together);
        if both > one.coverage.of_content {
            one.coverage.of_content = (1.0 - OF_SCENE) * one.coverage.of_content + OF_SCENE * both;
        }
    }
}

/// Whether two spans share most of the shorter one.
fn overlaps_well(a: TimeSpan, b: TimeSpan) -> bool {
    let length = |span: TimeSpan| span.end.since(span.start).as_secs_f32().max(0.1);
    intersection(a, b).is_some_and(|both| length(both) >= 0.5 * length(a).min(length(b)))
}

/// The kind of event that a verb of doing asks for.
fn kind_share(question: &Question<'_>, found: &Found) -> f32 {
    use crate::language::english::question::Ask;
    match (question.ask(), found.reading.event.kind) {
        (Ask::Action | Ask::Thing, Kind::Action) => 0.2,
        (Ask::Action | Ask::Thing, Kind::Caption) => 0.1,
        _ => 0.0,
    }
}

/// The share that two spans have in common, of both together.
fn shared(a: TimeSpan, b: TimeSpan) -> f32 {
    let length = |span: TimeSpan| span.end.since(span.start).as_secs_f32().max(0.1);
    let Some(both) = intersection(a, b) else { return 0.0 };
    let common = length(both);
    common / (length(a) + length(b) - common).max(0.1)
}

/// The events that a cue means, best first.
fn cues(
    pool: &Pool<'_>,
    relation: &Cue,
    content: &Content,
    embedding: Option<&Vec<f32>>,
) -> Result<Vec<Found>, ReadError> {
    let question = pool.question;
    let text = question.part(&relation.range);
    let mut found = pool.search(text, embedding, content, question.bound(), None)?;
    for one in &mut found {
        one.coverage = content.coverage(&one.reading);
        // It was the cue that was searched for, and not the question.
        one.relevance = 0.0;
    }
    let value = |found: &Found| found.coverage.of_content + 0.3 * found.cosine.unwrap_or(0.0).max(0.0);
    found.retain(|one| one.coverage.of_content >= CUE_COVERAGE || one.cosine.is_some_and(|cosine| cosine >= 0.5));
    found.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.id().cmp(&b.id())));
    let best = found.first().map_or(0.0, value);
    found.retain(|one| value(one) >= best - 0.1);
    match question.asked.occurrence {
        Some(Occurrence::First) => found.sort_by_key(|one| (one.span().start, one.id())),
        Some(Occurrence::Last) => found.sort_by_key(|one| std::cmp::Reverse((one.span().start, one.id()))),
        Some(Occurrence::Nth(n)) => {
            found.sort_by_key(|one| (one.span().start, one.id()));
            found.drain(..(n - 1).min(found.len()));
        }
        _ => {}
    }
    found.truncate(if question.asked.occurrence.is_some() { 1 } else { CUES });
    Ok(found)
}

/// What lies in time as asked to the cues, best first.
fn placed(pool: &Pool<'_>, relation: &Cue, content: &Content, cues: &[Found]) -> Result<Vec<Found>, ReadError> {
    let near = if relation.direct { DIRECTLY } else { SOON };
    let mut found = Vec::new();
    // Seconds part what follows directly in a film, and minutes what people do.
    for reach in std::iter::once(near).chain(LATER) {
        found = placed_within(pool, relation, content, cues, reach)?;
        if !found.is_empty() || relation.order == Order::During {
            break;
        }
    }
    // A state that was told in one moment lasts: "when you were locked in" reaches on.
    let states: Vec<Found> = cues.iter().filter(|cue| cue.reading.event.kind == Kind::State).cloned().collect();
    if found.is_empty() && relation.order == Order::During && !states.is_empty() {
        let lasting = Cue { order: Order::After, ..relation.clone() };
        found = placed_within(pool, &lasting, content, &states, LASTING)?;
    }
    Ok(found)
}

/// The same, up to so far from a cue.
#[expect(clippy::cast_precision_loss, reason = "a few cues")]
fn placed_within(
    pool: &Pool<'_>,
    relation: &Cue,
    content: &Content,
    cues: &[Found],
    reach: Duration,
) -> Result<Vec<Found>, ReadError> {
    let question = pool.question;
    let mut all: Vec<(f32, Found)> = Vec::new();
    for (place, cue) in cues.iter().enumerate() {
        let Some(window) = window(relation, cue.span(), question.bound(), reach) else { continue };
        let sense = question.sense.or_else(|| {
            // What was in view while something was heard, and the other way round.
            (relation.order == Order::During
                && cue.reading.event.modality == Modality::Audio
                && question.speech.is_none())
            .then_some(Modality::Visual)
        });
        let latest = relation.order == Order::Before;
        let mut listed = pool.listing(Some(window), sense, Vec::new(), latest, PLACED, &question.content)?;
        if listed.is_empty() && question.sense.is_none() {
            listed = pool.listing(Some(window), None, Vec::new(), latest, PLACED, &question.content)?;
        }
        for found in listed {
            if cues.iter().any(|cue| cue.id() == found.id()) || !follows(relation.order, found.span(), cue.span()) {
                continue;
            }
            // What only tells the cue in other words is no answer.
            if relation.range.end > 0 && content.coverage(&found.reading).of_content >= 0.8 {
                continue;
            }
            let value =
                closeness(relation.order, found.span(), cue.span()) + rank(question, &found) - 0.1 * place as f32;
            let found = Found {
                placed: (0.4 + 0.6 * closeness(relation.order, found.span(), cue.span())) * (1.0 - 0.1 * place as f32),
                ..found
            };
            match all.iter_mut().find(|(_, known)| known.id() == found.id()) {
                Some(known) => known.0 = known.0.max(value),
                None => all.push((value, found)),
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id().cmp(&b.1.id())));
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// Where in time to look, given the event that a question is placed by.
fn window(relation: &Cue, cue: TimeSpan, bound: Option<TimeSpan>, reach: Duration) -> Option<TimeSpan> {
    let window = match relation.order {
        Order::During => TimeSpan { start: cue.start.saturating_sub(WIDENED), end: cue.end.saturating_add(WIDENED) },
        Order::After => TimeSpan { start: cue.end.saturating_sub(TOUCHING), end: cue.end.saturating_add(reach) },
        Order::Before => TimeSpan { start: cue.start.saturating_sub(reach), end: cue.start.saturating_add(TOUCHING) },
    };
    match bound {
        Some(bound) => intersection(window, bound),
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
        Order::During => return shared(span, cue).sqrt(),
        Order::After => span.start.since(cue.end),
        Order::Before => cue.start.since(span.end),
    };
    1.0 / (1.0 + gap.as_secs_f32() / 10.0)
}

pub(super) fn step(step: &str, detail: String) -> TraceStep {
    TraceStep { step: step.into(), detail }
}
