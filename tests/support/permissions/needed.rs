//! Which configurations need a statement.

use std::collections::BTreeSet;

/// The inputs that decide whether a configuration needs a statement: names, or names with values, such as
/// `enable_ipv6 = true`. The guide is generated from them. A remark follows the inputs there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Needed {
    Always,
    /// Only with one of these inputs.
    If(&'static [&'static str], &'static str),
    /// With one of these inputs, and to read a resource that is not in state.
    IfOrImported(&'static [&'static str], &'static str),
    /// Except with one of these inputs. Without any, the remark says who may omit it.
    Unless(&'static [&'static str], &'static str),
}

impl Needed {
    /// When a user may omit the statement; empty if every configuration needs it.
    pub(crate) fn omitted_if(self) -> String {
        let without = |input: &&str| match input.strip_suffix(" = true") {
            Some(name) => format!("`{name} = false`"),
            None => format!("no `{input}`"),
        };
        match self {
            Self::Always => String::new(),
            Self::If(inputs, remark) => list(inputs.iter().map(without), "and") + remark,
            Self::IfOrImported(inputs, remark) => {
                list(inputs.iter().map(without), "and") + ". An import needs it too" + remark
            }
            Self::Unless(inputs, remark) => list(inputs.iter().map(|it| format!("`{it}`")), "or") + remark,
        }
    }

    /// Whether one of these files, or of the resources in them, needs it. Both are in HCL or JSON.
    pub(crate) fn by(self, files: &BTreeSet<String>, resources: &BTreeSet<String>) -> bool {
        let sets = |text: &String, inputs: &[&str]| inputs.iter().any(|input| has(text, input));
        match self {
            Self::Always => true,
            Self::If(inputs, _) => files.iter().any(|text| sets(text, inputs)),
            Self::IfOrImported(inputs, _) => files.iter().any(|text| sets(text, inputs) || imports(text)),
            Self::Unless([], _) => true,
            Self::Unless(inputs, _) => resources.iter().any(|text| !sets(text, inputs)),
        }
    }
}

/// The items with commas, and this word before the last one.
fn list(items: impl Iterator<Item = String>, word: &str) -> String {
    let items: Vec<String> = items.collect();
    match items.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {word} {last}", others.join(", ")),
        _ => items.concat(),
    }
}

/// Whether a file imports a resource, or reads one of another configuration.
fn imports(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("import {") || line.starts_with("data \"fgw_"))
}

/// The beginnings of expressions whose value another place of the configuration determines.
const REFERENCES: &[&str] = &["var.", "local.", "each."];

/// Whether a text sets an input to something, or to what may be the given value.
fn has(text: &str, input: &str) -> bool {
    let (name, wanted) = input.split_once(" = ").map_or((input, None), |(name, value)| (name, Some(value)));
    let is_word = |character: Option<char>| character.is_some_and(|it| it.is_alphanumeric() || it == '_');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let after_name = after.trim_start_matches('"').trim_start();
        let value = after_name.strip_prefix(['=', ':']).map(str::trim_start);
        let is_empty = |value: &str| ["null", "{}", "[]", "\"\""].iter().any(|none| value.starts_with(none));
        !is_word(before.chars().next_back())
            && value.is_some_and(|value| match wanted {
                Some(wanted) => {
                    let value = value.trim_start_matches(['"', '$', '{']);
                    let is_wanted = |rest: &str| !is_word(rest.chars().next());
                    REFERENCES.iter().any(|it| value.starts_with(it))
                        || value.strip_prefix(wanted).is_some_and(is_wanted)
                }
                None => !is_empty(value),
            })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn inputs_are_found_in_both_syntaxes() {
        for (text, input, is_set) in [
            ("  flow_logs = {\n main = {} }", "flow_logs", true),
            ("{\"flow_logs\":{\"main\":{}}}", "flow_logs", true),
            ("my_flow_logs = 1", "flow_logs", false),
            ("flow_logs = {}", "flow_logs", false),
            ("{\"domain_name\":null}", "domain_name", false),
            ("domain_name = \"\"", "domain_name", false),
            ("domain_name    = \"a\"", "domain_name", true),
            ("enable_ipv6 = true", "enable_ipv6 = true", true),
            ("{\"enable_ipv6\": false}", "enable_ipv6 = true", false),
            ("log_destination_type = \"s3\"", "log_destination_type = s3", true),
            ("num_nat_gateways = 01", "num_nat_gateways = 0", false),
            ("enable_ipv6 = var.ipv6", "enable_ipv6 = true", true),
            ("{\"enable_ipv6\": \"${var.ipv6}\"}", "enable_ipv6 = true", true),
        ] {
            assert_eq!(super::has(text, input), is_set, "{text}: {input}");
        }
    }

    #[test]
    fn a_statement_is_needed_by_what_any_configuration_sets() {
        let of = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<super::BTreeSet<_>>();
        let (with, unless) = (super::Needed::If(&["a"], ""), super::Needed::Unless(&["b = false"], ""));
        assert!(with.by(&of(&["", "a = 1"]), &of(&[])) && !with.by(&of(&["b = 1"]), &of(&[])));
        assert!(unless.by(&of(&[]), &of(&["b = false", "b = true"])) && !unless.by(&of(&[]), &of(&["b = false"])));
        assert!(super::Needed::Always.by(&of(&[]), &of(&[])));
        assert_eq!(super::Needed::If(&["a", "b = true"], ", or c").omitted_if(), "no `a` and `b = false`, or c");
        assert_eq!(super::Needed::Unless(&["a = 0", "b = 1"], "").omitted_if(), "`a = 0` or `b = 1`");
    }
}
