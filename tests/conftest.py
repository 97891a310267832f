"""How the property tests run: `ci` (the default) is small and repeatable, `deep` is large and random, `quick` random without shrinking.

Choose with the environment variable `HYPOTHESIS_PROFILE`. Compiling a kernel may take seconds, so no example has a deadline.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

from tests.spark.session import spark as spark  # whoever needs Spark takes this session: a process has one at a time

_slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("ci", max_examples=50, derandomize=True, deadline=None, database=None, suppress_health_check=_slow_is_fine)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=_slow_is_fine)
settings.register_profile("quick", max_examples=100, deadline=None, database=None, phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
