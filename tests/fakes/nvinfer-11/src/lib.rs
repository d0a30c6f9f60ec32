//! What a program that opens `libnvinfer.so.11` meets: TensorRT 11.1.0.106.

fakes::nvinfer!(major: 11, version: 110_100);

#[unsafe(no_mangle)]
extern "C" fn getInferLibBuildVersion() -> i32 {
    106
}
