//! The parts that all ARNs have.

/// An ARN by its parts, as they stand in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arn<'a> {
    /// Such as `aws`.
    pub(super) partition: &'a str,
    /// Such as `lambda`.
    pub(super) service: &'a str,
    /// Empty for a service that knows no Regions.
    pub(super) region: &'a str,
    /// Twelve digits, where they have been checked.
    pub(super) account: &'a str,
    /// All the rest, such as `function:orders:live` or `stream/orders`.
    pub(super) resource: &'a str,
}

impl<'a> Arn<'a> {
    /// Takes an ARN apart without a look at the parts. The error is a sentence.
    pub(super) fn split(text: &'a str) -> Result<Arn<'a>, String> {
        let mut parts = text.splitn(6, ':');
        let mut next = || parts.next().unwrap_or_default();
        let ("arn", arn) =
            (next(), Arn { partition: next(), service: next(), region: next(), account: next(), resource: next() })
        else {
            return Err(format!("{text:?} is not an ARN."));
        };
        if arn.resource.is_empty() {
            return Err(format!("{text:?} is not an ARN: it has too few parts."));
        }
        Ok(arn)
    }

    /// Takes an ARN apart that names an account, and a Region unless its service, IAM, knows none.
    pub(super) fn parse(text: &'a str) -> Result<Arn<'a>, String> {
        let arn = Arn::split(text)?;
        let Arn { partition, service, region, account, .. } = arn;
        if !partition.starts_with("aws") || !only(partition, "-") {
            return Err(format!("{text:?} has {partition:?} for a partition."));
        }
        if region.is_empty() != (service == "iam") || !only(region, "-") {
            return Err(format!("{text:?} has {region:?} for a Region."));
        }
        if account.len() != 12 || !account.bytes().all(|it| it.is_ascii_digit()) {
            return Err(format!("{text:?} has {account:?} for an account id, which is twelve digits."));
        }
        Ok(arn)
    }
}

/// Reads the ARN of a role. The error says what is wrong with it, in a sentence.
pub(super) fn check_role(text: &str) -> Result<(), String> {
    let arn = Arn::split(text)?;
    let Some(path) = arn.resource.strip_prefix("role/").filter(|_| arn.service == "iam") else {
        return Err(format!("{text:?} is not the ARN of a role."));
    };
    Arn::parse(text)?;
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() || name.len() > 64 || !only(name, "+=,.@_-") {
        return Err(format!("{text:?} has {name:?} for the name of a role."));
    }
    Ok(())
}

/// Whether a text consists of letters, digits and some other characters.
pub(super) fn only(text: &str, others: &str) -> bool {
    text.chars().all(|it| it.is_ascii_alphanumeric() || others.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_has_six_parts_of_which_the_last_may_have_colons() {
        let arn = Arn::parse("arn:aws-cn:lambda:cn-north-1:123456789012:function:a:live").unwrap();
        assert_eq!((arn.partition, arn.region, arn.resource), ("aws-cn", "cn-north-1", "function:a:live"));
        for text in [
            "",
            "arn",
            "arn:aws:lambda:eu-central-1:123456789012:",
            "arn:azure:lambda:eu-central-1:123456789012:x",
            "arn:aws:lambda::123456789012:x",
            "arn:aws:lambda:eu central:123456789012:x",
            "arn:aws:lambda:eu-central-1:12345678901:x",
            "urn:aws:lambda:eu-central-1:123456789012:x",
        ] {
            assert!(Arn::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_arn_of_a_role_has_no_region_and_may_have_a_path() {
        for text in ["arn:aws:iam::123456789012:role/x", "arn:aws-us-gov:iam::123456789012:role/a/b/x+=,.@_-"] {
            assert_eq!(check_role(text), Ok(()));
        }
        for text in [
            "x",
            "arn:aws:iam::123456789012:user/x",
            "arn:aws:iam::123456789012:role/",
            "arn:aws:iam::123456789012:role/a b",
            "arn:aws:iam::1234:role/x",
            "arn:aws:iam:eu-central-1:123456789012:role/x",
            "arn:aws:sts::123456789012:assumed-role/x/y",
        ] {
            assert!(check_role(text).is_err(), "{text}");
        }
    }
}
