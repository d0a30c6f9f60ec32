//! A real GPU, its driver and NVIDIA's own TensorRT, for whoever has them. It tests what stand-ins cannot: the slots for running on
//! the real library, numbers beside the processor's, and times.
//!
//! ```sh
//! ENGRAM_TENSORRT=/usr/lib/x86_64-linux-gnu/libnvinfer.so.10 \
//!     cargo test -p drivers --test tensorrt -- --ignored gpu --nocapture --test-threads=1
//! ```
//!
//! Without `ENGRAM_TENSORRT` it takes the library that the loader finds. TensorRT for RTX (see `rtx.rs`) is named in the same way:
//! `ENGRAM_TENSORRT=tensorrt_rtx_libs/libtensorrt_rtx.so.1`. `ENGRAM_CUDA` names another driver than `libcuda.so.1`.
//! Please report what it prints (docs/tensorrt.md, "What has been tested, and where").

#![allow(clippy::print_stdout)] // Measurements, which are read.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use drivers::encoders::tensorrt::{TensorRt, TensorRtError, TensorRtOptions};
use drivers::encoders::{Backend, Graph, OnnxRuntime, Tensor, TensorView};
use drivers::models::{Availability, Catalogue, ElementType, InstalledModels, ModelEntry, Role, TensorSpec};
use ndarray::{ArrayD, Dimension, IxDyn};

use crate::machine::{Machine, cached_engine, load, run, stage};

/// How far numbers may lie apart, as a share of the largest: TensorRT may use TF32, with 10 bits of fraction.
const TOLERANCE: f32 = 2e-2;
/// Runs that are timed.
const RUNS: usize = 50;

/// The real library and driver, with engines in the machine's folder.
fn open(machine: &Machine) -> TensorRt {
    let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let library = named("ENGRAM_TENSORRT").map(|path| std::fs::canonicalize(path).unwrap());
    let options = TensorRtOptions {
        library,
        driver: named("ENGRAM_CUDA"),
        allow_rtx: true,
        workspace_mib: 512,
        ..TensorRtOptions::new(machine.engines(), machine.options().builder)
    };
    let begin = Instant::now();
    let backend = TensorRt::open(options).unwrap_or_else(|error| panic!("{}: {error}", error.stage()));
    let (library, device) = (backend.describe_library(), backend.describe_device());
    println!("{library} on {device}: the self-check passed, {:.1?}", begin.elapsed());
    backend
}

fn expected(values: &[f32]) -> Vec<f32> {
    values.iter().map(|x| 3.0 * x - 1.0).collect()
}

fn near(found: &[f32], wanted: &[f32]) -> f32 {
    let largest = wanted.iter().fold(1e-3_f32, |most, value| most.max(value.abs()));
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(wanted).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs())) / largest
}

#[test]
#[ignore = "needs an NVIDIA GPU and TensorRT: see above"]
fn gpu_calculates_at_every_size_from_two_threads_and_refuses_what_it_should() {
    let machine = Machine::new(10);
    let backend = open(&machine);
    let model = machine.affine();
    let mut graph = load(&backend, &model).unwrap();
    for rows in [1, 8, 2, 5, 1] {
        let values: Vec<f32> = (0..rows * 4).map(|at| (at as f32 - 3.0) * 1.25).collect();
        assert!(near(&run(&mut *graph, rows, &values).unwrap(), &expected(&values)) < TOLERANCE, "{rows} rows");
    }
    // A shape that it was not built for, and then one that it was.
    let error = stage(run(&mut *graph, 9, &[0.0; 36]));
    assert!(matches!(error, TensorRtError::ShapeMismatch { .. }), "{error}");
    assert!(near(&run(&mut *graph, 1, &[1.0; 4]).unwrap(), &[2.0; 4]) < TOLERANCE);
    // Two engines at once, each with its stream.
    std::thread::scope(|scope| {
        for number in 0..2_u8 {
            let mut graph = load(&backend, &model).unwrap();
            scope.spawn(move || {
                for round in 0..200_u8 {
                    let values = [f32::from(round), f32::from(number), -1.0, 0.5];
                    assert!(near(&run(&mut *graph, 1, &values).unwrap(), &expected(&values)) < TOLERANCE);
                }
            });
        }
    });
    drop(graph);
    // An engine of which a part is overwritten: built again, not run.
    let engine = cached_engine(&machine.engines());
    let mut bytes = std::fs::read(&engine).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].iter_mut().take(64).for_each(|byte| *byte ^= 0xff);
    std::fs::write(&engine, bytes).unwrap();
    let mut graph = load(&backend, &model).unwrap();
    assert!(near(&run(&mut *graph, 1, &[1.0; 4]).unwrap(), &[2.0; 4]) < TOLERANCE);
    // More memory than most devices have: built or refused, and what runs goes on.
    let mut huge = machine.affine();
    huge.entry.shapes[0].max = vec![1 << 28, 4];
    huge.entry.shapes[0].opt = vec![1 << 27, 4];
    match backend.load_engine(&huge, false, &mut |_| {}) {
        Ok(_) => println!("rows up to 2^28 were built"),
        Err(error) => println!("rows up to 2^28: {error}"),
    }
    assert!(near(&run(&mut *graph, 1, &[1.0; 4]).unwrap(), &[2.0; 4]) < TOLERANCE);
}

/// An input of a model's usual size: pictures and sounds of small numbers, ids and masks of ones.
fn input(entry: &ModelEntry, place: usize, spec: &TensorSpec) -> Tensor {
    let range = entry.shapes.iter().find(|range| range.name == spec.name).or_else(|| entry.shapes.get(place));
    let shape: Vec<usize> = match range {
        Some(range) => range.opt.iter().map(|side| usize::try_from(*side).unwrap()).collect(),
        None => spec.shape.iter().map(|side| usize::try_from(*side).unwrap_or(1)).collect(),
    };
    let shape = IxDyn(&shape);
    match spec.element {
        ElementType::F32 => {
            let numbers = (0..shape.size()).map(|at| (at % 251) as f32).collect();
            Tensor::F32(ArrayD::from_shape_vec(shape, numbers).unwrap())
        }
        ElementType::I64 => Tensor::I64(ArrayD::from_elem(shape, 1)),
        ElementType::U8 => Tensor::U8(ArrayD::from_elem(shape, 100)),
    }
}

fn view(tensor: &Tensor) -> TensorView<'_> {
    match tensor {
        Tensor::F32(array) => TensorView::F32(array.view()),
        Tensor::I64(array) => TensorView::I64(array.view()),
        Tensor::U8(array) => TensorView::U8(array.view()),
    }
}

/// Median of the runs, after a few that do not count, and what came out.
fn timed(graph: &mut dyn Graph, inputs: &[Tensor]) -> (Duration, Vec<Tensor>) {
    let views: Vec<TensorView<'_>> = inputs.iter().map(view).collect();
    let mut outputs = Vec::new();
    let mut took: Vec<Duration> = (0..RUNS + 5)
        .map(|_| {
            let begin = Instant::now();
            outputs = graph.run(&views).unwrap();
            begin.elapsed()
        })
        .skip(5)
        .collect();
    took.sort_unstable();
    (took[RUNS / 2], outputs)
}

#[test]
#[ignore = "needs an NVIDIA GPU, TensorRT, ONNX Runtime and the models: see above"]
fn gpu_runs_the_models_of_the_default_profile_as_the_processor_does() {
    let machine = Machine::new(10);
    let backend = open(&machine);
    let models = InstalledModels::new(Catalogue::load(None).unwrap(), None, None);
    let Availability::Found(library) = models.runtime_library() else { panic!("ONNX Runtime is not installed") };
    let processor = OnnxRuntime::open(&library).unwrap();
    let mut compared = 0;
    for role in Role::ALL {
        let Some(entry) = models.catalogue().model(role).filter(|entry| entry.tensorrt) else { continue };
        let Availability::Found(model) = models.model(role) else { continue };
        let inputs: Vec<Tensor> =
            entry.inputs.iter().enumerate().map(|(place, spec)| input(entry, place, spec)).collect();
        let begin = Instant::now();
        let mut engine = load(&backend, &model).unwrap();
        let built = begin.elapsed();
        let (on_gpu, found) = timed(&mut *engine, &inputs);
        let (on_processor, wanted) = timed(&mut *processor.load(&model, 2).unwrap(), &inputs);
        let mut apart = 0.0_f32;
        for (found, wanted) in found.iter().zip(&wanted) {
            if let (Tensor::F32(found), Tensor::F32(wanted)) = (found, wanted) {
                let numbers = |array: &ArrayD<f32>| array.iter().copied().collect::<Vec<_>>();
                apart = apart.max(near(&numbers(found), &numbers(wanted)));
            }
        }
        println!(
            "{role}: {}: built in {built:.1?}, a run {on_gpu:.2?} on the GPU and {on_processor:.2?} on two cores, {apart:.5} apart",
            entry.name
        );
        assert!(apart < TOLERANCE, "{}: {apart}", entry.name);
        compared += 1;
    }
    assert!(compared > 0, "no model that TensorRT can build is installed");
}
