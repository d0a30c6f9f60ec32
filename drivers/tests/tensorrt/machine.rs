//! A machine with a GPU that is not there: stand-ins for NVIDIA's libraries in a folder of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use drivers::encoders::tensorrt::{BuilderCommand, TensorRt, TensorRtError, TensorRtOptions};
use drivers::encoders::{BackendError, Graph, Tensor, TensorView};
use drivers::models::{Catalogue, ElementType, InstalledModel, Part, Role, ShapeRange, TensorSpec};
use fakes::built;
use fakes::onnx::{self, Border, Model, Node};
use ndarray::{ArrayD, IxDyn};

pub const MAJORS: [u32; 3] = [8, 10, 11];

pub struct Machine {
    folder: tempfile::TempDir,
    major: u32,
}

impl Machine {
    pub fn new(major: u32) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap(), major };
        fs::copy(built(&format!("fake_nvinfer_{major}")), machine.library()).unwrap();
        // One file under two names, as one library is loaded.
        let parser = machine.path(&format!("libnvonnxparser.so.{major}"));
        fs::hard_link(machine.library(), parser).unwrap();
        fs::copy(built("fake_cuda"), machine.path("libcuda.so.1")).unwrap();
        machine
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn library(&self) -> PathBuf {
        self.path(&format!("libnvinfer.so.{}", self.major))
    }

    pub fn engines(&self) -> PathBuf {
        self.path("engines")
    }

    /// From now on.
    pub fn switches(&self, lines: &str) {
        fs::write(self.path("switches"), lines.replace(' ', "\n")).unwrap();
    }

    pub fn options(&self) -> TensorRtOptions {
        // Under an emulator a program cannot start itself by itself.
        let runner = std::env::var("ENGRAM_RUNNER").unwrap_or_default();
        let this = std::env::current_exe().unwrap().display().to_string();
        let mut words = runner.split_whitespace().chain([this.as_str()]).map(str::to_owned);
        let program = PathBuf::from(words.next().unwrap());
        let arguments = ["--ignored", "--exact", "the_builder", "--nocapture"].map(str::to_owned);
        let builder = BuilderCommand { program, arguments: words.chain(arguments).collect() };
        TensorRtOptions {
            library: Some(self.library()),
            driver: Some(self.path("libcuda.so.1")),
            workspace_mib: 64,
            ..TensorRtOptions::new(self.engines(), builder)
        }
    }

    pub fn open(&self) -> Result<TensorRt, TensorRtError> {
        TensorRt::open(self.options())
    }

    /// What was built so far, a line each; the self-check's tiny network is the first.
    pub fn builds(&self) -> Vec<String> {
        fs::read_to_string(self.path("builds")).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// `y = 3x - 1` on rows of four numbers.
    pub fn affine(&self) -> InstalledModel {
        let node = |kind: &str, inputs: [&str; 2], output: &str| Node {
            kind: kind.to_owned(),
            inputs: inputs.map(str::to_owned).to_vec(),
            outputs: vec![output.to_owned()],
        };
        let model = Model {
            nodes: vec![node("Mul", ["x", "three"], "scaled"), node("Add", ["scaled", "less"], "y")],
            constants: BTreeMap::from([("three".to_owned(), vec![3.0]), ("less".to_owned(), vec![-1.0; 4])]),
            inputs: vec![Border { name: "x".to_owned(), element: onnx::F32, shape: vec![-1, 4] }],
            outputs: vec![Border { name: "y".to_owned(), element: onnx::F32, shape: vec![-1, 4] }],
        };
        let mut installed = self.installed(&model, ElementType::F32);
        installed.entry.shapes =
            vec![ShapeRange { name: "x".to_owned(), min: vec![1, 4], opt: vec![2, 4], max: vec![8, 4] }];
        installed
    }

    /// `y = x`.
    pub fn identity(&self, element: ElementType, shape: &[i64]) -> InstalledModel {
        let code = match element {
            ElementType::F32 => onnx::F32,
            ElementType::I64 => onnx::I64,
            ElementType::U8 => onnx::U8,
        };
        self.one_node("Identity", code, element, shape)
    }

    pub fn one_node(&self, kind: &str, code: u64, element: ElementType, shape: &[i64]) -> InstalledModel {
        let border = |name: &str| Border { name: name.to_owned(), element: code, shape: shape.to_vec() };
        let model = Model {
            nodes: vec![Node { kind: kind.to_owned(), inputs: vec!["x".to_owned()], outputs: vec!["y".to_owned()] }],
            inputs: vec![border("x")],
            outputs: vec![border("y")],
            ..Model::default()
        };
        self.installed(&model, element)
    }

    /// A detector of one class: its six channels are the picture's three, twice.
    pub fn detector(&self) -> InstalledModel {
        let mut installed = self.installed(&Model::detector(), ElementType::F32);
        installed.entry.labels = vec!["thing".to_owned()];
        // How rare a class is was counted for others.
        installed.entry.boxes.clear();
        installed
    }

    fn installed(&self, model: &Model, element: ElementType) -> InstalledModel {
        let path = self.path("model.onnx");
        fs::write(&path, model.write()).unwrap();
        let specs = |borders: &[Border]| -> Vec<TensorSpec> {
            let spec = |border: &Border| TensorSpec { name: border.name.clone(), element, shape: border.shape.clone() };
            borders.iter().map(spec).collect()
        };
        let mut entry = Catalogue::load(None).unwrap().model(Role::Objects).unwrap().clone();
        (entry.inputs, entry.outputs) = (specs(&model.inputs), specs(&model.outputs));
        InstalledModel { entry, files: BTreeMap::from([(Part::Graph, path)]) }
    }
}

/// The engine of a model, from the cache or built.
pub fn load(backend: &TensorRt, model: &InstalledModel) -> Result<Box<dyn Graph>, BackendError> {
    backend.load_engine(model, false, &mut |_| {})
}

/// At which stage it failed.
pub fn stage<T>(outcome: Result<T, BackendError>) -> TensorRtError {
    match outcome {
        Err(BackendError::TensorRt { source, .. }) => source,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it worked"),
    }
}

/// Runs a graph on rows of numbers.
pub fn run(graph: &mut dyn Graph, rows: usize, values: &[f32]) -> Result<Vec<f32>, BackendError> {
    let array = ArrayD::from_shape_vec(IxDyn(&[rows, values.len() / rows]), values.to_vec()).unwrap();
    let outputs = graph.run(&[TensorView::F32(array.view())])?;
    let [Tensor::F32(output)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!(output.shape(), array.shape());
    Ok(output.iter().copied().collect())
}

/// The one engine in the cache.
pub fn cached_engine(directory: &Path) -> PathBuf {
    let engines: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "engine"))
        .collect();
    assert_eq!(engines.len(), 1, "{engines:?}");
    engines[0].clone()
}
