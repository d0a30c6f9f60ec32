use std::collections::BTreeMap;

use super::*;
use crate::random::{fraction, split_mix};
use crate::{Attributes, EpisodeId, Event, Kind, Modality, Origin, TimeSpan, Timestamp};

/// Deterministic numbers that look like noise.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        fraction(split_mix(&mut self.0))
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn direction(&mut self, dimensions: usize) -> Vec<f64> {
        unit((0..dimensions).map(|_| self.normal()).collect())
    }
}

fn unit(vector: Vec<f64>) -> Vec<f64> {
    let norm = vector.iter().map(|component| component * component).sum::<f64>().sqrt();
    vector.into_iter().map(|component| component / norm).collect()
}

fn mixed(a: &[f64], share: f64, b: &[f64]) -> Vec<f64> {
    let rest = (1.0 - share).sqrt();
    unit(a.iter().zip(b).map(|(a, b)| share.sqrt() * a + rest * b).collect())
}

fn stored(vector: &[f64]) -> Vec<i16> {
    vector.iter().map(|component| (component * 32_767.0).round() as i16).collect()
}

/// How faces or voices lie: the mean cosine of pairs of one person, of different persons, and of look-alikes.
struct LikenessModel {
    sensed: Sensed,
    dimensions: usize,
    same: f64,
    different: f64,
    alike: f64,
}

/// ArcFace R50 on LFW-like pictures; an ECAPA-TDNN on VoxCeleb-like utterances (see docs/benchmarks.md).
const FACES: LikenessModel =
    LikenessModel { sensed: Sensed::Face, dimensions: 512, same: 0.60, different: 0.05, alike: 0.30 };
const VOICES: LikenessModel =
    LikenessModel { sensed: Sensed::Voice, dimensions: 192, same: 0.65, different: 0.12, alike: 0.35 };

impl LikenessModel {
    /// The means of persons, of whom every second is a look-alike of the one before.
    fn persons(&self, count: usize, noise: &mut Noise) -> Vec<Vec<f64>> {
        let common = noise.direction(self.dimensions);
        let mut persons: Vec<Vec<f64>> = Vec::new();
        for number in 0..count {
            // Of two tracks the cosine is `same` times that of the persons' means.
            let (like, of) = match persons.last() {
                Some(last) if number % 2 == 1 => (self.alike / self.same, last.clone()),
                _ => (self.different / self.same, common.clone()),
            };
            let own = noise.direction(self.dimensions);
            // A share of the squares, so the cosine of two that share one part is the share itself for the common part,
            // and its root for a look-alike of one.
            let share = if number % 2 == 1 { like * like } else { like };
            persons.push(mixed(&of, share, &own));
        }
        persons
    }

    /// A track: some are poor, as those of a turned head or of a short word are.
    fn track(&self, person: &[f64], noise: &mut Noise) -> Vec<i16> {
        let quality = self.same + 0.12 * noise.normal();
        let share = quality.clamp(0.3, 0.9);
        stored(&mixed(person, share, &noise.direction(self.dimensions)))
    }
}

fn lesson(id: u64, sensed: Sensed, vector: Vec<i16>, start_s: i64) -> Lesson {
    let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
    let event = Event {
        id: EventId(id),
        episode: EpisodeId(1),
        origin: Origin::Perceived,
        sender_id: None,
        kind: if sensed == Sensed::Voice { Kind::Sound } else { Kind::Object },
        modality: Modality::Visual,
        text: "A person.".into(),
        span: TimeSpan::new(at(start_s), at(start_s + 4)),
        stream: None,
        source: "camera".into(),
        entity: None,
        attributes: Attributes::new(),
        confidence: 1.0,
        media: None,
        received: at(start_s),
        pose: None,
    };
    let space = format!("{}:test", sensed.name());
    Lesson { event, vectors: vec![SensedVector { sensed, space, vector }], statements: Vec::new() }
}

/// Of the anchors.
struct Measured {
    /// The share of tracks that are with most of their anchor's others.
    purity: f64,
    /// How many anchors have three tracks or more, and how many fewer.
    grown: usize,
    stray: usize,
    /// The share of tracks that are in the largest anchor of their person.
    whole: f64,
}

fn measure(anchors: &Anchors, truth: &BTreeMap<u64, usize>) -> Measured {
    let mut counts: BTreeMap<AnchorId, BTreeMap<usize, usize>> = BTreeMap::new();
    for (track, anchor) in anchors.tracks.iter() {
        let person = truth[&(track / 2)];
        *counts.entry(anchors.resolve(*anchor)).or_default().entry(person).or_default() += 1;
    }
    let pure: usize = counts.values().map(|persons| persons.values().max().copied().unwrap_or(0)).sum();
    let mut largest: BTreeMap<usize, usize> = BTreeMap::new();
    for persons in counts.values() {
        for (person, count) in persons {
            let best = largest.entry(*person).or_default();
            *best = (*best).max(*count);
        }
    }
    let all = truth.len() as f64;
    let grown = counts.values().filter(|persons| persons.values().sum::<usize>() >= 3).count();
    Measured {
        purity: pure as f64 / all,
        grown,
        stray: counts.len() - grown,
        whole: largest.values().sum::<usize>() as f64 / all,
    }
}

fn crowd(model: &LikenessModel, persons: usize, tracks: usize, seed: u64) -> Measured {
    let mut noise = Noise(seed);
    let means = model.persons(persons, &mut noise);
    let mut anchors = Anchors::default();
    let mut truth = BTreeMap::new();
    for number in 0..tracks {
        let id = number as u64 + 1;
        let person = (noise.uniform() * persons as f64) as usize % persons;
        let vector = model.track(&means[person], &mut noise);
        truth.insert(id, person);
        anchors.learn(&lesson(id, model.sensed, vector, number as i64 * 600));
    }
    measure(&anchors, &truth)
}

#[test]
fn look_alikes_do_not_collapse_and_one_person_does_not_explode() {
    for (name, model) in [("faces", FACES), ("voices", VOICES)] {
        for seed in 0..3 {
            let Measured { purity, grown, stray, whole } = crowd(&model, 20, 1000, seed);
            let found =
                format!("{name}, seed {seed}: purity {purity}, {grown} anchors and {stray} stray, {whole} whole");
            assert!(purity >= 0.995, "{found}");
            assert_eq!(grown, 20, "{found}");
            assert!(stray <= 12, "a dozen of a thousand tracks are too poor to be known: {found}");
            assert!(whole >= 0.985, "{found}");
        }
    }
}

#[test]
fn in_a_narrow_space_one_person_is_one_and_a_stranger_as_near_as_strangers_lie_there_is_not() {
    // Cosines as statistics of a voice's colour have them, with the threshold that belongs to them.
    for (cosine, expected) in [(0.91, 1), (0.85, 2)] {
        let mut noise = Noise(3);
        let (first, other) = (noise.direction(64), noise.direction(64));
        let across: f64 = first.iter().zip(&other).map(|(a, b)| a * b).sum();
        let beside = unit(other.iter().zip(&first).map(|(b, a)| b - across * a).collect());
        let second = mixed(&first, cosine * cosine, &beside);
        let mut anchors = Anchors::default();
        anchors.set_same_person((0.42, 0.86));
        anchors.learn(&lesson(1, Sensed::Voice, stored(&first), 0));
        anchors.learn(&lesson(2, Sensed::Voice, stored(&second), 600));
        assert_eq!(anchors.persons().len(), expected, "cosine {cosine}");
    }
}

#[test]
fn two_who_are_there_at_once_are_never_one() {
    let mut noise = Noise(7);
    let twin = noise.direction(512);
    let mut anchors = Anchors::default();
    let mut truth = BTreeMap::new();
    for number in 0..40_u64 {
        // Twins: the same mean, and always side by side.
        for person in 0..2 {
            let id = number * 2 + person + 1;
            truth.insert(id, person as usize);
            anchors.learn(&lesson(id, Sensed::Face, FACES.track(&twin, &mut noise), number as i64 * 60));
        }
    }
    assert!(anchors.means.len() >= 2, "{} anchors", anchors.means.len());
    for number in 0..40_u64 {
        let of = |id: u64| anchors.of_event(EventId(id)).into_iter().next().unwrap();
        assert_ne!(of(number * 2 + 1), of(number * 2 + 2), "at moment {number}");
    }
}

/// Anna and Bob talk, each mostly in view while speaking.
fn dialogue(seed: u64) -> Anchors {
    let mut noise = Noise(seed);
    let faces = FACES.persons(3, &mut noise);
    let voices = VOICES.persons(3, &mut noise);
    let mut anchors = Anchors::default();
    let mut id = 0;
    for number in 0..20_i64 {
        let speaker = [0, 2][number as usize % 2];
        let seen = if number % 5 == 4 { 2 - speaker } else { speaker };
        for (sensed, vector) in [
            (Sensed::Face, FACES.track(&faces[seen], &mut noise)),
            (Sensed::Voice, VOICES.track(&voices[speaker], &mut noise)),
        ] {
            id += 1;
            anchors.learn(&lesson(id, sensed, vector, number * 10));
        }
    }
    anchors
}

#[test]
fn a_face_and_a_voice_that_keep_meeting_are_one_person() {
    let anchors = dialogue(3);
    let persons = anchors.persons();
    assert_eq!(persons.len(), 2, "{persons:?}");
    for person in &persons {
        assert_eq!((person.faces, person.voices), (10, 10), "{person:?}");
    }
}

#[test]
fn names_are_given_changed_and_found() {
    let mut anchors = dialogue(3);
    let first = anchors.persons()[0].id;
    let tell = |anchors: &mut Anchors, request: &NamingRequest| -> Result<(), String> {
        for told in anchors.read(request)? {
            anchors.apply(&NamingEntry { after: EventId(40), told }, &[]);
        }
        Ok(())
    };
    let name = |entity: &str, name: &str| NamingRequest::Name { entity: entity.into(), name: name.into() };
    tell(&mut anchors, &name(&first.to_string(), "Anna")).unwrap();
    assert_eq!(anchors.find("anna"), Some(first));
    tell(&mut anchors, &name("Anna", "Anna Schmidt")).unwrap();
    assert_eq!((anchors.find("Anna Schmidt"), anchors.find("Bob")), (Some(first), None));
    let merge = |entity: &str, same: &str| NamingRequest::Merge { entity: entity.into(), same: vec![same.into()] };
    tell(&mut anchors, &merge("Anna Schmidt", "mum")).unwrap();
    assert_eq!(anchors.find("Mum"), Some(first));
    assert!(anchors.also_called("mum").contains(&"Anna Schmidt".to_owned()));

    let second = anchors.persons()[1].id;
    tell(&mut anchors, &merge("mum", &second.to_string())).unwrap();
    assert_eq!(anchors.persons().len(), 1);
    let split = |entity: &str, others: &[&str]| NamingRequest::Split {
        entity: entity.into(),
        others: others.iter().map(|other| (*other).to_owned()).collect(),
    };
    tell(&mut anchors, &split("mum", &[&second.to_string()])).unwrap();
    assert_eq!(anchors.persons().len(), 2);

    for wrong in [
        name("e-999", "Tom"),
        name("Anna Schmidt", ""),
        name("Anna Schmidt", "a/b"),
        merge("Anna Schmidt", "e-999"),
        merge("mum", "Anna Schmidt"),
        split("Anna Schmidt", &[]),
        split("Anna Schmidt", &["ev-999"]),
        split("Anna Schmidt", &["rubbish"]),
        split("nobody", &["ev-1"]),
    ] {
        assert!(anchors.read(&wrong).is_err(), "{wrong:?}");
    }
    assert_eq!("e-18446744073709551616".parse::<AnchorId>().ok(), None);
}

#[test]
fn what_is_taken_back_leaves_no_trace_in_the_mean() {
    let mut noise = Noise(1);
    let person = noise.direction(64);
    let tracks: Vec<Vec<i16>> = (0..5).map(|_| FACES.track(&person, &mut noise)).map(|v| v[..64].to_vec()).collect();
    let mut with = Anchor::new(Sensed::Face, "face:test", 64);
    let mut without = with.clone();
    for (number, track) in tracks.iter().enumerate() {
        with.add(track, 0, 1);
        if number != 2 {
            without.add(track, 0, 1);
        }
    }
    with.take_back(&tracks[2]);
    assert_eq!(with, without);
}

/// Of 300 persons, every second a look-alike of the one before: how many tracks of each lie nearer to another person, by
/// the mean over all tracks, and by the moving average that other centroids follow.
#[test]
fn a_mean_over_all_tracks_tells_look_alikes_apart_better_than_a_moving_average() {
    let mut noise = Noise(11);
    // Faces of look-alikes in poor pictures: with the usual ones neither makes a mistake.
    let poor = LikenessModel { same: 0.25, alike: 0.22, dimensions: 64, ..FACES };
    let persons = poor.persons(300, &mut noise);
    let as_floats = |track: Vec<i16>| unit(track.into_iter().map(f64::from).collect());
    let mut means: Vec<(Vec<f32>, Vec<f32>)> = Vec::new();
    for person in &persons {
        let tracks: Vec<Vec<f64>> = (0..30).map(|_| as_floats(poor.track(person, &mut noise))).collect();
        let singles = || tracks.iter().map(|track| track.iter().map(|x| *x as f32).collect::<Vec<f32>>());
        let sum = (0..poor.dimensions).map(|at| tracks.iter().map(|track| track[at]).sum::<f64>()).collect();
        let mean = unit(sum).into_iter().map(|x| x as f32).collect();
        let first = singles().next().unwrap();
        let mut average = first.clone();
        singles().skip(1).for_each(|track| crate::centroid::follow(&mut average, &first, &track));
        means.push((mean, average));
    }
    let (mut by_mean, mut by_average) = (0, 0);
    for (own, person) in persons.iter().enumerate() {
        let track: Vec<f32> = as_floats(poor.track(person, &mut noise)).into_iter().map(|x| x as f32).collect();
        let twin = (own ^ 1).min(persons.len() - 1);
        let nearer = |of: &dyn Fn(usize) -> f32| usize::from(of(twin) > of(own));
        by_mean += nearer(&|number| crate::centroid::dot(&means[number].0, &track));
        by_average += nearer(&|number| crate::centroid::dot(&means[number].1, &track));
    }
    assert!(by_mean < by_average, "{by_mean} {by_average}");
}
