//! What a program that opens `libcuda.so.1` meets: one GPU whose memory is ordinary memory of its own.
//!
//! What is copied back arrives when the stream is waited for and not before, so that a program which does not wait reads
//! zeros. Switches (`fakes::switch`): `devices`, `init` (the number that `cuInit` gives), `integrated`, `allocate=fail`.

#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // The names are the driver's; every function here is the unsafe of its caller.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard};

use fakes::switch;

const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const INVALID_CONTEXT: c_int = 201;
const CONTEXT: usize = 0xC0_FFEE;

/// Sizes of what was allocated, by address, and copies that are under way.
struct CudaState {
    host: Option<HashMap<usize, usize>>,
    device: Option<HashMap<usize, usize>>,
    downloads: Vec<(usize, usize, usize)>,
    streams: usize,
}

static STATE: Mutex<CudaState> = Mutex::new(CudaState { host: None, device: None, downloads: Vec::new(), streams: 0 });

std::thread_local! {
    static CURRENT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn state() -> MutexGuard<'static, CudaState> {
    STATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn here() -> usize {
    cuInit as *const () as usize
}

fn number(name: &str, otherwise: c_int) -> c_int {
    switch(here(), name).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Everything but the questions about devices needs the context.
fn in_context() -> bool {
    CURRENT.get() == CONTEXT
}

#[unsafe(no_mangle)]
extern "C" fn cuInit(_: c_uint) -> c_int {
    number("init", 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    *version = 12060;
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    *count = number("devices", 1);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    *device = ordinal;
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _: c_int) -> c_int {
    let text = b"Imagined GPU\0";
    if (length as usize) < text.len() {
        return INVALID_VALUE;
    }
    std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _: c_int) -> c_int {
    *value = match attribute {
        75 => 8,
        76 => 7,
        18 => number("integrated", 0),
        _ => return INVALID_VALUE,
    };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut usize, _: c_int) -> c_int {
    *context = CONTEXT;
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: usize) -> c_int {
    CURRENT.set(context);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamCreate(stream: *mut usize, _: c_uint) -> c_int {
    if !in_context() {
        return INVALID_CONTEXT;
    }
    let mut state = state();
    state.streams += 1;
    *stream = 0x5000 + state.streams;
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(_: usize) -> c_int {
    if in_context() { 0 } else { INVALID_CONTEXT }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamSynchronize(stream: usize) -> c_int {
    if !in_context() || stream < 0x5000 {
        return INVALID_CONTEXT;
    }
    for (to, from, bytes) in state().downloads.drain(..) {
        std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes);
    }
    0
}

unsafe fn allocate(of_device: bool, bytes: usize) -> Result<usize, c_int> {
    if !in_context() {
        return Err(INVALID_CONTEXT);
    }
    if switch(here(), "allocate").as_deref() == Some("fail") {
        return Err(OUT_OF_MEMORY);
    }
    let layout = Layout::from_size_align(bytes, 256).map_err(|_| INVALID_VALUE)?;
    let address = alloc_zeroed(layout) as usize;
    let mut state = state();
    let state = &mut *state;
    let sizes = if of_device { &mut state.device } else { &mut state.host };
    sizes.get_or_insert_default().insert(address, bytes);
    Ok(address)
}

unsafe fn free(of_device: bool, address: usize) -> c_int {
    let mut state = state();
    let state = &mut *state;
    let sizes = if of_device { &mut state.device } else { &mut state.host };
    match sizes.get_or_insert_default().remove(&address) {
        Some(bytes) => {
            dealloc(address as *mut u8, Layout::from_size_align(bytes, 256).expect("it was one"));
            0
        }
        None => INVALID_VALUE,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    match allocate(true, bytes) {
        Ok(memory) => {
            *address = memory as u64;
            0
        }
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    free(true, address as usize)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostAlloc(address: *mut usize, bytes: usize, _: c_uint) -> c_int {
    match allocate(false, bytes) {
        Ok(memory) => {
            *address = memory;
            0
        }
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemFreeHost(address: usize) -> c_int {
    free(false, address)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostGetDevicePointer_v2(device: *mut u64, host: *mut c_void, _: c_uint) -> c_int {
    *device = host as u64;
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, _: usize) -> c_int {
    let fits =
        state().device.as_ref().and_then(|sizes| sizes.get(&(to as usize)).copied()).is_some_and(|size| bytes <= size);
    if !in_context() || !fits {
        return INVALID_VALUE;
    }
    std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, _: usize) -> c_int {
    if !in_context() {
        return INVALID_CONTEXT;
    }
    state().downloads.push((to as usize, from as usize, bytes));
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(code: c_int, name: *mut *const c_char) -> c_int {
    *name = match code {
        INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
        OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        100 => c"CUDA_ERROR_NO_DEVICE",
        INVALID_CONTEXT => c"CUDA_ERROR_INVALID_CONTEXT",
        _ => return INVALID_VALUE,
    }
    .as_ptr();
    0
}
