//! A network small enough to know its answer: `y = max(0, a·x + b)` for rows of four numbers, any number of them.

use crate::models::ShapeRange;

const WIDTH: usize = 4;
const A: [f32; WIDTH] = [0.5, -2.0, 3.0, 1.0];
const B: [f32; WIDTH] = [1.0, 0.25, -4.0, 0.0];
/// Number of rows that the network is built for.
const MAX_ROWS: i64 = 8;

/// Its one input.
pub(super) const INPUT: &str = "x";

/// The shapes to build it for.
pub(super) fn profile() -> ShapeRange {
    let rows = |rows| vec![rows, WIDTH as i64];
    ShapeRange { name: INPUT.to_owned(), min: rows(1), opt: rows(2), max: rows(MAX_ROWS) }
}

/// Rows that reach both branches of every column.
pub(super) fn input(rows: usize) -> Vec<f32> {
    (0..rows * WIDTH).map(|at| (at as f32 * 0.75 - 2.0) * if at % 3 == 0 { -1.0 } else { 1.0 }).collect()
}

/// Returns the expected output.
pub(super) fn answer(input: &[f32]) -> Vec<f32> {
    input.iter().enumerate().map(|(at, x)| (A[at % WIDTH] * x + B[at % WIDTH]).max(0.0)).collect()
}

/// The network as an ONNX file (opset 13), written field by field: numbers are those of onnx.proto.
pub(super) fn onnx() -> Vec<u8> {
    const FLOAT: u64 = 1;
    let node = |kind: &str, inputs: &[&str], output: &str| {
        let mut node = Vec::new();
        inputs.iter().for_each(|input| text(&mut node, 1, input));
        text(&mut node, 2, output);
        text(&mut node, 4, kind);
        node
    };
    let constant = |name: &str, values: &[f32; WIDTH]| {
        let mut tensor = Vec::new();
        number(&mut tensor, 1, 1);
        number(&mut tensor, 1, WIDTH as u64);
        number(&mut tensor, 2, FLOAT);
        text(&mut tensor, 8, name);
        bytes(&mut tensor, 9, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        tensor
    };
    let border = |name: &str| {
        let (mut open, mut fixed) = (Vec::new(), Vec::new());
        text(&mut open, 2, "rows");
        number(&mut fixed, 1, WIDTH as u64);
        let (mut shape, mut tensor, mut kind, mut info) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        bytes(&mut shape, 1, &open);
        bytes(&mut shape, 1, &fixed);
        number(&mut tensor, 1, FLOAT);
        bytes(&mut tensor, 2, &shape);
        bytes(&mut kind, 1, &tensor);
        text(&mut info, 1, name);
        bytes(&mut info, 2, &kind);
        info
    };
    let mut graph = Vec::new();
    bytes(&mut graph, 1, &node("Mul", &[INPUT, "a"], "scaled"));
    bytes(&mut graph, 1, &node("Add", &["scaled", "b"], "shifted"));
    bytes(&mut graph, 1, &node("Relu", &["shifted"], "y"));
    text(&mut graph, 2, "probe");
    bytes(&mut graph, 5, &constant("a", &A));
    bytes(&mut graph, 5, &constant("b", &B));
    bytes(&mut graph, 11, &border(INPUT));
    bytes(&mut graph, 12, &border("y"));
    let (mut operators, mut model) = (Vec::new(), Vec::new());
    number(&mut operators, 2, 13);
    number(&mut model, 1, 8);
    bytes(&mut model, 7, &graph);
    bytes(&mut model, 8, &operators);
    model
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn number(to: &mut Vec<u8>, field: u64, value: u64) {
    varint(to, field << 3);
    varint(to, value);
}

fn bytes(to: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(to, field << 3 | 2);
    varint(to, value.len() as u64);
    to.extend_from_slice(value);
}

fn text(to: &mut Vec<u8>, field: u64, value: &str) {
    bytes(to, field, value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_reach_both_branches_of_every_column() {
        let input = input(6);
        let answer = answer(&input);
        for column in 0..WIDTH {
            let of_column = || answer.iter().skip(column).step_by(WIDTH);
            assert!(of_column().any(|y| *y > 0.0) && of_column().any(|y| *y == 0.0), "column {column}: {answer:?}");
        }
        assert_eq!(super::answer(&[2.0, 1.0, 1.0, 7.0]), [2.0, 0.0, 0.0, 7.0]);
    }
}
