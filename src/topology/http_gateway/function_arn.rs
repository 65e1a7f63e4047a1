//! ARNs of functions, and the URIs by which API Gateway calls them.

use std::fmt;

use super::arn::{Arn, only};

/// The ARN of a Lambda function, with an alias or version where one is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionArn {
    /// Such as `aws`.
    pub partition: String,
    /// Region of the function, which need not be the gateway's.
    pub region: String,
    /// Account of the function, twelve digits.
    pub account: String,
    /// Name of the function.
    pub name: String,
    /// Alias or version.
    pub qualifier: Option<String>,
}

impl FunctionArn {
    /// Reads an ARN. The error says what is wrong with it, in a sentence.
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
            _ => return Err(format!("{text:?} has parts that no function ARN has.")),
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

    /// Reads an ARN out of the URI by which API Gateway calls it. `None` where the URI calls something else.
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

    /// The ARN without alias or version, which names the function whose policy holds a statement.
    pub fn unqualified(&self) -> String {
        let FunctionArn { partition, region, account, name, .. } = self;
        format!("arn:{partition}:lambda:{region}:{account}:function:{name}")
    }

    /// `name` or `name:qualifier`, as people say it.
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

/// Splits `name` or `name:qualifier`. The error says what is wrong with it, in a sentence.
pub(super) fn parse_short(text: &str) -> Result<(String, Option<String>), String> {
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
        // Lambda answers AddPermission for $LATEST with an error.
        Some("$LATEST") => Err("Lambda takes no permissions for $LATEST, and without them nothing can call it.".into()),
        Some(it) if it.is_empty() || it.len() > 128 || !only(it, "-_") => {
            Err(format!("{it:?} is neither an alias nor a version."))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_of_any_partition_is_read_and_written_back() {
        for text in [
            "arn:aws:lambda:eu-central-1:123456789012:function:orders",
            "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:orders:live",
            "arn:aws-cn:lambda:cn-north-1:123456789012:function:a_b-c:7",
        ] {
            assert_eq!(FunctionArn::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_function_arn_is_refused() {
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
    fn an_invoke_uri_leads_back_to_its_function() {
        let arn = FunctionArn::parse("arn:aws:lambda:eu-central-1:123456789012:function:auth:live").unwrap();
        assert_eq!(FunctionArn::parse_invoke_uri(&arn.invoke_uri()), Some(arn));
        assert_eq!(FunctionArn::parse_invoke_uri("arn:aws:apigateway:eu-central-1:sqs:action/SendMessage"), None);
    }
}
