//! What a program that opens `libnvinfer.so.8` meets: TensorRT 8.5.2.

fakes::nvinfer!(major: 8, version: 8502);
