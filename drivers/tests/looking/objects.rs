//! What a detector sees in an interval.

use std::time::Duration;

use memory_core::reasoning::{LookError, LookOrder, Tool, Tools};

use super::{lighter, looking, ms, order};

#[test]
fn a_look_names_what_it_sees_from_the_first_to_the_last_moment() {
    let folder = tempfile::tempdir().unwrap();
    let (looking, lamps) = looking(Some(lighter(folder.path(), "a.mkv", 10, 250)));
    assert_eq!(looking.reach(Tool::IntervalLocaliser).labels.len(), 1, "no scene classifier, no scenes");
    assert!(looking.reach(Tool::ClipExplorer).labels.is_empty());
    let look = looking.look(&order(Tool::IntervalLocaliser, &|| false)).unwrap();
    assert_eq!((look.pictures, look.missing), (10, Duration::ZERO));
    let lamp = &look.sightings[0];
    assert_eq!((lamp.label.as_str(), lamp.count), ("lamp", 1));
    assert!((lamp.share - 0.6).abs() < 0.01, "{lamp:?}");
    assert!(lamp.stream.start.abs_diff(ms(6000)) <= ms(300) && lamp.stream.end >= ms(8700), "{lamp:?}");
    assert!(lamp.text.contains("lamp is in view"), "{}", lamp.text);
    assert!(look.bytes > 0 && look.bytes < 4 << 20, "{} bytes", look.bytes);
    assert!(lamps.0.lock().iter().all(|size| *size == (320, 180)), "never larger than the recording");
}

#[test]
fn the_snapper_looks_at_tiles_too() {
    let folder = tempfile::tempdir().unwrap();
    let (looking, lamps) = looking(Some(lighter(folder.path(), "a.mkv", 10, 25)));
    let look = looking.look(&LookOrder { pictures: 2, ..order(Tool::SceneSnapper, &|| false) }).unwrap();
    let sizes = lamps.0.lock().clone();
    assert_eq!(sizes.len(), 2 * 7, "the whole and six tiles");
    assert!(sizes.iter().filter(|(width, _)| *width < 200).count() == 12, "{sizes:?}");
    assert_eq!(look.sightings.len(), 1);
}

#[test]
fn a_recording_that_is_gone_and_an_asker_who_gives_up_are_told_apart() {
    let (looking_at_nothing, _) = looking(None);
    assert_eq!(looking_at_nothing.look(&order(Tool::IntervalLocaliser, &|| false)), Err(LookError::Gone));
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let (deleted, _) = looking(Some(path.clone()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(deleted.look(&order(Tool::SceneSnapper, &|| false)), Err(LookError::Gone));
    let (given_up, lamps) = looking(Some(lighter(folder.path(), "b.mkv", 10, 25)));
    let cancelled = || lamps.0.lock().len() >= 2;
    assert_eq!(given_up.look(&order(Tool::IntervalLocaliser, &cancelled)), Err(LookError::Cancelled));
    assert!(lamps.0.lock().len() <= 3, "at the next picture");
}
