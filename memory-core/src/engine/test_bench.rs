//! What tests of the engine share: small options, and an embedding that needs no model.

use crate::MemoryOptions;
use crate::ports::{PortError, TextEmbedder};

/// Options of a small memory in UTC without a budget.
pub(crate) fn options() -> MemoryOptions {
    MemoryOptions { zone: jiff::tz::TimeZone::UTC, max_bytes: None, cache_bytes: 4 << 20, index: Default::default() }
}

/// Counts letters and digits, in the space of this name: texts that share them are near. Unit length.
pub(crate) struct Letters(pub &'static str);

impl TextEmbedder for Letters {
    fn space(&self) -> &str {
        self.0
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let vector = |text: &&str| {
            let mut counts = vec![0.1_f32; 32];
            for byte in text.bytes().filter(u8::is_ascii_alphanumeric) {
                counts[usize::from(byte % 32)] += 1.0;
            }
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
            counts.into_iter().map(|count| count / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}
