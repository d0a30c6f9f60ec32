//! Success of a step (NS-Mem appendix A.3, Beta-Binomial).

use serde::{Deserialize, Serialize};

/// A Beta posterior over a success rate with the uniform prior Beta(1, 1), kept as counts so that pooling is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Beta {
    /// Trials that succeeded.
    pub successes: u32,
    /// Trials that failed.
    pub failures: u32,
}

impl Beta {
    /// Both parameters of the Beta prior, α and β.
    pub const PRIOR: f64 = 1.0;

    /// α of the posterior.
    pub fn alpha(self) -> f64 {
        Self::PRIOR + f64::from(self.successes)
    }

    /// β of the posterior.
    pub fn beta(self) -> f64 {
        Self::PRIOR + f64::from(self.failures)
    }

    /// The posterior mean (Eq. 6): 0.5 with no trial.
    pub fn mean(self) -> f64 {
        self.alpha() / (self.alpha() + self.beta())
    }

    /// The share of trials that succeeded; 1 with no trial, so that a procedure nobody saw fail is not doubted.
    pub fn rate(self) -> f64 {
        let trials = f64::from(self.successes) + f64::from(self.failures);
        if trials == 0.0 { 1.0 } else { f64::from(self.successes) / trials }
    }

    /// One more trial.
    pub fn observe(&mut self, success: bool) {
        let count = if success { &mut self.successes } else { &mut self.failures };
        *count = count.saturating_add(1);
    }

    /// Takes a trial back.
    pub fn retract(&mut self, success: bool) {
        let count = if success { &mut self.successes } else { &mut self.failures };
        *count = count.saturating_sub(1);
    }

    /// Pools the trials of both posteriors: α₁ + α₂ − α₀ and β₁ + β₂ − β₀ (Eq. 10 and 11, whose prior is Beta(1, 1)).
    #[must_use]
    pub fn pooled(self, other: Self) -> Self {
        Self {
            successes: self.successes.saturating_add(other.successes),
            failures: self.failures.saturating_add(other.failures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Beta;

    #[test]
    fn pooling_equals_the_posterior_of_the_union_of_trials() {
        let (first, second) = (Beta { successes: 3, failures: 1 }, Beta { successes: 5, failures: 4 });
        let pooled = first.pooled(second);
        assert_eq!(pooled.alpha(), first.alpha() + second.alpha() - Beta::PRIOR);
        assert_eq!(pooled.beta(), first.beta() + second.beta() - Beta::PRIOR);
        assert_eq!(pooled.mean(), 9.0 / 15.0);
        assert_eq!(Beta::default().mean(), 0.5);
    }
}
