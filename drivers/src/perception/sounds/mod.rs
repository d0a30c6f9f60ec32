//! Sounds of a segment, one event per sound.

mod ontology;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::segment::Segment;
use ontology::{Family, families, saying, telling};

use super::sentence::capitalised;
use crate::encoders::{SoundClassifier, SoundInterval};

/// Pause up to which sounds of one family are one event.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Minimum score of a sound that is heard in a single patch.
const MIN_SINGLE_SCORE: f32 = 0.5;
/// Minimum length of what a boundary leaves of a sound on one side. Times are no finer.
const MIN_PART: Duration = Duration::from_millis(900);
/// Maximum number of names besides the first one, ...
const MAX_OTHER_NAMES: usize = 2;
/// ... and the minimum share of its score that they reach.
const MIN_OTHER_SHARE: f32 = 0.4;

/// A sound from `start` to `end`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    pub start: Duration,
    pub end: Duration,
    /// Sentence that describes it.
    pub text: String,
    /// Every class that was heard, surest first.
    pub names: Vec<Arc<str>>,
    pub confidence: f32,
}

/// Puts the intervals of a segment together. Speech is told only `with_speech`.
pub(super) fn heard(
    model: &dyn SoundClassifier,
    segment: &Segment,
    intervals: &[SoundInterval],
    with_speech: bool,
) -> Vec<Heard> {
    let families = families(model.labels());
    let tell = model.thresholds().tell;
    let mut groups: BTreeMap<Family, Vec<Vec<&SoundInterval>>> = BTreeMap::new();
    for interval in intervals {
        let family = families.get(interval.class).copied().unwrap_or(Family::Single(interval.class));
        if family == Family::Untold || (family == Family::Speech && !with_speech) {
            continue;
        }
        let stretches = groups.entry(family).or_default();
        // Intervals come in order of their begins.
        let near = |stretch: &&mut Vec<&SoundInterval>| {
            stretch.iter().map(|other| other.end).max().is_some_and(|end| interval.start <= end + MAX_PAUSE)
        };
        match stretches.last_mut().filter(|stretch| near(stretch)) {
            Some(stretch) => stretch.push(interval),
            None => stretches.push(vec![interval]),
        }
    }
    let stretches =
        groups.into_iter().flat_map(|(family, stretches)| stretches.into_iter().map(move |stretch| (family, stretch)));
    let mut heard: Vec<Heard> = stretches.filter_map(|(family, stretch)| one(family, &stretch, tell)).collect();
    let cut =
        |heard: &Heard| heard.start <= segment.start && segment.start > Duration::ZERO || heard.end >= segment.end;
    heard.retain(|heard| heard.end - heard.start >= MIN_PART || !cut(heard));
    heard.sort_by_key(|heard| (heard.start, heard.end));
    heard
}

fn one(family: Family, stretch: &[&SoundInterval], tell: f32) -> Option<Heard> {
    let confidence = stretch.iter().map(|interval| interval.peak).fold(0.0, f32::max);
    let patches = stretch.iter().map(|interval| interval.patches).max().unwrap_or(0);
    if confidence < tell || (patches < 2 && confidence < MIN_SINGLE_SCORE) {
        return None;
    }
    let mut peaks: BTreeMap<&Arc<str>, f32> = BTreeMap::new();
    for interval in stretch {
        let peak = peaks.entry(&interval.label).or_insert(0.0);
        *peak = peak.max(interval.peak);
    }
    let mut names: Vec<(&Arc<str>, f32)> = peaks.iter().map(|(name, peak)| (*name, *peak)).collect();
    let text = match family {
        Family::Speech => "Someone is speaking.".to_owned(),
        Family::Music => music(&names),
        _ => described(&names),
    };
    names.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    // The stretch is as long as what was firmly heard; what faintly rings on makes it no longer.
    let firm = |interval: &&&SoundInterval| interval.peak >= tell;
    Some(Heard {
        start: stretch.iter().filter(firm).map(|interval| interval.start).min()?,
        end: stretch.iter().filter(firm).map(|interval| interval.end).max()?,
        text,
        names: names.into_iter().map(|(name, _)| Arc::clone(name)).collect(),
        confidence,
    })
}

/// What is said of a class that was heard; `None` for speech, which its words tell, and for what says nothing about the world.
pub(super) fn said(labels: &[Arc<str>], class: usize) -> Option<String> {
    let label = labels.get(class)?;
    match families(labels).get(class)? {
        Family::Speech | Family::Untold => None,
        Family::Music => Some(music(&[(label, 1.0)])),
        _ => Some(described(&[(label, 1.0)])),
    }
}

/// Best first by how sure and how telling they are.
fn ranked<'a>(names: &[(&'a Arc<str>, f32)]) -> Vec<(&'a Arc<str>, f32)> {
    let mut ranked: Vec<(&Arc<str>, f32)> = names.iter().map(|(name, peak)| (*name, peak * telling(name))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    ranked
}

/// "A dog is barking." or, where it may be another thing, "An animal is growling, or a dog is heard."
fn described(names: &[(&Arc<str>, f32)]) -> String {
    let ranked = ranked(names);
    let least = ranked.first().map_or(0.0, |(_, best)| best * MIN_OTHER_SHARE);
    let mut sayings: Vec<String> = Vec::new();
    for (name, weight) in ranked {
        let saying = saying(name);
        // "A dog is heard" adds nothing to "A dog is barking".
        let subject = saying.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let said = sayings.iter().any(|other| other.starts_with(&subject));
        if weight >= least && sayings.len() <= MAX_OTHER_NAMES && !said {
            sayings.push(saying);
        }
    }
    let mut sentence = String::new();
    for (at, saying) in sayings.iter().enumerate() {
        if at == 0 {
            sentence.push_str(saying);
        } else {
            let mut letters = saying.chars();
            let first = letters.next().map(|letter| letter.to_ascii_lowercase());
            sentence.push_str(", or ");
            sentence.extend(first.into_iter().chain(letters));
        }
    }
    capitalised(sentence + ".")
}

/// "Music is playing: drum kit, snare drum."
fn music(names: &[(&Arc<str>, f32)]) -> String {
    let of_what = |label: &str| telling(label) > 0.5;
    let named: Vec<&str> = ranked(names)
        .into_iter()
        .map(|(name, _)| &**name)
        .filter(|name| of_what(name))
        .take(MAX_OTHER_NAMES + 1)
        .collect();
    if named.is_empty() { "Music is playing.".to_owned() } else { format!("Music is playing: {}.", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(label: &str, from: u64, to: u64, peak: f32) -> SoundInterval {
        let at = Duration::from_millis;
        SoundInterval { label: Arc::from(label), class: 0, start: at(from), end: at(to), peak, patches: 3 }
    }

    fn named(family: Family, rows: &[(&str, f32)]) -> Option<Heard> {
        let intervals: Vec<SoundInterval> = rows.iter().map(|(name, peak)| interval(name, 0, 2000, *peak)).collect();
        one(family, &intervals.iter().collect::<Vec<_>>(), 0.3)
    }

    #[test]
    fn a_dog_that_barks_is_one_event_and_not_four() {
        let heard = named(Family::Animal, &[("animal", 0.9), ("pets", 0.86), ("dog", 0.82), ("bark", 0.71)]).unwrap();
        assert_eq!(heard.text, "A dog is barking.");
        assert_eq!(heard.names, ["animal", "pets", "dog", "bark"].map(Arc::from));
        assert!((heard.confidence - 0.9).abs() < 1e-6);
    }

    #[test]
    fn what_may_be_another_thing_is_told_so() {
        let heard = named(Family::Animal, &[("dog", 0.82), ("growling", 0.5), ("roaring cats", 0.35)]).unwrap();
        assert_eq!(heard.text, "An animal is growling, or a dog is heard, or a lion or tiger is roaring.");
        assert_eq!(named(Family::Animal, &[("animal", 0.6)]).unwrap().text, "An animal is heard.");
        assert_eq!(named(Family::Single(3), &[("gargling", 0.6)]).unwrap().text, "A sound of gargling is heard.");
    }

    #[test]
    fn music_is_told_with_its_instruments() {
        let heard = named(Family::Music, &[("music", 0.99), ("percussion", 0.35), ("drum kit", 0.3)]).unwrap();
        assert_eq!(heard.text, "Music is playing: drum kit, percussion.");
        assert_eq!(named(Family::Music, &[("music", 0.9)]).unwrap().text, "Music is playing.");
    }

    #[test]
    fn a_faint_or_a_short_and_unsure_sound_is_not_told() {
        assert_eq!(named(Family::Animal, &[("animal", 0.29)]), None);
        let short = SoundInterval { patches: 1, ..interval("slap", 0, 500, 0.4) };
        assert_eq!(one(Family::Single(0), &[&short], 0.3), None);
        let sure = SoundInterval { peak: 0.6, ..short };
        assert!(one(Family::Single(0), &[&sure], 0.3).is_some());
    }

    #[test]
    fn what_faintly_rings_on_makes_an_event_no_longer() {
        let rows = [interval("rain", 0, 2000, 0.8), interval("drizzle", 0, 9000, 0.2)];
        let heard = one(Family::Water, &rows.iter().collect::<Vec<_>>(), 0.3).unwrap();
        assert_eq!(heard.end, Duration::from_secs(2));
    }
}
