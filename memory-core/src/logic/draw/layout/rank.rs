//! Which layer each box is in.

use super::Link;

/// Sweeps that shorten links; a few settle what there is to settle.
const SWEEPS: usize = 8;

/// The layer of each box: below everything that leads to it, and where its links are short.
pub(super) fn layers(boxes: usize, links: &[Link]) -> Vec<usize> {
    let (mut into, mut out) = (vec![Vec::new(); boxes], vec![Vec::new(); boxes]);
    for link in links {
        into[link.to].push((link.from, link.weight));
        out[link.from].push((link.to, link.weight));
    }
    let order = topological(&into, &out);
    let mut layer = vec![0_usize; boxes];
    for one in &order {
        layer[*one] = into[*one].iter().map(|(from, _)| layer[*from] + 1).max().unwrap_or(0);
    }
    let last = layer.iter().max().copied().unwrap_or(0);
    for sweep in 0..SWEEPS {
        let backwards = order.iter().rev();
        let visit: Vec<usize> = if sweep % 2 == 0 { backwards.copied().collect() } else { order.clone() };
        for one in visit {
            // The sum of lengths is linear between the neighbours: the best place is at one of the two ends.
            let weight = |links: &[(usize, f64)]| links.iter().map(|(_, weight)| weight).sum::<f64>();
            let (above, below) = (weight(&into[one]), weight(&out[one]));
            let highest = into[one].iter().map(|(from, _)| layer[*from] + 1).max().unwrap_or(0);
            let lowest = out[one].iter().map(|(to, _)| layer[*to] - 1).min().unwrap_or(last);
            if above > below {
                layer[one] = highest;
            } else if below > above {
                layer[one] = lowest;
            }
        }
    }
    layer
}

/// Every box after those that lead to it; of several, the smallest number first.
fn topological(into: &[Vec<(usize, f64)>], out: &[Vec<(usize, f64)>]) -> Vec<usize> {
    let mut missing: Vec<usize> = into.iter().map(Vec::len).collect();
    let mut ready: std::collections::BTreeSet<usize> = (0..into.len()).filter(|one| missing[*one] == 0).collect();
    let mut order = Vec::with_capacity(into.len());
    while let Some(one) = ready.pop_first() {
        order.push(one);
        for (to, _) in &out[one] {
            missing[*to] -= 1;
            if missing[*to] == 0 {
                ready.insert(*to);
            }
        }
    }
    debug_assert_eq!(order.len(), into.len(), "a procedure's graph is acyclic");
    order
}
