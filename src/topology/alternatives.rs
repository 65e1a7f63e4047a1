//! Configurations with values in place of unknown inputs.

use crate::plugin::Input;

/// A change of a configuration.
pub(super) type Change<C> = Box<dyn Fn(&mut C)>;

/// An input of a configuration that is either true or false.
pub(super) type Switch<C> = fn(&mut C) -> &mut Input<bool>;

/// The maximum number of configurations. Each of them takes as long as a plan.
const MOST: usize = 64;

/// The configuration with one change of each choice, in every combination. Empty if there are too many.
pub(super) fn combined<C: Clone>(config: &C, choices: &[Vec<Change<C>>]) -> Vec<C> {
    let count = choices.iter().try_fold(1_usize, |count, choice| count.checked_mul(choice.len()));
    if count.is_none_or(|count| count > MOST) {
        return Vec::new();
    }
    choices.iter().fold(vec![config.clone()], |configs, choice| {
        let changed = |config: &C, change: &Change<C>| {
            let mut config = config.clone();
            change(&mut config);
            config
        };
        configs.iter().flat_map(|config| choice.iter().map(|change| changed(config, change))).collect()
    })
}

/// Changes of one part of a configuration: to each of these values.
pub(super) fn each<C: 'static, T: Clone + 'static>(
    part: fn(&mut C) -> &mut T,
    values: impl IntoIterator<Item = T>,
) -> Vec<Change<C>> {
    let change = |value: T| -> Change<C> { Box::new(move |config| *part(config) = value.clone()) };
    values.into_iter().map(change).collect()
}
