//! TensorRT's native road against stand-ins for NVIDIA's libraries, one per major version, at the real C++ ABI. They really
//! calculate, so a wrong slot, layout or copy gives a wrong number or the end of the process.

#![cfg(feature = "tensorrt")]
#![allow(clippy::unwrap_used)] // Tests fail by panicking.

mod building;
mod finding;
mod gpu;
mod machine;
mod roles;
mod rtx;

mod running;

#[test]
#[ignore = "the other tests run it in a process of its own, as the program runs its builder"]
fn the_builder() {
    drivers::encoders::tensorrt::work(&mut std::io::stdin(), &mut std::io::stdout()).unwrap();
}
