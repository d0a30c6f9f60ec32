use super::BackendError;

/// Turns one kind of input into what the memory can keep. Blocks.
pub trait Encoder<Input: ?Sized, Output>: Send + Sync {
    /// Name of the model, as in the catalogue.
    fn model(&self) -> &str;

    /// Encodes one input.
    ///
    /// # Errors
    /// See [`EncoderError`].
    fn encode(&self, input: &Input) -> Result<Output, EncoderError>;
}

/// Why an input could not be encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// The graph failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The catalogue's entry lacks something that the encoder needs.
    #[error("{0}")]
    Entry(String),
    /// The input is not what the encoder takes.
    #[error("{model} cannot take this input: {message}")]
    Input {
        /// Which model.
        model: String,
        /// What is wrong with it.
        message: String,
    },
    /// The graph gave something that cannot be read.
    #[error("{model} gave an output that cannot be read: {message}")]
    Output {
        /// Which model.
        model: String,
        /// What is wrong with it.
        message: String,
    },
}

impl EncoderError {
    pub(super) fn input(model: &str, message: impl ToString) -> Self {
        Self::Input { model: model.to_owned(), message: message.to_string() }
    }

    pub(super) fn output(model: &str, message: impl ToString) -> Self {
        Self::Output { model: model.to_owned(), message: message.to_string() }
    }
}
