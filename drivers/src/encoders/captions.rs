//! Captions and answers from pictures. A vision model behind an endpoint gives them, no model of the catalogue does.

use std::time::Duration;

/// Describes pictures.
pub trait Captioner: Send + Sync {
    /// Name of the model.
    fn model(&self) -> &str;

    /// Returns what the model runs on, for `health`.
    fn backend(&self) -> &str;

    /// One sentence about a picture, a JPEG file. Blocks, within a time limit of its own.
    ///
    /// # Errors
    /// Says why there is none.
    fn caption(&self, jpeg: &[u8]) -> Result<String, String>;
}

/// Numbered pictures for a [`ClipViewer`], as grids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedPictures {
    /// JPEG files, each a grid of pictures in which the number of each is drawn, from 1 on over all grids.
    pub grids: Vec<Vec<u8>>,
    /// How many pictures there are.
    pub count: usize,
}

/// Statement of a model about what a question asks of some pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewedClip {
    /// The numbers of the pictures that show it, from 1; none if none does.
    pub numbers: Vec<usize>,
    /// The statement, a sentence.
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
}

/// Looks for what a question asks in pictures of an interval.
pub trait ClipViewer: Send + Sync {
    /// Looks at the pictures. Blocks, for `within` at most.
    ///
    /// # Errors
    /// Says why there is no reply.
    fn view(&self, question: &str, pictures: &NumberedPictures, within: Duration) -> Result<ViewedClip, String>;
}
