//! A unit of systemd, read for what it asks of the service.

use anyhow::{Context, Result, bail};

/// The section `[Service]`, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    directives: Vec<(String, String)>,
}

impl Unit {
    /// Reads the text of a unit.
    ///
    /// # Errors
    /// If a line is none of a unit, or one that goes on in the next: this reader does not follow it.
    pub fn parse(text: &str) -> Result<Self> {
        let mut directives = Vec::new();
        let mut section = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
            if line.ends_with('\\') {
                bail!("a directive over several lines is not understood here: {line}");
            }
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name;
                continue;
            }
            let (key, value) = line.split_once('=').with_context(|| format!("not a directive: {line}"))?;
            if section == "Service" {
                directives.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        }
        Ok(Self { directives })
    }

    /// Every directive with its value, in order.
    pub fn directives(&self) -> impl Iterator<Item = (&str, &str)> {
        self.directives.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The values of a directive, in order.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.directives().filter(move |(found, _)| *found == key).map(|(_, value)| value)
    }

    /// The value that holds: the last.
    ///
    /// # Errors
    /// If the unit says nothing of it.
    pub fn last(&self, key: &str) -> Result<&str> {
        self.values(key).last().with_context(|| format!("the unit has no {key}="))
    }
}
