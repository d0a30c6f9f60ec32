use std::fs;

use drivers::models::{LOCK_FILE, file_digest};

use super::{GoodPlace, said};

/// A detector whose digest nobody knows, in place of the default one.
const UNKNOWN: &str = r#"
    version = 1
    [[model]]
    role = "objects"
    name = "Boxes"
    licence = "CC0"
    runtime = "onnx"
    profiles = ["good"]
    preprocessing = "as YOLOX"
    inputs = [{ name = "images", type = "f32", shape = [1, 3, 416, 416] }]
    outputs = [{ name = "output", type = "f32", shape = [1, 3549, 85] }]
    parameters = { score = 0.3, nms = 0.45 }
    labels = ["person", "bicycle", "car", LABELS]
    [[model.file]]
    part = "graph"
    file = "boxes.onnx"
    sources = []
"#;

fn unknown() -> String {
    let others: Vec<String> = (3..80).map(|at| format!("\"thing {at}\"")).collect();
    UNKNOWN.replace("LABELS", &others.join(", "))
}

#[test]
fn a_file_whose_digest_nobody_knows_is_shown_and_used_only_once_it_is_accepted() {
    let Some(place) = GoodPlace::new(&unknown()) else { return };
    place.offer("yolox.onnx", "boxes.onnx");
    let (sha256, _) = file_digest(&place.path("mirror/boxes.onnx")).unwrap();

    let rows = place.pull(&["objects"]);
    assert_eq!(rows[0]["state"], "unaccepted", "{rows:?}");
    let told = rows[0]["detail"].as_str().unwrap();
    assert!(told.contains(&sha256) && told.contains("--accept"), "{told}");
    assert!(!place.path("models/boxes.onnx").exists());
    assert_eq!(place.listed("Boxes")["state"], "absent");

    let rows = place.pull(&["objects", "--accept", &"0".repeat(64)]);
    assert_eq!(rows[0]["state"], "unaccepted", "another digest accepts nothing");

    let rows = place.pull(&["objects", "--accept", &sha256.to_uppercase()]);
    assert_eq!((rows[0]["state"].as_str(), rows[1]["state"].as_str()), (Some("pulled"), Some("pinned")), "{rows:?}");
    assert!(fs::read_to_string(place.path("models").join(LOCK_FILE)).unwrap().contains(&sha256));
    assert_eq!(place.listed("Boxes")["state"], "installed");
    assert_eq!(place.pull(&["objects"])[0]["state"], "there", "accepted once and for all");

    fs::write(place.path("models/boxes.onnx"), "other bytes").unwrap();
    assert_eq!(place.listed("Boxes")["state"], "damaged");
}

#[test]
fn a_network_of_another_shape_is_not_used_though_it_was_accepted() {
    let Some(place) = GoodPlace::new(&unknown()) else { return };
    place.offer("face_embedding.onnx", "boxes.onnx");
    let (sha256, _) = file_digest(&place.path("mirror/boxes.onnx")).unwrap();
    let rows = place.pull(&["objects", "--accept", &sha256]);
    assert_eq!(rows[1]["state"], "not used", "{rows:?}");
    assert!(rows[1]["detail"].as_str().unwrap().contains("images"), "it says what it lacks: {rows:?}");
    assert!(!place.path("models").join(LOCK_FILE).exists());
    assert_ne!(place.listed("Boxes")["state"], "installed");
}

#[test]
fn a_profiles_model_takes_the_place_of_the_default_one_until_it_is_removed() {
    let labels: Vec<String> = (0..80).map(|at| format!("\"thing {at}\"")).collect();
    let small = r#"
        [[model]]
        role = "objects"
        name = "Small"
        licence = "CC0"
        runtime = "onnx"
        preprocessing = "as FastestDet"
        inputs = [{ name = "x", type = "f32", shape = [1, 3, 352, 352] }]
        outputs = [{ name = "y", type = "f32", shape = [1, 6, 22, 22] }]
        labels = ["cone"]
        [[model.file]]
        part = "graph"
        file = "small.onnx"
        sha256 = "00"
        bytes = 1
        sources = []
    "#;
    let Some(place) = GoodPlace::new("version = 1") else { return };
    place.offer("yolox.onnx", "boxes.onnx");
    let (sha256, bytes) = file_digest(&place.path("mirror/boxes.onnx")).unwrap();
    let good = unknown()
        .replace("version = 1", "")
        .replace("sources = []", &format!("sha256 = \"{sha256}\"\nbytes = {bytes}\nsources = []"));
    let good = good
        .replace("\"person\", \"bicycle\", \"car\", ", "")
        .replace("labels = [", &format!("labels = [{}, ", labels[..3].join(", ")));
    // As in the catalogue: two models of one role, in different profiles.
    fs::write(place.path("models.toml"), format!("version = 1\n{small}{good}")).unwrap();

    assert_eq!(place.listed("Small")["state"], "absent");
    assert_eq!(place.listed("Boxes")["state"], "choice");
    let rows = place.pull(&["--profile", "good", "objects"]);
    assert_eq!((rows[0]["file"].as_str(), rows[1]["state"].as_str()), (Some("boxes.onnx"), Some("pinned")), "{rows:?}");
    assert_eq!(place.listed("Boxes")["state"], "installed");
    let output = place.engram(&["models", "remove", "objects"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        (place.listed("Small")["state"].as_str(), place.listed("Boxes")["state"].as_str()),
        (Some("absent"), Some("choice"))
    );
}

#[test]
fn a_list_says_of_which_profile_a_model_is_and_that_nobody_has_run_it() {
    let Some(place) = GoodPlace::new("version = 1") else { return };
    let clip = place.listed("CLIP ViT-B/32 (8 bits)");
    assert_eq!((clip["profiles"][0].as_str(), clip["unverified"].as_bool()), (Some("good"), Some(true)));
    let (small, better) = (place.listed("FastestDet"), place.listed("YOLOX-Nano"));
    assert_eq!((small["state"].as_str(), better["state"].as_str()), (Some("absent"), Some("choice")));
    let text = said(&place.engram(&["models", "list"]));
    assert!(text.contains("default+good") && text.contains("MIT, unverified"), "{text}");
    assert!(text.contains("--profile good"), "{text}");
}
