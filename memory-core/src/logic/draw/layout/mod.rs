//! Layered layout of an acyclic graph, top to bottom (Sugiyama, Tagawa and Toda, "Methods for visual understanding of
//! hierarchical system structures", 1981): every vertex gets a layer, long edges pass the layers between through bends,
//! the layers are put in an order with few crossings, and everything gets coordinates.
//!
//! Deterministic: the same graph gives the same picture on every machine.

mod order;
mod place;
mod rank;

/// An edge to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    /// How much it matters that it is short and straight; positive.
    pub weight: f64,
}

/// Positions of everything, in pixels, y downwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// The centre of each box.
    pub centres: Vec<(f64, f64)>,
    /// Each link's way: `[a, b, c, d, …]`, of which `a → b`, `c → d` and so on cross from one layer to the next, and
    /// `b → c` goes straight down through a layer.
    pub routes: Vec<Vec<(f64, f64)>>,
    /// Size of the whole.
    pub width: f64,
    pub height: f64,
}

/// A graph whose long edges are cut at every layer they pass.
struct Layered {
    /// Vertices by layer, left to right: first the boxes, then the bends.
    layers: Vec<Vec<usize>>,
    /// The layer of each vertex.
    layer: Vec<usize>,
    /// Each vertex's neighbours one layer up and one layer down, with the weight of the edge.
    up: Vec<Vec<(usize, f64)>>,
    down: Vec<Vec<(usize, f64)>>,
    /// The vertices along each link, both ends included.
    chains: Vec<Vec<usize>>,
    /// Vertices below this number are boxes.
    boxes: usize,
}

impl Layered {
    fn new(boxes: usize, links: &[Link]) -> Self {
        let mut layer = rank::layers(boxes, links);
        let (mut up, mut down) = (vec![Vec::new(); boxes], vec![Vec::new(); boxes]);
        let mut chains = Vec::with_capacity(links.len());
        for link in links {
            let mut chain = vec![link.from];
            for between in layer[link.from] + 1..layer[link.to] {
                chain.push(layer.len());
                layer.push(between);
                up.push(Vec::new());
                down.push(Vec::new());
            }
            chain.push(link.to);
            for pair in chain.windows(2) {
                down[pair[0]].push((pair[1], link.weight));
                up[pair[1]].push((pair[0], link.weight));
            }
            chains.push(chain);
        }
        let count = layer.iter().max().map_or(0, |last| last + 1);
        let mut layers = vec![Vec::new(); count];
        for (vertex, layer) in layer.iter().enumerate() {
            layers[*layer].push(vertex);
        }
        Self { layers, layer, up, down, chains, boxes }
    }

    fn is_bend(&self, vertex: usize) -> bool {
        vertex >= self.boxes
    }
}

/// Lays out boxes of the given sizes (width, height). Links lead from box to box and close no cycle.
pub(super) fn layout(sizes: &[(f64, f64)], links: &[Link]) -> Layout {
    let mut graph = Layered::new(sizes.len(), links);
    order::reduce_crossings(&mut graph);
    place::coordinates(&graph, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: usize, to: usize) -> Link {
        Link { from, to, weight: 1.0 }
    }

    #[test]
    fn a_chain_is_a_straight_column() {
        let found = layout(&[(40.0, 20.0); 4], &[link(0, 1), link(1, 2), link(2, 3)]);
        let (xs, ys): (Vec<f64>, Vec<f64>) = found.centres.iter().copied().unzip();
        assert!(xs.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-6), "{xs:?}");
        assert!(ys.windows(2).all(|pair| pair[0] < pair[1]), "{ys:?}");
    }

    #[test]
    fn boxes_of_a_layer_do_not_overlap_and_links_lead_down() {
        // A fan, a long edge past it, and a swap.
        let links = [
            link(0, 1),
            link(0, 2),
            link(0, 3),
            link(0, 4),
            link(1, 5),
            link(2, 5),
            link(3, 6),
            link(4, 6),
            link(5, 7),
            link(6, 7),
            link(0, 7),
            link(1, 6),
            link(4, 5),
        ];
        let sizes: Vec<(f64, f64)> = (0..8).map(|one| (60.0 + 10.0 * f64::from(one), 30.0)).collect();
        let found = layout(&sizes, &links);
        for a in 0..sizes.len() {
            for b in 0..a {
                let ((ax, ay), (bx, by)) = (found.centres[a], found.centres[b]);
                let apart_x = (ax - bx).abs() >= f64::midpoint(sizes[a].0, sizes[b].0);
                let apart_y = (ay - by).abs() >= f64::midpoint(sizes[a].1, sizes[b].1);
                assert!(apart_x || apart_y, "{a} and {b} overlap: {:?}", found.centres);
            }
        }
        for route in &found.routes {
            assert!(route.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{route:?}");
            assert!(route.iter().all(|(x, y)| (0.0..=found.width).contains(x) && (0.0..=found.height).contains(y)));
        }
    }

    #[test]
    fn two_crossing_links_are_uncrossed() {
        // 0 and 1 above, 2 and 3 below, linked crosswise in the order of their numbers.
        let graph = {
            let mut graph = Layered::new(4, &[link(0, 3), link(1, 2)]);
            order::reduce_crossings(&mut graph);
            graph
        };
        let place = |vertex: usize| {
            let layer = &graph.layers[graph.layer[vertex]];
            layer.iter().position(|one| *one == vertex).expect("every vertex is in its layer")
        };
        assert_eq!(place(0) < place(1), place(3) < place(2));
    }

    #[test]
    fn a_graph_without_links_and_an_empty_one_are_laid_out() {
        assert_eq!(layout(&[], &[]).centres, []);
        assert_eq!(layout(&[(10.0, 10.0), (10.0, 10.0)], &[]).centres.len(), 2);
    }
}
