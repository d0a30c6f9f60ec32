//! C++ objects as TensorRT hands them out: a facade of two words, and an implementation with the methods.

use std::ffi::c_void;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Objects that were made and not deleted.
pub static ALIVE: AtomicIsize = AtomicIsize::new(0);

/// What an application holds: its own table has nothing but destructors.
#[repr(C)]
pub struct Facade {
    table: *const usize,
    implementation: *mut c_void,
}

/// What methods get as `this`.
#[repr(C)]
pub struct Implementation<T> {
    table: *const usize,
    pub state: T,
    _slots: Box<[usize]>,
    _destructors: Box<[usize]>,
}

extern "C" fn unexpected() {
    eprintln!("fake TensorRT: a method was called that nobody should call");
    std::process::abort();
}

extern "C" fn nothing(_: *mut c_void) {}

unsafe extern "C" fn delete<T>(facade: *mut Facade) {
    ALIVE.fetch_sub(1, Ordering::SeqCst);
    let facade = Box::from_raw(facade);
    drop(Box::from_raw(facade.implementation.cast::<Implementation<T>>()));
}

/// A table with these methods; every other slot ends the process.
fn table(methods: &[(usize, usize)]) -> Box<[usize]> {
    let length = methods.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0).max(64);
    let mut slots = vec![unexpected as *const () as usize; length];
    for (slot, method) in methods {
        slots[*slot] = *method;
    }
    slots.into_boxed_slice()
}

/// An object with an implementation. The application deletes it.
pub fn make<T>(state: T, methods: &[(usize, usize)]) -> *mut c_void {
    ALIVE.fetch_add(1, Ordering::SeqCst);
    let (slots, destructors) =
        (table(methods), table(&[(0, nothing as *const () as usize), (1, delete::<T> as *const () as usize)]));
    let (slots_at, destructors_at) = (slots.as_ptr(), destructors.as_ptr());
    let implementation = Implementation { table: slots_at, state, _slots: slots, _destructors: destructors };
    debug_assert!(!implementation.table.is_null());
    let implementation = Box::into_raw(Box::new(implementation)).cast();
    Box::into_raw(Box::new(Facade { table: destructors_at, implementation })).cast()
}

/// The state behind what an application holds.
///
/// # Safety
/// An object that `make` made with this state.
pub unsafe fn state_of<'a, T>(facade: *mut c_void) -> &'a mut T {
    debug_assert!(!(*facade.cast::<Facade>()).table.is_null());
    &mut (*(*facade.cast::<Facade>()).implementation.cast::<Implementation<T>>()).state
}

/// Deletes an object that belongs to another object.
///
/// # Safety
/// As [`state_of`], and never again.
pub unsafe fn dispose<T>(facade: *mut c_void) {
    delete::<T>(facade.cast());
}

/// An object whose methods lie on itself, as the parser's do.
#[repr(C)]
pub struct Plain<T> {
    table: *const usize,
    pub state: T,
    _slots: Box<[usize]>,
}

unsafe extern "C" fn delete_plain<T>(object: *mut Plain<T>) {
    ALIVE.fetch_sub(1, Ordering::SeqCst);
    drop(Box::from_raw(object));
}

/// Makes one; `delete_at` is where its class has the destructor that frees.
pub fn make_plain<T>(state: T, methods: &[(usize, usize)], delete_at: Option<usize>) -> *mut c_void {
    ALIVE.fetch_add(1, Ordering::SeqCst);
    let delete = delete_at.map(|slot| (slot, delete_plain::<T> as *const () as usize));
    let slots = table(&methods.iter().copied().chain(delete).collect::<Vec<_>>());
    let object = Plain { table: slots.as_ptr(), state, _slots: slots };
    debug_assert!(!object.table.is_null());
    Box::into_raw(Box::new(object)).cast()
}

/// Deletes one that belongs to another object.
///
/// # Safety
/// What `make_plain` made with this state, and never again.
pub unsafe fn dispose_plain<T>(object: *mut c_void) {
    delete_plain::<T>(object.cast());
}
