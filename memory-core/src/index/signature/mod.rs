//! Signatures of embeddings by random hyperplanes, compared by Hamming distance.
//!
//! Bit k of a signature is the side of hyperplane k on which the embedding lies, so two signatures of d bits differ in about
//! d·θ/π of them, θ being the angle between the embeddings (HIPPOCAMPUS, 3.3 and Appendix F). Everything is integer: the
//! same stored embedding has the same signature on every processor.

mod estimate;
mod hamming;
mod planes;
mod scan;
mod table;

pub(in crate::index) use estimate::Coarse;
pub(crate) use estimate::Estimator;
#[cfg(test)]
pub(in crate::index) use hamming::cosine_of_distance;
pub use hamming::{BALL_MARGIN, radius};
pub use planes::{Planes, quantise};
pub use table::SignatureTable;
pub(in crate::index) use table::{ABSENT, BLOCK, BlockDistances};

/// Bits of one signature word.
pub const WORD_BITS: usize = 64;
/// Bits of a signature that are compared for every document; those of the rest only for few.
pub(in crate::index) const HEAD_BITS: usize = 256;
/// Longest signature.
pub const MOST_BITS: usize = 1024;

/// A signature does not have a usable length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signature of {0} bits: use a multiple of {WORD_BITS} from {WORD_BITS} to {MOST_BITS}")]
pub struct SignatureLengthError(pub usize);

/// How signatures are made. Both values are kept with an index: signatures made otherwise cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignatureOptions {
    bits: usize,
    /// Which hyperplanes.
    pub seed: u64,
}

impl SignatureOptions {
    /// Signatures of `bits` bits.
    ///
    /// # Errors
    /// If `bits` is no multiple of 64 from 64 to 1,024.
    pub fn new(bits: usize, seed: u64) -> Result<Self, SignatureLengthError> {
        if bits == 0 || bits > MOST_BITS || !bits.is_multiple_of(WORD_BITS) {
            return Err(SignatureLengthError(bits));
        }
        Ok(Self { bits, seed })
    }

    /// Length of a signature, in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Length of a signature, in words.
    pub fn words(&self) -> usize {
        self.bits / WORD_BITS
    }
}

impl Default for SignatureOptions {
    /// 512 bits: half as many lose 0.01 of recall on the development conversations, twice as many gain nothing that can be told from chance.
    fn default() -> Self {
        Self { bits: 512, seed: 0x656e_6772_616d_0002 }
    }
}
