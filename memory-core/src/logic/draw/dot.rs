//! Draws a procedure as Graphviz DOT.

use std::fmt::Write as _;

use super::{BoxRole, Diagram};

pub(super) fn write(diagram: &Diagram) -> String {
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("writing to a String");
    line(format_args!("digraph procedure {{"));
    line(format_args!("  label={}; labelloc=t; rankdir=TB;", quoted(&diagram.title)));
    line(format_args!("  node [shape=box, style=rounded];"));
    for (number, shape) in diagram.shapes.iter().enumerate() {
        let extra = match shape.role {
            BoxRole::Start => ", shape=circle",
            BoxRole::Goal => ", shape=doublecircle",
            BoxRole::Step => "",
        };
        line(format_args!("  n{number} [label={}{extra}];", quoted(&shape.label)));
    }
    for arrow in &diagram.arrows {
        line(format_args!(
            "  n{} -> n{} [label=\"{:.2}\", count={}, penwidth={:.1}];",
            arrow.from,
            arrow.to,
            arrow.probability,
            arrow.count,
            1.0 + 2.0 * arrow.probability,
        ));
    }
    line(format_args!("}}"));
    out
}

/// A string of the DOT language: only the double quote must be escaped; a backslash would begin an escape of its own.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}
