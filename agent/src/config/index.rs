//! `[memory.index]`. The comments here are the descriptions in `engram config schema`.

use memory_core::index::signature::{SignatureLengthError, SignatureOptions};
use memory_core::index::{IndexOptions, Language, TokenSignatureOptions};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// `[memory.index]`: the search index. A change applies at the next start, which then builds the index again from the
/// store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// Language whose word forms match each other (the stemmer). Questions are understood in English only.
    #[serde(with = "language_name")]
    #[schemars(schema_with = "languages")]
    pub language: Language,
    /// Bits per signature of an embedding. More bits find a little more, and take space and time in proportion.
    #[schemars(range(min = 64, max = 1024), extend("multipleOf" = 64))]
    pub signature_bits: usize,
    /// Keep the texts of events in the index. Without them it takes a quarter less memory, and a search for an id or a long number
    /// may also list events with another one.
    pub texts: bool,
    /// Search by token signatures as in the HIPPOCAMPUS paper, and by nothing else. It finds less; it exists for comparison.
    pub token_signatures: bool,
}

impl IndexConfig {
    /// The options of the index.
    ///
    /// # Errors
    /// If signatures cannot be of that length.
    pub fn options(&self) -> Result<IndexOptions, SignatureLengthError> {
        Ok(IndexOptions {
            language: self.language,
            signature: SignatureOptions::new(self.signature_bits, SignatureOptions::default().seed)?,
            texts: self.texts,
            token_signatures: self.token_signatures.then(TokenSignatureOptions::default),
            ..IndexOptions::default()
        })
    }
}

impl Default for IndexConfig {
    fn default() -> Self {
        let IndexOptions { language, signature, texts, token_signatures, .. } = IndexOptions::default();
        Self { language, signature_bits: signature.bits(), texts, token_signatures: token_signatures.is_some() }
    }
}

fn languages(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Language::ALL.map(Language::name) })
}

mod language_name {
    use memory_core::index::Language;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&language.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Language, D::Error> {
        let name = String::deserialize(deserializer)?;
        Language::named(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is not a language that engram stems")))
    }
}
