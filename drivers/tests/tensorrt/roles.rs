//! Roles that want TensorRT: who serves when, and what is said. The processor's side is the real ONNX Runtime.

#![allow(clippy::print_stdout)] // Tests say what they skip.

use std::fs;
use std::time::Duration;

use drivers::encoders::{Accelerator, Detection, EncoderOptions, Encoders, Picture, Road, RoleState, RoleStatus};
use drivers::models::{Availability, Catalogue, InstalledModels, Part, Role, file_digest};

use crate::machine::{Machine, load};

const DEADLINE: Duration = Duration::from_secs(60);

/// The tiny detector as the only model of a machine that has ONNX Runtime.
fn models(machine: &Machine) -> Option<InstalledModels> {
    let mut catalogue = Catalogue::load(None).unwrap();
    let runtime = match InstalledModels::new(catalogue.clone(), None, None).runtime_library() {
        Availability::Found(library) => library.path,
        Availability::Absent(reason) | Availability::Damaged(reason) => {
            println!("skipped: {reason}");
            return None;
        }
    };
    let model = machine.detector();
    let mut entry = model.entry;
    let file = &mut entry.files[0];
    (file.sha256, file.bytes) = file_digest(&model.files[&Part::Graph]).unwrap();
    file.file = "model.onnx".to_owned();
    entry.files.truncate(1);
    catalogue.models = vec![entry];
    Some(InstalledModels::new(catalogue, Some(&machine.path("")), Some(runtime)))
}

fn encoders(machine: &Machine, models: &InstalledModels, accelerator: Accelerator) -> Encoders {
    let options =
        EncoderOptions { accelerator, tensorrt: Some(machine.options()), threads: 1, ..EncoderOptions::default() };
    let encoders = Encoders::load(models.clone(), options).unwrap();
    encoders.wait_ready();
    encoders
}

fn status(encoders: &Encoders) -> RoleStatus {
    encoders.status().remove(&Role::Objects).unwrap()
}

/// Waits for a status; what builds does so in a process of its own.
fn until(encoders: &Encoders, wanted: impl Fn(&RoleStatus) -> bool) -> RoleStatus {
    let came = encoders.wait_for(DEADLINE, |roles| roles.get(&Role::Objects).is_some_and(&wanted));
    assert!(came, "{:?}", status(encoders));
    status(encoders)
}

fn seen(encoders: &Encoders) -> Result<Vec<Detection>, String> {
    let rgb = vec![255; 8 * 8 * 3];
    let picture = Picture { width: 8, height: 8, rgb: &rgb };
    encoders.filled().objects.unwrap().encode(&picture).map_err(|error| error.to_string())
}

#[test]
fn the_processor_serves_until_the_engine_is_built_and_the_next_start_has_it() {
    let machine = Machine::new(10);
    let Some(models) = models(&machine) else { return };
    machine.open().unwrap();
    machine.switches("build=wait");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, machine.path("go"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let first = encoders(&machine, &models, Accelerator::Auto);
    let early = until(&first, |status| status.reason.as_ref().is_some_and(|reason| reason.contains("(building)")));
    assert_eq!(early.state, RoleState::Ready);
    assert!(early.backend.unwrap().starts_with("onnxruntime-cpu"));
    assert!(early.reason.unwrap().contains("the processor serves while tensorrt 10.3.0.26"));
    let by_processor = seen(&first).unwrap();
    assert!(!by_processor.is_empty());

    fs::write(machine.path("go"), "").unwrap();
    let late = until(&first, |status| status.backend.as_ref().is_some_and(|backend| backend.starts_with("tensorrt")));
    assert_eq!((late.state, late.reason), (RoleState::Ready, None));
    assert_eq!(seen(&first).unwrap(), by_processor);

    let builds = machine.builds().len();
    let second = encoders(&machine, &models, Accelerator::TensorRt);
    assert!(status(&second).backend.unwrap().starts_with("tensorrt"), "at once");
    assert_eq!(seen(&second).unwrap(), by_processor);
    assert_eq!(machine.builds().len(), builds);
}

#[test]
fn the_runs_really_go_to_the_engine() {
    let machine = Machine::new(10);
    let Some(models) = models(&machine) else { return };
    load(&machine.open().unwrap(), &machine.detector()).unwrap();
    let encoders = encoders(&machine, &models, Accelerator::Auto);
    assert!(status(&encoders).backend.unwrap().starts_with("tensorrt"));
    machine.switches("enqueue=fail");
    assert!(seen(&encoders).unwrap_err().contains("enqueueV3"));
}

#[test]
fn what_was_named_and_cannot_be_built_fails_and_auto_stays_with_the_processor() {
    let machine = Machine::new(10);
    let Some(models) = models(&machine) else { return };
    machine.open().unwrap();
    machine.switches("build=fail");

    let named = encoders(&machine, &models, Accelerator::TensorRt);
    let failed = until(&named, |status| status.state == RoleState::Failed);
    assert!(failed.reason.unwrap().contains("conv_1"));
    assert!(seen(&named).unwrap_err().contains("conv_1"), "no slow success");
    assert!(named.absent_roles().iter().any(|role| role.role == "objects"));

    let auto = encoders(&machine, &models, Accelerator::Auto);
    let note = until(&auto, |status| status.reason.as_ref().is_some_and(|reason| reason.contains("conv_1")));
    assert_eq!(note.state, RoleState::Ready);
    assert!(note.backend.unwrap().starts_with("onnxruntime-cpu"));
    assert!(note.reason.unwrap().starts_with("the processor serves: "));
    assert!(!seen(&auto).unwrap().is_empty());
}

#[test]
fn a_library_that_does_not_serve_is_named_and_one_that_is_not_there_is_no_news() {
    let machine = Machine::new(10);
    let Some(models) = models(&machine) else { return };
    machine.switches("numbers=wrong");
    let auto = status(&encoders(&machine, &models, Accelerator::Auto));
    assert_eq!(auto.state, RoleState::Ready);
    assert!(auto.reason.unwrap().contains("TensorRT is not used: the self-check failed"));

    machine.switches("devices=0");
    let auto = status(&encoders(&machine, &models, Accelerator::Auto));
    assert_eq!((auto.state, auto.reason), (RoleState::Ready, None));
    let named = status(&encoders(&machine, &models, Accelerator::TensorRt));
    assert_eq!(named.state, RoleState::Failed);
    assert!(named.reason.unwrap().contains("no NVIDIA GPU"));
}

#[test]
fn a_provider_that_the_installed_onnx_runtime_lacks_is_an_error_where_it_was_named() {
    let machine = Machine::new(10);
    let Some(models) = models(&machine) else { return };
    let cuda = status(&encoders(&machine, &models, Accelerator::Cuda));
    assert_eq!(cuda.state, RoleState::Failed);
    assert!(cuda.reason.unwrap().contains("the installed ONNX Runtime has no CUDA"));

    let options = EncoderOptions {
        accelerator: Accelerator::TensorRt,
        road: Road::OnnxRuntime,
        tensorrt: Some(machine.options()),
        ..EncoderOptions::default()
    };
    let encoders = Encoders::load(models, options).unwrap();
    encoders.wait_ready();
    let tensorrt = status(&encoders);
    assert_eq!(tensorrt.state, RoleState::Failed);
    assert!(tensorrt.reason.unwrap().contains("the installed ONNX Runtime has no TensorRT"));
    assert!(machine.builds().is_empty(), "the native road was not taken");
}
