//! As much of ONNX as the stand-ins understand and tests write: chains of elementwise operators on tensors of one shape, with
//! constants of one element or of the last dimension's size; and tensors joined along their second dimension.

use std::collections::BTreeMap;

/// 32-bit floating point in ONNX's numbering.
pub const F32: u64 = 1;
/// 64-bit integers.
pub const I64: u64 = 7;
/// Bytes.
pub const U8: u64 = 2;

/// A tensor at the border of a graph; -1 for an open dimension.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Border {
    pub name: String,
    pub element: u64,
    pub shape: Vec<i64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    pub kind: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub constants: BTreeMap<String, Vec<f32>>,
    pub inputs: Vec<Border>,
    pub outputs: Vec<Border>,
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Field<'_>)>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let mut take = |length: usize| {
            let (taken, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(taken)
        };
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)?),
            1 => Field::Bytes(take(8)?),
            2 => {
                let length = varint(&mut bytes)?;
                let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
                bytes = rest;
                Field::Bytes(taken)
            }
            5 => Field::Bytes(take(4)?),
            _ => return None,
        };
        found.push((tag >> 3, field));
    }
    Some(found)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Model {
    /// A detector of one class on pictures of 8x8: its six channels are the picture's three, twice.
    pub fn detector() -> Self {
        let border =
            |name: &str, channels| Border { name: name.to_owned(), element: F32, shape: vec![1, channels, 8, 8] };
        Self {
            nodes: vec![Node {
                kind: "Concat".to_owned(),
                inputs: vec!["x".to_owned(), "x".to_owned()],
                outputs: vec!["y".to_owned()],
            }],
            inputs: vec![border("x", 3)],
            outputs: vec![border("y", 6)],
            ..Self::default()
        }
    }

    /// `None` if it is no ONNX file.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let graph = fields(bytes)?.into_iter().find_map(|(number, field)| match (number, field) {
            (7, Field::Bytes(graph)) => Some(graph),
            _ => None,
        })?;
        let mut model = Self::default();
        for (number, field) in fields(graph)? {
            let Field::Bytes(bytes) = field else { continue };
            match number {
                1 => model.nodes.push(node(bytes)?),
                5 => {
                    let (name, values) = constant(bytes)?;
                    model.constants.insert(name, values);
                }
                11 => model.inputs.push(border(bytes)?),
                12 => model.outputs.push(border(bytes)?),
                _ => {}
            }
        }
        let constants: Vec<String> = model.constants.keys().cloned().collect();
        model.inputs.retain(|input| !constants.contains(&input.name));
        Some(model)
    }

    /// The operators that are not understood.
    pub fn unknown(&self) -> Vec<&str> {
        let known = ["Identity", "Relu", "Mul", "Add", "Concat"];
        self.nodes.iter().map(|node| node.kind.as_str()).filter(|kind| !known.contains(kind)).collect()
    }

    /// The elements of every output, given those of the inputs.
    pub fn calculate(&self, inputs: &BTreeMap<String, (Vec<i64>, Vec<f64>)>) -> Option<Vec<Vec<f64>>> {
        let mut values: BTreeMap<&str, (usize, Vec<f64>)> = BTreeMap::new();
        for (name, (shape, elements)) in inputs {
            let last = shape.last().map_or(1, |size| *size as usize).max(1);
            values.insert(name, (last, elements.clone()));
        }
        for node in &self.nodes {
            let (last, first) = values.get(node.inputs.first()?.as_str())?.clone();
            if node.kind == "Concat" {
                // The first dimension is 1, so what is joined lies one behind the other.
                let parts = node.inputs.iter().map(|name| values.get(name.as_str()).map(|(_, part)| part.clone()));
                let joined = parts.collect::<Option<Vec<_>>>()?.concat();
                values.insert(node.outputs.first()?, (last, joined));
                continue;
            }
            let second = node.inputs.get(1).and_then(|name| self.constants.get(name));
            let with =
                |at: usize| second.map(|values| f64::from(values[if values.len() == 1 { 0 } else { at % last }]));
            let result = first
                .iter()
                .enumerate()
                .map(|(at, x)| match node.kind.as_str() {
                    "Identity" => Some(*x),
                    "Relu" => Some(x.max(0.0)),
                    "Mul" => Some(x * with(at)?),
                    "Add" => Some(x + with(at)?),
                    _ => None,
                })
                .collect::<Option<Vec<f64>>>()?;
            values.insert(node.outputs.first()?, (last, result));
        }
        self.outputs
            .iter()
            .map(|output| values.get(output.name.as_str()).map(|(_, elements)| elements.clone()))
            .collect()
    }

    /// The input whose shape an output has.
    pub fn source(&self, output: &str) -> Option<&str> {
        let mut name = output;
        while let Some(node) = self.nodes.iter().find(|node| node.outputs.iter().any(|other| other == name)) {
            name = node.inputs.first()?;
        }
        self.inputs.iter().find(|input| input.name == name).map(|input| input.name.as_str())
    }

    /// An ONNX file (opset 13).
    pub fn write(&self) -> Vec<u8> {
        let mut graph = Vec::new();
        for node in &self.nodes {
            let mut out = Vec::new();
            node.inputs.iter().for_each(|name| put(&mut out, 1, name.as_bytes()));
            node.outputs.iter().for_each(|name| put(&mut out, 2, name.as_bytes()));
            put(&mut out, 4, node.kind.as_bytes());
            if node.kind == "Concat" {
                let mut axis = Vec::new();
                put(&mut axis, 1, b"axis");
                put_number(&mut axis, 3, 1);
                put_number(&mut axis, 20, 2);
                put(&mut out, 5, &axis);
            }
            put(&mut graph, 1, &out);
        }
        put(&mut graph, 2, b"fake");
        for (name, values) in &self.constants {
            let mut out = Vec::new();
            put_number(&mut out, 1, values.len() as u64);
            put_number(&mut out, 2, F32);
            put(&mut out, 8, name.as_bytes());
            put(&mut out, 9, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
            put(&mut graph, 5, &out);
        }
        for (number, borders) in [(11, &self.inputs), (12, &self.outputs)] {
            for border in borders {
                let mut shape = Vec::new();
                for size in &border.shape {
                    let mut dimension = Vec::new();
                    match u64::try_from(*size) {
                        Ok(size) => put_number(&mut dimension, 1, size),
                        Err(_) => put(&mut dimension, 2, b"n"),
                    }
                    put(&mut shape, 1, &dimension);
                }
                let (mut tensor, mut kind, mut info) = (Vec::new(), Vec::new(), Vec::new());
                put_number(&mut tensor, 1, border.element);
                put(&mut tensor, 2, &shape);
                put(&mut kind, 1, &tensor);
                put(&mut info, 1, border.name.as_bytes());
                put(&mut info, 2, &kind);
                put(&mut graph, number, &info);
            }
        }
        let (mut operators, mut model) = (Vec::new(), Vec::new());
        put_number(&mut operators, 2, 13);
        put_number(&mut model, 1, 8);
        put(&mut model, 7, &graph);
        put(&mut model, 8, &operators);
        model
    }
}

fn node(bytes: &[u8]) -> Option<Node> {
    let mut node = Node::default();
    for (number, field) in fields(bytes)? {
        match (number, field) {
            (1, Field::Bytes(name)) => node.inputs.push(text(name)),
            (2, Field::Bytes(name)) => node.outputs.push(text(name)),
            (4, Field::Bytes(kind)) => node.kind = text(kind),
            _ => {}
        }
    }
    Some(node)
}

fn constant(bytes: &[u8]) -> Option<(String, Vec<f32>)> {
    let (mut name, mut values) = (String::new(), Vec::new());
    for (number, field) in fields(bytes)? {
        match (number, field) {
            (8, Field::Bytes(bytes)) => name = text(bytes),
            (4 | 9, Field::Bytes(raw)) => {
                values.extend(raw.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            _ => {}
        }
    }
    Some((name, values))
}

fn border(bytes: &[u8]) -> Option<Border> {
    let inner = |bytes, wanted| {
        fields(bytes)?.into_iter().find_map(|(number, field)| match field {
            Field::Bytes(bytes) if number == wanted => Some(bytes),
            _ => None,
        })
    };
    let name = text(inner(bytes, 1)?);
    let tensor = inner(inner(bytes, 2)?, 1)?;
    let (mut element, mut shape) = (0, Vec::new());
    for (number, field) in fields(tensor)? {
        match (number, field) {
            (1, Field::Number(kind)) => element = kind,
            (2, Field::Bytes(dimensions)) => {
                for (_, dimension) in fields(dimensions)? {
                    let Field::Bytes(dimension) = dimension else { continue };
                    let size = fields(dimension)?.into_iter().find_map(|(number, field)| match field {
                        Field::Number(size) if number == 1 => Some(size as i64),
                        _ => None,
                    });
                    shape.push(size.unwrap_or(-1));
                }
            }
            _ => {}
        }
    }
    Some(Border { name, element, shape })
}

fn put_varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn put_number(to: &mut Vec<u8>, field: u64, value: u64) {
    put_varint(to, field << 3);
    put_varint(to, value);
}

fn put(to: &mut Vec<u8>, field: u64, value: &[u8]) {
    put_varint(to, field << 3 | 2);
    put_varint(to, value.len() as u64);
    to.extend_from_slice(value);
}
