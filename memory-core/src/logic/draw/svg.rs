//! Draws a procedure as SVG.

use std::fmt::Write as _;

use super::layout::{Layout, Link, layout};
use super::text::{width, wrap};
use super::{Arrow, BoxRole, Diagram};

/// Font sizes of labels, numbers, title and note, in pixels.
const LABEL: f64 = 14.0;
const NUMBER: f64 = 12.0;
const TITLE: f64 = 20.0;
const NOTE: f64 = 13.0;
/// Widest line of a label.
const LINE: f64 = 190.0;
const LINE_HEIGHT: f64 = 18.0;
/// Between a box's border and its label.
const PADDING: (f64, f64) = (14.0, 10.0);
/// Around the whole.
const MARGIN: f64 = 28.0;
/// Space above the graph, for title and note.
const HEAD: f64 = 96.0;
/// Narrowest picture.
const NARROWEST: f64 = 320.0;

pub(super) fn write(diagram: &Diagram) -> String {
    let labels: Vec<Vec<String>> = diagram.shapes.iter().map(|shape| wrap(&shape.label, LABEL, LINE)).collect();
    let sizes: Vec<(f64, f64)> = labels.iter().map(|lines| size_of(lines)).collect();
    let links: Vec<Link> = diagram.arrows.iter().map(link).collect();
    let found = layout(&sizes, &links);
    let head = wrap(&diagram.note, NOTE, (found.width.max(NARROWEST) - 10.0).max(1.0));
    let title = wrap(&diagram.title, TITLE, found.width.max(NARROWEST));
    let above = HEAD + LINE_HEIGHT * (head.len() as f64 - 1.0) + 26.0 * (title.len() as f64 - 1.0);
    let whole = (found.width.max(NARROWEST) + 2.0 * MARGIN, found.height + above + MARGIN);

    let mut svg = Svg(String::new());
    svg.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{1:.0}\" viewBox=\"0 0 {0:.0} {1:.0}\" \
         font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\">",
        whole.0, whole.1
    ));
    svg.line(format_args!("  <title>{}</title>", escaped(&diagram.title)));
    svg.line(format_args!(
        "  <defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 L10 5 L0 10z\" fill=\"#52606d\"/></marker></defs>"
    ));
    svg.line(format_args!("  <rect width=\"100%\" height=\"100%\" rx=\"16\" fill=\"#f7f5f0\"/>"));
    let mut y = MARGIN + TITLE * 0.8;
    for line in &title {
        svg.text(MARGIN, y, TITLE, "start", "#1f2933", "bold", line);
        y += 26.0;
    }
    y -= 4.0;
    for line in &head {
        svg.text(MARGIN, y, NOTE, "start", "#616e7c", "normal", line);
        y += LINE_HEIGHT;
    }
    let left = (whole.0 - found.width) / 2.0;
    svg.line(format_args!("  <g transform=\"translate({left:.1} {above:.1})\">"));
    arrows(&mut svg, diagram, &found);
    for ((shape, lines), (centre, size)) in diagram.shapes.iter().zip(&labels).zip(found.centres.iter().zip(&sizes)) {
        shape_of(&mut svg, shape.role, lines, *centre, *size, shape.visits);
    }
    numbers(&mut svg, diagram, &found, &sizes);
    svg.line(format_args!("  </g>"));
    svg.line(format_args!("</svg>"));
    svg.0
}

fn link(arrow: &Arrow) -> Link {
    // A way that is often taken should be straight.
    Link { from: arrow.from, to: arrow.to, weight: 0.2 + f64::from(arrow.count).sqrt() }
}

fn size_of(lines: &[String]) -> (f64, f64) {
    let widest = lines.iter().map(|line| width(line, LABEL)).fold(0.0, f64::max);
    ((widest + 2.0 * PADDING.0).max(56.0), lines.len() as f64 * LINE_HEIGHT + 2.0 * PADDING.1)
}

fn shape_of(svg: &mut Svg, role: BoxRole, lines: &[String], centre: (f64, f64), size: (f64, f64), visits: u32) {
    let (fill, border, ink, radius) = match role {
        BoxRole::Start => ("#6a994e", "#55803c", "#ffffff", size.1 / 2.0),
        BoxRole::Goal => ("#2f6f8f", "#234e68", "#ffffff", size.1 / 2.0),
        BoxRole::Step => ("#ffffff", "#b9b09c", "#1f2933", 10.0),
    };
    let (x, y) = (centre.0 - size.0 / 2.0, centre.1 - size.1 / 2.0);
    svg.line(format_args!(
        "    <g><title>{visits} sessions</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
         rx=\"{radius:.1}\" fill=\"{fill}\" stroke=\"{border}\" stroke-width=\"2\"/></g>",
        size.0, size.1
    ));
    let weight = if role == BoxRole::Step { "normal" } else { "bold" };
    let first = centre.1 - (lines.len() as f64 - 1.0) * LINE_HEIGHT / 2.0 + LABEL * 0.35;
    for (number, line) in lines.iter().enumerate() {
        svg.text(centre.0, first + number as f64 * LINE_HEIGHT, LABEL, "middle", ink, weight, line);
    }
}

fn arrows(svg: &mut Svg, diagram: &Diagram, found: &Layout) {
    let most = diagram.shapes.iter().map(|shape| shape.visits).max().unwrap_or(0).max(1);
    for (arrow, route) in diagram.arrows.iter().zip(&found.routes) {
        // Thick is what many sessions did, not what few did always.
        let share = f64::from(arrow.count) / f64::from(most);
        let mut way = String::new();
        for (place, pair) in route.windows(2).enumerate() {
            let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
            if place == 0 {
                write!(way, "M{x:.1} {y:.1}").expect("writing to a String");
            }
            if place % 2 == 0 {
                let middle = f64::midpoint(y, to_y);
                write!(way, " C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}")
            } else {
                write!(way, " L{to_x:.1} {to_y:.1}")
            }
            .expect("writing to a String");
        }
        svg.line(format_args!(
            "    <path d=\"{way}\" fill=\"none\" stroke=\"#52606d\" stroke-width=\"{:.2}\" stroke-opacity=\"{:.2}\" \
             marker-end=\"url(#arrow)\"><title>{} sessions</title></path>",
            1.0 + 3.0 * share,
            0.5 + 0.45 * share,
            arrow.count
        ));
    }
}

/// The probabilities, each beside its arrow near where it leaves, where no other number is yet.
fn numbers(svg: &mut Svg, diagram: &Diagram, found: &Layout, sizes: &[(f64, f64)]) {
    let overlap = |a: (f64, f64), half_a: (f64, f64), b: (f64, f64), half_b: (f64, f64)| {
        (a.0 - b.0).abs() < half_a.0 + half_b.0 && (a.1 - b.1).abs() < half_a.1 + half_b.1
    };
    let boxes: Vec<_> =
        found.centres.iter().zip(sizes).map(|(centre, size)| (*centre, (size.0 / 2.0, size.1 / 2.0))).collect();
    let mut taken = boxes;
    for (arrow, route) in diagram.arrows.iter().zip(&found.routes) {
        let ([from, to, ..], false) = (route.as_slice(), arrow.only) else { continue };
        let text = percent(arrow.probability);
        let half = (width(&text, NUMBER) / 2.0 + 2.0, NUMBER / 2.0 + 1.0);
        let spot = |t: f64| {
            // The curve's own point: vertical at both ends.
            let across = t * t * (3.0 - 2.0 * t);
            let down = 1.5 * t * (1.0 - t) * (1.0 - t) + 1.5 * t * t * (1.0 - t) + t * t * t;
            (from.0 + across * (to.0 - from.0), from.1 + down * (to.1 - from.1))
        };
        let cost_of = |t: f64| {
            let at = spot(t);
            taken.iter().filter(|(centre, other)| overlap(at, half, *centre, *other)).count()
        };
        let places = [0.5, 0.38, 0.62, 0.28, 0.72, 0.8, 0.2];
        let best = places.into_iter().min_by_key(|t| cost_of(*t)).unwrap_or(0.5);
        let at = spot(best);
        taken.push((at, half));
        svg.line(format_args!(
            "    <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{NUMBER}\" text-anchor=\"middle\" fill=\"#7a3b2e\" \
             stroke=\"#f7f5f0\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>",
            at.0,
            at.1 + NUMBER * 0.35,
            escaped(&text)
        ));
    }
}

/// A probability as people read it.
fn percent(probability: f64) -> String {
    let percent = 100.0 * probability;
    if percent < 1.0 { "<1%".to_owned() } else { format!("{percent:.0}%") }
}

struct Svg(String);

impl Svg {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{text}").expect("writing to a String");
    }

    #[allow(clippy::too_many_arguments, reason = "the attributes of one element")]
    fn text(&mut self, x: f64, y: f64, size: f64, anchor: &str, ink: &str, weight: &str, text: &str) {
        let text = escaped(text);
        self.line(format_args!(
            "    <text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{ink}\" \
             font-weight=\"{weight}\">{text}</text>"
        ));
    }
}

/// Text for XML; what XML cannot carry at all becomes a space.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            character => out.push(character),
        }
    }
    out
}
