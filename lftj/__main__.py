# SPDX-License-Identifier: Apache-2.0
"""`python -m lftj` is `lftj`."""

import sys

from lftj.cli import main

sys.exit(main())
