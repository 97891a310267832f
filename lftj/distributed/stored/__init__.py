# SPDX-License-Identifier: Apache-2.0
"""Stored state of parts on disk, so that another worker opens a part instead of deriving it
anew.
"""
