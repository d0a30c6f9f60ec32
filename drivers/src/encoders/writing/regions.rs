//! Where the pixels of a probability map hang together.

/// Maximum number of regions that are kept, the largest ones.
const MAX_REGIONS: usize = 32;
/// Minimum side of a region of writing, in pixels.
const MIN_SIDE: usize = 3;

/// Pixels above a threshold that touch each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    /// Left, top, right and bottom edge, in pixels; the last two behind the region.
    pub edges: [usize; 4],
    /// Mean probability of its pixels.
    pub score: f32,
    pixels: usize,
}

impl Region {
    /// The map shows the core of the letters: every side goes out by area times `ratio` over circumference.
    pub fn widened(&self, ratio: f32) -> [f32; 4] {
        let [left, top, right, bottom] = self.edges.map(|edge| edge as f32);
        let (width, height) = (right - left, bottom - top);
        let out = width * height * ratio / (2.0 * (width + height));
        [left - out, top - out, right + out, bottom + out]
    }
}

/// The regions of a map with so many columns, from top to bottom and left to right.
pub(super) fn regions(map: &[f32], columns: usize, threshold: f32) -> Vec<Region> {
    let mut seen = vec![false; map.len()];
    let mut found: Vec<Region> = Vec::new();
    for first in 0..map.len() {
        if seen[first] || map[first] < threshold {
            continue;
        }
        seen[first] = true;
        let mut open = vec![first];
        let mut edges = [usize::MAX, usize::MAX, 0, 0];
        let (mut sum, mut pixels) = (0.0, 0);
        while let Some(at) = open.pop() {
            let (x, y) = (at % columns, at / columns);
            edges = [edges[0].min(x), edges[1].min(y), edges[2].max(x + 1), edges[3].max(y + 1)];
            sum += map[at];
            pixels += 1;
            let left = (x > 0).then(|| at - 1);
            let right = (x + 1 < columns).then_some(at + 1);
            for next in [left, right, at.checked_sub(columns), Some(at + columns)].into_iter().flatten() {
                if next < map.len() && !seen[next] && map[next] >= threshold {
                    seen[next] = true;
                    open.push(next);
                }
            }
        }
        if edges[2] - edges[0] >= MIN_SIDE && edges[3] - edges[1] >= MIN_SIDE {
            found.push(Region { edges, score: sum / pixels as f32, pixels });
        }
    }
    found.sort_by_key(|region| std::cmp::Reverse(region.pixels));
    found.truncate(MAX_REGIONS);
    found.sort_by_key(|region| (region.edges[1], region.edges[0]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_are_two_regions_and_a_speck_is_none() {
        let mut map = vec![0.0; 20 * 10];
        for y in 2..6 {
            for x in (1..6).chain(10..18) {
                map[y * 20 + x] = 0.8;
            }
        }
        map[9 * 20 + 19] = 0.9;
        let found = regions(&map, 20, 0.3);
        let edges: Vec<_> = found.iter().map(|region| region.edges).collect();
        assert_eq!(edges, [[1, 2, 6, 6], [10, 2, 18, 6]]);
        assert!((found[0].score - 0.8).abs() < 1e-6);
        let out = 5.0 * 4.0 * 2.0 / 18.0;
        assert_eq!(found[0].widened(2.0), [1.0 - out, 2.0 - out, 6.0 + out, 6.0 + out]);
    }

    #[test]
    fn a_map_that_is_full_is_one_region_and_rows_do_not_wrap() {
        assert_eq!(regions(&[1.0; 100], 10, 0.5).len(), 1);
        let mut map = vec![0.0; 100];
        (0..4).for_each(|row| (6..10).for_each(|x| map[row * 10 + x] = 1.0));
        (1..5).for_each(|row| (0..4).for_each(|x| map[row * 10 + x] = 1.0));
        assert_eq!(regions(&map, 10, 0.5).len(), 2, "the end of a row does not touch the begin of the next");
        assert!(regions(&[], 10, 0.5).is_empty());
    }
}
