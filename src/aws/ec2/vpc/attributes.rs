//! The attributes that `DescribeVpcAttribute` and `ModifyVpcAttribute` read and set, one with each call.

use aws_sdk_ec2::operation::describe_vpc_attribute::DescribeVpcAttributeOutput;
use aws_sdk_ec2::operation::modify_vpc_attribute::builders::ModifyVpcAttributeFluentBuilder;
use aws_sdk_ec2::types::{AttributeBooleanValue, VpcAttributeName};
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::Failure;
use crate::model::{Input, Vpc};

/// One of them.
struct Attribute {
    name: VpcAttributeName,
    /// Its value in a new VPC.
    initial: bool,
    input: fn(&mut Vpc) -> &mut Input<bool>,
    value: fn(&DescribeVpcAttributeOutput) -> Option<&AttributeBooleanValue>,
    set: fn(ModifyVpcAttributeFluentBuilder, AttributeBooleanValue) -> ModifyVpcAttributeFluentBuilder,
}

/// All of them, in the order in which AWS accepts that they are turned on: DNS hostnames require DNS support.
const ALL: [Attribute; 3] = [
    Attribute {
        name: VpcAttributeName::EnableDnsSupport,
        initial: true,
        input: |vpc| &mut vpc.enable_dns_support,
        value: DescribeVpcAttributeOutput::enable_dns_support,
        set: ModifyVpcAttributeFluentBuilder::enable_dns_support,
    },
    Attribute {
        name: VpcAttributeName::EnableDnsHostnames,
        initial: false,
        input: |vpc| &mut vpc.enable_dns_hostnames,
        value: DescribeVpcAttributeOutput::enable_dns_hostnames,
        set: ModifyVpcAttributeFluentBuilder::enable_dns_hostnames,
    },
    Attribute {
        name: VpcAttributeName::EnableNetworkAddressUsageMetrics,
        initial: false,
        input: |vpc| &mut vpc.enable_network_address_usage_metrics,
        value: DescribeVpcAttributeOutput::enable_network_address_usage_metrics,
        set: ModifyVpcAttributeFluentBuilder::enable_network_address_usage_metrics,
    },
];

/// The values, in the same order.
pub(in crate::aws::ec2) type Attributes = [bool; ALL.len()];

/// The attributes of a new VPC.
pub(super) fn initial() -> Attributes {
    ALL.map(|attribute| attribute.initial)
}

/// The attributes as AWS returns them, with one concurrent call for each.
pub(in crate::aws::ec2) async fn read_attributes(session: &Session, id: &str) -> Result<Attributes, Failure> {
    let found: Vec<bool> = join_all(ALL.iter().map(|attribute| read(session, id, attribute)))
        .await
        .into_iter()
        .collect::<Result<_, _>>()?;
    Ok(std::array::from_fn(|index| found[index]))
}

/// Writes them into a spec.
pub(super) fn show(attributes: Attributes, spec: &mut Vpc) {
    for (attribute, value) in ALL.iter().zip(attributes) {
        *(attribute.input)(spec) = Input::Known(value);
    }
}

/// The attributes of a spec.
pub(super) fn wanted(operation: &Operation<'_>, spec: &Vpc) -> Result<Attributes, Failure> {
    let mut spec = spec.clone();
    let mut wanted = initial();
    for (attribute, value) in ALL.iter().zip(&mut wanted) {
        *value = *operation.known((attribute.input)(&mut spec))?;
    }
    Ok(wanted)
}

/// The indices of the attributes that change, in an order that AWS accepts: the reverse to turn them off.
fn changes(from: Attributes, to: Attributes) -> Vec<usize> {
    let changed = |index: &usize| from[*index] != to[*index];
    let (on, off): (Vec<usize>, Vec<usize>) = (0..ALL.len()).filter(changed).partition(|index| to[*index]);
    off.into_iter().rev().chain(on).collect()
}

/// Sends one call for each change, and waits until AWS returns the new value, because the next change may depend on it.
pub(super) async fn apply(
    operation: &Operation<'_>,
    id: &str,
    from: Attributes,
    to: Attributes,
) -> Result<(), Failure> {
    for index in changes(from, to) {
        let (attribute, value) = (&ALL[index], to[index]);
        let wanted = AttributeBooleanValue::builder().value(value).build();
        operation
            .retry_until_visible(&[id], || async {
                let call = (attribute.set)(operation.session.ec2.modify_vpc_attribute().vpc_id(id), wanted.clone());
                call.send().await.map(|_| ()).or_failure("ModifyVpcAttribute")
            })
            .await?;
        wait::until("DescribeVpcAttribute", &operation.deadlines(wait::PROPAGATION), wait::SECONDS, || async {
            let shown = read(operation.session, id, attribute).await?;
            Ok(match shown == value {
                true => Poll::Done(()),
                false => Poll::Pending(format!("{} is still {shown}", attribute.name.as_str())),
            })
        })
        .await?;
    }
    Ok(())
}

async fn read(session: &Session, id: &str, attribute: &Attribute) -> Result<bool, Failure> {
    let call = session.ec2.describe_vpc_attribute().vpc_id(id).attribute(attribute.name.clone());
    let answer = call.send().await.or_failure("DescribeVpcAttribute")?;
    let value = (attribute.value)(&answer).and_then(AttributeBooleanValue::value);
    value.ok_or_else(|| incomplete_answer("DescribeVpcAttribute", attribute.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Attributes = [true, true, false];
    const OFF: Attributes = [false, false, false];

    #[test]
    fn dns_support_is_turned_on_first_and_off_last() {
        assert_eq!(changes(OFF, ON), [0, 1]);
        assert_eq!(changes(ON, OFF), [1, 0]);
    }

    #[test]
    fn only_changed_attributes_are_set() {
        assert!(changes(initial(), initial()).is_empty());
        assert_eq!(changes(initial(), ON), [1]);
    }
}
