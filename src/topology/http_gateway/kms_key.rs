//! The four ways in which people name a KMS key.

use super::arn::{Arn, only};

/// A customer-managed key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KmsKey {
    /// The ARN of a key, which the log service takes as it is.
    Arn(String),
    /// A key id, an alias name or an alias ARN, for which KMS knows the key's ARN.
    Lookup(String),
}

impl KmsKey {
    /// Reads any of the four. The error says what is wrong with it, in a sentence.
    pub fn parse(text: &str) -> Result<KmsKey, String> {
        let resource = match text.starts_with("arn:") {
            false => text,
            true => {
                let arn = Arn::split(text)?;
                if arn.service != "kms" {
                    return Err(format!("{text:?} is not the ARN of a KMS key or alias."));
                }
                Arn::parse(text)?;
                arn.resource
            }
        };
        let is_arn = resource.len() != text.len();
        if let Some(name) = resource.strip_prefix("alias/") {
            return match name {
                _ if name.starts_with("aws/") => {
                    Err(format!("{text:?} is a key that AWS manages, which log groups cannot use."))
                }
                _ if name.is_empty() || resource.len() > 256 || !only(name, "/_-") => {
                    Err(format!("{text:?} has {name:?} for an alias, which is letters, digits, and / _ -."))
                }
                _ => Ok(KmsKey::Lookup(text.to_string())),
            };
        }
        match (is_arn, resource.strip_prefix("key/")) {
            (true, Some(id)) if is_key_id(id) => Ok(KmsKey::Arn(text.to_string())),
            (false, None) if is_key_id(text) => Ok(KmsKey::Lookup(text.to_string())),
            _ => Err(format!("{text:?} is neither the id nor the ARN of a key, nor an alias or its ARN.")),
        }
    }
}

/// Whether this is a UUID, or the id of a multi-Region key.
fn is_key_id(text: &str) -> bool {
    let is_hexadecimal = |text: &str| text.bytes().all(|it| it.is_ascii_hexdigit());
    if let Some(digits) = text.strip_prefix("mrk-") {
        return digits.len() == 32 && is_hexadecimal(digits);
    }
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.into_iter().all(is_hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "1234abcd-12ab-34cd-56ef-1234567890ab";

    #[test]
    fn the_arn_of_a_key_is_used_as_it_is_and_everything_else_looked_up() {
        let multi_region = format!("mrk-{}", "0123456789abcdef".repeat(2));
        for id in [ID, &multi_region] {
            let arn = format!("arn:aws:kms:eu-central-1:123456789012:key/{id}");
            assert_eq!(KmsKey::parse(&arn), Ok(KmsKey::Arn(arn)));
            assert_eq!(KmsKey::parse(id), Ok(KmsKey::Lookup(id.to_string())));
        }
        for alias in ["alias/logs", "alias/team/logs-1_x", "arn:aws-cn:kms:cn-north-1:123456789012:alias/logs"] {
            assert_eq!(KmsKey::parse(alias), Ok(KmsKey::Lookup(alias.to_string())));
        }
    }

    #[test]
    fn what_names_no_customer_managed_key_is_refused() {
        for text in [
            "",
            "logs",
            "1234abcd",
            "1234abcd-12ab-34cd-56ef-1234567890ag",
            "mrk-12",
            "key/1234abcd-12ab-34cd-56ef-1234567890ab",
            "alias/",
            "alias/a b",
            "alias/aws/logs",
            "arn:aws:kms:eu-central-1:123456789012:alias/aws/logs",
            "arn:aws:kms:eu-central-1:123456789012:key/logs",
            "arn:aws:kms:eu-central-1:123456789012:1234abcd-12ab-34cd-56ef-1234567890ab",
            "arn:aws:kms::123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
            "arn:aws:s3:::key",
        ] {
            assert!(KmsKey::parse(text).is_err(), "{text}");
        }
        let managed = KmsKey::parse("alias/aws/logs").unwrap_err();
        assert!(managed.contains("AWS manages"), "{managed}");
    }
}
