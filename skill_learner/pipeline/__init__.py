"""From a hook's wish to a changed library: requests, jobs, reviews, publication."""

from skill_learner.pipeline.learn import learn_from
from skill_learner.pipeline.outcome import JobOutcome, SkillChange
from skill_learner.pipeline.runner import collect as collect_requests
from skill_learner.pipeline.runner import run_detached, run_jobs
from skill_learner.pipeline.services import PipelineServices

__all__ = [
    "JobOutcome",
    "PipelineServices",
    "SkillChange",
    "collect_requests",
    "learn_from",
    "run_detached",
    "run_jobs",
]
