# SPDX-License-Identifier: Apache-2.0
"""Workspaces whose data lives with an executor's workers, cut into parts, and as files under one
path.

From below: `partitioning` says where rows lie, `files` are what is true on disk, `parts` one part
of it, `stored` what a part is maintained with, on disk too, and `work` what workers are asked to
do. The modules beside these are the driver's.
"""
