//! Temperature and load, as Linux shows them.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Plausible temperatures. Zones of a board that do not exist report nonsense.
const PLAUSIBLE_C: std::ops::Range<f64> = -40.0..150.0;

/// How the machine is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The hottest zone, and its °C; `None` where there is none.
    pub hottest: Option<(String, f64)>,
    /// Programs that want a processor, a processor: the average of a minute.
    pub load: Option<f64>,
}

/// Source of the machine's temperature and load.
pub trait Sensors: Send {
    /// How it is now.
    fn read(&mut self) -> Reading;
}

/// This machine.
#[derive(Debug)]
pub struct Machine {
    zones_dir: PathBuf,
}

impl Machine {
    /// Opens the thermal zones of `zones_dir`, usually `/sys/class/thermal`.
    pub fn new(zones_dir: PathBuf) -> Self {
        Self { zones_dir }
    }
}

impl Sensors for Machine {
    fn read(&mut self) -> Reading {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let load = read_to_string("/proc/loadavg").ok().and_then(|text| per_processor(&text, processors));
        let hottest = zones(&self.zones_dir).into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        Reading { hottest, load }
    }
}

/// The first number of `/proc/loadavg`, a processor.
fn per_processor(loadavg: &str, processors: usize) -> Option<f64> {
    let minute: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    Some(minute / processors as f64)
}

/// Every thermal zone that reports something sensible, in °C, by name.
pub fn zones(directory: &Path) -> Vec<(String, f64)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut zones: Vec<(String, f64)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("thermal_zone"))
        .filter_map(|entry| {
            let read = |name: &str| read_to_string(entry.path().join(name)).ok().map(|text| text.trim().to_owned());
            let celsius = read("temp")?.parse::<f64>().ok()? / 1000.0;
            Some((read("type")?, celsius))
        })
        .filter(|(_, celsius)| PLAUSIBLE_C.contains(celsius))
        .collect();
    zones.sort_by(|a, b| a.0.cmp(&b.0));
    zones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_report_nonsense_are_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        for (zone, kind, temp) in
            [("0", "cpu-thermal", "48500\n"), ("1", "gpu-thermal", "-256000"), ("2", "soc", "x"), ("3", "tj", "51000")]
        {
            let path = directory.path().join(format!("thermal_zone{zone}"));
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("type"), kind).unwrap();
            std::fs::write(path.join("temp"), temp).unwrap();
        }
        std::fs::create_dir(directory.path().join("cooling_device0")).unwrap();
        assert_eq!(zones(directory.path()), [("cpu-thermal".to_owned(), 48.5), ("tj".to_owned(), 51.0)]);
        let reading = Machine::new(directory.path().to_owned()).read();
        assert_eq!(reading.hottest, Some(("tj".to_owned(), 51.0)));
        assert_eq!(Machine::new("/nowhere".into()).read().hottest, None);
    }

    #[test]
    fn load_is_counted_by_processor() {
        assert_eq!(per_processor("3.20 2.00 1.00 1/100 4242\n", 4), Some(0.8));
        assert_eq!(per_processor("", 4), None);
    }
}
