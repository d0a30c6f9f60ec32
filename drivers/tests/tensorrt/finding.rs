//! Driver, library, version and self-check.

use std::fs;

use drivers::encoders::Backend;
use drivers::encoders::tensorrt::TensorRtError;

use crate::machine::{MAJORS, Machine};

#[test]
fn every_major_passes_its_self_check_and_tells_its_version() {
    for (major, version) in [(8, "tensorrt 8.5.2"), (10, "tensorrt 10.3.0.26"), (11, "tensorrt 11.1.0.106")] {
        let machine = Machine::new(major);
        let backend = machine.open().unwrap();
        assert_eq!(backend.name(), format!("{version} on Imagined GPU"));
        assert!(backend.describe_device().contains("8.7") && backend.describe_device().contains("CUDA 12.6"));
    }
}

#[test]
fn a_library_is_checked_once_and_again_when_it_is_another() {
    let machine = Machine::new(10);
    machine.open().unwrap();
    assert_eq!(machine.builds().len(), 1);
    machine.open().unwrap();
    assert_eq!(machine.builds().len(), 1, "the note that it passed is kept");
    machine.switches("version=100301");
    machine.open().unwrap();
    assert_eq!(machine.builds().len(), 2, "another version is another library");
}

#[test]
fn without_a_driver_nothing_of_tensorrt_is_touched() {
    let machine = Machine::new(10);
    let mut options = machine.options();
    options.driver = Some(machine.path("no-driver.so"));
    // Whoever opened it first would complain of the library.
    options.library = Some(machine.path("no-library.so"));
    let error = drivers::encoders::tensorrt::TensorRt::open(options).err().unwrap();
    assert!(matches!(error, TensorRtError::DriverMissing { .. }), "{error}");
    assert!(error.is_absent() && error.to_string().contains("no-driver.so"), "{error}");

    for switches in ["devices=0", "init=100"] {
        machine.switches(switches);
        let error = machine.open().err().unwrap();
        assert!(matches!(error, TensorRtError::DriverMissing { .. }), "{switches}: {error}");
    }
    assert!(machine.builds().is_empty());
}

#[test]
fn a_driver_of_another_kind_is_refused_and_does_not_end_the_program() {
    let machine = Machine::new(10);
    let mut options = machine.options();
    options.driver = options.library.clone();
    let error = drivers::encoders::tensorrt::TensorRt::open(options).err().unwrap();
    assert!(error.to_string().contains("has no cuInit"), "{error}");
}

#[test]
fn a_library_that_is_missing_cut_short_or_another_is_named() {
    let machine = Machine::new(10);
    let whole = fs::read(machine.library()).unwrap();
    let open = |content: Option<&[u8]>| {
        let path = machine.path("broken.so");
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => drop(fs::remove_file(&path)),
        }
        let mut options = machine.options();
        options.library = Some(path);
        let error = drivers::encoders::tensorrt::TensorRt::open(options).err().unwrap();
        assert!(matches!(error, TensorRtError::LibMissing { .. }), "{error}");
        error.to_string()
    };
    assert!(open(None).contains("broken.so"));
    // What is loaded comes first in the file; half of a library built with symbols still holds all of it.
    assert!(open(Some(&whole[..64 << 10])).contains("cut short"));
    assert!(
        open(Some(b"not a library at all, but long enough that somebody might look for a header in it"))
            .contains("shared library")
    );
    let mut options = machine.options();
    options.library = options.driver.clone();
    let error = drivers::encoders::tensorrt::TensorRt::open(options).err().unwrap();
    assert!(error.to_string().contains("getInferLibVersion"), "{error}");
}

#[test]
fn versions_whose_tables_are_not_known_are_refused_before_they_are_called() {
    for (number, name) in
        [(8200, "TensorRT 8.2.0"), (8700, "8.7.0"), (9300, "9.3.0"), (120_000, "12.0.0"), (7103, "7.1.3"), (0, "0.0.0")]
    {
        let machine = Machine::new(10);
        machine.switches(&format!("version={number}"));
        let error = machine.open().err().unwrap();
        assert!(matches!(error, TensorRtError::UnsupportedMajor { .. }), "{error}");
        assert!(error.to_string().contains(name) && error.to_string().contains("8.5, 8.6, 10 and 11"), "{error}");
        assert!(machine.builds().is_empty());
    }
}

#[test]
fn tensorrt_for_rtx_is_taken_only_where_it_is_asked_for() {
    let machine = Machine::new(11);
    machine.switches("version=10701");
    let error = machine.open().err().unwrap();
    assert!(error.to_string().contains("TensorRT-RTX 1.7.1"), "not TensorRT 10: {error}");
    assert!(error.to_string().contains("allow_rtx"), "{error}");
    let mut options = machine.options();
    options.allow_rtx = true;
    // Its parser has another name.
    options.parser = Some(machine.path("libnvonnxparser.so.11"));
    let backend = drivers::encoders::tensorrt::TensorRt::open(options).unwrap();
    assert!(backend.name().starts_with("tensorrt-RTX 1.7.1"), "{}", backend.name());
}

#[test]
fn a_library_that_calculates_wrongly_is_never_used_and_may_be_repaired() {
    for major in MAJORS {
        let machine = Machine::new(major);
        machine.switches("numbers=wrong");
        let error = machine.open().err().unwrap();
        assert!(matches!(error, TensorRtError::SelfCheck { .. }), "{error}");
        machine.switches("");
        machine.open().unwrap();
    }
}

#[test]
fn a_pointer_that_is_no_object_is_an_error_and_no_crash() {
    for switches in ["runtime=bogus", "runtime=null"] {
        let machine = Machine::new(10);
        machine.switches(switches);
        let error = machine.open().err().unwrap();
        assert!(matches!(error, TensorRtError::SelfCheck { .. }), "{switches}: {error}");
    }
}

#[test]
fn a_library_that_crashes_takes_only_the_child_with_it() {
    let machine = Machine::new(10);
    machine.switches("build=crash");
    let error = machine.open().err().unwrap().to_string();
    assert!(error.contains("self-check") && error.contains("signal") && error.contains("bad_variant"), "{error}");
}
