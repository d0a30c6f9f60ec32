//! Describes the scene that the pictures of a segment show.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use memory_core::MomentVector;
use memory_core::segment::Segment;

use super::colours::Palette;
use crate::encoders::SceneClasses;

/// Mean probability over the pictures above which a group of classes is reported, ...
const MIN_GROUP_MEAN: f32 = 0.3;
/// ... and a single class, which is easier to mistake.
const MIN_CLASS_MEAN: f32 = 0.4;
/// Maximum number of names kept besides the one that is reported.
const MAX_NAMES: usize = 5;
/// Minimum mean probability of these names.
const MIN_NAME_MEAN: f32 = 0.1;

/// One picture.
struct Shown {
    at: Duration,
    palette: Palette,
    classes: Option<SceneClasses>,
    vector: Option<Vec<f32>>,
}

/// Pictures of segments that are still open.
#[derive(Default)]
pub(super) struct SceneLog {
    pictures: VecDeque<Shown>,
    /// Vectors of the space that texts share, of the pictures that were looked at closely.
    joint: VecDeque<(Duration, Vec<f32>)>,
}

/// Scene of a segment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scene {
    pub colours: Vec<&'static str>,
    /// Most likely class, and its probability.
    pub looks_like: Option<(Arc<str>, f32)>,
    /// Everything that it may be, best first.
    pub names: Vec<Arc<str>>,
    /// The vectors of its pictures, in order of time.
    pub vectors: Vec<MomentVector>,
    /// The same in the space that texts share.
    pub joint: Vec<MomentVector>,
}

impl SceneLog {
    pub fn push(&mut self, at: Duration, palette: Palette, classes: Option<SceneClasses>, vector: Option<Vec<f32>>) {
        self.pictures.push_back(Shown { at, palette, classes, vector });
    }

    pub fn push_joint(&mut self, at: Duration, vector: Vec<f32>) {
        self.joint.push_back((at, vector));
    }

    /// What `segment` shows, if any picture of it was looked at; its pictures, and any before it, are forgotten.
    pub fn take(&mut self, segment: &Segment) -> Option<Scene> {
        let inside = self.pictures.partition_point(|shown| shown.at < segment.end);
        let pictures: Vec<Shown> = self.pictures.drain(..inside).collect();
        let inside = self.joint.partition_point(|(at, _)| *at < segment.end);
        let joint: Vec<_> = self.joint.drain(..inside).collect();
        if pictures.is_empty() && joint.is_empty() {
            return None;
        }
        let mut palette = Palette::default();
        let mut sums: BTreeMap<(bool, Arc<str>), f32> = BTreeMap::new();
        let mut classified = 0;
        for shown in &pictures {
            palette.add(&shown.palette);
            let Some(SceneClasses { classes, groups }) = &shown.classes else { continue };
            classified += 1;
            let named = groups.iter().map(|row| (true, row)).chain(classes.iter().map(|row| (false, row)));
            for (group, (name, score)) in named {
                *sums.entry((group, Arc::clone(name))).or_insert(0.0) += score;
            }
        }
        let mut means: Vec<(bool, Arc<str>, f32)> =
            sums.into_iter().map(|((group, name), sum)| (group, name, sum / classified.max(1) as f32)).collect();
        // Groups first: a dog of some breed is a dog, and the breed is a guess.
        means.sort_by(|a, b| b.0.cmp(&a.0).then(b.2.total_cmp(&a.2)).then(a.1.cmp(&b.1)));
        let told =
            |(group, _, mean): &&(bool, Arc<str>, f32)| *mean >= if *group { MIN_GROUP_MEAN } else { MIN_CLASS_MEAN };
        let looks_like = means.iter().find(told).map(|(_, name, mean)| (Arc::clone(name), *mean));
        let mut names: Vec<Arc<str>> = Vec::new();
        for (_, name, _) in means.iter().filter(|(_, _, mean)| *mean >= MIN_NAME_MEAN) {
            if names.len() < MAX_NAMES && !names.contains(name) {
                names.push(Arc::clone(name));
            }
        }
        let vectors = pictures.into_iter().filter_map(|shown| shown.vector.map(|vector| (shown.at, vector)));
        let of_moments = |(at, vector)| MomentVector { at, vector };
        let (vectors, joint) = (vectors.map(of_moments).collect(), joint.into_iter().map(of_moments).collect());
        Some(Scene { colours: palette.of_a_scene(), looks_like, names, vectors, joint })
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Boundary;

    use super::*;

    fn classes(classes: &[(&str, f32)], groups: &[(&str, f32)]) -> SceneClasses {
        let named = |rows: &[(&str, f32)]| rows.iter().map(|(name, score)| (Arc::from(*name), *score)).collect();
        SceneClasses { classes: named(classes), groups: named(groups) }
    }

    fn segment(end: u64) -> Segment {
        Segment { start: Duration::ZERO, end: Duration::from_secs(end), boundary: Boundary::Length }
    }

    #[test]
    fn breeds_that_differ_from_picture_to_picture_are_one_dog() {
        let mut log = SceneLog::default();
        let picture = |breed| classes(&[(breed, 0.5)], &[("dog", 0.7)]);
        log.push(Duration::ZERO, Palette::default(), Some(picture("beagle")), Some(vec![1.0, 0.0]));
        log.push(Duration::from_secs(1), Palette::default(), Some(picture("pug")), Some(vec![0.0, 1.0]));
        log.push(Duration::from_secs(5), Palette::default(), None, None);
        let scene = log.take(&segment(5)).unwrap();
        assert_eq!(scene.looks_like, Some((Arc::from("dog"), 0.7)));
        assert_eq!(scene.names, ["dog", "beagle", "pug"].map(Arc::from));
        let moments = scene.vectors.iter().map(|moment| (moment.at.as_secs(), moment.vector.as_slice()));
        assert_eq!(moments.collect::<Vec<_>>(), [(0, [1.0, 0.0].as_slice()), (1, &[0.0, 1.0])]);
        let next = log.take(&segment(9)).unwrap();
        assert_eq!((next.looks_like, next.vectors), (None, Vec::new()));
        assert!(log.take(&segment(12)).is_none());
    }

    #[test]
    fn a_class_that_a_model_is_not_sure_of_is_not_told() {
        let mut log = SceneLog::default();
        log.push(Duration::ZERO, Palette::default(), Some(classes(&[("sundial", 0.3), ("torch", 0.05)], &[])), None);
        let scene = log.take(&segment(5)).unwrap();
        assert_eq!(scene.looks_like, None);
        assert_eq!(scene.names, [Arc::from("sundial")]);
    }
}
