//! IAM policies of endpoints: their form, and whether two of them mean the same, because AWS returns another text than
//! the one that was sent.

use serde_json::{Map, Value};

use super::LeftBehind;
use crate::plugin::{Check, Input};

/// The policy that AWS attaches to an endpoint without a policy.
pub(crate) const FULL_ACCESS: &str =
    r#"{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#;

/// The check of a policy.
pub(crate) fn policy_document() -> Check {
    Check::text("a policy in JSON, with jsonencode() or the aws_iam_policy_document data source", |text| {
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(fields) if !fields.contains_key("Statement") => Err("The policy has no Statement.".to_string()),
            Ok(_) => check_placeholders(text),
            Err(error) => Err(format!("The policy is not a JSON object: {error}.")),
        }
    })
}

/// The text in a policy that is replaced by the ID of the VPC of the endpoint. IAM has no variables that begin like it.
const OWN_VPC: &str = "${fgw:vpc_id}";

fn check_placeholders(text: &str) -> Result<(), String> {
    let mut others = text.match_indices("${fgw:").map(|(at, _)| &text[at..]).filter(|it| !it.starts_with(OWN_VPC));
    others.next().map_or(Ok(()), |it| {
        let name = it.find('}').map_or(it, |end| &it[..=end]);
        Err(format!("The policy contains {name}. The provider replaces only {OWN_VPC}."))
    })
}

/// The policy of an endpoint as AWS gets it, with the ID of its VPC.
pub fn policy_in_vpc(policy: &str, vpc_id: &str) -> String {
    policy.replace(OWN_VPC, vpc_id)
}

/// The policy of an endpoint, if that of the one in its place is another one.
pub(crate) fn lost_policy(old: &Input<Option<String>>, new: &Input<Option<String>>) -> Option<LeftBehind> {
    let Input::Known(Some(policy)) = old else { return None };
    let is_same = matches!(new, Input::Known(Some(new)) if is_same_policy(policy, new));
    let remedy = "Set this policy in the input of the endpoint: it restricts what the endpoint gives access to.";
    (!is_same).then(|| LeftBehind::protecting(format!("policy {}", super::printable(policy)), remedy))
}

/// The policy of an endpoint as AWS returns it, or the text of the applied one if both mean the same. `None` for full
/// access, unless the applied text grants full access.
pub fn shown_policy(shown: Option<&str>, applied: Option<&str>, vpc_id: &str) -> Option<String> {
    let shown = shown.filter(|text| !text.is_empty()).unwrap_or(FULL_ACCESS);
    match applied {
        Some(applied) if is_same_policy(&policy_in_vpc(applied, vpc_id), shown) => Some(applied.to_string()),
        _ if is_same_policy(FULL_ACCESS, shown) => None,
        _ => Some(shown.to_string()),
    }
}

/// Whether two policies mean the same. Texts that are not JSON are compared literally.
pub fn is_same_policy(one: &str, other: &str) -> bool {
    match (serde_json::from_str(one), serde_json::from_str(other)) {
        (Ok(one), Ok(other)) => policy(one) == policy(other),
        _ => one == other,
    }
}

fn policy(document: Value) -> Value {
    let mut document = canonical(document);
    if let Value::Object(fields) = &mut document {
        // IAM's default version.
        fields.entry("Version").or_insert_with(|| "2008-10-17".into());
    }
    document
}

/// Sorts lists, which are sets, replaces a list of one element by the element, and converts booleans and numbers to
/// text. Removes an empty `Sid`, which AWS returns for a statement without one.
fn canonical(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(canonical).collect();
            items.sort_by_cached_key(Value::to_string);
            items.dedup();
            if items.len() == 1 { items.remove(0) } else { Value::Array(items) }
        }
        Value::Object(fields) => {
            let is_set = |(name, value): &(String, Value)| !(name == "Sid" && value == "");
            let fields = fields.into_iter().filter(is_set).map(|(name, value)| match name.as_str() {
                "Principal" | "NotPrincipal" => (name, principal(value)),
                _ => (name, canonical(value)),
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Bool(_) | Value::Number(_) => Value::String(value.to_string()),
        other => other,
    }
}

/// `{"AWS": "*"}` means `"*"`, and an account id means the ARN of its root.
fn principal(value: Value) -> Value {
    let value = match value {
        Value::Object(mut fields) => {
            if let Some(accounts) = fields.remove("AWS") {
                let accounts = match accounts {
                    Value::Array(items) => Value::Array(items.into_iter().map(account).collect()),
                    one => account(one),
                };
                fields.insert("AWS".to_string(), accounts);
            }
            canonical(Value::Object(fields))
        }
        other => canonical(other),
    };
    match &value {
        Value::Object(fields) if fields.len() == 1 && fields.get("AWS") == Some(&Value::from("*")) => "*".into(),
        _ => value,
    }
}

fn account(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let id = text.strip_prefix("arn:").and_then(|rest| rest.split_once(":iam::")).map(|(_, rest)| rest);
    match id.and_then(|rest| rest.strip_suffix(":root")) {
        Some(id) => Value::from(id),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equivalent_policy_keeps_its_applied_text() {
        let applied = r#"{"Statement": {"Effect": "Allow", "Principal": {"AWS": ["*"]},
            "Action": ["s3:PutObject", "s3:GetObject"], "Resource": ["*"]}}"#;
        let returned = r#"{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*",
            "Action":["s3:GetObject","s3:PutObject"],"Resource":"*"}]}"#;
        assert_eq!(shown_policy(Some(returned), Some(applied), "vpc-1").as_deref(), Some(applied));
        let narrower = returned.replace("s3:PutObject", "s3:ListBucket");
        assert_eq!(shown_policy(Some(&narrower), Some(applied), "vpc-1"), Some(narrower.clone()));
    }

    #[test]
    fn the_id_of_the_own_vpc_is_shown_by_its_placeholder() {
        let text = r#"{"Statement":[{"Condition":{"StringEquals":{"aws:SourceVpc":"${fgw:vpc_id}"}}}]}"#;
        let of = |id: &str| text.replace(OWN_VPC, id);
        assert_eq!(policy_in_vpc(text, "vpc-1"), of("vpc-1"));
        assert_eq!(shown_policy(Some(&of("vpc-1")), Some(text), "vpc-1").as_deref(), Some(text));
        assert_eq!(shown_policy(Some(&of("vpc-2")), Some(text), "vpc-1"), Some(of("vpc-2")), "another VPC is drift");
        assert_eq!(shown_policy(Some(&of("vpc-1")), None, "vpc-1"), Some(of("vpc-1")), "an import writes the ID");
        assert_eq!(check_placeholders(text), Ok(()));
        let unknown = check_placeholders(&text.replace("vpc_id", "vpc")).unwrap_err();
        assert_eq!(unknown, "The policy contains ${fgw:vpc}. The provider replaces only ${fgw:vpc_id}.");
    }

    #[test]
    fn full_access_reads_as_no_policy() {
        assert_eq!(shown_policy(Some(FULL_ACCESS), None, "vpc-1"), None);
        assert_eq!(shown_policy(None, None, "vpc-1"), None);
        assert_eq!(shown_policy(Some(FULL_ACCESS), Some(FULL_ACCESS), "vpc-1").as_deref(), Some(FULL_ACCESS));
    }

    #[test]
    fn a_version_changes_the_meaning_of_a_policy() {
        let newer = FULL_ACCESS.replace("2008-10-17", "2012-10-17");
        assert!(!is_same_policy(FULL_ACCESS, &newer));
    }

    #[test]
    fn an_empty_sid_equals_an_absent_one() {
        let with = |sid: &str| {
            let statement = r#""Effect":"Allow","Principal":{"AWS":"*"},"Action":"s3:GetObject","Resource":"*""#;
            format!(r#"{{"Version":"2012-10-17","Statement":[{{{sid}{statement}}}]}}"#)
        };
        assert!(is_same_policy(&with(""), &with(r#""Sid":"","#)));
        assert!(!is_same_policy(&with(""), &with(r#""Sid":"read","#)));
        let full = FULL_ACCESS.replace(r#""Effect""#, r#""Sid":"","Effect""#);
        assert_eq!(shown_policy(Some(&full), None, "vpc-1"), None);
    }

    #[test]
    fn an_account_id_equals_its_root_arn() {
        let id = r#"{"Statement":[{"Principal":{"AWS":"123456789012"}}]}"#;
        let arn = r#"{"Statement":[{"Principal":{"AWS":"arn:aws:iam::123456789012:root"}}]}"#;
        assert!(is_same_policy(id, arn));
    }
}
