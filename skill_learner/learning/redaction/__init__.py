"""Redaction: rules in `formats`, `named`, `structures`, `personal`; exceptions in `allow_list`."""

from skill_learner.learning.redaction.finding import Finding
from skill_learner.learning.redaction.redactor import Redactor, secret_environment_values

__all__ = ["Finding", "Redactor", "secret_environment_values"]
