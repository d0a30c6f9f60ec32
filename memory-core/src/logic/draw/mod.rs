//! Pictures of a procedure: its graph with the probabilities, as SVG or for Graphviz.

mod dot;
mod layout;
mod svg;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use super::{Dag, NodeId, Procedure};

/// Meaning of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoxRole {
    Start,
    Step,
    Goal,
}

/// A box of the picture.
#[derive(Debug, Clone, PartialEq)]
struct BoxShape {
    role: BoxRole,
    label: String,
    /// How many sessions came through.
    visits: u32,
}

/// An arrow of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arrow {
    from: usize,
    to: usize,
    count: u32,
    probability: f64,
    /// Whether it is the only way on, of all there are and not only of those that are drawn.
    only: bool,
}

/// A procedure, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    title: String,
    note: String,
    shapes: Vec<BoxShape>,
    arrows: Vec<Arrow>,
}

impl Diagram {
    /// Steps that a picture shows at most unless asked for more: beyond, nobody can read it.
    pub const USUAL_STEPS: usize = 60;

    /// The picture of a procedure with at most `most_steps` steps: of a larger one, its most frequent ways.
    pub fn of(procedure: &Procedure, most_steps: usize) -> Self {
        let dag = procedure.dag();
        let (shown, ways, all_ways) = most_travelled(procedure, most_steps);
        let nodes: Vec<_> = dag.nodes().into_iter().filter(|(id, _)| shown.contains(id)).collect();
        let number: BTreeMap<NodeId, usize> = nodes.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let mut arrows = Vec::new();
        for (id, node) in &nodes {
            for (edge, probability) in dag.transitions(*id) {
                if let Some(to) = number.get(&edge.to) {
                    let only = node.edges().len() == 1;
                    arrows.push(Arrow { from: number[id], to: *to, count: edge.count, probability, only });
                }
            }
        }
        let shapes = nodes.iter().map(|(id, node)| BoxShape {
            role: match *id {
                Dag::START => BoxRole::Start,
                Dag::GOAL => BoxRole::Goal,
                _ => BoxRole::Step,
            },
            label: match node.step.and_then(|step| procedure.step(step)) {
                Some(step) if node.occurrence > 1 => format!("{} ({})", step.text, node.occurrence),
                Some(step) => step.text.clone(),
                None if *id == Dag::START => "START".to_owned(),
                None => "GOAL".to_owned(),
            },
            visits: node.visits,
        });
        let sessions = procedure.runs().len();
        let plural = if sessions == 1 { "" } else { "s" };
        let left_out =
            if ways < all_ways { format!(", the {ways} most frequent of {all_ways} ways") } else { String::new() };
        Self {
            title: procedure.goal().to_owned(),
            note: format!("{sessions} session{plural}{left_out}; an arrow without a number is the only way on"),
            shapes: shapes.collect(),
            arrows,
        }
    }

    /// Draws for Graphviz.
    pub fn to_dot(&self) -> String {
        dot::write(self)
    }

    /// A picture that stands on its own.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }
}

/// The nodes on the most frequent ways that together have no more than `most` steps (the most frequent way is always
/// there), how many ways these are, and how many there are.
fn most_travelled(procedure: &Procedure, most: usize) -> (BTreeSet<NodeId>, usize, usize) {
    let variants = procedure.variants();
    let mut shown = BTreeSet::from([Dag::START, Dag::GOAL]);
    let mut ways = 0;
    for variant in &variants {
        let Some(path) = procedure.dag().path(&variant.steps) else { continue };
        let more: BTreeSet<NodeId> = shown.iter().copied().chain(path).collect();
        if more.len() - 2 <= most || ways == 0 {
            shown = more;
            ways += 1;
        }
    }
    (shown, ways, variants.len())
}

#[cfg(test)]
mod tests;
