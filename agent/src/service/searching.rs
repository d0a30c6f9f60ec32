//! Searches for words and for what is alike, on the recall pool as questions are.

use memory_core::word_search::{WordPage, WordQuery, WordSearchError};

use super::{AskFailure, MemoryService};

impl MemoryService {
    /// Finds events by their words, or by what they are like.
    ///
    /// # Errors
    /// See [`AskFailure`]; `Invalid` if the index keeps no word of what must be found, or the example cannot be compared.
    pub async fn search_words(&self, query: WordQuery) -> Result<WordPage, AskFailure> {
        let _question = self.shared.questions.begin();
        self.read(self.shared.default_budget, move |memory| {
            memory.search_words(&query).map_err(|error| match error {
                WordSearchError::Read(error) => AskFailure::Read(error),
                other => AskFailure::Invalid(other.to_string()),
            })
        })
        .await
    }
}
