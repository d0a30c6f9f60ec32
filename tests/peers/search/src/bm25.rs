//! BM25 by `tantivy`: stems, stop words, who and what in one field, one segment in memory.

use memory_core::index::Document;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Language, LowerCaser, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer};
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument};

use crate::Failure;

pub struct Bm25 {
    searcher: Searcher,
    parser: QueryParser,
}

impl Bm25 {
    pub fn build(documents: &[Document]) -> Result<Self, Failure> {
        let mut schema = Schema::builder();
        let indexing =
            TextFieldIndexing::default().set_tokenizer("stems").set_index_option(IndexRecordOption::WithFreqs);
        let text: Field = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let id: Field = schema.add_u64_field("id", FAST);
        let index = Index::create_in_ram(schema.build());
        let stop_words = StopWordFilter::new(Language::English).ok_or("no stop words")?;
        let analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(LowerCaser)
            .filter(stop_words)
            .filter(Stemmer::new(Language::English))
            .build();
        index.tokenizers().register("stems", analyzer);
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 500_000_000)?;
        for one in documents {
            let mut document = TantivyDocument::default();
            document.add_text(text, format!("{}: {}", one.entity.as_deref().unwrap_or_default(), one.text));
            document.add_u64(id, one.id.0);
            writer.add_document(document)?;
        }
        writer.commit()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.wait_merging_threads()?;
        Ok(Self { searcher: index.reader()?.searcher(), parser: QueryParser::for_index(&index, vec![text]) })
    }

    /// Ids of the best documents.
    pub fn search(&self, question: &str, limit: usize) -> Result<Vec<u64>, Failure> {
        let (query, _) = self.parser.parse_query_lenient(question);
        let found = self.searcher.search(&query, &TopDocs::with_limit(limit).order_by_score())?;
        let id = |address: tantivy::DocAddress| {
            let column = self.searcher.segment_reader(address.segment_ord).fast_fields().u64("id")?;
            Ok(column.first(address.doc_id).unwrap_or(0))
        };
        found.into_iter().map(|(_, address)| id(address)).collect()
    }

    pub fn bytes(&self) -> Result<usize, Failure> {
        Ok(usize::try_from(self.searcher.space_usage()?.total().get_bytes())?)
    }
}
