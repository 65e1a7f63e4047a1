//! The problems of a configuration, and checks that several inputs have in common.

use ipnet::IpNet;

use super::Strings;
use crate::plugin::{AttributePath, Problem};

/// Whether a text is valid.
pub(super) type Test = fn(&str) -> bool;

/// The problems found so far.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(super) fn add(&mut self, path: AttributePath, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem::new(path, message, hint));
    }

    /// Reports each invalid element. `what` completes the sentence "... is not ...".
    pub(super) fn each(&mut self, path: &AttributePath, list: &Strings, is_valid: Test, what: &str, hint: &str) {
        for (index, item) in list.known().into_iter().flatten().enumerate() {
            if let Some(text) = item.known().filter(|text| !is_valid(text)) {
                self.add(path.index(index), format!("{text:?} is not {what}."), hint);
            }
        }
    }

    /// Reports text that is not a CIDR block of the example's family, and a block with host bits. Returns the block
    /// without them.
    pub(super) fn cidr_block(&mut self, path: AttributePath, text: &str, example: &str) -> Option<IpNet> {
        let is_ipv6 = example.contains(':');
        let Some(net) = text.parse::<IpNet>().ok().filter(|net| matches!(net, IpNet::V6(_)) == is_ipv6) else {
            let family = if is_ipv6 { "IPv6" } else { "IPv4" };
            let message = format!("{text:?} is not an {family} CIDR block.");
            self.add(path, message, format!("Use a CIDR block such as {example}."));
            return None;
        };
        if net.trunc() != net {
            let message = format!("{text} has host bits set; AWS would change it to {}.", net.trunc());
            self.add(path, message, format!("Use {}.", net.trunc()));
        }
        Some(net.trunc())
    }
}
