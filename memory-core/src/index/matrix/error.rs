use super::{MAX_LEN, MAX_SIGMA};

/// Why the wavelet matrix refuses a request. Nothing is changed by a refused one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// The alphabet has no such symbol.
    #[error("symbol {symbol} is not below {sigma}: grow the alphabet first")]
    SymbolBeyondSigma {
        /// The symbol.
        symbol: u32,
        /// The size of the alphabet.
        sigma: u32,
    },
    /// An alphabet beyond what the matrix can hold.
    #[error("an alphabet of {sigma} symbols is beyond the {MAX_SIGMA} that are possible")]
    SigmaTooLarge {
        /// The size that was asked for.
        sigma: u32,
    },
    /// A position at or behind the end.
    #[error("position {position} is beyond the {len} symbols that are there")]
    PositionOutOfRange {
        /// The position.
        position: usize,
        /// How many symbols there are.
        len: usize,
    },
    /// A span that ends before it starts or behind the end.
    #[error("span {start}..{end} is not within the {len} symbols that are there")]
    SpanOutOfRange {
        /// Begin of the range.
        start: usize,
        /// End of the range.
        end: usize,
        /// How many symbols there are.
        len: usize,
    },
    /// The sequence cannot grow further.
    #[error("the sequence is full: {MAX_LEN} symbols at most; compact the memory or begin a new one")]
    Full,
}
