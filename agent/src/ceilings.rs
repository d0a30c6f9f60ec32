//! Computes the memory limits of the program from the machine's memory and zram, where none are configured.
//!
//! A Jetson swaps into zram, which is compressed memory. Half of its size counts as additional memory, because pages of
//! programs compress at least two to one. Swap on a disk does not count: on flash it is slow and causes wear.

use std::fs::read_to_string;

use crate::config::MemoryConfig;

/// Share of all memory for the page cache, and its bounds in MiB. The cache holds pages that compress badly, so it stays small.
const CACHE_CEILING: (u64, std::ops::RangeInclusive<u64>) = (128, 8..=128);
/// The same for the whole program. Above it, something grows that should not, long before the system ends the program.
const PROGRAM_CEILING: (u64, std::ops::RangeInclusive<u64>) = (4, 512..=4096);

/// Memory of a machine, MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ram {
    /// All of it.
    pub total_mib: u64,
    /// Maximum size of what may be swapped into zram.
    pub zram_mib: u64,
}

/// What the program may take, which it is asked before something is done that takes much.
#[derive(Debug, Clone, Copy)]
pub struct ProgramCeiling {
    /// MiB; 0: there is none.
    pub mib: u64,
    used: fn() -> u64,
}

impl ProgramCeiling {
    /// The ceiling of this process.
    pub fn of_this_process(mib: u64) -> Self {
        let used = || {
            let (resident, swapped) = used(&read_to_string("/proc/self/status").unwrap_or_default());
            resident + swapped
        };
        Self { mib, used }
    }

    /// # Errors
    /// What the program takes, and what to do, if that is more than it may.
    pub fn check(&self) -> Result<(), String> {
        let used = (self.used)();
        if self.mib == 0 || used <= self.mib {
            return Ok(());
        }
        let mib = self.mib;
        Err(format!(
            "the program takes {used} MiB, and memory.ceiling_mib is {mib}: until it takes less it answers questions, remembers, forgets and \
             backs up, and nothing else; restart it or raise the ceiling if that lasts"
        ))
    }
}

/// Ceilings of this program, MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Page cache of the store.
    pub cache_mib: u64,
    /// The whole program, resident and swapped.
    pub program_mib: u64,
}

impl Ram {
    /// Reads `/proc/meminfo` and `/proc/swaps`; `None` if the first does not tell.
    pub fn parse(meminfo: &str, swaps: &str) -> Option<Self> {
        let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kib = |text: &str| text.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok());
        // Name, type, size, used, priority.
        let zram = swaps.lines().filter(|line| line.trim_start_matches("/dev/").starts_with("zram"));
        let size = |line: &str| line.split_whitespace().nth(2).and_then(kib).unwrap_or(0);
        Some(Self { total_mib: kib(total)? >> 10, zram_mib: zram.map(size).sum::<u64>() >> 10 })
    }

    /// Reads the memory of this machine.
    pub fn of_this_machine() -> Option<Self> {
        Self::parse(&read_to_string("/proc/meminfo").ok()?, &read_to_string("/proc/swaps").unwrap_or_default())
    }

    fn share(self, (share, bounds): (u64, std::ops::RangeInclusive<u64>)) -> u64 {
        ((self.total_mib + self.zram_mib / 2) / share).clamp(*bounds.start(), *bounds.end())
    }
}

impl Ceilings {
    /// Returns what is configured, and for the rest what follows from `ram`. For a machine that does not tell, 8 GiB are
    /// assumed.
    pub fn new(config: &MemoryConfig, ram: Option<Ram>) -> Self {
        let ram = ram.unwrap_or(Ram { total_mib: 8192, zram_mib: 0 });
        Self {
            cache_mib: config.cache_mib.unwrap_or_else(|| ram.share(CACHE_CEILING)),
            program_mib: config.ceiling_mib.unwrap_or_else(|| ram.share(PROGRAM_CEILING)),
        }
    }

    /// Returns the ceilings for this machine.
    pub fn of_this_machine(config: &MemoryConfig) -> Self {
        Self::new(config, Ram::of_this_machine())
    }
}

/// Resident and swapped MiB, from `/proc/PID/status`.
pub fn used(status: &str) -> (u64, u64) {
    let mib = |name: &str| {
        let kib = status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?;
        Some(kib.parse::<u64>().ok()? >> 10)
    };
    (mib("VmRSS:").unwrap_or(0), mib("VmSwap:").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Jetson Orin Nano of 4 GB as NVIDIA delivers it: one zram device a processor, half of the memory together.
    const MEMINFO: &str = "MemTotal:        3964928 kB\nMemFree:          224100 kB\nSwapTotal:       5000000 kB\n";
    const SWAPS: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                         /dev/zram0                              partition\t991232\t\t0\t\t5\n\
                         /dev/zram1                              partition\t991232\t\t0\t\t5\n\
                         /swapfile                               file\t\t8388604\t\t0\t\t-2\n";

    #[test]
    fn what_takes_much_is_refused_above_the_ceiling_and_nothing_without_one() {
        let of = |mib| ProgramCeiling { mib, used: || 300 };
        assert_eq!(of(300).check(), Ok(()));
        assert_eq!(of(0).check(), Ok(()));
        let refusal = of(299).check().unwrap_err();
        assert!(refusal.contains("300 MiB") && refusal.contains("memory.ceiling_mib is 299"), "{refusal}");
    }

    #[test]
    fn zram_counts_and_a_swap_file_does_not() {
        assert_eq!(Ram::parse(MEMINFO, SWAPS), Some(Ram { total_mib: 3872, zram_mib: 1936 }));
        assert_eq!(Ram::parse(MEMINFO, ""), Some(Ram { total_mib: 3872, zram_mib: 0 }));
        assert_eq!(Ram::parse("", SWAPS), None);
    }

    #[test]
    fn ceilings_follow_the_memory_within_bounds() {
        let derived = |total_mib, zram_mib| {
            let Ceilings { cache_mib, program_mib } =
                Ceilings::new(&MemoryConfig::default(), Some(Ram { total_mib, zram_mib }));
            (cache_mib, program_mib)
        };
        assert_eq!(derived(3872, 1936), (37, 1210));
        assert_eq!(derived(3872, 0), (30, 968));
        assert_eq!(derived(7800, 3900), (76, 2437));
        assert_eq!(derived(500, 0), (8, 512));
        assert_eq!(derived(64_000, 32_000), (128, 4096));
    }

    #[test]
    fn what_is_configured_stays() {
        let config = MemoryConfig { cache_mib: Some(7), ceiling_mib: Some(900), ..MemoryConfig::default() };
        assert_eq!(Ceilings::new(&config, None), Ceilings { cache_mib: 7, program_mib: 900 });
    }

    #[test]
    fn what_is_used_is_read() {
        assert_eq!(used("Name:\tengram\nVmRSS:\t  311296 kB\nVmSwap:\t    2048 kB\n"), (304, 2));
        assert_eq!(used(""), (0, 0));
    }
}
