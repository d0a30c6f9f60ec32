//! What a unit says about system calls, as the program that Linux runs before each of them.
//!
//! It does what systemd's own does: a call outside the list fails with the unit's error, one that systemd does not know at all
//! as if the kernel did not have it, and what directives forbid by its arguments comes first. Only for x86_64: elsewhere
//! there is no table of numbers to read.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::unit::Unit;
use crate::run_to_end;

/// Numbers of the system calls, as the C library's headers have them.
const HEADERS: [&str; 2] = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"];

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;
const EAFNOSUPPORT: u32 = 97;

/// Words of the classic packet filter (linux/bpf_common.h, linux/seccomp.h, linux/audit.h).
mod bpf {
    pub const LOAD: u16 = 0x20;
    pub const IF_EQUAL: u16 = 0x15;
    pub const IF_ANY_BIT: u16 = 0x45;
    pub const RETURN: u16 = 0x06;
    pub const ALLOW: u32 = 0x7fff_0000;
    pub const ERRNO: u32 = 0x0005_0000;
    pub const KILL: u32 = 0x8000_0000;
    pub const X86_64: u32 = 0xc000_003e;
    pub const X32_BIT: u32 = 0x4000_0000;
    pub const NUMBER: u32 = 0;
    pub const ARCHITECTURE: u32 = 4;
    pub const ARGUMENTS: u32 = 16;
}

/// A call that fails by its argument, or always.
struct Rule {
    call: &'static str,
    denies: Denies,
    errno: u32,
}

enum Denies {
    Always,
    /// Unless the argument is one of these.
    AllBut(u32, Vec<u32>),
    OneOf(u32, Vec<u32>),
    AnyBit(u32, u32),
}

/// The filter of a unit, ready for the kernel.
pub struct Filter {
    /// Instructions of eight bytes.
    pub program: Vec<u8>,
    /// The directives in it.
    pub holds: Vec<&'static str>,
}

/// The filter that `unit` asks for; `None` on a processor whose numbers are not known here.
///
/// # Errors
/// If the unit names a set or an address family that this machine does not know.
pub fn filter(unit: &Unit) -> Result<Option<Filter>> {
    let headers = HEADERS.iter().find_map(|path| std::fs::read_to_string(path).ok());
    let (true, Some(headers)) = (cfg!(target_arch = "x86_64"), headers) else { return Ok(None) };
    let numbers: BTreeMap<&str, u32> = headers
        .lines()
        .filter_map(|line| {
            let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
            Some((name, number.trim().parse().ok()?))
        })
        .collect();
    ensure!(numbers.len() > 300, "the table of system calls has only {} of them", numbers.len());
    let sets = Sets::of_this_machine()?;
    let mut holds = vec!["SystemCallArchitectures", "SystemCallFilter", "SystemCallErrorNumber"];
    ensure!(unit.last("SystemCallArchitectures")? == "native", "only native system calls are understood");
    ensure!(unit.last("SystemCallErrorNumber")? == "EPERM", "only EPERM is understood");

    let (allowed, known) = (sets.allowed(unit)?, sets.expand("@known")?);
    let mut rules = Vec::new();
    for (key, value) in unit.directives() {
        let denied = forbidden(key, value, &sets)?;
        if let Some((name, denied)) = denied {
            holds.push(name);
            rules.extend(denied);
        }
    }
    let mut assembly = Assembly::default();
    assembly.begin();
    for rule in &rules {
        if let Some(number) = numbers.get(rule.call) {
            assembly.rule(*number, rule);
        }
    }
    let numbered = |names: &BTreeSet<String>| -> BTreeSet<u32> {
        names.iter().filter_map(|name| numbers.get(name.as_str()).copied()).collect()
    };
    let (allowed, known) = (numbered(&allowed), numbered(&known));
    allowed.iter().for_each(|number| assembly.one(*number, bpf::ALLOW));
    known.difference(&allowed).for_each(|number| assembly.one(*number, bpf::ERRNO | EPERM));
    assembly.push(bpf::RETURN, 0, 0, bpf::ERRNO | ENOSYS);
    Ok(Some(Filter { program: assembly.bytes()?, holds }))
}

/// What a directive forbids beside the list of calls.
fn forbidden(key: &str, value: &str, sets: &Sets) -> Result<Option<(&'static str, Vec<Rule>)>> {
    let always = |calls: &[&'static str]| -> Vec<Rule> {
        calls.iter().map(|call| Rule { call, denies: Denies::Always, errno: EPERM }).collect()
    };
    let rule = |call, denies| Rule { call, denies, errno: EPERM };
    Ok(Some(match (key, value) {
        ("RestrictAddressFamilies", families) => {
            let families = families.split_whitespace().map(family).collect::<Result<_>>()?;
            let denies = Denies::AllBut(0, families);
            ("RestrictAddressFamilies", vec![Rule { call: "socket", denies, errno: EAFNOSUPPORT }])
        }
        ("RestrictNamespaces", "yes") => {
            // CLONE_NEWTIME to CLONE_NEWNET.
            let kinds = 0x7e02_0080;
            // Its flags are in memory, where no filter looks: libraries go back to `clone`.
            let clone3 = Rule { call: "clone3", denies: Denies::Always, errno: ENOSYS };
            let by_flags = ["clone", "unshare"].map(|call| rule(call, Denies::AnyBit(0, kinds)));
            ("RestrictNamespaces", by_flags.into_iter().chain(always(&["setns"])).chain([clone3]).collect())
        }
        // SCHED_FIFO, SCHED_RR, SCHED_DEADLINE.
        ("RestrictRealtime", "yes") => {
            ("RestrictRealtime", vec![rule("sched_setscheduler", Denies::OneOf(1, vec![1, 2, 6]))])
        }
        ("RestrictSUIDSGID", "yes") => {
            let bits = |call, argument| rule(call, Denies::AnyBit(argument, 0o6000));
            ("RestrictSUIDSGID", vec![bits("chmod", 1), bits("fchmod", 1), bits("fchmodat", 2), bits("mkdir", 1)])
        }
        // The usual personality, and the question which it is.
        ("LockPersonality", "yes") => {
            ("LockPersonality", vec![rule("personality", Denies::AllBut(0, vec![0, u32::MAX]))])
        }
        ("ProtectClock", "yes") => ("ProtectClock", sets.denied("@clock")?),
        ("ProtectKernelModules", "yes") => ("ProtectKernelModules", sets.denied("@module")?),
        ("ProtectKernelLogs", "yes") => ("ProtectKernelLogs", always(&["syslog"])),
        _ => return Ok(None),
    }))
}

fn family(name: &str) -> Result<u32> {
    Ok(match name {
        "AF_UNIX" => 1,
        "AF_INET" => 2,
        "AF_INET6" => 10,
        "AF_NETLINK" => 16,
        other => bail!("the number of {other} is not known here"),
    })
}

/// systemd's named sets of system calls.
struct Sets(BTreeMap<String, Vec<String>>);

impl Sets {
    fn of_this_machine() -> Result<Self> {
        let ended =
            run_to_end(Command::new("systemd-analyze").args(["syscall-filter", "--no-pager"]), Duration::from_secs(30))
                .context("install the package systemd")?;
        let mut sets = BTreeMap::<String, Vec<String>>::new();
        let mut current = None;
        for line in ended.stdout.lines() {
            let word = line.trim();
            if line.starts_with('@') {
                current = Some(word.to_owned());
            } else if !word.is_empty()
                && !word.starts_with('#')
                && let Some(set) = &current
            {
                sets.entry(set.clone()).or_default().push(word.to_owned());
            }
        }
        ensure!(sets.contains_key("@default"), "systemd-analyze names no sets of system calls: {}", ended.stderr);
        Ok(Self(sets))
    }

    fn expand(&self, name: &str) -> Result<BTreeSet<String>> {
        if !name.starts_with('@') {
            return Ok(BTreeSet::from([name.to_owned()]));
        }
        let members = self.0.get(name).with_context(|| format!("systemd knows no set {name}"))?;
        let mut found = BTreeSet::new();
        for member in members {
            found.extend(self.expand(member)?);
        }
        Ok(found)
    }

    /// The list that the directives make, read in order. A list of what is allowed always has `@default`.
    fn allowed(&self, unit: &Unit) -> Result<BTreeSet<String>> {
        let mut allowed = self.expand("@default")?;
        for (number, line) in unit.values("SystemCallFilter").enumerate() {
            let removes = line.strip_prefix('~');
            ensure!(number > 0 || removes.is_none(), "a list of what is denied is not understood");
            for name in removes.unwrap_or(line).split_whitespace() {
                let set = self.expand(name)?;
                match removes {
                    Some(_) => allowed.retain(|call| !set.contains(call)),
                    None => allowed.extend(set),
                }
            }
        }
        Ok(allowed)
    }

    fn denied(&self, set: &str) -> Result<Vec<Rule>> {
        // Rules name calls that are in the program's text; these few are all that the two sets have on this processor.
        const CALLS: [&str; 7] = [
            "adjtimex",
            "clock_adjtime",
            "clock_settime",
            "settimeofday",
            "delete_module",
            "finit_module",
            "init_module",
        ];
        let names = self.expand(set)?;
        let calls = CALLS.into_iter().filter(|call| names.contains(*call));
        Ok(calls.map(|call| Rule { call, denies: Denies::Always, errno: EPERM }).collect())
    }
}

/// Instructions: code, jump if true, jump if false, operand.
#[derive(Default)]
struct Assembly(Vec<(u16, u8, u8, u32)>);

impl Assembly {
    fn push(&mut self, code: u16, yes: u8, no: u8, operand: u32) {
        self.0.push((code, yes, no, operand));
    }

    fn begin(&mut self) {
        self.push(bpf::LOAD, 0, 0, bpf::ARCHITECTURE);
        self.push(bpf::IF_EQUAL, 1, 0, bpf::X86_64);
        self.push(bpf::RETURN, 0, 0, bpf::KILL);
        self.push(bpf::LOAD, 0, 0, bpf::NUMBER);
        self.push(bpf::IF_ANY_BIT, 0, 1, bpf::X32_BIT);
        self.push(bpf::RETURN, 0, 0, bpf::KILL);
    }

    /// `verdict` for one call; the others go on.
    fn one(&mut self, number: u32, verdict: u32) {
        self.push(bpf::IF_EQUAL, 0, 1, number);
        self.push(bpf::RETURN, 0, 0, verdict);
    }

    fn rule(&mut self, number: u32, rule: &Rule) {
        let verdict = bpf::ERRNO | rule.errno;
        let load = |argument: u32| (bpf::LOAD, 0, 0, bpf::ARGUMENTS + 8 * argument);
        let deny = (bpf::RETURN, 0, 0, verdict);
        let mut block = Vec::new();
        match &rule.denies {
            Denies::Always => return self.one(number, verdict),
            Denies::AnyBit(argument, mask) => block.extend([load(*argument), (bpf::IF_ANY_BIT, 0, 1, *mask), deny]),
            Denies::AllBut(argument, values) => {
                block.push(load(*argument));
                for (left, value) in (1..=values.len()).rev().zip(values) {
                    // Over the other comparisons and the verdict.
                    block.push((bpf::IF_EQUAL, u8::try_from(left).expect("a few values"), 0, *value));
                }
                block.push(deny);
            }
            Denies::OneOf(argument, values) => {
                block.push(load(*argument));
                for value in values {
                    block.extend([(bpf::IF_EQUAL, 0, 1, *value), deny]);
                }
            }
        }
        // Those that come after look at the number again.
        block.push((bpf::LOAD, 0, 0, bpf::NUMBER));
        self.push(bpf::IF_EQUAL, 0, u8::try_from(block.len()).expect("a short block"), number);
        self.0.extend(block);
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        ensure!(self.0.len() <= 4096, "{} instructions are more than the kernel takes", self.0.len());
        let words = self.0.iter().map(|(code, yes, no, operand)| {
            let mut word = [0; 8];
            word[..2].copy_from_slice(&code.to_ne_bytes());
            (word[2], word[3]) = (*yes, *no);
            word[4..].copy_from_slice(&operand.to_ne_bytes());
            word
        });
        Ok(words.flatten().collect())
    }
}
