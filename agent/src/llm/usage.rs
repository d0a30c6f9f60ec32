//! What an endpoint has used: tokens and seconds of the day, tokens of the month, kept in a file across restarts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use memory_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::upkeep::{create_private, give_to_owner_of};

/// Number of months that are kept.
const MAX_MONTHS: usize = 13;
/// Maximum size of the file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Usage of one endpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    day: String,
    tokens_today: u64,
    seconds_today: f64,
    requests_today: u64,
    /// Usage by month, so that a clock that jumps to another month and back does not lose it.
    months: BTreeMap<String, u64>,
}

impl Usage {
    /// Adds one request.
    pub fn add(&mut self, now: Timestamp, zone: &TimeZone, tokens: u64, seconds: f64) {
        let (day, month) = dates(now, zone);
        if self.day != day {
            (self.day, self.tokens_today, self.seconds_today, self.requests_today) = (day, 0, 0.0, 0);
        }
        self.tokens_today = self.tokens_today.saturating_add(tokens);
        self.seconds_today += seconds;
        self.requests_today += 1;
        let used = self.months.entry(month).or_default();
        *used = used.saturating_add(tokens);
        while self.months.len() > MAX_MONTHS {
            self.months.pop_first();
        }
    }

    /// Tokens, seconds and requests of today.
    pub fn today(&self, now: Timestamp, zone: &TimeZone) -> (u64, f64, u64) {
        let same = self.day == dates(now, zone).0;
        if same { (self.tokens_today, self.seconds_today, self.requests_today) } else { (0, 0.0, 0) }
    }

    /// Tokens of this month.
    pub fn this_month(&self, now: Timestamp, zone: &TimeZone) -> u64 {
        self.months.get(&dates(now, zone).1).copied().unwrap_or(0)
    }
}

fn dates(now: Timestamp, zone: &TimeZone) -> (String, String) {
    let date = now.to_jiff().to_zoned(zone.clone()).date();
    (date.to_string(), format!("{:04}-{:02}", date.year(), date.month()))
}

/// The file of one endpoint's usage. Without a directory nothing is kept.
#[derive(Debug, Clone)]
pub struct UsageFile(Option<PathBuf>);

impl UsageFile {
    /// The file of an endpoint in the data directory.
    pub fn for_endpoint(data: Option<&Path>, endpoint: &str) -> Self {
        Self(data.map(|data| data.join(format!("llm-{endpoint}-usage.json"))))
    }

    /// Reads the earlier usage. A file that cannot be read is replaced and reported: a ceiling then begins anew.
    pub fn read(&self) -> Usage {
        let Some(path) = &self.0 else { return Usage::default() };
        let text = match fs::metadata(path).map(|file| file.len()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Usage::default(),
            Ok(bytes) if bytes > MAX_FILE_BYTES => Err("it is too large".to_owned()),
            _ => fs::read_to_string(path).map_err(|error| error.to_string()),
        };
        match text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
            Ok(usage) => usage,
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "the count of tokens cannot be read and begins anew");
                Usage::default()
            }
        }
    }

    /// Keeps what was used.
    pub fn write(&self, usage: &Usage) {
        let Some(path) = &self.0 else { return };
        let part = path.with_extension("part");
        let written = || -> std::io::Result<()> {
            drop(fs::remove_file(&part));
            let mut file = create_private(&part)?;
            file.write_all(&serde_json::to_vec(usage)?)?;
            // After power loss an empty file would begin a month anew.
            file.sync_all()?;
            // The doctor may be root, and the service is not.
            give_to_owner_of(&part, path.parent().unwrap_or(path))?;
            fs::rename(&part, path)
        };
        if let Err(error) = written() {
            tracing::warn!(file = %path.display(), %error, "the count of tokens cannot be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_new_day_begins_at_nothing_and_a_month_goes_on() {
        let (mut usage, zone) = (Usage::default(), TimeZone::UTC);
        usage.add(at("2026-11-29T23:00:00Z"), &zone, 100, 1.5);
        usage.add(at("2026-11-30T01:00:00Z"), &zone, 10, 0.5);
        assert_eq!(usage.today(at("2026-11-30T12:00:00Z"), &zone), (10, 0.5, 1));
        assert_eq!(usage.this_month(at("2026-11-30T12:00:00Z"), &zone), 110);
        assert_eq!(usage.today(at("2026-12-01T00:00:00Z"), &zone), (0, 0.0, 0));
        assert_eq!(usage.this_month(at("2026-12-01T00:00:00Z"), &zone), 0);
    }

    #[test]
    fn a_clock_that_jumps_away_and_back_does_not_forget_the_month() {
        let (mut usage, zone) = (Usage::default(), TimeZone::UTC);
        usage.add(at("2026-11-29T23:00:00Z"), &zone, 100, 1.0);
        usage.add(at("1970-01-01T00:00:00Z"), &zone, 1, 1.0);
        usage.add(at("2026-11-29T23:10:00Z"), &zone, 100, 1.0);
        assert_eq!(usage.this_month(at("2026-11-29T23:10:00Z"), &zone), 200);
    }

    #[test]
    fn the_file_gives_back_what_was_kept_and_a_damaged_one_begins_anew() {
        let directory = tempfile::tempdir().unwrap();
        let file = UsageFile::for_endpoint(Some(directory.path()), "chat");
        assert_eq!(file.read(), Usage::default());
        let mut usage = Usage::default();
        usage.add(at("2026-11-29T23:00:00Z"), &TimeZone::UTC, 100, 1.0);
        file.write(&usage);
        file.write(&usage);
        assert_eq!(file.read(), usage);
        fs::write(directory.path().join("llm-chat-usage.json"), "{").unwrap();
        assert_eq!(file.read(), Usage::default());
    }
}
