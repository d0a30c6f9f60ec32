//! The order within each layer: barycentres of the neighbours, sweeping down and up, then exchanges of neighbours.

use super::Layered;

/// Sweeps at most; the best order seen is kept.
const SWEEPS: usize = 24;
/// Sweeps without a better order after which the search ends.
const MAX_IDLE_SWEEPS: usize = 6;

pub(super) fn reduce_crossings(graph: &mut Layered) {
    let mut best = (crossings(graph), graph.layers.clone());
    let mut idle = 0;
    for sweep in 0..SWEEPS {
        if best.0 == 0 || idle == MAX_IDLE_SWEEPS {
            break;
        }
        by_barycentre(graph, sweep % 2 == 0);
        exchange(graph);
        let now = crossings(graph);
        idle += 1;
        if now < best.0 {
            best = (now, graph.layers.clone());
            idle = 0;
        }
    }
    graph.layers = best.1;
}

/// Places of the vertices within their layers.
fn places(graph: &Layered) -> Vec<usize> {
    let mut places = vec![0; graph.layer.len()];
    for layer in &graph.layers {
        for (place, vertex) in layer.iter().enumerate() {
            places[*vertex] = place;
        }
    }
    places
}

fn by_barycentre(graph: &mut Layered, downwards: bool) {
    let mut places = places(graph);
    let count = graph.layers.len();
    for step in 1..count {
        let layer = if downwards { step } else { count - 1 - step };
        let fixed = if downwards { &graph.up } else { &graph.down };
        let barycentre = |vertex: usize| {
            let weight: f64 = fixed[vertex].iter().map(|(_, weight)| weight).sum();
            let sum: f64 = fixed[vertex].iter().map(|(other, weight)| weight * places[*other] as f64).sum();
            if weight > 0.0 { sum / weight } else { places[vertex] as f64 }
        };
        let mut keyed: Vec<(f64, usize)> =
            graph.layers[layer].iter().map(|vertex| (barycentre(*vertex), *vertex)).collect();
        // Stable: what is equal keeps its order.
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        graph.layers[layer] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
        for (place, vertex) in graph.layers[layer].iter().enumerate() {
            places[*vertex] = place;
        }
    }
}

/// Exchanges neighbours within a layer while that saves a crossing.
fn exchange(graph: &mut Layered) {
    let mut places = places(graph);
    for _ in 0..MAX_IDLE_SWEEPS {
        let mut changed = false;
        for layer in 0..graph.layers.len() {
            for left in 1..graph.layers[layer].len() {
                let (a, b) = (graph.layers[layer][left - 1], graph.layers[layer][left]);
                let cost = |a: usize, b: usize| {
                    crossings_of(&graph.up[a], &graph.up[b], &places)
                        + crossings_of(&graph.down[a], &graph.down[b], &places)
                };
                if cost(b, a) < cost(a, b) {
                    graph.layers[layer].swap(left - 1, left);
                    places.swap(a, b);
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// Crossings between the links of two vertices, the first of which stands to the left.
fn crossings_of(left: &[(usize, f64)], right: &[(usize, f64)], places: &[usize]) -> usize {
    left.iter().map(|(a, _)| right.iter().filter(|(b, _)| places[*b] < places[*a]).count()).sum()
}

/// Crossings of the whole, as inversions between the layers.
fn crossings(graph: &Layered) -> usize {
    let places = places(graph);
    let mut sum = 0;
    for layer in &graph.layers {
        let mut ends: Vec<(usize, usize)> = layer
            .iter()
            .flat_map(|vertex| graph.down[*vertex].iter().map(|(to, _)| (places[*vertex], places[*to])))
            .collect();
        ends.sort_unstable();
        // A Fenwick tree counts, for each link, those before it that end further right.
        let mut tree = vec![0_usize; ends.iter().map(|(_, to)| to + 2).max().unwrap_or(0)];
        for (seen, (_, to)) in ends.iter().enumerate() {
            let (mut not_right, mut at) = (0, to + 1);
            while at > 0 {
                not_right += tree[at];
                at -= at & at.wrapping_neg();
            }
            sum += seen - not_right;
            at = to + 1;
            while at < tree.len() {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
    }
    sum
}
