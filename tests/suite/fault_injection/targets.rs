//! The providers and resources of invalid calls, with valid values for each field of a call.

use rmpv::Value;

/// The provider and the resource of the calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    Door,
    Network,
    Gateway,
}

impl Target {
    /// Its data block as Terraform could send it.
    pub(super) fn data(self) -> Value {
        from_json(&match self {
            Target::Door => serde_json::json!({ "name": "front", "width": 900, "tags": { "a": "b" } }),
            Target::Network => serde_json::json!({ "vpc_name": "main", "tags": { "team": "net" } }),
            Target::Gateway => serde_json::json!({ "name": "shop", "tags": { "team": "web" } }),
        })
    }

    /// The configuration of its list as Terraform could send it.
    pub(super) fn list(self) -> Value {
        from_json(&match self {
            Target::Door => serde_json::json!({ "name": "front" }),
            Target::Network => {
                serde_json::json!({ "vpc_name": "main", "tags": { "team": "net" }, "states": ["ready"] })
            }
            Target::Gateway => serde_json::json!({ "name": "shop", "region": "us-east-1", "states": ["ready"] }),
        })
    }

    /// The identity of an object.
    pub(super) fn identity(self) -> Value {
        from_json(&match self {
            Target::Door => serde_json::json!({ "id": "door-1", "house": "blue" }),
            _ => serde_json::json!({ "id": "vpc-1", "region": "us-east-1", "account_id": "123456789012" }),
        })
    }

    /// A resource as Terraform could send it. Omitted attributes are null.
    pub(super) fn object(self) -> Value {
        from_json(&match self {
            Target::Door => serde_json::json!({
                "name": "front", "width": 900, "tags": { "a": "b" }, "hinges": { "top": { "screws": 4 } },
                "key": [{ "shape": "round" }],
            }),
            Target::Network => serde_json::json!({
                "vpc_name": "main", "cidr_block": "10.0.0.0/16", "num_availability_zones": 2, "num_nat_gateways": 1,
                "custom_tags": { "team": "net" }, "availability_zone_ids": ["use1-az1"],
                "private_app_subnet_cidr_blocks": { "AZ-0": "10.0.48.0/21" }, "create_transit_subnets": true,
                "default_nacl_ingress_rules": { "All": {
                    "rule_no": 100, "action": "allow", "protocol": "-1", "from_port": 0, "to_port": 0,
                    "cidr_block": "0.0.0.0/0",
                } },
                "default_security_group_ingress_rules": { "web": {
                    "protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["10.0.0.0/8"],
                } },
            }),
            Target::Gateway => serde_json::json!({
                "name": "shop", "description": "Orders.", "api_tags": { "team": "web" },
                "route_config": { "GET /orders": {
                    "faas_function_arn": "arn:aws:lambda:us-east-1:123456789012:function:orders",
                    "authorizer_name": "customers", "timeout_milliseconds": 9000,
                } },
                "faas_authorizers": { "customers": {
                    "authorizer_name": "guard", "authorizer_payload_format_version": "2.0",
                    "enable_simple_responses": true, "identity_sources": ["$request.header.x-key"],
                } },
                "cors_configuration": { "allow_origins": ["https://shop.example"], "max_age": 300 },
                "access_log_logservice_group_name": "/shop/access", "domain_name": "shop.example.com",
            }),
        })
    }

    /// The same as a state.
    pub(super) fn existing(self) -> Value {
        let mut object = self.object();
        if let Value::Map(attributes) = &mut object {
            attributes.push(("id".into(), "vpc-1".into()));
        }
        object
    }

    pub(super) fn provider(self) -> Value {
        from_json(&match self {
            Target::Door => serde_json::json!({ "style": "plain" }),
            _ => serde_json::json!({
                "region": "us-east-1", "max_retries": 3, "allowed_account_ids": ["123456789012"],
                "default_tags": [{ "tags": { "a": "b" } }], "insecure": false,
            }),
        })
    }
}

fn from_json(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => number.as_i64().expect("a whole number").into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().map(from_json).collect()),
        Json::Object(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (key.as_str().into(), from_json(value))).collect())
        }
    }
}
