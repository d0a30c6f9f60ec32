//! Embeds the texts of events in the space of the text embedder.

use std::sync::Arc;

use super::handle::Engine;
use super::vectors::{self, SpaceInUse};
use super::writer::Writer;
use crate::index::passage;
use crate::ports::{LongWork, TextEmbedder};
use crate::store::failure::Result;
use crate::store::tables::{self, WriteTables};
use crate::{EventId, ObserveError, PendingWork};

/// Number of texts in one call of the embedder.
const EMBED_BATCH: usize = 32;

impl Engine {
    pub(crate) fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        let mut writer = self.writer.lock();
        match embedder.map(SpaceInUse::new) {
            None => writer.leave_space(),
            Some(new) => match &mut writer.space {
                Some(old) if old.space == new.space => old.embedder = new.embedder,
                _ => {
                    let loaded = self.database.read().and_then(|transaction| writer.use_space(new, &transaction));
                    if let Err(failure) = loaded {
                        // What was not loaded stays pending and is embedded again.
                        tracing::error!(problem = tables::describe(failure), "stored embeddings could not be read");
                    }
                }
            },
        }
        self.published.store(Arc::new(writer.publish()));
    }

    /// Embeds the newest pending events, so that a backlog does not hold up what just happened.
    pub(crate) fn embed_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        let (ids, embedder, space) = {
            let writer = self.writer.lock();
            let Some(in_use) = &writer.space else {
                return Ok(writer.pending_work());
            };
            (writer.pending.newest(limit), Arc::clone(&in_use.embedder), in_use.space.clone())
        };
        let texts = self.passages(&ids)?;
        let mut embedded = Vec::with_capacity(texts.len());
        for batch in texts.chunks(EMBED_BATCH) {
            embedded.extend(embed(embedder.as_ref(), batch)?);
            self.step(LongWork::Embedding);
        }

        let mut writer = self.writer.lock();
        if writer.space.as_ref().is_none_or(|in_use| in_use.space != space) {
            return Ok(writer.pending_work());
        }
        embedded.retain(|(id, _)| writer.live.contains(id.0));
        if !embedded.is_empty() {
            let last = embedded.len() as u64 >= writer.pending.len();
            let number = self.commit_vectors(&mut writer, &space, &embedded, last)?;
            for (id, _) in &embedded {
                writer.pending.remove(id.0);
            }
            if let Some(in_use) = &mut writer.space {
                in_use.number = Some(number);
            }
            if let Some(indexed) = &mut writer.indexed_space {
                indexed.number = Some(number);
            }
            writer.index.embed(&embedded);
            self.published.store(Arc::new(writer.publish()));
        }
        Ok(writer.pending_work())
    }

    fn passages(&self, ids: &[u64]) -> Result<Vec<(EventId, String)>> {
        let view = self.view()?;
        let mut texts = Vec::with_capacity(ids.len());
        for &id in ids {
            if let Some(event) = view.find_event(EventId(id))? {
                texts.push((event.id, passage(&event)));
            }
        }
        Ok(texts)
    }

    fn commit_vectors(
        &self,
        writer: &mut Writer,
        space: &crate::store::records::Space,
        embedded: &[(EventId, Vec<i16>)],
        last: bool,
    ) -> Result<u32> {
        self.commit(writer, |transaction, writer| {
            let mut tables = WriteTables::open(transaction)?;
            let number = vectors::number_of(&mut tables, space)?;
            for (id, vector) in embedded {
                writer.lately.put(&mut tables.vectors, number, *id, vector)?;
            }
            // Once every event is in the new space, nothing leads back to an old one.
            if last {
                vectors::drop_others(&mut tables, number)?;
            }
            Ok(number)
        })
    }
}

fn embed(embedder: &dyn TextEmbedder, batch: &[(EventId, String)]) -> Result<Vec<(EventId, Vec<i16>)>, ObserveError> {
    let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = embedder.embed(&texts).map_err(|error| ObserveError::Store(error.to_string()))?;
    if vectors.len() != batch.len() || vectors.iter().any(|vector| vector.len() != embedder.dimensions()) {
        let space = embedder.space();
        return Err(ObserveError::Store(format!(
            "the embedder of {space} returned vectors of another number or length"
        )));
    }
    Ok(batch.iter().zip(&vectors).map(|((id, _), vector)| (*id, vectors::quantize(vector))).collect())
}
