//! The [`Cloud`] that the executor calls. Each operation is implemented in the file of its kind.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::clients::Session;
use super::{apigateway, ec2, lambda, logs, lookups, route53};
use crate::aws::calls::Operation;
use crate::aws::calls::ownership;
use crate::cloud::{
    Cause, Cloud, Deadlines, DependentScope, Dependents, Failure, Known, Namesake, Observed, OpContext, Recorder, Root,
    RootState, Seen,
};
use crate::model::TopologyKind;
use crate::model::{Api, Classify, Entry, Key, Object, Spec, Vpc};
use crate::model::{Facts, Lookup, Scope};

#[async_trait]
impl Cloud for Session {
    fn scope(&self) -> &Scope {
        &self.scope
    }

    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure> {
        lookups::facts(self, lookups).await
    }

    async fn read(&self, owner: TopologyKind, root_id: &str, known: Known<'_>) -> Result<Option<Seen>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::read(self, owner, root_id, known).await,
            TopologyKind::HttpGateway => match known.classify {
                Some(Classify::Api) => apigateway::read::adoptable(self, owner, root_id).await,
                _ => apigateway::read::read(self, owner, root_id, known).await,
            },
        }
    }

    async fn leftovers(
        &self,
        owner: TopologyKind,
        root_id: &str,
        objects: &[&Object],
    ) -> Result<Vec<Observed>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => Ok(Vec::new()),
            TopologyKind::HttpGateway => apigateway::read::leftovers(self, owner, root_id, objects).await,
        }
    }

    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &object.key, record: Some(record) };
        match &object.spec {
            Spec::Vpc(spec) => ec2::vpc::create(&operation, spec).await,
            Spec::VpcIpv6Block(spec) => ec2::vpc_ipv6_block::create(&operation, spec).await,
            Spec::InternetGateway(spec) => ec2::internet_gateway::create(&operation, spec).await,
            Spec::Subnet(spec) => ec2::subnet::create(&operation, spec).await,
            Spec::RouteTable(spec) => ec2::route_table::create(&operation, spec).await,
            Spec::RouteTableAssociation(spec) => ec2::route_table_association::create(&operation, spec).await,
            Spec::Eip(spec) => ec2::eip::create(&operation, spec).await,
            Spec::NatGateway(spec) => ec2::nat_gateway::create(&operation, spec).await,
            Spec::Route(spec) => ec2::route::create(&operation, spec).await,
            Spec::VpcEndpoint(spec) => ec2::vpc_endpoint::create(&operation, spec).await,
            Spec::DefaultNetworkAcl(spec) => ec2::default_network_acl::create(&operation, spec).await,
            Spec::DefaultSecurityGroup(spec) => ec2::default_security_group::create(&operation, spec).await,
            Spec::Api(spec) => apigateway::api::create(&operation, spec).await,
            Spec::Authorizer(spec) => apigateway::authorizer::create(&operation, spec, &object.routes).await,
            Spec::LambdaPermission(spec) => lambda::permission::create(&operation, spec).await,
            Spec::Integration(spec) => apigateway::integration::create(&operation, spec, &object.routes).await,
            Spec::ApiRoute(spec) => apigateway::route::create(&operation, spec).await,
            Spec::LogGroup(spec) => logs::group::create(&operation, spec).await,
            Spec::Stage(spec) => apigateway::stage::create(&operation, spec).await,
            Spec::LogSubscription(spec) => logs::subscription::create(&operation, spec).await,
            Spec::DomainName(spec) => apigateway::domain_name::create(&operation, spec).await,
            Spec::ApiMapping(spec) => apigateway::api_mapping::create(&operation, spec).await,
            Spec::DnsRecord(spec) => route53::record::create(&operation, spec).await,
        }
    }

    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: Option<&Spec>,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &to.key, record: Some(record) };
        /// The current spec of the object, as the type of its kind. The kind of a key never changes.
        macro_rules! from {
            ($kind:ident) => {
                from.and_then(|from| if let Spec::$kind(spec) = from { Some(spec) } else { None })
            };
        }
        match &to.spec {
            Spec::Vpc(to) => ec2::vpc::update(&operation, id, from!(Vpc), to).await,
            Spec::VpcIpv6Block(to) => ec2::vpc_ipv6_block::update(&operation, id, from!(VpcIpv6Block), to).await,
            Spec::InternetGateway(to) => {
                ec2::internet_gateway::update(&operation, id, from!(InternetGateway), to).await
            }
            Spec::Subnet(to) => ec2::subnet::update(&operation, id, from!(Subnet), to).await,
            Spec::RouteTable(to) => ec2::route_table::update(&operation, id, from!(RouteTable), to).await,
            Spec::RouteTableAssociation(to) => {
                ec2::route_table_association::update(&operation, id, from!(RouteTableAssociation), to).await
            }
            Spec::Eip(to) => ec2::eip::update(&operation, id, from!(Eip), to).await,
            Spec::NatGateway(to) => ec2::nat_gateway::update(&operation, id, from!(NatGateway), to).await,
            Spec::Route(to) => ec2::route::update(&operation, id, from!(Route), to).await,
            Spec::VpcEndpoint(to) => ec2::vpc_endpoint::update(&operation, id, from!(VpcEndpoint), to).await,
            Spec::DefaultNetworkAcl(to) => {
                ec2::default_network_acl::update(&operation, id, from!(DefaultNetworkAcl), to).await
            }
            Spec::DefaultSecurityGroup(to) => {
                ec2::default_security_group::update(&operation, id, from!(DefaultSecurityGroup), to).await
            }
            Spec::Api(to) => apigateway::api::update(&operation, id, from!(Api), to).await,
            Spec::Authorizer(to) => apigateway::authorizer::update(&operation, id, from!(Authorizer), to).await,
            Spec::LambdaPermission(to) => lambda::permission::update(&operation, id, from!(LambdaPermission), to).await,
            Spec::Integration(to) => apigateway::integration::update(&operation, id, from!(Integration), to).await,
            Spec::ApiRoute(to) => apigateway::route::update(&operation, id, from!(ApiRoute), to).await,
            Spec::LogGroup(to) => logs::group::update(&operation, id, from!(LogGroup), to).await,
            Spec::Stage(to) => apigateway::stage::update(&operation, id, from!(Stage), to).await,
            Spec::LogSubscription(to) => logs::subscription::update(&operation, id, from!(LogSubscription), to).await,
            Spec::DomainName(to) => apigateway::domain_name::update(&operation, id, from!(DomainName), to).await,
            Spec::ApiMapping(to) => apigateway::api_mapping::update(&operation, id, from!(ApiMapping), to).await,
            Spec::DnsRecord(to) => route53::record::update(&operation, id, from!(DnsRecord), to).await,
        }
    }

    async fn adopt(&self, work: &OpContext<'_>, id: &str, from: &Spec, to: &Object) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &to.key, record: None };
        let Some((from, own)) = from.tags().zip(to.spec.tags()) else { return Ok(()) };
        let tags = match &to.spec {
            Spec::Vpc(Vpc { name, .. }) | Spec::Api(Api { name, .. }) => {
                ownership::tags_on_adopt_root(&operation, name, from, own)?
            }
            _ => ownership::tags_on_adopt(&operation, from, own)?,
        };
        match &to.spec {
            Spec::Api(_) => apigateway::api::add_tags(&operation, id, tags).await,
            Spec::Stage(stage) => apigateway::stage::add_tags(&operation, operation.id(&stage.api)?, tags).await,
            Spec::DomainName(_) => apigateway::domain_name::add_tags(&operation, id, tags).await,
            Spec::LogGroup(_) => logs::group::add_tags(&operation, id, tags).await,
            _ => ec2::tags::set(&operation, id, &tags).await,
        }
    }

    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &entry.key, record: None };
        match &entry.applied {
            Spec::Vpc(_) => ec2::vpc::delete(&operation, entry).await,
            Spec::VpcIpv6Block(_) => ec2::vpc_ipv6_block::delete(&operation, entry).await,
            Spec::InternetGateway(_) => ec2::internet_gateway::delete(&operation, entry).await,
            Spec::Subnet(_) => ec2::subnet::delete(&operation, entry).await,
            Spec::RouteTable(_) => ec2::route_table::delete(&operation, entry).await,
            Spec::RouteTableAssociation(_) => ec2::route_table_association::delete(&operation, entry).await,
            Spec::Eip(_) => ec2::eip::delete(&operation, entry).await,
            Spec::NatGateway(_) => ec2::nat_gateway::delete(&operation, entry).await,
            Spec::Route(_) => ec2::route::delete(&operation, entry).await,
            Spec::VpcEndpoint(_) => ec2::vpc_endpoint::delete(&operation, entry).await,
            Spec::DefaultNetworkAcl(spec) => ec2::default_network_acl::delete(&operation, entry, spec).await,
            Spec::DefaultSecurityGroup(spec) => ec2::default_security_group::delete(&operation, entry, spec).await,
            Spec::Api(_) => apigateway::api::delete(&operation, entry).await,
            Spec::Authorizer(_) => apigateway::authorizer::delete(&operation, entry).await,
            Spec::LambdaPermission(_) => lambda::permission::delete(&operation, entry).await,
            Spec::Integration(_) => apigateway::integration::delete(&operation, entry).await,
            Spec::ApiRoute(_) => apigateway::route::delete(&operation, entry).await,
            Spec::LogGroup(_) => logs::group::delete(&operation, entry).await,
            Spec::Stage(_) => apigateway::stage::delete(&operation, entry).await,
            Spec::LogSubscription(_) => logs::subscription::delete(&operation, entry).await,
            Spec::DomainName(_) => apigateway::domain_name::delete(&operation, entry).await,
            Spec::ApiMapping(_) => apigateway::api_mapping::delete(&operation, entry).await,
            Spec::DnsRecord(_) => route53::record::delete(&operation, entry).await,
        }
    }

    async fn disown(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        let operation = Operation { session: self, work, key: &entry.key, record: None };
        match &entry.applied {
            Spec::Eip(_) => ec2::eip::disown(&operation, entry).await,
            Spec::RouteTable(_) => ec2::route_table::disown(&operation, entry).await,
            // They have no tags.
            Spec::Authorizer(_) | Spec::Integration(_) | Spec::LambdaPermission(_) => Ok(()),
            other => {
                let message = format!("a {} cannot be disowned; this is a bug in the provider", other.kind());
                Err(Failure::new(Cause::Other, entry.key.slot.clone(), message))
            }
        }
    }

    async fn lost_parts(&self, owner: TopologyKind, root_id: &str, parts: &[Entry]) -> Result<BTreeSet<Key>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => Ok(BTreeSet::new()),
            TopologyKind::HttpGateway => apigateway::read::lost_parts(self, root_id, parts).await,
        }
    }

    async fn verify_deployment(
        &self,
        owner: TopologyKind,
        root_id: &str,
        deadlines: &Deadlines,
    ) -> Result<(), Failure> {
        match owner {
            TopologyKind::FourTierVpc => Ok(()),
            TopologyKind::HttpGateway => apigateway::deployment::at_the_end(self, root_id, deadlines).await,
        }
    }

    async fn dependents(
        &self,
        owner: TopologyKind,
        root_id: &str,
        within: DependentScope<'_>,
        known: &[Entry],
    ) -> Dependents {
        match owner {
            TopologyKind::FourTierVpc => ec2::dependents(self, root_id, within, known).await,
            TopologyKind::HttpGateway => apigateway::dependents(self, root_id, within, known).await,
        }
    }

    async fn roots(&self, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::roots(self, owner).await,
            TopologyKind::HttpGateway => apigateway::read::roots(self, owner).await,
        }
    }

    async fn namesakes(
        &self,
        owner: TopologyKind,
        name: &str,
        is_compared: &(dyn for<'b> Fn(&'b str) -> bool + Send + Sync),
    ) -> Result<Vec<Namesake>, Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::namesakes(self, owner, name).await,
            TopologyKind::HttpGateway => apigateway::read::namesakes(self, owner, name, is_compared).await,
        }
    }

    async fn mark_root(&self, owner: TopologyKind, root_id: &str, state: RootState) -> Result<(), Failure> {
        match owner {
            TopologyKind::FourTierVpc => ec2::mark_root(self, root_id, state).await,
            TopologyKind::HttpGateway => apigateway::read::mark_root(self, owner, root_id, state).await,
        }
    }
}
