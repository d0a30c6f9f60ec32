//! Looking at recordings again: the tools of this machine for the loop of `memory_core::reasoning`.

use std::sync::Arc;

use drivers::archive::{Recording, RecordingPart};
use drivers::encoders::{ClipViewer, Encoders};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::perception::Pace;
use memory_core::StreamSpan;
use memory_core::reasoning::Controller;

use crate::config::Config;
use crate::media;
use crate::senses::encoders;
use crate::service::Looker;

impl Recordings for media::Recordings {
    fn stretches(&self, media: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        match Recording::parse(media) {
            Some(recording) => self
                .archive
                .showing(&recording, stream)
                .into_iter()
                .map(|chunk| RecordingPart {
                    begin: chunk.name.begin,
                    from: stream.start.max(chunk.name.begin),
                    to: stream.end.min(chunk.end),
                    path: chunk.path,
                })
                .filter(|stretch| stretch.from < stretch.to)
                .collect(),
            // A file from elsewhere, or from nowhere, was named by somebody else or is gone.
            None => {
                let stretch =
                    |path| RecordingPart { path, begin: std::time::Duration::ZERO, from: stream.start, to: stream.end };
                self.places.file_of(media).map(|(path, _)| stretch(path)).into_iter().collect()
            }
        }
    }
}

/// The loop with the tools of this machine, and with a vision model and a controller if they are there; `None` where it is switched off.
pub fn looker(
    config: &Config,
    encoders: &Encoders,
    recordings: &media::Recordings,
    pace: &Pace,
    viewer: Option<Arc<dyn ClipViewer>>,
    controller: Option<Arc<dyn Controller>>,
) -> Option<Looker> {
    if !config.reasoning.enabled {
        return None;
    }
    let labels = match encoders::installed(&config.models, None) {
        Ok(models) => Labels::from_models(&models),
        Err(failure) => {
            tracing::warn!("recordings are not looked at again: {:#}", failure.error);
            return None;
        }
    };
    let looking =
        Looking::new(encoders.clone(), labels, Arc::new(recordings.clone()), pace.clone()).with_viewer(viewer);
    let looker = Looker::new(Arc::new(looking), config.reasoning.options(), config.reasoning.write_back);
    Some(looker.with_controller(controller))
}
