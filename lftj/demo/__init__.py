# SPDX-License-Identifier: Apache-2.0
"""The demo: a year's flights from New York under rules that stay true while days, corrections and
cancellations come in.

`flights.dl` holds the rules, `feed` cuts the packaged data into reports, `desk` commits them,
`show` prints and `picture` draws.
"""
