//! What no detector has a label for, by a joint model of pictures and texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::media::{AUDIO, VIDEO};
use drivers::encoders::{Encoders, Filled, JointEncoder, OnnxRuntime};
use drivers::looking::{Labels, Looking};
use drivers::models::{Availability, Catalogue, InstalledModel, InstalledModels, Part, Role};
use drivers::perception::Pace;
use memory_core::reasoning::{AskedThing, LookOrder, SightingKind, Tool, Tools};

use super::{OneFile, ms, order};
use crate::media;

/// A film of one colour a second.
fn coloured(folder: &Path, colours: &[u32]) -> PathBuf {
    let path = folder.join("colours.mkv");
    let parts: String = colours
        .iter()
        .map(|colour| {
            format!(
                "videotestsrc pattern=solid-color foreground-color={} num-buffers=25 ! \
                 video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! c. ",
                0xff00_0000_u32 | colour
            )
        })
        .collect();
    let muxer = media::muxer("colours.mkv");
    media::make(&format!(
        "concat name=c ! queue ! {VIDEO} ! {muxer} name=mux ! filesink location={} {parts} \
         audiotestsrc samplesperbuffer=1600 num-buffers={} ! {AUDIO} ! queue ! mux.",
        path.display(),
        10 * colours.len()
    ));
    path
}

/// Tiny networks for pictures and texts in one space, in which a kingfisher is blue; with what was measured of the space, or without.
fn pair(measured: bool) -> Option<JointEncoder> {
    let catalogue = Catalogue::load(None).unwrap();
    let library = match InstalledModels::new(catalogue.clone(), None, None).runtime_library() {
        Availability::Found(library) => library,
        Availability::Absent(reason) | Availability::Damaged(reason) => {
            println!("skipped: {reason}");
            return None;
        }
    };
    let mut entry = catalogue.model(Role::JointImageText).unwrap().clone();
    if measured {
        entry.parameters.extend([("shows_slope".to_owned(), 20.0), ("shows_offset".to_owned(), -16.0)]);
    }
    let tiny = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny").join(name);
    let files = [
        (Part::Graph, "clip_image.onnx"),
        (Part::TextGraph, "clip_text.onnx"),
        (Part::Tokenizer, "clip_tokenizer.json"),
    ];
    let files = files.iter().map(|(part, name)| (*part, tiny(name))).collect();
    Some(JointEncoder::load(&InstalledModel { entry, files }, &OnnxRuntime::open(&library).unwrap(), 1).unwrap())
}

#[test]
fn what_no_detector_has_a_label_for_is_seen_by_the_likeness_of_its_word() {
    let folder = tempfile::tempdir().unwrap();
    let (red, green, blue) = (0xc8_14_14, 0x14_b4_14, 0x28_28_f0);
    let path = coloured(folder.path(), &[red, red, red, red, red, green, blue, blue, green, green]);
    let (Some(measured), Some(unmeasured)) = (pair(true), pair(false)) else { return };
    let tools = |encoder: JointEncoder| {
        let filled = Filled { joint: Some(Arc::new(encoder)), ..Filled::default() };
        let recordings = Arc::new(OneFile(Some(path.clone())));
        Looking::new(Encoders::ready(filled), Labels::default(), recordings, Pace::default())
    };
    let thing = |phrase: &str| AskedThing { phrase: phrase.to_owned(), sentence: format!("There is {phrase}.") };
    let things = [thing("a kingfisher"), thing("red"), thing("something else")];
    let seeing = tools(measured);
    assert!(seeing.reach(Tool::IntervalLocaliser).likeness && seeing.reach(Tool::SceneSnapper).likeness);
    assert!(!seeing.reach(Tool::ClipExplorer).likeness);
    let look = |tools: &Looking, tool| tools.look(&LookOrder { things: &things, ..order(tool, &|| false) }).unwrap();
    for tool in [Tool::IntervalLocaliser, Tool::SceneSnapper] {
        let found = look(&seeing, tool);
        let [bird, wall] = found.sightings.as_slice() else { panic!("{found:?}") };
        assert_eq!((bird.kind, bird.label.as_str()), (SightingKind::Likeness, "a kingfisher"));
        assert_eq!((bird.text.as_str(), wall.label.as_str()), ("There is a kingfisher.", "red"));
        assert!(bird.stream.start.abs_diff(ms(6000)) <= ms(300), "{bird:?}");
        assert!(bird.stream.end.abs_diff(ms(8000)) <= ms(300), "{bird:?}");
        assert!(bird.score > 0.9 && (bird.share - 0.4).abs() < 0.11, "{bird:?}");
        assert!(wall.stream.end.abs_diff(ms(5000)) <= ms(300), "{wall:?}");
    }
    let unmeasured = tools(unmeasured);
    assert!(!unmeasured.reach(Tool::IntervalLocaliser).likeness, "nothing was measured of the space");
    assert_eq!(look(&unmeasured, Tool::IntervalLocaliser).sightings, []);
}
