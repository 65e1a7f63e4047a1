//! The decision whether a create would build a topology that exists already. Pure.
//!
//! If a run is killed after a create has finished, and before Terraform has saved the state, a complete root remains
//! that no state contains. Terraform saves a remote state every 20 seconds. The root looks like one of another state,
//! so a create stops if there is one, unless the configuration allows it.

use std::collections::BTreeSet;

use crate::cloud::{Namesake, RootState};
use crate::plugin::Input;
use crate::topology::Topology;

/// The properties by which a root is recognized as the one that a configuration would create.
pub(super) struct Identity {
    pub(super) name: String,
    /// `None` if the name alone counts.
    features: Option<BTreeSet<String>>,
}

/// The part of the comparison that a configuration requires.
pub(super) enum Comparison {
    /// Complete roots are compared.
    With(Identity),
    /// Complete roots are not compared: they are allowed.
    Allowed,
    /// An input is unknown.
    Undecided,
}

impl Comparison {
    /// The comparison for a configuration.
    pub(super) fn of<P: Topology>(config: &P::Config) -> Comparison {
        match (P::allows_duplicate_name(config), P::name(config), P::features(config)) {
            (Input::Known(true), _, _) => Comparison::Allowed,
            (Input::Known(false), Input::Known(name), Input::Known(features)) => {
                Comparison::With(Identity { name: name.clone(), features })
            }
            _ => Comparison::Undecided,
        }
    }

    /// Whether the name alone identifies a root, because a pool chooses its range.
    pub(super) fn is_of_name_alone(&self) -> bool {
        matches!(self, Comparison::With(Identity { features: None, .. }))
    }

    /// Whether a root is the one that the configuration would create. If its create failed or has not ended, it may
    /// lack some of the features. A root whose create has not ended is found even if it is allowed.
    pub(super) fn finds(&self, root: &Namesake) -> bool {
        let Comparison::With(Identity { features, .. }) = self else { return is_unfinished(root) };
        features.as_ref().is_none_or(|features| match root.state {
            Some(RootState::Ready) | None => root.features == *features,
            Some(RootState::Incomplete | RootState::Creating) => root.features.is_subset(features),
        })
    }

    /// Whether other roots with the name are allowed.
    pub(super) fn allows_others(&self) -> bool {
        matches!(self, Comparison::Allowed)
    }
}

/// Whether the create of a root was interrupted, or is in progress.
pub(super) fn is_unfinished(root: &Namesake) -> bool {
    root.state == Some(RootState::Creating)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(state: Option<RootState>, features: &[&str]) -> Namesake {
        let features = features.iter().map(ToString::to_string).collect();
        Namesake { id: "root-1".into(), created: None, state, features }
    }

    fn comparison(features: Option<&[&str]>) -> Comparison {
        let features = features.map(|features| features.iter().map(ToString::to_string).collect());
        Comparison::With(Identity { name: "main".into(), features })
    }

    #[test]
    fn complete_roots_with_equal_features_are_found() {
        let routes = comparison(Some(&["GET /a", "GET /b"]));
        let ready = Some(RootState::Ready);
        assert!(routes.finds(&root(ready, &["GET /b", "GET /a"])));
        assert!(routes.finds(&root(None, &["GET /a", "GET /b"])), "a forged or removed tag is no way around");
        assert!(!routes.finds(&root(ready, &["GET /a"])));
        assert!(!routes.finds(&root(ready, &["GET /a", "GET /b", "GET /c"])));
    }

    #[test]
    fn a_root_whose_create_failed_may_lack_features() {
        let (routes, incomplete) = (comparison(Some(&["GET /a", "GET /b"])), Some(RootState::Incomplete));
        assert!(routes.finds(&root(incomplete, &[])) && routes.finds(&root(incomplete, &["GET /b"])));
        assert!(!routes.finds(&root(incomplete, &["GET /c"])));
    }

    #[test]
    fn the_name_alone_counts_if_a_pool_chooses_the_range() {
        assert!(comparison(None).finds(&root(Some(RootState::Ready), &["10.7.0.0/16"])));
    }

    #[test]
    fn an_unfinished_root_is_found_if_it_would_be_the_same_root() {
        let unfinished = root(Some(RootState::Creating), &["10.0.0.0/16"]);
        assert!(is_unfinished(&unfinished));
        assert!(comparison(Some(&["10.0.0.0/16"])).finds(&unfinished) && comparison(None).finds(&unfinished));
        assert!(!comparison(Some(&["10.99.0.0/16"])).finds(&unfinished), "another range is another root");
    }

    #[test]
    fn allowed_or_unknown_inputs_find_nothing() {
        let ready = root(Some(RootState::Ready), &[]);
        assert!(!Comparison::Allowed.finds(&ready) && !Comparison::Undecided.finds(&ready));
    }
}
