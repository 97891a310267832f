# SPDX-License-Identifier: Apache-2.0
"""Showing what the engine does, in rooms: `derivations` are searched for; on them stand proofs of
rows that are `present`, reasons for those that are `missing`, and for `changes`. `plans` and
`figures` tell how the work is done, and how much.
"""
