//! Runs an encoder on the processor while an accelerator's engine is built.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Backend, BackendError, Graph, GraphTensors, Tensor, TensorView};
use crate::models::InstalledModel;

/// Successor of a graph: the better one, or why there is none and this one must not continue either.
type Successor = Result<Box<dyn Graph>, String>;

/// Loads graphs that run on one backend until their successors are there.
pub(super) struct Warming<'a> {
    now: &'a dyn Backend,
    awaited: Mutex<Vec<Awaited>>,
}

/// A graph whose successor is to be made.
pub(super) struct Awaited {
    pub model: InstalledModel,
    slot: Arc<Mutex<Option<Successor>>>,
}

impl<'a> Warming<'a> {
    pub(super) fn new(now: &'a dyn Backend) -> Self {
        Self { now, awaited: Mutex::new(Vec::new()) }
    }

    /// The graphs that were loaded, to be succeeded.
    pub(super) fn into_awaited(self) -> Vec<Awaited> {
        self.awaited.into_inner()
    }
}

impl Awaited {
    /// Replaces the graph from its next run on.
    pub(super) fn succeed(&self, graph: Box<dyn Graph>) {
        *self.slot.lock() = Some(Ok(graph));
    }

    /// Makes the graph fail from its next run on: the requested accelerator is missing, and no other one may take its
    /// place silently.
    pub(super) fn fail(&self, reason: &str) {
        *self.slot.lock() = Some(Err(reason.to_owned()));
    }
}

impl Backend for Warming<'_> {
    fn name(&self) -> &str {
        self.now.name()
    }

    fn load(&self, model: &InstalledModel, threads: usize) -> Result<Box<dyn Graph>, BackendError> {
        let current = self.now.load(model, threads)?;
        let slot = Arc::default();
        self.awaited.lock().push(Awaited { model: model.clone(), slot: Arc::clone(&slot) });
        Ok(Box::new(Succeeded { name: model.entry.name.clone(), current: Ok(current), slot }))
    }

    fn describe(&self, graph: &Path) -> Result<GraphTensors, BackendError> {
        self.now.describe(graph)
    }
}

struct Succeeded {
    name: String,
    current: Successor,
    slot: Arc<Mutex<Option<Successor>>>,
}

impl Graph for Succeeded {
    fn run(&mut self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError> {
        if let Some(successor) = self.slot.lock().take() {
            self.current = successor;
        }
        match &mut self.current {
            Ok(graph) => graph.run(inputs),
            Err(reason) => Err(BackendError::Run { model: self.name.clone(), message: reason.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::arr1;

    use super::*;
    use crate::models::{Catalogue, Role};

    /// Gives its number.
    struct Constant(f32);

    impl Graph for Constant {
        fn run(&mut self, _: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError> {
            Ok(vec![Tensor::F32(arr1(&[self.0]).into_dyn())])
        }
    }

    impl Backend for Constant {
        fn name(&self) -> &'static str {
            "constant"
        }

        fn load(&self, _: &InstalledModel, _: usize) -> Result<Box<dyn Graph>, BackendError> {
            Ok(Box::new(Constant(self.0)))
        }

        fn describe(&self, _: &Path) -> Result<GraphTensors, BackendError> {
            Ok(GraphTensors { inputs: Vec::new(), outputs: Vec::new() })
        }
    }

    #[test]
    fn a_graph_serves_until_its_successor_is_there_and_not_after_it_failed() {
        let entry = Catalogue::load(None).unwrap().model(Role::Objects).unwrap().clone();
        let model = InstalledModel { entry, files: std::collections::BTreeMap::default() };
        let processor = Constant(1.0);
        let warming = Warming::new(&processor);
        let mut graph = warming.load(&model, 1).unwrap();
        let mut number = || match graph.run(&[]) {
            Ok(outputs) => Ok(outputs[0].clone().into_f32().unwrap()[0]),
            Err(error) => Err(error.to_string()),
        };
        let awaited = warming.into_awaited();
        assert_eq!((number(), awaited.len()), (Ok(1.0), 1));
        awaited[0].succeed(Box::new(Constant(2.0)));
        assert_eq!((number(), number()), (Ok(2.0), Ok(2.0)));
        awaited[0].fail("no engine");
        assert!(number().unwrap_err().contains("no engine"));
    }
}
