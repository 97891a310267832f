# SPDX-License-Identifier: Apache-2.0
"""Questions: bodies that are read, checked and planned once, and asked for many values."""

from __future__ import annotations

from lftj.engine.questions.question import Question, asked, question_body, values_of

__all__ = ["Question", "asked", "question_body", "values_of"]
