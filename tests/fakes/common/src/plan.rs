//! What the stand-in's builder writes: the graph, for which shapes, by which version.

use std::collections::BTreeMap;

const MAGIC: &[u8] = b"FAKEPLAN";

/// Smallest, best and largest shape by input.
pub type Shapes = BTreeMap<String, [Vec<i64>; 3]>;

pub fn write(version: i32, epoch: &str, shapes: &Shapes, onnx: &[u8]) -> Vec<u8> {
    let sizes = |shape: &[i64]| shape.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let lines: String = shapes
        .iter()
        .map(|(name, [min, opt, max])| format!("{name}|{}|{}|{}\n", sizes(min), sizes(opt), sizes(max)))
        .collect();
    let mut plan = MAGIC.to_vec();
    plan.extend(version.to_le_bytes());
    for part in [epoch.as_bytes(), lines.as_bytes(), onnx] {
        plan.extend((part.len() as u32).to_le_bytes());
        plan.extend(part);
    }
    plan
}

/// Version, epoch, shapes and graph.
pub fn read(plan: &[u8]) -> Option<(i32, String, Shapes, Vec<u8>)> {
    let rest = plan.strip_prefix(MAGIC)?;
    let (version, mut rest) = rest.split_first_chunk::<4>()?;
    let mut part = || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (part, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = after;
        Some(part.to_vec())
    };
    let (epoch, lines, onnx) = (part()?, part()?, part()?);
    let mut shapes = Shapes::new();
    for line in String::from_utf8(lines).ok()?.lines() {
        let mut parts = line.split('|');
        let name = parts.next()?.to_owned();
        let mut sizes = || parts.next()?.split(',').map(|size| size.parse().ok()).collect::<Option<Vec<i64>>>();
        shapes.insert(name, [sizes()?, sizes()?, sizes()?]);
    }
    Some((i32::from_le_bytes(*version), String::from_utf8(epoch).ok()?, shapes, onnx))
}
