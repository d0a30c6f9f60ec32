//! `SHA256SUMS` of an export: the digest of every file, as `sha256sum --check` reads them.

use std::io::{self, Read, Write};

use sha2::{Digest as _, Sha256};

/// Name of the file in an export.
pub const SUMS: &str = "SHA256SUMS";

/// Writes to something else and computes the SHA-256 of what was written.
pub struct Summing<W> {
    inner: W,
    hash: Sha256,
}

impl<W: Write> Summing<W> {
    /// Creates an empty list.
    pub fn new(inner: W) -> Self {
        Self { inner, hash: Sha256::new() }
    }

    /// The destination and the digest in hexadecimal.
    pub fn finish(self) -> (W, String) {
        let digest = self.hash.finalize();
        (self.inner, digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(data)?;
        self.hash.update(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Copies everything and returns its digest.
pub fn copy(from: &mut impl Read, to: impl Write) -> io::Result<String> {
    let mut to = Summing::new(to);
    io::copy(from, &mut to)?;
    to.flush()?;
    Ok(to.finish().1)
}

/// The line of one file.
pub fn line(digest: &str, name: &str) -> String {
    [digest, "  ", name, "\n"].concat()
}

/// Reads the lines: digest and name of every file. `None` if one of them is no such line.
pub fn parse(text: &str) -> Option<Vec<(&str, &str)>> {
    text.lines()
        .map(|line| {
            let (digest, name) = line.split_once("  ")?;
            let hexadecimal = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
            (hexadecimal && !name.is_empty()).then_some((digest, name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let digest = copy(&mut &b"abc"[..], io::sink()).unwrap();
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let text = line(&digest, "media/00000-a b.mkv");
        assert_eq!(parse(&text), Some(vec![(digest.as_str(), "media/00000-a b.mkv")]));
        for text in ["abc  memory.jsonl\n", &digest, "\n"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
