//! What an update sends, for every kind of object: each property alone, and nothing if nothing differs. So an update
//! that has failed at any of its calls sends the rest next time, or the way back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::recorded::{Answer, Recorded, RecordedRequest, run};
use crate::cloud::{Cloud, Failure, OpContext, Recorder};
use crate::model::{
    Api, ApiMapping, DefaultSecurityGroup, Input, Integration, Key, Object, SecurityGroup, Spec, TopologyKind,
    Unfinished,
};

/// Whether a call changes something.
fn is_change(request: &RecordedRequest) -> bool {
    !["Describe", "GET ", "List"].iter().any(|prefix| request.call.starts_with(prefix))
}

fn xml(action: &str, inside: &str) -> Answer {
    Answer::Xml(200, format!("<{action}Response><requestId>req-1</requestId>{inside}</{action}Response>"))
}

const TAGS: &str = "<tagSet><item><key>fgw:resource</key><value>theirs</value></item><item><key>fgw:object</key>\
                    <value>theirs</value></item></tagSet>";

/// An account with this object that answers reads, and denies all changes.
fn account(object: &Spec) -> Recorded {
    let subnet = "<item><subnetId>subnet-1</subnetId><state>available</state></item>";
    let table = "<item><routeTableId>rtb-old</routeTableId><associationSet><item><routeTableAssociationId>id\
                 </routeTableAssociationId><subnetId>subnet-1</subnetId><associationState><state>associated</state>\
                 </associationState></item></associationSet></item>";
    let endpoint = format!(
        "<item><vpcEndpointId>id</vpcEndpointId><vpcId>vpc-1</vpcId><state>available</state><subnetIdSet>\
         <item>subnet-1</item><item>subnet-9</item></subnetIdSet><groupSet><item><groupId>sg-1</groupId></item><item>\
         <groupId>sg-9</groupId></item></groupSet>{TAGS}</item>"
    );
    let acl = format!(
        "<item><networkAclId>acl-9</networkAclId><vpcId>vpc-1</vpcId><associationSet><item>\
         <networkAclAssociationId>aclassoc-1</networkAclAssociationId><networkAclId>acl-9</networkAclId>\
         <subnetId>subnet-1</subnetId></item></associationSet>{TAGS}</item>"
    );
    let blocks = "<item><vpcId>vpc-1</vpcId><state>available</state><cidrBlockAssociationSet><item><associationId>id\
                  </associationId><cidrBlock>100.64.0.0/16</cidrBlock><cidrBlockState><state>associated</state>\
                  </cidrBlockState></item></cidrBlockAssociationSet><ipv6CidrBlockAssociationSet><item><associationId>id\
                  </associationId><ipv6CidrBlock>2600:1f18:0:ab00::/56</ipv6CidrBlock><ipv6CidrBlockState><state>\
                  associated</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet></item>";
    let nat = "<item><natGatewayId>id</natGatewayId><state>available</state><connectivityType>private\
               </connectivityType><natGatewayAddressSet><item><privateIp>10.0.0.4</privateIp><isPrimary>true\
               </isPrimary><status>succeeded</status></item></natGatewayAddressSet></item>";
    let group = format!("<item><groupId>id</groupId>{TAGS}</item>");
    let sets = [
        ("DescribeSubnets", "subnetSet", subnet),
        ("DescribeRouteTables", "routeTableSet", table),
        ("DescribeVpcEndpoints", "vpcEndpointSet", &endpoint),
        ("DescribeNetworkAcls", "networkAclSet", &acl),
        ("DescribeVpcs", "vpcSet", blocks),
        ("DescribeNatGateways", "natGatewaySet", nat),
        ("DescribeSecurityGroups", "securityGroupInfo", &group),
        ("DescribeSecurityGroupRules", "securityGroupRuleSet", ""),
    ];
    let aws = sets.iter().fold(Recorded::default(), |aws, (action, set, items)| {
        aws.on(action, xml(action, &format!("<{set}>{items}</{set}>")))
    });
    let domain = json!({ "domainName": "id", "domainNameConfigurations": [{ "domainNameStatus": "AVAILABLE" }] });
    let record = "<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet><Name>api.example.com</Name>\
                  <Type>A</Type><AliasTarget><HostedZoneId>ZAWS</HostedZoneId><DNSName>d-api.example.com</DNSName>\
                  <EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget></ResourceRecordSet>\
                  </ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>1</MaxItems>\
                  </ListResourceRecordSetsResponse>";
    let name = Api::of(object).and_then(|api| api.name.known()).map_or("shop", String::as_str);
    let tags = json!({ "fgw:resource": format!("http_gateway/{name}") });
    let json = |value: Value| Answer::Json(200, value);
    aws.on("GET /v2/apis/id", json(json!({ "apiId": "id", "name": name, "tags": tags })))
        .on("GET /v2/apis/api1/stages/%24default", json(json!({ "stageName": "$default" })))
        .on("GET /v2/apis/api1/stages/prod", json(json!({ "stageName": "prod" })))
        .on("GET /v2/domainnames/id", json(domain))
        .on("DescribeSubscriptionFilters", json(json!({ "subscriptionFilters": [] })))
        .on(
            "DescribeLogGroups",
            json(json!({ "logGroups": [{ "logGroupName": "id", "arn": "arn:aws:logs:r:1:log-group:id" }] })),
        )
        .on(
            "GET /2013-04-01/hostedzone/Z1/rrset?name=api.example.com&type=A&maxitems=1",
            Answer::Xml(200, record.to_string()),
        )
        .denying_others()
}

/// The IDs of everything that these objects need.
fn ids(specs: [&Spec; 2]) -> Vec<(Key, &'static str)> {
    let keys: BTreeSet<Key> = specs.iter().flat_map(|spec| spec.needs()).map(|need| need.key).collect();
    let id = |key: &Key| match key.slot.as_str() {
        "vpc" => "vpc-1",
        "api" => "api1",
        "domain" => "api.example.com",
        "stage" => "$default",
        slot if slot.starts_with("subnet.") => "subnet-1",
        slot if slot.starts_with("route_table") => "rtb-old",
        slot if slot.starts_with("internet_gateway") => "igw-1",
        _ => "other",
    };
    keys.into_iter().map(|key| (key.clone(), id(&key))).collect()
}

/// The result of an update, and the changes that it sends. The first change is denied, so no other one follows.
async fn updated(
    from: &Spec,
    to: &Spec,
    unfinished: Option<Unfinished>,
) -> (Result<(), Failure>, Vec<RecordedRequest>) {
    let aws = account(from);
    let session = aws.session("failed");
    let is_of_network = from.needs().iter().any(|need| need.key.slot == "vpc" || need.key.slot.starts_with("subnet."))
        || matches!(from, Spec::Vpc(_) | Spec::Route(_));
    let key = Key::new("object");
    let (answer, _) = run(&session, &key, &ids([from, to]), async |it| {
        let (owner, root_id) = match is_of_network {
            true => (TopologyKind::FourTierVpc, "vpc-1"),
            false => (it.work.owner, "api1"),
        };
        let work = OpContext { owner, root_id: Some(root_id), unfinished, ..it.work.clone() };
        let recorder = Recorder { id: &|_| (), learned: &|_| (), usable: &|| () };
        session.update(&work, "id", from, &Object::new(key.clone(), to.clone()), &recorder).await
    })
    .await;
    let mut changes: Vec<RecordedRequest> = aws.requests().into_iter().filter(is_change).collect();
    // A new permission may not have an effect yet, so some denied calls are repeated.
    changes.dedup_by(|one, other| (&one.call, &one.body) == (&other.call, &other.body));
    (answer, changes)
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_if_nothing_differs() {
    let all = Spec::of_each_kind();
    for spec in all.iter().flat_map(|spec| [vec![spec.clone()], spec.changes()].concat()) {
        for unfinished in [None, Some(Unfinished::Update(BTreeSet::new())), Some(Unfinished::Create)] {
            // An interrupted create can wait for the name servers only by the answer to a change.
            if matches!(spec, Spec::DnsRecord(_)) && unfinished.is_some() {
                continue;
            }
            // What AWS has is not what this spec describes, so a wait for the end of an interrupted change times out.
            let (_, changes) = updated(&spec, &spec, unfinished.clone()).await;
            let calls: Vec<String> = changes.into_iter().map(|it| it.call).collect();
            assert_eq!(calls, [""; 0], "{spec:?} after {unfinished:?}");
        }
    }
}

/// The parameters that calls of these names require in addition to what they change.
fn required(call: &str) -> &'static [&'static str] {
    match call {
        "ModifyVpcEndpoint" => &["VpcEndpointId"],
        "ModifyVpcAttribute" => &["VpcId"],
        "ModifySubnetAttribute" => &["SubnetId"],
        call if call.contains("/integrations/") => &["integrationType"],
        // Issuer and audience are one member.
        call if call.contains("/authorizers/") => &["jwtConfiguration"],
        call if call.contains("/apimappings/") => &["apiId"],
        _ => &[],
    }
}

/// Whether a call replaces a whole object or rule.
fn is_replaced_as_a_whole(call: &str) -> bool {
    let whole = ["PutSubscriptionFilter", "PATCH /v2/domainnames/id", "POST /2013-04-01/hostedzone/Z1/rrset"];
    whole.contains(&call) || call.ends_with("NetworkAclEntry")
}

/// The names of the members of a request. Members of nested objects have the path as their names.
fn members(request: &RecordedRequest) -> BTreeSet<String> {
    let Value::Object(body) = &request.body else { return BTreeSet::new() };
    let fixed = required(&request.call);
    let is_fixed = |name: &String| fixed.contains(&name.as_str()) || ["Action", "Version"].contains(&name.as_str());
    body.keys().filter(|name| !is_fixed(name)).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn each_property_is_sent_alone() {
    for from in Spec::of_each_kind() {
        let mut specs = from.changes();
        // The last one has all changes.
        specs.pop();
        for is_taken_back in [false, true] {
            let mut sent: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
            for changed in &specs {
                let (before, after) = if is_taken_back { (changed, &from) } else { (&from, changed) };
                let (_, changes) = updated(before, after, None).await;
                let [change] = changes.as_slice() else {
                    assert!(changes.is_empty(), "{before:?} to {after:?}: {changes:?}");
                    continue;
                };
                let is_tag_call = change.call.contains("Tag") || change.call.contains("/v2/tags/");
                if is_replaced_as_a_whole(&change.call) || is_tag_call {
                    continue;
                }
                let members = members(change);
                let earlier = sent.entry(change.call.clone()).or_default();
                for other in earlier.iter() {
                    let both: Vec<_> = members.intersection(other).collect();
                    assert!(both.is_empty(), "{} sends {both:?} for two properties of a {}", change.call, from.kind());
                }
                earlier.push(members);
            }
            let calls: usize = sent.values().map(Vec::len).sum();
            let has_properties = specs.iter().any(|spec| spec.tags() == from.tags());
            assert!(calls > 0 || !has_properties || is_read_first(&from), "nothing is sent for a {}", from.kind());
        }
    }
}

/// Whether the calls depend on what AWS has, so that this account provokes none, or replace the whole object.
fn is_read_first(spec: &Spec) -> bool {
    SecurityGroup::of(spec).is_some()
        || DefaultSecurityGroup::of(spec).is_some()
        || matches!(spec, Spec::LogSubscription(_) | Spec::DomainName(_) | Spec::DnsRecord(_))
        || matches!(spec, Spec::DefaultNetworkAcl(_) | Spec::NatGateway(_))
}

#[tokio::test(start_paused = true)]
async fn what_a_call_requires_is_sent_with_it() {
    let [integration, mapping] = [Spec::Integration(Integration::test()), Spec::ApiMapping(ApiMapping::test())];
    let described = Integration { description: Input::Known(Some("new".into())), ..Integration::test() };
    let (_, changes) = updated(&integration, &Spec::Integration(described), None).await;
    assert_eq!(changes[0].body, json!({ "integrationType": "AWS_PROXY", "description": "new" }));
    let moved = ApiMapping { mapping_key: "v2".into(), ..ApiMapping::test() };
    let (_, changes) = updated(&mapping, &Spec::ApiMapping(moved), None).await;
    assert_eq!(changes[0].body, json!({ "apiId": "api1", "apiMappingKey": "v2" }));
}
