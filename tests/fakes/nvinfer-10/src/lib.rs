//! What a program that opens `libnvinfer.so.10` meets: TensorRT 10.3.0.26.

fakes::nvinfer!(major: 10, version: 100_300);

#[unsafe(no_mangle)]
extern "C" fn getInferLibBuildVersion() -> i32 {
    26
}
