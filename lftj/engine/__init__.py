# SPDX-License-Identifier: Apache-2.0
"""The inside of a workspace, in rooms.

From below: `calls` and `machine_code` serve all of them; `programs` and `versions` are values;
`commit` makes the next version, `questions` prepare what is asked, `delivery` tells of commits;
`live` has the engine. On it stand `transaction`, `branches` and `durable`.
"""
