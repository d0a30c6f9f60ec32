//! Engines: built, kept, refused.

use std::fs;
use std::time::Duration;

use drivers::encoders::BackendError;
use drivers::encoders::tensorrt::{Precision, TensorRt, TensorRtError};
use drivers::models::ElementType;

use crate::machine::{MAJORS, Machine, cached_engine, load, run, stage};

#[test]
fn an_engine_is_built_once_and_then_comes_from_the_cache() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let (backend, model) = (machine.open().unwrap(), machine.affine());
        let before = machine.builds().len();
        assert!(!backend.is_built(&model).unwrap());
        let mut stages = Vec::new();
        backend.load_engine(&model, false, &mut |progress| stages.push(progress.stage.clone())).unwrap();
        for stage in ["parsing", "building", "writing"] {
            assert!(stages.iter().any(|seen| seen == stage), "{stage} in {stages:?}");
        }
        assert!(backend.is_built(&model).unwrap());
        load(&backend, &model).unwrap();
        // Another program of the same machine.
        load(&machine.open().unwrap(), &model).unwrap();
        assert_eq!(machine.builds().len(), before + 1);
        backend.load_engine(&model, true, &mut |_| {}).unwrap();
        assert_eq!(machine.builds().len(), before + 2, "unless it is to be fresh");
        let names: Vec<_> = fs::read_dir(machine.engines()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.iter().all(|name| !name.to_string_lossy().contains("plan")), "nothing half is left: {names:?}");
    }
}

#[test]
fn a_build_tells_how_far_it_is_where_the_library_does() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let backend = machine.open().unwrap();
        let mut seen = Vec::new();
        backend
            .load_engine(&machine.affine(), false, &mut |progress| {
                seen.extend(progress.percent.map(|percent| (progress.to_string(), percent)));
            })
            .unwrap();
        // A second may pass between two of them, and then the last one is told again.
        seen.dedup();
        let told: Vec<u8> = seen.iter().map(|(_, percent)| *percent).collect();
        if major == 8 {
            assert!(told.is_empty(), "8 tells nobody: {told:?}");
        } else {
            assert_eq!(told, [25, 37, 50, 75, 100]);
            assert_eq!(seen[1].0, "building, 37 %");
        }
    }
}

#[test]
fn whatever_the_engine_depends_on_makes_it_another() {
    let machine = Machine::new(10);
    let model = machine.affine();
    load(&machine.open().unwrap(), &model).unwrap();
    let is_built = |backend: &TensorRt, model| backend.is_built(model).unwrap();
    assert!(is_built(&machine.open().unwrap(), &model));

    let mut options = machine.options();
    options.precision = Precision::Fp16;
    assert!(!is_built(&TensorRt::open(options).unwrap(), &model), "precision");
    let mut larger = model.clone();
    larger.entry.shapes[0].max[0] = 16;
    assert!(!is_built(&machine.open().unwrap(), &larger), "shapes");
    machine.switches("version=100301");
    assert!(!is_built(&machine.open().unwrap(), &model), "version");
    machine.switches("");
    assert!(is_built(&machine.open().unwrap(), &model));
    let other = machine.identity(ElementType::F32, &[1, 4]);
    assert!(!is_built(&machine.open().unwrap(), &other), "graph");
}

#[test]
fn a_damaged_engine_is_built_again() {
    let machine = Machine::new(10);
    let (backend, model) = (machine.open().unwrap(), machine.affine());
    load(&backend, &model).unwrap();
    let path = cached_engine(&machine.engines());
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let before = machine.builds().len();
    let mut graph = load(&backend, &model).unwrap();
    assert_eq!(machine.builds().len(), before + 1);
    assert_eq!(run(&mut *graph, 1, &[1.0, 2.0, 3.0, 4.0]).unwrap(), [2.0, 5.0, 8.0, 11.0]);
}

#[test]
fn an_engine_that_the_library_rejects_is_built_again_once() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let (backend, model) = (machine.open().unwrap(), machine.affine());
        load(&backend, &model).unwrap();
        let before = machine.builds().len();
        // Something changed that no version tells.
        machine.switches("epoch=2");
        let mut graph = load(&backend, &model).unwrap();
        assert_eq!(machine.builds().len(), before + 1);
        assert_eq!(run(&mut *graph, 1, &[0.0; 4]).unwrap(), [-1.0; 4]);
        load(&backend, &model).unwrap();
        assert_eq!(machine.builds().len(), before + 1, "the new one is kept");

        machine.switches("epoch=3 plan=bad");
        let error = stage(load(&backend, &model));
        assert!(matches!(&error, TensorRtError::PlanRejected { message } if message.contains("magicTag")), "{error}");
        assert_eq!(machine.builds().len(), before + 2, "once and not for ever");
    }
}

#[test]
fn a_build_that_fails_says_what_the_library_said() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let (backend, model) = (machine.open().unwrap(), machine.affine());
        machine.switches("build=fail");
        let error = stage(load(&backend, &model));
        assert!(matches!(&error, TensorRtError::BuildFailed { message } if message.contains("conv_1")), "{error}");
        machine.switches("build=oom");
        let error = stage(load(&backend, &model));
        assert!(matches!(error, TensorRtError::OutOfMemory { .. }), "{error}");
        assert!(error.to_string().contains("workspace_mib"), "what to do: {error}");
        assert!(!backend.is_built(&model).unwrap());
        machine.switches("");
        load(&backend, &model).unwrap();
    }
}

#[test]
fn a_builder_that_crashes_is_told_with_its_last_words() {
    let machine = Machine::new(10);
    let (backend, model) = (machine.open().unwrap(), machine.affine());
    machine.switches("build=crash");
    let error = stage(load(&backend, &model));
    let TensorRtError::BuildFailed { message } = &error else { panic!("{error}") };
    assert!(message.contains("while building") && message.contains("bad_variant_access"), "{message}");
}

#[test]
fn a_builder_that_hangs_is_stopped() {
    let machine = Machine::new(10);
    machine.open().unwrap();
    machine.switches("build=hang");
    let mut options = machine.options();
    options.patience = Duration::from_millis(1500);
    let error = stage(load(&TensorRt::open(options).unwrap(), &machine.affine()));
    assert!(matches!(&error, TensorRtError::BuildFailed { message } if message.contains("patience")), "{error}");
}

#[test]
fn a_builder_that_cannot_be_started_is_named() {
    let machine = Machine::new(10);
    machine.open().unwrap();
    let mut options = machine.options();
    options.builder.program = machine.path("no-such-program");
    let error = stage(load(&TensorRt::open(options).unwrap(), &machine.affine()));
    assert!(error.to_string().contains("no-such-program"), "{error}");
}

#[test]
fn a_graph_that_the_parser_does_not_know_is_told_by_its_operator() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let backend = machine.open().unwrap();
        let model = machine.one_node("NonMaxSuppression", fakes::onnx::F32, ElementType::F32, &[1, 4]);
        let error = stage(load(&backend, &model));
        let TensorRtError::ParseFailed { message } = &error else { panic!("{error}") };
        assert!(message.contains("NonMaxSuppression"), "{message}");
        fs::write(machine.path("model.onnx"), b"no graph").unwrap();
        assert!(matches!(stage(load(&backend, &model)), TensorRtError::ParseFailed { .. }));
    }
}

#[test]
fn an_open_shape_must_be_told_in_the_catalogue() {
    let machine = Machine::new(10);
    let backend = machine.open().unwrap();
    let mut model = machine.affine();
    model.entry.shapes.clear();
    let error = stage(load(&backend, &model)).to_string();
    assert!(error.contains("\"x\"") && error.contains("`shapes`"), "{error}");
    // One without a name is the one at its place.
    let mut model = machine.affine();
    model.entry.shapes[0].name.clear();
    load(&backend, &model).unwrap();
}

#[test]
fn an_engine_of_other_tensors_is_not_what_the_catalogue_describes() {
    let machine = Machine::new(10);
    let backend = machine.open().unwrap();
    let model = machine.affine();
    let refused = |change: &dyn Fn(&mut drivers::models::ModelEntry)| {
        let mut other = model.clone();
        change(&mut other.entry);
        match load(&backend, &other) {
            Err(BackendError::Contract { message, .. }) => message,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was taken"),
        }
    };
    assert!(refused(&|entry| entry.outputs[0].name = "z".to_owned()).contains("no output `z`, but y"));
    assert!(refused(&|entry| entry.outputs[0].shape = vec![-1, 5]).contains("shape [-1, 4]"));
    assert!(refused(&|entry| entry.inputs[0].element = ElementType::U8).contains("U8"));
    assert!(refused(&|entry| entry.inputs.clear()).contains("also wants `x`"));
}

#[test]
fn two_that_start_at_once_build_one_engine() {
    let machine = Machine::new(10);
    let (backend, model) = (machine.open().unwrap(), machine.affine());
    let before = machine.builds().len();
    std::thread::scope(|scope| {
        let starters: Vec<_> = (0..4).map(|_| scope.spawn(|| load(&backend, &model).map(drop))).collect();
        for starter in starters {
            starter.join().unwrap().unwrap();
        }
    });
    assert_eq!(machine.builds().len(), before + 1);
}

#[test]
fn what_one_build_measured_the_next_one_knows() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let backend = machine.open().unwrap();
        load(&backend, &machine.affine()).unwrap();
        let model = machine.identity(ElementType::F32, &[1, 4]);
        load(&backend, &model).unwrap();
        let builds = machine.builds();
        let [_check, first, second] = builds.as_slice() else { panic!("{builds:?}") };
        assert_eq!(first, "timing=0 workspace=67108864");
        assert!(!second.starts_with("timing=0"), "{second}");
        // A damaged one costs time, and no engine.
        let caches = fs::read_dir(machine.engines()).unwrap().map(|entry| entry.unwrap().path());
        let cache = caches.filter(|path| path.extension().is_some_and(|e| e == "cache")).last().unwrap();
        fs::write(cache, b"damaged").unwrap();
        backend.load_engine(&model, true, &mut |_| {}).unwrap();
        assert!(machine.builds()[3].starts_with("timing=0"));
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let machine = Machine::new(11);
    let mut options = machine.options();
    options.precision = Precision::Fp16;
    let error = stage(load(&TensorRt::open(options).unwrap(), &machine.affine()));
    assert!(matches!(&error, TensorRtError::Unsupported { message } if message.contains("from the graph")), "{error}");

    let machine = Machine::new(10);
    let mut options = machine.options();
    options.dla = Some(0);
    let backend = TensorRt::open(options).unwrap();
    let error = stage(load(&backend, &machine.affine()));
    assert!(error.to_string().contains("0 DLA cores"), "{error}");
    machine.switches("dla=2");
    load(&backend, &machine.affine()).unwrap();
}
