//! Inputs of the specification that this version does not carry out yet. Accepting one and doing nothing would be
//! worse than refusing it.

use super::config::Config;
use crate::plugin::{AttributePath, Problem};

/// A problem for each such input that has another value than its default.
pub(super) fn unsupported(config: &Config) -> Vec<Problem> {
    let patterns = config.ignore_drift.known().and_then(Option::as_ref);
    let problem = |name: &str| {
        let message = format!("{name} is not supported yet in this version.");
        Problem::new(AttributePath::new(name), message, "Leave it out.")
    };
    patterns.filter(|patterns| !patterns.is_empty()).map(|_| problem("ignore_drift")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;
    use crate::plugin::Value;

    #[test]
    fn defaults_and_unknowns_are_no_problem() {
        assert_eq!(unsupported(&config(&[("ignore_drift", Value::Unknown)])), []);
    }

    #[test]
    fn what_is_not_carried_out_is_refused() {
        let config = config(&[("ignore_drift", vec!["vpc"].into())]);
        let paths: Vec<String> = unsupported(&config).iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(paths, ["ignore_drift"]);
    }
}
