"""What is done around the reviews: uses are counted, and what was kept long enough goes."""

from __future__ import annotations

from skill_learner.files import remove_old_drafts
from skill_learner.journal_retention import prune_journals, prune_offers
from skill_learner.pipeline.services import PipelineServices


def count_uses(services: PipelineServices) -> int:
    """How many uses and offers are new."""
    known = [skill.name for skill in services.library.list(("active", "candidate"))]
    used = services.usage.harvest_all(services.paths, known)
    return used + services.usage.harvest_offers(services.paths.offered_dir)


def tidy(services: PipelineServices) -> None:
    """Count what the journals tell before the old ones go."""
    count_uses(services)
    config = services.config
    for folder in (services.paths.root, *services.paths.root.glob("*/")):
        remove_old_drafts(folder)
    prune_journals(services.paths, config.journal_days, megabytes=config.journal_megabytes)
    prune_offers(services.paths, config.journal_days)
