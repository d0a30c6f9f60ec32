//! Checks the labels of the encoders against the table: most of them must be of some class.

use std::path::{Path, PathBuf};

use super::labels::has_class;
use super::{label_is_a, sound_is_a};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the 80 object labels from the catalogue of models.
fn objects() -> Vec<String> {
    let catalogue = std::fs::read_to_string(repository().join("config/models.toml")).unwrap();
    let (_, from) = catalogue.split_once("\"person\", \"bicycle\"").expect("the catalogue has the object labels");
    let (list, _) = from.split_once(']').unwrap();
    let rest = list.split('"').enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, label)| label.to_owned());
    ["person".to_owned(), "bicycle".to_owned()].into_iter().chain(rest).collect()
}

/// Returns the labels in a file of the models, or `None` without the models.
fn labels(file: &str) -> Option<Vec<String>> {
    let path = repository().join("../shared/models").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("SKIPPED: {} is not there, so its labels are not checked", path.display());
        return None;
    };
    Some(text.lines().map(str::to_owned).collect())
}

fn assert_most_have_a_class(name: &str, labels: &[String]) {
    let without: Vec<_> = labels.iter().filter(|label| !has_class(label)).collect();
    println!("{name}: {} of {} labels have a class; not {without:?}", labels.len() - without.len(), labels.len());
    assert!(without.len() * 10 <= labels.len(), "more than a tenth of {name} has no class: {without:?}");
}

#[test]
fn object_labels_have_classes() {
    let labels = objects();
    assert_eq!(labels.len(), 80);
    assert_most_have_a_class("objects", &labels);
    for (label, class) in [
        ("dining table", "furniture"),
        ("sports ball", "ball"),
        ("cell phone", "telephone"),
        ("wine glass", "glass"),
        ("potted plant", "plant"),
        ("traffic light", "signal"),
        ("teddy bear", "toy"),
        ("fire hydrant", "pipe"),
        ("hot dog", "food"),
        ("zebra", "animal"),
    ] {
        assert!(label_is_a(label, class).is_some(), "{label} is a {class}");
    }
    assert_eq!(label_is_a("hot dog", "animal"), None);
}

#[test]
fn sound_labels_have_classes() {
    if let Some(labels) = labels("audioset-labels.txt") {
        assert_most_have_a_class("sounds", &labels);
    }
    for (label, class) in [
        ("Acoustic guitar", "musical instrument"),
        ("Snoring", "breathing"),
        ("Applause", "communication"),
        ("Dishes, pots, and pans", "container"),
        ("Walk, footsteps", "sound"),
    ] {
        assert!(label_is_a(label, class).is_some(), "{label} is a {class}");
    }
    for (label, class) in [("Bark", "animal"), ("Thunder", "weather"), ("snare_drum", "music"), ("Rain", "weather")] {
        assert!(sound_is_a(label, class).is_some(), "the sound {label} is a {class}");
    }
    assert_eq!(sound_is_a("Thunder", "animal"), None);
}

#[test]
fn scene_labels_have_classes() {
    if let Some(labels) = labels("imagenet-labels.txt") {
        assert_most_have_a_class("scenes and things", &labels);
    }
    for (label, class) in [
        ("German shepherd, German shepherd dog, German police dog, alsatian", "dog"),
        ("seashore, coast, seacoast, sea-coast", "geological formation"),
        ("toaster", "appliance"),
        ("convertible", "vehicle"),
        ("hand-held computer, hand-held microcomputer", "computer"),
    ] {
        assert!(label_is_a(label, class).is_some(), "{label} is a {class}");
    }
}
