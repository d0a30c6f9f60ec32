//! Unit vectors of φ, one byte per dimension, scanned flat.

use std::sync::Arc;

const BLOCK: usize = 1024;

/// Vectors of the documents `BLOCK * i .. BLOCK * (i + 1)`.
#[derive(Clone)]
struct Block {
    /// `BLOCK` rows; a row that is absent is zero.
    rows: Box<[i8]>,
    /// What a row's bytes are multiplied with; zero where it is absent.
    scales: Box<[f32]>,
}

/// All vectors; clones are states.
#[derive(Clone, Default)]
pub(super) struct VectorTable {
    dimensions: usize,
    blocks: Arc<Vec<Option<Arc<Block>>>>,
    count: usize,
}

impl VectorTable {
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, blocks: Arc::default(), count: 0 }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Keeps a vector, scaled by 32,767, in bytes: the largest component becomes 127, which leaves a cosine off by less
    /// than 0.002. One of another length is ignored.
    pub fn set(&mut self, ordinal: u32, vector: &[i16]) {
        let largest = vector.iter().map(|component| component.unsigned_abs()).max().unwrap_or(0);
        if vector.len() != self.dimensions || largest == 0 {
            return;
        }
        let (block, place) = (ordinal as usize / BLOCK, ordinal as usize % BLOCK);
        let blocks = Arc::make_mut(&mut self.blocks);
        if block >= blocks.len() {
            blocks.resize(block + 1, None);
        }
        let block = Arc::make_mut(blocks[block].get_or_insert_with(|| {
            Arc::new(Block { rows: vec![0; BLOCK * self.dimensions].into(), scales: vec![0.0; BLOCK].into() })
        }));
        if block.scales[place] == 0.0 {
            self.count += 1;
        }
        let largest = i32::from(largest);
        let row = &mut block.rows[place * self.dimensions..(place + 1) * self.dimensions];
        for (byte, component) in row.iter_mut().zip(vector) {
            let scaled = i32::from(*component) * 127;
            let rounded = (scaled + scaled.signum() * largest / 2) / largest;
            *byte = i8::try_from(rounded).expect("no component exceeds the largest");
        }
        #[expect(clippy::cast_precision_loss, reason = "both are far below 2^24")]
        let scale = largest as f32 / (127.0 * 32_767.0);
        block.scales[place] = scale;
    }

    /// Cosines of a query with every document, `NaN` where there is no vector. `None` if no vector can be compared.
    pub fn cosines(&self, query: &[f32], documents: usize) -> Option<Vec<f32>> {
        if self.count == 0 || query.len() != self.dimensions {
            return None;
        }
        let query = quantise(query)?;
        let mut cosines = vec![f32::NAN; documents];
        for (block, cosines) in self.blocks.iter().zip(cosines.chunks_mut(BLOCK)) {
            let Some(block) = block else { continue };
            for ((row, scale), cosine) in block.rows.chunks_exact(self.dimensions).zip(&block.scales).zip(cosines) {
                if *scale > 0.0 {
                    *cosine = dot(row, &query.components) * scale * query.scale;
                }
            }
        }
        Some(cosines)
    }
}

struct Quantised {
    components: Vec<i16>,
    scale: f32,
}

/// The unit vector of `query` in integers small enough that a dot product of 2,048 dimensions cannot overflow.
fn quantise(query: &[f32]) -> Option<Quantised> {
    const LARGEST: f32 = 8_191.0;
    let norm = query.iter().map(|component| component * component).sum::<f32>().sqrt();
    let largest = query.iter().fold(0.0_f32, |largest, component| largest.max(component.abs()));
    if !norm.is_finite() || norm <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded by LARGEST")]
    let components = query.iter().map(|component| (component / largest * LARGEST).round() as i16).collect();
    Some(Quantised { components, scale: largest / LARGEST / norm })
}

fn dot(row: &[i8], query: &[i16]) -> f32 {
    // Widened a stretch at a time: that compiles to multiply-and-add instructions of 16 bits, the fastest form measured.
    const STRETCH: usize = 32;
    let product = |(a, b): (&i16, &i16)| i32::from(*a) * i32::from(*b);
    let mut sum = 0_i32;
    let (rows, rest) = row.as_chunks::<STRETCH>();
    let (queries, query_rest) = query.as_chunks::<STRETCH>();
    for (row, query) in rows.iter().zip(queries) {
        sum += row.map(i16::from).iter().zip(query).map(product).sum::<i32>();
    }
    for (a, b) in rest.iter().zip(query_rest) {
        sum += i32::from(*a) * i32::from(*b);
    }
    #[expect(clippy::cast_precision_loss, reason = "the loss is far below the quantisation's")]
    let sum = sum as f32;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::cast_possible_truncation, reason = "unit vectors")]
    fn stored(vector: &[f32]) -> Vec<i16> {
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| (x / norm * 32_767.0).round() as i16).collect()
    }

    #[test]
    fn cosines_agree_with_floating_point() {
        let a: Vec<f32> = (0..384_u16).map(|i| f32::from(i * 37 % 101) - 50.0).collect();
        let b: Vec<f32> = (0..384_u16).map(|i| f32::from(i * 53 % 97) - 40.0).collect();
        let mut table = VectorTable::new(384);
        table.set(1, &stored(&a));
        let cosines = table.cosines(&b, 2).unwrap();
        let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        let exact = a.iter().zip(&b).map(|(x, y)| x * y).sum::<f32>() / norm(&a) / norm(&b);
        assert!(cosines[0].is_nan());
        assert!((cosines[1] - exact).abs() < 0.002, "{} {exact}", cosines[1]);
    }

    #[test]
    fn vectors_of_another_length_are_ignored() {
        let mut table = VectorTable::new(3);
        table.set(0, &[1, 2]);
        assert_eq!(table.len(), 0);
        assert!(table.cosines(&[1.0, 0.0, 0.0], 1).is_none());
    }

    #[test]
    fn a_state_keeps_its_vectors_when_the_table_goes_on() {
        let mut table = VectorTable::new(2);
        table.set(0, &[32_767, 0]);
        let state = table.clone();
        table.set(0, &[0, 32_767]);
        table.set(1, &[32_767, 0]);
        let cosines = state.cosines(&[1.0, 0.0], 2).unwrap();
        assert!((cosines[0] - 1.0).abs() < 0.01);
        assert!(cosines[1].is_nan());
    }
}
