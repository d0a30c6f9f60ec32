//! Progress of a build, which TensorRT reports since version 10: a C++ object of ours (`IProgressMonitor` 1.0) whose methods the
//! library calls, from whichever of its threads.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use parking_lot::Mutex;

use super::logger::{InterfaceInfo, destroy, language, type_info};

/// Hears how many percent of the phase that the library is in are done.
pub(super) type Tell<'t> = &'t (dyn Fn(u8) + Sync);

/// The object. The library must not have its address any more when this is dropped.
pub(super) struct Monitor<'t>(Box<Listening<'t>>);

/// Object that the library sees: a pointer to the virtual table, and our data behind it.
#[repr(C)]
struct Listening<'t> {
    table: *const *const c_void,
    phases: Mutex<Phases>,
    tell: Tell<'t>,
}

impl<'t> Monitor<'t> {
    pub fn new(tell: Tell<'t>) -> Self {
        Self(Box::new(Listening { table: table(), phases: Mutex::default(), tell }))
    }

    pub fn address(&self) -> *mut c_void {
        std::ptr::from_ref(&*self.0).cast_mut().cast()
    }
}

/// The virtual table, which is the same for all.
fn table() -> *const *const c_void {
    static TABLE: OnceLock<usize> = OnceLock::new();
    let make = || {
        let nothing = destroy as *const c_void;
        let table: &'static [*const c_void] = Vec::leak(vec![
            std::ptr::null(),
            type_info(),
            language as *const c_void,
            interface as *const c_void,
            nothing,
            nothing,
            phase_start as *const c_void,
            step_complete as *const c_void,
            phase_finish as *const c_void,
        ]);
        table[2..].as_ptr() as usize
    };
    *TABLE.get_or_init(make) as *const *const c_void
}

unsafe extern "C" fn interface(_: *mut c_void) -> InterfaceInfo {
    InterfaceInfo { kind: c"IProgressMonitor".as_ptr(), major: 1, minor: 0 }
}

unsafe extern "C" fn phase_start(this: *const Listening<'_>, name: *const c_char, parent: *const c_char, steps: c_int) {
    // SAFETY: the library calls the object that it was given, with terminated texts that live for the call.
    let (listening, name, parent) = unsafe { (&*this, text(name), text(parent)) };
    if let Some(name) = name {
        listening.phases.lock().start(name, parent, steps);
    }
}

/// Never asks the library to give up. To cancel a build, its process is ended.
unsafe extern "C" fn step_complete(this: *const Listening<'_>, name: *const c_char, step: c_int) -> bool {
    // SAFETY: as above.
    let (listening, name) = unsafe { (&*this, text(name)) };
    let percent = name.and_then(|name| listening.phases.lock().complete(&name, step));
    if let Some(percent) = percent {
        (listening.tell)(percent);
    }
    true
}

unsafe extern "C" fn phase_finish(this: *const Listening<'_>, name: *const c_char) {
    // SAFETY: as above.
    let (listening, name) = unsafe { (&*this, text(name)) };
    if let Some(name) = name {
        listening.phases.lock().finish(&name);
    }
}

/// # Safety
/// Null, or a terminated text.
unsafe fn text(text: *const c_char) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec())
}

/// The phases under way, each behind the one it is a part of.
#[derive(Default)]
struct Phases {
    open: Vec<Phase>,
    began: u64,
    /// Last report of the outermost phase.
    told: Option<u8>,
}

struct Phase {
    number: u64,
    name: Vec<u8>,
    /// The phase that it is a step of.
    parent: Option<u64>,
    steps: f64,
    done: f64,
}

impl Phases {
    fn start(&mut self, name: Vec<u8>, parent: Option<Vec<u8>>, steps: c_int) {
        let parent = parent.and_then(|parent| self.open.iter().rev().find(|phase| phase.name == parent));
        let parent = parent.map(|phase| phase.number);
        if parent.is_none() {
            self.told = None;
        }
        self.began += 1;
        self.open.push(Phase { number: self.began, name, parent, steps: f64::from(steps.max(1)), done: 0.0 });
    }

    /// Counts the steps up to `step`; the percentage of the newest outermost phase, if that is more than was told.
    fn complete(&mut self, name: &[u8], step: c_int) -> Option<u8> {
        let phase = self.open.iter_mut().rev().find(|phase| phase.name == name)?;
        phase.done = phase.done.max(f64::from(step.max(0)) + 1.0).min(phase.steps);
        let percent = self.percent()?;
        if self.told.is_some_and(|told| percent <= told) {
            return None;
        }
        self.told = Some(percent);
        Some(percent)
    }

    fn finish(&mut self, name: &[u8]) {
        if let Some(at) = self.open.iter().rposition(|phase| phase.name == name) {
            self.open.remove(at);
        }
    }

    /// A phase is done as far as its steps are, and the step under way as far as the part of it that is furthest.
    fn percent(&self) -> Option<u8> {
        let mut under_way: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
        let mut newest = None;
        // Parts come after what they are parts of.
        for phase in self.open.iter().rev() {
            let part = under_way.get(&phase.number).copied().unwrap_or(0.0);
            let share = ((phase.done + part) / phase.steps).min(1.0);
            match phase.parent {
                Some(parent) => {
                    let furthest = under_way.entry(parent).or_insert(0.0);
                    *furthest = furthest.max(share);
                }
                None => newest = newest.or(Some(share)),
            }
        }
        newest.map(|share| (share * 100.0) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    #[test]
    fn a_part_counts_as_far_as_it_is_for_the_step_that_it_is_part_of() {
        let mut phases = Phases::default();
        phases.start(name("build"), None, 4);
        assert_eq!(phases.complete(b"build", 0), Some(25));
        phases.start(name("tactics"), Some(name("build")), 10);
        assert_eq!(phases.complete(b"tactics", 4), Some(37));
        phases.start(name("kernel"), Some(name("tactics")), 2);
        assert_eq!(phases.complete(b"kernel", 0), Some(38));
        phases.finish(b"kernel");
        phases.finish(b"tactics");
        assert_eq!(phases.complete(b"build", 1), Some(50));
        assert_eq!(phases.complete(b"build", 1), None, "nothing new");
        phases.finish(b"build");
        phases.start(name("write"), None, 2);
        assert_eq!(phases.complete(b"write", 0), Some(50), "another one counts anew");
    }

    #[test]
    fn what_the_library_should_not_say_does_no_harm() {
        let mut phases = Phases::default();
        assert_eq!(phases.complete(b"nothing", 3), None);
        phases.finish(b"nothing");
        phases.start(name("a"), Some(name("a")), 0);
        phases.start(name("a"), Some(name("a")), -3);
        assert_eq!(phases.complete(b"a", i32::MAX), Some(100));
        assert_eq!(phases.complete(b"a", -1), None);
    }
}
