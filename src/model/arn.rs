//! ARNs: their common parts, ARNs and invoke URIs of functions, and the four ways to identify a KMS key.

use std::fmt;

use super::Scope;
use crate::plugin::Check;

/// The parts of an ARN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arn<'a> {
    /// Such as `aws`.
    pub(crate) partition: &'a str,
    /// Such as `lambda`.
    pub(crate) service: &'a str,
    /// Empty for a global service.
    pub(crate) region: &'a str,
    /// Twelve digits if the ARN comes from [`Arn::parse`]; otherwise unchecked.
    pub(crate) account: &'a str,
    /// The rest, such as `function:orders:live` or `stream/orders`.
    pub(crate) resource: &'a str,
}

impl<'a> Arn<'a> {
    /// Splits an ARN without checking its parts. The error is a sentence.
    pub(crate) fn split(text: &'a str) -> Result<Arn<'a>, String> {
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

    /// Splits an ARN and checks its partition, Region and account ID. An IAM ARN must have no Region, any other ARN
    /// must have one. The error is a sentence.
    pub(crate) fn parse(text: &'a str) -> Result<Arn<'a>, String> {
        let arn = Arn::split(text)?;
        let Arn { partition, service, region, account, .. } = arn;
        if !partition.starts_with("aws") || !only(partition, "-") {
            return Err(format!("{text:?} has the invalid partition {partition:?}."));
        }
        if region.is_empty() != (service == "iam") || !only(region, "-") {
            return Err(format!("{text:?} has the invalid Region {region:?}."));
        }
        if !is_account_id(account) {
            return Err(format!("{text:?} has the invalid account ID {account:?}; an account ID is twelve digits."));
        }
        Ok(arn)
    }

    /// Whether it is where AWS requires it. The error is the first part that is not that of the provider. A part that
    /// the ARN leaves out fits, and so does every account while that of the provider is unknown.
    pub(crate) fn place_in<'b>(&self, scope: &'b Scope, needs: Needs) -> Result<(), Foreign<'a, 'b>>
    where
        'a: 'b,
    {
        let account = scope.account.as_deref().unwrap_or(self.account);
        let parts = [
            (true, "partition", self.partition, scope.partition.as_str()),
            (needs.region, "Region", self.region, scope.region.as_str()),
            (needs.account, "account", self.account, account),
        ];
        let is_foreign =
            |(is_needed, _, its, ours): &(bool, _, &str, &str)| *is_needed && !its.is_empty() && its != ours;
        match parts.into_iter().find(is_foreign) {
            Some((_, part, its, ours)) => Err(Foreign { part, its, ours }),
            None => Ok(()),
        }
    }
}

/// The parts of an ARN that must be those of the provider, besides the partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    pub(crate) region: bool,
    pub(crate) account: bool,
}

impl Needs {
    /// An object in the same account and Region, or a role of the account: the ARN of a role has no Region.
    pub(crate) const ACCOUNT: Needs = Needs { region: true, account: true };
    /// An object of any account in the same Region.
    pub(crate) const REGION: Needs = Needs { region: true, account: false };
    /// An object in the same partition.
    pub(crate) const PARTITION: Needs = Needs { region: false, account: false };
}

/// A part of an ARN that is not that of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign<'a, 'b> {
    /// `partition`, `Region` or `account`.
    pub(crate) part: &'static str,
    pub(crate) its: &'a str,
    pub(crate) ours: &'b str,
}

/// The check of an input with the ARN of an IAM role.
pub(crate) fn role() -> Check {
    Check::text("an ARN such as arn:aws:iam::123456789012:role/name", check_role)
}

/// Checks the ARN of an IAM role in any partition. The error is a sentence.
pub(crate) fn check_role(text: &str) -> Result<(), String> {
    let arn = Arn::split(text).ok().filter(|arn| arn.service == "iam");
    let Some(rest) = arn.and_then(|arn| arn.resource.strip_prefix("role/")) else {
        return Err(format!("{text:?} is not the ARN of a role."));
    };
    Arn::parse(text)?;
    let (path, name) = rest.rsplit_once('/').unwrap_or(("", rest));
    if name.is_empty() || name.len() > 64 || !only(name, "+=,.@_-") {
        return Err(format!("{text:?} has the invalid role name {name:?}."));
    }
    // IAM allows 512 characters including the slashes at both ends.
    if path.len() > 510 || !path.bytes().all(|it| it.is_ascii_graphic()) {
        return Err(format!("{text:?} has the invalid role path {path:?}."));
    }
    Ok(())
}

/// Whether the text is an account ID.
pub(crate) fn is_account_id(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|it| it.is_ascii_digit())
}

/// Whether a text consists of ASCII letters, digits and the characters in `others`.
pub(crate) fn only(text: &str, others: &str) -> bool {
    text.chars().all(|it| it.is_ascii_alphanumeric() || others.contains(it))
}

/// The ARN of a Lambda function, optionally with an alias or version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionArn {
    /// Such as `aws`.
    pub partition: String,
    /// Region of the function, which may differ from that of the gateway.
    pub region: String,
    /// Account of the function, twelve digits.
    pub account: String,
    /// Name of the function.
    pub name: String,
    /// Alias or version.
    pub qualifier: Option<String>,
}

impl FunctionArn {
    /// Parses an ARN. The error is a sentence.
    pub fn parse(text: &str) -> Result<FunctionArn, String> {
        let arn = Arn::split(text)?;
        if arn.service == "apigateway" {
            return Err(format!("{text:?} is an invoke URI, not the ARN of a function."));
        }
        let Some(rest) = arn.resource.strip_prefix("function:").filter(|_| arn.service == "lambda") else {
            return Err(format!("{text:?} is not the ARN of a Lambda function."));
        };
        let Arn { partition, region, account, .. } = Arn::parse(text)?;
        let parts: Vec<&str> = rest.split(':').collect();
        let (name, qualifier) = match parts.as_slice() {
            [name] => (*name, None),
            [name, qualifier] => (*name, Some(*qualifier)),
            _ => return Err(format!("{text:?} has too many parts for the ARN of a function.")),
        };
        check_name(name, qualifier).map_err(|problem| format!("{text:?}: {problem}"))?;
        Ok(FunctionArn {
            partition: partition.to_string(),
            region: region.to_string(),
            account: account.to_string(),
            name: name.to_string(),
            qualifier: qualifier.map(str::to_string),
        })
    }

    /// Parses the ARN in an invoke URI, the URI by which API Gateway calls a function. `None` for any other URI.
    pub fn parse_invoke_uri(uri: &str) -> Option<FunctionArn> {
        let (prefix, path) = uri.split_once(":lambda:path/")?;
        let mut parts = prefix.split(':');
        let is_gateway = parts.next() == Some("arn") && parts.next().is_some() && parts.next() == Some("apigateway");
        let function = path.strip_prefix("2015-03-31/functions/")?.strip_suffix("/invocations")?;
        is_gateway.then(|| FunctionArn::parse(function).ok()).flatten()
    }

    /// The URI by which API Gateway calls this function.
    pub fn invoke_uri(&self) -> String {
        let FunctionArn { partition, region, .. } = self;
        format!("arn:{partition}:apigateway:{region}:lambda:path/2015-03-31/functions/{self}/invocations")
    }

    /// The ARN without alias or version. A statement belongs to the policy of the function with this ARN.
    pub fn unqualified(&self) -> String {
        let FunctionArn { partition, region, account, name, .. } = self;
        format!("arn:{partition}:lambda:{region}:{account}:function:{name}")
    }

    /// The short form: `name` or `name:qualifier`.
    pub fn short(&self) -> String {
        match &self.qualifier {
            Some(qualifier) => format!("{}:{qualifier}", self.name),
            None => self.name.clone(),
        }
    }
}

impl fmt::Display for FunctionArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unqualified())?;
        match &self.qualifier {
            Some(qualifier) => write!(f, ":{qualifier}"),
            None => Ok(()),
        }
    }
}

/// Splits `name` or `name:qualifier`. The error is a sentence.
pub(crate) fn parse_short(text: &str) -> Result<(String, Option<String>), String> {
    let (name, qualifier) = match text.split_once(':') {
        Some((name, qualifier)) => (name, Some(qualifier)),
        None => (text, None),
    };
    check_name(name, qualifier)?;
    Ok((name.to_string(), qualifier.map(str::to_string)))
}

fn check_name(name: &str, qualifier: Option<&str>) -> Result<(), String> {
    if name.is_empty() || name.len() > 64 || !only(name, "-_") {
        return Err(format!("{name:?} is not a function name: 1 to 64 letters, digits, hyphens and underscores."));
    }
    match qualifier {
        // For $LATEST, AddPermission returns an error.
        Some("$LATEST") => Err("Lambda allows no permissions for $LATEST, so no AWS service could call it.".into()),
        Some(it) if it.is_empty() || it.len() > 128 || !only(it, "-_") => {
            Err(format!("{it:?} is neither an alias nor a version."))
        }
        _ => Ok(()),
    }
}

/// A customer-managed KMS key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KmsKey {
    /// The ARN of a key, which CloudWatch Logs accepts directly.
    Arn(String),
    /// A key ID, an alias name or an alias ARN, for which KMS returns the ARN of the key.
    Lookup(String),
}

impl KmsKey {
    /// The check of an input with any of the four.
    pub(crate) fn check() -> Check {
        let rule = "the ID or ARN of a customer-managed key, its alias as alias/NAME, or the alias's ARN";
        Check::text(rule, |key| KmsKey::parse(key).map(|_| ()))
    }

    /// The check of an input with the ARN of a key.
    pub(crate) fn check_arn() -> Check {
        Check::text("the ARN of a customer-managed key", |key| match KmsKey::parse(key)? {
            KmsKey::Arn(_) => Ok(()),
            KmsKey::Lookup(_) => Err(format!("{key:?} is not the ARN of a KMS key.")),
        })
    }

    /// Parses a key ARN, key ID, alias name or alias ARN. The error is a sentence.
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
                    Err(format!("{text:?} is an AWS managed key, which log groups cannot use."))
                }
                _ if name.is_empty() || resource.len() > 256 || !only(name, "/_-") => {
                    Err(format!("{text:?} has the invalid alias {name:?}; an alias is letters, digits, and / _ -."))
                }
                _ => Ok(KmsKey::Lookup(text.to_string())),
            };
        }
        match (is_arn, resource.strip_prefix("key/")) {
            (true, Some(id)) if is_key_id(id) => Ok(KmsKey::Arn(text.to_string())),
            (false, None) if is_key_id(text) => Ok(KmsKey::Lookup(text.to_string())),
            _ => Err(format!("{text:?} is neither the ID or ARN of a key, nor an alias or its ARN.")),
        }
    }
}

/// Whether the text is a UUID or the ID of a multi-Region key.
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

    #[test]
    fn arn_has_six_parts_and_the_last_may_contain_colons() {
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
    fn only_the_needed_parts_of_a_place_must_be_ours() {
        let scope = |partition: &str, region: &str, account: Option<&str>| Scope {
            partition: partition.into(),
            region: region.into(),
            account: account.map(str::to_string),
            ..Scope::default()
        };
        let ours = Some("123456789012");
        let places = [("aws", "eu-central-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")];
        for (partition, region) in places {
            let here = scope(partition, region, ours);
            let first =
                |text: &str, needs: Needs| Arn::split(text).unwrap().place_in(&here, needs).err().map(|it| it.part);
            let arn = |region: &str, account: &str| format!("arn:{partition}:logs:{region}:{account}:log-group:/net");
            let (own, shared) = (arn(region, "123456789012"), arn(region, "999999999999"));
            assert_eq!(first(&own, Needs::ACCOUNT), None, "{own}");
            assert_eq!(first(&shared, Needs::ACCOUNT), Some("account"));
            assert_eq!(first(&shared, Needs::REGION), None);
            let far = arn("elsewhere-1", "999999999999");
            assert_eq!(first(&far, Needs::ACCOUNT), Some("Region"));
            assert_eq!(first(&far, Needs { region: false, account: true }), Some("account"));
            assert_eq!(first(&far, Needs::PARTITION), None);
            assert_eq!(first("arn:aws-iso:s3:::bucket", Needs::PARTITION), Some("partition"));
            assert_eq!(first(&format!("arn:{partition}:s3:::bucket"), Needs::ACCOUNT), None);
            let role = |account: &str| format!("arn:{partition}:iam::{account}:role/flow");
            assert_eq!(first(&role("123456789012"), Needs::ACCOUNT), None);
            assert_eq!(first(&role("999999999999"), Needs::ACCOUNT), Some("account"));
            let anywhere = scope(partition, region, None);
            assert_eq!(Arn::split(&shared).unwrap().place_in(&anywhere, Needs::ACCOUNT), Ok(()));
        }
    }

    #[test]
    fn role_arn_has_no_region_and_may_have_a_path() {
        let (name, path) = ("n".repeat(64), "p".repeat(510));
        for text in [
            "arn:aws:iam::123456789012:role/x",
            "arn:aws-cn:iam::123456789012:role/x",
            "arn:aws-iso-b:iam::123456789012:role/x",
            "arn:aws-eusc:iam::123456789012:role/x",
            "arn:aws-us-gov:iam::123456789012:role/a/b/x+=,.@_-",
            "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_x",
            &format!("arn:aws:iam::123456789012:role/{path}/{name}"),
        ] {
            assert_eq!(check_role(text), Ok(()));
        }
        for text in [
            "x",
            "role/x",
            "arn:aws:iam::123456789012:user/x",
            "arn:aws:iam::123456789012:role",
            "arn:aws:iam::123456789012:role/",
            "arn:aws:iam::123456789012:role/a/",
            "arn:aws:iam::123456789012:role/a b",
            "arn:aws:iam::123456789012:role/a b/x",
            "arn:aws:iam::123456789012:role/ö",
            "arn:aws:iam::1234:role/x",
            "arn:aws:iam::12345678901x:role/x",
            "arn:aws:iam:eu-central-1:123456789012:role/x",
            "arn:azure:iam::123456789012:role/x",
            "arn:aws:sts::123456789012:assumed-role/x/y",
            &format!("arn:aws:iam::123456789012:role/{name}n"),
            &format!("arn:aws:iam::123456789012:role/p{path}/x"),
        ] {
            assert!(check_role(text).is_err(), "{text}");
        }
        assert_eq!(check_role("deploy"), Err("\"deploy\" is not the ARN of a role.".into()));
    }

    #[test]
    fn function_arns_of_all_partitions_round_trip() {
        for text in [
            "arn:aws:lambda:eu-central-1:123456789012:function:orders",
            "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:orders:live",
            "arn:aws-cn:lambda:cn-north-1:123456789012:function:a_b-c:7",
        ] {
            assert_eq!(FunctionArn::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_not_function_arns() {
        for text in [
            "orders",
            "arn:aws:lambda:eu-central-1:12345:function:orders",
            "arn:aws:lambda:eu-central-1:123456789012:layer:orders",
            "arn:aws:s3:::bucket",
            "arn:aws:lambda::123456789012:function:orders",
            "arn:aws:lambda:eu-central-1:123456789012:function:or ders",
            "arn:aws:lambda:eu-central-1:123456789012:function:orders:live:more",
            "arn:aws:lambda:eu-central-1:123456789012:function:orders:$LATEST",
        ] {
            assert!(FunctionArn::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn invoke_uri_round_trips() {
        let arn = FunctionArn::parse("arn:aws:lambda:eu-central-1:123456789012:function:auth:live").unwrap();
        assert_eq!(FunctionArn::parse_invoke_uri(&arn.invoke_uri()), Some(arn));
        assert_eq!(FunctionArn::parse_invoke_uri("arn:aws:apigateway:eu-central-1:sqs:action/SendMessage"), None);
    }

    const ID: &str = "1234abcd-12ab-34cd-56ef-1234567890ab";

    #[test]
    fn only_kms_key_arns_need_no_lookup() {
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
    fn other_texts_are_not_customer_managed_keys() {
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
        assert!(managed.contains("AWS managed"), "{managed}");
    }
}
