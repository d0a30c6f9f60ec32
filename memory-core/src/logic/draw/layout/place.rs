//! Coordinates: layers from top to bottom; within a layer every vertex as near as its neighbours allow to where its links
//! pull it.

use super::{Layered, Layout};

/// Between two boxes of a layer, and beside a bend.
const BETWEEN_BOXES: f64 = 28.0;
const BESIDE_BEND: f64 = 18.0;
/// Between two layers: room for the arrows and their numbers.
const BETWEEN_LAYERS: f64 = 62.0;
/// Sweeps that pull vertices to their neighbours.
const SWEEPS: usize = 40;
/// How much straighter a link is kept between two bends, and between a bend and a box.
const BEND_TO_BEND: f64 = 8.0;
const BEND_TO_BOX: f64 = 2.0;
/// The share of a box's width over which its links spread.
const PORTS: f64 = 0.6;

pub(super) fn coordinates(graph: &Layered, sizes: &[(f64, f64)]) -> Layout {
    let size = |vertex: usize| sizes.get(vertex).copied().unwrap_or((0.0, 0.0));
    let xs = across(graph, &size);
    let mut tops = Vec::with_capacity(graph.layers.len());
    let mut bottom = 0.0;
    for layer in &graph.layers {
        let height = layer.iter().map(|vertex| size(*vertex).1).fold(0.0, f64::max);
        tops.push((bottom, height));
        bottom += height + BETWEEN_LAYERS;
    }
    let centre = |vertex: usize| {
        let (top, height) = tops[graph.layer[vertex]];
        (xs[vertex], top + height / 2.0)
    };
    let (below, above) = (ports(graph, &graph.down, &xs, &size), ports(graph, &graph.up, &xs, &size));
    let port = |side: &[Vec<(usize, f64)>], at: usize, other: usize| {
        side[at].iter().find(|(to, _)| *to == other).map_or(xs[at], |(_, x)| *x)
    };
    let routes = graph.chains.iter().map(|chain| {
        let mut route = Vec::with_capacity(2 * chain.len());
        for pair in chain.windows(2) {
            let leave = |vertex: usize| {
                let (top, height) = tops[graph.layer[vertex]];
                let (_, y) = centre(vertex);
                if graph.is_bend(vertex) { top + height } else { y + size(vertex).1 / 2.0 }
            };
            let enter = |vertex: usize| {
                let (top, _) = tops[graph.layer[vertex]];
                let (_, y) = centre(vertex);
                if graph.is_bend(vertex) { top } else { y - size(vertex).1 / 2.0 }
            };
            route.push((port(&below, pair[0], pair[1]), leave(pair[0])));
            route.push((port(&above, pair[1], pair[0]), enter(pair[1])));
        }
        route
    });
    Layout {
        centres: (0..graph.boxes).map(centre).collect(),
        routes: routes.collect(),
        width: (0..graph.layer.len()).map(|vertex| xs[vertex] + size(vertex).0 / 2.0).fold(0.0, f64::max),
        height: (bottom - BETWEEN_LAYERS).max(0.0),
    }
}

/// Returns where the links of each vertex touch it, ordered by their targets, so that they do not cross at the box.
fn ports(
    graph: &Layered,
    neighbours: &[Vec<(usize, f64)>],
    xs: &[f64],
    size: &dyn Fn(usize) -> (f64, f64),
) -> Vec<Vec<(usize, f64)>> {
    let of = |vertex: usize| {
        let mut others: Vec<usize> = neighbours[vertex].iter().map(|(other, _)| *other).collect();
        others.sort_by(|a, b| xs[*a].total_cmp(&xs[*b]).then(a.cmp(b)));
        let (count, width) = (others.len() as f64, size(vertex).0 * PORTS);
        let place = |(index, other): (usize, usize)| (other, xs[vertex] + width * ((index as f64 + 0.5) / count - 0.5));
        others.into_iter().enumerate().map(place).collect()
    };
    (0..graph.layer.len()).map(of).collect()
}

/// The x of every vertex, none below its own half width.
fn across(graph: &Layered, size: &dyn Fn(usize) -> (f64, f64)) -> Vec<f64> {
    let gap = |a: usize, b: usize| {
        let room = if graph.is_bend(a) || graph.is_bend(b) { BESIDE_BEND } else { BETWEEN_BOXES };
        f64::midpoint(size(a).0, size(b).0) + room
    };
    let mut xs = vec![0.0; graph.layer.len()];
    for layer in &graph.layers {
        let mut x = 0.0;
        for (place, vertex) in layer.iter().enumerate() {
            x += if place == 0 { 0.0 } else { gap(layer[place - 1], *vertex) };
            xs[*vertex] = x;
        }
        let middle = x / 2.0;
        layer.iter().for_each(|vertex| xs[*vertex] -= middle);
    }
    for sweep in 0..SWEEPS {
        let count = graph.layers.len();
        for step in 0..count {
            let layer = &graph.layers[if sweep % 2 == 0 { step } else { count - 1 - step }];
            let wanted: Vec<(f64, f64)> = layer
                .iter()
                .map(|vertex| {
                    let links = graph.up[*vertex].iter().chain(&graph.down[*vertex]);
                    let (mut sum, mut total) = (0.0, 0.0);
                    for (other, weight) in links {
                        let weight = weight
                            * match (graph.is_bend(*vertex), graph.is_bend(*other)) {
                                (true, true) => BEND_TO_BEND,
                                (false, false) => 1.0,
                                _ => BEND_TO_BOX,
                            };
                        sum += weight * xs[*other];
                        total += weight;
                    }
                    if total > 0.0 { (sum / total, total) } else { (xs[*vertex], 1e-3) }
                })
                .collect();
            let gaps: Vec<f64> = layer.windows(2).map(|pair| gap(pair[0], pair[1])).collect();
            for (vertex, x) in layer.iter().zip(spread(&wanted, &gaps)) {
                xs[*vertex] = x;
            }
        }
    }
    let left = (0..xs.len()).map(|vertex| xs[vertex] - size(vertex).0 / 2.0).fold(f64::INFINITY, f64::min);
    xs.iter_mut().for_each(|x| *x -= left);
    xs
}

/// The places nearest to the wanted ones (position, weight), by weighted squares, that keep their gaps: an isotonic
/// regression by pooling adjacent violators.
fn spread(wanted: &[(f64, f64)], gaps: &[f64]) -> Vec<f64> {
    let mut offsets = vec![0.0; wanted.len()];
    for place in 1..wanted.len() {
        offsets[place] = offsets[place - 1] + gaps[place - 1];
    }
    // Blocks that move together: weighted mean, weight, length.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for ((position, weight), offset) in wanted.iter().zip(&offsets) {
        blocks.push((position - offset, *weight, 1));
        while let [.., (before, w, n), (after, v, m)] = blocks[..] {
            if before <= after {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            blocks.push(((before * w + after * v) / (w + v), w + v, n + m));
        }
    }
    let moved = blocks.into_iter().flat_map(|(position, _, length)| std::iter::repeat_n(position, length));
    moved.zip(offsets).map(|(position, offset)| position + offset).collect()
}
