# SPDX-License-Identifier: Apache-2.0
"""Work of workers: commits, questions, operations that depend on existing rows."""
