//! The services of endpoints. moto lists those of AWS, but with the same properties for most of them, and without
//! services of other accounts.

use std::sync::Mutex;

use super::{Answer, Done, Element, Params, Repair, Request, async_trait, lock, remove_filters};

/// A service that is not in all AZs, and the last letters of its AZs: terraform-aws-modules/terraform-aws-vpc#462.
const IN_SOME_ZONES: (&str, [char; 3]) = ("email-smtp", ['b', 'c', 'd']);

/// Services that moto lists with support for endpoint policies. The first one is recorded, for the second one see
/// awslabs/landing-zone-accelerator-on-aws#224.
const WITHOUT_POLICY: [&str; 2] = ["apprunner.requests", "eks"];

/// A service that moto lists with a private DNS name.
const WITHOUT_PRIVATE_NAME: &str = "apprunner.requests";

/// The services that support IPv6, as recorded and in aws/aws-cdk#33493. All support IPv4.
const WITH_IPV6: [&str; 3] = ["apprunner.requests", "s3", "xray"];

/// The services of other accounts, which require the acceptance of each endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointServices(Mutex<Vec<Element>>);

#[async_trait]
impl Repair for EndpointServices {
    /// moto fails on a filter by name.
    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        if call.name == "DescribeVpcEndpointServices" {
            remove_filters(call, params, |filter| filter == "service-name");
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "DescribeVpcEndpointServices" {
            return Ok(());
        }
        let root = answer.root()?;
        let details = root.child_mut("serviceDetailSet").ok_or("moto returns a list")?;
        let mut regions = call.list("ServiceRegion");
        if regions.is_empty() {
            regions.push(&call.region);
        }
        let local = std::mem::take(&mut details.children);
        details.children = regions.iter().flat_map(|region| in_region(&local, call, region)).collect();
        details.children.extend(self.foreign());
        details.children.retain(|detail| is_listed(call, detail));
        let names =
            details.children.iter().map(|detail| Element::leaf("item", detail.text_of("serviceName"))).collect();
        root.child_mut("serviceNameSet").ok_or("moto returns a list")?.children = names;
        Ok(())
    }
}

impl EndpointServices {
    /// Adds a service of another account.
    pub(in crate::support::proxy) fn add(&self, name: &str, zones: &[&str], private_dns_name: Option<&str>) {
        let labels: Vec<&str> = name.split('.').collect();
        let [.., region, id] = labels.as_slice() else { panic!("{name} is not com.amazonaws.vpce.REGION.ID") };
        let mut detail = Element::leaf("item", "");
        let base = format!("{id}.{region}.vpce.amazonaws.com");
        for (member, value) in [
            ("serviceName", name),
            ("serviceId", id),
            ("serviceRegion", region),
            ("vpcEndpointPolicySupported", "false"),
            ("acceptanceRequired", "true"),
            ("managesVpcEndpoints", "false"),
        ] {
            detail.set(member, value);
        }
        let mut kind = Element::leaf("item", "");
        kind.set("serviceType", "Interface");
        detail.children.push(list("serviceType", vec![kind]));
        detail.children.push(texts("availabilityZoneSet", zones));
        detail.children.push(texts("baseEndpointDnsNameSet", &[&base]));
        detail.children.push(texts("supportedIpAddressTypeSet", &["ipv4"]));
        set_private_names(&mut detail, &Vec::from_iter(private_dns_name));
        lock(&self.0).push(detail);
    }

    fn foreign(&self) -> Vec<Element> {
        lock(&self.0).clone()
    }
}

/// The interface endpoint service of a name.
#[derive(Clone, Debug)]
pub(super) struct Service {
    pub(super) name: String,
    pub(super) region: String,
    /// Empty if the service is in another Region.
    pub(super) zones: Vec<String>,
    pub(super) ip_address_types: Vec<String>,
    pub(super) base_name: String,
    pub(super) private_names: Vec<String>,
    pub(super) supports_policy: bool,
    pub(super) acceptance_required: bool,
    /// Whether there are gateway endpoints of it too.
    pub(super) has_gateway: bool,
}

impl Service {
    /// `None` if there is no such service.
    pub(super) async fn of(call: &Request<'_>, name: &str) -> Result<Option<Self>, String> {
        let region = Some(call.param("ServiceRegion")).filter(|it| !it.is_empty()).unwrap_or(&call.region);
        let local = name.replace(&format!(".{region}."), &format!(".{}.", call.region));
        // An error means that moto has no such service.
        let found = call.ec2("DescribeVpcEndpointServices", &[("ServiceName.1", &local)]).await?;
        let found = found.map_or_else(|_| vec![], |found| found.items("serviceDetailSet").to_vec());
        let mut details = in_region(&found, call, region);
        details.extend(call.repairs.endpoint_services.foreign());
        details.retain(|detail| detail.text_of("serviceName") == name);
        let has_gateway = details.iter().any(|detail| is_of_type(detail, "Gateway"));
        let detail = details.iter().find(|detail| is_of_type(detail, "Interface"));
        Ok(detail.map(|detail| Self {
            name: name.to_owned(),
            region: detail.text_of("serviceRegion").to_owned(),
            zones: detail.items("availabilityZoneSet").iter().map(|zone| zone.text.clone()).collect(),
            ip_address_types: detail.items("supportedIpAddressTypeSet").iter().map(|it| it.text.clone()).collect(),
            base_name: detail.items("baseEndpointDnsNameSet").first().map_or_else(String::new, |it| it.text.clone()),
            private_names: private_names(detail),
            supports_policy: detail.text_of("vpcEndpointPolicySupported") == "true",
            acceptance_required: detail.text_of("acceptanceRequired") == "true",
            has_gateway,
        }))
    }
}

fn is_of_type(detail: &Element, kind: &str) -> bool {
    detail.items("serviceType").iter().any(|item| item.text_of("serviceType") == kind)
}

fn private_names(detail: &Element) -> Vec<String> {
    detail.items("privateDnsNameSet").iter().map(|name| name.text_of("privateDnsName").to_owned()).collect()
}

/// Whether the parameters of the call select the service.
fn is_listed(call: &Request<'_>, detail: &Element) -> bool {
    call.filters().iter().all(|(filter, values)| match *filter {
        "service-name" => values.contains(&detail.text_of("serviceName")),
        "service-type" => values.iter().any(|kind| is_of_type(detail, kind)),
        // moto has applied the others, and services of other accounts have no tags.
        _ => detail.child("acceptanceRequired").is_none_or(|it| it.text != "true"),
    })
}

/// The services of moto with the properties of AWS, and as if they were in this Region. Those in another Region have no
/// AZs: hashicorp/terraform-provider-aws#44186.
fn in_region(details: &[Element], call: &Request<'_>, region: &str) -> Vec<Element> {
    let mut details = details.to_vec();
    for detail in &mut details {
        complete(detail, &call.region);
    }
    if region != call.region {
        let (from, to) = (format!(".{}.", call.region), format!(".{region}."));
        for detail in &mut details {
            rename(detail, &from, &to);
            detail.set("serviceRegion", region);
            detail.children.retain(|member| member.name != "availabilityZoneSet");
        }
    }
    details
}

/// Replaces a label in all names of the service.
fn rename(element: &mut Element, from: &str, to: &str) {
    element.text = element.text.replace(from, to);
    element.children.iter_mut().for_each(|child| rename(child, from, to));
}

/// Sets the properties in which moto differs from AWS.
fn complete(detail: &mut Element, region: &str) {
    let name = detail.text_of("serviceName").to_owned();
    let Some(service) = name.strip_prefix(&format!("com.amazonaws.{region}.")) else { return };
    let is_gateway = is_of_type(detail, "Gateway");
    detail.set("serviceRegion", region);
    let types: &[&str] = if WITH_IPV6.contains(&service) { &["ipv6", "ipv4"] } else { &["ipv4"] };
    detail.children.push(texts("supportedIpAddressTypeSet", types));
    if service == IN_SOME_ZONES.0
        && let Some(zones) = detail.child_mut("availabilityZoneSet")
    {
        zones.children.retain(|zone| zone.text.ends_with(IN_SOME_ZONES.1));
    }
    if WITHOUT_POLICY.contains(&service) {
        detail.set("vpcEndpointPolicySupported", "false");
    }
    // AWS reverses the labels of the service, as in `requests.apprunner`.
    let reversed = service.rsplit('.').collect::<Vec<_>>().join(".");
    for base in detail.items_mut("baseEndpointDnsNameSet") {
        base.text = base.text.replace(&format!("{service}.{region}"), &format!("{reversed}.{region}"));
        if is_gateway {
            base.text = base.text.replace(".vpce.", ".");
        }
    }
    let private: Vec<String> = match service {
        _ if is_gateway || service == WITHOUT_PRIVATE_NAME => vec![],
        "s3" => ["s3", "s3-accesspoint", "s3-control"].map(|it| format!("*.{it}.{region}.amazonaws.com")).into(),
        _ => {
            let of = |it: &str| it.replace(&format!("{service}.{region}"), &format!("{reversed}.{region}"));
            private_names(detail).iter().map(|it| of(it)).collect()
        }
    };
    set_private_names(detail, &private.iter().map(String::as_str).collect::<Vec<_>>());
}

fn set_private_names(detail: &mut Element, names: &[&str]) {
    let members = ["privateDnsName", "privateDnsNameSet", "privateDnsNameVerificationState"];
    detail.children.retain(|member| !members.contains(&member.name.as_str()));
    let Some(first) = names.first() else { return };
    detail.set("privateDnsName", first);
    detail.set("privateDnsNameVerificationState", "verified");
    let item = |name: &&str| {
        let mut item = Element::leaf("item", "");
        item.set("privateDnsName", name);
        item
    };
    detail.children.push(list("privateDnsNameSet", names.iter().map(item).collect()));
}

fn texts(name: &str, texts: &[&str]) -> Element {
    list(name, texts.iter().map(|text| Element::leaf("item", text)).collect())
}

fn list(name: &str, items: Vec<Element>) -> Element {
    let mut list = Element::leaf(name, "");
    list.children = items;
    list
}
