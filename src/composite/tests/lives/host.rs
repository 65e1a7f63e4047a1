//! What Terraform does in a life, in the order of its calls.

use super::*;

/// What is replaced first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    DestroyFirst,
    /// `create_before_destroy`.
    CreateFirst,
}

impl<P: Topology> Life<P> {
    pub(super) fn account(&self) -> &Arc<Simulation> {
        &self.terraform.account
    }

    /// The calls since the last time that change something.
    pub(super) fn take_calls(&self) -> Vec<String> {
        let calls = self.account().take_calls().into_iter();
        calls.filter(|call| !call.starts_with("announce ")).collect()
    }

    pub(super) async fn refresh(&mut self) -> Result<(), Fault> {
        let terraform = &mut self.terraform;
        if terraform.state.is_null() {
            return Ok(());
        }
        let request = ReadRequest { state: terraform.state.clone(), private: terraform.private.clone() };
        let read = terraform.resource.read(request).await;
        if read.diagnostics.has_errors() {
            return Err(format!("a refresh fails: {:?}", read.diagnostics));
        }
        (terraform.state, terraform.private) = (read.state, read.private);
        Ok(())
    }

    /// Refreshes, plans and applies.
    pub(super) async fn apply(&mut self, config: &Value) -> Result<Outcome, Fault> {
        self.refresh().await?;
        self.apply_unrefreshed(config).await
    }

    /// The same with `-refresh=false`.
    pub(super) async fn apply_unrefreshed(&mut self, config: &Value) -> Result<Outcome, Fault> {
        self.take_calls();
        let plan = self.terraform.plan(config).await;
        if plan.diagnostics.has_errors() {
            return self.refused(plan.diagnostics);
        }
        if !plan.requires_replace.is_empty() {
            return self.replace(config, plan.private, Order::DestroyFirst).await;
        }
        if plan.planned == self.terraform.state {
            self.in_force = vec![config.clone()];
            return Ok(Outcome::Done);
        }
        let applied = self.terraform.apply_plan(config, plan).await;
        self.concluded(config, applied)
    }

    fn refused(&self, diagnostics: Diagnostics) -> Result<Outcome, Fault> {
        match self.take_calls() {
            calls if calls.is_empty() => Ok(Outcome::Refused(diagnostics)),
            calls => Err(format!("the plan sends {calls:?}")),
        }
    }

    fn concluded(&mut self, config: &Value, diagnostics: Diagnostics) -> Result<Outcome, Fault> {
        self.in_force.push(config.clone());
        self.applied.push(config.clone());
        self.check()?;
        if diagnostics.has_errors() {
            return Ok(Outcome::Failed(diagnostics));
        }
        self.in_force = vec![config.clone()];
        Ok(Outcome::Done)
    }

    /// Replaces the resource. `private` is what the plan of the create gets: the private data of the plan of the
    /// update, or nothing if the resource is tainted.
    pub(super) async fn replace(&mut self, config: &Value, private: Vec<u8>, order: Order) -> Result<Outcome, Fault> {
        let old = (std::mem::take(&mut self.terraform.state), std::mem::replace(&mut self.terraform.private, private));
        let shown = self.terraform.plan(config).await;
        if shown.diagnostics.has_errors() {
            (self.terraform.state, self.terraform.private) = old;
            return self.refused(shown.diagnostics);
        }
        if order == Order::CreateFirst {
            return self.create_first(config, shown, old).await;
        }
        (self.terraform.state, self.terraform.private) = (old.0, shown.private.clone());
        let destroyed = self.terraform.destroy().await;
        self.check()?;
        if destroyed.has_errors() {
            return Ok(Outcome::Failed(destroyed));
        }
        self.terraform.private = Vec::new();
        let plan = self.terraform.plan(config).await;
        if plan.diagnostics.has_errors() {
            return Ok(Outcome::Failed(plan.diagnostics));
        }
        self.terraform.assert_as_planned(&shown.planned, &plan.planned, "final plan");
        let applied = self.terraform.apply_plan(config, plan).await;
        self.concluded(config, applied)
    }

    /// The new root exists next to the old one, whose destroy gets its own private data.
    async fn create_first(
        &mut self,
        config: &Value,
        plan: PlanResponse,
        old: (Value, Vec<u8>),
    ) -> Result<Outcome, Fault> {
        let (here, there) = (self.account().clone(), Arc::new(self.account().for_another_root()));
        self.terraform.move_to(&there);
        let applied = self.terraform.apply_plan(config, plan).await;
        if applied.has_errors() {
            let calls = self.take_calls();
            self.terraform.move_to(&here);
            (self.terraform.state, self.terraform.private) = old;
            return match calls.is_empty() {
                true => Ok(Outcome::Refused(applied)),
                false => Err(format!("the new root fails half way: {applied:?}")),
            };
        }
        self.check()?;
        there.share_groups_with(&here);
        self.terraform.move_to(&here);
        let new = (std::mem::replace(&mut self.terraform.state, old.0), self.terraform.private.clone());
        self.terraform.private = old.1;
        let destroyed = self.destroy().await?;
        if let Outcome::Failed(diagnostics) | Outcome::Refused(diagnostics) = destroyed {
            return Err(format!("the old root stays: {diagnostics:?}"));
        }
        let mut left = here.slots();
        // The new root uses the log groups that the configuration keeps.
        left.retain(|slot| !slot.starts_with("log_group"));
        if !left.is_empty() {
            return Err(format!("the old root leaves {left:?}"));
        }
        here.share_groups_with(&there);
        (self.terraform.state, self.terraform.private) = new;
        self.terraform.move_to(&there);
        self.concluded(config, applied)
    }

    pub(super) async fn destroy(&mut self) -> Result<Outcome, Fault> {
        self.take_calls();
        let plan = self.terraform.resource.plan(self.terraform.destroy_request()).await;
        if plan.diagnostics.has_errors() {
            return self.refused(plan.diagnostics);
        }
        self.terraform.private = plan.private;
        let applied = self.terraform.destroy().await;
        self.check()?;
        Ok(if applied.has_errors() { Outcome::Failed(applied) } else { Outcome::Done })
    }

    /// Applies a configuration until a plan is empty: twice at most. It must not be refused.
    pub(super) async fn settle(&mut self, config: &Value) -> Result<(), Fault> {
        let mut last = Diagnostics::default();
        for _ in 0..2 {
            match self.apply(config).await? {
                Outcome::Refused(diagnostics) => return Err(format!("the plan is refused: {diagnostics:?}")),
                Outcome::Failed(diagnostics) => {
                    last = diagnostics;
                    // Terraform replaces a resource whose creation failed.
                    if self.terraform.state.get("status").as_str() == Some("creating") {
                        self.refresh().await?;
                        match self.replace(config, Vec::new(), Order::DestroyFirst).await? {
                            Outcome::Done => return self.assert_quiet(config).await,
                            Outcome::Failed(again) | Outcome::Refused(again) => last = again,
                        }
                    }
                }
                Outcome::Done => {
                    last = Diagnostics::default();
                    if self.assert_quiet(config).await.is_ok() {
                        return Ok(());
                    }
                }
            }
        }
        if last.has_errors() {
            return Err(format!("it fails twice: {last:?}"));
        }
        self.assert_quiet(config).await
    }

    pub(super) async fn assert_quiet(&mut self, config: &Value) -> Result<(), Fault> {
        self.refresh().await?;
        let plan = self.terraform.plan(config).await;
        match plan.planned == self.terraform.state && plan.requires_replace.is_empty() {
            true => Ok(()),
            false if plan.diagnostics.has_errors() => Err(format!("the plan is refused: {:?}", plan.diagnostics)),
            false => Err(format!("the plan is not empty: {}", differing(&self.terraform.state, &plan.planned))),
        }
    }

    /// Destroys what exists. Nothing may be left that no setting keeps.
    pub(super) async fn end(&mut self) -> Result<(), Fault> {
        if !self.terraform.state.is_null()
            && let Outcome::Refused(diagnostics) | Outcome::Failed(diagnostics) = self.destroy().await?
        {
            return Err(format!("it cannot be destroyed: {diagnostics:?}"));
        }
        self.check_end()
    }

    /// A process whose calls all fail after some of them. Terraform then has the state that it returned.
    pub(super) async fn cut_off(&mut self, config: &Value, calls: usize) -> Result<(), Fault> {
        self.account().cut_off_after(calls);
        let applied = self.apply(config).await;
        self.account().restart();
        applied.map(drop)
    }

    /// A process that is killed after some calls. Terraform then has the state from before.
    pub(super) async fn kill(&mut self, config: Option<&Value>, calls: usize) -> Result<(), Fault> {
        let before = (self.terraform.state.clone(), self.terraform.private.clone());
        self.take_calls();
        self.account().kill_after(calls);
        let in_force: Vec<Value> = self.in_force.iter().chain(config).cloned().collect();
        self.in_force.clone_from(&in_force);
        self.applied.extend(config.cloned());
        let killed = async {
            match config {
                Some(config) => drop(self.apply(config).await?),
                None => drop(self.destroy().await?),
            }
            Ok::<(), Fault>(())
        };
        let day = std::time::Duration::from_secs(24 * 3600);
        tokio::time::timeout(day, killed).await.unwrap_or(Ok(()))?;
        self.roots.extend(self.account().ids_of(P::KIND.root()));
        self.account().restart();
        self.in_force = in_force;
        self.check()?;
        (self.terraform.state, self.terraform.private) = before;
        let account = self.account().clone();
        self.terraform.resource = Terraform::<P>::on(account).resource;
        Ok(())
    }
}

impl<P: Topology> Terraform<P> {
    /// Connects the process to another place.
    fn move_to(&mut self, account: &Arc<Simulation>) {
        self.account = account.clone();
        self.resource.connection.set(connected(account));
    }
}
