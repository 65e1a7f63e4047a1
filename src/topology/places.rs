//! Objects outside of a topology that AWS accepts only in some places.

use crate::model::{Arn, Needs, Scope};
use crate::plugin::{AttributePath, Problem};

/// The problem of an ARN that is not where AWS requires it. A text that is no ARN has been reported by the validation.
/// `hint` is what to use instead.
pub(super) fn elsewhere(path: AttributePath, arn: &str, scope: &Scope, needs: Needs, hint: &str) -> Option<Problem> {
    let foreign = Arn::split(arn).ok()?.place_in(scope, needs).err()?;
    let message =
        format!("{arn:?} is of the {} {}, but the provider uses the {0} {}.", foreign.part, foreign.its, foreign.ours);
    Some(Problem::new(path, message, hint))
}
