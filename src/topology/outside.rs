//! The problems of a plan with objects outside its topology: missing ones, and names that are not free.

mod names;
mod usable;

use std::collections::BTreeMap;

use crate::model::{DnsRecord, Finding, Outside, OwningRoot, Reference, Scope, Spec, VpcLink};
use crate::plugin::{AttributePath, Problem, Severity, Step};

pub use names::{Conflict, Holder, after_wait, conflicts, held, held_by_the_old_root};
pub use usable::{OwnerInPlan, Use, UseContext, cannot_change, use_in_apply, use_in_plan, withheld};

/// The circumstances of a plan.
pub struct Circumstances<'a> {
    /// Whether it is the plan of a create.
    pub is_create: bool,
    /// Whether the input is new. The problem of an unchanged one, whose object was deleted, must not block other
    /// changes.
    pub is_new: &'a dyn Fn(&Outside) -> bool,
    /// The resource that has a name, by the root that the ownership tag of the object names.
    pub holder: &'a dyn Fn(&Outside, Option<&str>) -> Holder,
    /// The root of the state.
    pub root_id: Option<&'a str>,
    /// Whether the resource has a custom domain with this target.
    pub has_target: &'a dyn Fn(&str) -> bool,
    /// Partition, Region and account.
    pub scope: &'a Scope,
}

/// The problems of these references, each once, at its first attribute.
pub fn problems(
    references: &[Reference],
    findings: &BTreeMap<Outside, Finding>,
    circumstances: &Circumstances<'_>,
) -> Vec<(Severity, Problem)> {
    let mut paths: BTreeMap<&Outside, Vec<&AttributePath>> = BTreeMap::new();
    for reference in references {
        paths.entry(&reference.to).or_default().push(&reference.path);
    }
    let holder = |to: &Outside, owner: Option<&OwningRoot>| (circumstances.holder)(to, owner.map(|it| it.id.as_str()));
    // Their records are deleted with them.
    let moved: Vec<&str> = findings
        .iter()
        .filter_map(|(to, finding)| match (to, finding) {
            (Outside::Domain(_), Finding::Exists { owner: Some(owner), detail }) => {
                (holder(to, Some(owner)) != Holder::Unknown || owner.is_living).then_some(detail.as_str())
            }
            _ => None,
        })
        .collect();
    let problem = |(to, paths): (&Outside, Vec<&AttributePath>)| match (findings.get(to)?, to) {
        (Finding::Missing(others), _) if !to.must_be_free() => {
            Some(missing(to, &paths, others.as_deref(), circumstances))
        }
        (Finding::Missing(_), _) => None,
        (Finding::Exists { detail: zone, .. }, Outside::HostedZone { id, name }) => {
            other_zone(id, zone, name, paths[0])
        }
        (Finding::Exists { detail, .. }, Outside::Record { .. }) => {
            let is_alias = |kind: &str| kind == DnsRecord::A || kind == DnsRecord::AAAA;
            let target = detail.split_once(' ').filter(|(kind, _)| is_alias(kind)).map_or("", |(_, target)| target);
            match holder(to, None) {
                _ if !target.is_empty() && moved.contains(&target) => None,
                _ if (circumstances.has_target)(target) => Some((Severity::Warning, taken_over(to, paths[0]))),
                Holder::Other { described, releases } => Some(names::moves(to, &described, releases, paths[0])),
                Holder::Same | Holder::Unknown => {
                    Some((Severity::Error, taken(to, detail, None, paths[0], circumstances)))
                }
            }
        }
        (Finding::Exists { detail, .. }, Outside::Mapping { domain, stage, .. }) => {
            let (id, target) = detail.split_once(' ').unwrap_or_default();
            let is_equal = circumstances.root_id.is_some_and(|root_id| target == format!("{root_id}/{stage}"));
            Some(mapped(to, (domain, id, target), is_equal, paths[0]))
        }
        (Finding::Exists { detail: status, .. }, Outside::VpcLink(id)) => unavailable(id, status, paths[0]),
        (Finding::Exists { detail: zone, .. }, Outside::Subnet(id)) if !VpcLink::may_be_in(zone) => {
            Some((Severity::Warning, without_links(id, zone, paths[0])))
        }
        (Finding::Exists { owner, detail }, _) if to.must_be_free() => match (holder(to, owner.as_ref()), owner) {
            (Holder::Same, _) => None,
            (Holder::Other { described, releases }, _) => Some(names::moves(to, &described, releases, paths[0])),
            (Holder::Unknown, Some(owner)) if owner.is_living => Some(names::moves(to, &owner.id, None, paths[0])),
            (Holder::Unknown, owner) => {
                Some((Severity::Error, taken(to, detail, owner.as_ref(), paths[0], circumstances)))
            }
        },
        // Whether a create may use it depends on the decision (`use_of`).
        (Finding::Exists { .. } | Finding::Usable(_), _) => None,
    };
    let severity = |to: &Outside, severity| if (circumstances.is_new)(to) { severity } else { Severity::Warning };
    let all = paths.into_iter().filter_map(|(to, paths)| Some((to, problem((to, paths))?)));
    all.map(|(to, (found, problem))| (severity(to, found), problem)).collect()
}

/// Names the argument of an object that a call did not find: what to correct. `None` if no input names the object.
pub fn to_correct(references: &[Reference], spec: &Spec, message: &str, scope: &Scope) -> Option<String> {
    // The name of one function can begin with that of another.
    let in_message = references.iter().filter(|it| message.contains(&it.to.id())).max_by_key(|it| it.to.id().len());
    let mut named = references.iter().filter(|it| it.to.is_named_by(spec) && !it.to.must_be_free());
    let reference = in_message.or_else(|| named.next().filter(|first| named.all(|it| it.to == first.to)))?;
    Some(format!("{} Correct {}.", absent(&reference.to, scope), argument(&reference.path)))
}

fn missing(
    to: &Outside,
    paths: &[&AttributePath],
    others: Option<&[String]>,
    circumstances: &Circumstances<'_>,
) -> (Severity, Problem) {
    let path = paths[0].clone();
    let also = match paths.len() {
        1 => String::new(),
        count => format!(" {} more inputs name it.", count - 1),
    };
    if to.is_predictable() {
        let message = format!("{}{also}", absent(to, circumstances.scope));
        let hint = format!(
            "If the same run creates it, let {} refer to it, so that it is created first. Otherwise correct {}: the apply \
             waits for a minute, and then fails.",
            argument(&path),
            argument(&path)
        );
        return (Severity::Warning, Problem::new(path, message, hint));
    }
    let others = match others {
        None => String::new(),
        Some([]) if matches!(to, Outside::Address(_)) => "; none is free".to_string(),
        Some(others) if matches!(to, Outside::Address(_)) => format!("; these are free: {}", shortened(others)),
        Some([]) => "; it has none".to_string(),
        Some(others) => format!("; it has: {}", shortened(others)),
    };
    let place = match to {
        Outside::HostedZone { .. } => "this account".to_string(),
        _ => format!("this account and Region ({})", circumstances.scope.region),
    };
    let message = format!("The {to} of {} does not exist in {place}{others}.{also}", argument(&path));
    let hint = format!("Correct {}, or the region and account of the provider block.", argument(&path));
    (Severity::Error, Problem::new(path, message, hint))
}

fn other_zone(id: &str, zone: &str, name: &str, path: &AttributePath) -> Option<(Severity, Problem)> {
    if zone.is_empty() || name == zone || name.ends_with(&format!(".{zone}")) {
        return None;
    }
    let message = format!("The hosted zone {id} is that of {zone:?}, which does not contain {name:?}.");
    let hint = format!("Use the ID of the zone of {name:?} or of a parent domain.");
    Some((Severity::Error, Problem::new(path.clone(), message, hint)))
}

/// A VPC link that serves no requests now. Only a failed one never does.
fn unavailable(id: &str, status: &str, path: &AttributePath) -> Option<(Severity, Problem)> {
    let (severity, meaning, hint) = match status {
        "AVAILABLE" => return None,
        "FAILED" => (Severity::Error, "it never serves a request", "Use another link, or create it again."),
        "INACTIVE" => (
            Severity::Warning,
            "API Gateway has deleted its network interfaces because it had no requests for 60 days",
            "The first requests fail. They make API Gateway create the interfaces again, which takes some minutes.",
        ),
        _ => (
            Severity::Warning,
            "API Gateway may reject integrations with it",
            "Wait until the link is available before you apply.",
        ),
    };
    let message = format!("The VPC link {id} of {} has the status {status}: {meaning}.", argument(path));
    Some((severity, Problem::new(path.clone(), message, hint)))
}

/// A subnet of a VPC link in an AZ that may have none.
fn without_links(id: &str, zone: &str, path: &AttributePath) -> Problem {
    let message = format!(
        "The subnet {id} is in the AZ {zone}. AWS documents no VPC links there, so API Gateway may reject the link of {}.",
        argument(path)
    );
    Problem::new(
        path.clone(),
        message,
        "Use a subnet of another AZ. It reaches the private endpoints in all AZs of the VPC.",
    )
}

/// A record that already points to the domain. Nothing tells whether an interrupted run or a user created it.
fn taken_over(to: &Outside, path: &AttributePath) -> Problem {
    let message = format!(
        "The {to} exists already and points to the custom domain. The apply takes it over: it changes nothing in AWS, but \
         a later change of this input or a destroy deletes the record."
    );
    Problem::new(path.clone(), message, "To leave the record to what created it, set create_dns_entry to false.")
}

/// A mapping in the place of a missing one. It is taken over if it points to the stage of the resource.
fn mapped(
    to: &Outside,
    (domain, id, target): (&str, &str, &str),
    is_equal: bool,
    path: &AttributePath,
) -> (Severity, Problem) {
    let ignore = "To leave it to what created it, add \"api_mapping\" to ignore_drift.";
    if is_equal {
        let message = format!(
            "The {to} ({id}) exists already and points to {target}, the stage of this resource. The apply takes it over: it \
             changes nothing in AWS, but a later change of this input or a destroy deletes the mapping."
        );
        return (Severity::Warning, Problem::new(path.clone(), message, ignore));
    }
    let message = format!(
        "The {to} ({id}) already points to {target}. This resource does not manage it, so the apply would fail."
    );
    let hint = format!(
        "The provider never overwrites a mapping. To serve this API there, remove it where it is managed, and apply that \
         first, or delete it if nothing uses it (aws apigatewayv2 delete-api-mapping --domain-name {domain} \
         --api-mapping-id {id}). {ignore}"
    );
    (Severity::Error, Problem::new(path.clone(), message, hint))
}

/// A name that the create of an object would find in use.
fn taken(
    to: &Outside,
    detail: &str,
    owner: Option<&OwningRoot>,
    path: &AttributePath,
    circumstances: &Circumstances<'_>,
) -> Problem {
    let unmanaged = match owner {
        Some(OwningRoot { id, .. }) => format!("The {to} exists already. It belonged to {id}, which does not exist."),
        None => format!("The {to} exists already and is not managed by this resource, so the apply would fail."),
    };
    let (message, hint) = match (to, circumstances.is_create) {
        (Outside::Record { zone_id, name, .. }, _) => {
            let (kind, target) = detail.split_once(' ').unwrap_or((detail, "another target"));
            let article = if kind.starts_with('A') { "an" } else { "a" };
            (
                format!("{name:?} already has {article} {kind} record in hosted zone {zone_id}, which points to {target}."),
                "To keep it, set create_dns_entry to false. Otherwise delete it first: the provider never overwrites a \
                 record."
                    .to_string(),
            )
        }
        (Outside::Domain(name), is_create) => {
            let adopt = format!(
                " If the root path of the domain is mapped to this API, \"domain\" = {name:?} in adopt takes it over."
            );
            (
                unmanaged,
                format!(
                    "Use another domain_name, or delete it first if nothing uses it (aws apigatewayv2 \
                     delete-domain-name --domain-name {name}).{}",
                    if is_create { "" } else { &adopt }
                ),
            )
        }
        _ => (unmanaged, "Use another name.".to_string()),
    };
    Problem::new(path.clone(), message, hint)
}

/// `There is no function "orders" in eu-central-1.`
fn absent(to: &Outside, scope: &Scope) -> String {
    match to {
        Outside::Function(arn) => format!("There is no {to} in {}.", arn.region),
        Outside::HostedZone { .. } => format!("There is no {to} in this account."),
        _ => format!("There is no {to} in this account and Region ({}).", scope.region),
    }
}

/// The last attribute of a path, with the entry of a map that it belongs to: `faas_function_arn of "GET /a"`.
fn argument(path: &AttributePath) -> String {
    let attribute = path.0.iter().rev().find_map(|step| match step {
        Step::Attribute(name) => Some(name.as_str()),
        _ => None,
    });
    let key = path.0.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key),
        _ => None,
    });
    match key {
        Some(key) => format!("{} of {key:?}", attribute.unwrap_or_default()),
        None => attribute.unwrap_or_default().to_string(),
    }
}

/// The first ten IDs, and the number of the others.
fn shortened(ids: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown = ids[..ids.len().min(SHOWN)].join(", ");
    match ids.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FunctionArn;
    use crate::plugin::Input;

    fn scope() -> Scope {
        Scope { region: "us-east-1".into(), ..Scope::default() }
    }

    /// The problems of one finding at `path`, in the plan of an update of a state that contains only `api1`.
    fn found(to: &Outside, path: AttributePath, finding: Finding) -> Vec<(Severity, String)> {
        let scope = scope();
        let circumstances = Circumstances {
            is_create: false,
            is_new: &|to| *to != Outside::Domain("deleted.example.com".into()),
            holder: &holder,
            root_id: Some("api1"),
            has_target: &|target| target == "d-1.execute-api",
            scope: &scope,
        };
        let references = [Reference::new(to.clone(), path.clone()), Reference::new(to.clone(), path)];
        let found = problems(&references, &[(to.clone(), finding)].into(), &circumstances);
        found.into_iter().map(|(severity, it)| (severity, format!("{} {}", it.message, it.hint))).collect()
    }

    /// The resource is api1, and the same state contains api3, whose plan releases its names.
    fn holder(_: &Outside, owner: Option<&str>) -> Holder {
        match owner {
            Some("api1") => Holder::Same,
            Some("api3") => {
                Holder::Other { described: "fgw_http_gateway \"three\" (api3)".into(), releases: Some(true) }
            }
            _ => Holder::Unknown,
        }
    }

    fn exists(owner: Option<&str>, detail: &str) -> Finding {
        let owner = owner.map(|id| OwningRoot { id: id.to_string(), is_living: true });
        Finding::Exists { owner, detail: detail.to_string() }
    }

    fn function(name: &str) -> FunctionArn {
        FunctionArn::parse(&format!("arn:aws:lambda:us-east-1:123456789012:function:{name}")).unwrap()
    }

    fn route(key: &str) -> AttributePath {
        AttributePath::new("route_config").key(key).attribute("faas_function_arn")
    }

    #[test]
    fn a_missing_id_is_an_error_and_a_missing_function_a_warning() {
        let path = AttributePath::new("custom_nat_eips").index(0);
        let address = Outside::Address("eipalloc-9".into());
        let others = Some(vec!["eipalloc-1".to_string(), "eipalloc-2".to_string()]);
        let [(Severity::Error, text)] = &found(&address, path.clone(), Finding::Missing(others))[..] else { panic!() };
        let begin = "The Elastic IP address eipalloc-9 of custom_nat_eips does not exist in this account and Region \
                     (us-east-1); these are free: eipalloc-1, eipalloc-2.";
        assert!(text.starts_with(begin), "{text}");
        assert!(found(&address, path.clone(), Finding::Missing(Some(vec![])))[0].1.contains("; none is free."));
        assert_eq!(found(&address, path, exists(None, "")), []);

        let missing = found(&Outside::Function(function("ordres")), route("GET /a"), Finding::Missing(None));
        let [(Severity::Warning, text)] = &missing[..] else { panic!("{missing:?}") };
        for part in ["There is no function \"ordres\" in us-east-1.", "correct faas_function_arn of \"GET /a\""] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_zone_without_vpc_links_is_a_warning() {
        let (to, path) = (Outside::Subnet("subnet-1".into()), AttributePath::new("vpc_links").key("main"));
        let found = |finding: Finding| found(&to, path.attribute("subnet_ids"), finding);
        for zone in ["use1-az3", "euw3-az2", "cac1-az4"] {
            let [(Severity::Warning, text)] = &found(exists(None, zone))[..] else { panic!("{zone}") };
            let begin = format!("The subnet subnet-1 is in the AZ {zone}. AWS documents no VPC links there,");
            assert!(text.starts_with(&begin) && text.contains("link of subnet_ids of \"main\""), "{text}");
        }
        for zone in ["use1-az1", "use1-az9", "mxc1-az1", ""] {
            assert_eq!(found(exists(None, zone)), [], "{zone}");
        }
        let [(Severity::Error, text)] = &found(Finding::Missing(None))[..] else { panic!("a missing subnet") };
        assert!(text.starts_with("The subnet subnet-1 of subnet_ids of \"main\" does not exist in"), "{text}");
    }

    #[test]
    fn a_name_in_use_is_an_error_unless_a_root_may_release_it() {
        let (path, to) = (AttributePath::new("domain_name"), Outside::Domain("api.example.com".into()));
        let severities = |finding| found(&to, path.clone(), finding).into_iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(severities(Finding::Missing(None)), []);
        assert_eq!(severities(exists(None, "")), [Severity::Error]);
        assert_eq!(severities(exists(Some("api1"), "")), []);
        for (owner, part) in
            [("api2", "If the same run deletes it there"), ("api3", "The plan of that resource deletes it")]
        {
            let [(Severity::Warning, text)] = &found(&to, path.clone(), exists(Some(owner), ""))[..] else { panic!() };
            for part in [part, "belongs to", owner, "up to 2 minutes"] {
                assert!(text.contains(part) && !text.contains("delete-domain-name"), "{part}: {text}");
            }
        }
        let dead =
            Finding::Exists { owner: Some(OwningRoot { id: "api2".into(), is_living: false }), detail: String::new() };
        let [(Severity::Error, text)] = &found(&to, path.clone(), dead)[..] else { panic!("nothing deletes it") };
        assert!(text.contains("belonged to api2") && text.contains("delete-domain-name"), "{text}");
        let unchanged = found(&Outside::Domain("deleted.example.com".into()), path, exists(None, ""));
        assert_eq!(unchanged.into_iter().map(|it| it.0).collect::<Vec<_>>(), [Severity::Warning]);
    }

    #[test]
    fn a_record_is_an_error_unless_it_routes_to_the_domain() {
        let record =
            Outside::Record { zone_id: "Z1".into(), name: "api.example.com".into(), record_type: DnsRecord::A.into() };
        let at = |detail: &str| found(&record, AttributePath::new("domain_name"), exists(None, detail));
        for (detail, part) in [
            ("A 192.0.2.1", "already has an A record in hosted zone Z1, which points to 192.0.2.1"),
            ("CNAME x.example.net", "already has a CNAME record"),
            ("CNAME d-1.execute-api", "already has a CNAME record"),
        ] {
            let [(Severity::Error, text)] = &at(detail)[..] else { panic!("{detail}") };
            assert!(text.contains(part), "{text}");
        }
        let [(Severity::Warning, text)] = &at("A d-1.execute-api")[..] else { panic!("an equal one is named") };
        assert!(text.contains("The apply takes it over"), "{text}");

        // The domain of a root that the plan replaces.
        let (scope, domain) = (scope(), Outside::Domain("api.example.com".into()));
        let circumstances = Circumstances {
            is_create: true,
            is_new: &|_| true,
            holder: &holder,
            root_id: None,
            has_target: &|_| false,
            scope: &scope,
        };
        let references = [&domain, &record].map(|to| Reference::new(to.clone(), AttributePath::new("domain_name")));
        let findings = [(domain, exists(Some("api1"), "d-2.execute-api")), (record, exists(None, "A d-2.execute-api"))];
        assert_eq!(problems(&references, &findings.into(), &circumstances), []);
    }

    #[test]
    fn a_mapping_is_an_error_unless_it_points_to_the_stage() {
        let to = Outside::Mapping { domain: "api.example.com".into(), path: String::new(), stage: "prod".into() };
        let at = |detail: &str| found(&to, AttributePath::new("domain_name"), exists(None, detail));
        let [(Severity::Warning, text)] = &at("m1 api1/prod")[..] else { panic!("an equal one is named") };
        for part in ["API mapping \"api.example.com/\" (m1)", "points to api1/prod", "The apply takes it over"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for target in ["api2/prod", "api1/beta"] {
            let [(Severity::Error, text)] = &at(&format!("m9 {target}"))[..] else { panic!("{target}") };
            let command = "delete-api-mapping --domain-name api.example.com --api-mapping-id m9";
            assert!(text.contains(&format!("already points to {target}")) && text.contains(command), "{text}");
        }
        assert_eq!(found(&to, AttributePath::new("domain_name"), Finding::Missing(None)), []);
    }

    #[test]
    fn a_vpc_link_is_available_or_may_become_it() {
        let path = AttributePath::new("route_config").key("GET /a").attribute("vpc_link_id");
        let of = |finding| found(&Outside::VpcLink("a1b2c3".into()), path.clone(), finding);
        assert_eq!(of(exists(None, "AVAILABLE")), []);
        for (finding, severity, part) in [
            (
                Finding::Missing(None),
                Severity::Error,
                "vpc_link_id of \"GET /a\" does not exist in this account and Region",
            ),
            (exists(None, "FAILED"), Severity::Error, "has the status FAILED: it never serves a request"),
            (exists(None, "INACTIVE"), Severity::Warning, "no requests for 60 days"),
            (exists(None, "PENDING"), Severity::Warning, "has the status PENDING"),
        ] {
            let [(found, text)] = &of(finding)[..] else { panic!("{part}") };
            assert_eq!(*found, severity, "{text}");
            assert!(text.starts_with("The VPC link a1b2c3 of") && text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_zone_of_another_name_is_an_error() {
        let problems = |zone: &str, name: &str| {
            let to = Outside::HostedZone { id: "Z1".into(), name: name.to_string() };
            found(&to, AttributePath::new("hosted_zone_id"), exists(None, zone)).len()
        };
        for name in ["example.com", "api.example.com", "*.example.com"] {
            assert_eq!((problems("example.com", name), problems("example.org", name)), (0, 1), "{name}");
        }
        assert_eq!(problems("example.com", "myexample.com"), 1);
    }

    #[test]
    fn a_failed_call_names_the_argument() {
        let permission = |name: &str| {
            Spec::LambdaPermission(crate::model::LambdaPermission {
                function_arn: Input::Known(function(name).unqualified()),
                ..crate::model::LambdaPermission::test()
            })
        };
        let references = ["ord", "ordres"].map(|name| Reference::new(Outside::Function(function(name)), route(name)));
        let named = |name: &str, message: &str| to_correct(&references, &permission(name), message, &scope());
        let expected = "There is no function \"ordres\" in us-east-1. Correct faas_function_arn of \"ordres\".";
        let message = format!("Function not found: {}", function("ordres"));
        assert_eq!(named("ordres", &message).as_deref(), Some(expected));
        assert_eq!(named("ordres", "does not exist").as_deref(), Some(expected));
        assert_eq!(named("other", "does not exist"), None);
    }
}
