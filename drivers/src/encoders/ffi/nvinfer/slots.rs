//! Where the methods of TensorRT's interfaces lie in their virtual tables, one table per major version.
//!
//! The objects that an application gets have two words: a virtual table of no use but for its destructors, and a pointer to
//! an implementation whose virtual table has the methods, behind two slots of destructors. The tables only ever grow at their
//! end within 8.5 to 8.6, 10.0 to 10.16 and 11.0 to 11.4, and are others from major to major: no other version is called.
//! The numbers were read off the declarations of each release; what ran against which library is told in docs/tensorrt.md.

/// How the application's logger must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoggerLayout {
    /// `log`, then the destructors.
    LogFirst,
    /// The interface's language and name, the destructors, then `log`.
    Versioned,
}

/// Slots of one major version.
#[derive(Debug)]
pub(super) struct Slots {
    pub major: u32,
    pub logger: LoggerLayout,
    /// IRuntime
    pub deserialize: usize,
    /// ICudaEngine
    pub tensor_count: usize,
    pub tensor_name: usize,
    pub tensor_mode: usize,
    pub tensor_type: usize,
    pub tensor_shape: usize,
    pub create_context: usize,
    /// IExecutionContext
    pub set_input_shape: usize,
    pub context_shape: usize,
    pub set_address: usize,
    pub enqueue: usize,
    /// IBuilder
    pub create_config: usize,
    pub create_network: usize,
    pub create_profile: usize,
    pub dla_cores: usize,
    pub build: usize,
    /// IBuilderConfig
    pub set_pool_limit: usize,
    pub set_flag: usize,
    pub create_timing_cache: usize,
    pub set_timing_cache: usize,
    pub timing_cache: usize,
    pub add_profile: usize,
    pub set_dla_core: usize,
    pub set_device_type: usize,
    /// Present since version 10.
    pub set_progress_monitor: Option<usize>,
    /// INetworkDefinition
    pub input_count: usize,
    pub input: usize,
    /// IParser, whose methods lie on the object itself, without destructors in front
    pub parse_errors: usize,
    pub parse_error: usize,
    pub delete_parser: usize,
}

/// The same place in every version.
pub(super) const DELETE: usize = 1;
pub(super) const MEMORY_DATA: usize = 2;
pub(super) const MEMORY_SIZE: usize = 3;
pub(super) const SET_DIMENSIONS: usize = 2;
pub(super) const SERIALISE_TIMING: usize = 2;
pub(super) const TENSOR_NAME: usize = 3;
pub(super) const TENSOR_DIMENSIONS: usize = 5;
pub(super) const PARSE: usize = 0;
pub(super) const ERROR_DESCRIPTION: usize = 1;

pub(super) static TENSORRT_8: Slots = Slots {
    major: 8,
    logger: LoggerLayout::LogFirst,
    deserialize: 2,
    tensor_count: 45,
    tensor_name: 46,
    tensor_mode: 38,
    tensor_type: 35,
    tensor_shape: 34,
    create_context: 11,
    set_input_shape: 29,
    context_shape: 30,
    set_address: 32,
    enqueue: 44,
    create_config: 9,
    create_network: 11,
    create_profile: 12,
    dla_cores: 7,
    build: 17,
    set_pool_limit: 47,
    set_flag: 15,
    create_timing_cache: 44,
    set_timing_cache: 45,
    timing_cache: 46,
    add_profile: 29,
    set_dla_core: 22,
    set_device_type: 24,
    set_progress_monitor: None,
    input_count: 19,
    input: 20,
    parse_errors: 6,
    parse_error: 7,
    delete_parser: 10,
};

pub(super) static TENSORRT_10: Slots = Slots {
    major: 10,
    logger: LoggerLayout::LogFirst,
    deserialize: 3,
    tensor_count: 30,
    tensor_name: 31,
    tensor_mode: 23,
    tensor_type: 20,
    tensor_shape: 19,
    create_context: 5,
    set_input_shape: 21,
    context_shape: 22,
    set_address: 24,
    enqueue: 37,
    create_config: 7,
    create_network: 8,
    create_profile: 9,
    dla_cores: 5,
    build: 14,
    set_pool_limit: 43,
    set_flag: 11,
    create_timing_cache: 40,
    set_timing_cache: 41,
    timing_cache: 42,
    add_profile: 25,
    set_dla_core: 18,
    set_device_type: 20,
    set_progress_monitor: Some(56),
    input_count: 14,
    input: 15,
    parse_errors: 5,
    parse_error: 6,
    delete_parser: 9,
};

pub(super) static TENSORRT_11: Slots = Slots {
    major: 11,
    logger: LoggerLayout::Versioned,
    deserialize: 3,
    tensor_count: 26,
    tensor_name: 27,
    tensor_mode: 19,
    tensor_type: 16,
    tensor_shape: 15,
    create_context: 5,
    set_input_shape: 20,
    context_shape: 21,
    set_address: 23,
    enqueue: 36,
    create_config: 5,
    create_network: 6,
    create_profile: 7,
    dla_cores: 3,
    build: 11,
    set_pool_limit: 32,
    set_flag: 9,
    create_timing_cache: 29,
    set_timing_cache: 30,
    timing_cache: 31,
    add_profile: 23,
    set_dla_core: 16,
    set_device_type: 18,
    set_progress_monitor: Some(45),
    input_count: 14,
    input: 15,
    parse_errors: 3,
    parse_error: 4,
    delete_parser: 7,
};
