//! A vision model that sees numbered pictures.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use drivers::encoders::{ClipViewer, Encoders, Filled, NumberedPictures, ViewedClip};
use drivers::looking::{Labels, Looking};
use drivers::perception::Pace;
use memory_core::reasoning::{LookOrder, SightingKind, Tool, Tools};
use parking_lot::Mutex;

use super::{OneFile, lighter, looking, ms, order};

/// Sees what is asked for in the pictures with these numbers, and keeps what it was shown.
struct Viewer(Vec<usize>, Mutex<Vec<(String, NumberedPictures)>>);

impl ClipViewer for Viewer {
    fn view(&self, question: &str, pictures: &NumberedPictures, _: Duration) -> Result<ViewedClip, String> {
        self.1.lock().push((question.to_owned(), pictures.clone()));
        if self.0.contains(&99) {
            return Err("llm.vision: no reply within 1 s".to_owned());
        }
        let text = if self.0.is_empty() { String::new() } else { "A lamp is lit on the desk.".to_owned() };
        Ok(ViewedClip { numbers: self.0.clone(), text, confidence: 0.7 })
    }
}

fn viewing(path: PathBuf, numbers: &[usize]) -> (Looking, Arc<Viewer>) {
    let viewer = Arc::new(Viewer(numbers.to_vec(), Mutex::default()));
    let tools = Looking::new(
        Encoders::ready(Filled::default()),
        Labels::default(),
        Arc::new(OneFile(Some(path))),
        Pace::default(),
    );
    (tools.with_viewer(Some(Arc::clone(&viewer) as _)), viewer)
}

#[test]
fn a_vision_model_sees_numbered_pictures_and_what_it_names_has_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let (tools, viewer) = viewing(path.clone(), &[8, 9]);
    assert!(tools.reach(Tool::ClipAnalyser).question && !looking(None).0.reach(Tool::ClipAnalyser).question);
    let order = LookOrder { pictures: 12, ..order(Tool::ClipAnalyser, &|| false) };
    let look = tools.look(&order).unwrap();
    let (question, shown) = viewer.1.lock().remove(0);
    assert_eq!((question.as_str(), shown.count, shown.grids.len()), ("Where is the lamp?", 12, 2));
    assert!(shown.grids.iter().all(|grid| grid.starts_with(&[0xff, 0xd8])), "JPEG files");
    let seen = &look.sightings[0];
    assert_eq!(
        (seen.kind, seen.text.as_str(), seen.score),
        (SightingKind::Description, "A lamp is lit on the desk.", 0.7)
    );
    // Of twelve pictures of 4 s to 9 s the eighth and the ninth lie between 6.9 s and 7.8 s.
    assert!(seen.stream.start.abs_diff(ms(6917)) <= ms(60) && seen.stream.end.abs_diff(ms(7750)) <= ms(60), "{seen:?}");
    let (nothing, _) = viewing(path.clone(), &[]);
    assert!(nothing.look(&order).unwrap().sightings.is_empty());
    let (silent, _) = viewing(path.clone(), &[99]);
    let look = silent.look(&order).unwrap();
    assert_eq!((look.sightings.len(), look.degraded), (0, vec!["llm.vision: no reply within 1 s".to_owned()]));
    let (small, viewer) = viewing(path, &[1]);
    small.look(&LookOrder { ceiling_bytes: 1 << 20, ..order }).unwrap();
    assert_eq!(viewer.1.lock()[0].1.count, 6, "one grid where little memory is allowed");
}
