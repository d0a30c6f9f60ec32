//! The logger that every TensorRT object requires: a C++ object of ours, with the layout of the library's version.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use parking_lot::Mutex;

use super::slots::LoggerLayout;

/// Errors that are kept to explain why a call failed.
const KEPT: usize = 6;

/// The library says why a call failed to its logger and not to the caller. It has one logger per process, so two failures at
/// one time may be told with each other's words.
static SAID: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Takes the messages of the library since the last call.
pub(super) fn take_said() -> String {
    let said: Vec<String> = SAID.lock().drain(..).collect();
    said.join("; ")
}

/// Forgets what was said before a call.
pub(super) fn forget_said() {
    SAID.lock().clear();
}

/// The C++ object: nothing but the pointer to its virtual table.
#[repr(C)]
struct Logger {
    table: *const *const c_void,
}

/// The logger of that layout; it lives as long as the process, because the library may use it to the end.
pub(super) fn logger(layout: LoggerLayout) -> *mut c_void {
    static LOG_FIRST: OnceLock<usize> = OnceLock::new();
    static VERSIONED: OnceLock<usize> = OnceLock::new();
    let make = || {
        let (log, nothing) = (log as *const c_void, destroy as *const c_void);
        // In front of the methods: the offset to the whole object, and what it is.
        let head = [std::ptr::null(), type_info()];
        let methods = match layout {
            LoggerLayout::LogFirst => vec![log, nothing, nothing],
            LoggerLayout::Versioned => {
                vec![language as *const c_void, interface as *const c_void, nothing, nothing, log]
            }
        };
        let table: &'static [*const c_void] = Vec::leak(head.into_iter().chain(methods).collect());
        let logger = Logger { table: table[2..].as_ptr() };
        std::ptr::from_mut(Box::leak(Box::new(logger))) as usize
    };
    let address = match layout {
        LoggerLayout::LogFirst => LOG_FIRST.get_or_init(make),
        LoggerLayout::Versioned => VERSIONED.get_or_init(make),
    };
    *address as *mut c_void
}

/// C++'s type information for a class without bases, so that a library that looks at the type of our objects finds one. Null
/// without a C++ runtime, and then nobody looks.
pub(super) fn type_info() -> *const c_void {
    // SAFETY: the C++ runtime that every C++ library of this process needs as well.
    let Ok(runtime) = (unsafe { Library::open(Some("libstdc++.so.6"), RTLD_LAZY | RTLD_LOCAL) }) else {
        return std::ptr::null();
    };
    // SAFETY: only the symbol's address is used.
    let table = unsafe { runtime.get::<*const *const c_void>(b"_ZTVN10__cxxabiv117__class_type_infoE\0") };
    let Ok(table) = table else { return std::ptr::null() };
    let table: *const *const c_void = *table;
    // As the ABI has it: the pointer goes to the first method, two words into the table. Only the address is computed.
    let info: [*const c_void; 2] = [table.wrapping_add(2).cast(), c"12EngramLogger".as_ptr().cast()];
    std::mem::forget(runtime);
    std::ptr::from_ref(Box::leak(Box::new(info))).cast()
}

unsafe extern "C" fn log(_: *mut c_void, severity: c_int, message: *const c_char) {
    if message.is_null() {
        return;
    }
    // SAFETY: the library hands over a terminated text that lives for the call.
    let text = one_line(unsafe { CStr::from_ptr(message) });
    match severity {
        0 | 1 => {
            tracing::debug!("tensorrt: {text}");
            let mut said = SAID.lock();
            if said.len() == KEPT {
                said.pop_front();
            }
            said.push_back(text);
        }
        2 => tracing::debug!("tensorrt: {text}"),
        _ => tracing::trace!("tensorrt: {text}"),
    }
}

/// A text of the library's as part of a sentence.
pub(super) fn one_line(text: &CStr) -> String {
    text.to_string_lossy().trim().replace('\n', "; ")
}

/// The library never deletes our objects; the slots must be callable all the same.
pub(super) unsafe extern "C" fn destroy(_: *mut c_void) {}

/// `APILanguage::kCPP`.
pub(super) unsafe extern "C" fn language(_: *mut c_void) -> c_int {
    0
}

/// Description of an interface.
#[repr(C)]
pub(super) struct InterfaceInfo {
    pub kind: *const c_char,
    pub major: c_int,
    pub minor: c_int,
}

unsafe extern "C" fn interface(_: *mut c_void) -> InterfaceInfo {
    InterfaceInfo { kind: c"ILogger".as_ptr(), major: 1, minor: 0 }
}
