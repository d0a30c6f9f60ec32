//! Draws cost against the number of entries.

use std::fmt::Write;

use super::IndexFigures;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 50.0;

/// A curve: what it is called, its colour, and what it tells of one size, in microseconds.
type Curve = (&'static str, &'static str, fn(&IndexFigures) -> f64);

const CURVES: [Curve; 5] = [
    ("exact scan of the vectors, p50", "#b0413e", |one| one.scan.map_or(0.0, |times| micros(times.p50))),
    ("words and meaning, p99", "#7d9cc0", |one| micros(one.hybrid.p99)),
    ("words and meaning, p50", "#2f5d8c", |one| micros(one.hybrid.p50)),
    ("words, p50", "#4c8c4a", |one| micros(one.words.p50)),
    ("append, one entry", "#8c6d2f", |one| 20e6 / one.appended_per_s.max(1e-9)),
];

fn micros(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Draws the figures of several sizes as an SVG: time against entries, both in powers of ten.
pub fn picture(figures: &[IndexFigures]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "at most some 10^7 entries")]
    let entries = |one: &IndexFigures| (one.entries.max(1) as f64).log10();
    let values = || CURVES.iter().flat_map(|curve| figures.iter().map(curve.2)).filter(|value| *value > 0.0);
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high { (0.0, 1.0) } else { (low.floor(), high.ceil().max(low.floor() + 1.0)) }
    };
    let across = bounds(&mut figures.iter().map(entries));
    let up = bounds(&mut values().map(f64::log10));
    let x = |value: f64| LEFT + (value - across.0) / (across.1 - across.0) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value - up.0) / (up.1 - up.0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = String::new();
    let mut put = |text: std::fmt::Arguments<'_>| svg.write_fmt(text).expect("a string takes all");
    put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    ));
    let mut line = |points: [f64; 4], colour: &str| {
        let [x1, y1, x2, y2] = points;
        put(format_args!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>\n"));
    };
    let mut labels: Vec<(f64, f64, &str, String)> = Vec::new();
    let mut tick = across.0;
    while tick <= across.1 {
        line([x(tick), y(up.0), x(tick), y(up.1)], "#dddddd");
        labels.push((x(tick), HEIGHT - BOTTOM + 18.0, "middle", format!("10^{tick}")));
        tick += 1.0;
    }
    let mut tick = up.0;
    while tick <= up.1 {
        line([x(across.0), y(tick), x(across.1), y(tick)], "#dddddd");
        let shown =
            if tick >= 3.0 { format!("{} ms", 10_f64.powf(tick - 3.0)) } else { format!("{} µs", 10_f64.powf(tick)) };
        labels.push((LEFT - 8.0, y(tick) + 4.0, "end", shown));
        tick += 1.0;
    }
    labels.push(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0, "middle", "entries of 20 tokens".to_owned()));
    for (x, y, anchor, text) in &labels {
        put(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"));
    }
    let mut last_label = f64::NEG_INFINITY;
    for (name, colour, value) in CURVES {
        let points: Vec<(f64, f64)> =
            figures.iter().filter(|one| value(one) > 0.0).map(|one| (x(entries(one)), y(value(one).log10()))).collect();
        let Some((end_x, end_y)) = points.last().copied() else { continue };
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        put(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n",
            path.join(" ")
        ));
        for (x, y) in points {
            put(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>\n"));
        }
        // Labels of curves that end close to each other move apart.
        last_label = (end_y + 4.0).max(last_label + 14.0);
        put(format_args!("<text x=\"{:.1}\" y=\"{last_label:.1}\" fill=\"{colour}\">{name}</text>\n", end_x + 8.0));
    }
    put(format_args!("</svg>\n"));
    svg
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::SearchTimes;
    use super::*;

    #[test]
    fn every_size_is_a_point_of_every_curve_that_was_measured() {
        let of = |entries: u64, micros: u64| IndexFigures {
            entries,
            appended_per_s: 1e6,
            hybrid: SearchTimes { p50: Duration::from_micros(micros), p99: Duration::from_micros(3 * micros) },
            words: SearchTimes { p50: Duration::from_micros(micros / 2), p99: Duration::ZERO },
            ..IndexFigures::default()
        };
        let svg = picture(&[of(10_000, 100), of(100_000, 700), of(1_000_000, 5_000)]);
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (4, 12));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.contains("10^6") && svg.contains("10 ms"));
        assert!(!picture(&[]).contains("NaN"));
    }
}
