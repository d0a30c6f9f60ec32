//! Classes of whole pictures, and vectors that show which pictures are alike.

use std::sync::Arc;

use parking_lot::Mutex;

use super::picture::{Channels, PictureTensor};
use super::vector::{Space, probabilities};
use super::{Backend, Encoder, EncoderError, Graph, Picture, VectorEncoder};
use crate::models::{Fit, GroupMember, InstalledModel};

/// Classes of a picture, best first; only those above a minimum probability.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SceneClasses {
    /// Single classes with their probabilities.
    pub classes: Vec<(Arc<str>, f32)>,
    /// Groups of classes with the sums of theirs: unsure which breed it is, a model may be sure of the dog.
    pub groups: Vec<(Arc<str>, f32)>,
}

/// Names what whole pictures show.
pub trait SceneClassifier: for<'a> Encoder<Picture<'a>, SceneClasses> {}

impl<E> SceneClassifier for E where E: for<'a> Encoder<Picture<'a>, SceneClasses> {}

/// Places pictures in a space where like lies by like.
pub trait ImageEmbedder: for<'a> VectorEncoder<Picture<'a>> {}

impl<E> ImageEmbedder for E where E: for<'a> VectorEncoder<Picture<'a>> {}

/// A classifier whose one output holds a probability per class, such as MobileNet.
pub struct ImageClassifier {
    inner: Mutex<SceneRun>,
    model: String,
    labels: Vec<Arc<str>>,
    groups: Vec<(Arc<str>, Vec<usize>)>,
    least: f32,
}

/// An encoder whose one output is a vector per picture.
pub struct ImageEncoder {
    inner: Mutex<SceneRun>,
    model: String,
    space: Space,
}

/// Buffers of a run.
struct SceneRun {
    graph: Box<dyn Graph>,
    input: PictureTensor,
}

impl SceneRun {
    fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let fit = installed.entry.fit.unwrap_or(Fit::Stretch);
        let input = PictureTensor::new(&installed.entry, fit, Channels::Rgb)?;
        Ok(Self { graph: backend.load(installed, threads)?, input })
    }

    fn run(&mut self, picture: &Picture<'_>) -> Result<Option<super::Tensor>, EncoderError> {
        self.input.fill(picture)?;
        Ok(self.graph.run(&[self.input.view()])?.into_iter().next())
    }
}

impl ImageClassifier {
    /// Loads the graph and the names of its classes.
    ///
    /// # Errors
    /// If a file cannot be loaded, or a group of the entry names a class that there is not.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let labels = installed.labels().map_err(EncoderError::Entry)?;
        let mut groups = Vec::new();
        for (name, members) in &entry.groups {
            let mut classes = Vec::new();
            for member in members {
                match *member {
                    GroupMember::Class(class) => classes.push(class),
                    GroupMember::Range([from, to]) => classes.extend(from..=to),
                }
            }
            if let Some(class) = classes.iter().find(|class| **class >= labels.len()) {
                let message = format!("{}: the group `{name}` names class {class} of {}", entry.name, labels.len());
                return Err(EncoderError::Entry(message));
            }
            groups.push((Arc::from(name.as_str()), classes));
        }
        Ok(Self {
            inner: Mutex::new(SceneRun::load(installed, backend, threads)?),
            model: entry.name.clone(),
            labels,
            groups,
            least: entry.parameter("least").map_err(EncoderError::Entry)?,
        })
    }
}

impl Encoder<Picture<'_>, SceneClasses> for ImageClassifier {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<SceneClasses, EncoderError> {
        let output = self.inner.lock().run(picture)?;
        let scores: Vec<f32> = probabilities(&self.model, output)?.into_iter().collect();
        if scores.len() != self.labels.len() {
            let message = format!("{} classes, not {}", scores.len(), self.labels.len());
            return Err(EncoderError::output(&self.model, message));
        }
        let likely = |mut found: Vec<(Arc<str>, f32)>| {
            found.retain(|(_, score)| *score >= self.least);
            found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            found
        };
        let classes = self.labels.iter().zip(&scores).map(|(label, score)| (Arc::clone(label), *score));
        let sum = |members: &[usize]| members.iter().map(|class| scores[*class]).sum::<f32>().min(1.0);
        let groups = self.groups.iter().map(|(name, members)| (Arc::clone(name), sum(members)));
        Ok(SceneClasses { classes: likely(classes.collect()), groups: likely(groups.collect()) })
    }
}

impl ImageEncoder {
    /// Loads the graph.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry lacks `space` or `dimensions`.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let space = Space::from_entry(&installed.entry)?;
        let inner = Mutex::new(SceneRun::load(installed, backend, threads)?);
        Ok(Self { inner, model: installed.entry.name.clone(), space })
    }
}

impl Encoder<Picture<'_>, Vec<f32>> for ImageEncoder {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<f32>, EncoderError> {
        let output = self.inner.lock().run(picture)?;
        self.space.read(&self.model, output)
    }
}

impl VectorEncoder<Picture<'_>> for ImageEncoder {
    fn space(&self) -> &str {
        &self.space.name
    }

    fn dimensions(&self) -> usize {
        self.space.dimensions
    }
}
