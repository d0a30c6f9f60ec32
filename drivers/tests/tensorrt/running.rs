//! Runs: numbers, shapes, buffers, failures.

use drivers::encoders::tensorrt::TensorRtError;
use drivers::encoders::{BackendError, Graph, Tensor, TensorView};
use drivers::models::ElementType;
use ndarray::{ArrayD, IxDyn, arr2};

use crate::machine::{MAJORS, Machine, load, run, stage};

fn expected(values: &[f32]) -> Vec<f32> {
    values.iter().map(|x| 3.0 * x - 1.0).collect()
}

#[test]
fn every_major_calculates_what_the_graph_says_at_every_size_it_was_built_for() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
        // Grown, shrunk and grown again: buffers must not keep what was in them.
        for rows in [1, 8, 2, 5, 1] {
            let values: Vec<f32> = (0..rows * 4).map(|at| (at as f32 - 3.0) * 1.25).collect();
            assert_eq!(run(&mut *graph, rows, &values).unwrap(), expected(&values), "{rows} rows on {major}");
        }
    }
}

#[test]
fn a_device_that_shares_the_machines_memory_calculates_the_same() {
    for major in MAJORS {
        let machine = Machine::new(major);
        machine.switches("integrated=1");
        let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
        let values = [1.0, -2.0, 3.5, 0.0, 9.0, 8.0, 7.0, 6.0];
        assert_eq!(run(&mut *graph, 2, &values).unwrap(), expected(&values));
    }
}

#[test]
fn whole_numbers_and_bytes_cross_the_border() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let backend = machine.open().unwrap();
        let mut graph = load(&backend, &machine.identity(ElementType::I64, &[1, 3])).unwrap();
        let pass = |graph: &mut dyn Graph, numbers: [i64; 3]| {
            let array = arr2(&[numbers]).into_dyn();
            graph.run(&[TensorView::I64(array.view())])
        };
        let small = [-5, 0, 101_882];
        assert_eq!(pass(&mut *graph, small).unwrap(), [Tensor::I64(arr2(&[small]).into_dyn())]);
        let large = [1 << 40, 0, -1];
        let outcome = pass(&mut *graph, large);
        if major == 8 {
            assert!(stage(outcome).to_string().contains("32 bits"), "it has no others, and cuts none off");
        } else {
            assert_eq!(outcome.unwrap(), [Tensor::I64(arr2(&[large]).into_dyn())]);
        }
        let mut graph = load(&backend, &machine.identity(ElementType::U8, &[1, 4])).unwrap();
        let bytes = ArrayD::from_shape_vec(IxDyn(&[1, 4]), vec![0_u8, 1, 200, 255]).unwrap();
        assert_eq!(graph.run(&[TensorView::U8(bytes.view())]).unwrap(), [Tensor::U8(bytes.clone())]);
    }
}

#[test]
fn a_shape_that_the_engine_was_not_built_for_is_refused_and_the_next_one_runs() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
        let error = stage(run(&mut *graph, 9, &[0.0; 36]));
        assert!(matches!(&error, TensorRtError::ShapeMismatch { message } if message.contains("[9, 4]")), "{error}");
        let error = stage(run(&mut *graph, 1, &[0.0; 5]));
        assert!(matches!(error, TensorRtError::ShapeMismatch { .. }), "{error}");
        assert_eq!(run(&mut *graph, 1, &[1.0; 4]).unwrap(), [2.0; 4]);
    }
}

#[test]
fn a_run_that_fails_on_the_device_is_an_error_and_no_old_answer() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
        run(&mut *graph, 1, &[1.0; 4]).unwrap();
        machine.switches("enqueue=fail");
        let error = stage(run(&mut *graph, 1, &[2.0; 4]));
        assert!(matches!(&error, TensorRtError::ExecFailed { message } if message.contains("illegal")), "{error}");
        machine.switches("");
        assert_eq!(run(&mut *graph, 1, &[2.0; 4]).unwrap(), [5.0; 4]);
    }
}

#[test]
fn memory_that_is_used_up_is_told_as_such() {
    let machine = Machine::new(10);
    let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
    machine.switches("allocate=fail");
    let error = stage(run(&mut *graph, 1, &[1.0; 4]));
    assert!(matches!(&error, TensorRtError::OutOfMemory { message } if message.contains("CUDA_ERROR_OUT")), "{error}");
    machine.switches("");
    assert_eq!(run(&mut *graph, 1, &[1.0; 4]).unwrap(), [2.0; 4]);
}

#[test]
fn the_wrong_number_of_inputs_is_an_error() {
    let machine = Machine::new(10);
    let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
    assert!(matches!(graph.run(&[]), Err(BackendError::Run { .. })));
}

#[test]
fn a_graph_may_go_to_another_thread() {
    let machine = Machine::new(10);
    let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
    run(&mut *graph, 1, &[0.0; 4]).unwrap();
    let there = std::thread::spawn(move || run(&mut *graph, 2, &[1.0; 8]).unwrap());
    assert_eq!(there.join().unwrap(), [2.0; 8]);
}

#[test]
fn every_object_that_was_made_is_deleted() {
    for major in MAJORS {
        let machine = Machine::new(major);
        let mut graph = load(&machine.open().unwrap(), &machine.affine()).unwrap();
        run(&mut *graph, 3, &[1.0; 12]).unwrap();
        assert_eq!(fakes::objects_alive(&machine.library()), 3, "runtime, engine and context");
        drop(graph);
        assert_eq!(fakes::objects_alive(&machine.library()), 0);
    }
}
