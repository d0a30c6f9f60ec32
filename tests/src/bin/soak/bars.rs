//! What must hold, and whether it does.

use super::observer::Sample;

/// Growth of resident memory after warm-up, bytes per robot hour.
const SLOPE: f64 = 1024.0 * 1024.0;
/// What an allocator keeps or gives back from one look to the next. A run must be long for [`SLOPE`] itself to show: two
/// hours of robot time are judged by twice as much as this.
const RESOLUTION: f64 = 2.0 * 1024.0 * 1024.0;

/// How the slope of resident memory is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slope<'a> {
    /// Against the bar itself: long enough, and of samples that do not breathe.
    Strictly,
    /// With room for what an allocator keeps from one look to the next.
    WithRoom,
    /// Shown and not judged, and why.
    NotJudged(&'a str),
}

/// Counts what held and what did not, and says each.
#[derive(Debug, Default)]
pub struct Bars {
    /// How many held.
    pub held: u32,
    /// How many did not.
    pub broken: u32,
}

impl Bars {
    /// One bar.
    pub fn check(&mut self, what: &str, measured: &str, holds: bool) {
        if holds {
            self.held += 1;
        } else {
            self.broken += 1;
        }
        println!("{}  {what}: {measured}", if holds { "ok    " } else { "FAILED" });
    }

    /// A number that must be zero.
    pub fn none(&mut self, what: &str, measured: u64) {
        self.check(what, &measured.to_string(), measured == 0);
    }

    /// Whether memory, threads and files stay where they are. `warm` is what came after the warm-up.
    pub fn flat(&mut self, warm: &[Sample], judged: Slope<'_>) {
        self.memory(warm, judged);
        self.threads_and_files(warm);
    }

    /// Whether memory stays where it is.
    pub fn memory(&mut self, warm: &[Sample], judged: Slope<'_>) {
        let Some((first, last)) = warm.first().zip(warm.last()) else {
            return self.check("samples", "none", false);
        };
        let hours = last.hours - first.hours;
        let slope = slope(warm.iter().map(|sample| (sample.hours, sample.resident as f64)));
        let mib = |bytes: f64| bytes / (1024.0 * 1024.0);
        let measured = format!(
            "{:+.2} MiB per hour over {hours:.2} h ({:.1} to {:.1} MiB, {} samples)",
            mib(slope),
            mib(first.resident as f64),
            mib(last.resident as f64),
            warm.len()
        );
        match judged {
            Slope::Strictly => self.check("resident memory grows by at most 1 MiB an hour", &measured, slope <= SLOPE),
            Slope::WithRoom => {
                self.check("resident memory is flat", &measured, slope * hours <= SLOPE * hours + RESOLUTION);
            }
            Slope::NotJudged(why) => println!("-       resident memory is not judged, {why}: {measured}"),
        }
    }

    /// Whether threads and open files stay where they are.
    pub fn threads_and_files(&mut self, warm: &[Sample]) {
        if warm.is_empty() {
            return;
        }
        // The highest of the last quarter against that of the first: both breathe.
        let quarter = warm.len().div_ceil(4);
        let most = |part: &[Sample], of: fn(&Sample) -> u64| part.iter().map(of).max().unwrap_or(0);
        let parts = (&warm[..quarter], &warm[warm.len() - quarter..]);
        for (what, of) in
            [("threads", (|sample| sample.threads) as fn(&Sample) -> u64), ("open files", |sample| sample.files)]
        {
            let (before, after) = (most(parts.0, of), most(parts.1, of));
            self.check(&format!("{what} do not grow"), &format!("{before}, then {after}"), after <= before);
        }
    }
}

/// The least squares' slope.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let (sum_x, sum_y) = points.clone().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (above, below) = points.fold((0.0, 0.0), |(above, below), (x, y)| {
        (above + (x - mean_x) * (y - mean_y), below + (x - mean_x) * (x - mean_x))
    });
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(growth: f64) -> Vec<Sample> {
        (0..100_u32)
            .map(|n| Sample {
                hours: f64::from(n) / 4.0,
                resident: (7e7 + 1e6 * f64::from(n % 3) + growth * f64::from(n) / 4.0) as u64,
                threads: 20 + u64::from(n % 3),
                files: 30,
                disk: 0,
            })
            .collect()
    }

    #[test]
    fn a_memory_that_creeps_is_found() {
        let mut bars = Bars::default();
        bars.flat(&samples(0.5e6), Slope::WithRoom);
        assert_eq!((bars.held, bars.broken), (3, 0));
        bars.flat(&samples(1.3e6), Slope::WithRoom);
        assert_eq!((bars.held, bars.broken), (5, 1));
        bars.flat(&samples(1.3e6), Slope::NotJudged("it was a moment"));
        assert_eq!((bars.held, bars.broken), (7, 1));
    }

    #[test]
    fn half_an_hour_is_judged_by_the_bar_itself_where_room_would_hide_a_leak() {
        let half_an_hour = |growth: f64| -> Vec<Sample> {
            let shortened = |sample: &Sample| Sample { hours: sample.hours / 50.0, ..sample.clone() };
            samples(growth / 50.0).iter().map(shortened).collect()
        };
        let mut bars = Bars::default();
        bars.flat(&half_an_hour(3e6), Slope::WithRoom);
        assert_eq!((bars.held, bars.broken), (3, 0));
        bars.flat(&half_an_hour(3e6), Slope::Strictly);
        assert_eq!((bars.held, bars.broken), (5, 1));
        bars.flat(&half_an_hour(0.1e6), Slope::Strictly);
        assert_eq!((bars.held, bars.broken), (8, 1));
    }

    #[test]
    fn threads_and_files_that_are_left_behind_are_found() {
        let mut bars = Bars::default();
        let mut samples = samples(0.0);
        for (number, sample) in samples.iter_mut().enumerate() {
            sample.threads += number as u64 / 20;
            sample.files += number as u64 / 10;
        }
        bars.flat(&samples, Slope::WithRoom);
        assert_eq!((bars.held, bars.broken), (1, 2));
    }

    #[test]
    fn nothing_looked_at_is_nothing_that_held() {
        let mut bars = Bars::default();
        bars.flat(&[], Slope::Strictly);
        assert_eq!((bars.held, bars.broken), (0, 1));
    }
}
