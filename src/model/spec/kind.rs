//! What a kind of object is.

use std::any::Any;
use std::collections::BTreeSet;

use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref, Tags};
use crate::plugin::Input;

/// The entry of a kind in the guide on objects: its description, and the resource of the provider hashicorp/aws that
/// manages such an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counterpart {
    /// One or two sentences.
    pub description: &'static str,
    /// Its type, such as `aws_subnet`.
    pub resource: &'static str,
    /// The form of the ID by which it is imported.
    pub import_id: &'static str,
    /// For each field of the spec, the attributes that contain its value, such as `alias.zone_id`; none if only this
    /// provider needs the field.
    pub attributes: &'static [(&'static str, &'static [&'static str])],
}

/// How an object is recognized after the entry that requires it got another key in the configuration. Such a key is
/// free text, and the slot of the object consists of `slots` and this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// No user chooses its key freely, for this reason: a clause such as "a network has one".
    Key(&'static str),
    /// By the immutable inputs in its key.
    Fixed {
        /// The start of its slots.
        slots: &'static str,
        /// The name of the map.
        input: &'static str,
    },
    /// By inputs that can change in place.
    Inputs {
        /// The start of its slots.
        slots: &'static str,
        /// The name of the map.
        input: &'static str,
        /// The inputs as one text.
        inputs: Input<String>,
    },
    /// It belongs to the object of the same entry, whose slot has another start, and follows it.
    Entry {
        /// The start of its slots.
        slots: &'static str,
        /// The start of the slots of that object.
        leader: &'static str,
    },
}

impl Identity {
    /// The key of the entry that requires the object in a slot. `None` if no user chooses it freely.
    pub fn name_in<'a>(&self, slot: &'a str) -> Option<&'a str> {
        slot.strip_prefix(self.slots()?)
    }

    /// The start of the slots of such objects.
    pub fn slots(&self) -> Option<&'static str> {
        match self {
            Identity::Key(_) => None,
            Identity::Fixed { slots, .. } | Identity::Inputs { slots, .. } | Identity::Entry { slots, .. } => {
                Some(slots)
            }
        }
    }
}

/// What an update does if AWS rejects the deletion of an object, at once or later, because others use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenInUse {
    /// Nothing: AWS deletes it although others use it, or others cannot use it.
    Deleted,
    /// It becomes a pending deletion, because Terraform changes those that use its ID only after this resource.
    Deferred,
    /// It reports an error.
    Error,
}

/// What a kind of object is. The file of the kind implements it; a default is the answer of most kinds.
///
/// A `Spec` dereferences to the kind that it holds.
pub trait Kind: Any {
    /// The kind as shown in messages, such as `NAT gateway`.
    fn kind(&self) -> &'static str;

    /// How it is recognized under another key.
    fn identity(&self) -> Identity;

    /// Its key after a move to another slot. `key` is the current one.
    fn key_in(&self, key: &Key, slot: String) -> Key {
        Key { slot, ..key.clone() }
    }

    /// Its description, and its counterpart in the provider hashicorp/aws.
    fn counterpart(&self) -> Counterpart;

    /// What an update does if AWS rejects its deletion because others use it.
    fn when_in_use(&self) -> WhenInUse;

    /// The dependencies of this object, with the order of their deletions.
    fn needs(&self) -> Vec<Need>;

    /// The settings of this object in AWS that the object in its place does not get, because no input of `new`
    /// expresses them. `learned` contains what a read has found of them.
    fn left_behind(&self, learned: &Learned, new: &dyn Kind) -> Vec<LeftBehind>;

    /// What protects this object, whose drift is ignored, and not `new`, which takes its place.
    fn weakened_by(&self, _new: &dyn Kind) -> Option<LeftBehind> {
        None
    }

    /// Whether the object can have settings that protect it, and that [`Kind::left_behind`] or [`Kind::weakened_by`]
    /// then returns.
    fn is_protected_by_settings(&self) -> bool {
        false
    }

    /// Leaves the settings out that the configuration may not express, and that protect what the object serves.
    fn drop_protection(&mut self) {}

    /// The object whose deletion in AWS also deletes this one, so that no separate call is needed.
    fn parent(&self) -> Option<&Key> {
        None
    }

    /// Whether one quota counts this object and another one of the same kind.
    fn shares_quota_with(&self, other: &dyn Kind) -> bool {
        self.parent() == other.parent()
    }

    /// The claims of this object, which no other object can have while it exists.
    fn claims(&self) -> Vec<Claim> {
        Vec::new()
    }

    /// The tags of the object; `None` if its kind has no tags.
    fn tags(&self) -> Option<&Tags> {
        None
    }

    /// The same as [`Kind::tags`], mutably.
    fn tags_mut(&mut self) -> Option<&mut Tags> {
        None
    }

    /// Its references that may be unmanaged. Others, such as that of a subnet to its VPC, are keys.
    fn references_mut(&mut self) -> Vec<&mut Ref> {
        Vec::new()
    }

    /// Its list of references. Unmanaged objects in it are no drift.
    fn list_mut(&mut self) -> Option<&mut Vec<Ref>> {
        None
    }

    /// The objects with which it connects a managed one: if one of them is unmanaged, so is the connection.
    fn leads_to(&self) -> Vec<&Ref> {
        Vec::new()
    }

    /// The target that it routes to. AWS keeps the object when the target is deleted.
    fn target(&self) -> Option<&Ref> {
        None
    }

    /// The same as [`Kind::target`], mutably.
    fn target_mut(&mut self) -> Option<&mut Ref> {
        None
    }

    /// Whether a route to one of the two objects can use the other one instead.
    fn can_replace_target(&self, _other: &dyn Kind) -> bool {
        false
    }

    /// Whether the configuration gives it an existing object by this ID. That object belongs to the user.
    fn is_given(&self, _id: &str) -> bool {
        false
    }

    /// Whether it is the root of a topology: it is created first, and its ID is the ID of the resource.
    fn is_root(&self) -> bool {
        false
    }

    /// Whether AWS creates and deletes it together with its VPC. Creating it adopts the existing object; deleting it
    /// only stops managing it.
    fn is_adopted(&self) -> bool {
        false
    }

    /// Whether an adoption creates it if it does not exist: it takes nothing away from what uses the object already.
    fn is_added_by_adoption(&self) -> bool {
        false
    }

    /// Whether neither tags nor its place show who created it, so that it is taken over only if it equals the required
    /// one.
    fn is_recognized_by_content(&self) -> bool {
        false
    }

    /// Whether its deletion leaves it in AWS and only ends its management.
    fn stays_when_deleted(&self) -> bool {
        self.is_adopted()
    }

    /// Whether a create with this spec uses an existing object that it finds in its place, without owning it. `None` if
    /// no create of this kind does.
    fn uses_existing(&self) -> Option<bool> {
        None
    }

    /// Whether a create needs only the IDs of the dependencies at first: it does not use them, or waits itself until
    /// they are usable.
    fn needs_only_ids(&self) -> bool {
        false
    }

    /// Whether deleting it loses something that a new object of the same kind does not have.
    fn is_irrecoverable(&self) -> bool {
        false
    }

    /// What deleting it loses irrecoverably, for messages: a clause such as "its log events are lost".
    fn lost_when_deleted(&self, _learned: &Learned) -> Option<String> {
        None
    }

    /// Whether AWS deletes the unmanaged subscription filters of it with it.
    fn holds_subscription_filters(&self) -> bool {
        false
    }

    /// The command that turns off the setting because of which AWS rejects its deletion. `None` if that is off.
    fn command_to_unprotect(&self, _learned: &Learned) -> Option<String> {
        None
    }

    /// What AWS reports against it although it exists, for a warning of a refresh: a clause after its name.
    fn fault(&self, _learned: &Learned) -> Option<String> {
        None
    }

    /// Whether it can take over from the object that it replaces, as far as AWS reports. One that waits for its
    /// acceptance cannot.
    fn serves(&self, _learned: &Learned) -> bool {
        true
    }

    /// Whether it can contain unmanaged network interfaces. AWS rejects its deletion while it does, and the removal of
    /// an address range while interfaces have addresses from it.
    fn holds_network_interfaces(&self) -> bool {
        false
    }

    /// Whether public addresses are mapped through it. AWS rejects its detachment while unmanaged objects have one.
    fn maps_public_addresses(&self) -> bool {
        false
    }

    /// Whether it can have unmanaged mappings of its paths to other APIs.
    fn holds_api_mappings(&self) -> bool {
        false
    }

    /// Whether network interfaces in it lose all traffic when it gets this spec. `before` is its spec until then, if it
    /// is known.
    fn cuts_off_interfaces(&self, _before: Option<&dyn Kind>) -> bool {
        false
    }

    /// Whether it serves requests, as AWS has last deployed it: without it, they match another route or fail.
    fn answers_requests(&self) -> bool {
        false
    }

    /// Of the objects that remain when it is deleted, the one that then accepts requests that it rejects.
    fn exposed_by(&self, _remaining: &[&dyn Kind]) -> Option<usize> {
        None
    }

    /// Whether it serves other objects as AWS has last deployed them: the stage of an API.
    fn is_deployed_by_aws(&self) -> bool {
        false
    }

    /// Whether it is part of an unmanaged object, with which AWS deletes it: a statement in the policy of a function.
    fn is_part_of_unmanaged_object(&self) -> bool {
        false
    }

    /// Whether AWS assigns another ID to the object when it is updated.
    fn gets_new_id_when_updated(&self) -> bool {
        false
    }

    /// Whether a part of it depends on the attachment of unmanaged objects.
    fn depends_on_attachment(&self) -> bool {
        false
    }

    /// Whether an update from another spec to this one changes values that AWS returned for the object.
    fn changes_learned(&self, _before: &dyn Kind) -> bool {
        false
    }

    /// Takes over the parts of `before` that depend on the attachment of unmanaged objects. Without `before`, removes
    /// such parts.
    fn take_attached_parts_of(&mut self, _before: Option<&dyn Kind>) {}

    /// Adds the references in `before` to objects with these keys, which the object can keep until those objects are
    /// deleted.
    fn keep_references(&mut self, _before: &dyn Kind, _keys: &BTreeSet<Key>) {}

    /// Whether its creation requires that the dependencies are complete, and not only usable: a VPC and a subnet are
    /// usable before their attributes are set.
    fn needs_complete(&self) -> bool {
        false
    }

    /// Takes over from `before` what changes only when all creates and other updates are done.
    fn hold_back(&mut self, _before: &dyn Kind) {}

    /// Removes the references to objects with these keys that AWS deletes only after this object has left them. An
    /// object that gets other ones instead leaves them first, because the others may need the place of those.
    fn leave(&mut self, _keys: &BTreeSet<Key>) {}

    /// Lets it serve what AWS has deployed, and not the changes that follow.
    fn suspend_deployment(&mut self) {}

    /// The paths of open connections that an update to this spec changes, one phrase for each. `stays` returns whether
    /// an object exists before and after the plan.
    fn moved_paths(&self, _before: &dyn Kind, _stays: &dyn Fn(&Key) -> bool) -> Vec<String> {
        Vec::new()
    }

    /// Adds the parts of another spec, besides tags, that are missing in this one and are managed one by one.
    fn merge_owned(&mut self, _other: &dyn Kind) {}

    /// Replaces parts that may be unmanaged or that AWS does not return by those of `wanted`, so that they do not count
    /// as drift.
    fn mask_unowned(&mut self, _wanted: &dyn Kind) {}

    /// Replaces what AWS reports about past changes by the values of `wanted`. An adoption does not repeat these
    /// changes; a later plan does.
    fn mask_status(&mut self, _wanted: &dyn Kind) {}

    /// Replaces texts by those of another spec that mean the same, and what AWS does not store, so that they do not
    /// count as a difference.
    fn take_forms(&mut self, _other: &dyn Kind) {}

    /// Takes over from an earlier spec of this object what AWS does not store. A read without that spec returns the
    /// values that lose nothing.
    fn take_unstored(&mut self, _earlier: &dyn Kind) {}

    /// Corrects a spec that was merged from others: AWS accepts some values only together.
    fn make_consistent(&mut self) {}

    /// Leaves out what a create does last and an update does only for new values.
    fn begin_create(&mut self) {}

    /// Takes over what AWS changes in this object when it creates another one of the topology.
    fn follow_creation_of(&mut self, _created: &dyn Kind) {}
}

/// The tags of a kind, in the field `tags` or another one.
macro_rules! tagged {
    () => {
        $crate::model::spec::kind::tagged!(tags);
    };
    ($($field:ident).+) => {
        fn tags(&self) -> Option<&$crate::model::Tags> {
            Some(&self.$($field).+)
        }

        fn tags_mut(&mut self) -> Option<&mut $crate::model::Tags> {
            Some(&mut self.$($field).+)
        }
    };
}

pub(super) use tagged;

/// The object as this kind; `None` if it is of another kind.
pub(super) fn of<K: Kind>(object: &dyn Kind) -> Option<&K> {
    (object as &dyn Any).downcast_ref()
}
